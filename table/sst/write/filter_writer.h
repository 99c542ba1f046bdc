// SPDX-License-Identifier: Apache-2.0
//
// FilterWriter builds and writes the filter of a table: none, one over the whole table, or
// partitions. Own partitions end when they are full. Coupled partitions end only where partitions
// of the index end.
//
// A coupled partition that is full asks the index to end its partition. The filter partition ends
// when the index partition has ended, for whatever reason; by then the keys of one more data block
// have been added.
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "cache/cache_charge.h"
#include "table/filter/full_filter_builder.h"
#include "table/filter/partitioned_filter_builder.h"
#include "table/format/block_handle.h"
#include "util/memory/page_allocator.h"
#include "util/result.h"

namespace ashlar {

class BlockWriter;
class IndexBuilder;
struct TableBuilderOptions;

class FilterWriter {
 public:
  // `options` and `index`, which must not be null, outlive the writer.
  FilterWriter(const TableBuilderOptions& options, IndexBuilder* index);

  // Adds the key of an entry, without its timestamp. Keys come in the order of the file, once for
  // every version of a key. An error is kept for WriteTo(). Hot: once for each entry.
  void AddKey(const Slice& user_key) {
    if (full_.has_value()) [[likely]] {
      full_->AddKey(user_key);
    } else if (partitions_ != nullptr) {
      AddToPartition(user_key);
    }
  }

  // Charges the memory of the collected keys to the block cache, if the options ask for that and
  // the cache has room. Without room the filter is built all the same. Called once for each block;
  // the cache is asked only when a whole step more is needed.
  void Charge() {
    const size_t bytes = CacheCharge::RoundUp(HeldBytes());
    if (bytes <= asked_bytes_) [[likely]]
      return;
    ChargeMore(bytes - asked_bytes_);
    asked_bytes_ = bytes;
  }

  // Writes the filter, after the index got its last data block. Returns the first error of AddKey()
  // as well.
  Status WriteTo(BlockWriter* writer);

  // After WriteTo(): the name under which the metaindex lists handle(); empty: the table has no
  // filter.
  const std::string& meta_name() const { return meta_name_; }
  const BlockHandle& handle() const { return handle_; }
  size_t written_bytes() const { return written_bytes_; }  // after WriteTo(), without trailers
  // The number of entries of the filter: distinct neighbouring keys and prefixes.
  size_t entry_count() const;
  // True if the keys of a block must be added after the index entries of all blocks before it.
  bool follows_index() const { return partitions_ != nullptr && is_coupled_; }
  // Before WriteTo(): about how many bytes the filter will have in the file.
  size_t EstimateBytes() const;
  std::string DebugString() const;

 private:
  size_t HeldBytes() const {
    return full_.has_value() ? full_->entry_count() * sizeof(uint64_t) : EstimateBytes();
  }
  void ChargeMore(size_t bytes);
  // The internal key behind every version of the key that was added last.
  std::string BoundBehindLastKey() const;
  void AddToPartition(const Slice& user_key);
  Status WriteFull(BlockWriter* writer);
  // Makes the full filter and charges the memory that this needs while it lasts. Without room for a
  // Ribbon filter, a Bloom filter is made instead.
  PageString FinishFull();
  Status WritePartitions(BlockWriter* writer);

  const TableBuilderOptions& options_;
  IndexBuilder* const index_;
  const bool is_coupled_;                  // filter partitions end where index partitions end
  std::optional<FullFilterBuilder> full_;  // set for a full filter
  // Set for partitions; neither is set without a filter.
  std::unique_ptr<PartitionedFilterBuilder> partitions_;
  CacheCharge charge_;
  size_t asked_bytes_ = 0;  // the bytes for which Charge() asked; charge_ holds what was granted
  Status error_;            // the first error of ending a partition
  std::string meta_name_;
  BlockHandle handle_;
  size_t written_bytes_ = 0;
};

}  // namespace ashlar
