// SPDX-License-Identifier: Apache-2.0
//
// BufferedBlocks are the first data blocks of a table, kept until a compression dictionary was made
// of them.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "cache/cache_charge.h"

namespace ashlar {

// A data block before it is compressed, and what its index entry is made of.
struct RawDataBlock {
  std::string contents;
  std::string last_key;
  std::string next_key;  // the first one behind the block
  bool is_last = false;  // of the table: there is no next key

  void Assign(const Slice& new_contents, const Slice& new_last_key, const Slice* new_next_key) {
    contents.assign(new_contents.data(), new_contents.size());
    last_key.assign(new_last_key.data(), new_last_key.size());
    is_last = new_next_key == nullptr;
    if (!is_last) next_key.assign(new_next_key->data(), new_next_key->size());
  }
};

class BufferedBlocks {
 public:
  // Full when it holds more than `limit` bytes, or when `cache` has no room for more. What it holds
  // is charged there; null: nowhere. The cache outlives this.
  BufferedBlocks(size_t limit, Cache* cache)
      : limit_(limit), charge_(cache, CacheEntryRole::kCompressionDictionaryBuildingBuffer) {}

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
  size_t bytes_ = 0;                  // of their contents
  CacheCharge charge_;
  bool has_room_ = true;
};

}  // namespace ashlar
