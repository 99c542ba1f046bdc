// SPDX-License-Identifier: Apache-2.0
//
// The portable CRC-32C, which uses eight tables to process eight bytes per step, and the choice
// between the implementations. Those that use special instructions are in crc32c_x86.cc.
#include "util/hash/crc32c.h"

#include <array>
#include <atomic>
#include <cassert>

#include "util/hash/crc32c_internal.h"
#include "util/keys/coding.h"

namespace ashlar::crc32c {

namespace {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// tables[k][b] is the CRC state after byte b and k further zero bytes.
constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t state = byte;
    for (int bit = 0; bit < 8; ++bit) state = MultiplyByX(state);
    tables[0][byte] = state;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

uint32_t ChooseAndExtend(uint32_t crc, const char* data, size_t n);

// Initially the function that chooses an implementation and stores it here. Threads may do that at
// the same time, but all store the same value, so that relaxed order is enough.
constinit std::atomic<ExtendFunction> extend_function{&ChooseAndExtend};

Implementation BestImplementation() {
  Implementation candidates[kMaxHardwareImplementations];
  const size_t count = HardwareImplementations(candidates);
  return count == 0 ? Implementation{"portable", &ExtendPortable} : candidates[count - 1];
}

// Runs at most a few times per process: until one thread has stored its choice.
uint32_t ChooseAndExtend(uint32_t crc, const char* data, size_t n) {
  const ExtendFunction best = BestImplementation().extend;
  extend_function.store(best, std::memory_order_relaxed);
  return best(crc, data, n);
}

}  // namespace

uint32_t ExtendPortable(uint32_t crc, const char* data, size_t n) {
  // The state is the complement of the CRC, so that leading zeros count.
  assert(data != nullptr || n == 0);
  uint32_t state = ~crc;
  for (; n >= 8; n -= 8, data += 8) {
    const uint32_t low = DecodeFixed32(data) ^ state;
    const uint32_t high = DecodeFixed32(data + 4);
    state = kTables[7][low & 0xff] ^ kTables[6][(low >> 8) & 0xff] ^
            kTables[5][(low >> 16) & 0xff] ^ kTables[4][low >> 24] ^ kTables[3][high & 0xff] ^
            kTables[2][(high >> 8) & 0xff] ^ kTables[1][(high >> 16) & 0xff] ^
            kTables[0][high >> 24];
  }
  for (; n != 0; --n, ++data) {
    state = (state >> 8) ^ kTables[0][(state ^ static_cast<unsigned char>(*data)) & 0xff];
  }
  return ~state;
}

uint32_t Extend(uint32_t crc, const char* data, size_t n) {
  return extend_function.load(std::memory_order_relaxed)(crc, data, n);
}

// Appending b_bytes bytes multiplies the first CRC by x^(8 * b_bytes).
uint32_t Combine(uint32_t crc_a, uint32_t crc_b, uint64_t b_bytes) {
  return Multiply(crc_a, PowerOfX(8 * b_bytes)) ^ crc_b;
}

}  // namespace ashlar::crc32c
