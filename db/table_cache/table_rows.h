// SPDX-License-Identifier: Apache-2.0
//
// TableRows keeps what tables answered to point lookups in DBOptions::row_cache: for a key of a
// table its newest version, value or tombstone, so that the next lookup needs no block of it.
//
// A table never changes, so a row never becomes wrong. It answers for readers that see all of the
// table; those of an older snapshot read the table. Keys that a table does not have, and those
// whose newest version is neither value nor tombstone (merge operands), have no row. A range
// tombstone of the table itself counts as the tombstone that it is for the key. Threads: any. A
// value stays alive while somebody has it pinned, also when its row was evicted.
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
  // The tables of one family, which share no row with those of another one in the same cache.
  // `statistics` may be null.
  TableRows(std::shared_ptr<Cache> cache, Statistics* statistics);

  // Whether lookups like this one may use rows of the table.
  static bool MayServe(const FileMetadata& file, const ReadOptions& options,
                       const PointLookup& lookup);

  // Offers the row to the lookup; false if there is none. May wait for a lock of the cache: not
  // inside an EpochGuard.
  bool Find(const FileMetadata& file, PointLookup* lookup) const;
  // Reads the table, which is that of `file`, for the lookup, and keeps the row.
  Status Read(const TableReader& table, const FileMetadata& file, const ReadOptions& options,
              PointLookup* lookup) const;

  // Which rows are its own in the cache, and how full that is; one line.
  std::string DebugString() const;

 private:
  std::string KeyOf(const FileMetadata& file, const PointLookup& lookup) const;

  const std::shared_ptr<Cache> cache_;
  Statistics* const statistics_;
  const uint64_t id_;  // of these tables in the cache
};

}  // namespace ashlar
