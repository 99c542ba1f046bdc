// SPDX-License-Identifier: Apache-2.0
//
// SortKeys orders a few keys for a batch of lookups. Threads: pure.
#pragma once

#include <cstdint>
#include <span>

#include "ashlar/slice.h"
#include "util/keys/internal_key.h"

namespace ashlar {

// Sorts `order`, indexes of `keys` that ascend, by the keys they mean; equal keys stay in place.
// Up to 32 keys in a bytewise order cost no branch that depends on them, unless eight bytes behind
// their common prefix are equal.
void SortKeys(const InternalKeyComparator& comparator, std::span<const Slice> keys,
              std::span<uint32_t> order);

}  // namespace ashlar
