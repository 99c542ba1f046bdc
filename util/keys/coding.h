// SPDX-License-Identifier: Apache-2.0
//
// Encodings: little-endian integers of fixed width, varints (seven bits per byte, least significant
// group first, the top bit says that another byte follows), zigzag, and strings after a varint
// length.
//
// Put* append to a string. Encode* write to a buffer that is large enough and return its end.
// Get*Ptr read from [p, limit) and return the first byte after the number, or nullptr if the bytes
// end too early or the number is too large. Get* of a Slice advance it, or return false and leave
// it unchanged. No function reads outside of the given range. Threads: pure functions.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>

#include "ashlar/slice.h"
#include "util/keys/file_number.h"

namespace ashlar {

inline constexpr size_t kMaxVarint32Bytes = 5;
inline constexpr size_t kMaxVarint64Bytes = 10;

namespace coding_internal {
constexpr uint16_t ToLittleEndian(uint16_t v) {
  return std::endian::native == std::endian::little ? v : __builtin_bswap16(v);
}
constexpr uint32_t ToLittleEndian(uint32_t v) {
  return std::endian::native == std::endian::little ? v : __builtin_bswap32(v);
}
constexpr uint64_t ToLittleEndian(uint64_t v) {
  return std::endian::native == std::endian::little ? v : __builtin_bswap64(v);
}
template <typename T>
inline T Load(const void* p) {
  T value;
  std::memcpy(&value, p, sizeof(value));
  return ToLittleEndian(value);
}
template <typename T>
inline void Store(void* p, T value) {
  value = ToLittleEndian(value);
  std::memcpy(p, &value, sizeof(value));
}
// The general loops. The inline functions below handle numbers of one byte themselves.
const char* GetVarint32PtrSlow(const char* p, const char* limit, uint32_t* value);
const char* GetVarint64PtrSlow(const char* p, const char* limit, uint64_t* value);
}  // namespace coding_internal

// Fixed width.
inline uint16_t DecodeFixed16(const char* p) { return coding_internal::Load<uint16_t>(p); }
inline uint32_t DecodeFixed32(const char* p) { return coding_internal::Load<uint32_t>(p); }
inline uint64_t DecodeFixed64(const char* p) { return coding_internal::Load<uint64_t>(p); }
inline void EncodeFixed16(char* p, uint16_t value) { coding_internal::Store(p, value); }
inline void EncodeFixed32(char* p, uint32_t value) { coding_internal::Store(p, value); }
inline void EncodeFixed64(char* p, uint64_t value) { coding_internal::Store(p, value); }

inline void PutFixed16(std::string* dst, uint16_t value) {
  assert(dst != nullptr);
  char bytes[sizeof(value)];
  EncodeFixed16(bytes, value);
  dst->append(bytes, sizeof(bytes));
}
inline void PutFixed32(std::string* dst, uint32_t value) {
  assert(dst != nullptr);
  char bytes[sizeof(value)];
  EncodeFixed32(bytes, value);
  dst->append(bytes, sizeof(bytes));
}
inline void PutFixed64(std::string* dst, uint64_t value) {
  assert(dst != nullptr);
  char bytes[sizeof(value)];
  EncodeFixed64(bytes, value);
  dst->append(bytes, sizeof(bytes));
}

// Varints.
constexpr size_t VarintLength(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}
inline char* EncodeVarint64(char* dst, uint64_t value) {
  while (value >= 0x80) {
    *dst++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *dst++ = static_cast<char>(value);
  return dst;
}
inline char* EncodeVarint32(char* dst, uint32_t value) { return EncodeVarint64(dst, value); }

inline void PutVarint64(std::string* dst, uint64_t value) {
  assert(dst != nullptr);
  char bytes[kMaxVarint64Bytes];
  dst->append(bytes, static_cast<size_t>(EncodeVarint64(bytes, value) - bytes));
}
inline void PutVarint32(std::string* dst, uint32_t value) { PutVarint64(dst, value); }
inline void PutFileNumber(std::string* dst, FileNumber number) { PutVarint64(dst, number.value()); }
inline void PutVarint32Varint32(std::string* dst, uint32_t a, uint32_t b) {
  PutVarint32(dst, a);
  PutVarint32(dst, b);
}
inline void PutVarint64Varint64(std::string* dst, uint64_t a, uint64_t b) {
  PutVarint64(dst, a);
  PutVarint64(dst, b);
}

// A number that needs more than 32 bits is an error. It is never truncated.
inline const char* GetVarint32Ptr(const char* p, const char* limit, uint32_t* value) {
  if (p < limit && static_cast<signed char>(*p) >= 0) [[likely]] {
    *value = static_cast<unsigned char>(*p);
    return p + 1;
  }
  return coding_internal::GetVarint32PtrSlow(p, limit, value);
}
inline const char* GetVarint64Ptr(const char* p, const char* limit, uint64_t* value) {
  if (p < limit && static_cast<signed char>(*p) >= 0) [[likely]] {
    *value = static_cast<unsigned char>(*p);
    return p + 1;
  }
  return coding_internal::GetVarint64PtrSlow(p, limit, value);
}

// Maps signed numbers near zero to small unsigned numbers.
constexpr uint64_t ZigZagEncode(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t ZigZagDecode(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (0 - (value & 1)));
}

// Strings after a varint length.
inline void PutLengthPrefixedSlice(std::string* dst, const Slice& value) {
  assert(dst != nullptr);
  PutVarint32(dst, static_cast<uint32_t>(value.size()));
  dst->append(value.data(), value.size());
}
// Returns the string at `p`, which must be well formed, such as bytes that this process has
// encoded.
inline Slice GetLengthPrefixedSlice(const char* p) {
  uint32_t length = 0;
  const char* data = GetVarint32Ptr(p, p + kMaxVarint32Bytes, &length);
  return Slice(data, length);
}
// Returns the first byte after the string, or nullptr.
inline const char* GetLengthPrefixedSlicePtr(const char* p, const char* limit, Slice* result) {
  uint32_t length = 0;
  p = GetVarint32Ptr(p, limit, &length);
  if (p == nullptr || static_cast<size_t>(limit - p) < length) return nullptr;
  *result = Slice(p, length);
  return p + length;
}

// Parsers that advance a Slice.
bool GetFixed16(Slice* input, uint16_t* value);
bool GetFixed32(Slice* input, uint32_t* value);
bool GetFixed64(Slice* input, uint64_t* value);
bool GetVarint32(Slice* input, uint32_t* value);
bool GetVarint64(Slice* input, uint64_t* value);
inline bool GetFileNumber(Slice* input, FileNumber* number) {
  uint64_t value;
  if (!GetVarint64(input, &value)) return false;
  *number = FileNumber{value};
  return true;
}
bool GetLengthPrefixedSlice(Slice* input, Slice* result);
// Returns the next `size` bytes unchanged.
bool GetBytes(Slice* input, size_t size, Slice* result);

}  // namespace ashlar
