// SPDX-License-Identifier: Apache-2.0
//
// XXH3 over long inputs by the vector instructions of x86-64 processors, for the dispatcher in
// hash.cc and for the test that compares them with the portable code.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ashlar::xxh3 {

using Function = uint64_t (*)(const char* data, size_t n);

struct Implementation {
  const char* name;
  Function hash;
};

// The implementations that the running processor supports, slowest first. Returns how many.
inline constexpr size_t kMaxImplementations = 2;
size_t Implementations(Implementation* implementations);

// One is in each xxh3_<set>.cc, compiled for its instruction set.
uint64_t HashAvx2(const char* data, size_t n);
uint64_t HashAvx512(const char* data, size_t n);

}  // namespace ashlar::xxh3
