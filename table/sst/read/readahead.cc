// SPDX-License-Identifier: Apache-2.0
//
// A read that begins inside the buffer and ends behind it keeps the part that the buffer has and
// reads the rest.
#include "table/sst/read/readahead.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>
#include <vector>

#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Padding may follow a block; reads with gaps up to this size count as sequential.
constexpr uint64_t kMaxSkipBytes = 4096;
// The size of one read of a fixed readahead if the file system reads the rest of the distance
// ahead.
constexpr size_t kPieceBytes = 256 * 1024;

// True if the file system can start a read without waiting for it.
bool CanStartReads(const RandomReader& file) {
  if (file.fs() == nullptr || file.is_direct()) return false;
  int64_t supported = 0;
  file.fs()->SupportedOps(supported);
  return (supported >> FSSupportedOps::kAsyncIO & 1) != 0;
}

}  // namespace

// The buffer may have only a part of the bytes. That part is kept, and the rest is read behind it.
Status Readahead::Read(const RandomReader& file, uint64_t offset, size_t n, char* scratch,
                       Slice* result, const IOOptions& io) {
  if (offset >= begin_ && offset + n <= begin_ + size_) {
    *result = TakeFromBuffer(file, offset, n);
    expected_ = offset + n;
    return Status::OK();
  }
  size_t bytes = BytesToRead(offset, n);
  expected_ = offset + n;
  if (next_.bytes != 0 && TakeNext(file, offset, n, io)) {
    *result = TakeFromBuffer(file, offset, n);
    return Status::OK();
  }
  if (options_.fixed_bytes > kPieceBytes && can_prefetch_ && !file.is_direct()) {
    const size_t piece = std::max(n, kPieceBytes);
    PrefetchBehind(file, offset + piece);
    if (can_prefetch_) bytes = piece;
  }
  if (bytes <= n) return file.ReadExactly(offset, n, scratch, result, io);
  if (options_.is_async) PrefetchNext(file, offset + bytes, io);
  const uint64_t end = EndIn(file);
  const uint64_t left = end - std::min(end, offset);
  Status status =
      Fill(file, offset, std::max(n, static_cast<size_t>(std::min<uint64_t>(left, bytes))), io);
  if (!status.ok()) return status;
  *result = Slice(buffer_.data(), n);
  RecordTick(file.statistics(), PREFETCH_BYTES, size_ - n);
  if (io.io_activity == Env::IOActivity::kCompaction) {
    RecordInHistogram(file.statistics(), COMPACTION_PREFETCH_BYTES, size_ - n);
  }
  return status;
}

// Returns bytes that were read ahead.
Slice Readahead::TakeFromBuffer(const RandomReader& file, uint64_t offset, size_t n) {
  assert(offset >= begin_);
  assert(offset + n <= begin_ + size_);
  RecordTick(file.statistics(), PREFETCH_HITS);
  RecordTick(file.statistics(), PREFETCH_BYTES_USEFUL, n);
  return Slice(buffer_.data() + (offset - begin_), n);
}

// No byte behind the result is read, neither here nor by the file system.
uint64_t Readahead::EndIn(const RandomReader& file) {
  if (options_.find_end == nullptr) return file.size();
  if (end_ == 0) end_ = std::min(file.size(), options_.find_end(options_.context));
  return end_;
}

// Returns how much to read. A read that is not sequential stops the automatic readahead.
size_t Readahead::BytesToRead(uint64_t offset, size_t n) {
  if (options_.fixed_bytes != 0) return std::max(n, options_.fixed_bytes);
  const bool is_sequential = offset >= expected_ && offset - expected_ <= kMaxSkipBytes;
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

// Asks the file system for the next fixed_bytes behind `end`. Asks for half of them at a time, so
// at least one half is always ahead.
void Readahead::PrefetchBehind(const RandomReader& file, uint64_t end) {
  assert(can_prefetch_);
  const uint64_t half = options_.fixed_bytes / 2;
  const bool is_elsewhere = end + options_.fixed_bytes < prefetched_end_ || end > prefetched_end_;
  if (!is_elsewhere && end + half <= prefetched_end_) return;
  const uint64_t begin = is_elsewhere ? end : prefetched_end_;
  Prefetch(file, begin, end + options_.fixed_bytes);
}

// Starts reading what the next read will need, while the caller waits for and uses the present
// bytes.
void Readahead::PrefetchNext(const RandomReader& file, uint64_t end, const IOOptions& io) {
  if (prefetched_end_ > end) return;  // already requested by a readahead of fixed distance
  if (CanStartReads(file)) return StartNext(file, end, NextBytes(), io);
  if (can_prefetch_) Prefetch(file, end, end + NextBytes());
}

void Readahead::StartNext(const RandomReader& file, uint64_t begin, size_t bytes,
                          const IOOptions& io) {
  EndNext();
  const uint64_t end = std::min(EndIn(file), begin + bytes);
  if (begin >= end) return;
  assert(next_.handle == nullptr);
  assert(next_.bytes == 0);
  next_.begin = begin;
  next_.bytes = static_cast<size_t>(end - begin);
  if (next_.buffer.size() < next_.bytes) next_.buffer = PageBuffer(next_.bytes);
  next_.request = FSReadRequest();
  next_.request.offset = begin;
  next_.request.len = next_.bytes;
  next_.request.scratch = next_.buffer.data();
  next_.fs = file.fs();
  next_.statistics = file.statistics();
  // Called when the read is done, perhaps with a copy of the request.
  const auto note = [](FSReadRequest& answered, void* request) {
    auto* const mine = static_cast<FSReadRequest*>(request);
    if (mine == &answered) return;
    mine->result = answered.result;
    mine->status = answered.status;
  };
  file.Pace(next_.bytes, io);
  IOStatus started;
  {
    const StopWatch watch(SystemClock::Default().get(), next_.statistics, READ_ASYNC_MICROS);
    started = file.file()->ReadAsync(next_.request, io, note, &next_.request, &next_.handle,
                                     &next_.deleter, nullptr);
  }
  if (!started.ok()) next_.request.status = started;
  RecordInHistogram(next_.statistics, ASYNC_READ_BYTES, next_.bytes);
  RecordTick(next_.statistics, PREFETCH_BYTES, next_.bytes);
  if (next_.handle == nullptr) return;
  std::vector<void*> handles{next_.handle};
  IgnoreError(next_.fs->Poll(handles, 0), "it only starts the read early");
}

// Returns false if the started piece does not contain the bytes or its read failed; the caller then
// reads by itself and gets the error.
bool Readahead::TakeNext(const RandomReader& file, uint64_t offset, size_t n, const IOOptions& io) {
  const bool is_adjacent =
      offset <= next_.begin && offset >= begin_ && next_.begin == begin_ + size_;
  const bool is_inside = offset >= next_.begin;
  assert(next_.bytes != 0);
  if (!(is_adjacent || is_inside) || offset + n > next_.begin + next_.bytes) return false;
  const uint64_t next_end = next_.begin + next_.bytes;
  const uint64_t next_begin = next_.begin;
  EndNext();
  const FSReadRequest& request = next_.request;
  if (!request.status.ok() || request.result.size() != next_end - next_begin) return false;
  file.CountInTier(request.result.size());
  if (is_inside) size_ = 0;
  const size_t kept = KeepFrom(offset, static_cast<size_t>(next_end - offset));
  const uint64_t from = std::max(offset, next_begin);
  std::memcpy(buffer_.data() + kept, request.result.data() + (from - next_begin),
              static_cast<size_t>(next_end - from));
  begin_ = offset;
  size_ = static_cast<size_t>(next_end - offset);
  assert(size_ >= n);
  assert(size_ <= buffer_.size());
  StartNext(file, next_end, NextBytes(), io);
  return true;
}

// Waits until the read is done, because it writes to the buffer until then.
void Readahead::EndNext() {
  next_.bytes = 0;
  if (next_.handle == nullptr) return;
  std::vector<void*> handles{next_.handle};
  IOStatus waited;
  {
    const StopWatch watch(SystemClock::Default().get(), next_.statistics, POLL_WAIT_MICROS);
    waited = next_.fs->Poll(handles, 1);
  }
  if (!waited.ok()) next_.request.status = waited;
  if (!next_.request.status.ok()) RecordTick(next_.statistics, ASYNC_READ_ERROR_COUNT);
  if (next_.deleter) next_.deleter(next_.handle);
  next_.handle = nullptr;
}

// Asks the file system to read into its own cache. That is only a hint: its errors are ignored,
// except that an unsupported call is not repeated.
void Readahead::Prefetch(const RandomReader& file, uint64_t begin, uint64_t end) {
  assert(can_prefetch_);
  prefetched_end_ = std::min(EndIn(file), end);
  if (begin >= prefetched_end_) return;
  const IOStatus status = file.file()->Prefetch(begin, static_cast<size_t>(prefetched_end_ - begin),
                                                IOOptions(), nullptr);
  can_prefetch_ = !status.IsNotSupported();  // other errors will come again with the read itself
}

// Moves the bytes that are still useful to the begin of the buffer, and returns how many these are.
size_t Readahead::KeepFrom(uint64_t offset, size_t bytes) {
  size_t kept = 0;
  if (offset >= begin_ && offset < begin_ + size_) {
    kept = static_cast<size_t>(begin_ + size_ - offset);
    assert(kept < bytes);  // otherwise Read() had found all bytes in the buffer
  }
  const char* const kept_from = kept == 0 ? nullptr : buffer_.data() + (offset - begin_);
  PageBuffer grown;
  if (buffer_.size() < bytes) grown = PageBuffer(bytes);
  if (kept != 0) {
    std::memmove(grown.data() != nullptr ? grown.data() : buffer_.data(), kept_from, kept);
  }
  if (grown.data() != nullptr) buffer_ = std::move(grown);
  return kept;
}

// Fills the buffer with `bytes` bytes from `offset` on. After an error the buffer is empty.
Status Readahead::Fill(const RandomReader& file, uint64_t offset, size_t bytes,
                       const IOOptions& io) {
  const size_t kept = KeepFrom(offset, bytes);
  char* const target = buffer_.data();
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

std::string Readahead::DebugString() const {
  std::string text =
      StrCat("holds [", begin_, ", ", begin_ + size_, "), expects ", expected_, " after ",
             sequential_reads_, " reads in a row, reads ", NextBytes(), " ahead");
  if (prefetched_end_ != 0) StrAppend(&text, ", fetched ahead to ", prefetched_end_);
  if (end_ != 0) StrAppend(&text, ", ends at ", end_);
  if (next_.bytes == 0) return text;
  return StrCat(text, next_.handle != nullptr ? ", is reading [" : ", has read [", next_.begin,
                ", ", next_.begin + next_.bytes, ")");
}

}  // namespace ashlar
