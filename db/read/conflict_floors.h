// SPDX-License-Identifier: Apache-2.0
//
// The moments since which transactions without a snapshot want to know whether a key was written.
// Flushes and compactions keep the evidence above the oldest of them as they do for a snapshot:
// sequence numbers and tombstones.
//
// Announcing takes no lock: the visible number is stored in a slot, and read again behind a full
// fence; the second reading is the floor. A job reads the visible number, fences, and reads the
// slots. A slot that the job missed belongs to a floor at or above the job's number, and nothing
// that the job has is newer than that.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <deque>
#include <vector>

#include "ashlar/types.h"
#include "util/keys/internal_key.h"
#include "util/threads/full_fence.h"
#include "util/threads/mutex.h"

namespace ashlar {

// Thread-safe.
class ConflictFloors {
 public:
  class Slot {
   public:
    // Threads: one at a time. `visible` is called twice. The floor that may be relied upon.
    template <typename VisibleSeqno>
    SequenceNumber Announce(const VisibleSeqno& visible) {
      assert(!is_announced());
      floor_.store(visible(), std::memory_order_relaxed);
      FullFence();
      return visible();
    }
    // The floor that it had; kMaxSequenceNumber: none. The fence pairs with that of Oldest(): a job
    // notes which tables wait for floors and then reads the floors; a caller withdraws a floor and
    // then reads what is noted. One of the two sees the other.
    SequenceNumber Withdraw() {
      const SequenceNumber floor = floor_.load(std::memory_order_relaxed);
      if (floor == kMaxSequenceNumber) return floor;
      floor_.store(kMaxSequenceNumber, std::memory_order_release);
      FullFence();
      return floor;
    }
    bool is_announced() const {
      return floor_.load(std::memory_order_relaxed) != kMaxSequenceNumber;
    }

   private:
    friend class ConflictFloors;
    alignas(64) std::atomic<SequenceNumber> floor_{kMaxSequenceNumber};  // the greatest: none
  };

  // A slot for one transaction at a time, to be given back when it is withdrawn. Allocates if none
  // is free.
  Slot* Take() {
    MutexLock lock(&mutex_);
    if (free_.empty()) return &slots_.emplace_back();
    Slot* const slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void GiveBack(Slot* slot) {
    assert(!slot->is_announced());
    MutexLock lock(&mutex_);
    free_.push_back(slot);
  }

  // The oldest floor that is announced; kMaxSequenceNumber: none. For a job: after it has read the
  // visible number.
  SequenceNumber Oldest() const {
    FullFence();
    MutexLock lock(&mutex_);
    SequenceNumber oldest = kMaxSequenceNumber;
    for (const Slot& slot : slots_) {
      oldest = std::min(oldest, slot.floor_.load(std::memory_order_acquire));
    }
    return oldest;
  }
  // Adds the oldest floor to the numbers of snapshots, ascending, for which a job keeps versions.
  void AddTo(std::vector<SequenceNumber>* snapshots) const {
    const SequenceNumber floor = Oldest();
    if (floor == kMaxSequenceNumber) return;
    const auto place = std::lower_bound(snapshots->begin(), snapshots->end(), floor);
    if (place == snapshots->end() || *place != floor) snapshots->insert(place, floor);
  }

  // From now on there are transactions: what is not written through the pipeline, external files
  // for example, must show when it came. Set before the first of them begins, never taken back.
  void ExpectTransactions() { expects_transactions_.store(true, std::memory_order_release); }
  bool expects_transactions() const {
    return expects_transactions_.load(std::memory_order_acquire);
  }

 private:
  mutable Mutex mutex_{LockRank::kSnapshots};
  std::deque<Slot> slots_ GUARDED_BY(mutex_);  // where they are they stay
  std::vector<Slot*> free_ GUARDED_BY(mutex_);
  std::atomic<bool> expects_transactions_{false};
};

}  // namespace ashlar
