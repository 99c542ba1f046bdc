// SPDX-License-Identifier: Apache-2.0
//
// CacheCharge: memory outside of a block cache that counts against its capacity. The cache gets
// entries without contents, of the given role, whose total charge is that memory.
//
// Threads: one at a time. Calls the cache, which may belong to the program, so the caller must be
// outside of epochs and may hold only locks of a lower rank.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "ashlar/advanced_cache.h"
#include "ashlar/status.h"
#include "ashlar/table.h"

namespace ashlar {

// True if memory of this role is charged according to the options; for the roles that
// CheckCacheUsage() accepts.
bool IsCharged(const CacheUsageOptions& options, CacheEntryRole role);
// True if the options enable any charge explicitly. Charges that are on by default do not need a
// cache.
bool AsksForCharges(const CacheUsageOptions& options);
// InvalidArgument with the name of the role if the options name a role that they cannot control.
Status CheckCacheUsage(const CacheUsageOptions& options);

class CacheCharge {
 public:
  // Memory that grows gradually is charged in multiples of this size.
  static constexpr size_t kStepBytes = 256 * 1024;
  static size_t RoundUp(size_t bytes) { return (bytes + kStepBytes - 1) / kStepBytes * kStepBytes; }

  // The cache outlives the charge; null: nothing is charged, and every call succeeds.
  CacheCharge(Cache* cache, CacheEntryRole role) : cache_(cache), role_(role) {}
  ~CacheCharge() { ShrinkTo(0); }
  CacheCharge(const CacheCharge&) = delete;
  CacheCharge& operator=(const CacheCharge&) = delete;

  // Raises the charge to `bytes` if it is less. Uses entries of at most one step, because an entry
  // as large as a shard of the cache would evict everything there. MemoryLimit if the capacity is
  // strict and there is no room; nothing has changed then.
  Status GrowTo(size_t bytes);
  // Lowers the charge by whole entries, the newest first, as long as at least `bytes` bytes remain.
  void ShrinkTo(size_t bytes);
  size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    Cache::Handle* handle;
    size_t bytes;
  };

  Status AddEntry(size_t bytes);

  Cache* const cache_;
  const CacheEntryRole role_;
  std::vector<Entry> entries_;  // a handle, and so a reference, for each entry
  size_t bytes_ = 0;            // total charge of entries_
};

}  // namespace ashlar
