// SPDX-License-Identifier: Apache-2.0
//
// PointLocks: what a thread does that does not get a lock at once.
//
// A thread that is blocked enters the queue of the key, and sleeps without any lock held until
// somebody sets its outcome, or one of its own deadlines passes. Every change of the queue or of
// the holders is followed by GrantQueue(), so a waiter never sleeps while its key is free.
#include <algorithm>
#include <cassert>
#include <utility>

#include "db/transaction/locks/lock_sleep.h"
#include "db/transaction/locks/point_locks.h"
#include "util/scope_exit.h"
#include "util/statistics/perf_level_impl.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// How many times a waiter looks before it sleeps, if the holder is ending: a few microseconds.
constexpr int kSpins = 100;

}  // namespace

// Tries until the answer is something else than kNoRoom. A larger array is made without the lock of
// the shard, so the attempt has to be repeated afterwards: others may have come in between.
Status PointLocks::AcquireSlowly(LockOwner* owner, KeyLock* lock, LockMode mode) {
  assert(lock != nullptr);
  const uint32_t number = ShardOf(*lock);
  LockWaiter waiter(owner, lock, mode);
  Attempt attempt;
  while (true) {
    Status locked = LockMutex(number, *owner, *lock);
    if (!locked.ok()) return locked;
    size_t wanted = 0;
    uint64_t expiry = kNoDeadline;
    {
      Section section(this, number, &waiter, AdoptLock());
      attempt = Try(section.get(), owner, lock, mode);
      if (attempt == Attempt::kNoRoom) wanted = section->WantedCapacity();
      if (attempt == Attempt::kBlocked) {
        KeyLock* const first = section->FirstHolder(*lock);
        Enqueue(section.get(), number, &waiter, first);
        GrantQueue(&section, first);  // locks that have expired are taken
        if (waiter.IsWaiting()) {
          // A timeout of 0 enters the queue only to take locks that have expired, and leaves it at
          // once.
          if (owner->lock_timeout_micros == 0) {
            GiveUp(&section, &waiter);
          } else {
            expiry = NextExpiry(waiter, section->FirstHolder(*lock));
          }
        }
      }
    }
    if (attempt == Attempt::kBlocked) {
      if (owner->lock_timeout_micros == 0 && waiter.IsWaiting()) {
        return Failure(Status::kTimedOut, Status::kLockTimeout, waiter);
      }
      return Wait(&waiter, number, expiry);
    }
    if (attempt != Attempt::kNoRoom) break;
    Resize(number, wanted);
  }
  switch (attempt) {
    // The list of the owner is changed by its own thread, without the lock of the shard.
    case Attempt::kGranted: owner->Own(lock, mode); return Status::OK();
    case Attempt::kTooMany:
      return Status(Status::kAborted, Status::kLockLimit, Status::kNoError,
                    StrCat(families_.max_keys(), " keys are locked in family ", lock->family_));
    default: return Status::Expired(StrCat("the locks of transaction ", owner->id_, " were taken"));
  }
}

// A custom mutex may be held for long, so the wait for it counts against the timeout for locks.
Status PointLocks::LockMutex(uint32_t shard, const LockOwner& owner,
                             const KeyLock& lock) NO_THREAD_SAFETY_ANALYSIS {
  if (mutexes_.empty()) {
    shards_[shard].spin_lock.Lock();
    return Status::OK();
  }
  TransactionDBMutex& mutex = *mutexes_[shard];
  const int64_t micros = owner.lock_timeout_micros;
  Status status = micros < 0 ? mutex.Lock() : mutex.TryLockFor(micros);
  if (!status.IsTimedOut()) return status;
  return Status(Status::kTimedOut, Status::kMutexTimeout, Status::kNoError, DescribeKey(lock));
}

// Waits for an outcome. Sleeps until one of these comes first: the end of the wait, the time to
// search for a deadlock, the expiration of a lock.
Status PointLocks::Wait(LockWaiter* waiter, uint32_t shard, uint64_t expiry) {
  assert(waiter != nullptr);
  LockOwner* const owner = waiter->owner;
  const uint64_t start = clock_->NowMicros();
  // Three deadlines, all in microseconds of the clock: when the wait ends, when to search for a
  // deadlock, and when a lock that stands in the way expires (`expiry`).
  uint64_t give_up_at = DeadlineAfter(start, owner->lock_timeout_micros);
  uint64_t search_at = kNoDeadline;
  // At least once before the end, so that a deadlock is reported as such and not as a timeout.
  if (waiter->detects || detecting_.load(std::memory_order_seq_cst) != 0) {
    const int64_t delay = std::max<int64_t>(owner->deadlock_timeout_micros, 0);
    search_at =
        waiter->searches_at_once ? start : std::min(DeadlineAfter(start, delay), give_up_at);
  }
  if (waiter->may_be_short) {
    for (int i = 0; i < kSpins && waiter->IsWaiting(); i++) SpinPause();
  }
  Status failure;
  // What GetWaitingTxns() shows after a wait that timed out. It is made while the wait is still in
  // the table, and stored afterwards. A wait that succeeds stores null.
  std::shared_ptr<const LockWait> kept;
  ScopeExit leave([&] { EndThrownWait(waiter, shard); });
  while (waiter->IsWaiting()) {
    const uint64_t now = clock_->NowMicros();
    if (now >= search_at) {
      search_at = kNoDeadline;
      SearchDeadlock(waiter, shard);
      // The outcome may have been set before the lock of the shard was had, so it is read again
      // under it.
    } else if (now >= expiry || now >= give_up_at || !failure.ok()) {
      Section section(this, shard, waiter);
      if (!waiter->IsWaiting()) break;
      GrantQueue(&section, section->FirstHolder(*waiter->lock));  // takes expired locks
      if (!waiter->IsWaiting()) break;
      expiry = NextExpiry(*waiter, section->FirstHolder(*waiter->lock));
      if (now < give_up_at && failure.ok()) continue;
      kept =
          std::make_shared<LockWait>(DescribeWait(*waiter, *section->FirstHolder(*waiter->lock)));
      GiveUp(&section, waiter);
      break;
    } else {
      failure = SleepUntil(clock_, waiter->outcome, std::min({search_at, expiry, give_up_at}),
                           mutexes_.empty() ? nullptr : mutexes_[shard], owner->condition_);
    }
  }
  leave.Cancel();
  // The perf context has nanoseconds, the clock microseconds.
  AddPerfCount(&PerfContextBase::key_lock_wait_count);
  if (TimesPerf()) {
    get_perf_context()->key_lock_wait_time += (clock_->NowMicros() - start) * 1000;
  }
  {
    SpinLockGuard guard(&owner->kept_wait_lock_);
    kept.swap(owner->kept_wait_);
  }
  switch (waiter->outcome.load(std::memory_order_acquire)) {
    // The thread that released has entered the lock into the table; the list of the owner is our
    // own.
    case LockWaiter::kGranted: owner->Own(waiter->lock, waiter->mode); break;
    case LockWaiter::kDeadlock:
      RecordDeadlock(waiter);
      return Failure(Status::kBusy, Status::kDeadlock, *waiter);
    default:
      if (!failure.ok() && !failure.IsTimedOut()) return failure;
      return Failure(Status::kTimedOut, Status::kLockTimeout, *waiter);
  }
  return Status::OK();
}

// The program's condition variable has thrown, or an allocation has failed. The caller, which
// undoes what the lock says that it has, gets a lock that was granted meanwhile.
void PointLocks::EndThrownWait(LockWaiter* waiter, uint32_t shard) {
  assert(waiter != nullptr);
  {
    Section section(this, shard, waiter);
    if (waiter->IsWaiting()) return GiveUp(&section, waiter);
  }
  switch (waiter->outcome.load(std::memory_order_acquire)) {
    case LockWaiter::kGranted: waiter->owner->Own(waiter->lock, waiter->mode); break;
    case LockWaiter::kDeadlock: RecordDeadlock(waiter); break;
    default: break;
  }
}

// ---- The queue

// An upgrade goes behind earlier upgrades, everything else to the end.
void PointLocks::Enqueue(LockShard* shard, uint32_t shard_number, LockWaiter* waiter,
                         KeyLock* first) {
  assert(shard != nullptr);
  assert(waiter != nullptr);
  assert(first != nullptr);
  LockOwner* const owner = waiter->owner;
  // Before the waiter enters a list, so that a failed allocation leaves nothing behind.
  if (mutex_factory_ != nullptr && owner->condition_ == nullptr) {
    owner->condition_ = mutex_factory_->AllocateCondVar();
  }
  LockWaiter* previous = first->last_waiter_;
  if (waiter->is_upgrade) {
    previous = nullptr;
    for (LockWaiter* other = first->first_waiter_; other != nullptr && other->is_upgrade;
         other = other->next) {
      previous = other;
    }
    // Two owners that share a key and both want it exclusively wait for each other for certain.
    waiter->searches_at_once = previous != nullptr;
  }
  LockWaiter*& behind = previous != nullptr ? previous->next : first->first_waiter_;
  waiter->previous = previous;
  waiter->next = std::exchange(behind, waiter);
  (waiter->next != nullptr ? waiter->next->previous : first->last_waiter_) = waiter;

  // The list of the shard is for searches; its order has no meaning.
  waiter->next_in_shard = shard->first_waiter;
  if (waiter->next_in_shard != nullptr) waiter->next_in_shard->previous_in_shard = waiter;
  shard->first_waiter = waiter;

  waiter->lock->owner_ = owner;
  waiter->may_be_short = first->owner_->is_ending.load(std::memory_order_relaxed);
  owner->waiter_ = waiter;
  // From here on searches see the wait. All that they read of it is set before.
  owner->waits_in_.store(shard_number + 1, std::memory_order_seq_cst);
  // After the wait is visible to searches; see the declaration of detecting_.
  if (waiter->detects) detecting_.fetch_add(1, std::memory_order_seq_cst);
}

// With the lock of the shard held. The waiter keeps its outcome: who called decides about it.
void PointLocks::Dequeue(LockShard* shard, LockWaiter* waiter, KeyLock* first) {
  assert(waiter != nullptr);
  (waiter->previous != nullptr ? waiter->previous->next : first->first_waiter_) = waiter->next;
  (waiter->next != nullptr ? waiter->next->previous : first->last_waiter_) = waiter->previous;
  if (waiter->previous_in_shard != nullptr) {
    waiter->previous_in_shard->next_in_shard = waiter->next_in_shard;
  } else {
    shard->first_waiter = waiter->next_in_shard;
  }
  if (waiter->next_in_shard != nullptr) {
    waiter->next_in_shard->previous_in_shard = waiter->previous_in_shard;
  }
  waiter->owner->waiter_ = nullptr;
  waiter->owner->waits_in_.store(0, std::memory_order_seq_cst);
  if (waiter->detects) detecting_.fetch_sub(1, std::memory_order_seq_cst);
}

// The wait ends without the lock. Waiters behind this one may be able to share the key now that it
// is gone, so the queue is granted anew.
void PointLocks::GiveUp(Section* section, LockWaiter* waiter) {
  assert(section != nullptr);
  assert(waiter != nullptr);
  KeyLock* const first = section->get()->FirstHolder(*waiter->lock);
  waiter->blocker = BlockerOf(*waiter, *first);
  Dequeue(section->get(), waiter, first);
  GrantQueue(section, first);
}

// ---- What a wait is for

// The next waiter ahead that does not share with `waiter`, if that is why it waits.
const LockWaiter* PointLocks::BlockingWaiter(const LockWaiter& waiter, const KeyLock& first) {
  if (Conflicts(waiter, first)) return nullptr;
  const LockWaiter* ahead = waiter.previous;
  while (ahead != nullptr && ahead->mode != LockMode::kExclusive) ahead = ahead->previous;
  return ahead;
}

// The id of one owner that stands in the way, for use in messages. 0 if nobody stands in the way
// any more.
TransactionID PointLocks::BlockerOf(const LockWaiter& waiter, const KeyLock& first) {
  if (const LockWaiter* const ahead = BlockingWaiter(waiter, first)) return ahead->owner->id_;
  const KeyLock* const holder = &first == waiter.lock ? first.next_holder_ : &first;
  return holder != nullptr ? holder->owner_->id_ : 0;
}

// Names the owners that the waiter waits for: an exclusive waiter ahead of it if there is one, else
// all other holders of the key. The shard of the key is locked.
[[gnu::cold]] LockWait PointLocks::DescribeWait(const LockWaiter& waiter, const KeyLock& first) {
  LockWait wait;
  wait.family = waiter.lock->family_;
  wait.key = waiter.lock->key_.ToString();
  if (const LockWaiter* const ahead = BlockingWaiter(waiter, first)) {
    wait.holders.push_back(ahead->owner->id_);
    return wait;
  }
  for (const KeyLock* holder = &first; holder != nullptr; holder = holder->next_holder_) {
    if (holder != waiter.lock) wait.holders.push_back(holder->owner_->id_);
  }
  return wait;
}

// The next deadline of a holder, or of an owner that may become one before this waiter does.
uint64_t PointLocks::NextExpiry(const LockWaiter& waiter, const KeyLock* first) const {
  if (!may_expire_.load(std::memory_order_relaxed)) return kNoDeadline;
  const uint64_t now = clock_->NowMicros();
  uint64_t next = kNoDeadline;
  const auto consider = [&](const LockOwner& owner) {
    if (owner.expiration_deadline > now) next = std::min(next, owner.expiration_deadline);
  };
  for (const KeyLock* holder = first; holder != nullptr; holder = holder->next_holder_) {
    if (holder != waiter.lock) consider(*holder->owner_);
  }
  for (const LockWaiter* ahead = waiter.previous; ahead != nullptr; ahead = ahead->previous) {
    consider(*ahead->owner);
  }
  return next;
}

[[gnu::cold]] std::string PointLocks::DescribeKey(const KeyLock& lock) const {
  const std::string family =
      family_name_ ? family_name_(lock.family_) : StrCat("number ", lock.family_);
  return StrCat("key ", KeyInError(lock.key_), " of the column family ", family);
}

Status PointLocks::Failure(Status::Code code, Status::SubCode subcode,
                           const LockWaiter& waiter) const {
  return Status(code, subcode, Status::kNoError,
                StrCat("transaction ", waiter.owner->id_, " waits for transaction ", waiter.blocker,
                       ", ", DescribeKey(*waiter.lock)));
}

}  // namespace ashlar
