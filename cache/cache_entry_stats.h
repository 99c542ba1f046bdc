// SPDX-License-Identifier: Apache-2.0
//
// CacheEntryStats: what the entries of a cache are, counted by a walk over all of them. A plain
// value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ashlar/advanced_cache.h"

namespace ashlar {

struct CacheEntryStats {
  struct OfRole {
    uint64_t count = 0;
    uint64_t bytes = 0;
  };
  std::array<OfRole, kNumCacheEntryRoles> roles;
  uint64_t collected_micros = 0;  // when the walk ended, by the clock of whoever walked
  uint64_t duration_micros = 0;
  uint64_t collections = 0;  // walks up to this one; 0: none yet
  uint64_t copies = 0;       // how often it was used again since

  const OfRole& Of(CacheEntryRole role) const { return roles[static_cast<size_t>(role)]; }
};

// Counts only the roles. Calls into the cache, which may be a program's: no lock, no epoch.
CacheEntryStats CountCacheEntries(Cache* cache);

}  // namespace ashlar
