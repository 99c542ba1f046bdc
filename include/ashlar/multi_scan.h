// SPDX-License-Identifier: Apache-2.0
//
// MultiScan scans several key ranges of one column family (DB::NewMultiScan), knowing all of them
// beforehand. It is a range of ranges, whose errors are thrown:
//
//   auto scans = db->NewMultiScan(ReadOptions(), family, args);
//   try {
//     for (auto scan : *scans) {
//       for (auto entry : scan) Use(entry.first, entry.second);
//     }
//   } catch (const MultiScanException& error) {  // error.status()
//   }
//
// or, for programs without exceptions, a cursor, whose errors are a status:
//
//   for (; scans->Valid(); scans->NextRange()) {
//     for (Iterator* it = scans->iterator(); scans->InRange(); it->Next()) Use(it->key());
//   }
//   if (!scans->status().ok()) ...
//
// Both are views of one position: a scan, its iterators and the slices of an entry end when the
// next range begins, the slices also when the next entry does. A range may be left early.
//
// Threads: one at a time. Delete it before the database.
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

// What the loops over a MultiScan throw when the database cannot go on.
class ASHLAR_EXPORT MultiScanException : public std::runtime_error {
 public:
  explicit MultiScanException(const Status& s) : std::runtime_error(s.ToString()), status_(s) {}
  Status& status() { return status_; }
  const Status& status() const { return status_; }

 private:
  Status status_;
};

// The present range of a MultiScan.
class ASHLAR_EXPORT Scan {
 public:
  // A key and its value. Equal to nullptr behind the range's last key.
  class ASHLAR_EXPORT ScanIterator {
   public:
    using value_type = std::pair<Slice, Slice>;
    using reference = value_type&;
    using pointer = value_type*;
    using difference_type = int;
    using iterator_category = std::input_iterator_tag;

    ScanIterator() = default;
    explicit ScanIterator(MultiScan* scans);
    // Throws MultiScanException; std::logic_error at the end.
    ScanIterator& operator++();
    reference operator*() { return entry_; }
    pointer operator->() { return &entry_; }
    // An input iterator is only ever compared with the end.
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
  // From where the cursor stands: the range's first key, if nothing has moved it.
  ScanIterator begin() { return ScanIterator(scans_); }
  std::nullptr_t end() { return nullptr; }

 private:
  MultiScan* scans_;
};

class ASHLAR_EXPORT MultiScan {
 public:
  // A range, in the order of the arguments. Equal to nullptr behind the last one.
  class ASHLAR_EXPORT MultiScanIterator {
   public:
    using value_type = Scan;
    using reference = Scan&;
    using pointer = Scan*;
    using difference_type = int;
    using iterator_category = std::input_iterator_tag;

    MultiScanIterator() = default;
    explicit MultiScanIterator(MultiScan* scans);
    // Throws MultiScanException; std::logic_error at the end.
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

  // Stands at the first key of the first range. Ranges are visited in the order of scan_opts.
  MultiScan(const ReadOptions& read_options, const MultiScanArgs& scan_opts, DB* db,
            ColumnFamilyHandle* column_family);
  ~MultiScan();
  MultiScan(const MultiScan&) = delete;
  MultiScan& operator=(const MultiScan&) = delete;

  // Begins with the first range, again if there has been another loop. Throws MultiScanException.
  MultiScanIterator begin();
  std::nullptr_t end() { return nullptr; }

  // Whether there is a present range. False behind the last one and after an error.
  bool Valid() const;
  // To the first key of the next range. Only while Valid().
  void NextRange();
  // Whether the iterator stands on a key of the present range. Only while Valid().
  bool InRange() const;
  // The cursor; it may only be moved forward.
  Iterator* iterator() { return iterator_.get(); }
  Status status() const;

 private:
  void SeekToRange();

  const ReadOptions read_options_;
  const MultiScanArgs args_;
  std::unique_ptr<Iterator> iterator_;
  size_t range_index_ = 0;
  bool is_begun_ = false;  // there has been a loop, or another range
};

}  // namespace ashlar
