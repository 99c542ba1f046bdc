// SPDX-License-Identifier: Apache-2.0
//
// Where a compaction is cut into parts of about equal bytes. Pure.
//
// A weight says how many bytes of an input lie between the weight before it in that input and its
// key. Weights come from the indexes of the inputs, so that a part may end within a table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "table/sst/read/key_weight.h"
#include "util/keys/internal_key.h"

namespace ashlar {

// At most `parts` - 1 user keys, ascending, each of which begins a part; the first part begins
// before all of them. No part but the last is smaller than `least_bytes`, and that one is not
// smaller than half of it.
std::vector<std::string> CutPoints(std::vector<KeyWeight> weights,
                                   const InternalKeyComparator& comparator, uint32_t parts,
                                   uint64_t least_bytes);

}  // namespace ashlar
