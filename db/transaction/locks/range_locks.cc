// SPDX-License-Identifier: Apache-2.0
//
// The ranges: who holds which. Waiting is in range_locks_wait.cc.
#include "db/transaction/locks/range_locks.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "db/transaction/locks/range_waiter.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// Used until the program sets others: bytes for all ranges, and deadlocks in the history.
constexpr size_t kDefaultMaxMemory = size_t{64} << 20;
constexpr uint32_t kDefaultMaxDeadlocks = 10;
constexpr int kTooSmall = 33;  // EDOM, as programs expect it

EndpointWithString ToPublic(const RangeEnd& end) { return {end.key, end.is_after}; }
Endpoint ToEndpoint(const RangeEnd& end) { return Endpoint(end.key, end.is_after); }

}  // namespace

RangeLocks::RangeLocks(std::unique_ptr<LockClock> clock,
                       std::shared_ptr<TransactionDBMutexFactory> mutex_factory)
    : clock_(std::move(clock)),
      mutex_factory_(std::move(mutex_factory)),
      custom_mutex_(mutex_factory_ != nullptr ? mutex_factory_->AllocateMutex() : nullptr),
      max_memory_(kDefaultMaxMemory),
      history_(kDefaultMaxDeadlocks) {}

RangeLocks::~RangeLocks() { assert(ranges_ == 0 && "all owners have released"); }

// ---- The program's handle

int RangeLocks::SetMaxLockMemory(size_t max_lock_memory) {
  Section section(this);
  if (max_lock_memory < memory_) return kTooSmall;
  max_memory_ = max_lock_memory;
  return 0;
}

size_t RangeLocks::GetMaxLockMemory() {
  Section section(this);
  return max_memory_;
}

// The function is called with the mutex held, so it must not call the lock manager.
void RangeLocks::SetEscalationBarrierFunc(EscalationBarrierFunc func) {
  Section section(this);
  barrier_ = std::move(func);
}

void RangeLocks::SetIsKilledCallback(IsKilledCallback func) {
  Section section(this);
  // A shared pointer: a waiting thread calls a copy without the mutex, while another may replace
  // it.
  is_killed_ = func ? std::make_shared<const IsKilledCallback>(std::move(func)) : nullptr;
}

// The table is locked for the whole call, so the result shows one moment.
RangeLocks::RangeLockStatus RangeLocks::GetRangeLockStatusData() {
  RangeLockStatus result;
  Section section(this);
  for (const auto& [number, family] : families_) {
    const uint32_t id = number;
    family.tree.ForEach([&result, id](const RangeLock* range) {
      RangeLockInfo info;
      info.start = ToPublic(range->start);
      info.end = ToPublic(range->end);
      info.ids = {range->owner->id()};
      info.exclusive = range->mode == LockMode::kExclusive;
      result.emplace(id, std::move(info));
    });
  }
  return result;
}

RangeLocks::Counters RangeLocks::GetStatus() {
  Section section(this);
  Counters counters;
  counters.escalation_count = escalations_;
  counters.lock_wait_count = waits_;
  counters.current_lock_memory = memory_;
  return counters;
}

// ---- Families

// A family may have been made by FindFamily() with the default comparator. As long as it has no
// ranges, its tree can be replaced by one in the right order.
void RangeLocks::AddFamily(uint32_t family, const Comparator* comparator) {
  Section section(this);
  const auto known = families_.find(family);
  if (known != families_.end() && known->second.tree.IsEmpty()) families_.erase(known);
  families_.try_emplace(family, comparator != nullptr ? comparator : BytewiseComparator());
}

void RangeLocks::DropFamily(uint32_t family) {
  Section section(this);
  FindFamily(family)->is_dropped = true;
}

RangeLocks::Family* RangeLocks::FindFamily(uint32_t family) {
  return &families_.try_emplace(family, BytewiseComparator()).first->second;
}

// ---- Acquiring and releasing

// The KeyLock only records that the owner has the key. The range in the tree is an object of its
// own, which may later be joined with others, or may not exist if a range of the owner covers the
// key.
Status RangeLocks::Acquire(LockOwner* owner, KeyLock* lock, LockMode mode) {
  assert(lock != nullptr);
  if (lock->mode_ >= mode) return Status::OK();
  const Endpoint key(lock->key_);
  // Allocated before the mutex is taken, as all ranges are.
  auto wanted = std::make_unique<RangeLock>(owner, key, key, mode, /*is_key=*/true);
  wanted->family = lock->family_;
  const Status status = Lock(std::move(wanted));
  if (!status.ok()) return status;
  lock->owner_ = owner;
  owner->Own(lock, mode);
  return status;
}

Status RangeLocks::AcquireRange(LockOwner* owner, uint32_t family, const Endpoint& start,
                                const Endpoint& end, LockMode mode) {
  auto wanted = std::make_unique<RangeLock>(owner, start, end, mode, /*is_key=*/false);
  wanted->family = family;
  return Lock(std::move(wanted));
}

// For a transaction that was found prepared in the logs. No conflict is looked for, because several
// recovered transactions may hold the same key.
void RangeLocks::AcquireRecovered(LockOwner* owner, KeyLock* lock) {
  assert(owner != nullptr);
  assert(lock != nullptr);
  const Endpoint key(lock->key_);
  auto range = std::make_unique<RangeLock>(owner, key, key, LockMode::kExclusive, true);
  range->family = lock->family_;
  {
    Section section(this);
    Insert(FindFamily(lock->family_), std::move(range));
  }
  lock->owner_ = owner;
  owner->Own(lock, LockMode::kExclusive);
}

void RangeLocks::Release(KeyLock* lock) {
  assert(lock != nullptr);
  assert(lock->mode_ != LockMode::kNone);
  {
    Section section(this);
    Family* const family = FindFamily(lock->family_);
    // An upgrade adds an exclusive range beside the shared one, so there may be two.
    for (const LockMode mode : {LockMode::kShared, LockMode::kExclusive}) {
      // Nothing is found if a range of the owner covers the key: then it stays locked.
      if (RangeLock* const range = FindKey(*family, *lock, mode)) Remove(family, range);
    }
    GrantWaiters(&section, family);
  }
  lock->owner_->Disown(lock);
}

void RangeLocks::Downgrade(KeyLock* lock) {
  assert(lock != nullptr);
  assert(lock->mode_ == LockMode::kExclusive);
  lock->mode_ = LockMode::kShared;
  Section section(this);
  Family* const family = FindFamily(lock->family_);
  RangeLock* const range = FindKey(*family, *lock, LockMode::kExclusive);
  if (range == nullptr) return;
  // If the transaction had a shared lock before it asked for the exclusive one, the shared range is
  // still in the table, so that the exclusive range is only removed. Otherwise the exclusive range
  // turns into a shared one.
  if (FindKey(*family, *lock, LockMode::kShared) != nullptr) {
    Remove(family, range);
  } else {
    range->mode = LockMode::kShared;
  }
  GrantWaiters(&section, family);
}

void RangeLocks::ReleaseAll(LockOwner* owner) {
  while (KeyLock* const lock = owner->first_held_) owner->Disown(lock);
  Section section(this);
  // Waiters are granted once for each family, after all its ranges are gone.
  std::vector<Family*> changed;
  while (RangeLock* const range = owner->first_range_) {
    Family* const family = FindFamily(range->family);
    Remove(family, range);
    if (std::find(changed.begin(), changed.end(), family) == changed.end()) {
      changed.push_back(family);
    }
  }
  for (Family* family : changed) GrantWaiters(&section, family);
}

// ---- The ranges of a family

// Whether one range of the owner contains the wanted one, in a mode that is not weaker.
bool RangeLocks::Covers(const Family& family, const RangeLock& wanted) {
  bool is_covered = false;
  family.tree.ForOverlapping(wanted.start, wanted.end, [&](const RangeLock* range) {
    is_covered = range->owner == wanted.owner && range->mode >= wanted.mode &&
                 family.tree.Compare(range->start, wanted.start) <= 0 &&
                 family.tree.Compare(range->end, wanted.end) >= 0;
    return !is_covered;
  });
  return is_covered;
}

// The tree has pointers, and the list of the owner too: from here on the range is owned by the
// table until Remove() deletes it.
void RangeLocks::Insert(Family* family, std::unique_ptr<RangeLock> range) {
  assert(family != nullptr);
  RangeLock* const added = range.release();
  family->tree.Insert(added);
  memory_ += added->MemoryBytes();
  ranges_++;
  RangeLock*& first = added->owner->first_range_;
  added->next_of_owner = first;
  if (first != nullptr) first->previous_of_owner = added;
  first = added;
}

// Takes the range out of the tree and out of the list of its owner, and deletes it. Does not wake
// waiters: the caller does so when it has removed all that it wants to remove.
void RangeLocks::Remove(Family* family, RangeLock* range) {
  assert(family != nullptr);
  assert(ranges_ > 0 && memory_ >= range->MemoryBytes());
  family->tree.Remove(range);
  memory_ -= range->MemoryBytes();
  ranges_--;
  (range->previous_of_owner != nullptr ? range->previous_of_owner->next_of_owner
                                       : range->owner->first_range_) = range->next_of_owner;
  if (range->next_of_owner != nullptr) {
    range->next_of_owner->previous_of_owner = range->previous_of_owner;
  }
  delete range;
}

// The range that a KeyLock has made.
RangeLock* RangeLocks::FindKey(const Family& family, const KeyLock& lock, LockMode mode) const {
  const RangeEnd key{Endpoint(lock.key_)};
  RangeLock* found = nullptr;
  family.tree.ForOverlapping(key, key, [&](RangeLock* range) {
    if (range->owner == lock.owner_ && range->is_key && range->mode == mode) found = range;
    return found == nullptr;
  });
  return found;
}

// ---- Memory

// Joins ranges of all families if the new range does not fit. False: it does not fit even then, and
// the request fails.
bool RangeLocks::MakeRoomFor(Section* section, const RangeLock& range) {
  if (memory_ + range.MemoryBytes() <= max_memory_) return true;
  escalations_++;
  const size_t before = memory_;
  for (auto& [number, family] : families_) Escalate(&family);
  if (memory_ != before) SearchAllDeadlocks(section);
  return memory_ + range.MemoryBytes() <= max_memory_;
}

// Joins each range with the next ones, as far as these are the same owner's in the same mode. A
// range of another owner between them would come between them in the order of the starts, and one
// that began earlier would overlap them, so it only shares.
void RangeLocks::Escalate(Family* family) {
  assert(family != nullptr);
  std::vector<RangeLock*> ranges;
  family->tree.ForEach([&](RangeLock* range) { ranges.push_back(range); });
  RangeLock* last = nullptr;
  for (RangeLock* range : ranges) {
    if (last == nullptr || !MayJoin(*last, *range)) {
      last = range;
      continue;
    }
    memory_ -= last->MemoryBytes();
    if (family->tree.Compare(range->end, last->end) > 0) family->tree.SetEnd(last, range->end);
    // The joined range is not the lock of a single key any more: Release() of a KeyLock must not
    // remove it, since it covers other keys too.
    last->is_key = false;
    last->is_joined = true;
    memory_ += last->MemoryBytes();
    Remove(family, range);
  }
}

bool RangeLocks::MayJoin(const RangeLock& range, const RangeLock& next) const {
  return range.owner == next.owner && range.mode == next.mode &&
         !(barrier_ && barrier_(ToEndpoint(range.end), ToEndpoint(next.start)));
}

// ---- Reports

LockWait RangeLocks::GetWait(LockOwner* owner) {
  {
    Section section(this);
    if (const RangeWaiter* const waiter = owner->range_waiter_) {
      LockWait wait;
      wait.family = waiter->wanted->family;
      wait.key = waiter->wanted->start.key;
      for (const LockOwner* blocker : BlockersOf(*FindFamily(wait.family), *waiter->wanted)) {
        wait.holders.push_back(blocker->id());
      }
      return wait;
    }
  }
  // The owner does not wait now: the last wait that timed out, if there was one.
  std::shared_ptr<const LockWait> kept;
  {
    SpinLockGuard guard(&owner->kept_wait_lock_);
    kept = owner->kept_wait_;
  }
  return kept != nullptr ? *kept : LockWait();
}

// Only ranges of a single key are shown, because this call of the interface cannot express others;
// GetRangeLockStatusData() shows all.
std::unordered_multimap<uint32_t, KeyLockInfo> RangeLocks::Describe() {
  std::unordered_multimap<uint32_t, KeyLockInfo> result;
  Section section(this);
  for (const auto& [number, family] : families_) {
    if (family.is_dropped) continue;
    const uint32_t id = number;
    const RangeTree& tree = family.tree;
    tree.ForEach([&result, &tree, id](const RangeLock* range) {
      if (tree.Compare(range->start, range->end) != 0) return;
      result.emplace(
          id,
          KeyLockInfo{range->start.key, {range->owner->id()}, range->mode == LockMode::kExclusive});
    });
  }
  return result;
}

KeyLocks::Totals RangeLocks::GetTotals() {
  Section section(this);
  Totals totals;
  totals.keys = ranges_;
  totals.table_bytes = memory_;
  for (const auto& [number, family] : families_) totals.waiters += family.waiters.size();
  return totals;
}

}  // namespace ashlar
