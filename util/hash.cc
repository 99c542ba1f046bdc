// SPDX-License-Identifier: Apache-2.0
//
// XXH32, XXH64 and XXH3 are libxxhash's, compiled in here so that short inputs cost no call through
// the shared library and see our optimisation flags. Hash32 is a small Murmur-like loop. The filter
// hash has its own file, filter_hash.cc.
#define XXH_INLINE_ALL
#define XXH_STATIC_LINKING_ONLY
#include "util/hash.h"

#include <xxhash.h>

#include "util/coding.h"

namespace ashlar {

uint32_t XxHash32(const char* data, size_t n, uint32_t seed) { return XXH32(data, n, seed); }
uint64_t XxHash64(const char* data, size_t n, uint64_t seed) { return XXH64(data, n, seed); }
uint64_t XxHash3_64(const char* data, size_t n) { return XXH3_64bits(data, n); }

Hash128 XxHash3_128(const char* data, size_t n, uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(data, n, seed);
  return {.high = hash.high64, .low = hash.low64};
}

uint64_t HashBytes(const char* data, size_t n, uint64_t seed) {
  return XXH3_64bits_withSeed(data, n, seed);
}

uint32_t Hash32(const char* data, size_t n, uint32_t seed) {
  constexpr uint32_t kMultiplier = 0xc6a4a793;
  uint32_t h = seed ^ (static_cast<uint32_t>(n) * kMultiplier);
  const char* const end = data + n;
  for (; end - data >= 4; data += 4) {
    h = (h + DecodeFixed32(data)) * kMultiplier;
    h ^= h >> 16;
  }
  // The format adds the bytes left over as signed numbers, whatever `char` is on this machine.
  const auto signed_byte = [data](int i) {
    return static_cast<uint32_t>(static_cast<int32_t>(static_cast<int8_t>(data[i])));
  };
  const auto left = end - data;
  if (left == 0) return h;
  if (left == 3) h += signed_byte(2) << 16;
  if (left >= 2) h += signed_byte(1) << 8;
  h = (h + signed_byte(0)) * kMultiplier;
  return h ^ (h >> 24);
}

}  // namespace ashlar
