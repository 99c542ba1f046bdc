// SPDX-License-Identifier: Apache-2.0
//
// The hash functions of the file formats, and the ones memory structures use.
//
// FilterHash64 (the 0.7.2 preview of XXH3) and Hash32 are part of the formats: their values never
// change. So are the released XXH functions, which come from libxxhash. docs/formats has the uses.
// For hash tables in memory take HashBytes or Mix64. Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ashlar/slice.h"

namespace ashlar {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;
};

// Released xxHash 0.8.
uint32_t XxHash32(const char* data, size_t n, uint32_t seed = 0);
uint64_t XxHash64(const char* data, size_t n, uint64_t seed = 0);
uint64_t XxHash3_64(const char* data, size_t n);
Hash128 XxHash3_128(const char* data, size_t n, uint64_t seed = 0);

// What Bloom and Ribbon filters store of a key: the preview XXH3, 64 bits. Short keys cost a few
// ns.
uint64_t FilterHash64(const char* data, size_t n, uint64_t seed = 0);
inline uint64_t FilterHash64(const Slice& key) { return FilterHash64(key.data(), key.size()); }

// The 32-bit hash of legacy Bloom filters and of the hash index inside data blocks.
inline constexpr uint32_t kLegacyBloomSeed = 0xbc9f1d34;
inline constexpr uint32_t kDataBlockHashSeed = 397;
uint32_t Hash32(const char* data, size_t n, uint32_t seed);

// For tables in memory. The values may differ between versions: never write them to a file.
uint64_t HashBytes(const char* data, size_t n, uint64_t seed = 0);
inline uint64_t HashBytes(const Slice& s, uint64_t seed = 0) {
  return HashBytes(s.data(), s.size(), seed);
}

// Folds the 128-bit product of two numbers to 64 bits.
inline uint64_t FoldedMultiply(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}
// Every bit of the result depends on every bit of `x`. A bijection.
constexpr uint64_t Mix64(uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
  return x ^ (x >> 32);
}

// Maps a hash to [0, n) without division.
constexpr uint32_t FastRange32(uint32_t hash, uint32_t n) {
  return static_cast<uint32_t>((uint64_t{hash} * n) >> 32);
}

}  // namespace ashlar
