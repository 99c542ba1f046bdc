// SPDX-License-Identifier: Apache-2.0
//
// MultiScan visits its ranges with one iterator, to which all ranges are announced before. The end
// of a range is checked here, because the iterator's own upper bound cannot change from range to
// range. The C++ iterators of loops over a MultiScan have no position of their own: they move the
// one iterator.
#include "ashlar/multi_scan.h"

#include <cassert>

#include "ashlar/comparator.h"
#include "ashlar/db.h"

namespace ashlar {

// Announces all ranges to the iterator, which may prefetch their blocks, and seeks to the first
// one.
MultiScan::MultiScan(const ReadOptions& read_options, const MultiScanArgs& scan_opts, DB* db,
                     ColumnFamilyHandle* column_family)
    : read_options_(read_options),
      args_(scan_opts),
      iterator_(db->NewIterator(read_options_, column_family)) {
  iterator_->Prepare(args_);
  SeekToRange();
}

MultiScan::~MultiScan() = default;

// Whether there is a present range. It may be empty.
bool MultiScan::Valid() const { return range_index_ < args_.size() && iterator_->status().ok(); }

// The second loop over the same MultiScan begins again.
MultiScan::MultiScanIterator MultiScan::begin() {
  if (is_begun_ && !args_.empty()) {
    iterator_->Prepare(args_);
    range_index_ = 0;
    SeekToRange();
  }
  is_begun_ = true;
  return MultiScanIterator(this);
}

void MultiScan::NextRange() {
  assert(Valid());
  is_begun_ = true;
  ++range_index_;
  SeekToRange();
}

// Does nothing after the last range.
void MultiScan::SeekToRange() {
  if (range_index_ >= args_.size()) return;
  const RangeOpt& range = args_.GetScanRanges()[range_index_].range;
  if (range.start.has_value()) {
    iterator_->Seek(*range.start);
  } else {
    iterator_->SeekToFirst();
  }
}

// Whether the iterator is at a key of the present range.
bool MultiScan::InRange() const {
  assert(range_index_ < args_.size());
  if (!iterator_->Valid()) return false;
  const RangeOpt& range = args_.GetScanRanges()[range_index_].range;
  return !range.limit.has_value() ||
         args_.GetComparator()->CompareWithoutTimestamp(iterator_->key(), /*a_has_ts=*/false,
                                                        *range.limit, /*b_has_ts=*/false) < 0;
}

Status MultiScan::status() const { return iterator_->status(); }

MultiScan::MultiScanIterator::MultiScanIterator(MultiScan* scans) : scans_(scans), scan_(scans) {
  CheckStatus();
}

MultiScan::MultiScanIterator& MultiScan::MultiScanIterator::operator++() {
  if (scans_ == nullptr) throw std::logic_error("MultiScan: there is no range behind the last one");
  if (scans_->Valid()) scans_->NextRange();
  CheckStatus();
  return *this;
}

// Valid() is false after an error as well as after the last range.
void MultiScan::MultiScanIterator::CheckStatus() {
  if (scans_->Valid()) return;
  if (const Status status = scans_->status(); !status.ok()) throw MultiScanException(status);
  scans_ = nullptr;
}

Scan::ScanIterator::ScanIterator(MultiScan* scans) : scans_(scans) { Load(); }

Scan::ScanIterator& Scan::ScanIterator::operator++() {
  if (scans_ == nullptr) throw std::logic_error("Scan: there is no key behind the last one");
  scans_->iterator()->Next();
  Load();
  return *this;
}

// The slices are those of the iterator, so they are valid until its next movement.
void Scan::ScanIterator::Load() {
  if (scans_->Valid() && scans_->InRange()) {
    entry_ = {scans_->iterator()->key(), scans_->iterator()->value()};
    return;
  }
  if (const Status status = scans_->status(); !status.ok()) throw MultiScanException(status);
  scans_ = nullptr;
}

}  // namespace ashlar
