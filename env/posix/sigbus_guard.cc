// SPDX-License-Identifier: Apache-2.0
//
// The handler reads a table of fixed size without a lock and calls nothing but mmap.
#include "env/posix/sigbus_guard.h"

#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <cassert>
#include <cerrno>

#include "util/threads/mutex.h"

namespace ashlar {

struct SigbusGuard::Slot {
  // Null: free. Written under the mutex of the table; the handler reads it.
  std::atomic<char*> base{nullptr};
  std::atomic<uint64_t> bytes{0};
  std::atomic<bool> is_lost{false};
};

// Never destroyed: a signal may come at any time.
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

void SigbusSlots::OnSignal(int number, siginfo_t* info, void*) {
  const int saved_errno = errno;
  const bool is_fault = info->si_code > 0;  // not sent by somebody
  const char* const address = static_cast<const char*>(info->si_addr);
  for (SigbusGuard::Slot& slot : slots) {
    char* const base = slot.base.load(std::memory_order_acquire);
    const uint64_t bytes = slot.bytes.load(std::memory_order_acquire);
    if (!is_fault || base == nullptr || address < base || address >= base + bytes) continue;
    slot.is_lost.store(true, std::memory_order_seq_cst);
    void* const replaced = mmap(base, bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    errno = saved_errno;
    if (replaced != MAP_FAILED) return;  // the store is done again
  }
  signal(number, SIG_DFL);
  if (!is_fault) raise(number);
  errno = saved_errno;
}

void SigbusSlots::InstallOnce() {
  struct sigaction current = {};
  if (is_installed.load(std::memory_order_relaxed)) return;
  if (sigaction(SIGBUS, nullptr, &current) != 0) return;
  if ((current.sa_flags & SA_SIGINFO) != 0 || current.sa_handler != SIG_DFL) return;
  struct sigaction ours = {};
  ours.sa_sigaction = &OnSignal;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  if (sigaction(SIGBUS, &ours, nullptr) == 0) is_installed.store(true, std::memory_order_relaxed);
}

void SigbusGuard::Watch(char* base) {
  assert(slot_ == nullptr && base != nullptr);
  MutexLock lock(&SigbusSlots::mutex);
  SigbusSlots::InstallOnce();
  for (Slot& slot : SigbusSlots::slots) {
    if (slot.base.load(std::memory_order_relaxed) != nullptr) continue;
    slot.is_lost.store(false, std::memory_order_relaxed);
    slot.bytes.store(0, std::memory_order_relaxed);
    slot.base.store(base, std::memory_order_release);
    slot_ = &slot;
    return;
  }
}

void SigbusGuard::Grow(uint64_t bytes) {
  if (slot_ != nullptr) slot_->bytes.store(bytes, std::memory_order_release);
}

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
