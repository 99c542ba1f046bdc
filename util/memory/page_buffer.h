// SPDX-License-Identifier: Apache-2.0
//
// PageBuffer is memory in whole pages, which come from the system and return to it at once.
//
// It is for large buffers that exist for a short time. A heap keeps freed memory in a share for
// each thread, and after the first large piece it keeps larger ones as well (the threshold of glibc
// grows). With background threads that take turns in flushing and compacting, the process would
// keep the sum of their peaks.
//
// Pages that were never touched take no memory. Small buffers come from the heap, where they cost
// less. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstddef>
#include <utility>

namespace ashlar {

class PageBuffer {
 public:
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kMinMappedBytes = 64 << 10;
  static constexpr size_t kHugePageBytes = size_t{2} << 20;

  PageBuffer() = default;
  // At least `bytes`, rounded up to pages; throws std::bad_alloc. From kHugePageBytes on the buffer
  // is aligned to huge pages, and the system is asked to use them unless `pages` is kSmall. It may
  // be unable to, which only costs speed.
  enum class Pages : bool { kSmall, kHuge };
  explicit PageBuffer(size_t bytes, Pages pages = Pages::kHuge);
  ~PageBuffer() { Free(); }
  PageBuffer(PageBuffer&& other) noexcept { Swap(&other); }
  PageBuffer& operator=(PageBuffer&& other) noexcept {
    Swap(&other);
    return *this;
  }

  char* data() const { return data_; }
  size_t size() const { return size_; }

  // Allocates at once the pages that are completely within [begin, begin + bytes) of a buffer.
  // Otherwise each is allocated when it is first written to. It is only advice: if it is refused,
  // nothing is lost.
  static void TouchAhead(char* begin, size_t bytes);
  // Frees the pages that are completely within the range. Their content is lost, and the next
  // access allocates new pages.
  static void Drop(char* begin, size_t bytes);

 private:
  void Free();
  void Swap(PageBuffer* other) {
    assert(other != nullptr);
    std::swap(data_, other->data_);
    std::swap(size_, other->size_);
    std::swap(is_mapped_, other->is_mapped_);
  }

  char* data_ = nullptr;
  size_t size_ = 0;
  bool is_mapped_ = false;
};

// Sanitizers only detect wrong accesses to memory from their own heap.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kHeapIsWatched = true;
#else
inline constexpr bool kHeapIsWatched = false;
#endif

}  // namespace ashlar
