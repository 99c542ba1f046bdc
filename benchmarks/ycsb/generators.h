// SPDX-License-Identifier: Apache-2.0
//
// Generators that choose the record of an operation: uniformly, by Zipf's law, or preferring the
// latest records. Each thread has its own generators; the number of records, which all threads
// share, is an argument.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace ycsb {

using Random = std::mt19937_64;

inline double Fraction(Random& random) {
  return std::uniform_real_distribution<double>(0.0, 1.0)(random);
}

// 64-bit FNV-1a over the bytes of a number: spreads neighbours over the key space.
inline uint64_t Scatter(uint64_t number) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int i = 0; i < 8; i++, number >>= 8) hash = (hash ^ (number & 0xff)) * 0x100000001b3u;
  return hash;
}

// Ranks 0 to n-1, where rank r has a probability proportional to 1/(r+1)^0.99. The method of Gray
// et al., "Quickly generating billion-record synthetic databases": two values of the zeta function,
// which are extended when n grows, then constant time per number.
class Zipfian {
 public:
  uint64_t Next(uint64_t n, Random& random) {
    Extend(n);
    const double u = Fraction(random);
    const double uz = u * zeta_;
    if (uz < 1.0) return 0;
    if (uz < 1.0 + std::pow(0.5, kTheta)) return n > 1 ? 1 : 0;
    const double eta = (1.0 - std::pow(2.0 / static_cast<double>(n), 1.0 - kTheta)) /
                       (1.0 - (1.0 + std::pow(0.5, kTheta)) / zeta_);
    const auto rank = static_cast<uint64_t>(static_cast<double>(n) *
                                            std::pow(eta * u - eta + 1.0, 1.0 / (1.0 - kTheta)));
    return rank < n ? rank : n - 1;
  }

 private:
  static constexpr double kTheta = 0.99;

  void Extend(uint64_t n) {
    for (; n_ < n; n_++) zeta_ += 1.0 / std::pow(static_cast<double>(n_ + 1), kTheta);
  }

  uint64_t n_ = 0;
  double zeta_ = 0.0;  // the sum of 1/i^theta for i in [1, n_]
};

}  // namespace ycsb
