// SPDX-License-Identifier: Apache-2.0
//
// Keys and values of the benchmarks. Each thread owns its generators; nothing here is shared.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ashlar/slice.h"

namespace ashlar {
namespace bench {

using Random = std::mt19937_64;

// What keys look like. With `keys_per_prefix` a key begins with its prefix, which is a number below
// key_count / keys_per_prefix, so that neighbours by number have different prefixes.
struct KeyShape {
  int key_size = 16;
  int prefix_size = 0;
  int64_t keys_per_prefix = 0;  // 0: keys have no part that is a prefix
  int64_t key_count = 1;
};

// Key number i is i in 8 bytes, big-endian, filled up with '0' to the key size (or cut to its last
// bytes if that is below 8), so that numbers and keys sort alike. The prefix, if keys have one, is
// written likewise in front of it.
class KeyBuffer {
 public:
  explicit KeyBuffer(const KeyShape& shape);

  // Valid until the next call.
  Slice Set(uint64_t number);

 private:
  size_t prefix_bytes_ = 0;    // in front of the number
  uint64_t prefix_count_ = 1;  // different prefixes
  std::string key_;
};

// Values cut from one stretch of text that compresses to about `ratio` of its size.
class ValueSource {
 public:
  ValueSource(uint64_t seed, double ratio, int value_size);
  Slice Next();

 private:
  std::string text_;
  size_t value_size_;
  size_t position_ = 0;
};

// The numbers a writing benchmark goes through.
class NumberSource {
 public:
  enum class Order { kAscending, kRandom, kPermutation };
  NumberSource(Order order, uint64_t count, Random* random);
  uint64_t Next();

 private:
  Order order_;
  uint64_t count_;
  uint64_t next_ = 0;
  Random* random_;
  std::vector<uint64_t> permutation_;
};

}  // namespace bench
}  // namespace ashlar
