// SPDX-License-Identifier: Apache-2.0
//
// MultiScan scans several key ranges of one column family (DB::NewMultiScan), knowing all of them
// beforehand.
//
//   auto scans = db->NewMultiScan(ReadOptions(), family, args);
//   for (; scans->Valid(); scans->NextRange()) {
//     for (Iterator* it = scans->iterator(); scans->InRange(); it->Next()) Use(it->key());
//   }
//   if (!scans->status().ok()) ...
//
// Threads: one at a time. Delete it before the database.
#pragma once

#include <cstddef>
#include <memory>

#include "ashlar/iterator.h"
#include "ashlar/options.h"

namespace ashlar {

class ColumnFamilyHandle;
class DB;

class MultiScan {
 public:
  // Stands at the first key of the first range. Ranges are visited in the order of scan_opts.
  MultiScan(const ReadOptions& read_options, const MultiScanArgs& scan_opts, DB* db,
            ColumnFamilyHandle* column_family);
  ~MultiScan();
  MultiScan(const MultiScan&) = delete;
  MultiScan& operator=(const MultiScan&) = delete;

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
};

}  // namespace ashlar
