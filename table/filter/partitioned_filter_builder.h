// SPDX-License-Identifier: Apache-2.0
//
// PartitionedFilterBuilder makes the partitions of a filter, one after the other: of each, its
// bytes and the upper bound under which the filter partition index lists it.
// docs/formats/filters.md, section 7.
//
// Who uses it says where a partition ends: by its fill, or with the partitions of the index. Seeks
// by prefix near a border must find what lies behind it, so each of two neighbours knows the prefix
// of the other's nearest key. Hashes are kept of the open partition only. Threads: one at a time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "table/filter/full_filter_builder.h"

namespace ashlar {

struct FilterPartition {
  std::string upper_bound;  // an internal key, at or behind all keys of the partition
  PageString contents;
};

class PartitionedFilterBuilder {
 public:
  // A partition is full when its filter would outgrow `partition_bytes`. `checks_filters`: compare
  // each with its keys when it is done.
  PartitionedFilterBuilder(const FullFilterOptions& options, size_t partition_bytes,
                           bool checks_filters);

  // Keys in the order of the file.
  void AddKey(const Slice& user_key) {
    open_.AddKey(user_key);
    last_key_.assign(user_key.data(), user_key.size());
  }
  bool IsFull() const { return open_.entry_count() >= capacity_; }
  const std::string& last_key() const { return last_key_; }

  // `next_key` is the user key that will be added next.
  Status EndPartition(const Slice& upper_bound, const Slice& next_key);
  // The last partition ends. Once.
  Status Finish(const Slice& upper_bound);

  // All of them, after Finish(); none if nothing was added at all.
  const std::vector<FilterPartition>& partitions() const { return partitions_; }
  // Of all partitions.
  size_t entry_count() const { return finished_entries_ + open_.entry_count(); }
  size_t EstimateBytes() const { return finished_bytes_ + open_.EstimateBytes(); }
  std::string DebugString() const;

 private:
  Status EndOpen(const Slice& upper_bound);

  const size_t capacity_;  // entries of a full partition
  const bool checks_filters_;
  FullFilterBuilder open_;
  std::string last_key_;  // the user key added last
  std::vector<FilterPartition> partitions_;
  size_t finished_entries_ = 0;  // of partitions_
  size_t finished_bytes_ = 0;
};

}  // namespace ashlar
