// SPDX-License-Identifier: Apache-2.0
//
// What keeps optimistic commits of the same keys apart: an array of small locks, of which each key
// has one by its hash. A commit holds those of its keys from its check for conflicts until it is
// visible. Several databases may share them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "ashlar/utilities/optimistic_transaction_db.h"

namespace ashlar {

// Thread-safe.
class LockBuckets final : public OccLockBuckets {
 public:
  // `count` is rounded up to a power of two; at least 16. is_aligned: a cache line for each.
  LockBuckets(size_t count, bool is_aligned);

  size_t ApproximateMemoryUsage() const override { return (mask_ + 1) * stride_ * sizeof(Word); }

  uint32_t IndexOf(uint64_t hash) const { return static_cast<uint32_t>(hash & mask_); }
  // A thread that takes several takes them in ascending order. Waits for the holder.
  void Lock(uint32_t index);
  // False: it is held.
  bool TryLock(uint32_t index);
  void Unlock(uint32_t index);

 private:
  using Word = uint32_t;
  struct Free {
    void operator()(Word* words) const { std::free(words); }
  };

  uint64_t mask_;
  const size_t stride_;                  // in words
  std::unique_ptr<Word[], Free> words_;  // of the system: pages that are not touched take no memory
};

// The buckets that one commit holds. Threads: one at a time.
class HeldBuckets {
 public:
  explicit HeldBuckets(LockBuckets* buckets) : buckets_(buckets) {}
  ~HeldBuckets() { Unlock(); }
  HeldBuckets(const HeldBuckets&) = delete;
  HeldBuckets& operator=(const HeldBuckets&) = delete;

  // While none is held.
  void Add(uint64_t hash) { indexes_.push_back(buckets_->IndexOf(hash)); }
  // Those that were added since the last Unlock().
  void Lock();
  // May be repeated.
  void Unlock();

 private:
  LockBuckets* const buckets_;
  std::vector<uint32_t> indexes_;
  bool are_held_ = false;
};

}  // namespace ashlar
