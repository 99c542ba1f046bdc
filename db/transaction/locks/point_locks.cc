// SPDX-License-Identifier: Apache-2.0
//
// The table: who holds what, and who is next. Waiting is in point_locks_wait.cc.
#include "db/transaction/locks/point_locks.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <thread>
#include <utility>

#include "util/hash/hash.h"
#include "util/text/str_cat.h"

namespace ashlar {

uint64_t KeyLock::Hash(uint32_t family, const Slice& key) { return HashBytes(key, family); }

std::unique_ptr<KeyLocks> NewPointLocks(const KeyLocksOptions& options) {
  return std::make_unique<PointLocks>(options);
}

namespace {

// At least four shards for each thread that can run, so that two threads seldom meet in one. A
// power of two, because the upper bits of the hash select the shard.
uint32_t ShardCount(size_t min_shards) {
  constexpr size_t kMaxShards = size_t{1} << 16;
  const size_t wanted = std::max<size_t>(min_shards, 4 * std::thread::hardware_concurrency());
  return static_cast<uint32_t>(std::bit_ceil(std::clamp<size_t>(wanted, 2, kMaxShards)));
}

}  // namespace

PointLocks::PointLocks(const KeyLocksOptions& options)
    : clock_(options.clock),
      mutex_factory_(options.mutex_factory),
      family_name_(options.family_name),
      shard_count_(ShardCount(options.min_shards)),
      shard_shift_(static_cast<uint32_t>(64 - std::countr_zero(shard_count_))),
      shards_(std::make_unique<LockShard[]>(shard_count_)),
      families_(options.max_locks_per_family),
      history_(options.max_deadlocks) {
  if (mutex_factory_ == nullptr) return;
  // One for each shard, and the last one for searches for deadlocks.
  for (uint32_t i = 0; i <= shard_count_; i++) {
    mutexes_.push_back(mutex_factory_->AllocateMutex());
  }
}

PointLocks::~PointLocks() = default;

// ---- Acquiring and releasing

// The fast way: one shard, its lock held once, nothing allocated. Everything else, and every lock
// with a custom mutex, is done by AcquireSlowly(), which tries again from the beginning.
Status PointLocks::Acquire(LockOwner* owner, KeyLock* lock, LockMode mode) {
  assert(lock != nullptr);
  if (lock->mode_ >= mode) return Status::OK();
  if (families_.IsDropped(lock->family_)) {
    return Status::InvalidArgument(
        StrCat("the column family with the number ", lock->family_, " was dropped"));
  }
  families_.Prepare(lock->family_);
  // Before the lock can be in the table: a thread that waits for it must know that it may expire.
  if (owner->expiration_deadline != kNoDeadline) may_expire_.store(true, std::memory_order_relaxed);
  if (mutexes_.empty()) [[likely]] {
    LockShard* const shard = &shards_[ShardOf(*lock)];
    shard->spin_lock.Lock();
    const Attempt attempt = Try(shard, owner, lock, mode);
    shard->spin_lock.Unlock();
    if (attempt == Attempt::kGranted) [[likely]] {
      owner->Own(lock, mode);
      return Status::OK();
    }
  }
  return AcquireSlowly(owner, lock, mode);
}

// Changes nothing unless it answers kGranted.
PointLocks::Attempt PointLocks::Try(LockShard* shard, LockOwner* owner, KeyLock* lock,
                                    LockMode mode) {
  assert(lock != nullptr);
  if (lock->mode_ != LockMode::kNone) {
    // The owner holds the key and wants it in a stronger mode. It gets that at once if it is the
    // only holder; waiters do not matter, as an upgrade goes ahead of them.
    if (lock->granted_ == LockMode::kNone) return Attempt::kStolen;
    if (lock->previous_holder_ != nullptr || lock->next_holder_ != nullptr) {
      return Attempt::kBlocked;
    }
    lock->granted_ = mode;
    return Attempt::kGranted;
  }
  KeyLock* const first = shard->FirstHolder(*lock);
  if (first == nullptr) {
    if (!shard->HasRoom()) return Attempt::kNoRoom;
    if (!families_.AddKey(lock->family_)) return Attempt::kTooMany;
    lock->owner_ = owner;
    lock->granted_ = mode;
    shard->Insert(lock);
    return Attempt::kGranted;
  }
  assert(first->owner_ != owner && "an owner has two KeyLocks for one key");
  // A newcomer goes behind those that wait, also if it could share the key with the holders.
  if (first->first_waiter_ != nullptr || Conflicts(mode, nullptr, *first)) return Attempt::kBlocked;
  lock->owner_ = owner;
  lock->granted_ = mode;
  LinkHolder(first, lock);
  return Attempt::kGranted;
}

// Recovered transactions can hold a key together, because locks may be turned off for a transaction
// (TransactionOptions::skip_concurrency_control) when it is prepared.
void PointLocks::AcquireRecovered(LockOwner* owner, KeyLock* lock) {
  assert(lock != nullptr);
  assert(owner != nullptr);
  assert(lock->mode_ == LockMode::kNone);
  const uint32_t number = ShardOf(*lock);
  families_.Prepare(lock->family_);
  if (const size_t wanted = Section(this, number)->WantedCapacity()) Resize(number, wanted);
  {
    Section section(this, number);
    KeyLock* const first = section->FirstHolder(*lock);
    lock->owner_ = owner;
    lock->granted_ = LockMode::kExclusive;
    if (first != nullptr) {
      assert(first->granted_ == LockMode::kExclusive && first->first_waiter_ == nullptr);
      LinkHolder(first, lock);
    } else {
      families_.AddRecoveredKey(lock->family_);
      section->Insert(lock);
    }
  }
  owner->Own(lock, LockMode::kExclusive);
}

Status PointLocks::AcquireRange(LockOwner*, uint32_t, const Endpoint&, const Endpoint&, LockMode) {
  return Status::NotSupported("locks on ranges need the lock manager of NewRangeLockManager()");
}

void PointLocks::Release(KeyLock* lock) {
  assert(lock != nullptr);
  assert(lock->mode_ != LockMode::kNone);
  const uint32_t number = ShardOf(*lock);
  size_t wanted = 0;
  {
    Section section(this, number);
    // Nothing is left to give back in the table if the lock was stolen.
    if (lock->granted_ != LockMode::kNone) Leave(&section, lock);
    wanted = section->keys() == 0 ? section->WantedCapacity() : 0;
  }
  // The owner's list is changed without the lock of the shard: only the owner's thread uses it.
  lock->owner_->Disown(lock);
  if (wanted != 0) [[unlikely]]
    Resize(number, wanted);
}

void PointLocks::ReleaseAll(LockOwner* owner) {
  while (KeyLock* const lock = owner->first_held_) {
    // The shard of the next lock may be in the cache of another core. Fetching it begins while this
    // lock is released.
    if (lock->next_held_ != nullptr)
      __builtin_prefetch(&shards_[ShardOf(*lock->next_held_)], /*rw=*/1);
    Release(lock);
  }
}

void PointLocks::Downgrade(KeyLock* lock) {
  assert(lock != nullptr);
  assert(lock->mode_ == LockMode::kExclusive);
  lock->mode_ = LockMode::kShared;
  Section section(this, ShardOf(*lock));
  if (lock->granted_ == LockMode::kNone) return;  // stolen
  assert(lock->previous_holder_ == nullptr && lock->next_holder_ == nullptr);
  lock->granted_ = LockMode::kShared;
  GrantQueue(&section, lock);
}

// ---- Holders and the queue of a key

void PointLocks::LinkHolder(KeyLock* first, KeyLock* lock) {
  assert(lock != nullptr);
  assert(first != lock && first->granted_ != LockMode::kNone);
  lock->previous_holder_ = first;
  lock->next_holder_ = first->next_holder_;
  if (lock->next_holder_ != nullptr) lock->next_holder_->previous_holder_ = lock;
  first->next_holder_ = lock;
}

// Removes a holder and returns the first of those that remain; null: the key is not locked any
// more. If the last holder goes and somebody waits, the first waiter becomes the holder here,
// because the slot must refer to one.
KeyLock* PointLocks::TakeOut(Section* section, KeyLock* lock) {
  assert(section != nullptr);
  assert(lock != nullptr);
  LockShard& shard = *section->get();
  lock->granted_ = LockMode::kNone;
  KeyLock* heir = std::exchange(lock->next_holder_, nullptr);
  if (heir != nullptr) heir->previous_holder_ = lock->previous_holder_;
  // The first holder stays, and the slot with it.
  if (KeyLock* const previous = std::exchange(lock->previous_holder_, nullptr)) {
    previous->next_holder_ = heir;
    return shard.FirstHolder(*lock);
  }
  // From here on the first holder leaves. The queue hangs on the first holder, so it moves to the
  // heir before the slot is changed.
  LockWaiter* const next = heir == nullptr ? lock->first_waiter_ : nullptr;
  if (next != nullptr) {
    Dequeue(&shard, next, lock);
    heir = next->lock;
    heir->granted_ = next->mode;
  }
  if (heir == nullptr) {
    families_.RemoveKey(lock->family_);
  } else {
    heir->first_waiter_ = std::exchange(lock->first_waiter_, nullptr);
    heir->last_waiter_ = std::exchange(lock->last_waiter_, nullptr);
  }
  shard.Replace(lock, heir);
  // Last of all: once the waiter is told, its thread may return and its objects may be gone.
  if (next != nullptr) section->Tell(next, LockWaiter::kGranted);
  return heir;
}

// The place of one holder is free: takes it out of the table and grants the key to those who can
// have it now.
void PointLocks::Leave(Section* section, KeyLock* lock) {
  if (KeyLock* const first = TakeOut(section, lock)) GrantQueue(section, first);
}

// Grants the key to all waiters at the head of the queue that can have it. Called after each change
// of the holders or of the head of the queue.
void PointLocks::GrantQueue(Section* section, KeyLock* first) {
  while (first != nullptr) {
    LockWaiter* const waiter = first->first_waiter_;
    if (waiter == nullptr) return;
    KeyLock* const lock = waiter->lock;
    if (Conflicts(*waiter, *first)) {
      if (!StealAll(section, &first, waiter->is_upgrade ? lock : nullptr)) return;
      continue;
    }
    Dequeue(section->get(), waiter, first);
    lock->granted_ = waiter->mode;
    if (lock != first) LinkHolder(first, lock);
    section->Tell(waiter, LockWaiter::kGranted);
  }
}

// Takes the locks of all holders but `own`, if the deadlines of all have passed and all agree.
bool PointLocks::StealAll(Section* section, KeyLock** first, const KeyLock* own) {
  if (!may_expire_.load(std::memory_order_relaxed)) [[likely]]
    return false;
  uint64_t now = 0;
  for (const KeyLock* holder = *first; holder != nullptr; holder = holder->next_holder_) {
    if (holder == own) continue;
    const uint64_t deadline = holder->owner_->expiration_deadline;
    if (deadline == kNoDeadline) return false;
    if (now == 0) now = clock_->NowMicros();
    if (deadline > now) return false;
  }
  bool has_all = true;
  for (KeyLock *holder = *first, *next; holder != nullptr; holder = next) {
    next = holder->next_holder_;
    if (holder == own) continue;
    if (holder->owner_->StealLocks()) {
      *first = TakeOut(section, holder);
    } else {
      has_all = false;
    }
  }
  return has_all;
}

// Gives the shard an array of another size, if it still wants it.
// The array is allocated before the lock is taken, and the old one freed after it is released.
// Another thread may have resized the shard meanwhile, so its wish is asked for again.
void PointLocks::Resize(uint32_t shard, size_t capacity) {
  std::unique_ptr<LockSlot[]> slots(new LockSlot[capacity]());
  Section section(this, shard);
  if (section->WantedCapacity() == capacity) slots = section->MoveTo(std::move(slots), capacity);
}

// Everything that is needed of the waiter is read before its outcome is set. Afterwards only the
// address of the outcome is used, to wake the thread.
void PointLocks::Section::Tell(LockWaiter* waiter, LockWaiter::Outcome outcome) {
  std::shared_ptr<TransactionDBCondVar> condition;
  if (!locks_->mutexes_.empty()) condition = waiter->owner->condition_;
  const std::atomic<uint32_t>* const word = &waiter->outcome;
  waiter->outcome.store(outcome, std::memory_order_release);  // the waiter may be gone now
  // The calling thread is awake.
  if (waiter == self_) return;
  if (condition != nullptr) {
    condition->NotifyAll();
  } else if (wake_count_ < kMaxWakes) {
    wakes_[wake_count_++] = word;
  } else {
    locks_->clock_->Wake(word);
  }
}

// ---- Reports

// Locks one shard after the other, so the result is not a picture of one moment. Keys of dropped
// families are left out.
[[gnu::cold]] std::unordered_multimap<uint32_t, KeyLockInfo> PointLocks::Describe() {
  std::unordered_multimap<uint32_t, KeyLockInfo> result;
  for (uint32_t i = 0; i < shard_count_; i++) {
    Section section(this, i);
    section->ForEach([&](const KeyLock* first) {
      if (families_.IsDropped(first->family_)) return;
      KeyLockInfo info;
      info.key = first->key_.ToString();
      info.exclusive = first->granted_ == LockMode::kExclusive;
      for (const KeyLock* holder = first; holder != nullptr; holder = holder->next_holder_) {
        info.ids.push_back(holder->owner_->id_);
      }
      result.emplace(first->family_, std::move(info));
    });
  }
  return result;
}

// Locks one shard after the other: the totals are exact only if no thread takes or releases locks
// meanwhile.
KeyLocks::Totals PointLocks::GetTotals() {
  Totals totals;
  totals.table_bytes = shard_count_ * sizeof(LockShard);
  for (uint32_t i = 0; i < shard_count_; i++) {
    Section section(this, i);
    totals.keys += section->keys();
    totals.table_bytes += section->array_bytes();
    for (const LockWaiter* waiter = section->first_waiter; waiter != nullptr;
         waiter = waiter->next_in_shard) {
      totals.waiters++;
    }
  }
  return totals;
}

// The owner may move on to another wait between the load and the lock of the shard, so the load is
// repeated under the lock. While the lock is held, the owner's wait cannot end.
LockWait PointLocks::GetWait(LockOwner* owner) {
  while (const uint32_t part = owner->waits_in_.load(std::memory_order_seq_cst)) {
    Section section(this, part - 1);
    if (owner->waits_in_.load(std::memory_order_seq_cst) != part) continue;
    return DescribeWait(*owner->waiter_, *section->FirstHolder(*owner->waiter_->lock));
  }
  std::shared_ptr<const LockWait> kept;
  {
    SpinLockGuard guard(&owner->kept_wait_lock_);
    kept = owner->kept_wait_;
  }
  return kept != nullptr ? *kept : LockWait();
}

}  // namespace ashlar
