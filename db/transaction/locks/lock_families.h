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

  // Marks a family as dropped, or takes that back for a family that is created anew with the
  // number.
  void Drop(uint32_t family);
  void Restore(uint32_t family);
  bool IsDropped(uint32_t family) const {
    if (!has_dropped_.load(std::memory_order_acquire)) [[likely]]
      return false;
    return FindDropped(family);
  }

  // Must be called before AddKey(), outside of the shard's lock: it makes the counter of the
  // family, for which it may allocate and take a mutex.
  void Prepare(uint32_t family) {
    if (HasLimit()) FindOrAdd(family);
  }
  // Counts one more locked key. False: the family already has as many as the limit allows, and
  // nothing was counted.
  [[nodiscard]] bool AddKey(uint32_t family) { return !HasLimit() || CountKey(family); }
  // Counts one more locked key of a transaction that was found in the log. The limit does not
  // apply, as such a transaction must get its locks back.
  void AddRecoveredKey(uint32_t family) {
    if (HasLimit()) Find(family)->keys.fetch_add(1, std::memory_order_relaxed);
  }
  // One locked key less.
  void RemoveKey(uint32_t family) {
    if (HasLimit()) DiscountKey(family);
  }

 private:
  // One family for which a key was counted or that was dropped. It lives as long as the
  // LockFamilies.
  struct Family {
    explicit Family(uint32_t number) : number(number) {}
    const uint32_t number;
    // Written by Drop() and Restore() (release), read by FindDropped() (acquire).
    std::atomic<bool> is_dropped{false};
    // Locked keys. Relaxed: it is only compared with the limit, and orders nothing else.
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
  // Whether any family was ever dropped. It spares the search for the family in the usual case.
  std::atomic<bool> has_dropped_{false};
  // Written under `change_mutex_` (release), so that readers see a complete list.
  std::atomic<List*> list_{nullptr};
  Mutex change_mutex_{LockRank::kLeaf};
  std::vector<std::unique_ptr<Family>> all_ GUARDED_BY(change_mutex_);
};

}  // namespace ashlar
