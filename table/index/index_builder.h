// SPDX-License-Identifier: Apache-2.0
//
// IndexBuilder writes the index of a table: for each data block a separator and the block's handle,
// in one block or in partitions with an index of their own. docs/formats/block_based_table.md,
// sections 6.1 to 6.4 and 6.6.
//
// Whether index keys carry sequence numbers is known only at the end: they must, if the versions of
// one user key fill more than one block. So separators are collected and encoded once by WriteTo();
// where partitions end is decided on the way, from what is known then, because the filter may have
// to end its partitions at the same blocks. Threads: one at a time.
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
  kPartitioned  // blocks of about partition_bytes, and one block of these
};

struct IndexBuilderOptions {
  const InternalKeyComparator* icmp = nullptr;  // outlives the builder
  IndexShortening shortening = IndexShortening::kSeparators;
  IndexLayout layout = IndexLayout::kFlat;
  uint32_t format_version = 6;
  int restart_interval = 1;
  bool has_aligned_blocks = false;            // data blocks do not lie back to back
  double most_uniform_variation = -1;         // see AreKeysUniform(); below 0: no block is
  size_t partition_bytes = 4096;              // a partition ends at this size
  size_t nearly_full_partition_bytes = 3687;  // or here, if the next entry does not fit
};

class IndexBuilder {
 public:
  explicit IndexBuilder(const IndexBuilderOptions& options);

  // The first entry of the next data block, where AddBlock() has not told it. Before the first.
  void StartBlock(const Slice& first_key);
  // A data block that ends with `last_key`; `next_key` starts the next one, null behind the last
  // block of the table. Both are internal keys. Blocks in the order of the file.
  void AddBlock(const Slice& last_key, const Slice* next_key, const BlockHandle& handle);

  size_t block_count() const { return entries_.size(); }
  size_t EstimateBytes() const;

  // Partitions only. Ends the open partition in front of the next data block that is added.
  void RequestPartitionEnd() { is_end_requested_ = true; }
  // True once after a partition has ended.
  bool TakePartitionEnd();
  // The separator of the last block that was added, an internal key.
  Slice last_separator() const { return SeparatorAt(entries_.size() - 1); }

  // Writes a block of the table and says where.
  using Sink = std::function<Result<BlockHandle>(const Slice& block)>;
  // Writes the index, partitions first; the handle is that of the block to begin with. Once.
  Result<BlockHandle> WriteTo(const Sink& sink);

  // After the last AddBlock().
  bool has_user_keys() const { return may_use_user_keys_; }
  bool has_delta_handles() const { return has_delta_handles_; }
  // After WriteTo(), uncompressed and without trailers.
  size_t written_bytes() const { return written_bytes_; }
  size_t top_level_bytes() const { return top_level_bytes_; }  // 0 without partitions
  size_t partition_count() const { return partition_count_; }
  size_t uniform_block_count() const { return uniform_block_count_; }
  std::string DebugString() const;

 private:
  struct Entry {
    size_t key_end;        // in keys_; the key starts where the one before ends
    size_t first_key_end;  // the same in first_keys_
    BlockHandle handle;
  };

  void AppendSeparator(const Slice& last_key, const Slice* next_key);
  void AppendShortened(const Slice& last_key, const std::string& shortened);
  Slice SeparatorAt(size_t i) const;
  Slice FirstKeyAt(size_t i) const;
  // The key of an entry as it is written, once no more blocks come.
  Slice WrittenKeyAt(size_t i) const;
  bool IsPartitionFull(const Slice& last_key, const BlockHandle& handle) const;
  void EndPartition();
  void Measure();
  Result<BlockHandle> WriteBlock(size_t begin, size_t end, const Sink& sink);
  // Of the index block that is being written: its keys, and, behind the last one, whether they are
  // uniform.
  void NoteKey(size_t place_in_block, size_t entry);
  bool TakeUniformity();

  const IndexBuilderOptions options_;
  const bool has_delta_handles_;                      // follows from format version and alignment
  bool may_use_user_keys_;                            // until a user key is found in two blocks
  PageString keys_;                                   // internal separators, one behind the other
  PageString first_keys_;                             // of the blocks, if the layout has them
  std::string next_first_key_;                        // of the block that is being filled
  std::vector<Entry, PageAllocator<Entry>> entries_;  // one for each data block
  std::string scratch_;                               // a shortened key

  // Partitions: the open one in both forms of keys, to know its size, and where the others end.
  IndexBlockEncoder user_key_partition_;
  IndexBlockEncoder internal_key_partition_;
  std::vector<size_t> partition_ends_;  // indexes of entries, exclusive; without the last
  bool is_end_requested_ = false;
  bool has_new_end_ = false;  // see TakePartitionEnd()

  IndexBlockEncoder encoder_;  // empty until WriteTo()
  size_t written_bytes_ = 0;
  size_t top_level_bytes_ = 0;
  size_t partition_count_ = 0;
  size_t uniform_block_count_ = 0;   // index blocks that are marked
  std::vector<Slice> restart_keys_;  // see NoteKey(): user keys at restart points
};

}  // namespace ashlar
