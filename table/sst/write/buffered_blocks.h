// SPDX-License-Identifier: Apache-2.0
//
// BufferedBlocks holds the first data blocks of a table until a compression dictionary has been
// trained on them.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "cache/cache_charge.h"

namespace ashlar {

// A data block before compression, with the keys from which its index entry is made.
struct RawDataBlock {
  std::string contents;
  std::string last_key;
  std::string next_key;  // the first key behind the block; empty if is_last
  bool is_last = false;  // the last block of the table, so there is no next key

  void Assign(const Slice& new_contents, const Slice& new_last_key, const Slice* new_next_key) {
    contents.assign(new_contents.data(), new_contents.size());
    last_key.assign(new_last_key.data(), new_last_key.size());
    is_last = new_next_key == nullptr;
    if (!is_last) next_key.assign(new_next_key->data(), new_next_key->size());
  }
};

class BufferedBlocks {
 public:
  // IsFull() is true when more than `limit` bytes are held, or when `cache` has no room for more.
  // The bytes held are charged to `cache`, which outlives this object; null: they are not charged.
  BufferedBlocks(size_t limit, Cache* cache)
      : limit_(limit), charge_(cache, CacheEntryRole::kCompressionDictionaryBuildingBuffer) {}

  // Copies a cut block; `next_key` is null for the last block of the table.
  void Add(const Slice& contents, const Slice& last_key, const Slice* next_key) {
    blocks_.emplace_back().Assign(contents, last_key, next_key);
    bytes_ += contents.size();
    has_room_ = charge_.GrowTo(CacheCharge::RoundUp(bytes_)).ok();
  }
  bool IsFull() const { return bytes_ > limit_ || !has_room_; }
  size_t bytes() const { return bytes_; }
  const std::vector<RawDataBlock>& blocks() const { return blocks_; }

 private:
  const size_t limit_;
  std::vector<RawDataBlock> blocks_;  // in the order of the table
  size_t bytes_ = 0;                  // sum of the sizes of their contents
  CacheCharge charge_;
  bool has_room_ = true;
};

}  // namespace ashlar
