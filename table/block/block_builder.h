// SPDX-License-Identifier: Apache-2.0
//
// BlockBuilder encodes a run of sorted entries into the bytes of one key/value block.
// docs/formats/block_based_table.md, sections 3, 4, 5 and 6.3.
//
// An entry stores how many bytes its key shares with the previous key, but every
// `restart_interval`-th entry, a restart point, stores its whole key. Restart offsets and their
// number are at the end of the block. A value follows its key, or all values follow the last key.
// Finish() ends a block; Reset() starts the next one and keeps the memory. Threads: one at a time.
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
  bool use_delta_encoding = true;  // false: every entry stores its whole key
  bool has_value_lengths = true;   // false: for index values, whose end can be recognised
  // Entries per bucket of a hash index; 0: no hash index. With one, keys are internal keys.
  double hash_util_ratio = 0;
  bool separates_values = false;  // all values behind all keys; only together with value lengths
};

class BlockBuilder {
 public:
  explicit BlockBuilder(const BlockBuilderOptions& options);

  // Adds an entry. Keys are strictly ascending in the order of the block, except in a block of
  // range tombstones.
  void Add(const Slice& key, const Slice& value) { AddEntry(key, value, nullptr); }

  // For blocks without value lengths: `delta_value` is stored instead of `value` if the entry
  // shares key bytes with the previous one. If `is_chained` is false, the whole key is stored,
  // because the delta would be wrong.
  void AddWithDelta(const Slice& key, const Slice& value, const Slice& delta_value,
                    bool is_chained = true) {
    assert(!options_.has_value_lengths);
    AddEntry(key, value, is_chained ? &delta_value : nullptr);
  }

  // Ends the block and returns it, valid until Reset(). `has_uniform_keys` tells readers that the
  // position of a key can be guessed: see AreKeysUniform().
  Slice Finish(bool has_uniform_keys = false);
  // Starts a new block.
  void Reset();

  bool empty() const { return size_ == 0; }
  // The size of the block if it were finished now.
  size_t CurrentBytes() const {
    return size_ + values_.size() + restarts_.size() * sizeof(uint32_t) + last_words_bytes_ +
           HashIndexBytes();
  }
  // The estimated size after one more entry, for the rule that ends blocks: with the whole key and
  // small lengths.
  size_t EstimateBytesWith(const Slice& key, const Slice& value) const;
  // The key that was added last; empty at the start of a block.
  Slice last_key() const { return Slice(last_key_.data(), last_key_bytes_); }
  size_t entry_count() const { return entry_count_; }
  // True if the next entry will be a restart point, because the current interval is full.
  bool NextIsRestart() const { return entries_since_restart_ >= options_.restart_interval; }

 private:
  void AddEntry(const Slice& key, const Slice& value, const Slice* delta_value);
  // Append an entry with its value, or an entry whose value goes to the value section.
  void AppendEntry(const Slice& key, size_t shared, const Slice& value);
  void AppendSeparated(const Slice& key, size_t shared, const Slice& value);
  size_t SharedBytes(const Slice& key) const;
  // Stores `key` as the last key; its first `shared` bytes are there already.
  void RememberKey(const Slice& key, size_t shared);
  // Returns memory for `bytes` more bytes behind the entries.
  char* Reserve(size_t bytes) {
    if (capacity_ - size_ < bytes) Grow(bytes);
    return buffer_.get() + size_;
  }
  void Grow(size_t bytes);
  size_t HashIndexBytes() const {
    return hash_index_ != nullptr && hash_index_->is_valid() ? hash_index_->EncodedBytes() : 0;
  }

  const BlockBuilderOptions options_;
  const size_t last_words_bytes_;  // size of the packed word and of the offset of the value section
  PageArray buffer_;               // the entries; Finish() writes the tail behind them
  size_t size_ = 0;                // bytes of entries; of their keys only if values are separate
  size_t capacity_ = 0;            // bytes of buffer_
  // Offsets of restart points; the first is 0.
  std::vector<uint32_t, PageAllocator<uint32_t>> restarts_;
  int entries_since_restart_ = 0;  // at most restart_interval
  size_t entry_count_ = 0;
  std::string values_;    // the values if they are separate, concatenated
  std::string last_key_;  // may be longer than the key that it holds: see RememberKey()
  size_t last_key_bytes_ = 0;
  std::unique_ptr<DataBlockHashIndexBuilder> hash_index_;  // null: no hash index
};

}  // namespace ashlar
