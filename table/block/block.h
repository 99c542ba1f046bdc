// SPDX-License-Identifier: Apache-2.0
//
// Block is the checked tail of one key/value block: where its entries end, its restart points, its
// hash index. It borrows the bytes, is cheap to copy and never changes. Bytes:
// docs/formats/block_based_table.md, sections 3 to 5.
//
// Parse() proves that the restart offsets ascend inside the entries and that the hash index and the
// value section lie inside the block. Entries themselves are checked by whoever decodes them.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "util/keys/coding.h"

namespace ashlar {

class EntryChecksums;

class Block {
 public:
  // A hash index numbers restart points with one byte; these two values are not numbers.
  static constexpr uint8_t kNoSuchKey = 255;
  static constexpr uint8_t kHashCollision = 254;

  Block() = default;  // no entries

  // `contents` must outlive the block. The message of a Corruption says what is wrong inside the
  // block; the caller knows the file and the offset.
  static Status Parse(const Slice& contents, Block* block);

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  const char* entries_end() const { return data_ + entries_bytes_; }
  bool empty() const { return entries_bytes_ == 0; }

  uint32_t restart_count() const { return restart_count_; }
  uint32_t RestartOffset(uint32_t restart_index) const {
    assert(restart_index < restart_count_);
    return DecodeFixed32(restarts_ + size_t{4} * restart_index);
  }
  // Index of the restart point at or before the entry at `entry_offset`.
  uint32_t RestartAtOrBefore(uint32_t entry_offset) const;

  // Keys and values in sections of their own: values lie in [values_begin(), values_end()).
  bool has_separate_values() const { return has_separate_values_; }
  const char* values_begin() const { return data_ + entries_bytes_; }
  const char* values_end() const { return restarts_; }

  bool has_hash_index() const { return bucket_count_ != 0; }
  // Restart index of the interval that alone can hold `user_key`, or one of the two above.
  uint8_t HashLookup(const Slice& user_key) const;

  // Verified by cursors for every entry that they hand out. The owner of the contents owns them;
  // null: none.
  const EntryChecksums* checksums() const { return checksums_; }
  void SetChecksums(const EntryChecksums* checksums) { checksums_ = checksums; }

  // Starts loading the lines a search touches first.
  void PrefetchTail() const {
    __builtin_prefetch(restarts_);
    __builtin_prefetch(restarts_ + 64);
  }

 private:
  Status ParseTail(uint32_t packed);
  Status CheckRestarts();

  const char* data_ = "";          // size_ bytes, somebody else's
  const char* restarts_ = "";      // restart_count_ u32
  const char* buckets_ = nullptr;  // bucket_count_ bytes of the hash index
  const EntryChecksums* checksums_ = nullptr;
  uint32_t size_ = 0;
  uint32_t entries_bytes_ = 0;  // entries are [0, entries_bytes_); only keys if values are separate
  uint32_t restart_count_ = 0;  // 0 when there are no entries
  uint16_t bucket_count_ = 0;   // 0: no hash index
  bool has_separate_values_ = false;
};

}  // namespace ashlar
