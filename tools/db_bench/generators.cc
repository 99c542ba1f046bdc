// SPDX-License-Identifier: Apache-2.0
//
// Keys are numbers in big-endian order; values are slices of one random text.
#include "tools/db_bench/generators.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace ashlar {
namespace bench {
namespace {

// Writes the number in big-endian order: 8 bytes, or its last `max_bytes` if those are fewer.
void WriteNumber(uint64_t number, size_t max_bytes, char* to) {
  const size_t digits = std::min<size_t>(8, max_bytes);
  for (size_t i = 0; i < digits; i++) to[digits - 1 - i] = static_cast<char>(number >> (8 * i));
}

constexpr size_t kTextBytes = 1 << 20;
constexpr size_t kPieceBytes = 100;

// Appends a piece of kPieceBytes printable bytes. A share `ratio` of the piece is random, and the
// rest repeats these bytes, so a compressor that finds repetitions can store the piece in about
// that share of its size.
void AppendPiece(double ratio, Random* random, std::string* text) {
  assert(text != nullptr);
  const size_t fresh = std::max<size_t>(1, static_cast<size_t>(kPieceBytes * ratio));
  const size_t begin = text->size();
  for (size_t i = 0; i < fresh; i++) {
    text->push_back(static_cast<char>(' ' + (*random)() % 95));
  }
  while (text->size() - begin < kPieceBytes) text->push_back((*text)[text->size() - fresh]);
}

}  // namespace

KeyBuffer::KeyBuffer(const KeyShape& shape) : key_(static_cast<size_t>(shape.key_size), '0') {
  if (shape.keys_per_prefix == 0) return;
  prefix_bytes_ = std::min(key_.size(), static_cast<size_t>(shape.prefix_size));
  prefix_count_ =
      static_cast<uint64_t>(std::max<int64_t>(1, shape.key_count / shape.keys_per_prefix));
}

// The key is built in place, so a benchmark allocates nothing for it.
Slice KeyBuffer::Set(uint64_t number) {
  assert(prefix_bytes_ <= key_.size());
  WriteNumber(number % prefix_count_, prefix_bytes_, key_.data());
  WriteNumber(number, key_.size() - prefix_bytes_, key_.data() + prefix_bytes_);
  return Slice(key_);
}

ValueSource::ValueSource(uint64_t seed, double ratio, int value_size)
    : value_size_(static_cast<size_t>(value_size)) {
  Random random(seed);
  const size_t bytes = std::max(kTextBytes, value_size_);
  while (text_.size() < bytes) AppendPiece(ratio, &random, &text_);
}

// The slice is valid as long as the source.
Slice ValueSource::Next() {
  // Values repeat after a megabyte, which is far apart for the compression of a block.
  if (position_ + value_size_ > text_.size()) position_ = 0;
  const Slice value(text_.data() + position_, value_size_);
  position_ += value_size_;
  return value;
}

NumberSource::NumberSource(Order order, uint64_t count, Random* random)
    : order_(order), count_(std::max<uint64_t>(1, count)), random_(random) {
  // Only a permutation needs memory, 8 bytes for each key.
  if (order_ != Order::kPermutation) return;
  permutation_.resize(count_);
  std::iota(permutation_.begin(), permutation_.end(), 0);
  std::shuffle(permutation_.begin(), permutation_.end(), *random_);
}

uint64_t NumberSource::Next() {
  if (order_ == Order::kRandom) return (*random_)() % count_;
  const uint64_t number = next_++ % count_;
  return order_ == Order::kAscending ? number : permutation_[number];
}

}  // namespace bench
}  // namespace ashlar
