// SPDX-License-Identifier: Apache-2.0
//
// LockFamilies knows which families were dropped, and counts the locked keys of each family if
// there is a limit. Without either, a lock costs two loads of lines that nobody writes.
//
// Threads: any. Numbers of families are not used again after a drop, unless Restore() is called.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "util/threads/epoch.h"
#include "util/threads/mutex.h"

namespace ashlar {

class LockFamilies {
 public:
  // `max_keys` <= 0: no limit.
  explicit LockFamilies(int64_t max_keys) : max_keys_(max_keys > 0 ? max_keys : 0) {}
  ~LockFamilies();
  LockFamilies(const LockFamilies&) = delete;
  LockFamilies& operator=(const LockFamilies&) = delete;

  bool HasLimit() const { return max_keys_ != 0; }
  int64_t max_keys() const { return max_keys_; }

  void Drop(uint32_t family);
  void Restore(uint32_t family);
  bool IsDropped(uint32_t family) const {
    if (!has_dropped_.load(std::memory_order_acquire)) [[likely]]
      return false;
    return FindDropped(family);
  }

  // Before AddKey(), as it may allocate.
  void Prepare(uint32_t family) {
    if (HasLimit()) FindOrAdd(family);
  }
  // One more locked key; false: the family has as many as it may.
  [[nodiscard]] bool AddKey(uint32_t family) { return !HasLimit() || CountKey(family); }
  // The same without a limit.
  void AddRecoveredKey(uint32_t family) {
    if (HasLimit()) Find(family)->keys.fetch_add(1, std::memory_order_relaxed);
  }
  // One locked key less.
  void RemoveKey(uint32_t family) {
    if (HasLimit()) DiscountKey(family);
  }

 private:
  struct Family {
    explicit Family(uint32_t number) : number(number) {}
    const uint32_t number;
    std::atomic<bool> is_dropped{false};
    std::atomic<int64_t> keys{0};
  };
  // Sorted by number. Replaced as a whole; readers are in an epoch.
  struct List : EpochRetired {
    std::vector<Family*> families;
  };

  Family* Find(uint32_t family) const;  // null: unknown
  Family* FindOrAdd(uint32_t family);
  bool FindDropped(uint32_t family) const;
  bool CountKey(uint32_t family);
  void DiscountKey(uint32_t family);

  const int64_t max_keys_;  // 0: no limit
  std::atomic<bool> has_dropped_{false};
  std::atomic<List*> list_{nullptr};
  Mutex change_mutex_{LockRank::kLeaf};
  std::vector<std::unique_ptr<Family>> all_ GUARDED_BY(change_mutex_);
};

}  // namespace ashlar
