// SPDX-License-Identifier: Apache-2.0
#include "util/page_buffer.h"

#include <cstdint>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ashlar {

#if defined(__linux__)

namespace {

char* Map(size_t bytes) {
  void* const mapped =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(mapped);
}

// Maps more than is needed and gives back what lies around the aligned part.
char* MapAligned(size_t bytes, size_t alignment) {
  char* const begin = Map(bytes + alignment);
  const size_t front = (alignment - reinterpret_cast<uintptr_t>(begin) % alignment) % alignment;
  if (front != 0) munmap(begin, front);
  if (front != alignment) munmap(begin + front + bytes, alignment - front);
  return begin + front;
}

}  // namespace

PageBuffer::PageBuffer(size_t bytes) : size_((bytes + kPageBytes - 1) & ~(kPageBytes - 1)) {
  if (size_ < kMinMappedBytes) {
    data_ = new char[size_];
    return;
  }
  if (size_ < kHugePageBytes) {
    data_ = Map(size_);
    return;
  }
  data_ = MapAligned(size_, kHugePageBytes);
#if defined(MADV_HUGEPAGE)
  madvise(data_, size_ & ~(kHugePageBytes - 1), MADV_HUGEPAGE);
#endif
}

void PageBuffer::Free() {
  if (size_ < kMinMappedBytes) {
    delete[] data_;
  } else {
    munmap(data_, size_);
  }
}

#else

PageBuffer::PageBuffer(size_t bytes) : data_(new char[bytes]), size_(bytes) {}
void PageBuffer::Free() { delete[] data_; }

#endif

}  // namespace ashlar
