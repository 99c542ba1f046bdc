// SPDX-License-Identifier: Apache-2.0
//
// FilterHash64 is the preview of XXH3 in xxHash 0.7.2, with which the filters in files are built.
// It differs from the released XXH3 for all lengths, so that libxxhash cannot compute it.
//
//   bytes      how
//   0          a constant folded with the seed
//   1..16      one or two words and a multiply
//   17..128    pairs of 16-byte mixes, from both ends inwards
//   129..240   16-byte mixes in order
//   above      eight lanes over 64-byte stripes, scrambled after every 1024 bytes
#include <cassert>
#include <cstring>

#include "util/hash/hash.h"
#include "util/keys/coding.h"

namespace ashlar {

namespace {

constexpr uint64_t kPrime32_1 = 0x9E3779B1, kPrime32_2 = 0x85EBCA77, kPrime32_3 = 0xC2B2AE3D;
constexpr uint64_t kPrime64_1 = 0x9E3779B185EBCA87, kPrime64_2 = 0xC2B2AE3D27D4EB4F;
constexpr uint64_t kPrime64_3 = 0x165667B19E3779F9, kPrime64_4 = 0x85EBCA77C2B2AE63;
constexpr uint64_t kPrime64_5 = 0x27D4EB2F165667C5;

// The layout of the preview version; none of these numbers may change, because filters in files
// depend on them.
constexpr size_t kSecretBytes = 192;
constexpr size_t kStripeBytes = 64;
constexpr size_t kBlockBytes = 1024;
constexpr size_t kStripesPerBlock = kBlockBytes / kStripeBytes;
constexpr size_t kLaneCount = 8;
constexpr size_t kSecretStep = 8;  // how far the secret moves per stripe

// clang-format off
alignas(64) constexpr unsigned char kSecret[kSecretBytes] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};
// clang-format on

inline uint64_t Load32(const void* p) { return DecodeFixed32(static_cast<const char*>(p)); }
inline uint64_t Load64(const void* p) { return DecodeFixed64(static_cast<const char*>(p)); }

// Makes every bit of the result depend on all bits of `h`.
inline uint64_t Avalanche(uint64_t h) {
  h ^= h >> 37;
  h *= kPrime64_3;
  return h ^ (h >> 32);
}

// Mixes 16 bytes of input with 16 bytes of the secret.
inline uint64_t Mix16(const char* p, const unsigned char* secret, uint64_t seed) {
  return FoldedMultiply(Load64(p) ^ (Load64(secret) + seed),
                        Load64(p + 8) ^ (Load64(secret + 8) - seed));
}

// The parts overlap in the middle, so that each length has its own formula without a loop.
inline uint64_t HashUpTo16(const char* in, size_t n, uint64_t seed) {
  if (n > 8) {
    const uint64_t low = Load64(in) ^ (Load64(kSecret) + seed);
    const uint64_t high = Load64(in + n - 8) ^ (Load64(kSecret + 8) - seed);
    return Avalanche(n + low + high + FoldedMultiply(low, high));
  }
  if (n >= 4) {
    const uint64_t key = (Load32(in) | Load32(in + n - 4) << 32) ^ (Load64(kSecret) + seed);
    const uint64_t mixed = n + (key ^ (key >> 51)) * kPrime32_1;
    return Avalanche((mixed ^ (mixed >> 47)) * kPrime64_2);
  }
  if (n > 0) {
    const auto byte = [in](size_t i) { return uint64_t{static_cast<unsigned char>(in[i])}; };
    const uint64_t word = byte(0) | byte(n >> 1) << 8 | byte(n - 1) << 16 | uint64_t{n} << 24;
    return Avalanche((word ^ (Load32(kSecret) + seed)) * kPrime64_1);
  }
  return FoldedMultiply(seed + Load64(kSecret), kPrime64_2);
}

inline uint64_t HashUpTo128(const char* in, size_t n, uint64_t seed) {
  assert(n > 16);
  assert(n <= 128);
  uint64_t sum = n * kPrime64_1;
  for (size_t i = 0; i <= (n - 1) / 32; ++i) {
    sum += Mix16(in + 16 * i, kSecret + 32 * i, seed);
    sum += Mix16(in + n - 16 * (i + 1), kSecret + 32 * i + 16, seed);
  }
  return Avalanche(sum);
}

uint64_t HashUpTo240(const char* in, size_t n, uint64_t seed) {
  assert(n > 128);
  assert(n <= 240);
  uint64_t sum = n * kPrime64_1;
  for (size_t i = 0; i < 8; ++i) sum += Mix16(in + 16 * i, kSecret + 16 * i, seed);
  sum = Avalanche(sum);
  for (size_t i = 8; i < n / 16; ++i) sum += Mix16(in + 16 * i, kSecret + 16 * (i - 8) + 3, seed);
  sum += Mix16(in + n - 16, kSecret + 119, seed);
  return Avalanche(sum);
}

// Adds 64 bytes of input to the eight lanes.
void AddStripe(uint64_t* lanes, const char* p, const unsigned char* secret) {
  for (size_t i = 0; i < kLaneCount; ++i) {
    const uint64_t value = Load64(p + 8 * i);
    const uint64_t key = value ^ Load64(secret + 8 * i);
    lanes[i] += value + (key & 0xffffffff) * (key >> 32);
  }
}

// Mixes the lanes, so that the order of blocks matters.
void Scramble(uint64_t* lanes, const unsigned char* secret) {
  for (size_t i = 0; i < kLaneCount; ++i) {
    const uint64_t lane = lanes[i];
    lanes[i] = (lane ^ (lane >> 47) ^ Load64(secret + 128 + 8 * i)) * kPrime32_1;
  }
}

// A seed other than 0 is added to the even words of the secret and subtracted from the odd ones.
void DeriveSecret(uint64_t seed, unsigned char* secret) {
  for (size_t i = 0; i < kSecretBytes; i += 16) {
    char* words = reinterpret_cast<char*>(secret + i);
    EncodeFixed64(words, Load64(kSecret + i) + seed);
    EncodeFixed64(words + 8, Load64(kSecret + i + 8) - seed);
  }
}

uint64_t HashLong(const char* in, size_t n, uint64_t seed) {
  assert(n > 240);
  alignas(64) unsigned char derived[kSecretBytes];
  const unsigned char* secret = kSecret;
  if (seed != 0) {
    DeriveSecret(seed, derived);
    secret = derived;
  }
  alignas(64) uint64_t lanes[kLaneCount] = {kPrime32_3, kPrime64_1, kPrime64_2, kPrime64_3,
                                            kPrime64_4, kPrime32_2, kPrime64_5, kPrime32_1};
  const char* p = in;
  for (size_t block = 0; block < n / kBlockBytes; ++block) {
    for (size_t j = 0; j < kStripesPerBlock; ++j, p += kStripeBytes) {
      AddStripe(lanes, p, secret + kSecretStep * j);
    }
    Scramble(lanes, secret);
  }
  for (size_t j = 0; j < n % kBlockBytes / kStripeBytes; ++j, p += kStripeBytes) {
    AddStripe(lanes, p, secret + kSecretStep * j);
  }
  // The last stripe ends with the input and overlaps the one before.
  if (n % kStripeBytes != 0) {
    AddStripe(lanes, in + n - kStripeBytes, secret + kSecretBytes - kStripeBytes - 7);
  }
  uint64_t result = n * kPrime64_1;
  for (size_t i = 0; i < 4; ++i) {
    result += FoldedMultiply(lanes[2 * i] ^ Load64(secret + 11 + 16 * i),
                             lanes[2 * i + 1] ^ Load64(secret + 19 + 16 * i));
  }
  return Avalanche(result);
}

}  // namespace

uint64_t FilterHash64(const char* data, size_t n, uint64_t seed) {
  if (n <= 16) [[likely]]
    return HashUpTo16(data, n, seed);
  if (n <= 128) return HashUpTo128(data, n, seed);
  if (n <= 240) return HashUpTo240(data, n, seed);
  return HashLong(data, n, seed);
}

}  // namespace ashlar
