// SPDX-License-Identifier: Apache-2.0
//
// Slice is a pointer and a length: bytes that it does not own. PinnableSlice can own its bytes, or
// keep memory of the database alive, so that reads need not copy. OptSlice is a Slice that may be
// absent.
//
// A Slice is valid as long as the memory that it points to. Bytes compare as unsigned numbers.
// Threads: const members may be called from many threads; other calls need external locking.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "ashlar/cleanable.h"
#include "ashlar/export.h"

namespace ashlar {

// A pointer to bytes and their number; does not own the bytes.
class ASHLAR_EXPORT Slice {
 public:
  Slice() : data_(""), size_(0) {}
  Slice(const char* d, size_t n) : data_(d), size_(n) {}
  // These constructors are implicit. None of them copies bytes.
  Slice(const std::string& s) : data_(s.data()), size_(s.size()) {}             // NOLINT
  Slice(const std::string_view& sv) : data_(sv.data()), size_(sv.size()) {}     // NOLINT
  Slice(const char* s) : data_(s), size_(s == nullptr ? 0 : std::strlen(s)) {}  // NOLINT
  // Concatenates the parts in *buf and points to it.
  Slice(const struct SliceParts& parts, std::string* buf);

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // n must be smaller than size().
  char operator[](size_t n) const {
    assert(n < size_);
    return data_[n];
  }

  void clear() {
    data_ = "";
    size_ = 0;
  }

  // Remove `n` bytes at the beginning or the end; `n` must not exceed size().
  void remove_prefix(size_t n) {
    assert(n <= size_);
    data_ += n;
    size_ -= n;
  }
  void remove_suffix(size_t n) {
    assert(n <= size_);
    size_ -= n;
  }

  // Returns a copy of the bytes; with hex == true, two upper-case hexadecimal digits per byte.
  std::string ToString(bool hex = false) const;
  std::string_view ToStringView() const { return std::string_view(data_, size_); }

  // The reverse of ToString(true). Returns false for an odd number of characters or an invalid
  // digit; *result is unspecified then.
  bool DecodeHex(std::string* result) const;

  // Returns a negative number, zero or a positive number if this slice sorts before, equals or
  // sorts after `b`. Bytes are compared as unsigned numbers; a prefix sorts before a longer slice.
  int compare(const Slice& b) const;

  bool starts_with(const Slice& x) const {
    return size_ >= x.size_ && std::memcmp(data_, x.data_, x.size_) == 0;
  }
  bool ends_with(const Slice& x) const {
    return size_ >= x.size_ && std::memcmp(data_ + size_ - x.size_, x.data_, x.size_) == 0;
  }

  // Returns the index of the first byte that differs; if there is none, the shorter length.
  size_t difference_offset(const Slice& b) const;

  const char* data_;
  size_t size_;
};

// A Slice that may be absent, for example for a range without bound. Does not own the bytes.
class OptSlice {
 public:
  OptSlice() : slice_(nullptr, 0) {}
  OptSlice(const Slice& s) : slice_(s) {}               // NOLINT
  OptSlice(const std::string& s) : slice_(s) {}         // NOLINT
  OptSlice(const std::string_view& sv) : slice_(sv) {}  // NOLINT
  OptSlice(const char* c_str) : slice_(c_str) {}        // NOLINT
  OptSlice(std::nullptr_t) : OptSlice() {}              // NOLINT

  bool has_value() const noexcept { return slice_.data_ != nullptr; }
  explicit operator bool() const noexcept { return has_value(); }

  // Must only be called if has_value().
  const Slice& value() const noexcept {
    assert(has_value());
    return slice_;
  }
  const Slice& operator*() const noexcept { return value(); }
  const Slice* operator->() const noexcept { return &value(); }

  // nullptr if there is no value; otherwise valid as long as this object.
  const Slice* AsPtr() const noexcept { return has_value() ? &slice_ : nullptr; }
  static OptSlice CopyFromPtr(const Slice* ptr) {
    return ptr != nullptr ? OptSlice(*ptr) : OptSlice();
  }

 protected:
  Slice slice_;
};

// The result of a read. It either holds a copy of the bytes in a string (its own, or the one that
// was passed to the constructor), or it is pinned: it points to other memory, which its cleanups
// release. Reset() releases that memory and keeps the capacity of the string.
class ASHLAR_EXPORT PinnableSlice : public Slice, public Cleanable {
 public:
  PinnableSlice() : buf_(&self_space_) {}
  // Uses *buf for copies; it must outlive this object.
  explicit PinnableSlice(std::string* buf) : buf_(buf) {}

  PinnableSlice(PinnableSlice&& other);
  PinnableSlice& operator=(PinnableSlice&& other);
  PinnableSlice(const PinnableSlice&) = delete;
  PinnableSlice& operator=(const PinnableSlice&) = delete;

  // Points to `s` until Reset() or the destructor, which call f(arg1, arg2). Must not be pinned.
  void PinSlice(const Slice& s, CleanupFunction f, void* arg1, void* arg2) {
    assert(!pinned_);
    pinned_ = true;
    data_ = s.data();
    size_ = s.size();
    RegisterCleanup(f, arg1, arg2);
  }

  // Points to `s` and takes over the cleanups of *cleanable; nullptr = no cleanups.
  void PinSlice(const Slice& s, Cleanable* cleanable) {
    assert(!pinned_);
    pinned_ = true;
    data_ = s.data();
    size_ = s.size();
    if (cleanable != nullptr) cleanable->DelegateCleanupsTo(this);
  }

  // Copies the bytes into the string. Must not be pinned.
  void PinSelf(const Slice& slice) {
    assert(!pinned_);
    buf_->assign(slice.data(), slice.size());
    PinSelf();
  }
  // Points to the contents of *GetSelf().
  void PinSelf() {
    assert(!pinned_);
    data_ = buf_->data();
    size_ = buf_->size();
  }

  // Remove `n` bytes; if the slice is not pinned, also from its string. `n` must not exceed size().
  void remove_suffix(size_t n) {
    assert(n <= size_);
    if (pinned_) {
      size_ -= n;
      return;
    }
    buf_->erase(size_ - n, n);
    PinSelf();
  }
  void remove_prefix(size_t n) {
    assert(n <= size_);
    if (pinned_) {
      data_ += n;
      size_ -= n;
      return;
    }
    buf_->erase(0, n);
    PinSelf();
  }

  // Calls the cleanups and makes the slice empty. Does not allocate or free memory itself.
  void Reset() {
    Cleanable::Reset();
    pinned_ = false;
    size_ = 0;
  }

  std::string* GetSelf() { return buf_; }
  bool IsPinned() const { return pinned_; }

 private:
  std::string self_space_;
  std::string* buf_;  // self_space_ or the string that was passed to the constructor
  bool pinned_ = false;
};

// Several slices that together form one key or value. Does not own the array.
struct SliceParts {
  SliceParts(const Slice* _parts, int _num_parts) : parts(_parts), num_parts(_num_parts) {}
  SliceParts() : parts(nullptr), num_parts(0) {}

  const Slice* parts;
  int num_parts;
};

inline bool operator==(const Slice& x, const Slice& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size()) == 0;
}
inline bool operator!=(const Slice& x, const Slice& y) { return !(x == y); }

// Keys often differ in their first eight bytes; comparing these as integers is faster than
// memcmp().
inline int Slice::compare(const Slice& b) const {
  const size_t common = size_ < b.size_ ? size_ : b.size_;
  size_t done = 0;
  if (common >= sizeof(uint64_t)) {
    uint64_t x, y;
    std::memcpy(&x, data_, sizeof(x));
    std::memcpy(&y, b.data_, sizeof(y));
    if (x != y) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
      x = __builtin_bswap64(x);
      y = __builtin_bswap64(y);
#endif
      return x < y ? -1 : +1;
    }
    done = sizeof(uint64_t);
  }
  const int order = common == done ? 0 : std::memcmp(data_ + done, b.data_ + done, common - done);
  if (order != 0) return order;
  return size_ < b.size_ ? -1 : size_ > b.size_ ? +1 : 0;
}

inline size_t Slice::difference_offset(const Slice& b) const {
  const size_t common = size_ < b.size_ ? size_ : b.size_;
  size_t offset = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  for (; offset + sizeof(uint64_t) <= common; offset += sizeof(uint64_t)) {
    uint64_t x, y;
    std::memcpy(&x, data_ + offset, sizeof(x));
    std::memcpy(&y, b.data_ + offset, sizeof(y));
    if (x != y) return offset + static_cast<size_t>(__builtin_ctzll(x ^ y)) / 8;
  }
#endif
  while (offset < common && data_[offset] == b.data_[offset]) ++offset;
  return offset;
}

}  // namespace ashlar
