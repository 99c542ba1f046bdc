// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C (Castagnoli), the checksum of log records and of blocks with checksum type 1. Stored CRCs
// are masked, because the CRC of bytes that contain their own CRC would be useless.
//
// The first call chooses the fastest implementation that the processor supports. Threads: pure
// functions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ashlar::crc32c {

// Returns the CRC of A followed by `data`, where `crc` is the CRC of A. The CRC of no bytes is 0.
uint32_t Extend(uint32_t crc, const char* data, size_t n);
inline uint32_t Value(const char* data, size_t n) { return Extend(0, data, n); }

// Computes the CRC of A followed by B from the CRCs of A and B. Takes log2(length of B) steps.
uint32_t Combine(uint32_t crc_a, uint32_t crc_b, uint64_t b_bytes);

inline constexpr uint32_t kMaskDelta = 0xa282ead8;
constexpr uint32_t Mask(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + kMaskDelta; }
constexpr uint32_t Unmask(uint32_t masked) {
  const uint32_t rotated = masked - kMaskDelta;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace ashlar::crc32c
