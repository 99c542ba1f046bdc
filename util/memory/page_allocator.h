// SPDX-License-Identifier: Apache-2.0
//
// PageAllocator and PageArray: memory for containers and for bytes that may be large.
//
// Large pieces are mapped pages, as in a PageBuffer, and return to the system at once. Indexes and
// filters of some hundred kilobytes that a cache frees would otherwise leave holes in the heaps of
// the threads that read them, up to a tenth of the size of the cache.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace ashlar {

// Returns at least `bytes`, aligned for any type; throws std::bad_alloc.
void* AllocatePages(size_t bytes);
// `bytes` must be the number that was passed to AllocatePages().
void FreePages(void* memory, size_t bytes);

template <typename T>
struct PageAllocator {
  using value_type = T;

  PageAllocator() = default;
  template <typename U>
  PageAllocator(const PageAllocator<U>&) {}  // NOLINT(google-explicit-constructor): as it must be

  T* allocate(size_t n) { return static_cast<T*>(AllocatePages(n * sizeof(T))); }
  void deallocate(T* memory, size_t n) { FreePages(memory, n * sizeof(T)); }
  bool operator==(const PageAllocator&) const { return true; }
};

struct PageFree {
  size_t bytes = 0;
  void operator()(char* memory) const { FreePages(memory, bytes); }
};
using PageArray = std::unique_ptr<char[], PageFree>;
inline PageArray MakePageArray(size_t bytes) {
  return PageArray(static_cast<char*>(AllocatePages(bytes)), PageFree{bytes});
}

using PageString = std::basic_string<char, std::char_traits<char>, PageAllocator<char>>;

}  // namespace ashlar
