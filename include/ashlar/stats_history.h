// SPDX-License-Identifier: Apache-2.0
//
// StatsHistoryIterator: periodic snapshots of the statistics, from DB::GetStatsHistory(), which is
// not built yet.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

// One thread at a time; must not outlive the database.
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
