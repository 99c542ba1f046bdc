// SPDX-License-Identifier: Apache-2.0
//
// MultiScan walks its ranges with one iterator, which is told all of them beforehand. Where a range
// ends is checked here: the iterator's own upper bound could not change from range to range.
#include "ashlar/multi_scan.h"

#include <cassert>

#include "ashlar/comparator.h"
#include "ashlar/db.h"

namespace ashlar {

MultiScan::MultiScan(const ReadOptions& read_options, const MultiScanArgs& scan_opts, DB* db,
                     ColumnFamilyHandle* column_family)
    : read_options_(read_options),
      args_(scan_opts),
      iterator_(db->NewIterator(read_options_, column_family)) {
  iterator_->Prepare(args_);
  SeekToRange();
}

MultiScan::~MultiScan() = default;

bool MultiScan::Valid() const { return range_index_ < args_.size() && iterator_->status().ok(); }

void MultiScan::NextRange() {
  assert(Valid());
  ++range_index_;
  SeekToRange();
}

void MultiScan::SeekToRange() {
  if (!Valid()) return;
  const RangeOpt& range = args_.GetScanRanges()[range_index_].range;
  if (range.start.has_value()) {
    iterator_->Seek(*range.start);
  } else {
    iterator_->SeekToFirst();
  }
}

bool MultiScan::InRange() const {
  assert(range_index_ < args_.size());
  if (!iterator_->Valid()) return false;
  const RangeOpt& range = args_.GetScanRanges()[range_index_].range;
  return !range.limit.has_value() ||
         args_.GetComparator()->CompareWithoutTimestamp(iterator_->key(), /*a_has_ts=*/false,
                                                        *range.limit, /*b_has_ts=*/false) < 0;
}

Status MultiScan::status() const { return iterator_->status(); }

}  // namespace ashlar
