// SPDX-License-Identifier: Apache-2.0
//
// Block gives access to the tail of one key/value block: the end of its entries, its restart
// points, and its hash index. It borrows the bytes, is cheap to copy and never changes.
// docs/formats/block_based_table.md, sections 3 to 5.
//
// Parse() proves that the restart offsets ascend and lie inside the entries, and that the hash
// index and the value section lie inside the block. The entries are checked by the code that
// decodes them.
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
  // A hash index stores a restart index in one byte; these two values are not indexes.
  static constexpr uint8_t kNoSuchKey = 255;
  static constexpr uint8_t kHashCollision = 254;

  Block() = default;  // a block without entries

  // `contents` must outlive the block. A Corruption describes the problem inside the block; the
  // caller adds file and offset.
  static Status Parse(const Slice& contents, Block* block);

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  const char* entries_end() const { return data_ + entries_bytes_; }
  bool empty() const { return entries_bytes_ == 0; }

  uint32_t restart_count() const { return restart_count_; }
  // Offset of the first entry of a restart interval.
  uint32_t RestartOffset(uint32_t restart_index) const {
    assert(restart_index < restart_count_);
    return DecodeFixed32(restarts_ + size_t{4} * restart_index);
  }
  // Index of the restart point at or before the entry at `entry_offset`.
  uint32_t RestartAtOrBefore(uint32_t entry_offset) const;

  // True if keys and values are in separate sections: values are in [values_begin(), values_end()).
  bool has_separate_values() const { return has_separate_values_; }
  const char* values_begin() const { return data_ + entries_bytes_; }
  const char* values_end() const { return restarts_; }

  bool has_hash_index() const { return bucket_count_ != 0; }
  // The index of the only restart interval that can contain `user_key`, or one of the two constants
  // above.
  uint8_t HashLookup(const Slice& user_key) const;

  // Cursors verify these for every entry that they return. They belong to the owner of the
  // contents; null: there are none.
  const EntryChecksums* checksums() const { return checksums_; }
  void SetChecksums(const EntryChecksums* checksums) { checksums_ = checksums; }

  // Starts loading the cache lines that a search reads first.
  void PrefetchTail() const {
    __builtin_prefetch(restarts_);
    __builtin_prefetch(restarts_ + 64);
  }

 private:
  // Reads the packed word and finds the sections; `packed` is the last word of the block.
  Status ParseTail(uint32_t packed);
  // Checks the restart offsets.
  Status CheckRestarts();

  const char* data_ = "";          // size_ bytes; borrowed
  const char* restarts_ = "";      // restart_count_ numbers of four bytes
  const char* buckets_ = nullptr;  // bucket_count_ bytes of the hash index; null: none
  const EntryChecksums* checksums_ = nullptr;
  uint32_t size_ = 0;
  uint32_t entries_bytes_ = 0;  // entries are [0, entries_bytes_); only keys if values are separate
  uint32_t restart_count_ = 0;  // 0 if there are no entries
  uint16_t bucket_count_ = 0;   // 0: no hash index
  bool has_separate_values_ = false;
};

}  // namespace ashlar
