// SPDX-License-Identifier: Apache-2.0
//
// Counts the allocations of each thread. The header replaces operator new and delete of the whole
// program, so exactly one file of a test program includes it.
//
// The sanitizers have replacements of their own: there nothing is counted, and a test that needs
// the count calls SkipAsImpossible().
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace ashlar {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
inline constexpr bool kCountsAllocations = true;
#else
inline constexpr bool kCountsAllocations = false;
#endif

// Allocations of the calling thread so far.
inline thread_local uint64_t thread_allocations = 0;

inline void* CountedAllocation(size_t size) {
  thread_allocations++;
  void* const p = std::malloc(size == 0 ? 1 : size);
  if (p == nullptr) std::abort();
  return p;
}

}  // namespace ashlar

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Not inline: GCC would take free() of what operator new has returned for a mistake.
[[gnu::noinline]] void* operator new(size_t size) { return ashlar::CountedAllocation(size); }
[[gnu::noinline]] void* operator new[](size_t size) { return ashlar::CountedAllocation(size); }
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, size_t) noexcept { std::free(p); }
#endif
