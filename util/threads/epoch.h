// SPDX-License-Identifier: Apache-2.0
//
// Epochs: how readers use shared objects without locks or reference counts, and when what writers
// have unlinked may be freed.
//
//   EpochGuard guard;                                   // reader: from here on nothing that can
//   Node* node = head.load(std::memory_order_acquire);  // still be reached is freed
//
//   head.store(next, std::memory_order_release);        // writer: unlink first,
//   EpochRetireDelete(node);                            // then retire
//
// A retired object is freed once every guard that was open when it was retired has closed. There is
// one domain in the process. Guards nest; opening one costs a store to a line of the thread's own
// and never waits.
//
// A guard covers memory only: no file I/O, no sleep, no callback of a user inside. One slow reader
// would keep everything that is retired meanwhile, by any database. Who needs a file takes a
// counted reference on what it stands on, leaves the epoch, and reads then. Builds with assertions
// stop at file I/O inside a guard (env/io_rule.h).
//
// Deleters run in some thread that retires or reclaims, never inside a guard; they may retire more.
// So retire only where no lock is held that a deleter might need. Threads: everything here is
// thread safe. After fork() only the thread that called it is left in the child: the guards of the
// others count as closed there.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_THREAD__)
#define ASHLAR_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ASHLAR_TSAN 1
#endif
#endif
#ifndef ASHLAR_TSAN
#define ASHLAR_TSAN 0
#endif

namespace ashlar {

namespace epoch_internal {

// One thread's place in the registry. Never freed: threads that end leave it to later ones.
struct alignas(64) Slot {
  // The epoch in which the outermost guard was opened, or 0. Written by the owner, read by
  // reclaimers. Every store is a release, so that whoever reads it has all that was done before.
  std::atomic<uint64_t> announced{0};

  // Of the owning thread only.
  uint32_t depth = 0;
  bool needs_fence = false;    // the kernel has no membarrier
  bool is_reclaiming = false;  // runs deleters
  uint32_t retired_count = 0;  // since the last attempt to reclaim
  size_t retired_bytes = 0;
  size_t index = 0;

  std::atomic<bool> is_taken{false};
  Slot* next = nullptr;  // fixed once the slot is in the registry
};

alignas(64) extern std::atomic<uint64_t> global_epoch;
// Initial-exec: one instruction from any code of the library, also when it is a shared one.
extern constinit thread_local Slot* this_slot __attribute__((tls_model("initial-exec")));
Slot* TakeSlot();

inline Slot* ThisSlot() {
  Slot* const slot = this_slot;
  return slot != nullptr ? slot : TakeSlot();
}

inline void Enter(Slot* slot) {
  if (slot->depth++ != 0) return;
  const uint64_t now = global_epoch.load(std::memory_order_acquire);
#if ASHLAR_TSAN
  slot->announced.exchange(now, std::memory_order_seq_cst);
#else
  slot->announced.store(now, std::memory_order_release);
  // The announcement must precede every load inside the guard. Reclaimers enforce that from their
  // side by membarrier; here only the compiler must not reorder.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (slot->needs_fence) [[unlikely]]
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

inline void Leave(Slot* slot) {
  assert(slot->depth > 0);
  if (--slot->depth == 0) slot->announced.store(0, std::memory_order_release);
}

}  // namespace epoch_internal

// Keeps alive, while it exists, whatever its thread can reach through shared pointers. Stays in the
// thread that made it.
class EpochGuard {
 public:
  EpochGuard() : slot_(epoch_internal::ThisSlot()) { epoch_internal::Enter(slot_); }
  ~EpochGuard() {
    if (slot_ != nullptr) epoch_internal::Leave(slot_);
  }
  EpochGuard(const EpochGuard&) = delete;
  EpochGuard& operator=(const EpochGuard&) = delete;

  // Ends the guard before its scope does. Once.
  void Leave() {
    assert(slot_ != nullptr);
    epoch_internal::Leave(slot_);
    slot_ = nullptr;
  }

 private:
  epoch_internal::Slot* slot_;  // null: left already
};

// Whether this thread is inside a guard.
inline bool InEpoch() {
  const epoch_internal::Slot* slot = epoch_internal::this_slot;
  return slot != nullptr && slot->depth != 0;
}

// Base of what is retired: the chain goes through the objects, because retiring must not fail for
// want of memory; what is retired was unlinked already.
struct EpochRetired {
  EpochRetired* next_retired = nullptr;
  void (*free_retired)(EpochRetired*) = nullptr;
};

// Hands over an object that new readers can no longer reach. `bytes` is its size as far as known:
// much retired memory makes reclamation come sooner. Now and then the call also frees what is due.
void EpochRetire(EpochRetired* object, void (*free)(EpochRetired*), size_t bytes = 0);
template <typename T>
void EpochRetireDelete(T* object) {
  EpochRetire(
      object, [](EpochRetired* retired) { delete static_cast<T*>(retired); }, sizeof(T));
}

// Frees what is due now. Does nothing inside a guard, or if another thread is at it.
void EpochReclaim();

// Frees what was retired before the call, if the guards that are open close soon; true if all of it
// is freed. For objects so large that they should not wait for the next occasion.
bool EpochReclaimAll();

// Waits until everything retired before the call is freed: at shutdown, and in tests. It waits for
// the guards that are open now, not for later ones, and sleeps meanwhile. Not inside a guard, nor
// in a deleter (where it does nothing).
void EpochDrain();

// How many objects are retired and not freed, for tests and statistics.
size_t EpochPendingCount();

}  // namespace ashlar
