// SPDX-License-Identifier: Apache-2.0
//
// The signal handler reads a table of fixed size without locks and calls only mmap.
#include "env/posix/sigbus_guard.h"

#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <cassert>
#include <cerrno>

#include "util/threads/mutex.h"

namespace ashlar {

// One guarded mapping. The table is fixed, because a handler may neither allocate nor lock.
struct SigbusGuard::Slot {
  // Null means that the slot is free. Written under the mutex of the table, and read by the
  // handler.
  std::atomic<char*> base{nullptr};
  std::atomic<uint64_t> bytes{0};
  std::atomic<bool> is_lost{false};
};

// Never destroyed, because a signal may arrive at any time.
struct SigbusSlots {
  static constexpr size_t kCount = 1024;
  static inline std::array<SigbusGuard::Slot, kCount> slots;
  static inline std::atomic<bool> is_installed{false};
  static inline Mutex mutex{LockRank::kLeaf};

  static void OnSignal(int number, siginfo_t* info, void*);
  static void InstallOnce();
};

namespace {

const std::atomic<bool> kNeverLost{false};

}  // namespace

// Runs in the thread whose store failed, and may use only async-signal-safe functions and lock-free
// atomics. Returning repeats the store.
void SigbusSlots::OnSignal(int number, siginfo_t* info, void*) {
  assert(info != nullptr);
  static_assert(std::atomic<char*>::is_always_lock_free, "a signal handler may not lock");
  const int saved_errno = errno;
  const bool is_fault = info->si_code > 0;  // not sent by kill() or raise()
  const char* const address = static_cast<const char*>(info->si_addr);
  for (SigbusGuard::Slot& slot : slots) {
    char* const base = slot.base.load(std::memory_order_acquire);
    const uint64_t bytes = slot.bytes.load(std::memory_order_acquire);
    if (!is_fault || base == nullptr || address < base || address >= base + bytes) continue;
    // Before the mapping is replaced: a thread that reads zeros of the new memory must also find
    // the flag.
    slot.is_lost.store(true, std::memory_order_seq_cst);
    void* const replaced = mmap(base, bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    errno = saved_errno;
    if (replaced != MAP_FAILED) return;  // the store is repeated
  }
  // The address is not ours, or memory ran out. The default action ends the process when the store
  // is repeated; a signal that was sent is raised again.
  signal(number, SIG_DFL);
  if (!is_fault) raise(number);
  errno = saved_errno;
}

// A store into a mapping raises SIGBUS if the disk is full or the device fails. The handler notes
// the loss instead of ending the process.
void SigbusSlots::InstallOnce() {
  struct sigaction current = {};
  if (is_installed.load(std::memory_order_relaxed)) return;
  if (sigaction(SIGBUS, nullptr, &current) != 0) return;
  // The program has a handler or ignores the signal: we leave that alone.
  if ((current.sa_flags & SA_SIGINFO) != 0 || current.sa_handler != SIG_DFL) return;
  struct sigaction ours = {};
  ours.sa_sigaction = &OnSignal;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  if (sigaction(SIGBUS, &ours, nullptr) == 0) is_installed.store(true, std::memory_order_relaxed);
}

void SigbusGuard::Watch(char* base) {
  assert(slot_ == nullptr);
  assert(base != nullptr);
  MutexLock lock(&SigbusSlots::mutex);
  SigbusSlots::InstallOnce();
  for (Slot& slot : SigbusSlots::slots) {
    if (slot.base.load(std::memory_order_relaxed) != nullptr) continue;
    slot.is_lost.store(false, std::memory_order_relaxed);
    slot.bytes.store(0, std::memory_order_relaxed);
    // The release publishes the empty length with the address, so that the handler never uses the
    // length of an earlier mapping.
    slot.base.store(base, std::memory_order_release);
    slot_ = &slot;
    return;
  }
}

void SigbusGuard::Grow(uint64_t bytes) {
  if (slot_ != nullptr) slot_->bytes.store(bytes, std::memory_order_release);
}

// The flag of lost() may belong to another mapping after this.
void SigbusGuard::Unwatch() {
  if (slot_ == nullptr) return;
  MutexLock lock(&SigbusSlots::mutex);
  slot_->bytes.store(0, std::memory_order_relaxed);
  slot_->base.store(nullptr, std::memory_order_release);
  slot_ = nullptr;
}

const std::atomic<bool>* SigbusGuard::lost() const {
  return slot_ == nullptr ? &kNeverLost : &slot_->is_lost;
}

bool SigbusGuard::IsInstalled() {
  return SigbusSlots::is_installed.load(std::memory_order_relaxed);
}

}  // namespace ashlar
