// SPDX-License-Identifier: Apache-2.0
//
// Where a compaction is cut into parts of about equal bytes. Pure.
//
// A weight is the number of bytes of an input between the key of the weight before it and its own
// key. Weights come from the indexes of the inputs, so a part may end inside a table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "table/sst/read/key_weight.h"
#include "util/keys/internal_key.h"

namespace ashlar {

// Returns at most `parts` - 1 user keys, ascending. Each of them is the first key of a part; the
// first part begins before all of them. Each part has at least `least_bytes`, except for the last
// one, which has at least half of that.
std::vector<std::string> CutPoints(std::vector<KeyWeight> weights,
                                   const InternalKeyComparator& comparator, uint32_t parts,
                                   uint64_t least_bytes);

}  // namespace ashlar
