// SPDX-License-Identifier: Apache-2.0
//
// How much memory databases and caches use. May be called from any thread.
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

class ASHLAR_EXPORT MemoryUtil {
 public:
  enum UsageType : int {
    kMemTableTotal = 0,      // all memtables, those kept only by iterators included
    kMemTableUnFlushed = 1,  // active and waiting to be flushed
    kTableReadersTotal = 2,  // indexes and filters outside of block caches
    kCacheTotal = 3,
    kNumUsageTypes = 4,
  };

  // Bytes of each type, summed over the databases (pointers or smart pointers; null is skipped) and
  // caches.
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

 private:
  static Status AddUp(const std::vector<DB*>& dbs,
                      const std::unordered_set<const Cache*>& cache_set,
                      std::map<MemoryUtil::UsageType, uint64_t>* usage_by_type);
};

}  // namespace ashlar
