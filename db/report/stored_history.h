// SPDX-License-Identifier: Apache-2.0
//
// StoredHistory: what the counters of the statistics gained from sample to sample, kept in the
// database (persist_stats_to_disk). It lies in a hidden family, as RocksDB keeps it: for each
// sample and counter a key `<seconds since 1970, ten digits>#<counter>`, and the gain as a decimal
// number.
//
// Threads: any, without the DB mutex, until the database is closed.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "ashlar/stats_history.h"
#include "db/report/statistics_history.h"

namespace ashlar {

// The hidden family is small, and is read seldom.
ColumnFamilyOptions StoredHistoryOptions();

class StoredHistory {
 public:
  // `db` outlives it. The handle is that of the hidden family.
  StoredHistory(DB* db, std::unique_ptr<ColumnFamilyHandle> family)
      : db_(db), family_(std::move(family)) {}

  // To be called once before the others. Finds in the family what format it is in; where nothing
  // says that, it is said, unless the database may not be written to. NotSupported: in one that
  // only a newer version knows. Incomplete: writes are held up at present.
  Status Prepare(bool may_write);
  // Never waits for memtables or compactions: Incomplete then, and the sample is lost.
  Status Add(uint64_t seconds, const StatisticsHistory::Counters& gains);
  // The samples in [begin, end) of seconds, in order, read one by one: to be gone before the
  // database is closed. Corruption names the key.
  std::unique_ptr<StatsHistoryIterator> Between(uint64_t begin, uint64_t end) const;

 private:
  DB* const db_;
  const std::unique_ptr<ColumnFamilyHandle> family_;
};

}  // namespace ashlar
