// SPDX-License-Identifier: Apache-2.0
//
// Iterator iterates over the keys of one column family. It shows the state at the time of its
// creation (or of ReadOptions::snapshot), even if there are later writes. Delete it before the
// database.
//
//   std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
//   for (it->Seek("a"); it->Valid(); it->Next()) Use(it->key(), it->value());
//   if (!it->status().ok()) ...
//
// Threads: as for IteratorBase.
#pragma once

#include <string>

#include "ashlar/export.h"
#include "ashlar/iterator_base.h"
#include "ashlar/wide_columns.h"

namespace ashlar {

class MultiScanArgs;

// A cursor over the keys of one column family. Created by DB::NewIterator().
class ASHLAR_EXPORT Iterator : public IteratorBase {
 public:
  Iterator() {}
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;
  ~Iterator() override {}

  // The value of the current entry; for an entity, its default column. Valid until the iterator
  // moves. Only allowed while Valid().
  virtual Slice value() const = 0;

  // The current entry as columns; a plain value is one column with an empty name. Only allowed
  // while Valid().
  virtual const WideColumns& columns() const;

  // Facts about the iterator as text. InvalidArgument for an unknown name or a null `prop`.
  //   "rocksdb.iterator.is-key-pinned"        "1" if key() stays valid until the iterator is
  //   deleted
  //   "rocksdb.iterator.is-value-pinned"      the same for value()
  //   "rocksdb.iterator.super-version-number" number of the super version that is read
  //   "rocksdb.iterator.internal-key"         user key of the current entry, as stored
  //   "rocksdb.iterator.write-time"           when the current entry was written: seconds since
  //   1970 in 8 bytes, little-endian. This version does not look the time up: UINT64_MAX (unknown)
  virtual Status GetProperty(std::string prop_name, std::string* prop);

  // The user timestamp of the current entry. Only with a comparator that has timestamps.
  virtual Slice timestamp() const;

  // Announces the ranges that will be scanned, so that they can be read ahead. Seek() must then be
  // called for these ranges in order.
  virtual void Prepare(const MultiScanArgs& /*scan_opts*/) {}
};

// Returns an iterator that is never valid and has the status OK. The caller owns it.
ASHLAR_EXPORT Iterator* NewEmptyIterator();
// Returns an iterator that is never valid and has the given status. The caller owns it.
ASHLAR_EXPORT Iterator* NewErrorIterator(const Status& status);

}  // namespace ashlar
