// SPDX-License-Identifier: Apache-2.0
//
// A partition may have keys but no entries, if only prefixes count and no key has one. It gets a
// filter that matches everything.
#include "table/filter/partitioned_filter_builder.h"

#include <cassert>

#include "table/filter/bloom.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

PartitionedFilterBuilder::PartitionedFilterBuilder(const FullFilterOptions& options,
                                                   size_t partition_bytes, bool checks_filters)
    : capacity_(FullFilterBuilder(options).CapacityOf(partition_bytes)),
      checks_filters_(checks_filters),
      open_(options) {
  assert(capacity_ >= 1);
}

Status PartitionedFilterBuilder::EndPartition(const Slice& upper_bound, const Slice& next_key) {
  open_.AddPrefixOfNeighbour(next_key);
  RETURN_IF_ERROR(EndOpen(upper_bound));
  open_.AddPrefixOfNeighbour(last_key_);
  return Status::OK();
}

Status PartitionedFilterBuilder::Finish(const Slice& upper_bound) {
  if (entry_count() == 0) {
    partitions_.clear();
    return Status::OK();
  }
  return EndOpen(upper_bound);
}

Status PartitionedFilterBuilder::EndOpen(const Slice& upper_bound) {
  assert(partitions_.empty() || partitions_.back().upper_bound != upper_bound);
  FilterPartition partition{.upper_bound = upper_bound.ToString(), .contents = open_.Finish()};
  if (checks_filters_) RETURN_IF_ERROR(open_.CheckFilter(Slice(partition.contents)));
  if (partition.contents.empty()) partition.contents.assign(kBloomMetadataBytes + 1, '\0');
  finished_entries_ += open_.entry_count();
  finished_bytes_ += partition.contents.size();
  partitions_.push_back(std::move(partition));
  open_.Reset();
  return Status::OK();
}

[[gnu::cold]] std::string PartitionedFilterBuilder::DebugString() const {
  return StrCat("filter of ", partitions_.size(), " partitions, ", finished_bytes_, " bytes, ",
                open_.entry_count(), " entries in the open one, which holds ", capacity_);
}

}  // namespace ashlar
