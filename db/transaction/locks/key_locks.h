// SPDX-License-Identifier: Apache-2.0
//
// KeyLocks is what transactions know of locks: a table of locked keys, in which an owner acquires
// keys, waits for other owners, and releases. NewPointLocks() makes the usual implementation, which
// locks single keys; RangeLocks (range_locks.h) also locks ranges.
//
//   LockOwner owner(id);                        // in the transaction
//   KeyLock lock(family, key);                  // in the record of a key that it has touched
//   Status status = locks->Acquire(&owner, &lock, LockMode::kExclusive);
//   ...
//   locks->ReleaseAll(&owner);                  // when the commit is visible
//
// Memory: the table stores pointers to the KeyLock objects of the owners, so a lock costs no
// allocation. A KeyLock that is held, and the bytes of its key, must neither move nor be freed.
//
// Threads: a KeyLocks object is for any number of threads. A LockOwner and its KeyLocks are for one
// thread at a time, except the functions that say otherwise. The locks of an owner may be released
// by another thread than the one that acquired them.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/utilities/transaction_db.h"
#include "ashlar/utilities/transaction_db_mutex.h"
#include "util/threads/mutex.h"

namespace ashlar {

class Comparator;
class SystemClock;

// Whether an owner may share a key with others. A later mode is stronger than those before it.
enum class LockMode : uint8_t { kNone, kShared, kExclusive };

// Microseconds of LockClock::NowMicros(), or a number of them; kNoDeadline = never.
inline constexpr uint64_t kNoDeadline = std::numeric_limits<uint64_t>::max();

// The time, and how a thread waits for it. Threads: any.
class LockClock {
 public:
  virtual ~LockClock() = default;

  // Microseconds since a moment in the past that is the same for all calls. Never decreases.
  virtual uint64_t NowMicros() = 0;
  // Seconds since 1970, for the history of deadlocks.
  virtual int64_t UnixSeconds() = 0;
  // Sleeps while *word == expected, at most until `deadline`. May return early.
  virtual void Wait(const std::atomic<uint32_t>* word, uint32_t expected, uint64_t deadline) = 0;
  // Wakes the threads that wait for a change of the word. The word may be gone already, as a waiter
  // leaves as soon as it sees its outcome: only the address is used, nothing is read through it.
  virtual void Wake(const std::atomic<uint32_t>* word) = 0;
};

// Reads the time from `clock`, which outlives the result, and waits in the kernel.
std::unique_ptr<LockClock> NewLockClock(SystemClock* clock);

// What an owner waits for, or waited for when its last wait timed out.
struct LockWait {
  std::vector<TransactionID> holders;  // empty: it does not wait
  uint32_t family = 0;
  std::string key;
};

class KeyLock;
class LockWaiter;
class RangeLock;
class RangeWaiter;

// Who holds locks: a transaction, or one write outside of transactions. Its address must not
// change while it holds locks or waits; a transaction that hands its locks over to another object
// keeps owner and KeyLocks in a heap object and hands that over.
class LockOwner {
 public:
  // `id` is unique among the owners of a KeyLocks object, and not 0.
  explicit LockOwner(TransactionID id) : id_(id) { assert(id != 0); }
  virtual ~LockOwner() { assert(!HoldsLocks()); }
  LockOwner(const LockOwner&) = delete;
  LockOwner& operator=(const LockOwner&) = delete;

  // Called when another owner wants a lock and expiration_deadline has passed: changes the state
  // of the transaction from STARTED to LOCKS_STOLEN with a compare-and-swap. Returns whether the
  // state is LOCKS_STOLEN now; false = it is too late, since the transaction is being committed or
  // is prepared. From any thread, with a lock of the table held: must not lock, wait or allocate.
  // After true, locks of this owner vanish from the table one by one, as others want them.
  virtual bool StealLocks() { return false; }

  // Gives the object a new identity; it must not hold locks or wait.
  void Reuse(TransactionID id) {
    assert(!HoldsLocks() && id != 0);
    id_ = id;
    kept_wait_.reset();
    is_ending.store(false, std::memory_order_relaxed);
  }
  TransactionID id() const { return id_; }
  bool HoldsLocks() const { return first_held_ != nullptr || first_range_ != nullptr; }

  // Set by the owner's thread between calls; `expiration_deadline` only while no lock is held.
  // Microseconds to wait for a lock: 0 = do not wait; negative = no limit.
  int64_t lock_timeout_micros = 1'000'000;
  // Search for a deadlock when a wait has lasted this long (0: at once), or at the end of the wait
  // if that is earlier.
  bool deadlock_detect = false;
  int64_t deadlock_timeout_micros = 500;
  // The number of waiting owners that one search visits; more are taken for a deadlock.
  int64_t deadlock_detect_depth = 50;
  // The time from which other transactions may take the locks of this owner away, if StealLocks()
  // agrees.
  uint64_t expiration_deadline = kNoDeadline;
  // Set while the transaction commits: those that wait for its locks spin for a moment first.
  std::atomic<bool> is_ending{false};

 private:
  friend class PointLocks;
  friend class RangeLocks;

  // Enters a lock into the list, or sets its mode; takes it out of the list.
  // Called by the owner's thread when the table has granted the lock.
  void Own(KeyLock* lock, LockMode mode);
  void Disown(KeyLock* lock);

  TransactionID id_;
  KeyLock* first_held_ = nullptr;  // list of the locks that it holds, newest first
  // The shard of the table in which the owner waits, plus one; 0 = it does not wait. Both are
  // written with the lock of that part held.
  std::atomic<uint32_t> waits_in_{0};
  // The wait of the owner while waits_in_ is not 0. It is on the stack of the owner's thread.
  LockWaiter* waiter_ = nullptr;
  // The wait that timed out last, if nothing was granted since. Written by the owner's thread.
  SpinLock kept_wait_lock_;
  std::shared_ptr<const LockWait> kept_wait_;
  std::shared_ptr<TransactionDBCondVar> condition_;  // of a custom mutex factory, kept for reuse

  // Of RangeLocks, guarded by its mutex: the list of its ranges, and the range for which it waits.
  RangeLock* first_range_ = nullptr;
  RangeWaiter* range_waiter_ = nullptr;
};

// The lock of one owner on one key. Construct it when the owner first touches the key.
class KeyLock {
 public:
  KeyLock() = default;
  // The bytes of the key are borrowed as long as the lock is held.
  KeyLock(uint32_t family, const Slice& key) { Set(family, key); }
  ~KeyLock() { assert(mode() == LockMode::kNone); }
  KeyLock(const KeyLock&) = delete;
  KeyLock& operator=(const KeyLock&) = delete;

  // Sets the key of the lock. Allowed only while the lock is not held.
  void Set(uint32_t family, const Slice& key) {
    assert(mode() == LockMode::kNone);
    family_ = family;
    key_ = key;
    hash_ = Hash(family, key);
  }
  uint32_t family() const { return family_; }
  const Slice& key() const { return key_; }
  // A hash of family and key, which other tables of the transaction may use as well.
  uint64_t hash() const { return hash_; }
  static uint64_t Hash(uint32_t family, const Slice& key);

  // The mode in which the owner has acquired it. A lock that was stolen keeps its mode until the
  // owner releases it: the state of the transaction tells. The owner's thread.
  LockMode mode() const { return mode_; }

 private:
  friend class LockOwner;
  friend class PointLocks;
  friend class RangeLocks;

  Slice key_;
  uint64_t hash_ = 0;
  uint32_t family_ = 0;
  // The mode that the owner believes to hold. It differs from granted_ only if the lock was stolen.
  LockMode mode_ = LockMode::kNone;
  // The members from here to last_waiter_ are guarded by the lock of the key's part of the table.
  LockMode granted_ = LockMode::kNone;  // by the table; kNone: the lock is not in the table
  LockOwner* owner_ = nullptr;          // the last one
  KeyLock* next_holder_ = nullptr;      // the holders of the key, in any order
  KeyLock* previous_holder_ = nullptr;
  LockWaiter* first_waiter_ = nullptr;  // the queue for the key; only in the first holder
  LockWaiter* last_waiter_ = nullptr;
  // The list of the owner's locks, which only the owner's thread uses.
  KeyLock* next_held_ = nullptr;
  KeyLock* previous_held_ = nullptr;
};

// The list is doubly linked, so that a single lock is taken out without a search. An upgrade keeps
// its place in the list.
inline void LockOwner::Own(KeyLock* lock, LockMode mode) {
  const bool is_new = lock->mode_ == LockMode::kNone;
  lock->mode_ = mode;
  if (!is_new) return;
  lock->previous_held_ = nullptr;
  lock->next_held_ = first_held_;
  if (lock->next_held_ != nullptr) lock->next_held_->previous_held_ = lock;
  first_held_ = lock;
}

inline void LockOwner::Disown(KeyLock* lock) {
  lock->mode_ = LockMode::kNone;
  KeyLock** const at =
      lock->previous_held_ != nullptr ? &lock->previous_held_->next_held_ : &first_held_;
  assert(*at == lock);
  *at = lock->next_held_;
  if (lock->next_held_ != nullptr) lock->next_held_->previous_held_ = lock->previous_held_;
  lock->next_held_ = lock->previous_held_ = nullptr;
}

// How a table of locks is made. All fields have the meaning of the options of TransactionDB that
// are named beside them.
struct KeyLocksOptions {
  size_t min_shards = 16;             // TransactionDBOptions::num_stripes
  int64_t max_locks_per_family = -1;  // locked keys; <= 0: no limit
  uint32_t max_deadlocks = kInitialMaxDeadlocks;
  std::shared_ptr<TransactionDBMutexFactory> mutex_factory;  // null: spin locks and futexes
  LockClock* clock = nullptr;                                // required; outlives the KeyLocks
  // The name of a family for messages; empty function: its number.
  std::function<std::string(uint32_t family)> family_name;
};

// The table of locks; see the head of this file. The object outlives all owners that hold locks.
class KeyLocks {
 public:
  virtual ~KeyLocks() = default;

  // Families are known from their first lock on. AddFamily() tells the order of the keys to
  // managers that need it; others ignore it. `comparator` outlives the family.
  virtual void AddFamily(uint32_t family, const Comparator* comparator) = 0;
  // Later acquisitions are InvalidArgument; locks that are held remain until they are released.
  virtual void DropFamily(uint32_t family) = 0;

  // Makes `owner` a holder of the key in this mode or a stronger one. If it holds the key already:
  // does nothing when the mode is not stronger, else waits for the other holders to leave
  // (upgrade). On failure the lock is as it was before. Errors:
  //   TimedOut(kLockTimeout)     not granted within owner->lock_timeout_micros
  //   TimedOut(kMutexTimeout)    a mutex of the custom factory was not had in time
  //   Busy(kDeadlock)            the wait closed a cycle, or the search was too long
  //   Aborted(kLockLimit)        the family has max_locks_per_family locked keys
  //   InvalidArgument            the family was dropped
  //   Expired                    an upgrade of a lock that was stolen
  // Messages name family, key and a holder.
  virtual Status Acquire(LockOwner* owner, KeyLock* lock, LockMode mode) = 0;
  // Makes `owner` an exclusive holder at once, beside any others: for transactions recovered from
  // the log, several of which may hold a key. No limit applies. Before anybody else uses the table.
  virtual void AcquireRecovered(LockOwner* owner, KeyLock* lock) = 0;
  // Locks all keys from `start` to `end`, both included. Point locks: NotSupported.
  virtual Status AcquireRange(LockOwner* owner, uint32_t family, const Endpoint& start,
                              const Endpoint& end, LockMode mode) = 0;

  // Gives up a lock that the owner has acquired, also if it was stolen meanwhile.
  virtual void Release(KeyLock* lock) = 0;
  // Turns an exclusive lock into a shared one: takes an upgrade back.
  virtual void Downgrade(KeyLock* lock) = 0;
  // Gives up everything that the owner holds; it can be used again.
  virtual void ReleaseAll(LockOwner* owner) = 0;

  // For Transaction::GetWaitingTxns(): what the owner waits for now, or the wait that timed out
  // last if it has not waited since. Any thread, while the owner lives.
  virtual LockWait GetWait(LockOwner* owner) = 0;

  // For GetLockStatusData(): the locked keys by family. Not a snapshot: each part of the table is
  // read at its own moment.
  virtual std::unordered_multimap<uint32_t, KeyLockInfo> Describe() = 0;

  // `table_bytes` is the memory of the table itself; the KeyLock objects belong to the owners.
  struct Totals {
    uint64_t keys = 0;     // locked keys; a key with several holders counts once
    uint64_t waiters = 0;  // owners that wait
    uint64_t table_bytes = 0;
  };
  // Sizes for reports. Each part of the table is read at its own moment, so the sums may be a
  // little off while transactions run.
  virtual Totals GetTotals() = 0;

  // The latest deadlocks, newest first. A path lists the waiting owners in the order in which each
  // waits for the next one; the last one is the victim and waits for the first. An empty path with
  // limit_exceeded: a search that was too long.
  virtual std::vector<DeadlockPath> GetDeadlocks() = 0;
  // 0 forgets all deadlocks and keeps none.
  virtual void SetMaxDeadlocks(uint32_t count) = 0;
};

// What a LockManagerHandle leads to.
class LockManager : public KeyLocks {};

// Locks single keys: a queue per key, first come first served.
std::unique_ptr<KeyLocks> NewPointLocks(const KeyLocksOptions& options);

}  // namespace ashlar
