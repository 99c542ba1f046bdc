// SPDX-License-Identifier: Apache-2.0
//
// How large a key with its value may be: what a write accepts, every table must be able to hold.
// Threads: constants.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ashlar {

// Offsets inside a block have 32 bits, and the largest entry has a block of its own: this much is
// left for the lengths in front of it and the tail of the block.
inline constexpr size_t kMaxEntryBytes = UINT32_MAX - 64 * 1024;
// Of a user's key and value: the trailer of the internal key comes on top.
inline constexpr size_t kMaxUserEntryBytes = kMaxEntryBytes - 8;

}  // namespace ashlar
