// SPDX-License-Identifier: Apache-2.0
//
// PartitionedFilterBuilder makes the partitions of a filter one after the other: for each its
// bytes, and the upper bound under which the index of filter partitions lists it.
// docs/formats/filters.md, section 7.
//
// The caller decides where a partition ends: when it is full, or where a partition of the index
// ends. A seek by prefix near a border may need keys of both neighbours, so each partition also
// contains the prefix of the nearest key of its neighbours. Only the hashes of the open partition
// are kept. Threads: one at a time.
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
  // A partition is full when its filter would become larger than `partition_bytes`.
  // `checks_filters`: each partition is compared with its keys when it is finished.
  PartitionedFilterBuilder(const FullFilterOptions& options, size_t partition_bytes,
                           bool checks_filters);

  // Adds a key. Keys come in the order of the file.
  void AddKey(const Slice& user_key) {
    open_.AddKey(user_key);
    last_key_.assign(user_key.data(), user_key.size());
  }
  bool IsFull() const { return open_.entry_count() >= capacity_; }
  const std::string& last_key() const { return last_key_; }

  // Ends the open partition. `next_key` is the user key that will be added next.
  Status EndPartition(const Slice& upper_bound, const Slice& next_key);
  // Ends the last partition. Called once.
  Status Finish(const Slice& upper_bound);

  // All partitions, none if nothing was added. Valid after Finish().
  const std::vector<FilterPartition>& partitions() const { return partitions_; }
  // Totals of all partitions.
  size_t entry_count() const { return finished_entries_ + open_.entry_count(); }
  size_t EstimateBytes() const { return finished_bytes_ + open_.EstimateBytes(); }
  std::string DebugString() const;

 private:
  Status EndOpen(const Slice& upper_bound);

  const size_t capacity_;  // number of entries of a full partition
  const bool checks_filters_;
  FullFilterBuilder open_;
  std::string last_key_;  // the user key that was added last
  std::vector<FilterPartition> partitions_;
  size_t finished_entries_ = 0;  // of partitions_
  size_t finished_bytes_ = 0;
};

}  // namespace ashlar
