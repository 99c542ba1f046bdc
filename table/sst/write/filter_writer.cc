// SPDX-License-Identifier: Apache-2.0
//
// The partitions of a filter are written one after the other, and the index of the partitions
// behind them. That index has the format of the table's index: with or without sequence numbers in
// the keys, and with delta encoded handles or not. Filters are never compressed.
#include "table/sst/write/filter_writer.h"

#include <cassert>

#include "ashlar/filter_policy.h"
#include "ashlar/table.h"
#include "table/format/meta_block_names.h"
#include "table/index/index_builder.h"
#include "table/sst/write/block_writer.h"
#include "table/sst/write/builder_settings.h"
#include "table/sst/write/table_builder.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {

FilterWriter::FilterWriter(const TableBuilderOptions& options, IndexBuilder* index)
    : options_(options),
      index_(index),
      is_coupled_(!options.table->decouple_partitioned_filters),
      charge_(CacheToCharge(*options.table, CacheEntryRole::kFilterConstruction),
              CacheEntryRole::kFilterConstruction) {
  assert(index != nullptr);
  const std::optional<FullFilterOptions> filter = FilterOptions(options);
  if (!filter.has_value()) return;
  const BlockBasedTableOptions& table = *options.table;
  if (!WritesFilterPartitions(table)) {
    full_.emplace(*filter);
    return;
  }
  const size_t partition_bytes = NearlyFull(table.metadata_block_size, table.block_size_deviation);
  partitions_ = std::make_unique<PartitionedFilterBuilder>(
      *filter, partition_bytes, table.detect_filter_construct_corruption);
}

// Charges memory to the cache. If the cache has no room, the memory stays uncharged, because a full
// cache must not make the table fail.
void FilterWriter::ChargeMore(size_t bytes) {
  IgnoreError(charge_.GrowTo(charge_.bytes() + bytes),
              "the filter needs its memory even if the charge fails");
}

// Adds a key; if the partition is full, it is ended first. A partition that is coupled to the index
// can end only where a partition of the index ends, so it sends a request to the index and waits. A
// partition of its own ends between two user keys.
void FilterWriter::AddToPartition(const Slice& user_key) {
  assert(partitions_ != nullptr);
  assert(!full_.has_value());
  if (!error_.ok()) return;
  if (is_coupled_) {
    if (index_->TakePartitionEnd()) {
      error_ = partitions_->EndPartition(index_->last_separator(), user_key);
    } else if (partitions_->IsFull()) {
      index_->RequestPartitionEnd();
    }
  } else if (partitions_->IsFull() && user_key != Slice(partitions_->last_key())) {
    // The bound sorts behind every version of the last key, so all versions of a key are in one
    // partition.
    error_ = partitions_->EndPartition(BoundBehindLastKey(), user_key);
  }
  partitions_->AddKey(user_key);
}

std::string FilterWriter::BoundBehindLastKey() const {
  assert(partitions_ != nullptr);
  const std::string stored = options_.icmp->LastStored(partitions_->last_key());
  return MakeInternalKey(stored, 0, kTypeDeletion);
}

size_t FilterWriter::entry_count() const {
  if (full_.has_value()) return full_->entry_count();
  return partitions_ == nullptr ? 0 : partitions_->entry_count();
}

size_t FilterWriter::EstimateBytes() const {
  if (full_.has_value()) return full_->EstimateBytes();
  return partitions_ == nullptr ? 0 : partitions_->EstimateBytes();
}

// A table without keys has no filter block.
Status FilterWriter::WriteTo(BlockWriter* writer) {
  assert(meta_name_.empty());
  assert(writer != nullptr);
  RETURN_IF_ERROR(error_);
  if (entry_count() == 0) return Status::OK();
  const bool is_full = full_.has_value();
  RETURN_IF_ERROR(is_full ? WriteFull(writer) : WritePartitions(writer));
  meta_name_ = StrCat(is_full ? kFullFilterPrefix : kPartitionedFilterPrefix,
                      options_.table->filter_policy->CompatibilityName());
  return Status::OK();
}

Status FilterWriter::WriteFull(BlockWriter* writer) {
  assert(writer != nullptr);
  assert(full_.has_value());
  const PageString contents = FinishFull();
  if (options_.table->detect_filter_construct_corruption) {
    RETURN_IF_ERROR(full_->CheckFilter(Slice(contents)));
  }
  written_bytes_ = contents.size();
  return writer->Write(Slice(contents), Packing::kStored, &handle_);
}

PageString FilterWriter::FinishFull() {
  assert(full_.has_value());
  using Memory = FullFilterBuilder::Memory;
  // The filter is made by Finish(), so it is charged now. Partitions are charged when they are
  // made.
  ChargeMore(EstimateBytes());
  const size_t before = charge_.bytes(), bytes = full_->ConstructionBytes();
  const bool has_room = charge_.GrowTo(before + bytes).ok();
  PageString contents = full_->Finish(has_room ? Memory::kAmple : Memory::kShort);
  charge_.ShrinkTo(before);
  return contents;
}

// The partitions come first, then the top level with their handles. Filters are stored without
// compression, because their bits look random.
Status FilterWriter::WritePartitions(BlockWriter* writer) {
  assert(writer != nullptr);
  assert(partitions_ != nullptr);
  assert(!full_.has_value());
  const bool has_user_keys = index_->has_user_keys();
  const std::string last_bound =
      is_coupled_ ? index_->last_separator().ToString() : BoundBehindLastKey();
  RETURN_IF_ERROR(partitions_->Finish(last_bound));
  IndexBlockEncoder top({.restart_interval = IndexOptions(options_).restart_interval,
                         .has_delta_handles = index_->has_delta_handles()});
  for (const FilterPartition& partition : partitions_->partitions()) {
    BlockHandle handle;
    RETURN_IF_ERROR(writer->Write(Slice(partition.contents), Packing::kStored, &handle));
    const Slice bound(partition.upper_bound);
    top.Add(has_user_keys ? ExtractUserKey(bound) : bound, handle);
    written_bytes_ += partition.contents.size();
  }
  const Slice contents = top.Finish();
  written_bytes_ += contents.size();
  return writer->Write(contents, Packing::kStored, &handle_);
}

[[gnu::cold]] std::string FilterWriter::DebugString() const {
  if (partitions_ != nullptr) return partitions_->DebugString();
  return full_.has_value() ? StrCat("filter of ", full_->entry_count(), " entries") : "no filter";
}

}  // namespace ashlar
