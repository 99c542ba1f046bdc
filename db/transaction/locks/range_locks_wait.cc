// SPDX-License-Identifier: Apache-2.0
//
// RangeLocks: requests, waits and deadlocks.
//
// A request is checked, granted or entered into the list of its family under the mutex. The thread
// then sleeps without the mutex until its outcome is set. The thread that removes ranges or
// requests calls GrantWaiters(), which sets the outcomes.
#include <algorithm>
#include <cassert>
#include <utility>

#include "db/transaction/locks/lock_sleep.h"
#include "db/transaction/locks/range_locks.h"
#include "db/transaction/locks/range_waiter.h"
#include "util/scope_exit.h"
#include "util/statistics/perf_level_impl.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// How often a waiting thread asks whether it is killed.
constexpr int64_t kKilledPollMicros = 100'000;

// Two shared ranges of different owners may overlap; all other pairs may not.
bool Excludes(LockMode a, LockMode b) {
  return a == LockMode::kExclusive || b == LockMode::kExclusive;
}

Status RangeFailure(Status::Code code, Status::SubCode subcode, const RangeLock& wanted,
                    TransactionID blocker) {
  const auto text = [](const RangeEnd& end) {
    return StrCat(KeyInError(end.key), end.is_after ? " and all that begin with it" : "");
  };
  return Status(code, subcode, Status::kNoError,
                StrCat("transaction ", wanted.owner->id(), " waits for transaction ", blocker,
                       ", keys from ", text(wanted.start), " to ", text(wanted.end),
                       " of the column family number ", wanted.family));
}

}  // namespace

void RangeLocks::Section::Tell(RangeWaiter* waiter, LockOwner* owner, uint32_t outcome) {
  assert(waiter != nullptr);
  // Copied before the outcome is set: afterwards the waiter and even its owner may be gone.
  const std::shared_ptr<TransactionDBCondVar> condition =
      locks_->custom_mutex_ != nullptr ? owner->condition_ : nullptr;
  wakes_.push_back(&waiter->outcome);
  waiter->outcome.store(outcome, std::memory_order_release);  // the waiter may be gone now
  if (condition != nullptr) condition->NotifyAll();
}

// The owners for which a request must wait; each may occur several times.
std::vector<LockOwner*> RangeLocks::BlockersOf(const Family& family, const RangeLock& wanted) {
  std::vector<LockOwner*> blockers;
  family.tree.ForOverlapping(wanted.start, wanted.end, [&](const RangeLock* range) {
    if (range->owner != wanted.owner && Excludes(range->mode, wanted.mode)) {
      blockers.push_back(range->owner);
    }
    return true;
  });
  // Requests that came earlier count like holders, so nobody is overtaken. The list is in the order
  // of arrival, and ends for this request at its own entry.
  for (const RangeWaiter* waiter : family.waiters) {
    const RangeLock& earlier = *waiter->wanted;
    if (&earlier == &wanted) break;
    if (!Excludes(earlier.mode, wanted.mode) ||
        !family.tree.Overlap(earlier.start, earlier.end, wanted.start, wanted.end)) {
      continue;
    }
    // If the earlier request waits for a range of this owner, it cannot be granted before this
    // owner is done. Waiting for it would be a deadlock that is not one.
    bool waits_for_us = false;
    family.tree.ForOverlapping(earlier.start, earlier.end, [&](const RangeLock* range) {
      waits_for_us |= range->owner == wanted.owner && Excludes(range->mode, earlier.mode);
      return !waits_for_us;
    });
    if (!waits_for_us) blockers.push_back(earlier.owner);
  }
  return blockers;
}

// A mutex of the program may fail, or give up after the lock timeout; our own always succeeds. The
// analysis cannot follow that only one of the two mutexes is used.
Status RangeLocks::LockMutex(const RangeLock& wanted) NO_THREAD_SAFETY_ANALYSIS {
  if (custom_mutex_ == nullptr) {
    mutex_.Lock();
    return Status::OK();
  }
  const int64_t micros = wanted.owner->lock_timeout_micros;
  const Status status = micros < 0 ? custom_mutex_->Lock() : custom_mutex_->TryLockFor(micros);
  if (!status.IsTimedOut()) return status;
  return RangeFailure(Status::kTimedOut, Status::kMutexTimeout, wanted, 0);
}

Status RangeLocks::Lock(std::unique_ptr<RangeLock> wanted) {
  LockOwner* const owner = wanted->owner;
  // The waiter lives on this thread's stack, and the table refers to it until the outcome is set.
  // So this function must not return before.
  RangeWaiter waiter;
  const Status locked = LockMutex(*wanted);
  if (!locked.ok()) return locked;
  {
    Section section(this, AdoptLock());
    Family* const family = FindFamily(wanted->family);
    if (family->is_dropped) {
      return Status::InvalidArgument(
          StrCat("the column family with the number ", wanted->family, " was dropped"));
    }
    if (family->tree.Compare(wanted->start, wanted->end) > 0) {
      return Status::InvalidArgument("the range ends before it begins");
    }
    // A range of the owner contains the wanted one already, so no new object is needed.
    if (Covers(*family, *wanted)) return Status::OK();
    if (!MakeRoomFor(&section, *wanted)) {
      return Status(Status::kAborted, Status::kLockLimit, Status::kNoError,
                    StrCat("the ranges would need more than ", max_memory_, " bytes"));
    }
    const std::vector<LockOwner*> blockers = BlockersOf(*family, *wanted);
    if (blockers.empty()) {
      Insert(family, std::move(wanted));
      return Status::OK();
    }
    waiter.blocker = blockers[0]->id();
    if (owner->lock_timeout_micros == 0) {
      return RangeFailure(Status::kTimedOut, Status::kLockTimeout, *wanted, waiter.blocker);
    }
    waiter.wanted = std::move(wanted);
    Enqueue(family, &waiter);
  }
  return Wait(&waiter, owner);
}

// Returns with the range held or with the request removed from the list. If it throws, the request
// is removed and the range is not held.
Status RangeLocks::Wait(RangeWaiter* waiter, LockOwner* owner) {
  assert(waiter != nullptr);
  assert(owner != nullptr);
  const uint64_t start = clock_->NowMicros();
  const uint64_t give_up_at = DeadlineAfter(start, owner->lock_timeout_micros);
  // Searches once, at the latest when the wait ends, so that a deadlock is not reported as a
  // timeout.
  uint64_t search_at = std::min(
      DeadlineAfter(start, std::max<int64_t>(owner->deadlock_timeout_micros, 0)), give_up_at);
  Status failure;
  std::shared_ptr<LockWait> kept;
  ScopeExit leave([&] { EndThrownWait(waiter, owner); });
  while (waiter->IsWaiting()) {
    const uint64_t now = clock_->NowMicros();
    if (now >= search_at) {
      search_at = kNoDeadline;
      Section section(this);
      SearchDeadlock(&section, waiter);
      continue;
    }
    std::shared_ptr<const IsKilledCallback> is_killed;
    {
      Section section(this);
      if (!waiter->IsWaiting()) break;
      Family* const family = FindFamily(waiter->wanted->family);
      const std::vector<LockOwner*> blockers = BlockersOf(*family, *waiter->wanted);
      waiter->blocker = blockers.empty() ? 0 : blockers[0]->id();
      if (now >= give_up_at || !failure.ok()) {
        kept = std::make_shared<LockWait>();
        for (const LockOwner* blocker : blockers) kept->holders.push_back(blocker->id());
        kept->family = waiter->wanted->family;
        kept->key = waiter->wanted->start.key;
        GiveUp(&section, waiter);
        break;
      }
      is_killed = is_killed_;
    }
    if (is_killed != nullptr && (*is_killed)()) {  // the program's code: without the mutex
      failure = Status::Aborted("the wait for a range of keys was killed");
      continue;
    }
    const uint64_t poll_at =
        is_killed != nullptr ? DeadlineAfter(now, kKilledPollMicros) : kNoDeadline;
    failure = SleepUntil(clock_.get(), waiter->outcome, std::min({search_at, give_up_at, poll_at}),
                         custom_mutex_, owner->condition_);
  }
  leave.Cancel();
  AddPerfCount(&PerfContextBase::key_lock_wait_count);
  if (TimesPerf()) {
    get_perf_context()->key_lock_wait_time += (clock_->NowMicros() - start) * 1000;
  }
  {
    SpinLockGuard guard(&owner->kept_wait_lock_);
    owner->kept_wait_ = std::move(kept);
  }
  switch (waiter->outcome.load(std::memory_order_acquire)) {
    case RangeWaiter::kGranted: return Status::OK();
    case RangeWaiter::kDeadlock:
      RecordDeadlock(waiter);
      return RangeFailure(Status::kBusy, Status::kDeadlock, *waiter->wanted, waiter->blocker);
    default:
      if (!failure.ok() && !failure.IsTimedOut()) return failure;
      return RangeFailure(Status::kTimedOut, Status::kLockTimeout, *waiter->wanted,
                          waiter->blocker);
  }
}

// The program's callback or condition variable has thrown. The caller does not learn whether the
// range was granted meanwhile, so it is given back; only if it was joined with others of its owner
// it stays with them.
void RangeLocks::EndThrownWait(RangeWaiter* waiter, LockOwner* owner) {
  assert(waiter != nullptr);
  assert(owner != nullptr);
  {
    Section section(this);
    if (waiter->IsWaiting()) return GiveUp(&section, waiter);
    // A range that is in the list is the granted one: the owner's thread has made no other since.
    RangeLock* range = waiter->granted != nullptr ? owner->first_range_ : nullptr;
    while (range != nullptr && range != waiter->granted) range = range->next_of_owner;
    if (range != nullptr && !range->is_joined) {
      Family* const family = FindFamily(range->family);
      Remove(family, range);
      GrantWaiters(&section, family);
    }
  }
  if (waiter->deadlock != nullptr) RecordDeadlock(waiter);
}

// The wait ends without the range, which may let later requests through.
void RangeLocks::GiveUp(Section* section, RangeWaiter* waiter) {
  assert(section != nullptr);
  assert(waiter != nullptr);
  Family* const family = FindFamily(waiter->wanted->family);
  Dequeue(family, waiter);
  GrantWaiters(section, family);
}

// Grants every request that nothing blocks any more. One that is granted can only block others, so
// one pass is enough.
void RangeLocks::GrantWaiters(Section* section, Family* family) {
  assert(family != nullptr);
  // A copy, because granting changes the list.
  const std::vector<RangeWaiter*> waiters = family->waiters;
  for (RangeWaiter* waiter : waiters) {
    if (!BlockersOf(*family, *waiter->wanted).empty()) continue;
    LockOwner* const owner = waiter->wanted->owner;
    Dequeue(family, waiter);
    waiter->granted = waiter->wanted.get();
    Insert(family, std::move(waiter->wanted));
    section->Tell(waiter, owner, RangeWaiter::kGranted);
  }
}

// Waiters of a family stand in the order of their arrival. The condition variable is allocated
// before the waiter enters the list, so that a failed allocation leaves nothing behind.
void RangeLocks::Enqueue(Family* family, RangeWaiter* waiter) {
  assert(waiter != nullptr);
  assert(family != nullptr);
  assert(waiter->wanted != nullptr && waiter->wanted->owner->range_waiter_ == nullptr);
  LockOwner* const owner = waiter->wanted->owner;
  if (mutex_factory_ != nullptr && owner->condition_ == nullptr) {
    owner->condition_ = mutex_factory_->AllocateCondVar();
  }
  family->waiters.push_back(waiter);
  owner->range_waiter_ = waiter;
  waits_++;
}

void RangeLocks::Dequeue(Family* family, RangeWaiter* waiter) {
  assert(family != nullptr);
  assert(waiter != nullptr);
  family->waiters.erase(std::find(family->waiters.begin(), family->waiters.end(), waiter));
  // Before the range is moved out of the waiter: its owner is found through it.
  waiter->wanted->owner->range_waiter_ = nullptr;
}

// ---- Deadlocks

// The waits as FindCycle() sees them. Used with the mutex held, so the graph does not change during
// a search. A node has only the number of an owner; the map leads from the number to its wait.
class RangeLocks::Graph final : public WaitGraph {
 public:
  explicit Graph(RangeLocks* locks) : locks_(locks) {}

  bool GetBlockers(const WaitNode& waiting, bool* detects,
                   std::vector<WaitNode>* blockers) override {
    assert(blockers != nullptr);
    assert(detects != nullptr);
    const RangeWaiter* const waiter = Find(waiting.id);
    *detects = waiter->wanted->owner->deadlock_detect;
    const Family& family = *locks_->FindFamily(waiter->wanted->family);
    for (LockOwner* blocker : BlockersOf(family, *waiter->wanted)) {
      if (blocker->range_waiter_ == nullptr) continue;
      waiters_[blocker->id()] = blocker->range_waiter_;
      blockers->push_back({blocker->id(), 0});
    }
    return true;
  }
  void Add(RangeWaiter* waiter) { waiters_[waiter->wanted->owner->id()] = waiter; }
  RangeWaiter* Find(TransactionID id) const { return waiters_.at(id); }

 private:
  RangeLocks* const locks_;
  std::map<TransactionID, RangeWaiter*> waiters_;
};

// With the mutex held, a waiter that is not listed has its outcome and may be gone.
bool RangeLocks::IsListed(const RangeWaiter* waiter) const {
  for (const auto& [number, family] : families_) {
    const std::vector<RangeWaiter*>& waiters = family.waiters;
    if (std::find(waiters.begin(), waiters.end(), waiter) != waiters.end()) return true;
  }
  return false;
}

// Repeats until no cycle is left: a victim other than this waiter may have closed one cycle of
// several.
void RangeLocks::SearchDeadlock(Section* section, RangeWaiter* waiter) {
  assert(section != nullptr);
  assert(waiter != nullptr);
  while (IsListed(waiter)) {
    LockOwner* const owner = waiter->wanted->owner;
    Graph graph(this);
    graph.Add(waiter);
    const WaitCycle cycle = FindCycle(&graph, {owner->id(), 0}, owner->deadlock_detect_depth);
    if (cycle.kind == WaitCycle::Kind::kNone) return;
    if (cycle.kind == WaitCycle::Kind::kTooLong) {
      // The search was too long to be answered; only an owner that wants detection fails by it.
      if (!owner->deadlock_detect) return;
      return EndByDeadlock(section, waiter, waiter->blocker, RangeDeadlockPath(0, true));
    }
    // The first member that detects deadlocks is the victim, and the last one of the report.
    const size_t count = cycle.path.size();
    size_t victim = 0;
    while (!graph.Find(cycle.path[victim].id)->wanted->owner->deadlock_detect) victim++;
    RangeDeadlockPath path(0);
    for (size_t i = 1; i <= count; i++) {
      const RangeLock& wanted = *graph.Find(cycle.path[(victim + i) % count].id)->wanted;
      path.path.push_back({wanted.owner->id(),
                           wanted.family,
                           wanted.mode == LockMode::kExclusive,
                           {wanted.start.key, wanted.start.is_after},
                           {wanted.end.key, wanted.end.is_after}});
    }
    EndByDeadlock(section, graph.Find(cycle.path[victim].id), cycle.path[(victim + 1) % count].id,
                  std::move(path));
  }
}

// A joined range stands in the way of more requests than its parts did, so a request that waits
// already may wait for more owners now and be part of a deadlock that its own search did not find.
void RangeLocks::SearchAllDeadlocks(Section* section) {
  std::vector<RangeWaiter*> waiting;
  for (const auto& [number, family] : families_) {
    waiting.insert(waiting.end(), family.waiters.begin(), family.waiters.end());
  }
  for (RangeWaiter* waiter : waiting) SearchDeadlock(section, waiter);
}

// The victim is told last: after that its objects may be gone.
void RangeLocks::EndByDeadlock(Section* section, RangeWaiter* waiter, TransactionID blocker,
                               RangeDeadlockPath path) {
  assert(section != nullptr);
  assert(waiter != nullptr);
  LockOwner* const owner = waiter->wanted->owner;
  waiter->deadlock = std::make_unique<RangeDeadlockPath>(std::move(path));
  Family* const family = FindFamily(waiter->wanted->family);
  Dequeue(family, waiter);
  GrantWaiters(section, family);
  waiter->blocker = blocker;
  section->Tell(waiter, owner, RangeWaiter::kDeadlock);
}

// Called by the thread of the victim, without the mutex. By the thread that has found the deadlock
// it could come after the victim's call has returned.
void RangeLocks::RecordDeadlock(RangeWaiter* victim) {
  assert(victim != nullptr && victim->deadlock != nullptr);
  victim->deadlock->deadlock_time = clock_->UnixSeconds();
  history_.Add(std::move(*victim->deadlock));
}

}  // namespace ashlar
