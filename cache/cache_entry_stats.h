// SPDX-License-Identifier: Apache-2.0
//
// CacheEntryStats: counts of the entries of a cache by role, from one pass over all entries. A
// plain value.
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
  uint64_t collected_micros = 0;  // when the pass ended, by the clock of the caller
  uint64_t duration_micros = 0;
  uint64_t collections = 0;  // number of passes including this one; 0: none yet
  uint64_t copies = 0;       // how often the result was used again since then

  const OfRole& Of(CacheEntryRole role) const { return roles[static_cast<size_t>(role)]; }
};

// Counts the roles only; the caller sets the other members. Calls the cache, which may belong to
// the program, so the caller must hold no lock and be outside of epochs.
CacheEntryStats CountCacheEntries(Cache* cache);

}  // namespace ashlar
