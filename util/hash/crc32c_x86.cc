// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C with special instructions of x86-64 processors. A target attribute lets each function be
// compiled for the instructions it needs, so that one binary runs on all processors. No function
// may be called unless HardwareImplementations() returned it.
//
// SSE4.2 + PCLMULQDQ. The crc32 instruction accepts eight bytes in every cycle, but its result
// takes three cycles. Therefore three ranges of equal length are processed at the same time, and
// the results are joined by carry-less multiplication:
//
//     | a: k words | b: k words | c: k words |    crc = a * x^(128k) + b * x^(64k) + c
//
// The factors for every k come from a table, so that short inputs are fast as well.
//
// VPCLMULQDQ + AVX-512. Four registers of 64 bytes are folded over the input, 256 bytes per step.
// For a 16-byte lane L, L times x^d is congruent to low(L) * x^(d+64) + high(L) * x^d. This fits
// into a lane again, and is added to the lane that is d bits further on.
//
// Constants. Bit i of a 64-bit operand stands for x^(63-i), so that bit k of the 128-bit product of
// two such operands stands for x^(126-k). In a lane, bit k stands for x^(127-k), so that reading
// the product as a lane multiplies it by x. The exponents below are smaller by one to compensate.
// The crc32 instruction multiplies its input by x^32, so that joining with it takes another 32 off.
#include "util/hash/crc32c_internal.h"

#if defined(__x86_64__)

// GCC 12 warns about registers that its own intrinsics leave undefined on purpose.
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

// Number of 8-byte words in one of the three ranges: at least so many that joining is worth its
// cost, and at most so many that the table fits in 2 KiB.
constexpr size_t kMinStretchWords = 4;
constexpr size_t kMaxStretchWords = 128;

// kJoinFactors[k] advances a CRC state by k words.
constexpr auto kJoinFactors = [] {
  std::array<uint32_t, 2 * kMaxStretchWords + 1> factors{};
  uint32_t power = PowerOfX(64 - 33);
  const uint32_t word = PowerOfX(64);
  for (size_t k = 1; k < factors.size(); ++k, power = Multiply(power, word)) factors[k] = power;
  return factors;
}();

// Loads eight bytes at any alignment.
inline uint64_t LoadWord(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

// Advances a CRC state by `words` words of zeros.
ASHLAR_TARGET_SSE42 inline uint64_t MoveState(uint64_t state, size_t words) {
  const __m128i product =
      _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<int64_t>(state)),
                           _mm_cvtsi32_si128(static_cast<int>(kJoinFactors[words])), 0);
  return _mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(product)));
}

// Processes 3 * `words` words.
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

// Three ways at a time as long as that is worth it, then word by word, then byte by byte.
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

// For fewer bytes the three-way loop is as fast, and it does not power up the wide vector unit.
constexpr size_t kMinFoldBytes = 1024;

// The two factors that fold a lane over `bits` bits, for its low and its high half.
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

// The same factors for all four lanes of a register.
ASHLAR_TARGET_AVX512 inline __m512i Broadcast(const FoldFactors& factors) {
  return _mm512_broadcast_i32x4(
      _mm_set_epi64x(static_cast<int64_t>(factors.high), static_cast<int64_t>(factors.low)));
}
// Folds four lanes at once and adds the next input.
ASHLAR_TARGET_AVX512 inline __m512i Fold(__m512i lanes, __m512i factors, __m512i next) {
  const __m512i low = _mm512_clmulepi64_epi128(lanes, factors, 0x00);
  const __m512i high = _mm512_clmulepi64_epi128(lanes, factors, 0x11);
  return _mm512_ternarylogic_epi64(low, high, next, 0x96);  // exclusive or of the three operands
}
// Folds one lane over 128 bits and adds the next one.
ASHLAR_TARGET_AVX512 inline __m128i FoldLane(__m128i lane, __m128i next) {
  const __m128i factors =
      _mm_set_epi64x(static_cast<int64_t>(kFoldBy128.high), static_cast<int64_t>(kFoldBy128.low));
  const __m128i low = _mm_clmulepi64_si128(lane, factors, 0x00);
  const __m128i high = _mm_clmulepi64_si128(lane, factors, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

// Needs at least 256 bytes; see kMinFoldBytes.
ASHLAR_TARGET_AVX512 uint32_t ExtendAvx512(uint32_t crc, const char* data, size_t n) {
  if (n < kMinFoldBytes) return ExtendSse42(crc, data, n);
  __m512i a = _mm512_loadu_si512(data);
  __m512i b = _mm512_loadu_si512(data + 64);
  __m512i c = _mm512_loadu_si512(data + 128);
  __m512i d = _mm512_loadu_si512(data + 192);
  // The CRC state is added to the first four bytes.
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
  // The four lanes of the register become one, and the crc32 instruction reduces it to 32 bits.
  __m128i lane = FoldLane(_mm512_extracti32x4_epi32(a, 0), _mm512_extracti32x4_epi32(a, 1));
  lane = FoldLane(lane, _mm512_extracti32x4_epi32(a, 2));
  lane = FoldLane(lane, _mm512_extracti32x4_epi32(a, 3));
  uint64_t state = _mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(lane)));
  state = _mm_crc32_u64(state, static_cast<uint64_t>(_mm_extract_epi64(lane, 1)));
  return ExtendSse42(~static_cast<uint32_t>(state), data, n);
}

}  // namespace

size_t HardwareImplementations(Implementation* implementations) {
  // The result depends only on the processor and the system, so that all calls agree.
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
