// SPDX-License-Identifier: Apache-2.0
//
// MultiScan scans several key ranges of one column family that are all known in advance
// (DB::NewMultiScan()), so that their blocks can be read together. It can be used as a range of
// ranges, which reports errors as exceptions:
//
//   auto scans = db->NewMultiScan(ReadOptions(), family, args);
//   try {
//     for (auto scan : *scans) {
//       for (auto entry : scan) Use(entry.first, entry.second);
//     }
//   } catch (const MultiScanException& error) {  // error.status()
//   }
//
// or, in programs without exceptions, as a cursor, which reports errors as a status:
//
//   for (; scans->Valid(); scans->NextRange()) {
//     for (Iterator* it = scans->iterator(); scans->InRange(); it->Next()) Use(it->key());
//   }
//   if (!scans->status().ok()) ...
//
// Both forms share one position: a scan, its iterators and the slices of an entry become invalid
// when the next range begins; the slices also when the next entry is reached. A loop over a range
// may be left early.
//
// Threads: one at a time. Delete the object before the database.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

#include "ashlar/export.h"
#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/status.h"

namespace ashlar {

class ColumnFamilyHandle;
class DB;
class MultiScan;

// Thrown by the loops over a MultiScan after an error.
class ASHLAR_EXPORT MultiScanException : public std::runtime_error {
 public:
  explicit MultiScanException(const Status& s) : std::runtime_error(s.ToString()), status_(s) {}
  Status& status() { return status_; }
  const Status& status() const { return status_; }

 private:
  Status status_;
};

// The current range of a MultiScan.
class ASHLAR_EXPORT Scan {
 public:
  // A key and its value. Compares equal to nullptr after the last key of the range.
  class ASHLAR_EXPORT ScanIterator {
   public:
    using value_type = std::pair<Slice, Slice>;
    using reference = value_type&;
    using pointer = value_type*;
    using difference_type = int;
    using iterator_category = std::input_iterator_tag;

    ScanIterator() = default;
    explicit ScanIterator(MultiScan* scans);
    // Moves to the next entry. Throws MultiScanException after an error, std::logic_error at the
    // end.
    ScanIterator& operator++();
    reference operator*() { return entry_; }
    pointer operator->() { return &entry_; }
    // Input iterators need only be compared with the end.
    bool operator==(std::nullptr_t) const { return scans_ == nullptr; }
    bool operator!=(std::nullptr_t) const { return scans_ != nullptr; }
    bool operator==(const ScanIterator& other) const { return scans_ == other.scans_; }
    bool operator!=(const ScanIterator& other) const { return scans_ != other.scans_; }

   private:
    void Load();

    MultiScan* scans_ = nullptr;  // nullptr at the end
    value_type entry_;
  };

  explicit Scan(MultiScan* scans) : scans_(scans) {}
  // Begins at the position of the cursor: at the first key of the range, unless it has been moved.
  ScanIterator begin() { return ScanIterator(scans_); }
  std::nullptr_t end() { return nullptr; }

 private:
  MultiScan* scans_;
};

// A scan of several ranges. Created by DB::NewMultiScan().
class ASHLAR_EXPORT MultiScan {
 public:
  // A range, in the order of the arguments. Compares equal to nullptr after the last range.
  class ASHLAR_EXPORT MultiScanIterator {
   public:
    using value_type = Scan;
    using reference = Scan&;
    using pointer = Scan*;
    using difference_type = int;
    using iterator_category = std::input_iterator_tag;

    MultiScanIterator() = default;
    explicit MultiScanIterator(MultiScan* scans);
    // Moves to the next range. Throws MultiScanException after an error, std::logic_error at the
    // end.
    MultiScanIterator& operator++();
    reference operator*() { return scan_; }
    pointer operator->() { return &scan_; }
    bool operator==(std::nullptr_t) const { return scans_ == nullptr; }
    bool operator!=(std::nullptr_t) const { return scans_ != nullptr; }
    bool operator==(const MultiScanIterator& other) const { return scans_ == other.scans_; }
    bool operator!=(const MultiScanIterator& other) const { return scans_ != other.scans_; }

   private:
    void CheckStatus();

    MultiScan* scans_ = nullptr;  // nullptr at the end
    Scan scan_{nullptr};
  };

  // Begins at the first key of the first range. Ranges are visited in the order of scan_opts.
  MultiScan(const ReadOptions& read_options, const MultiScanArgs& scan_opts, DB* db,
            ColumnFamilyHandle* column_family);
  ~MultiScan();
  MultiScan(const MultiScan&) = delete;
  MultiScan& operator=(const MultiScan&) = delete;

  // Begins with the first range; later loops begin with it again. Throws MultiScanException.
  MultiScanIterator begin();
  std::nullptr_t end() { return nullptr; }

  // Whether there is a current range. False after the last range and after an error.
  bool Valid() const;
  // Moves to the first key of the next range. Only allowed while Valid().
  void NextRange();
  // Whether the cursor is on a key of the current range. Only allowed while Valid().
  bool InRange() const;
  // The cursor. It must only be moved forward.
  Iterator* iterator() { return iterator_.get(); }
  Status status() const;

 private:
  void SeekToRange();

  const ReadOptions read_options_;
  const MultiScanArgs args_;
  std::unique_ptr<Iterator> iterator_;
  size_t range_index_ = 0;
  bool is_begun_ = false;  // a loop has begun, or the range has changed
};

}  // namespace ashlar
