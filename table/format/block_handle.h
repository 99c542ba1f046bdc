// SPDX-License-Identifier: Apache-2.0
//
// BlockHandle says where a block lies in its file. Bytes: two varint64, offset and size.
// docs/formats/block_based_table.md, sections 1.1 and 1.2.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "util/keys/coding.h"

namespace ashlar {

// Behind the stored bytes of every block: one byte of compression type, a u32 checksum.
inline constexpr size_t kBlockTrailerBytes = 5;
inline constexpr size_t kMaxBlockHandleBytes = 2 * kMaxVarint64Bytes;

struct BlockHandle {
  uint64_t offset = 0;
  uint64_t size = 0;  // stored bytes, without the trailer

  friend bool operator==(const BlockHandle& a, const BlockHandle& b) {
    return a.offset == b.offset && a.size == b.size;
  }

  bool IsNull() const { return offset == 0 && size == 0; }
  // First byte behind the trailer. Only for handles known to lie inside a file.
  uint64_t end() const { return offset + size + kBlockTrailerBytes; }

  // True when block and trailer lie inside the first `limit` bytes of a file. Handles come from a
  // disk: nothing may be read through one before this holds.
  bool FitsBefore(uint64_t limit) const {
    return limit >= kBlockTrailerBytes && size <= limit - kBlockTrailerBytes &&
           offset <= limit - kBlockTrailerBytes - size;
  }

  // Writes at most kMaxBlockHandleBytes; returns the end of what was written.
  char* EncodeTo(char* dst) const { return EncodeVarint64(EncodeVarint64(dst, offset), size); }
  void AppendTo(std::string* dst) const { PutVarint64Varint64(dst, offset, size); }
};

// Returns the first byte behind the handle, or nullptr when [p, limit) does not hold one.
inline const char* ParseBlockHandle(const char* p, const char* limit, BlockHandle* handle) {
  p = GetVarint64Ptr(p, limit, &handle->offset);
  return p == nullptr ? nullptr : GetVarint64Ptr(p, limit, &handle->size);
}

// Advances `input` over a handle; false, and nothing consumed, when there is none.
inline bool GetBlockHandle(Slice* input, BlockHandle* handle) {
  const char* limit = input->data() + input->size();
  const char* p = ParseBlockHandle(input->data(), limit, handle);
  if (p == nullptr) return false;
  *input = Slice(p, static_cast<size_t>(limit - p));
  return true;
}

}  // namespace ashlar
