// SPDX-License-Identifier: Apache-2.0
//
// The parts of Slice and PinnableSlice that are not needed on hot paths.
#include "ashlar/slice.h"

#include <cassert>

namespace ashlar {

namespace {

// The value of a hexadecimal digit, or -1.
int HexDigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

// `buf` belongs to the caller and must outlive the slice.
Slice::Slice(const SliceParts& parts, std::string* buf) {
  assert(buf != nullptr);
  buf->clear();
  for (int i = 0; i < parts.num_parts; ++i)
    buf->append(parts.parts[i].data(), parts.parts[i].size());
  data_ = buf->data();
  size_ = buf->size();
}

std::string Slice::ToString(bool hex) const {
  if (!hex) return std::string(data_, size_);
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string result;
  result.reserve(2 * size_);
  for (size_t i = 0; i < size_; ++i) {
    const auto byte = static_cast<unsigned char>(data_[i]);
    result.push_back(kDigits[byte >> 4]);
    result.push_back(kDigits[byte & 0xf]);
  }
  return result;
}

// Digits may be upper or lower case. `*result` is unspecified after a failure.
bool Slice::DecodeHex(std::string* result) const {
  if (result == nullptr || size_ % 2 != 0) return false;
  result->clear();
  result->reserve(size_ / 2);
  for (size_t i = 0; i < size_; i += 2) {
    const int high = HexDigitValue(data_[i]), low = HexDigitValue(data_[i + 1]);
    if (high < 0 || low < 0) return false;
    result->push_back(static_cast<char>(high << 4 | low));
  }
  return true;
}

PinnableSlice::PinnableSlice(PinnableSlice&& other) : PinnableSlice() { *this = std::move(other); }

// If the slice is a copy in the string of `other`, it moves together with the string. A pinned
// slice, or one in a string of the caller, keeps its bytes.
PinnableSlice& PinnableSlice::operator=(PinnableSlice&& other) {
  if (this == &other) return *this;
  Cleanable::Reset();
  const bool owns_string = other.buf_ == &other.self_space_;
  const bool in_own_string = owns_string && !other.pinned_;
  // The position is kept as an offset, because the bytes of a short string are inside of the string
  // object and move with it. The pointer of an empty slice may be anything, so it has no offset.
  const size_t offset =
      in_own_string && other.size_ != 0 ? other.data_ - other.self_space_.data() : 0;
  if (owns_string) self_space_ = std::move(other.self_space_);
  buf_ = owns_string ? &self_space_ : other.buf_;
  pinned_ = other.pinned_;
  data_ = in_own_string ? self_space_.data() + offset : other.data_;
  size_ = other.size_;
  other.DelegateCleanupsTo(this);
  other.self_space_.clear();
  other.buf_ = &other.self_space_;
  other.pinned_ = false;
  other.PinSelf();
  return *this;
}

}  // namespace ashlar
