// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C by the instructions of x86-64 processors. Each function is compiled for the instructions
// it needs by a target attribute, so one binary runs everywhere; nothing here may be called before
// HardwareImplementations() has offered it.
//
// SSE4.2 + PCLMULQDQ. The crc32 instruction takes eight bytes a cycle but answers after three, so
// three stretches of equal length run side by side and are joined by carry-less multiplication:
//
//     | a: k words | b: k words | c: k words |    crc = a * x^(128k) + b * x^(64k) + c
//
// The factors for every k come from a table, so short inputs gain as well as long ones.
//
// VPCLMULQDQ + AVX-512. Four registers of 64 bytes are folded over the input, 256 bytes a step: a
// 16-byte lane L times x^d is congruent to low(L) * x^(d+64) + high(L) * x^d, which is no longer
// than a lane again and is added to the lane d bits further on.
//
// Constants. Bit i of a 64-bit operand stands for x^(63-i), bit k of a 128-bit product of two such
// operands therefore for x^(126-k): reading it as a lane, where bit k is x^(127-k), multiplies by x
// once. The exponents below are smaller by one for that. And the crc32 instruction multiplies what
// it reads by x^32, so joining by it takes another 32 off.
#include "util/hash/crc32c_internal.h"

#if defined(__x86_64__)

// GCC 12 takes the registers that its own intrinsics leave undefined on purpose for mistakes.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>

#include <array>
#include <cstring>

namespace ashlar::crc32c {

namespace {

#define ASHLAR_TARGET_SSE42 __attribute__((target("sse4.2,pclmul")))
#define ASHLAR_TARGET_AVX512 __attribute__((target("sse4.2,pclmul,avx512f,avx512vl,vpclmulqdq")))

// Words of eight bytes in one of three stretches: at least, so that joining pays; at most, so that
// the table stays at 2 KiB.
constexpr size_t kMinStretchWords = 4;
constexpr size_t kMaxStretchWords = 128;

// join_factors[k] moves a CRC state over k words.
constexpr auto kJoinFactors = [] {
  std::array<uint32_t, 2 * kMaxStretchWords + 1> factors{};
  uint32_t power = PowerOfX(64 - 33);
  const uint32_t word = PowerOfX(64);
  for (size_t k = 1; k < factors.size(); ++k, power = Multiply(power, word)) factors[k] = power;
  return factors;
}();

inline uint64_t LoadWord(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

ASHLAR_TARGET_SSE42 inline uint64_t MoveState(uint64_t state, size_t words) {
  const __m128i product =
      _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<int64_t>(state)),
                           _mm_cvtsi32_si128(static_cast<int>(kJoinFactors[words])), 0);
  return _mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(product)));
}

// Reads 3 * words words.
ASHLAR_TARGET_SSE42 inline uint64_t ExtendThreeWays(uint64_t state, const char* data,
                                                    size_t words) {
  const size_t stretch = words * 8;
  uint64_t a = state, b = 0, c = 0;
  for (const char* const end = data + stretch; data != end; data += 8) {
    a = _mm_crc32_u64(a, LoadWord(data));
    b = _mm_crc32_u64(b, LoadWord(data + stretch));
    c = _mm_crc32_u64(c, LoadWord(data + 2 * stretch));
  }
  return MoveState(a, 2 * words) ^ MoveState(b, words) ^ c;
}

ASHLAR_TARGET_SSE42 uint32_t ExtendSse42(uint32_t crc, const char* data, size_t n) {
  uint64_t state = static_cast<uint32_t>(~crc);
  while (n >= 3 * 8 * kMinStretchWords) {
    const size_t words = n / 24 < kMaxStretchWords ? n / 24 : kMaxStretchWords;
    state = ExtendThreeWays(state, data, words);
    data += 24 * words;
    n -= 24 * words;
  }
  for (; n >= 8; n -= 8, data += 8) state = _mm_crc32_u64(state, LoadWord(data));
  uint32_t narrow = static_cast<uint32_t>(state);
  for (; n != 0; --n, ++data) narrow = _mm_crc32_u8(narrow, static_cast<unsigned char>(*data));
  return ~narrow;
}

// Below this many bytes the three-way loop is as fast, and wakes no wide unit.
constexpr size_t kMinFoldBytes = 1024;

// The pair of factors that fold a lane over `bits` bits: for its low, then its high half.
struct FoldFactors {
  uint64_t low;
  uint64_t high;
};
constexpr FoldFactors FactorsFor(uint64_t bits) {
  return {uint64_t{PowerOfX(bits + 64 - 1)} << 32, uint64_t{PowerOfX(bits - 1)} << 32};
}
constexpr FoldFactors kFoldBy2048 = FactorsFor(2048);
constexpr FoldFactors kFoldBy512 = FactorsFor(512);
constexpr FoldFactors kFoldBy128 = FactorsFor(128);

ASHLAR_TARGET_AVX512 inline __m512i Broadcast(const FoldFactors& factors) {
  return _mm512_broadcast_i32x4(
      _mm_set_epi64x(static_cast<int64_t>(factors.high), static_cast<int64_t>(factors.low)));
}
ASHLAR_TARGET_AVX512 inline __m512i Fold(__m512i lanes, __m512i factors, __m512i next) {
  const __m512i low = _mm512_clmulepi64_epi128(lanes, factors, 0x00);
  const __m512i high = _mm512_clmulepi64_epi128(lanes, factors, 0x11);
  return _mm512_ternarylogic_epi64(low, high, next, 0x96);  // exclusive or of the three
}
ASHLAR_TARGET_AVX512 inline __m128i FoldLane(__m128i lane, __m128i next) {
  const __m128i factors =
      _mm_set_epi64x(static_cast<int64_t>(kFoldBy128.high), static_cast<int64_t>(kFoldBy128.low));
  const __m128i low = _mm_clmulepi64_si128(lane, factors, 0x00);
  const __m128i high = _mm_clmulepi64_si128(lane, factors, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

ASHLAR_TARGET_AVX512 uint32_t ExtendAvx512(uint32_t crc, const char* data, size_t n) {
  if (n < kMinFoldBytes) return ExtendSse42(crc, data, n);
  __m512i a = _mm512_loadu_si512(data);
  __m512i b = _mm512_loadu_si512(data + 64);
  __m512i c = _mm512_loadu_si512(data + 128);
  __m512i d = _mm512_loadu_si512(data + 192);
  // A CRC state is added to the first four bytes it meets.
  a = _mm512_xor_si512(a, _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(~crc))));
  const __m512i by_2048 = Broadcast(kFoldBy2048);
  for (data += 256, n -= 256; n >= 256; data += 256, n -= 256) {
    a = Fold(a, by_2048, _mm512_loadu_si512(data));
    b = Fold(b, by_2048, _mm512_loadu_si512(data + 64));
    c = Fold(c, by_2048, _mm512_loadu_si512(data + 128));
    d = Fold(d, by_2048, _mm512_loadu_si512(data + 192));
  }
  const __m512i by_512 = Broadcast(kFoldBy512);
  a = Fold(Fold(Fold(a, by_512, b), by_512, c), by_512, d);
  for (; n >= 64; data += 64, n -= 64) a = Fold(a, by_512, _mm512_loadu_si512(data));
  __m128i lane = FoldLane(_mm512_extracti32x4_epi32(a, 0), _mm512_extracti32x4_epi32(a, 1));
  lane = FoldLane(lane, _mm512_extracti32x4_epi32(a, 2));
  lane = FoldLane(lane, _mm512_extracti32x4_epi32(a, 3));
  uint64_t state = _mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(lane)));
  state = _mm_crc32_u64(state, static_cast<uint64_t>(_mm_extract_epi64(lane, 1)));
  return ExtendSse42(~static_cast<uint32_t>(state), data, n);
}

}  // namespace

size_t HardwareImplementations(Implementation* implementations) {
  __builtin_cpu_init();
  size_t count = 0;
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("pclmul")) return count;
  implementations[count++] = {"sse4.2 + pclmulqdq", &ExtendSse42};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("vpclmulqdq")) {
    implementations[count++] = {"avx-512 + vpclmulqdq", &ExtendAvx512};
  }
  return count;
}

}  // namespace ashlar::crc32c

#else

namespace ashlar::crc32c {
size_t HardwareImplementations(Implementation*) { return 0; }
}  // namespace ashlar::crc32c

#endif
