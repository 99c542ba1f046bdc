// SPDX-License-Identifier: Apache-2.0
//
// What keeps optimistic commits of the same keys apart: an array of small locks, of which each key
// has one by its hash. A commit holds those of its keys from its check for conflicts until it is
// visible. Several databases may share them.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "ashlar/utilities/optimistic_transaction_db.h"

namespace ashlar {

// The array. A bucket is a word of 4 bytes that works as a mutex. Different keys may share a
// bucket; then two commits that do not conflict wait for each other, which costs time but is never
// wrong. Thread-safe.
class LockBuckets final : public OccLockBuckets {
 public:
  // `count` is rounded up to a power of two, and is at least 16. With `is_aligned` each bucket has
  // a cache line of its own, so that threads with different buckets do not disturb each other.
  LockBuckets(size_t count, bool is_aligned);

  size_t ApproximateMemoryUsage() const override { return (mask_ + 1) * stride_ * sizeof(Word); }

  uint32_t IndexOf(uint64_t hash) const { return static_cast<uint32_t>(hash & mask_); }
  // Waits until the bucket is free and takes it. A thread that takes several must take them in
  // ascending order, or two threads could wait for each other forever. Not within an epoch, as it
  // may sleep.
  void Lock(uint32_t index);
  // Takes the bucket if it is free. False: somebody holds it.
  bool TryLock(uint32_t index);
  // Called by the holder; wakes one waiter.
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

  // Notes the bucket of a key. Precondition: no bucket is held.
  void Add(uint64_t hash) {
    assert(buckets_ != nullptr);
    assert(!are_held_);
    indexes_.push_back(buckets_->IndexOf(hash));
  }
  // Takes all buckets that were added since the last Unlock().
  void Lock();
  // Releases them and forgets them. Does nothing if none is held, so it may be called twice: when
  // the commit is visible, and again at its end.
  void Unlock();

 private:
  LockBuckets* const buckets_;
  std::vector<uint32_t> indexes_;
  bool are_held_ = false;
};

}  // namespace ashlar
