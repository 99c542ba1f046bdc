// SPDX-License-Identifier: Apache-2.0
//
// Bytes wait in chunks of memory between staging and writing:
//
//     | written | being written | staged | being staged | reserved
//               ^ write_.done()          ^ order_.staged_end()
//
// A chunk is released when the written part has passed its end.
#include "db/wal/buffered_wal_sink.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "db/wal/stage_record.h"
#include "util/statistics/statistics.h"

namespace ashlar {
namespace {

Result<std::unique_ptr<FileWriter>> OpenFile(const WalSinkOptions& options) {
  FileWriterOptions writer_options;
  writer_options.buffer_bytes = 0;  // the sink has its own buffer
  writer_options.bytes_per_sync = options.bytes_per_sync;
  writer_options.use_fsync = options.use_fsync;
  writer_options.preallocate_bytes = options.preallocate_bytes;
  if (options.recycle_path.empty()) {
    return FileWriter::Create(options.fs, options.path, options.file_options, writer_options);
  }
  writer_options.preallocate_bytes = 0;  // the recycled file has its space already
  std::unique_ptr<FSWritableFile> file;
  RETURN_IF_ERROR(options.fs->ReuseWritableFile(options.path, options.recycle_path,
                                                options.file_options, &file, nullptr));
  return FileWriter::Wrap(std::move(file), options.path, /*size=*/0, writer_options);
}

}  // namespace

Result<std::unique_ptr<WalSink>> BufferedWalSink::Open(const WalSinkOptions& options) {
  ASSIGN_OR_RETURN(auto file, OpenFile(options));
  return std::unique_ptr<WalSink>(new BufferedWalSink(options, std::move(file)));
}

BufferedWalSink::BufferedWalSink(const WalSinkOptions& options, std::unique_ptr<FileWriter> file)
    : WalSink(options),
      manual_flush_(options.manual_flush),
      buffer_bytes_(options.buffer_bytes),
      file_(std::move(file)),
      is_sync_thread_safe_(file_->file()->IsSyncThreadSafe()),
      has_old_bytes_(!options.recycle_path.empty()) {}

BufferedWalSink::~BufferedWalSink() {
  if (!is_closed_) IgnoreError(Close(), "the log is complete or has failed, and no caller is left");
}

Status BufferedWalSink::Stage(const Range& range, const Slice& head, const Slice& body) {
  try {
    return StageRecord(range, head, body);
  } catch (const std::bad_alloc&) {
    return FailWith(Status::MemoryLimit(path(), "no memory to stage a record"));
  }
}

Status BufferedWalSink::StageRecord(const Range& range, const Slice& head, const Slice& body) {
  assert(range.offset < range.end);
  assert(range.end <= size());
  if (order_.is_aborted()) [[unlikely]]
    return error();
  const auto memory_at = [this](uint64_t offset) { return MemoryAt(offset); };
  StageInOrder(framing(), range, head, body, memory_at, &order_);
  return Status::OK();
}

// Copies framed bytes chunk by chunk, because chunks are not contiguous in memory.
Status BufferedWalSink::StageRaw(const Range& range, const Slice& bytes) {
  assert(range.end - range.offset == bytes.size());
  if (order_.is_aborted()) return error();
  for (uint64_t offset = range.offset; offset < range.end;) {
    const uint64_t chunk_end = (offset / kChunkBytes + 1) * kChunkBytes;
    const size_t size = static_cast<size_t>(std::min(chunk_end, range.end) - offset);
    std::memcpy(MemoryAt(offset), bytes.data() + (offset - range.offset), size);
    offset += size;
  }
  order_.Complete(range.offset, range.end, std::vector<LogHeaderStore>());
  return Status::OK();
}

// Returns the memory for `offset`, and allocates it if necessary. It is contiguous to the end of
// the block.
char* BufferedWalSink::MemoryAt(uint64_t offset) {
  SpinLockGuard guard(&chunks_lock_);
  assert(offset / kChunkBytes >= first_chunk_);  // the chunk was not released yet
  const size_t index = static_cast<size_t>(offset / kChunkBytes - first_chunk_);
  if (index >= chunks_.size()) chunks_.resize(index + 1);
  Chunk& chunk = chunks_[index];
  if (chunk == nullptr) {
    if (spare_chunks_.empty()) {
      chunk.reset(new char[kChunkBytes]);
    } else {
      chunk = std::move(spare_chunks_.back());
      spare_chunks_.pop_back();
    }
  }
  return chunk.get() + offset % kChunkBytes;
}

// Releases the chunks whose bytes are all before `offset`. A few are kept for reuse.
void BufferedWalSink::ReleaseBefore(uint64_t offset) {
  assert(offset <= order_.staged_end());
  SpinLockGuard guard(&chunks_lock_);
  for (; (first_chunk_ + 1) * kChunkBytes <= offset && !chunks_.empty(); ++first_chunk_) {
    if (spare_chunks_.size() < kKeptChunks && chunks_.front() != nullptr) {
      spare_chunks_.push_back(std::move(chunks_.front()));
    }
    chunks_.pop_front();
  }
}

Status BufferedWalSink::Deliver(uint64_t end) {
  assert(end <= size());
  if (!manual_flush_) return Flush(end);
  if (!order_.WaitUntil(end)) return error();
  if (order_.staged_end() - write_.done() < buffer_bytes_) return Status::OK();
  return Flush(end);
}

// Returns when all bytes before `end` have been written to the file, by this thread or by others.
Status BufferedWalSink::Flush(uint64_t end) {
  assert(end <= size());
  if (!order_.WaitUntil(end)) return error();
  Status status = write_.Reach(
      end, [this] { return order_.staged_end(); },
      [this](uint64_t from, uint64_t to) { return WriteRange(from, to); });
  return status.ok() ? status : FailWith(status);
}

Status BufferedWalSink::WriteRange(uint64_t from, uint64_t to) {
  try {
    return AppendRange(from, to);
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit(path(), "no memory to write the log");
  }
}

Status BufferedWalSink::AppendRange(uint64_t from, uint64_t to) {
  assert(from < to);
  assert(to <= order_.staged_end());
  assert(from == write_.done());  // ranges are written without holes, each once
  for (uint64_t offset = from; offset < to;) {
    const uint64_t chunk_end = (offset / kChunkBytes + 1) * kChunkBytes;
    const size_t size = static_cast<size_t>(std::min(chunk_end, to) - offset);
    RETURN_IF_ERROR(file_->Append(Slice(MemoryAt(offset), size)));
    offset += size;
  }
  RETURN_IF_ERROR(file_->Flush());
  ReleaseBefore(to);
  return Status::OK();
}

// The same for durability. Threads that want a sync at the same time share one.
Status BufferedWalSink::Sync(uint64_t end) {
  assert(end <= size());
  RETURN_IF_ERROR(Flush(end));
  Status status = sync_.Reach(
      end, [this] { return write_.done(); }, [this](uint64_t, uint64_t) { return SyncFile(); },
      /*gathers=*/true);
  return status.ok() ? status : FailWith(status);
}

// If the file allows a sync beside a write, writers go on during the sync. Otherwise the sync waits
// for its turn among the writes.
Status BufferedWalSink::SyncFile() {
  const StopWatch watch(SystemClock::Default().get(), statistics(), WAL_FILE_SYNC_MICROS);
  CountSync();
  const auto sync = [this]() -> Status {
    try {
      return is_sync_thread_safe_ ? file_->SyncFlushed() : file_->Sync();
    } catch (const std::bad_alloc&) {
      return Status::MemoryLimit(path(), "no memory to sync the log");
    }
  };
  return is_sync_thread_safe_ ? sync() : write_.RunAlone(sync);
}

// Makes this the error of all later calls, unless an earlier one is set, and wakes all waiting
// threads.
Status BufferedWalSink::FailWith(const Status& status) {
  assert(!status.ok());
  write_.Fail(status);
  sync_.Fail(status);
  order_.Abort();
  return error();
}

Status BufferedWalSink::Close() {
  if (is_closed_) return error();
  is_closed_ = true;
  assert(order_.is_aborted() || order_.staged_end() == size());
  Status status = order_.is_aborted() ? error() : Flush(size());
  // Records of the older log behind the end would have another log number, but they are cut off.
  if (status.ok() && has_old_bytes_) {
    status = file_->file()->Truncate(size(), IOOptions(), nullptr);
  }
  Status closed = file_->Close();
  return status.ok() ? closed : status;
}

Status BufferedWalSink::CloseForReuse() {
  assert(!is_closed_);
  assert(!order_.is_aborted());
  has_old_bytes_ = false;
  return Close();
}

}  // namespace ashlar
