// SPDX-License-Identifier: Apache-2.0
//
// FilterWriter is what a table builder has of filters: none, one over the whole table, or
// partitions, which end by their own fill or, where they are coupled, with those of the index.
//
// Coupled: a partition of the filter that is full asks the index to end one, and the filter's ends
// when the index has ended one, for whatever reason; by then a data block more has come in.
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
  // `index` outlives the writer.
  FilterWriter(const TableBuilderOptions& options, IndexBuilder* index);

  // Hot: keys in the order of the file, one call for every version. An error is kept for WriteTo().
  void AddKey(const Slice& user_key) {
    if (full_.has_value()) [[likely]] {
      full_->AddKey(user_key);
    } else if (partitions_ != nullptr) {
      AddToPartition(user_key);
    }
  }

  // What is kept of the keys counts against the block cache, if it is to and there is room: where
  // there is none the filter is built all the same. Once a block; the cache is asked once a step.
  void Charge() {
    const size_t bytes = CacheCharge::RoundUp(HeldBytes());
    if (bytes <= asked_bytes_) [[likely]]
      return;
    ChargeMore(bytes - asked_bytes_);
    asked_bytes_ = bytes;
  }

  // Writes what there is to write, once the index has its last data block.
  Status WriteTo(BlockWriter* writer);

  // After WriteTo(). The name under which the metaindex lists `handle`; empty: no filter.
  const std::string& meta_name() const { return meta_name_; }
  const BlockHandle& handle() const { return handle_; }
  size_t written_bytes() const { return written_bytes_; }  // without trailers
  size_t entry_count() const;
  // Keys must come after the index entries of the blocks before theirs.
  bool follows_index() const { return partitions_ != nullptr && is_coupled_; }
  // Before WriteTo().
  size_t EstimateBytes() const;
  std::string DebugString() const;

 private:
  size_t HeldBytes() const {
    return full_.has_value() ? full_->entry_count() * sizeof(uint64_t) : EstimateBytes();
  }
  void ChargeMore(size_t bytes);
  void AddToPartition(const Slice& user_key);
  Status WriteFull(BlockWriter* writer);
  // Its construction is charged while it lasts; where there is no room, Ribbon becomes Bloom.
  PageString FinishFull();
  Status WritePartitions(BlockWriter* writer);

  const TableBuilderOptions& options_;
  IndexBuilder* const index_;
  const bool is_coupled_;                  // partitions end with the index's
  std::optional<FullFilterBuilder> full_;  // this, or the next, or neither
  std::unique_ptr<PartitionedFilterBuilder> partitions_;
  CacheCharge charge_;
  size_t asked_bytes_ = 0;  // what Charge() has asked room for; charged is what it found
  Status error_;            // of the partitions that have ended
  std::string meta_name_;
  BlockHandle handle_;
  size_t written_bytes_ = 0;
};

}  // namespace ashlar
