// SPDX-License-Identifier: Apache-2.0
//
// PointLocks locks single keys. One table serves all families: a hash of family and key selects a
// shard and a slot. The slot refers to the first holder of the key; further holders and the queue
// of waiters hang on that one. Everything of a key is guarded by the lock of its shard.
//
// Order: first come, first served. A newcomer waits behind those that wait, except for an upgrade,
// which waits ahead of all but earlier upgrades. The grant is made by the thread that releases: it
// makes the first waiter a holder, and all others behind it that can share with it, and wakes each
// of them once. So there is never a waiter whose key is free, and nobody can overtake one.
//
// Deadlocks: a waiter that has waited for a while searches for a cycle (wait_cycle.h) under
// search_mutex_, locking one shard at a time. A cycle that it finds is confirmed with all shards of
// its members locked, and one member is then told that it is the victim. The thread with
// search_mutex_ is the only one that locks several shards, so it may do so in any order. As the
// victim leaves its queue before the next search begins, each deadlock is found once.
//
// Each owner in a cycle is either blocked by a holder, or shares the key with the holders and is
// blocked by the next exclusive waiter ahead, which is blocked by them. Other waiters ahead need no
// edge: they wait for the same holders, so a cycle through them has a shorter one beside it.
//
// Locks: the lock of a shard is a leaf; a thread holds one at a time, except the thread with
// search_mutex_, as described above. The order is search_mutex_, then shards.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "db/transaction/locks/deadlock_history.h"
#include "db/transaction/locks/key_locks.h"
#include "db/transaction/locks/lock_families.h"
#include "db/transaction/locks/lock_shard.h"
#include "db/transaction/locks/lock_waiter.h"
#include "db/transaction/locks/wait_cycle.h"
#include "util/result.h"

namespace ashlar {

// The usual KeyLocks. Owners must have released everything before it is destroyed.
class PointLocks final : public KeyLocks {
 public:
  explicit PointLocks(const KeyLocksOptions& options);
  ~PointLocks() override;

  void AddFamily(uint32_t family, const Comparator*) override { families_.Restore(family); }
  void DropFamily(uint32_t family) override { families_.Drop(family); }
  Status Acquire(LockOwner* owner, KeyLock* lock, LockMode mode) override;
  void AcquireRecovered(LockOwner* owner, KeyLock* lock) override;
  Status AcquireRange(LockOwner* owner, uint32_t family, const Endpoint& start, const Endpoint& end,
                      LockMode mode) override;
  void Release(KeyLock* lock) override;
  void Downgrade(KeyLock* lock) override;
  void ReleaseAll(LockOwner* owner) override;
  LockWait GetWait(LockOwner* owner) override;
  std::unordered_multimap<uint32_t, KeyLockInfo> Describe() override;
  Totals GetTotals() override;
  std::vector<DeadlockPath> GetDeadlocks() override { return history_.NewestFirst(); }
  void SetMaxDeadlocks(uint32_t count) override { history_.SetSize(count); }

 private:
  // One shard with its lock held; wakes those who got an outcome when the lock is free again.
  class Section {
   public:
    // `self`: the waiter of the calling thread, which needs no waking.
    Section(PointLocks* locks, uint32_t shard,
            const LockWaiter* self = nullptr) NO_THREAD_SAFETY_ANALYSIS : locks_(locks),
                                                                          shard_(shard),
                                                                          self_(self) {
      if (locks_->mutexes_.empty()) [[likely]] {
        locks_->shards_[shard].spin_lock.Lock();
      } else {
        IgnoreError(locks_->mutexes_[shard]->Lock(), "only a wait without limit is right here");
      }
    }
    // Takes over the lock, which the thread has acquired already.
    Section(PointLocks* locks, uint32_t shard, const LockWaiter* self, AdoptLock)
        : locks_(locks), shard_(shard), self_(self) {}
    ~Section() NO_THREAD_SAFETY_ANALYSIS {
      if (locks_->mutexes_.empty()) [[likely]] {
        locks_->shards_[shard_].spin_lock.Unlock();
        for (size_t i = 0; i < wake_count_; i++) locks_->clock_->Wake(wakes_[i]);
      } else {
        locks_->mutexes_[shard_]->UnLock();
      }
    }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

    LockShard* operator->() const { return &locks_->shards_[shard_]; }
    LockShard* get() const { return &locks_->shards_[shard_]; }
    // Sets the outcome of a waiter that is in no queue any more.
    void Tell(LockWaiter* waiter, LockWaiter::Outcome outcome);

   private:
    static constexpr size_t kMaxWakes = 8;  // further ones are woken with the lock held

    PointLocks* const locks_;
    const uint32_t shard_;
    const LockWaiter* const self_;
    size_t wake_count_ = 0;
    const std::atomic<uint32_t>* wakes_[kMaxWakes];
  };
  class Graph;

  // What one attempt to take a lock came to. kNoRoom: the shard needs a larger array first.
  // kTooMany: the family has as many locked keys as it may. kStolen: an upgrade of a lock that was
  // stolen.
  enum class Attempt { kGranted, kBlocked, kNoRoom, kTooMany, kStolen };

  // The upper bits of the hash select the shard; the lower bits select the slot in the shard.
  uint32_t ShardOf(const KeyLock& lock) const {
    return static_cast<uint32_t>(lock.hash() >> shard_shift_);
  }

  // The table; point_locks.cc.
  Attempt Try(LockShard* shard, LockOwner* owner, KeyLock* lock, LockMode mode);
  // Enters a further holder behind the first one.
  static void LinkHolder(KeyLock* first, KeyLock* lock);
  // See point_locks.cc. With the lock of the shard held, as for all functions that get a Section.
  KeyLock* TakeOut(Section* section, KeyLock* lock);
  void Leave(Section* section, KeyLock* lock);
  void GrantQueue(Section* section, KeyLock* first);
  bool StealAll(Section* section, KeyLock** first, const KeyLock* own);
  void Resize(uint32_t shard, size_t capacity);

  // Waiting; point_locks_wait.cc.
  Status AcquireSlowly(LockOwner* owner, KeyLock* lock, LockMode mode);
  // Takes the lock of a shard, by the owner's timeout if it is a custom mutex.
  Status LockMutex(uint32_t shard, const LockOwner& owner, const KeyLock& lock);
  Status Wait(LockWaiter* waiter, uint32_t shard, uint64_t expiry);
  void EndThrownWait(LockWaiter* waiter, uint32_t shard);
  void Enqueue(LockShard* shard, uint32_t shard_number, LockWaiter* waiter, KeyLock* first);
  void Dequeue(LockShard* shard, LockWaiter* waiter, KeyLock* first);
  void GiveUp(Section* section, LockWaiter* waiter);
  Status Failure(Status::Code code, Status::SubCode subcode, const LockWaiter& waiter) const;
  uint64_t NextExpiry(const LockWaiter& waiter, const KeyLock* first) const;
  std::string DescribeKey(const KeyLock& lock) const;
  static const LockWaiter* BlockingWaiter(const LockWaiter& waiter, const KeyLock& first);
  static TransactionID BlockerOf(const LockWaiter& waiter, const KeyLock& first);
  static LockWait DescribeWait(const LockWaiter& waiter, const KeyLock& first);

  // Deadlocks; point_locks_deadlock.cc.
  void SearchDeadlock(LockWaiter* waiter, uint32_t shard);
  void RunSearches(LockWaiter* waiter, uint32_t shard);
  void Confirm(const WaitCycle& cycle, const LockWaiter* self);
  void RecordDeadlock(LockWaiter* victim);
  static LockWaiter* FindWaiter(const LockShard& shard, TransactionID id);
  static void AppendBlockers(const LockWaiter& waiter, const KeyLock& first, uint32_t shard,
                             std::vector<WaitNode>* blockers);

  // Whether `mode` of a waiter or newcomer conflicts with the holders of a key; `own` is its own
  // lock on the key if it upgrades one.
  static bool Conflicts(LockMode mode, const KeyLock* own, const KeyLock& first) {
    if (own != nullptr) return &first != own || own->next_holder_ != nullptr;
    return mode == LockMode::kExclusive || first.granted_ == LockMode::kExclusive;
  }
  static bool Conflicts(const LockWaiter& waiter, const KeyLock& first) {
    return Conflicts(waiter.mode, waiter.is_upgrade ? waiter.lock : nullptr, first);
  }

  LockClock* const clock_;
  const std::shared_ptr<TransactionDBMutexFactory> mutex_factory_;
  // Only for messages. It is called without a shard's lock held.
  const std::function<std::string(uint32_t)> family_name_;
  const uint32_t shard_count_;  // power of two
  const uint32_t shard_shift_;
  const std::unique_ptr<LockShard[]> shards_;
  // With a mutex factory: one mutex for each shard, and one for searches.
  std::vector<std::shared_ptr<TransactionDBMutex>> mutexes_;
  LockFamilies families_;
  // Whether any owner has had an expiration deadline. Set before its first lock is in the table.
  std::atomic<bool> may_expire_{false};
  // The owners that wait and detect deadlocks. A waiter that does not detect searches only for
  // their sake: it looks at the number after it is in the graph, and they are counted before they
  // search, so one of the two sees the other.
  std::atomic<int64_t> detecting_{0};
  Mutex search_mutex_{LockRank::kLeaf};
  DeadlockHistory<DeadlockPath> history_;
};

}  // namespace ashlar
