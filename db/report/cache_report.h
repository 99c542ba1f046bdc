// SPDX-License-Identifier: Apache-2.0
//
// The part of the statistics texts about the entries of a block cache.
#pragma once

#include <cstdint>
#include <string>

#include "cache/cache_entry_stats.h"
#include "db/report/family_report.h"

namespace ashlar {

// A plain value. Sizes are in bytes; `table_size` and `occupancy` are numbers of entries.
struct CacheReport {
  std::string id;  // of the cache; does not change while the cache lives
  uint64_t capacity = 0;
  uint64_t usage = 0;
  uint64_t table_size = 0;
  uint64_t occupancy = 0;
  CacheEntryStats entries;
  uint64_t now_micros = 0;  // by the same clock as entries.collected_micros

  // The time since the entries were counted.
  uint64_t AgeMicros() const { return now_micros - entries.collected_micros; }
};

// Does not count the entries. Calls into the cache, so it is called without locks and epochs.
CacheReport ReportOn(const Cache& cache);
// One line with the facts and one with the entries of each role.
std::string CacheEntriesText(const CacheReport& report);
// The facts of the report as a map, under the names that BlockCacheEntryStatsMapKeys defines.
PropertyMap CacheEntriesMap(const CacheReport& report);

}  // namespace ashlar
