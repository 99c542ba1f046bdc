// SPDX-License-Identifier: Apache-2.0
//
// The maximum size of a key with its value. Every table must be able to store what a write accepts.
// Threads: constants.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ashlar {

// Offsets in a block have 32 bits, and the largest entry has a block of its own. The difference is
// left for the lengths before the entry and for the tail of the block.
inline constexpr size_t kMaxEntryBytes = UINT32_MAX - 64 * 1024;
// The limit for a user's key and value, without the trailer of the internal key.
inline constexpr size_t kMaxUserEntryBytes = kMaxEntryBytes - 8;

}  // namespace ashlar
