// SPDX-License-Identifier: Apache-2.0
//
// IndexBuilder writes the index of a table: for each data block a separator and the handle of the
// block, in one block or in partitions with an index of their own.
// docs/formats/block_based_table.md, sections 6.1 to 6.4 and 6.6.
//
// Only at the end it is known whether index keys must carry sequence numbers: they must if the
// versions of one user key fill more than one block. So separators are collected, and WriteTo()
// encodes them once. The ends of partitions are decided earlier, with what is known by then,
// because filter partitions may have to end at the same blocks. Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "table/format/block_handle.h"
#include "table/index/index_block_encoder.h"
#include "util/memory/page_allocator.h"
#include "util/result.h"

namespace ashlar {

class InternalKeyComparator;

// How far separators may be shortened.
enum class IndexShortening : uint8_t { kNone, kSeparators, kSeparatorsAndLast };

enum class IndexLayout : uint8_t {
  kFlat,
  kFirstKeys,   // flat, with the first key of each data block
  kPartitioned  // partitions of about partition_bytes, and a block that lists them
};

struct IndexBuilderOptions {
  const InternalKeyComparator* icmp = nullptr;  // outlives the builder
  IndexShortening shortening = IndexShortening::kSeparators;
  IndexLayout layout = IndexLayout::kFlat;
  uint32_t format_version = 6;
  int restart_interval = 1;
  bool has_aligned_blocks = false;  // there may be padding between data blocks
  // See AreKeysUniform(); below 0: no block is marked as uniform.
  double most_uniform_variation = -1;
  size_t partition_bytes = 4096;              // a partition ends at this size
  size_t nearly_full_partition_bytes = 3687;  // or at this size, if the next entry does not fit
};

class IndexBuilder {
 public:
  explicit IndexBuilder(const IndexBuilderOptions& options);

  // The first key of the first data block; AddBlock() passes the first keys of the others. Called
  // before the first AddBlock().
  void StartBlock(const Slice& first_key);
  // Adds a data block that ends with `last_key`. `next_key` is the first key of the next block;
  // null for the last block of the table. Both are internal keys. Blocks come in the order of the
  // file.
  void AddBlock(const Slice& last_key, const Slice* next_key, const BlockHandle& handle);

  // Blocks added so far.
  size_t block_count() const { return entries_.size(); }
  // About the bytes of the index in the file.
  size_t EstimateBytes() const;

  // Only with partitions: ends the open partition before the next data block that is added.
  void RequestPartitionEnd() { is_end_requested_ = true; }
  // True once after each end of a partition.
  bool TakePartitionEnd();
  // The separator of the block that was added last; an internal key.
  Slice last_separator() const { return SeparatorAt(entries_.size() - 1); }

  // Writes a block to the table and returns its handle.
  using Sink = std::function<Result<BlockHandle>(const Slice& block)>;
  // Writes the index, partitions first, and returns the handle of the index or its top level.
  // Called once.
  Result<BlockHandle> WriteTo(const Sink& sink);

  // After the last AddBlock(): whether index keys are user keys, and whether handles are delta
  // encoded.
  bool has_user_keys() const { return may_use_user_keys_; }
  bool has_delta_handles() const { return has_delta_handles_; }
  // The uncompressed size in bytes of all index blocks, without their trailers. Valid after
  // WriteTo().
  size_t written_bytes() const { return written_bytes_; }
  size_t top_level_bytes() const { return top_level_bytes_; }  // 0 without partitions
  size_t partition_count() const { return partition_count_; }
  size_t uniform_block_count() const { return uniform_block_count_; }
  std::string DebugString() const;

 private:
  // One data block.
  struct Entry {
    size_t key_end;        // in keys_; the key starts where the previous one ends
    size_t first_key_end;  // the same in first_keys_
    BlockHandle handle;
  };

  // Appends the separator behind `last_key` to keys_.
  void AppendSeparator(const Slice& last_key, const Slice* next_key);
  void AppendShortened(const Slice& last_key, const std::string& shortened);
  Slice SeparatorAt(size_t i) const;
  Slice FirstKeyAt(size_t i) const;
  // The key of an entry as it is encoded; called after the last AddBlock().
  Slice WrittenKeyAt(size_t i) const;
  // True if the open partition must end before this block.
  bool IsPartitionFull(const Slice& last_key, const BlockHandle& handle) const;
  void EndPartition();
  // Adds the last separator to the open partition in both forms, to measure it.
  void Measure();
  Result<BlockHandle> WriteBlock(size_t begin, size_t end, const Sink& sink);
  // Collect the keys at the restart points of the index block that is being written, and decide at
  // its end whether they are uniform.
  void NoteKey(size_t place_in_block, size_t entry);
  bool TakeUniformity();

  const IndexBuilderOptions options_;
  const bool has_delta_handles_;  // decided by format version and alignment
  bool may_use_user_keys_;        // false after a user key was found in two blocks
  PageString keys_;               // the separators as internal keys, concatenated
  PageString first_keys_;         // the first keys of the blocks, if the layout has them
  std::string next_first_key_;    // first key of the block that is being filled
  std::vector<Entry, PageAllocator<Entry>> entries_;  // one for each data block
  std::string scratch_;                               // for shortened keys

  // Partitions: the open one with both forms of keys, to measure it, and the ends of the others.
  IndexBlockEncoder user_key_partition_;
  IndexBlockEncoder internal_key_partition_;
  // Exclusive indexes of entries_; without the end of the last partition.
  std::vector<size_t> partition_ends_;
  bool is_end_requested_ = false;  // see RequestPartitionEnd()
  bool has_new_end_ = false;       // see TakePartitionEnd()

  IndexBlockEncoder encoder_;  // used by WriteTo()
  size_t written_bytes_ = 0;
  size_t top_level_bytes_ = 0;
  size_t partition_count_ = 0;
  size_t uniform_block_count_ = 0;  // index blocks that were marked as uniform
  // User keys at the restart points of the block that is being written.
  std::vector<Slice> restart_keys_;
};

}  // namespace ashlar
