// SPDX-License-Identifier: Apache-2.0
//
// A read that begins inside the buffer and ends behind it keeps what is there and reads the rest.
#include "table/sst/readahead.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ashlar {
namespace {

// Blocks may be followed by padding; gaps up to this size still count as sequential.
constexpr uint64_t kMaxGapBytes = 4096;

}  // namespace

Status Readahead::Read(const RandomReader& file, uint64_t offset, size_t n, char* scratch,
                       Slice* result) {
  if (offset >= begin_ && offset + n <= begin_ + size_) {
    *result = Slice(buffer_.get() + (offset - begin_), n);
    expected_ = offset + n;
    return Status::OK();
  }
  const size_t bytes = BytesToRead(offset, n);
  expected_ = offset + n;
  if (bytes <= n) return file.ReadExactly(offset, n, scratch, result);
  const uint64_t left = file.size() - std::min(file.size(), offset);
  Status status =
      Fill(file, offset, std::max(n, static_cast<size_t>(std::min<uint64_t>(left, bytes))));
  if (status.ok()) *result = Slice(buffer_.get(), n);
  return status;
}

size_t Readahead::BytesToRead(uint64_t offset, size_t n) {
  if (options_.fixed_bytes != 0) return std::max(n, options_.fixed_bytes);
  const bool is_sequential = offset >= expected_ && offset - expected_ <= kMaxGapBytes;
  if (!is_sequential) {
    sequential_reads_ = 1;
    next_bytes_ = 0;
    return n;
  }
  if (options_.max_bytes == 0 || ++sequential_reads_ <= options_.reads_before) return n;
  if (next_bytes_ == 0) next_bytes_ = std::max<size_t>(options_.initial_bytes, 1);
  const size_t bytes = n + std::min(next_bytes_, options_.max_bytes);
  next_bytes_ = std::min(options_.max_bytes, 2 * next_bytes_);
  return bytes;
}

// Makes the buffer hold `bytes` bytes from `offset` on.
Status Readahead::Fill(const RandomReader& file, uint64_t offset, size_t bytes) {
  size_t kept = 0;
  if (offset >= begin_ && offset < begin_ + size_) {
    kept = static_cast<size_t>(begin_ + size_ - offset);
  }
  char* const old = buffer_.get();
  const char* const kept_from = kept == 0 ? nullptr : old + (offset - begin_);
  std::unique_ptr<char[]> grown;
  if (capacity_ < bytes) grown = std::make_unique_for_overwrite<char[]>(bytes);
  char* const target = grown != nullptr ? grown.get() : old;
  if (kept != 0) std::memmove(target, kept_from, kept);
  if (grown != nullptr) {
    buffer_ = std::move(grown);
    capacity_ = bytes;
  }
  begin_ = offset;
  size_ = 0;
  Slice rest;
  Status status = file.ReadExactly(offset + kept, bytes - kept, target + kept, &rest);
  if (!status.ok()) return status;
  if (rest.data() != target + kept) std::memcpy(target + kept, rest.data(), rest.size());
  size_ = bytes;
  return status;
}

}  // namespace ashlar
