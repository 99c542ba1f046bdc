// SPDX-License-Identifier: Apache-2.0
//
// StatsHistoryIterator returns samples of how much the statistics counters have grown in each
// period, see DB::GetStatsHistory(). It shows the samples that existed when it was created. It may
// outlive the database, unless DBOptions::persist_stats_to_disk is set.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

// Threads: one at a time.
class ASHLAR_EXPORT StatsHistoryIterator {
 public:
  StatsHistoryIterator() {}
  StatsHistoryIterator(const StatsHistoryIterator&) = delete;
  StatsHistoryIterator& operator=(const StatsHistoryIterator&) = delete;
  virtual ~StatsHistoryIterator() {}

  // Whether the iterator is on a sample. Use the functions below only then.
  virtual bool Valid() const = 0;
  virtual void Next() = 0;
  // End of the period, in seconds since 1970.
  virtual uint64_t GetStatsTime() const = 0;
  // Version of the stored format; -1 if unknown.
  virtual int GetFormatVersion() const { return -1; }
  // Growth of each counter since the previous sample, by name.
  virtual const std::map<std::string, uint64_t>& GetStatsMap() const = 0;
  virtual Status status() const = 0;
};

}  // namespace ashlar
