// SPDX-License-Identifier: Apache-2.0
//
// BlockHandle is the position of a block in its file. Encoded as two varint64: offset and size.
// docs/formats/block_based_table.md, sections 1.1 and 1.2.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "util/keys/coding.h"

namespace ashlar {

// Behind every stored block: one byte with the compression type, and a checksum of four bytes.
inline constexpr size_t kBlockTrailerBytes = 5;
inline constexpr size_t kMaxBlockHandleBytes = 2 * kMaxVarint64Bytes;

// A plain value. Handles from files are untrusted until FitsBefore() was true.
struct BlockHandle {
  uint64_t offset = 0;
  uint64_t size = 0;  // bytes of the block in the file, without the trailer

  friend bool operator==(const BlockHandle& a, const BlockHandle& b) {
    return a.offset == b.offset && a.size == b.size;
  }

  bool IsNull() const { return offset == 0 && size == 0; }
  // The first byte behind the trailer. Only for handles that lie inside a file.
  uint64_t end() const { return offset + size + kBlockTrailerBytes; }

  // True if block and trailer lie inside the first `limit` bytes of a file. Handles are read from
  // files, so nothing may be read through a handle before this was checked.
  bool FitsBefore(uint64_t limit) const {
    return limit >= kBlockTrailerBytes && size <= limit - kBlockTrailerBytes &&
           offset <= limit - kBlockTrailerBytes - size;
  }

  // Writes at most kMaxBlockHandleBytes bytes and returns their end.
  char* EncodeTo(char* dst) const { return EncodeVarint64(EncodeVarint64(dst, offset), size); }
  void AppendTo(std::string* dst) const { PutVarint64Varint64(dst, offset, size); }
};

// Returns the first byte behind the handle, or null if there is no valid handle in [p, limit).
inline const char* ParseBlockHandle(const char* p, const char* limit, BlockHandle* handle) {
  assert(handle != nullptr);
  p = GetVarint64Ptr(p, limit, &handle->offset);
  return p == nullptr ? nullptr : GetVarint64Ptr(p, limit, &handle->size);
}

// Removes a handle from the begin of `input`. False if there is none; `input` is unchanged then.
inline bool GetBlockHandle(Slice* input, BlockHandle* handle) {
  assert(input != nullptr);
  const char* limit = input->data() + input->size();
  const char* p = ParseBlockHandle(input->data(), limit, handle);
  if (p == nullptr) return false;
  *input = Slice(p, static_cast<size_t>(limit - p));
  return true;
}

}  // namespace ashlar
