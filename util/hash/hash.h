// SPDX-License-Identifier: Apache-2.0
//
// The hash functions of the file formats and of structures in memory.
//
// FilterHash64 (a preview of XXH3) and Hash32 are part of the formats, so that their values never
// change. The same holds for the released XXH functions, which come from libxxhash. docs/formats
// says where each is used. Hash tables in memory use HashBytes or Mix64. Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ashlar/slice.h"

namespace ashlar {

// Two halves of a 128-bit hash.
struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;
};

// Released xxHash 0.8.
uint32_t XxHash32(const char* data, size_t n, uint32_t seed = 0);
uint64_t XxHash64(const char* data, size_t n, uint64_t seed = 0);
uint64_t XxHash3_64(const char* data, size_t n);
Hash128 XxHash3_128(const char* data, size_t n, uint64_t seed = 0);

// The 64-bit hash of a key that Bloom and Ribbon filters use: the preview of XXH3. Takes a few ns
// for short keys.
uint64_t FilterHash64(const char* data, size_t n, uint64_t seed = 0);
inline uint64_t FilterHash64(const Slice& key) { return FilterHash64(key.data(), key.size()); }

// The 32-bit hash of legacy Bloom filters and of the hash index in data blocks.
inline constexpr uint32_t kLegacyBloomSeed = 0xbc9f1d34;
inline constexpr uint32_t kDataBlockHashSeed = 397;
uint32_t Hash32(const char* data, size_t n, uint32_t seed);

// For hash tables in memory. The values may change with the version, so that they must not be
// stored.
uint64_t HashBytes(const char* data, size_t n, uint64_t seed = 0);
inline uint64_t HashBytes(const Slice& s, uint64_t seed = 0) {
  return HashBytes(s.data(), s.size(), seed);
}

// The exclusive or of the two halves of the 128-bit product.
inline uint64_t FoldedMultiply(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}
// A bijection in which every bit of the result depends on every bit of `x`.
constexpr uint64_t Mix64(uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
  return x ^ (x >> 32);
}

// Maps a hash to [0, n) without division, evenly if the hash is. It uses the upper bits.
constexpr uint32_t FastRange32(uint32_t hash, uint32_t n) {
  return static_cast<uint32_t>((uint64_t{hash} * n) >> 32);
}

}  // namespace ashlar
