// SPDX-License-Identifier: Apache-2.0
//
// The loops for varints of several bytes, and the parsers that advance a Slice.
#include "util/keys/coding.h"

#include <cassert>

namespace ashlar {

namespace coding_internal {

// `p` is in [begin, limit]. Bytes that end in the middle of a number, and numbers above 64 bits,
// give null.
const char* GetVarint64PtrSlow(const char* p, const char* limit, uint64_t* value) {
  uint64_t result = 0;
  for (unsigned shift = 0; shift <= 63 && p < limit; shift += 7) {
    const uint64_t byte = static_cast<unsigned char>(*p++);
    // The tenth byte has one bit of the number; higher bits would be lost.
    if (shift == 63 && byte > 1) return nullptr;
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return p;
    }
  }
  return nullptr;
}

const char* GetVarint32PtrSlow(const char* p, const char* limit, uint32_t* value) {
  uint32_t result = 0;
  for (unsigned shift = 0; shift <= 28 && p < limit; shift += 7) {
    const uint32_t byte = static_cast<unsigned char>(*p++);
    // The fifth byte has four bits of the number.
    if (shift == 28 && byte > 0x0f) return nullptr;
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return p;
    }
  }
  return nullptr;
}

}  // namespace coding_internal

namespace {

// Removes the bytes before `p` from `input`. Null means that parsing failed, and returns false.
// The parsers return a position within the input, never behind its end.
bool AdvanceTo(Slice* input, const char* p) {
  if (p == nullptr) return false;
  assert(p >= input->data());
  assert(p <= input->data() + input->size());
  input->remove_prefix(static_cast<size_t>(p - input->data()));
  return true;
}

}  // namespace

bool GetFixed16(Slice* input, uint16_t* value) {
  assert(input != nullptr);
  if (input->size() < sizeof(*value)) return false;
  *value = DecodeFixed16(input->data());
  input->remove_prefix(sizeof(*value));
  return true;
}

bool GetFixed32(Slice* input, uint32_t* value) {
  assert(input != nullptr);
  if (input->size() < sizeof(*value)) return false;
  *value = DecodeFixed32(input->data());
  input->remove_prefix(sizeof(*value));
  return true;
}

bool GetFixed64(Slice* input, uint64_t* value) {
  assert(input != nullptr);
  if (input->size() < sizeof(*value)) return false;
  *value = DecodeFixed64(input->data());
  input->remove_prefix(sizeof(*value));
  return true;
}

bool GetVarint32(Slice* input, uint32_t* value) {
  return AdvanceTo(input, GetVarint32Ptr(input->data(), input->data() + input->size(), value));
}

bool GetVarint64(Slice* input, uint64_t* value) {
  return AdvanceTo(input, GetVarint64Ptr(input->data(), input->data() + input->size(), value));
}

bool GetLengthPrefixedSlice(Slice* input, Slice* result) {
  assert(input != nullptr);
  const char* limit = input->data() + input->size();
  return AdvanceTo(input, GetLengthPrefixedSlicePtr(input->data(), limit, result));
}

bool GetBytes(Slice* input, size_t size, Slice* result) {
  assert(input != nullptr);
  assert(result != nullptr);
  if (input->size() < size) return false;
  *result = Slice(input->data(), size);
  input->remove_prefix(size);
  return true;
}

}  // namespace ashlar
