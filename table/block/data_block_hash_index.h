// SPDX-License-Identifier: Apache-2.0
//
// DataBlockHashIndexBuilder makes the optional table behind the restart points of a data block,
// which leads a point lookup to one restart interval. docs/formats/block_based_table.md, section 4;
// the lookup is Block::HashLookup.
//
// Threads: one at a time.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ashlar/slice.h"
#include "table/block/block.h"
#include "util/hash/hash.h"
#include "util/keys/coding.h"

namespace ashlar {

class DataBlockHashIndexBuilder {
 public:
  // Larger blocks have no hash index, because in them bit 31 of the last word may be part of the
  // number of restart points.
  static constexpr size_t kMaxBlockBytes = 64 * 1024;

  // `util_ratio` is the number of entries per bucket; above 0.
  explicit DataBlockHashIndexBuilder(double util_ratio) : buckets_per_key_(1 / util_ratio) {
    assert(util_ratio > 0);
  }

  // Adds the next key of the block.
  void Add(const Slice& user_key, size_t restart_index) {
    if (restart_index >= Block::kHashCollision) is_valid_ = false;
    if (!is_valid_) return;
    estimated_buckets_ += buckets_per_key_;
    entries_.push_back({Hash32(user_key.data(), user_key.size(), kDataBlockHashSeed),
                        static_cast<uint8_t>(restart_index)});
  }

  // False if the block has too many restart points for a hash index.
  bool is_valid() const { return is_valid_; }
  size_t EncodedBytes() const { return BucketCount() + sizeof(uint16_t); }

  // Writes EncodedBytes() bytes. Only if is_valid().
  void EncodeTo(char* dst) const;
  void Reset();

 private:
  struct Entry {
    uint32_t hash;          // of the user key
    uint8_t restart_index;  // of the interval that contains the key; below Block::kHashCollision
  };
  // Odd, so that `hash mod count` depends on all bits of the hash.
  uint16_t BucketCount() const {
    return static_cast<uint16_t>(static_cast<uint64_t>(estimated_buckets_)) | 1;
  }

  double buckets_per_key_;
  // Summed up in the order that RocksDB uses, because the bytes must be equal.
  double estimated_buckets_ = 0;
  bool is_valid_ = true;
  std::vector<Entry> entries_;  // one for each key of the block, in order
};

}  // namespace ashlar
