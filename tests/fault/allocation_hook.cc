// SPDX-License-Identifier: Apache-2.0
//
// Replaces the global operators. The array forms of the standard library, or of a sanitizer, call
// these.
#include "tests/fault/allocation_hook.h"

#include <cstdlib>
#include <new>

// Leaks of a call that runs out of memory are not checked: they are no more than the call had
// allocated, and the requirement is only that the database can be used or closed.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#else
static void __lsan_disable() {}
static void __lsan_enable() {}
#endif

namespace {

thread_local uint64_t* countdown = nullptr;
thread_local bool is_paused = false;

bool Fails() {
  if (countdown == nullptr || is_paused || *countdown == UINT64_MAX) return false;
  return (*countdown)-- == 0;
}

}  // namespace

namespace ashlar {

AllocationFault::AllocationFault(uint64_t* allocations) {
  countdown = allocations;
  __lsan_disable();
}
AllocationFault::~AllocationFault() {
  countdown = nullptr;
  __lsan_enable();
}
void AllocationFault::SetPaused(bool paused) { is_paused = paused; }

}  // namespace ashlar

void* operator new(std::size_t bytes) {
  void* const memory = Fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto align = static_cast<std::size_t>(alignment);
  void* const memory =
      Fails() ? nullptr : std::aligned_alloc(align, (bytes + align - 1) / align * align);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return Fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
// Sanitizers have their own operators, which would not call this one.
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
