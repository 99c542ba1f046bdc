// SPDX-License-Identifier: Apache-2.0
//
// AlignedBuffer: memory with the alignment that direct I/O needs. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstddef>
#include <new>
#include <utility>

namespace ashlar {

// Movable, not copyable; frees the memory at its end.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  // `alignment` is a power of two. Throws std::bad_alloc.
  AlignedBuffer(size_t bytes, size_t alignment)
      : data_(static_cast<char*>(::operator new (bytes, std::align_val_t{alignment}))),
        size_(bytes),
        alignment_(alignment) {
    assert(alignment > 0);
    assert((alignment & (alignment - 1)) == 0);
  }
  ~AlignedBuffer() {
    if (data_ != nullptr) ::operator delete (data_, std::align_val_t{alignment_});
  }
  AlignedBuffer(AlignedBuffer&& other) noexcept { Swap(&other); }
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    Swap(&other);
    return *this;
  }

  char* data() const { return data_; }
  // The size in bytes as requested; the content is not initialized.
  size_t size() const { return size_; }

 private:
  void Swap(AlignedBuffer* other) {
    assert(other != nullptr);
    std::swap(data_, other->data_);
    std::swap(size_, other->size_);
    std::swap(alignment_, other->alignment_);
  }

  char* data_ = nullptr;
  size_t size_ = 0;
  size_t alignment_ = 0;
};

}  // namespace ashlar
