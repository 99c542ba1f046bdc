// SPDX-License-Identifier: Apache-2.0
//
// XXH32, XXH64 and XXH3 are those of libxxhash. They are compiled into this file, so that they are
// inlined for short inputs and built with our compiler flags. For long inputs (whole blocks) XXH3
// uses the widest vectors that the processor supports. Hash32 is a small loop similar to Murmur.
// The filter hash is in filter_hash.cc.
#define XXH_INLINE_ALL
#define XXH_STATIC_LINKING_ONLY
#include "util/hash/hash.h"

#include <xxhash.h>

#include <atomic>

#include "util/hash/xxh3_x86.h"
#include "util/keys/coding.h"

namespace ashlar {

namespace xxh3 {

size_t Implementations([[maybe_unused]] Implementation* implementations) {
  size_t count = 0;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) implementations[count++] = {"avx2", &HashAvx2};
  if (__builtin_cpu_supports("avx512f")) implementations[count++] = {"avx-512", &HashAvx512};
#endif
  return count;
}

}  // namespace xxh3

namespace {

// Up to this length XXH3 uses no vectors.
constexpr size_t kMaxScalarBytes = 240;

// The hash on processors without wide vector instructions.
uint64_t HashPortable(const char* data, size_t n) { return XXH3_64bits(data, n); }
uint64_t ChooseAndHash(const char* data, size_t n);

// Initially the function that chooses an implementation, as in crc32c.cc.
constinit std::atomic<xxh3::Function> hash_function{&ChooseAndHash};

// Runs at most a few times per process.
uint64_t ChooseAndHash(const char* data, size_t n) {
  xxh3::Implementation candidates[xxh3::kMaxImplementations];
  const size_t count = xxh3::Implementations(candidates);
  const xxh3::Function best = count == 0 ? &HashPortable : candidates[count - 1].hash;
  hash_function.store(best, std::memory_order_relaxed);
  return best(data, n);
}

}  // namespace

uint32_t XxHash32(const char* data, size_t n, uint32_t seed) { return XXH32(data, n, seed); }
uint64_t XxHash64(const char* data, size_t n, uint64_t seed) { return XXH64(data, n, seed); }
// Short inputs are inlined; long ones use the widest vectors of the processor.
uint64_t XxHash3_64(const char* data, size_t n) {
  if (n <= kMaxScalarBytes) return XXH3_64bits(data, n);
  return hash_function.load(std::memory_order_relaxed)(data, n);
}

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
  // The format adds the remaining bytes as signed numbers, even where `char` is unsigned.
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
