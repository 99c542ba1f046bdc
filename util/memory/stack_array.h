// SPDX-License-Identifier: Apache-2.0
//
// StackArray is an array whose length is chosen at construction. Up to `kInline` elements are in
// the object itself, more are on the heap. The elements are not initialised and have no
// destructors. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace ashlar {

template <typename T, size_t kInline>
class StackArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>);

 public:
  explicit StackArray(size_t size)
      : heap_(size > kInline ? std::make_unique_for_overwrite<T[]>(size) : nullptr), size_(size) {}
  StackArray(const StackArray&) = delete;
  StackArray& operator=(const StackArray&) = delete;

  T* data() { return heap_ != nullptr ? heap_.get() : inline_; }
  size_t size() const { return size_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  T& operator[](size_t i) {
    assert(i < size_);
    return data()[i];
  }

 private:
  const std::unique_ptr<T[]> heap_;
  const size_t size_;
  T inline_[kInline];
};

}  // namespace ashlar
