// SPDX-License-Identifier: Apache-2.0
//
// StoredHistory stores the gains of the statistics counters between samples in the database
// (persist_stats_to_disk). Like RocksDB it uses a hidden family: for each sample and counter there
// is a key `<seconds since 1970, ten digits>#<counter>` with the gain as a decimal number.
//
// Threads: any, without the DB mutex, until the database is closed.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "ashlar/stats_history.h"
#include "db/report/statistics_history.h"

namespace ashlar {

// Options for a small family that is rarely read.
ColumnFamilyOptions StoredHistoryOptions();

// The hidden family belongs to the database like any other, so that it is flushed, compacted and
// copied with it.
class StoredHistory {
 public:
  // `db` outlives the object. `family` is the handle of the hidden family.
  StoredHistory(DB* db, std::unique_ptr<ColumnFamilyHandle> family)
      : db_(db), family_(std::move(family)) {
    assert(db != nullptr);
  }

  // Called once before the other functions. Reads the format version in the family; if there is
  // none, it is written, unless `may_write` is false. NotSupported: only a newer release can read
  // the format. Incomplete: writes are stalled at present.
  Status Prepare(bool may_write);
  // Never waits for memtables or compactions: then it returns Incomplete, and the sample is lost.
  Status Add(uint64_t seconds, const StatisticsHistory::Counters& gains);
  // The samples in [begin, end), in seconds, in order, read one by one. The iterator must be
  // destroyed before the database is closed. Corruption names the key.
  std::unique_ptr<StatsHistoryIterator> Between(uint64_t begin, uint64_t end) const;

 private:
  DB* const db_;
  const std::unique_ptr<ColumnFamilyHandle> family_;
};

}  // namespace ashlar
