// SPDX-License-Identifier: Apache-2.0
//
// Level is the number of a level of the tree: 0 holds what was flushed, in order of age; the tables
// of each level below it do not overlap.
//
// A type of its own, because levels stand beside indexes, counts and file numbers in many calls. An
// integer that is computed does not become a level unless the code says so, Level{n}; a constant
// need not. To be read, compared or used as an index, a level is the integer that it is.
// Threads: a plain value.
#pragma once

#include <concepts>

namespace ashlar {

class Level {
 public:
  constexpr Level() = default;
  constexpr explicit Level(int value) : value_(value) {}
  template <std::integral T>
  consteval Level(T constant) : value_(static_cast<int>(constant)) {}  // NOLINT

  constexpr operator int() const { return value_; }  // NOLINT
  constexpr Level& operator++() {
    ++value_;
    return *this;
  }
  constexpr Level& operator--() {
    --value_;
    return *this;
  }
  // The level below, into which this one compacts.
  constexpr Level Next() const { return Level{value_ + 1}; }

 private:
  int value_ = 0;
};

}  // namespace ashlar
