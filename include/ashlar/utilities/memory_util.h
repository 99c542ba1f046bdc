// SPDX-License-Identifier: Apache-2.0
//
// Reports how much memory databases and caches use. Thread safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_set>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/db.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

// Functions that report memory usage.
class ASHLAR_EXPORT MemoryUtil {
 public:
  enum UsageType : int {
    kMemTableTotal = 0,      // all memtables, including those that only iterators still use
    kMemTableUnFlushed = 1,  // active and immutable memtables that are not flushed
    kTableReadersTotal = 2,  // indexes and filters that are not in a block cache
    kCacheTotal = 3,
    kNumUsageTypes = 4,
  };

  // Returns the bytes of each type, summed over the databases (pointers or smart pointers; null
  // pointers are skipped) and caches.
  template <typename DBPtr>
  static Status GetApproximateMemoryUsageByType(
      const std::vector<DBPtr>& dbs, const std::unordered_set<const Cache*> cache_set,
      std::map<MemoryUtil::UsageType, uint64_t>* usage_by_type) {
    std::vector<DB*> pointers;
    for (const DBPtr& db : dbs) {
      if (db != nullptr) pointers.push_back(&*db);
    }
    return AddUp(pointers, cache_set, usage_by_type);
  }
  // The same for pointers, so that a list in braces can be given.
  static Status GetApproximateMemoryUsageByType(
      const std::vector<DB*>& dbs, const std::unordered_set<const Cache*> cache_set,
      std::map<MemoryUtil::UsageType, uint64_t>* usage_by_type) {
    return GetApproximateMemoryUsageByType<DB*>(dbs, cache_set, usage_by_type);
  }

 private:
  static Status AddUp(const std::vector<DB*>& dbs,
                      const std::unordered_set<const Cache*>& cache_set,
                      std::map<MemoryUtil::UsageType, uint64_t>* usage_by_type);
};

}  // namespace ashlar
