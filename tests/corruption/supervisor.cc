// SPDX-License-Identifier: Apache-2.0
//
// Parent and children share a piece of memory: the number and name of the current case, and the
// counters. operator new is replaced for the whole program, to check the size of every allocation.
#include "tests/corruption/supervisor.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/support/suite.h"

namespace ashlar {
namespace {

constexpr int kMaxDeaths = 20;

struct Counter {
  char name[56];
  uint64_t count;
};

struct SharedState {
  uint64_t cases_before;  // cases of earlier children
  uint64_t running_case;  // 1-based
  char case_name[1024];
  Counter counters[256];
};

SharedState* shared = nullptr;
uint64_t case_number = 0;  // of this child
std::atomic<size_t> allocation_limit{SIZE_MAX};

void SayTooMuch(size_t bytes) {
  allocation_limit.store(SIZE_MAX, std::memory_order_relaxed);
  std::fprintf(stderr, "\nallocates %zu bytes at once\n", bytes);
  std::abort();
}

void Copy(const std::string& text, char* target, size_t room) {
  target[text.copy(target, room - 1)] = '\0';
}

}  // namespace

void SharedCounters::Add(const std::string& name) {
  for (Counter& counter : shared->counters) {
    if (counter.count == 0) Copy(name, counter.name, sizeof(counter.name));
    if (name != counter.name) continue;
    ++counter.count;
    return;
  }
}

std::map<std::string, uint64_t> SharedCounters::All() {
  std::map<std::string, uint64_t> all;
  for (const Counter& counter : shared->counters) {
    if (counter.count != 0) all[counter.name] = counter.count;
  }
  return all;
}

int RunSupervised(const std::function<int()>& work) {
  void* const memory =
      mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  shared = static_cast<SharedState*>(memory);
  for (int deaths = 0; deaths < kMaxDeaths; ++deaths) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) std::exit(work());
    int status = 0;
    if (waitpid(child, &status, 0) != child) return 1;
    if (WIFEXITED(status) && shared->running_case == 0) {
      return deaths == 0 ? WEXITSTATUS(status) : 1;
    }
    std::printf("corruption: DIED in: %s\n", shared->case_name);
    SharedCounters::Add("DIED");
    shared->cases_before = shared->running_case;
    shared->running_case = 0;
  }
  return 1;
}

bool NextCase(const std::string& name) {
  if (++case_number <= shared->cases_before) return false;
  Copy(name, shared->case_name, sizeof(shared->case_name));
  shared->running_case = case_number;
  BeginCase(name);
  return true;
}

void EndAllCases() {
  EndCases();
  shared->running_case = 0;
}

void SetAllocationLimit(size_t bytes) { allocation_limit.store(bytes, std::memory_order_relaxed); }

// For the operators below. Not inlined, because compilers warn about free() for memory of new.
[[gnu::noinline]] static void Free(void* memory) { std::free(memory); }
[[gnu::noinline]] static void* Allocate(size_t bytes, size_t alignment) {
  if (bytes > allocation_limit.load(std::memory_order_relaxed)) SayTooMuch(bytes);
  void* const memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(bytes == 0 ? 1 : bytes)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
static void* AllocateOrNull(size_t bytes) noexcept {
  try {
    return Allocate(bytes, 1);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace ashlar

void* operator new(size_t bytes) { return ashlar::Allocate(bytes, 1); }
void* operator new[](size_t bytes) { return ashlar::Allocate(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return ashlar::Allocate(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return ashlar::Allocate(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return ashlar::AllocateOrNull(bytes);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return ashlar::AllocateOrNull(bytes);
}
void operator delete(void* memory) noexcept { ashlar::Free(memory); }
void operator delete[](void* memory) noexcept { ashlar::Free(memory); }
void operator delete(void* memory, size_t) noexcept { ashlar::Free(memory); }
void operator delete[](void* memory, size_t) noexcept { ashlar::Free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { ashlar::Free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { ashlar::Free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { ashlar::Free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { ashlar::Free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { ashlar::Free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { ashlar::Free(memory); }
