// SPDX-License-Identifier: Apache-2.0
//
// PointLocks: deadlocks. point_locks.h describes the method.
#include <algorithm>
#include <cassert>
#include <deque>
#include <memory>
#include <utility>

#include "db/transaction/locks/point_locks.h"

namespace ashlar {

// What FindCycle() sees of the table: one shard at a time.
class PointLocks::Graph final : public WaitGraph {
 public:
  explicit Graph(PointLocks* locks) : locks_(locks) {}

  bool GetBlockers(const WaitNode& waiting, bool* detects,
                   std::vector<WaitNode>* blockers) override {
    Section section(locks_, waiting.part);
    const LockWaiter* const waiter = FindWaiter(*section.get(), waiting.id);
    if (waiter == nullptr) return false;
    *detects = waiter->detects;
    AppendBlockers(*waiter, *section->FirstHolder(*waiter->lock), waiting.part, blockers);
    return true;
  }

 private:
  PointLocks* const locks_;
};

// The list of a shard is short: it has the waiters of this shard only. Null: the owner does not
// wait there any more.
LockWaiter* PointLocks::FindWaiter(const LockShard& shard, TransactionID id) {
  LockWaiter* waiter = shard.first_waiter;
  while (waiter != nullptr && waiter->owner->id_ != id) waiter = waiter->next_in_shard;
  return waiter;
}

// If the nearest exclusive waiter ahead is what blocks this one, it is the only edge; else all
// holders that wait themselves are. A holder that does not wait cannot be part of a cycle.
void PointLocks::AppendBlockers(const LockWaiter& waiter, const KeyLock& first, uint32_t shard,
                                std::vector<WaitNode>* blockers) {
  assert(blockers != nullptr);
  if (const LockWaiter* const ahead = BlockingWaiter(waiter, first)) {
    blockers->push_back({ahead->owner->id_, shard});
    return;
  }
  for (const KeyLock* holder = &first; holder != nullptr; holder = holder->next_holder_) {
    const LockOwner& owner = *holder->owner_;
    // The owner may wait in another shard, whose lock is not held here. The number may be out of
    // date at once; Confirm() looks again with the locks of all shards held.
    const uint32_t part = owner.waits_in_.load(std::memory_order_seq_cst);
    if (holder != waiter.lock && part != 0) blockers->push_back({owner.id_, part - 1});
  }
}

// Called by the thread of a waiter, without locks. Afterwards the waiter may have the outcome
// kDeadlock, or another member of a cycle with it.
void PointLocks::SearchDeadlock(LockWaiter* waiter, uint32_t shard) {
  if (mutexes_.empty()) {
    MutexLock lock(&search_mutex_);
    RunSearches(waiter, shard);
  } else {
    TransactionDBMutex& mutex = *mutexes_.back();
    if (!mutex.Lock().ok()) return;
    RunSearches(waiter, shard);
    mutex.UnLock();
  }
}

// Called by the thread of the victim, without locks. By the thread that has found the deadlock it
// could come after the victim's call has returned.
void PointLocks::RecordDeadlock(LockWaiter* victim) {
  assert(victim != nullptr && victim->deadlock != nullptr);
  victim->deadlock->deadlock_time = clock_->UnixSeconds();
  history_.Add(std::move(*victim->deadlock));
}

// Searches until no cycle is left: one that vanishes before it is confirmed may hide another, and a
// waiter that is not the victim may have closed several.
void PointLocks::RunSearches(LockWaiter* waiter, uint32_t shard) {
  assert(waiter != nullptr);
  Graph graph(this);
  const WaitNode start{waiter->owner->id_, shard};
  while (waiter->IsWaiting()) {
    const WaitCycle cycle = FindCycle(&graph, start, waiter->owner->deadlock_detect_depth);
    if (cycle.kind == WaitCycle::Kind::kNone) return;
    if (cycle.kind == WaitCycle::Kind::kFound) {
      Confirm(cycle, waiter);
      continue;
    }
    // The search was too long to be answered. A waiter that does not detect deadlocks searches for
    // the sake of others, and must not fail by it.
    if (!waiter->detects) return;
    auto path = std::make_unique<DeadlockPath>(/*dl_time=*/0, /*limit=*/true);
    Section section(this, shard, waiter);
    if (!waiter->IsWaiting()) return;
    GiveUp(&section, waiter);
    waiter->deadlock = std::move(path);
    section.Tell(waiter, LockWaiter::kDeadlock);
  }
}

// Checks with all shards of the cycle locked that it exists, and makes a member the victim: the
// first one if it detects deadlocks, else the next one that does.
void PointLocks::Confirm(const WaitCycle& cycle, const LockWaiter* self) {
  const size_t count = cycle.path.size();
  assert(count > 0);
  std::vector<uint32_t> shards;
  for (const WaitNode& node : cycle.path) shards.push_back(node.part);
  // Two members may wait in one shard, which must be locked once only.
  std::sort(shards.begin(), shards.end());
  shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
  std::deque<Section> sections;
  for (const uint32_t shard : shards) sections.emplace_back(this, shard, self);

  std::vector<LockWaiter*> waiters;
  std::vector<WaitNode> blockers;
  size_t victim = count;
  for (size_t i = 0; i < count; i++) {
    const WaitNode& node = cycle.path[i];
    LockWaiter* const waiter = FindWaiter(shards_[node.part], node.id);
    if (waiter == nullptr) return;
    waiters.push_back(waiter);
    if (waiter->detects && victim == count) victim = i;
    blockers.clear();
    AppendBlockers(*waiter, *shards_[node.part].FirstHolder(*waiter->lock), node.part, &blockers);
    const TransactionID next = cycle.path[(i + 1) % count].id;
    const auto is_next = [next](const WaitNode& blocker) { return blocker.id == next; };
    if (std::none_of(blockers.begin(), blockers.end(), is_next)) return;
  }
  if (victim == count) return;

  auto path = std::make_unique<DeadlockPath>();
  for (size_t i = 1; i <= count; i++) {
    const LockWaiter& waiter = *waiters[(victim + i) % count];
    path->path.push_back({waiter.owner->id_, waiter.lock->family_,
                          waiter.mode == LockMode::kExclusive, waiter.lock->key_.ToString()});
  }
  // The victim is told through the section of its own shard, which wakes it after the lock is
  // released.
  const auto place = std::lower_bound(shards.begin(), shards.end(), cycle.path[victim].part);
  Section& section = sections[static_cast<size_t>(place - shards.begin())];
  GiveUp(&section, waiters[victim]);
  waiters[victim]->blocker = cycle.path[(victim + 1) % count].id;
  waiters[victim]->deadlock = std::move(path);
  section.Tell(waiters[victim], LockWaiter::kDeadlock);
}

}  // namespace ashlar
