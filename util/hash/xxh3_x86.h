// SPDX-License-Identifier: Apache-2.0
//
// XXH3 of long inputs with the vector instructions of x86-64 processors, for hash.cc, which chooses
// one, and for the test that compares them with the portable code.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ashlar::xxh3 {

using Function = uint64_t (*)(const char* data, size_t n);

struct Implementation {
  const char* name;
  Function hash;
};

// Stores the implementations that the processor supports, slowest first, and returns their number.
inline constexpr size_t kMaxImplementations = 2;
size_t Implementations(Implementation* implementations);

// Each is in a file xxh3_<set>.cc that is compiled for this instruction set.
uint64_t HashAvx2(const char* data, size_t n);
uint64_t HashAvx512(const char* data, size_t n);

}  // namespace ashlar::xxh3
