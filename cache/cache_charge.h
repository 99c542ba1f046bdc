// SPDX-License-Identifier: Apache-2.0
//
// CacheCharge: memory outside of a block cache that counts against its capacity. The cache holds
// entries without contents, of the role, which together cost as much.
//
// Threads: one at a time. Calls into the cache, which may be a program's: no lock of ours but those
// of a lower rank, no epoch.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "ashlar/advanced_cache.h"
#include "ashlar/status.h"
#include "ashlar/table.h"

namespace ashlar {

// Whether memory of the role is charged, as the options say; for roles that they name.
bool IsCharged(const CacheUsageOptions& options, CacheEntryRole role);
// Whether they enable any: what is charged by default needs no cache.
bool AsksForCharges(const CacheUsageOptions& options);
// InvalidArgument, naming the role: it is none that these options are about.
Status CheckCacheUsage(const CacheUsageOptions& options);

class CacheCharge {
 public:
  // What memory that grows by and by is rounded up to.
  static constexpr size_t kStepBytes = 256 * 1024;
  static size_t RoundUp(size_t bytes) { return (bytes + kStepBytes - 1) / kStepBytes * kStepBytes; }

  // The cache outlives the charge; null: nothing is charged, and all goes well.
  CacheCharge(Cache* cache, CacheEntryRole role) : cache_(cache), role_(role) {}
  ~CacheCharge() { ShrinkTo(0); }
  CacheCharge(const CacheCharge&) = delete;
  CacheCharge& operator=(const CacheCharge&) = delete;

  // If less is charged. By entries of a step at most: one as large as a shard of the cache would
  // drive out all that is there. MemoryLimit: the capacity is strict and there is no room; nothing
  // has changed then.
  Status GrowTo(size_t bytes);
  // Gives back whole entries, the newest first, as long as no less than `bytes` remain.
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
  std::vector<Entry> entries_;  // each with a reference
  size_t bytes_ = 0;            // of entries_
};

}  // namespace ashlar
