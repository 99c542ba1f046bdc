// SPDX-License-Identifier: Apache-2.0
//
// What the statistics texts say of the entries of a block cache.
#pragma once

#include <cstdint>
#include <string>

#include "cache/cache_entry_stats.h"
#include "db/report/family_report.h"

namespace ashlar {

struct CacheReport {
  std::string id;  // of the cache, the same as long as it lives
  uint64_t capacity = 0;
  uint64_t usage = 0;
  uint64_t table_size = 0;
  uint64_t occupancy = 0;
  CacheEntryStats entries;
  uint64_t now_micros = 0;  // by the clock of entries.collected_micros

  // For as long as it took place, and since.
  uint64_t AgeMicros() const { return now_micros - entries.collected_micros; }
};

// Without the entries. Calls into the cache: no lock, no epoch.
CacheReport ReportOn(const Cache& cache);
std::string CacheEntriesText(const CacheReport& report);
PropertyMap CacheEntriesMap(const CacheReport& report);

}  // namespace ashlar
