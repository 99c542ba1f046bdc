// SPDX-License-Identifier: Apache-2.0
//
// Level is the number of a level of the tree. Level 0 has the flushed tables, in order of age.
// Within each deeper level the tables do not overlap.
//
// It is a separate type because levels are used together with indexes, counts and file numbers. A
// computed integer must be converted explicitly, Level{n}; a constant is converted implicitly. A
// level converts to int implicitly, for comparisons and as an index. Threads: a value.
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
  // The next deeper level, into which this one is compacted.
  constexpr Level Next() const { return Level{value_ + 1}; }

 private:
  int value_ = 0;
};

}  // namespace ashlar
