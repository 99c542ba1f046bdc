// SPDX-License-Identifier: Apache-2.0
//
// Portions are percentages of the capacity.
#include "db/report/cache_report.h"

#include <unistd.h>

#include <cassert>
#include <cinttypes>

#include "db/report/human_text.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// 0 for a cache without capacity.
double Percent(uint64_t bytes, uint64_t capacity) {
  if (capacity == 0) return 0;
  return 100.0 * static_cast<double>(bytes) / static_cast<double>(capacity);
}

}  // namespace

CacheReport ReportOn(const Cache& cache) {
  assert(!InEpoch());
  CacheReport report;
  // The address makes the id unique among the caches of the process.
  report.id = Format("%s@%p#%d", cache.Name(), static_cast<const void*>(&cache), getpid());
  report.capacity = cache.GetCapacity();
  report.usage = cache.GetUsage();
  report.table_size = cache.GetTableAddressCount();
  report.occupancy = cache.GetOccupancyCount();
  return report;
}

std::string CacheEntriesText(const CacheReport& report) {
  const CacheEntryStats& entries = report.entries;
  std::string text = StrCat("Block cache ", report.id, " capacity: ", HumanBytes(report.capacity),
                            " usage: ", HumanBytes(report.usage));
  text +=
      Format(" table_size: %" PRIu64 " occupancy: %" PRIu64 " collections: %" PRIu64
             " last_copies: %" PRIu64 " last_secs: %g secs_since: %" PRIu64 "\n",
             report.table_size, report.occupancy, entries.collections, entries.copies,
             static_cast<double>(entries.duration_micros) / 1e6, report.AgeMicros() / 1'000'000);
  text += "Block cache entry stats(count,size,portion):";
  for (uint32_t i = 0; i < kNumCacheEntryRoles; i++) {
    const auto role = static_cast<CacheEntryRole>(i);
    // Roles without entries are left out of the text, but not of the map.
    const CacheEntryStats::OfRole& of_role = entries.Of(role);
    if (of_role.count == 0) continue;
    text += Format(" %s(%" PRIu64 ",%s,%g%%)", GetCacheEntryRoleName(role).c_str(), of_role.count,
                   HumanBytes(of_role.bytes).c_str(), Percent(of_role.bytes, report.capacity));
  }
  return text + "\n";
}

PropertyMap CacheEntriesMap(const CacheReport& report) {
  using Keys = BlockCacheEntryStatsMapKeys;
  PropertyMap map;
  map[Keys::CacheId()] = report.id;
  map[Keys::CacheCapacityBytes()] = std::to_string(report.capacity);
  map[Keys::LastCollectionDurationSeconds()] =
      std::to_string(static_cast<double>(report.entries.duration_micros) / 1e6);
  map[Keys::LastCollectionAgeSeconds()] = std::to_string(report.AgeMicros() / 1'000'000);
  for (uint32_t i = 0; i < kNumCacheEntryRoles; i++) {
    const auto role = static_cast<CacheEntryRole>(i);
    const CacheEntryStats::OfRole& of_role = report.entries.Of(role);
    map[Keys::EntryCount(role)] = std::to_string(of_role.count);
    map[Keys::UsedBytes(role)] = std::to_string(of_role.bytes);
    map[Keys::UsedPercent(role)] = std::to_string(Percent(of_role.bytes, report.capacity));
  }
  return map;
}

}  // namespace ashlar
