// SPDX-License-Identifier: Apache-2.0
//
// One pass over the cache, in pieces whose size the cache chooses.
#include "cache/cache_entry_stats.h"

#include <cassert>

#include "util/threads/epoch.h"

namespace ashlar {

// Visits all entries, which may take seconds for a large cache. Other threads use the cache
// meanwhile.
CacheEntryStats CountCacheEntries(Cache* cache) {
  assert(cache != nullptr);
  assert(!InEpoch());
  CacheEntryStats stats;
  const auto count = [&stats](const Slice& /*key*/, Cache::ObjectPtr /*value*/, size_t charge,
                              const Cache::CacheItemHelper* helper) {
    // A program's own entry may have no helper.
    const CacheEntryRole role = helper != nullptr ? helper->role : CacheEntryRole::kMisc;
    CacheEntryStats::OfRole& of_role = stats.roles[static_cast<size_t>(role)];
    of_role.count++;
    of_role.bytes += charge;
  };
  cache->ApplyToAllEntries(count, Cache::ApplyToAllEntriesOptions());
  return stats;
}

}  // namespace ashlar
