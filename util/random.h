// SPDX-License-Identifier: Apache-2.0
//
// Random64: a small, fast, seeded generator (splitmix64) for tests, sampling and jitter. The same
// seed gives the same numbers on every machine. Not for secrets. Threads: one at a time.
//
#pragma once

#include <cstdint>
#include <string>

namespace ashlar {

class Random64 {
 public:
  explicit constexpr Random64(uint64_t seed) : state_(seed) {}

  constexpr uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  constexpr uint32_t Next32() { return static_cast<uint32_t>(Next() >> 32); }

  // A number in [0, n); n > 0. Uses no division; the bias is below n / 2^64.
  uint64_t Uniform(uint64_t n) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * n) >> 64);
  }
  // True with probability 1/n; n > 0.
  bool OneIn(uint64_t n) { return Uniform(n) == 0; }
  bool PercentTrue(unsigned percent) { return Uniform(100) < percent; }
  // A number in [0, 2^max_log), in which every magnitude is equally likely.
  uint64_t Skewed(unsigned max_log) { return Uniform(uint64_t{1} << Uniform(max_log + 1)); }

  // Random bytes.
  std::string Bytes(size_t n) {
    std::string result(n, '\0');
    for (char& c : result) c = static_cast<char>(Next32() >> 24);
    return result;
  }
  // Random lower-case letters.
  std::string Letters(size_t n) {
    std::string result(n, '\0');
    for (char& c : result) c = static_cast<char>('a' + Uniform(26));
    return result;
  }

 private:
  uint64_t state_;
};

}  // namespace ashlar
