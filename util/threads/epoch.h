// SPDX-License-Identifier: Apache-2.0
//
// Epochs let readers use shared objects without locks or reference counts. They determine when
// objects that writers have unlinked may be freed.
//
//   EpochGuard guard;                                   // reader: from now on nothing that can
//   Node* node = head.load(std::memory_order_acquire);  // still be reached is freed
//
//   head.store(next, std::memory_order_release);        // writer: unlink first,
//   EpochRetireDelete(node);                            // then retire
//
// A retired object is freed after all guards that were open when it was retired have closed. The
// process has one domain. Guards can be nested. Opening one costs a store to a cache line of the
// thread's own, and never waits.
//
// A guard protects only memory. Within a guard there must be no file I/O, no sleep and no callback
// of a program, because one slow reader would keep everything that any database retires meanwhile.
// Code that needs a file takes a counted reference, leaves the epoch, and then reads. Builds with
// assertions stop at file I/O within a guard (env/io_rule.h).
//
// Deleters run in a thread that retires or reclaims, never within a guard, and may retire more
// objects. Therefore objects must be retired without any lock that a deleter may need. Objects that
// are only memory are retired by EpochRetireMemory(), which may be called under locks of a program,
// such as that of its own cache: it runs only deleters of such objects. Threads: any. In a child
// after fork(), only the thread that called it exists: guards of the others count as closed.
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

// The entry of one thread in the registry. Never freed, but reused for later threads.
struct alignas(64) Slot {
  // The epoch in which the outermost guard was opened, or 0. Written by the owner and read by
  // reclaimers. Every store releases, so that the reader of a value sees everything that was done
  // before it.
  std::atomic<uint64_t> announced{0};

  // Used only by the owning thread.
  uint32_t depth = 0;
  bool needs_fence = false;    // the kernel has no membarrier
  bool is_reclaiming = false;  // runs deleters
  bool is_due = false;         // only memory was freed at the last attempt, and more is retired
  uint32_t retired_count = 0;  // since the last attempt to reclaim
  size_t retired_bytes = 0;
  size_t index = 0;

  std::atomic<bool> is_taken{false};
  Slot* next = nullptr;  // does not change after the slot is in the registry
};

alignas(64) extern std::atomic<uint64_t> global_epoch;
// Initial-exec makes access one instruction in all code of the library, even if it is a shared
// library.
extern constinit thread_local Slot* this_slot __attribute__((tls_model("initial-exec")));
Slot* TakeSlot();

inline Slot* ThisSlot() {
  Slot* const slot = this_slot;
  return slot != nullptr ? slot : TakeSlot();
}

inline void Enter(Slot* slot) {
  assert(slot != nullptr);
  if (slot->depth++ != 0) return;
  const uint64_t now = global_epoch.load(std::memory_order_acquire);
#if ASHLAR_TSAN
  slot->announced.exchange(now, std::memory_order_seq_cst);
#else
  slot->announced.store(now, std::memory_order_release);
  // The announcement must precede every load within the guard. Reclaimers ensure that with
  // membarrier; here only the compiler must not reorder.
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

// As long as it exists, everything that its thread reaches through shared pointers is not freed.
// Stays in the thread that created it.
class EpochGuard {
 public:
  EpochGuard() : slot_(epoch_internal::ThisSlot()) { epoch_internal::Enter(slot_); }
  ~EpochGuard() {
    if (slot_ != nullptr) epoch_internal::Leave(slot_);
  }
  EpochGuard(const EpochGuard&) = delete;
  EpochGuard& operator=(const EpochGuard&) = delete;

  // Ends the guard before the end of its scope. At most once.
  void Leave() {
    assert(slot_ != nullptr);
    epoch_internal::Leave(slot_);
    slot_ = nullptr;
  }

 private:
  epoch_internal::Slot* slot_;  // null after Leave()
};

// Whether this thread is within a guard.
inline bool InEpoch() {
  const epoch_internal::Slot* slot = epoch_internal::this_slot;
  return slot != nullptr && slot->depth != 0;
}

// The base of retired objects. They are linked directly, because retiring must not fail for lack of
// memory after the object was unlinked.
struct EpochRetired {
  EpochRetired* next_retired = nullptr;
  void (*free_retired)(EpochRetired*) = nullptr;
};

// Takes over an object that new readers can no longer reach. `bytes` is its approximate size: much
// retired memory makes reclamation start earlier. Some calls also free objects that are due.
void EpochRetire(EpochRetired* object, void (*free)(EpochRetired*), size_t bytes = 0);
// The same for an object whose `free` only frees memory and retires more of it. The call takes no
// lock and calls nothing of a program, so it is allowed under any lock.
void EpochRetireMemory(EpochRetired* object, void (*free)(EpochRetired*), size_t bytes);
template <typename T>
void EpochRetireDelete(T* object) {
  EpochRetire(
      object, [](EpochRetired* retired) { delete static_cast<T*>(retired); }, sizeof(T));
}

// Frees the objects that no guard protects any more. Does nothing within a guard, or while another
// thread reclaims.
void EpochReclaim();

// The same if EpochRetireMemory() has left other objects in this thread. For places where no lock
// is held.
inline void EpochReclaimIfDue() {
  const epoch_internal::Slot* slot = epoch_internal::this_slot;
  if (slot != nullptr && slot->is_due) [[unlikely]]
    EpochReclaim();
}

// Frees what was retired before the call, if the open guards close soon. Returns whether all of it
// is freed. For large objects, which should not wait for the next reclamation.
bool EpochReclaimAll();

// Waits until everything that was retired before the call is freed, for shutdown and tests. It
// waits only for the guards that are open now, and sleeps meanwhile. Must not be called within a
// guard or from a deleter (where it does nothing).
void EpochDrain();

// The number of objects that are retired and not freed, for tests and statistics.
size_t EpochPendingCount();

}  // namespace ashlar
