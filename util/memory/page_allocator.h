// SPDX-License-Identifier: Apache-2.0
//
// PageAllocator, PageArray: memory that may be large, for containers and for bytes.
//
// What is large comes from the system in pages of its own and goes back at once, as with a
// PageBuffer: indexes and filters of some hundred kilobytes that a cache lets go would leave the
// heap of whichever thread read them full of holes, a tenth of a cache's size.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace ashlar {

// At least `bytes`, aligned for any type; throws std::bad_alloc.
void* AllocatePages(size_t bytes);
// `bytes` as they were asked for.
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
