// SPDX-License-Identifier: Apache-2.0
//
// Replaces the global operators: all forms of new end in one of the two here, or in these of the
// standard library, which call them.
#include "tests/fault/allocation_hook.h"

#include <cstdlib>
#include <new>

namespace {

thread_local uint64_t* countdown = nullptr;
thread_local bool is_paused = false;

bool Fails() {
  if (countdown == nullptr || is_paused || *countdown == UINT64_MAX) return false;
  return (*countdown)-- == 0;
}

}  // namespace

namespace ashlar {

AllocationFault::AllocationFault(uint64_t* allocations) { countdown = allocations; }
AllocationFault::~AllocationFault() { countdown = nullptr; }
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
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
