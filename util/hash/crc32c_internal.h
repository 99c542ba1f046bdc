// SPDX-License-Identifier: Apache-2.0
//
// The implementations of crc32c::Extend, for the code that chooses one and for the test that
// compares them, and the polynomial arithmetic that they share.
//
// A polynomial over GF(2) of degree below 32 is a uint32_t whose bit i is the coefficient of
// x^(31-i), which is the order of CRC-32C. All arithmetic is modulo the polynomial of the CRC.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ashlar::crc32c {

inline constexpr uint32_t kPolynomial = 0x82f63b78;
inline constexpr uint32_t kOne = 0x80000000;  // x^0

// One step of the division by the polynomial.
constexpr uint32_t MultiplyByX(uint32_t a) { return (a >> 1) ^ ((a & 1) ? kPolynomial : 0); }

// Schoolbook multiplication, 32 steps. For tables and Combine(), not for data.
constexpr uint32_t Multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = kOne; bit != 0; bit >>= 1) {
    if (a & bit) product ^= b;
    b = MultiplyByX(b);
  }
  return product;
}

// x^n.
constexpr uint32_t PowerOfX(uint64_t n) {
  uint32_t result = kOne;
  uint32_t square = MultiplyByX(kOne);  // x^1, then x^2, x^4, ...
  for (; n != 0; n >>= 1) {
    if (n & 1) result = Multiply(result, square);
    square = Multiply(square, square);
  }
  return result;
}

using ExtendFunction = uint32_t (*)(uint32_t crc, const char* data, size_t n);

// `name` is for tests and messages.
struct Implementation {
  const char* name;
  ExtendFunction extend;
};

// Works on every processor.
uint32_t ExtendPortable(uint32_t crc, const char* data, size_t n);

// Stores the implementations that the processor supports in addition to the portable one, slowest
// first. Returns their number, at most kMaxHardwareImplementations.
inline constexpr size_t kMaxHardwareImplementations = 2;
size_t HardwareImplementations(Implementation* implementations);

}  // namespace ashlar::crc32c
