// SPDX-License-Identifier: Apache-2.0
//
// The random numbers of the differential program. Every step has its own stream, so that removing
// steps (when a difference is minimised) does not change the others.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

namespace differential {

class Draw {
 public:
  Draw(uint64_t seed, uint64_t session, uint64_t step)
      : state_(seed * 0x9e3779b97f4a7c15u + session * 0xd1342543de82ef95u +
               step * 0xaf251af3b0f025b5u) {}

  uint64_t Next() {  // splitmix64
    uint64_t mixed = state_ += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
  }
  // Below `bound`, which is above 0.
  uint64_t Below(uint64_t bound) { return Next() % bound; }
  // True once in `many` times.
  bool OneIn(uint64_t many) { return Below(many) == 0; }

  template <typename T>
  T Of(std::initializer_list<T> choices) {
    return choices.begin()[Below(choices.size())];
  }

 private:
  uint64_t state_;
};

}  // namespace differential
