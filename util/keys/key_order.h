// SPDX-License-Identifier: Apache-2.0
//
// SortKeys sorts a few keys for a batch of lookups. Threads: a pure function.
#pragma once

#include <cstdint>
#include <span>

#include "ashlar/slice.h"
#include "util/keys/internal_key.h"

namespace ashlar {

// `order` contains ascending indexes of `keys`. Sorts them by the keys that they refer to; equal
// keys keep their order. For up to 32 keys in a bytewise order there is no branch that depends on
// the keys, unless the first eight bytes after their common prefix are equal.
void SortKeys(const InternalKeyComparator& comparator, std::span<const Slice> keys,
              std::span<uint32_t> order);

}  // namespace ashlar
