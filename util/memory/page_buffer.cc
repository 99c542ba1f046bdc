// SPDX-License-Identifier: Apache-2.0
//
// Anonymous mappings, where the system has them. If the system refuses one, the memory comes from
// the heap, which has more ways to find some and throws if there is none.
#include "util/memory/page_buffer.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>

#include "util/memory/page_allocator.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ashlar {
namespace {

// The alignment of memory from the heap, which is the same as for a mapping. FromHeap() throws
// std::bad_alloc.
constexpr std::align_val_t AlignmentOf(size_t bytes) {
  return std::align_val_t{bytes >= PageBuffer::kHugePageBytes ? PageBuffer::kHugePageBytes
                                                              : alignof(std::max_align_t)};
}
char* FromHeap(size_t bytes) {
  return static_cast<char*>(::operator new(bytes, AlignmentOf(bytes)));
}
void ToHeap(char* data, size_t bytes) { ::operator delete(data, AlignmentOf(bytes)); }

}  // namespace

#if defined(__linux__)

namespace {

// Returns null if the system refuses.
char* Map(size_t bytes) {
  void* const mapped =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<char*>(mapped);
}

// For less, the half page that is lost at the end would be too much, and the system call too slow.
constexpr size_t kLeastBytesInPages = size_t{32} << 10;

// Sanitizers only detect wrong accesses to memory from their own heap.
bool ComesInPages(size_t bytes) { return !kHeapIsWatched && bytes >= kLeastBytesInPages; }

// Maps more than is needed and unmaps what is before and behind the aligned part.
char* MapAligned(size_t bytes, size_t alignment) {
  assert(bytes % PageBuffer::kPageBytes == 0);
  assert(alignment % PageBuffer::kPageBytes == 0);
  char* const begin = Map(bytes + alignment);
  if (begin == nullptr) return nullptr;
  const size_t front = (alignment - reinterpret_cast<uintptr_t>(begin) % alignment) % alignment;
  if (front != 0) munmap(begin, front);
  if (front != alignment) munmap(begin + front + bytes, alignment - front);
  return begin + front;
}

// Memory from the heap that replaces a mapping begins at this offset within a page. Mappings begin
// at offset 0, so that the two can be distinguished.
constexpr size_t kHeapOffset = 64;
constexpr std::align_val_t kPageAlignment{PageBuffer::kPageBytes};

bool IsMapped(const void* memory) {
  return reinterpret_cast<uintptr_t>(memory) % PageBuffer::kPageBytes == 0;
}

}  // namespace

void* AllocatePages(size_t bytes) {
  if (!ComesInPages(bytes)) return ::operator new(bytes);
  if (char* const memory = Map(bytes); memory != nullptr) return memory;
  return static_cast<char*>(::operator new(bytes + kHeapOffset, kPageAlignment)) + kHeapOffset;
}

// If the system's limit on mappings is reached, a part of a mapping cannot be unmapped. Its pages
// can still be freed.
void FreePages(void* memory, size_t bytes) {
  if (!ComesInPages(bytes)) return ::operator delete(memory);
  if (!IsMapped(memory)) {
    return ::operator delete(static_cast<char*>(memory) - kHeapOffset, kPageAlignment);
  }
  if (munmap(memory, bytes) != 0) madvise(memory, bytes, MADV_DONTNEED);
}

PageBuffer::PageBuffer(size_t bytes, [[maybe_unused]] Pages pages)
    : size_((bytes + kPageBytes - 1) & ~(kPageBytes - 1)) {
  if (size_ >= kHugePageBytes) {
    data_ = MapAligned(size_, kHugePageBytes);
  } else if (size_ >= kMinMappedBytes) {
    data_ = Map(size_);
  }
  assert(size_ >= bytes);
  is_mapped_ = data_ != nullptr;
  if (!is_mapped_) data_ = FromHeap(size_);
#if defined(MADV_HUGEPAGE)
  if (is_mapped_ && size_ >= kHugePageBytes && pages == Pages::kHuge) {
    madvise(data_, size_ & ~(kHugePageBytes - 1), MADV_HUGEPAGE);
  }
#endif
}

namespace {

// Applies to the pages that are completely within [begin, begin + bytes).
void Advise(char* begin, size_t bytes, int advice) {
  constexpr uintptr_t kInPage = PageBuffer::kPageBytes - 1;
  const uintptr_t address = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t first = (address + kInPage) & ~kInPage;
  const uintptr_t last = (address + bytes) & ~kInPage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, advice);
}

}  // namespace

void PageBuffer::TouchAhead([[maybe_unused]] char* begin, [[maybe_unused]] size_t bytes) {
#if defined(MADV_POPULATE_WRITE)
  Advise(begin, bytes, MADV_POPULATE_WRITE);
#endif
}

void PageBuffer::Drop(char* begin, size_t bytes) { Advise(begin, bytes, MADV_DONTNEED); }

// As in FreePages(), memory that cannot be unmapped is at least freed.
void PageBuffer::Free() {
  if (!is_mapped_) return ToHeap(data_, size_);
  if (munmap(data_, size_) != 0) madvise(data_, size_, MADV_DONTNEED);
}

#else

void* AllocatePages(size_t bytes) { return ::operator new(bytes); }
void FreePages(void* memory, size_t /*bytes*/) { ::operator delete(memory); }

PageBuffer::PageBuffer(size_t bytes, Pages /*pages*/) : data_(FromHeap(bytes)), size_(bytes) {}
void PageBuffer::Free() { ToHeap(data_, size_); }
void PageBuffer::TouchAhead(char*, size_t) {}
void PageBuffer::Drop(char*, size_t) {}

#endif

}  // namespace ashlar
