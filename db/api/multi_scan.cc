// SPDX-License-Identifier: Apache-2.0
//
// MultiScan walks its ranges with one iterator, which is told all of them beforehand. Where a range
// ends is checked here: the iterator's own upper bound could not change from range to range.
// The iterators of the loops over it hold no position: they move the one that it has.
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

void MultiScan::SeekToRange() {
  if (range_index_ >= args_.size()) return;
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

MultiScan::MultiScanIterator::MultiScanIterator(MultiScan* scans) : scans_(scans), scan_(scans) {
  CheckStatus();
}

MultiScan::MultiScanIterator& MultiScan::MultiScanIterator::operator++() {
  if (scans_ == nullptr) throw std::logic_error("MultiScan: there is no range behind the last one");
  if (scans_->Valid()) scans_->NextRange();
  CheckStatus();
  return *this;
}

// Valid() is false of an error as well as behind the last range.
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

void Scan::ScanIterator::Load() {
  if (scans_->Valid() && scans_->InRange()) {
    entry_ = {scans_->iterator()->key(), scans_->iterator()->value()};
    return;
  }
  if (const Status status = scans_->status(); !status.ok()) throw MultiScanException(status);
  scans_ = nullptr;
}

}  // namespace ashlar
