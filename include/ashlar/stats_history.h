// SPDX-License-Identifier: Apache-2.0
//
// StatsHistoryIterator: what the counters of the statistics gained, period by period, from
// DB::GetStatsHistory(). It shows what there was when it was made; also after the database is gone,
// unless that stores it (DBOptions::persist_stats_to_disk).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

// One thread at a time.
class ASHLAR_EXPORT StatsHistoryIterator {
 public:
  StatsHistoryIterator() {}
  StatsHistoryIterator(const StatsHistoryIterator&) = delete;
  StatsHistoryIterator& operator=(const StatsHistoryIterator&) = delete;
  virtual ~StatsHistoryIterator() {}

  virtual bool Valid() const = 0;
  virtual void Next() = 0;
  // Seconds since the epoch.
  virtual uint64_t GetStatsTime() const = 0;
  virtual int GetFormatVersion() const { return -1; }
  // Counter changes since the snapshot before.
  virtual const std::map<std::string, uint64_t>& GetStatsMap() const = 0;
  virtual Status status() const = 0;
};

}  // namespace ashlar
