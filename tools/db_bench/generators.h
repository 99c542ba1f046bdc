// SPDX-License-Identifier: Apache-2.0
//
// Generators of the keys and values of benchmarks. Each thread has its own generators.
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

// The form of keys. With `keys_per_prefix` a key begins with a prefix, the key's number modulo
// key_count / keys_per_prefix, so that keys with neighbouring numbers have different prefixes.
struct KeyShape {
  int key_size = 16;
  int prefix_size = 0;
  int64_t keys_per_prefix = 0;  // 0: keys have no prefix
  int64_t key_count = 1;
};

// Key number i is i in 8 bytes, big-endian, padded with '0' to the key size (or cut to its last
// bytes if the key size is below 8), so that numbers and keys have the same order. A prefix comes
// before it in the same form.
class KeyBuffer {
 public:
  explicit KeyBuffer(const KeyShape& shape);

  // Valid until the next call.
  Slice Set(uint64_t number);

 private:
  size_t prefix_bytes_ = 0;    // before the number
  uint64_t prefix_count_ = 1;  // number of different prefixes
  std::string key_;
};

// Values are slices of one text that compresses to about `ratio` of its size.
class ValueSource {
 public:
  ValueSource(uint64_t seed, double ratio, int value_size);
  Slice Next();

 private:
  std::string text_;
  size_t value_size_;
  size_t position_ = 0;
};

// The key numbers of a writing benchmark, one after the other.
class NumberSource {
 public:
  enum class Order { kAscending, kRandom, kPermutation };
  NumberSource(Order order, uint64_t count, Random* random);
  uint64_t Next();

 private:
  Order order_;
  uint64_t count_;
  // How many numbers were handed out, for the two orders that are not random.
  uint64_t next_ = 0;
  // Of the thread; outlives the object.
  Random* random_;
  std::vector<uint64_t> permutation_;
};

}  // namespace bench
}  // namespace ashlar
