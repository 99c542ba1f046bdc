// SPDX-License-Identifier: Apache-2.0
//
// The record lists the pages that are writable for the current instruction. Like the thread's own
// stack it always stays writable, because the signal handlers write to it. It is shared with the
// parent, which reads the stores from it after the child has ended.
#include "tests/support/write_watch.h"

#if defined(__linux__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ASHLAR_CAN_WATCH_WRITES 1
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
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

struct Record {
  int result = 0;
  size_t store_count = 0;
  uintptr_t stores[kMaxStores];
  size_t open_count = 0;
  uintptr_t open_pages[kMaxOpenPages];
};

Record* record = nullptr;  // in shared pages of its own

void OnStore(int, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  const uintptr_t page = address & ~(kPage - 1);
  if (mprotect(reinterpret_cast<void*>(page), kPage, PROT_READ | PROT_WRITE) != 0) _exit(99);
  if (record->store_count < kMaxStores) record->stores[record->store_count++] = address;
  if (record->open_count == kMaxOpenPages) _exit(97);
  record->open_pages[record->open_count++] = page;
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
}

void AfterInstruction(int, siginfo_t*, void* context) {
  for (size_t i = 0; i < record->open_count; ++i) {
    mprotect(reinterpret_cast<void*>(record->open_pages[i]), kPage, PROT_READ);
  }
  record->open_count = 0;
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
}

// Private writable mappings, without the stack of the calling thread (which also contains its
// thread-local memory).
std::vector<Region> WatchedRegions() {
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void* stack = nullptr;
  size_t stack_bytes = 0;
  pthread_attr_getstack(&attributes, &stack, &stack_bytes);
  pthread_attr_destroy(&attributes);
  const auto stack_begin = reinterpret_cast<uintptr_t>(stack);
  const uintptr_t stack_end = stack_begin + stack_bytes;
  std::vector<Region> regions;
  const auto add = [&regions](uintptr_t begin, uintptr_t end) {
    if (begin < end) regions.push_back({begin, end});
  };
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char permissions[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, permissions) != 3) continue;
    if (permissions[0] != 'r' || permissions[1] != 'w' || permissions[3] != 'p') continue;
    add(begin, std::min<uintptr_t>(end, stack_begin));
    add(std::max<uintptr_t>(begin, stack_end), end);
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

[[noreturn]] void RunAsChild(int (*body)(void*), void* argument) {
  struct sigaction on_store = {}, on_trap = {};
  on_store.sa_sigaction = &OnStore;
  on_trap.sa_sigaction = &AfterInstruction;
  on_store.sa_flags = on_trap.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &on_store, nullptr);
  sigaction(SIGTRAP, &on_trap, nullptr);
  const std::vector<Region> regions = WatchedRegions();
  Protect(regions, PROT_READ);
  const int result = body(argument);
  Protect(regions, PROT_READ | PROT_WRITE);
  record->result = result;
  _exit(0);
}

bool IsOwn(uintptr_t address, const std::vector<OwnMemory>& own) {
  return std::any_of(own.begin(), own.end(), [address](const OwnMemory& memory) {
    return address - reinterpret_cast<uintptr_t>(memory.begin) < memory.bytes;
  });
}

}  // namespace

WatchedRun WatchStores(int (*body)(void*), void* argument, const std::vector<OwnMemory>& own) {
  WatchedRun run;
  void* const shared =
      mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return run;
  record = new (shared) Record;
  const pid_t child = fork();
  if (child == 0) RunAsChild(body, argument);
  int status = -1;
  run.has_ended = child > 0 && waitpid(child, &status, 0) == child && status == 0;
  run.result = record->result;
  std::copy_if(record->stores, record->stores + record->store_count, std::back_inserter(run.stores),
               [&](uintptr_t address) { return !IsOwn(address, own); });
  munmap(shared, sizeof(Record));
  return run;
}

#else

WatchedRun WatchStores(int (*)(void*), void*, const std::vector<OwnMemory>&) { return {}; }

#endif

}  // namespace ashlar
