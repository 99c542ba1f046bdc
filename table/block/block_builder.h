// SPDX-License-Identifier: Apache-2.0
//
// BlockBuilder encodes a run of sorted entries into the bytes of one key/value block.
// docs/formats/block_based_table.md, sections 3, 4, 5 and 6.3.
//
// An entry stores how many bytes its key shares with the key before it, except that every
// `restart_interval`-th entry, a restart point, stores its key whole. Restart offsets and their
// count end the block. Values lie between the keys, or all of them behind the last key. Finish()
// ends a block; Reset() starts the next one and keeps all memory. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "table/block/data_block_hash_index.h"
#include "util/keys/coding.h"
#include "util/memory/page_allocator.h"

namespace ashlar {

struct BlockBuilderOptions {
  int restart_interval = 16;       // at least 1
  bool use_delta_encoding = true;  // false stores every key whole
  bool has_value_lengths = true;   // false for index values that end by themselves
  double hash_util_ratio = 0;      // above 0: with an in-block hash index, keys are internal keys
  bool separates_values = false;   // values behind all keys; only with value lengths
};

class BlockBuilder {
 public:
  explicit BlockBuilder(const BlockBuilderOptions& options);

  // Keys strictly ascending in the block's order, except in a block of range tombstones.
  void Add(const Slice& key, const Slice& value) { AddEntry(key, value, nullptr); }

  // For blocks without value lengths: `delta_value` is stored instead of `value` wherever the key
  // shares bytes with the one before. `is_chained` false stores the key whole, because the value
  // does not follow from the one before.
  void AddWithDelta(const Slice& key, const Slice& value, const Slice& delta_value,
                    bool is_chained = true) {
    assert(!options_.has_value_lengths);
    AddEntry(key, value, is_chained ? &delta_value : nullptr);
  }

  // The finished block, valid until Reset(). `has_uniform_keys` tells readers that a position can
  // be guessed from a key: see AreKeysUniform().
  Slice Finish(bool has_uniform_keys = false);
  void Reset();

  bool empty() const { return size_ == 0; }
  // Of the block as if finished now.
  size_t CurrentBytes() const {
    return size_ + values_.size() + restarts_.size() * sizeof(uint32_t) + last_words_bytes_ +
           HashIndexBytes();
  }
  // How the block-cutting rule foresees the size after one more entry: the key whole, small
  // lengths.
  size_t EstimateBytesWith(const Slice& key, const Slice& value) const;
  // The last key added; empty at the start of a block.
  Slice last_key() const { return Slice(last_key_.data(), last_key_bytes_); }
  size_t entry_count() const { return entry_count_; }
  // The next entry will be a restart point, because the interval before it is full.
  bool NextIsRestart() const { return entries_since_restart_ >= options_.restart_interval; }

 private:
  void AddEntry(const Slice& key, const Slice& value, const Slice* delta_value);
  void AppendEntry(const Slice& key, size_t shared, const Slice& value);
  void AppendSeparated(const Slice& key, size_t shared, const Slice& value);
  size_t SharedBytes(const Slice& key) const;
  void RememberKey(const Slice& key, size_t shared);
  char* Reserve(size_t bytes) {
    if (capacity_ - size_ < bytes) Grow(bytes);
    return buffer_.get() + size_;
  }
  void Grow(size_t bytes);
  size_t HashIndexBytes() const {
    return hash_index_ != nullptr && hash_index_->is_valid() ? hash_index_->EncodedBytes() : 0;
  }

  const BlockBuilderOptions options_;
  const size_t last_words_bytes_;  // of the packed word, and of the place of separate values
  PageArray buffer_;               // entries, and behind them the tail once Finish() wrote it
  size_t size_ = 0;                // bytes of entries; of their keys where values are separate
  size_t capacity_ = 0;            // of buffer_
  // Offsets of restart points; the first is 0.
  std::vector<uint32_t, PageAllocator<uint32_t>> restarts_;
  int entries_since_restart_ = 0;  // at most restart_interval
  size_t entry_count_ = 0;
  std::string values_;    // separate ones, one behind the other
  std::string last_key_;  // longer than the key it holds: see RememberKey
  size_t last_key_bytes_ = 0;
  std::unique_ptr<DataBlockHashIndexBuilder> hash_index_;  // null without hash index
};

}  // namespace ashlar
