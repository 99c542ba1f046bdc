// SPDX-License-Identifier: Apache-2.0
//
// The pages that are open for the current instruction are listed in the record, which, like the
// thread's own stack, is never closed: the signal handlers must be able to write. Record and
// handlers stay when a watch is over: another thread may have faulted just before its end.
#include "tests/support/write_watch.h"

#if defined(__linux__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ASHLAR_CAN_WATCH_WRITES 1
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>
#else
#define ASHLAR_CAN_WATCH_WRITES 0
#endif

namespace ashlar {

bool CanWatchWrites() { return ASHLAR_CAN_WATCH_WRITES != 0; }

#if ASHLAR_CAN_WATCH_WRITES

namespace {

constexpr uintptr_t kPage = 4096;
constexpr size_t kMaxStores = 1000;
constexpr size_t kMaxOpenPages = 4;
constexpr greg_t kTrapFlag = 0x100;

struct Region {
  uintptr_t begin, end;
};

struct alignas(kPage) Record {
  std::atomic<pid_t> thread{0};  // 0: no watch is on
  std::atomic<uintptr_t> late_fault{0};
  size_t store_count = 0;
  uintptr_t stores[kMaxStores];
  size_t open_count = 0;
  uintptr_t open_pages[kMaxOpenPages];
};

Record* record = nullptr;  // in pages of its own

void OnStore(int, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (record->thread == 0) {
    // A store that was under way when the watch ended succeeds now. Twice is a fault of its own.
    if (record->late_fault.exchange(address) == address) signal(SIGSEGV, SIG_DFL);
    return;
  }
  const uintptr_t page = address & ~(kPage - 1);
  if (mprotect(reinterpret_cast<void*>(page), kPage, PROT_READ | PROT_WRITE) != 0) _exit(99);
  if (syscall(SYS_gettid) != record->thread) return;
  if (record->store_count < kMaxStores) record->stores[record->store_count++] = address;
  if (record->open_count < kMaxOpenPages) record->open_pages[record->open_count++] = page;
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
}

void AfterInstruction(int, siginfo_t*, void* context) {
  for (size_t i = 0; i < record->open_count; ++i) {
    mprotect(reinterpret_cast<void*>(record->open_pages[i]), kPage, PROT_READ);
  }
  record->open_count = 0;
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
}

// Writable mappings, without the calling thread's stack (which holds its thread-local memory too)
// and the record.
std::vector<Region> WatchedRegions() {
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void* stack = nullptr;
  size_t stack_bytes = 0;
  pthread_attr_getstack(&attributes, &stack, &stack_bytes);
  pthread_attr_destroy(&attributes);
  const auto stack_begin = reinterpret_cast<uintptr_t>(stack);
  const Region excluded[] = {
      {stack_begin, stack_begin + stack_bytes},
      {reinterpret_cast<uintptr_t>(record), reinterpret_cast<uintptr_t>(record + 1)}};
  std::vector<Region> regions;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char permissions[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, permissions) != 3) continue;
    if (permissions[0] != 'r' || permissions[1] != 'w' || permissions[3] != 'p') continue;
    // What an exclusion leaves of the mapping: a piece before and a piece behind.
    std::vector<Region> pieces = {{begin, end}};
    for (const Region& hole : excluded) {
      std::vector<Region> rest;
      for (const Region& piece : pieces) {
        if (hole.end <= piece.begin || hole.begin >= piece.end) {
          rest.push_back(piece);
          continue;
        }
        if (piece.begin < hole.begin) rest.push_back({piece.begin, hole.begin});
        if (hole.end < piece.end) rest.push_back({hole.end, piece.end});
      }
      pieces = rest;
    }
    regions.insert(regions.end(), pieces.begin(), pieces.end());
  }
  return regions;
}

void Protect(const std::vector<Region>& regions, int protection) {
  for (const Region& region : regions) {
    if (mprotect(reinterpret_cast<void*>(region.begin), region.end - region.begin, protection) !=
        0) {
      _exit(98);
    }
  }
}

}  // namespace

std::vector<uintptr_t> StoresOf(void (*body)(void*), void* argument,
                                const std::vector<OwnMemory>& own) {
  if (record == nullptr) {
    void* const memory = mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    record = new (memory) Record;
    struct sigaction on_store = {}, on_trap = {};
    on_store.sa_sigaction = &OnStore;
    on_trap.sa_sigaction = &AfterInstruction;
    on_store.sa_flags = on_trap.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &on_store, nullptr);
    sigaction(SIGTRAP, &on_trap, nullptr);
  }
  const std::vector<Region> regions = WatchedRegions();
  record->store_count = record->open_count = 0;
  record->thread = static_cast<pid_t>(syscall(SYS_gettid));
  Protect(regions, PROT_READ);
  body(argument);
  Protect(regions, PROT_READ | PROT_WRITE);
  record->thread = 0;

  std::vector<uintptr_t> shared;
  for (size_t i = 0; i < record->store_count; ++i) {
    const uintptr_t address = record->stores[i];
    bool is_own = false;
    for (const OwnMemory& memory_of_caller : own) {
      const auto begin = reinterpret_cast<uintptr_t>(memory_of_caller.begin);
      is_own |= address >= begin && address < begin + memory_of_caller.bytes;
    }
    if (!is_own) shared.push_back(address);
  }
  return shared;
}

#else

std::vector<uintptr_t> StoresOf(void (*body)(void*), void* argument,
                                const std::vector<OwnMemory>&) {
  body(argument);
  return {};
}

#endif

}  // namespace ashlar
