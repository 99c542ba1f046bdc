// SPDX-License-Identifier: Apache-2.0
//
// A read that begins inside the buffer and ends behind it keeps what is there and reads the rest.
#include "table/sst/readahead.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace ashlar {
namespace {

// Blocks may be followed by padding; gaps up to this size still count as sequential.
constexpr uint64_t kMaxGapBytes = 4096;
// Of a fixed readahead, if the file system keeps what is fetched beyond.
constexpr size_t kPieceBytes = 256 * 1024;

}  // namespace

Status Readahead::Read(const RandomReader& file, uint64_t offset, size_t n, char* scratch,
                       Slice* result, const IOOptions& io) {
  if (offset >= begin_ && offset + n <= begin_ + size_) {
    *result = Slice(buffer_.data() + (offset - begin_), n);
    expected_ = offset + n;
    return Status::OK();
  }
  size_t bytes = BytesToRead(offset, n);
  expected_ = offset + n;
  if (options_.fixed_bytes > kPieceBytes && can_prefetch_ && !file.file()->use_direct_io()) {
    const size_t piece = std::max(n, kPieceBytes);
    PrefetchBehind(file, offset + piece);
    if (can_prefetch_) bytes = piece;
  }
  if (bytes <= n) return file.ReadExactly(offset, n, scratch, result, io);
  if (options_.is_async && can_prefetch_) PrefetchNext(file, offset + bytes);
  const uint64_t left = file.size() - std::min(file.size(), offset);
  Status status =
      Fill(file, offset, std::max(n, static_cast<size_t>(std::min<uint64_t>(left, bytes))), io);
  if (status.ok()) *result = Slice(buffer_.data(), n);
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
  assert(bytes >= n);
  next_bytes_ = std::min(options_.max_bytes, 2 * next_bytes_);
  return bytes;
}

// Asks for the next fixed_bytes behind `end`, in halves, so that there is always one half ahead.
void Readahead::PrefetchBehind(const RandomReader& file, uint64_t end) {
  assert(can_prefetch_);
  const uint64_t half = options_.fixed_bytes / 2;
  const bool is_elsewhere = end + options_.fixed_bytes < prefetched_end_ || end > prefetched_end_;
  if (!is_elsewhere && end + half <= prefetched_end_) return;
  const uint64_t begin = is_elsewhere ? end : prefetched_end_;
  Prefetch(file, begin, end + options_.fixed_bytes);
}

// Asks for what the next read will want, while the present one is waited for and used.
void Readahead::PrefetchNext(const RandomReader& file, uint64_t end) {
  if (prefetched_end_ > end) return;  // asked for already, by a readahead of fixed length
  Prefetch(file, end, end + (options_.fixed_bytes != 0 ? options_.fixed_bytes : next_bytes_));
}

void Readahead::Prefetch(const RandomReader& file, uint64_t begin, uint64_t end) {
  assert(can_prefetch_);
  prefetched_end_ = std::min(file.size(), end);
  if (begin >= prefetched_end_) return;
  const IOStatus status = file.file()->Prefetch(begin, static_cast<size_t>(prefetched_end_ - begin),
                                                IOOptions(), nullptr);
  can_prefetch_ = !status.IsNotSupported();  // of other errors the read itself will tell
}

// Makes the buffer hold `bytes` bytes from `offset` on.
Status Readahead::Fill(const RandomReader& file, uint64_t offset, size_t bytes,
                       const IOOptions& io) {
  size_t kept = 0;
  if (offset >= begin_ && offset < begin_ + size_) {
    kept = static_cast<size_t>(begin_ + size_ - offset);
    assert(kept < bytes);  // else Read() had found all of it
  }
  char* const old = buffer_.data();
  const char* const kept_from = kept == 0 ? nullptr : old + (offset - begin_);
  PageBuffer grown;
  if (buffer_.size() < bytes) grown = PageBuffer(bytes);
  char* const target = grown.data() != nullptr ? grown.data() : old;
  if (kept != 0) std::memmove(target, kept_from, kept);
  if (grown.data() != nullptr) buffer_ = std::move(grown);
  begin_ = offset;
  size_ = 0;
  Slice rest;
  Status status = file.ReadExactly(offset + kept, bytes - kept, target + kept, &rest, io);
  if (!status.ok()) return status;
  if (rest.data() != target + kept) std::memcpy(target + kept, rest.data(), rest.size());
  size_ = bytes;
  assert(size_ <= buffer_.size());
  return status;
}

}  // namespace ashlar
