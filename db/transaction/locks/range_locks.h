// SPDX-License-Identifier: Apache-2.0
//
// RangeLocks locks ranges of keys; a lock of a single key is a range of one key. What
// NewRangeLockManager() makes.
//
// Each family has an interval tree of the ranges that are held, and a list of those who wait, in
// the order of their arrival. A request is granted when no range of another owner that it overlaps
// excludes it, nor an earlier request of another owner that still waits: first come, first served.
// An earlier request that waits for the requester itself is passed over, since it could never be
// granted first.
//
// If the ranges need more memory than they may, neighbouring ranges of one owner are joined, with
// all keys between them (escalation). The barrier function says where that must not happen.
//
// Expiration deadlines are ignored: nobody takes a range from its owner.
//
// Threads: any. One mutex guards everything.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/transaction/locks/deadlock_history.h"
#include "db/transaction/locks/key_locks.h"
#include "db/transaction/locks/range_tree.h"
#include "db/transaction/locks/wait_cycle.h"
#include "util/result.h"
#include "util/threads/mutex.h"

namespace ashlar {

// The program holds it by the shared pointer of the handle, and databases hold it as their
// KeyLocks. All owners have released their ranges when it is destroyed.
class RangeLocks final : public RangeLockManagerHandle, public LockManager {
 public:
  // A null factory: futexes of the clock.
  RangeLocks(std::unique_ptr<LockClock> clock,
             std::shared_ptr<TransactionDBMutexFactory> mutex_factory);
  ~RangeLocks() override;

  // The interface RangeLockManagerHandle, which programs use.
  LockManager* getLockManager() override { return this; }
  int SetMaxLockMemory(size_t max_lock_memory) override;
  size_t GetMaxLockMemory() override;
  void SetEscalationBarrierFunc(EscalationBarrierFunc func) override;
  void SetIsKilledCallback(IsKilledCallback func) override;
  RangeLockStatus GetRangeLockStatusData() override;
  Counters GetStatus() override;
  std::vector<RangeDeadlockPath> GetRangeDeadlockInfoBuffer() override {
    return history_.NewestFirst();
  }
  void SetRangeDeadlockInfoBufferSize(uint32_t target_size) override {
    history_.SetSize(target_size);
  }

  // The interface KeyLocks: TransactionDB's transactions call these.
  void AddFamily(uint32_t family, const Comparator* comparator) override;
  void DropFamily(uint32_t family) override;
  Status Acquire(LockOwner* owner, KeyLock* lock, LockMode mode) override;
  void AcquireRecovered(LockOwner* owner, KeyLock* lock) override;
  Status AcquireRange(LockOwner* owner, uint32_t family, const Endpoint& start, const Endpoint& end,
                      LockMode mode) override;
  void Release(KeyLock* lock) override;
  void Downgrade(KeyLock* lock) override;
  void ReleaseAll(LockOwner* owner) override;
  LockWait GetWait(LockOwner* owner) override;
  // The ranges of one key.
  std::unordered_multimap<uint32_t, KeyLockInfo> Describe() override;
  // Keys: ranges.
  Totals GetTotals() override;
  // Deadlocks of ranges are in GetRangeDeadlockInfoBuffer().
  std::vector<DeadlockPath> GetDeadlocks() override { return {}; }
  void SetMaxDeadlocks(uint32_t) override {}

 private:
  // The mutex; wakes those who got an outcome when it is free again.
  class Section {
   public:
    explicit Section(RangeLocks* locks) NO_THREAD_SAFETY_ANALYSIS : locks_(locks) {
      if (locks_->custom_mutex_ == nullptr) {
        locks_->mutex_.Lock();
      } else {
        IgnoreError(locks_->custom_mutex_->Lock(), "only a wait without limit is right here");
      }
    }
    // Takes over the mutex, which the thread has locked already.
    Section(RangeLocks* locks, AdoptLock) : locks_(locks) {}
    ~Section() NO_THREAD_SAFETY_ANALYSIS {
      if (locks_->custom_mutex_ == nullptr) {
        locks_->mutex_.Unlock();
        for (const std::atomic<uint32_t>* word : wakes_) locks_->clock_->Wake(word);
      } else {
        locks_->custom_mutex_->UnLock();
      }
    }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;
    // Sets the outcome of a waiter that is in no list any more.
    void Tell(RangeWaiter* waiter, LockOwner* owner, uint32_t outcome);

   private:
    RangeLocks* const locks_;
    std::vector<const std::atomic<uint32_t>*> wakes_;
  };
  class Graph;

  // The ranges of one family. `tree` has pointers only; Insert() and Remove() own the ranges.
  struct Family {
    explicit Family(const Comparator* comparator) : tree(comparator) {}
    RangeTree tree;
    std::vector<RangeWaiter*> waiters;  // in the order of arrival
    bool is_dropped = false;
  };

  // The table; range_locks.cc.
  Family* FindFamily(uint32_t family);
  // The functions with a Family are called with the mutex held.
  static bool Covers(const Family& family, const RangeLock& wanted);
  static std::vector<LockOwner*> BlockersOf(const Family& family, const RangeLock& wanted);
  void Insert(Family* family, std::unique_ptr<RangeLock> range);
  void Remove(Family* family, RangeLock* range);
  RangeLock* FindKey(const Family& family, const KeyLock& lock, LockMode mode) const;
  bool MakeRoomFor(Section* section, const RangeLock& range);
  void Escalate(Family* family);
  bool MayJoin(const RangeLock& range, const RangeLock& next) const;

  // Waiting; range_locks_wait.cc.
  Status Lock(std::unique_ptr<RangeLock> wanted);
  Status LockMutex(const RangeLock& wanted);
  Status Wait(RangeWaiter* waiter, LockOwner* owner);
  void EndThrownWait(RangeWaiter* waiter, LockOwner* owner);
  void GrantWaiters(Section* section, Family* family);
  void Enqueue(Family* family, RangeWaiter* waiter);
  void Dequeue(Family* family, RangeWaiter* waiter);
  void GiveUp(Section* section, RangeWaiter* waiter);
  bool IsListed(const RangeWaiter* waiter) const;
  void SearchDeadlock(Section* section, RangeWaiter* waiter);
  void SearchAllDeadlocks(Section* section);
  void EndByDeadlock(Section* section, RangeWaiter* waiter, TransactionID blocker,
                     RangeDeadlockPath path);
  void RecordDeadlock(RangeWaiter* victim);

  const std::unique_ptr<LockClock> clock_;
  const std::shared_ptr<TransactionDBMutexFactory> mutex_factory_;
  const std::shared_ptr<TransactionDBMutex> custom_mutex_;  // null: mutex_
  Mutex mutex_{LockRank::kLeaf};

  // Guarded by the mutex that there is.
  std::map<uint32_t, Family> families_;
  // Bytes of the ranges that are held, and how many they may be.
  size_t max_memory_;
  size_t memory_ = 0;
  // The number of ranges that are held in all families.
  uint64_t ranges_ = 0;
  // Since the object was made, for GetStatus().
  uint64_t escalations_ = 0;
  uint64_t waits_ = 0;
  EscalationBarrierFunc barrier_;
  std::shared_ptr<const IsKilledCallback> is_killed_;

  DeadlockHistory<RangeDeadlockPath> history_;
};

}  // namespace ashlar
