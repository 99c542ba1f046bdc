// SPDX-License-Identifier: Apache-2.0
//
// Iterator is the cursor over one column family: a consistent view of the moment of its creation
// (or of ReadOptions::snapshot), however much is written meanwhile. Delete it before the database.
//
//   std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
//   for (it->Seek("a"); it->Valid(); it->Next()) Use(it->key(), it->value());
//   if (!it->status().ok()) ...
//
// Threads: as IteratorBase.
#pragma once

#include <string>

#include "ashlar/export.h"
#include "ashlar/iterator_base.h"
#include "ashlar/wide_columns.h"

namespace ashlar {

class MultiScanArgs;

class ASHLAR_EXPORT Iterator : public IteratorBase {
 public:
  Iterator() {}
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;
  ~Iterator() override {}

  // The value of the entry; of a wide-column entity its default column. Valid until the next move.
  // Only while Valid().
  virtual Slice value() const = 0;

  // The entry as columns; a plain value is one column with the empty name. Only while Valid().
  virtual const WideColumns& columns() const;

  // Facts about the iterator, InvalidArgument for an unknown name:
  //   "rocksdb.iterator.is-key-pinned"        "1" if key() stays valid as long as the iterator
  //   "rocksdb.iterator.is-value-pinned"      likewise for value()
  //   "rocksdb.iterator.super-version-number" the LSM state that is read
  //   "rocksdb.iterator.internal-key"         user key of the entry as stored
  //   "rocksdb.iterator.write-time"           encoded seconds since 1970
  virtual Status GetProperty(std::string prop_name, std::string* prop);

  // The user timestamp of the entry. Only with a comparator that has timestamps.
  virtual Slice timestamp() const;

  // Announces the ranges that will be scanned, so that they can be read ahead. A hint: Seek() must
  // then visit the ranges in order.
  virtual void Prepare(const MultiScanArgs& /*scan_opts*/) {}
};

// Never valid, status OK. The caller owns the result.
ASHLAR_EXPORT Iterator* NewEmptyIterator();
// Never valid, with the given status. The caller owns the result.
ASHLAR_EXPORT Iterator* NewErrorIterator(const Status& status);

}  // namespace ashlar
