// SPDX-License-Identifier: Apache-2.0
//
// Epochs. This is the proof that nothing is freed while a reader uses it.
//
// A retired object p was unlinked before (call this U). A reclaimer works alone (R.is_busy) and
// does:
//   1. take the retired objects; 2. raise the global epoch to g with release order, and mark the
//   batch with g; 3. a heavy barrier; 4. read the announcement of every slot; 5. free the batches
//   whose mark is not above the smallest announcement that is not 0.
// Retiring pushes with release order and taking acquires, so that U happens before 2.
//
// A reader does: a. load the global epoch with acquire order; b. announce it with release order; c.
// a light barrier; d. load pointers and use what they lead to; e. announce 0 with release order.
// Let a reader use p, which it found in d. Then its a did not return g or more: if a had read g,
// step 2 and with it U would happen before d, and d would not have found p. Therefore it announces
// less than g. The heavy barrier (membarrier) makes every running thread of the process pass a full
// barrier between steps 2 and 4 of the reclaimer. In the reader there are two cases. If that point
// is before b is complete, then d comes after it, sees U, and does not find p, which contradicts
// the assumption. If it is after b, then step 4 sees the announcement or a later value of the
// reader's slot. If it sees the announcement, which is below g, the batch is kept. If it sees a
// later value, that value was written with release order after d, and step 4 acquires, so that the
// use in d happens before the free.
//
// If the kernel has no membarrier, both barriers are sequentially consistent fences, and the two
// cases follow from their total order. Under the thread sanitizer, which does not support fences,
// the announcement is an exchange, which is a full barrier on every machine that it runs on.
//
// The slot of a thread returns to the registry by the destructor of a pthread key. It runs after
// those of C++ thread_local objects, and once more if a later destructor opens a guard again.
//
// A forked child has the slots of all threads but only one of the threads. It releases the slots of
// the others (RepairAfterFork). Objects that another thread was about to free at that moment are
// leaked in the child.
#include "util/threads/epoch.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#endif

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>

namespace ashlar {

namespace epoch_internal {

alignas(64) constinit std::atomic<uint64_t> global_epoch{1};
constinit thread_local Slot* this_slot __attribute__((tls_model("initial-exec"))) = nullptr;

}  // namespace epoch_internal

namespace {

using epoch_internal::global_epoch;
using epoch_internal::Slot;
using epoch_internal::this_slot;

// A thread tries to reclaim after it has retired this much. That is often enough that little memory
// waits, and seldom enough that the cost of membarrier (microseconds, and an interrupt on busy
// processors) does not matter.
constexpr uint32_t kRetiredCountToReclaim = 64;
constexpr size_t kRetiredBytesToReclaim = size_t{1} << 20;

// Retired objects are pushed to one of several lists, chosen by the slot, so that threads do not
// compete.
constexpr size_t kListCount = 8;
struct alignas(64) RetiredList {
  std::atomic<EpochRetired*> head{nullptr};
};

struct Batch {
  uint64_t mark;
  EpochRetired* objects;
};

// A ring of fixed size, because retiring must not need memory (see EpochRetired).
class BatchQueue {
 public:
  bool IsEmpty() const { return begin_ == end_; }
  bool HasRoom(size_t count) const { return end_ - begin_ + count <= kCapacity; }
  const Batch& Front() const {
    assert(!IsEmpty());
    return batches_[begin_ % kCapacity];
  }
  void Push(const Batch& batch) {
    assert(HasRoom(1));
    batches_[end_++ % kCapacity] = batch;
  }
  Batch Pop() {
    assert(!IsEmpty());
    return batches_[begin_++ % kCapacity];
  }
  void Clear() { begin_ = end_ = 0; }

 private:
  // A power of two; guards are short, so that few batches wait.
  static constexpr size_t kCapacity = 512;
  size_t begin_ = 0, end_ = 0;
  Batch batches_[kCapacity] = {};
};

// What the deleters of retired objects may do: objects that are only memory may be freed where the
// others may not.
enum class Frees : uint8_t { kMemory, kAnything };

// The retired objects of one kind.
struct Retirees {
  RetiredList lists[kListCount];
  std::atomic<size_t> pending_count{0};
  BatchQueue batches;  // in ascending order of mark; belongs to the thread that has set is_busy
};

// The only domain. Created at first use and never destroyed, because guards may be open while the
// process ends.
struct Domain {
  Domain();

  Retirees memory, others;
  // Slots are only added, so that the list can be read without a lock.
  std::atomic<Slot*> slots{nullptr};
  std::atomic<size_t> slot_count{0};
  pthread_key_t slot_key;
  bool has_membarrier = false;

  // Set by the one thread that reclaims, until it has run the deleters. That thread owns the
  // batches.
  alignas(64) std::atomic<bool> is_busy{false};
};

Domain& TheDomain() {
  static Domain& domain = *new Domain;
  return domain;
}

#if defined(__linux__)
bool Membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }
bool RegisterMembarrier() { return Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED); }
bool RunMembarrier() { return Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED); }
#else
bool RegisterMembarrier() { return false; }
bool RunMembarrier() { return false; }
#endif

// Releases the slot of a thread that is ending.
void LeaveSlot(void* p) {
  Slot* const slot = static_cast<Slot*>(p);
  assert(slot->depth == 0);
  this_slot = nullptr;
  slot->is_taken.store(false, std::memory_order_release);
}

void RepairAfterFork();

Domain::Domain() {
  if (pthread_key_create(&slot_key, &LeaveSlot) != 0) {
    std::fputs("ashlar: no pthread key is left for epochs\n", stderr);
    std::abort();
  }
  has_membarrier = RegisterMembarrier();
  // This fails only for lack of memory. In that case children of this process must not use
  // databases.
  (void)pthread_atfork(nullptr, nullptr, &RepairAfterFork);
}

// Called in the child, whose only thread is the one that called fork(). The slots of the other
// threads become free, whatever they announce. If one of these threads was reclaiming, the batches
// may be inconsistent, so that they are dropped.
void RepairAfterFork() {
  Domain& domain = TheDomain();
  Slot* const own = this_slot;
  for (Slot* s = domain.slots.load(std::memory_order_acquire); s != nullptr; s = s->next) {
    if (s == own) continue;
    s->announced.store(0, std::memory_order_release);
    s->depth = 0;
    s->is_reclaiming = s->is_due = false;
    s->retired_count = 0;
    s->retired_bytes = 0;
    s->is_taken.store(false, std::memory_order_release);
  }
  const bool is_own = own != nullptr && own->is_reclaiming;
  if (domain.is_busy.load(std::memory_order_relaxed) && !is_own) {
    domain.memory.batches.Clear();
    domain.others.batches.Clear();
    domain.is_busy.store(false, std::memory_order_release);
  }
  if (domain.has_membarrier) (void)RegisterMembarrier();  // a kernel may not inherit it
}

Slot* FindFreeSlot(const Domain& domain) {
  for (Slot* s = domain.slots.load(std::memory_order_acquire); s != nullptr; s = s->next) {
    bool expected = false;
    if (!s->is_taken.load(std::memory_order_relaxed) &&
        s->is_taken.compare_exchange_strong(expected, true, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
      return s;
    }
  }
  return nullptr;
}

Slot* AddSlot(Domain& domain) {
  Slot* const slot = new Slot;
  slot->index = domain.slot_count.fetch_add(1, std::memory_order_relaxed);
  slot->needs_fence = !domain.has_membarrier;
  slot->is_taken.store(true, std::memory_order_relaxed);
  slot->next = domain.slots.load(std::memory_order_relaxed);
  while (!domain.slots.compare_exchange_weak(slot->next, slot, std::memory_order_seq_cst,
                                             std::memory_order_relaxed)) {
  }
  return slot;
}

// Afterwards this thread sees the announcements of all guards, except those that make all their
// loads after the barrier.
void HeavyBarrier(const Domain& domain) {
#if !ASHLAR_TSAN
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  if (!domain.has_membarrier) return;
  // The registration is inherited by fork(), but a kernel may lose it. Then register again.
  if (RunMembarrier() || (RegisterMembarrier() && RunMembarrier())) return;
  std::fputs("ashlar: membarrier has ceased to work\n", stderr);
  std::abort();
}

uint64_t SmallestAnnouncement(const Domain& domain) {
  uint64_t smallest = std::numeric_limits<uint64_t>::max();
  for (Slot* s = domain.slots.load(std::memory_order_seq_cst); s != nullptr; s = s->next) {
    const uint64_t announced = s->announced.load(std::memory_order_seq_cst);
    if (announced != 0) smallest = std::min(smallest, announced);
  }
  return smallest;
}

void Push(RetiredList* list, EpochRetired* object) {
  assert(list != nullptr);
  assert(object != nullptr);
  object->next_retired = list->head.load(std::memory_order_relaxed);
  while (!list->head.compare_exchange_weak(object->next_retired, object, std::memory_order_release,
                                           std::memory_order_relaxed)) {
  }
}

// Steps 1 and 2: puts the retired objects into batches with a new mark. Returns false if too many
// batches are waiting for readers.
bool MakeBatches(Retirees& retirees) {
  EpochRetired* taken[kListCount];
  bool any = false;
  // An object is counted before it is in a list.
  if (retirees.pending_count.load(std::memory_order_relaxed) == 0) return true;
  // Newly retired objects stay in their lists.
  if (!retirees.batches.HasRoom(kListCount)) return false;
  for (size_t i = 0; i < kListCount; ++i) {
    taken[i] = retirees.lists[i].head.exchange(nullptr, std::memory_order_acquire);
    any |= taken[i] != nullptr;
  }
  if (!any) return true;
  const uint64_t mark = global_epoch.fetch_add(1, std::memory_order_seq_cst) + 1;
  for (EpochRetired* objects : taken) {
    if (objects != nullptr) retirees.batches.Push({mark, objects});
  }
  return true;
}

size_t FreeObjects(EpochRetired* object) {
  size_t count = 0;
  for (EpochRetired* next; object != nullptr; object = next, ++count) {
    next = object->next_retired;
    object->free_retired(object);
  }
  return count;
}

void FreeUpTo(uint64_t smallest, Retirees& retirees) {
  BatchQueue& batches = retirees.batches;
  while (!batches.IsEmpty() && batches.Front().mark <= smallest) {
    EpochRetired* const objects = batches.Pop().objects;
    // Relaxed, because the count is only for information; EpochDrain is ordered by is_busy.
    retirees.pending_count.fetch_sub(FreeObjects(objects), std::memory_order_relaxed);
  }
}

// Requires is_busy to be set, and no guard. Returns whether everything of the kind that was retired
// before the call is in batches. kAnything includes memory.
bool ReclaimAlone(Domain& domain, Frees frees) {
  assert(!InEpoch());
  const bool frees_all = frees == Frees::kAnything;
  bool has_taken_all = MakeBatches(domain.memory);
  if (frees_all && !MakeBatches(domain.others)) has_taken_all = false;
  const bool has_others = frees_all && !domain.others.batches.IsEmpty();
  if (domain.memory.batches.IsEmpty() && !has_others) return has_taken_all;
  HeavyBarrier(domain);
  const uint64_t smallest = SmallestAnnouncement(domain);
  FreeUpTo(smallest, domain.memory);
  if (has_others) FreeUpTo(smallest, domain.others);
  return has_taken_all;
}

bool TryReclaim(Frees frees) {
  Domain& domain = TheDomain();
  Slot* const slot = epoch_internal::ThisSlot();
  if (slot->depth != 0) return false;  // the next thread that retires without a guard does it
  slot->retired_count = 0;
  slot->retired_bytes = 0;
  slot->is_due =
      frees == Frees::kMemory && domain.others.pending_count.load(std::memory_order_relaxed) != 0;
  if (slot->is_reclaiming || domain.is_busy.load(std::memory_order_relaxed) ||
      domain.is_busy.exchange(true, std::memory_order_acquire)) {
    return false;
  }
  slot->is_reclaiming = true;
  const bool has_taken_all = ReclaimAlone(domain, frees);
  slot->is_reclaiming = false;
  domain.is_busy.store(false, std::memory_order_release);
  return has_taken_all;
}

// The object is linked through its own members, so that retiring needs no memory and cannot fail.
// Now and then the thread that retires also frees what no reader can see any more.
void Retire(EpochRetired* object, size_t bytes, Frees frees) {
  Domain& domain = TheDomain();
  Retirees& retirees = frees == Frees::kMemory ? domain.memory : domain.others;
  Slot* const slot = epoch_internal::ThisSlot();
  retirees.pending_count.fetch_add(1, std::memory_order_relaxed);
  Push(&retirees.lists[slot->index % kListCount], object);
  slot->retired_bytes += bytes;
  const bool is_due = frees == Frees::kAnything && slot->is_due;
  if (++slot->retired_count >= kRetiredCountToReclaim ||
      slot->retired_bytes >= kRetiredBytesToReclaim || is_due) {
    TryReclaim(frees);
  }
}

}  // namespace

namespace epoch_internal {

Slot* TakeSlot() {
  Domain& domain = TheDomain();
  Slot* slot = FindFreeSlot(domain);
  if (slot == nullptr) slot = AddSlot(domain);
  pthread_setspecific(domain.slot_key, slot);
  this_slot = slot;
  return slot;
}

}  // namespace epoch_internal

void EpochRetire(EpochRetired* object, void (*free)(EpochRetired*), size_t bytes) {
  assert(object != nullptr);
  object->free_retired = free;
  Retire(object, bytes, Frees::kAnything);
}

void EpochRetireMemory(EpochRetired* object, void (*free)(EpochRetired*), size_t bytes) {
  assert(object != nullptr);
  object->free_retired = free;
  Retire(object, bytes, Frees::kMemory);
}

void EpochReclaim() { TryReclaim(Frees::kAnything); }

namespace {

// Waits for other threads: first by yielding, then by sleeping.
class Patience {
 public:
  void Wait() {
    sched_yield();
    if (rounds_++ < kYields) return;
    const timespec pause{.tv_sec = 0, .tv_nsec = nanos_};
    nanosleep(&pause, nullptr);
    nanos_ = std::min(2 * nanos_, kMaxNanos);
  }

 private:
  static constexpr int kYields = 32;
  static constexpr long kMaxNanos = 1'000'000;
  int rounds_ = 0;
  long nanos_ = 20'000;
};

bool IsFreedUpTo(uint64_t mark, const Retirees& retirees) {
  return retirees.batches.IsEmpty() || retirees.batches.Front().mark > mark;
}

// Reclaims in this thread up to `rounds` times. The first attempt that finds room for batches marks
// everything that was retired before the call. When the batches up to that mark are gone, it is all
// freed, because a thread that frees sets is_busy until the deleters have run.
bool ReclaimInRounds(uint64_t rounds) {
  Domain& domain = TheDomain();
  Slot* const slot = epoch_internal::ThisSlot();
  assert(slot->depth == 0);
  if (slot->is_reclaiming || slot->depth != 0) return false;
  slot->retired_count = 0;
  slot->retired_bytes = 0;
  slot->is_due = false;
  Patience patience;
  std::optional<uint64_t> mark;
  while (rounds-- > 0) {
    // is_busy protects the batches, also for reading
    while (domain.is_busy.exchange(true, std::memory_order_acquire)) patience.Wait();
    slot->is_reclaiming = true;
    const bool has_taken_all = ReclaimAlone(domain, Frees::kAnything);
    slot->is_reclaiming = false;
    if (has_taken_all && !mark.has_value()) mark = global_epoch.load(std::memory_order_acquire);
    const bool done =
        mark.has_value() && IsFreedUpTo(*mark, domain.memory) && IsFreedUpTo(*mark, domain.others);
    domain.is_busy.store(false, std::memory_order_release);
    if (done) return true;
    patience.Wait();
  }
  return false;
}

}  // namespace

bool EpochReclaimAll() { return !InEpoch() && ReclaimInRounds(/*rounds=*/16); }

void EpochDrain() { ReclaimInRounds(std::numeric_limits<uint64_t>::max()); }

size_t EpochPendingCount() {
  const Domain& domain = TheDomain();
  return domain.memory.pending_count.load(std::memory_order_relaxed) +
         domain.others.pending_count.load(std::memory_order_relaxed);
}

}  // namespace ashlar
