// SPDX-License-Identifier: Apache-2.0
//
// TableRows keeps results of point lookups in DBOptions::row_cache. A row is the newest version
// (value or tombstone) of a key in one table, so that the next lookup of the key needs no block of
// the table.
//
// A table never changes, so a row never becomes stale. Rows serve readers whose snapshot sees the
// whole table; readers of an older snapshot read the table. There are no rows for keys that a table
// does not contain, nor for keys whose newest version is neither a value nor a tombstone (e.g. a
// merge operand). A range tombstone of the same table that covers the key is stored as a tombstone
// of the key. Threads: any. A pinned value stays alive after its row was evicted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/advanced_cache.h"
#include "ashlar/status.h"

namespace ashlar {

class PointLookup;
class Statistics;
class TableReader;
struct FileMetadata;
struct ReadOptions;

class TableRows {
 public:
  // Each TableRows object serves the tables of one family and shares no rows with other objects in
  // the same cache. `statistics` may be null.
  TableRows(std::shared_ptr<Cache> cache, Statistics* statistics);

  // Whether a lookup with these options may use rows of the table.
  static bool MayServe(const FileMetadata& file, const ReadOptions& options,
                       const PointLookup& lookup);

  // Passes the cached row to the lookup; returns false if there is none. May wait for a lock of the
  // cache: not inside an EpochGuard.
  bool Find(const FileMetadata& file, PointLookup* lookup) const;
  // Looks up the key in `table`, the reader of `file`, and stores the row in the cache.
  Status Read(const TableReader& table, const FileMetadata& file, const ReadOptions& options,
              PointLookup* lookup) const;

  // One line: the id of this object's rows and the usage of the cache.
  std::string DebugString() const;

 private:
  std::string KeyOf(const FileMetadata& file, const PointLookup& lookup) const;

  const std::shared_ptr<Cache> cache_;
  Statistics* const statistics_;
  const uint64_t id_;  // prefix of this object's keys in the cache
};

}  // namespace ashlar
