// SPDX-License-Identifier: Apache-2.0
//
// PageBuffer: memory in whole pages, from the system and back to it at once.
//
// For large buffers that come and go. A heap keeps what it was given back, in a share per thread,
// and after the first large piece it keeps ever larger ones (glibc's threshold grows): with
// background threads that flush and compact in turn the process would hold the sum of their peaks.
// Pages that were never touched take no memory. What is small comes from the heap all the same,
// where it is cheaper. Threads: one at a time.
#pragma once

#include <cstddef>
#include <utility>

namespace ashlar {

class PageBuffer {
 public:
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kMinMappedBytes = 64 << 10;
  static constexpr size_t kHugePageBytes = size_t{2} << 20;

  PageBuffer() = default;
  // At least `bytes`, rounded up to pages; throws std::bad_alloc. From kHugePageBytes on it is
  // always aligned to huge pages and, unless told otherwise, asks for them; without them it is as
  // good, only slower.
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

  // Asks for the pages that lie wholly in [begin, begin + bytes) of a buffer at once, as they would
  // come one by one when they are first written. Only advice: nothing is lost where it is refused.
  static void TouchAhead(char* begin, size_t bytes);
  // Gives the pages that lie wholly there back: what they held is lost, and the next touch gets new
  // ones.
  static void Drop(char* begin, size_t bytes);

 private:
  void Free();
  void Swap(PageBuffer* other) {
    std::swap(data_, other->data_);
    std::swap(size_, other->size_);
    std::swap(is_mapped_, other->is_mapped_);
  }

  char* data_ = nullptr;
  size_t size_ = 0;
  bool is_mapped_ = false;
};

// Sanitizers see what becomes of memory only if it comes from their own heap.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kHeapIsWatched = true;
#else
inline constexpr bool kHeapIsWatched = false;
#endif

}  // namespace ashlar
