// SPDX-License-Identifier: Apache-2.0
//
// FileWriter: a buffer in front of an FSWritableFile. Data that does not fit into the
// buffer goes around it, after what the buffer holds.
#include "env/file_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ashlar/rate_limiter.h"
#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "env/io_rule.h"
#include "util/perf_level_impl.h"
#include "util/statistics.h"
#include "util/str_cat.h"

namespace ashlar {

namespace {

// The histogram of writes for one kind of work; HISTOGRAM_ENUM_MAX: none.
uint32_t HistogramOf(Env::IOActivity activity) {
  switch (activity) {
    case Env::IOActivity::kFlush: return FILE_WRITE_FLUSH_MICROS;
    case Env::IOActivity::kCompaction: return FILE_WRITE_COMPACTION_MICROS;
    default: return HISTOGRAM_ENUM_MAX;
  }
}

}  // namespace

Result<std::unique_ptr<FileWriter>> FileWriter::Create(FileSystem* fs, const std::string& path,
                                                       const FileOptions& file_options,
                                                       const FileWriterOptions& options) {
  AssertIoAllowed();
  std::unique_ptr<FSWritableFile> file;
  {
    const IoTimer timer(&IOStatsContext::open_nanos);
    RETURN_IF_ERROR(fs->NewWritableFile(path, file_options, &file, nullptr));
  }
  return Wrap(std::move(file), path, 0, options);
}

std::unique_ptr<FileWriter> FileWriter::Wrap(std::unique_ptr<FSWritableFile> file,
                                             const std::string& path, uint64_t size,
                                             const FileWriterOptions& options) {
  return std::unique_ptr<FileWriter>(new FileWriter(std::move(file), path, size, options));
}

FileWriter::FileWriter(std::unique_ptr<FSWritableFile> file, const std::string& path, uint64_t size,
                       const FileWriterOptions& options)
    : file_(std::move(file)),
      path_(path),
      options_(options),
      size_(size),
      flushed_size_(size),
      written_out_size_(size) {
  io_options_.rate_limiter_priority = options.priority;
  file_->SetIOPriority(options.priority);
  if (options.preallocate_bytes > 0) {
    file_->SetPreallocationBlockSize(static_cast<size_t>(options.preallocate_bytes));
  }
}

FileWriter::~FileWriter() { IgnoreError(Close(), "nobody is left to tell"); }

Status FileWriter::Append(Slice data) {
  if (is_poisoned()) return FirstError();
  assert(!is_closed());
  if (buffered_ + data.size() > options_.buffer_bytes) {
    RETURN_IF_ERROR(Flush());
    if (data.size() >= options_.buffer_bytes) {
      size_ += data.size();
      return WriteThrough(data);
    }
  }
  if (data.empty()) return Status::OK();
  if (buffer_.data() == nullptr) buffer_ = PageBuffer(options_.buffer_bytes);
  std::memcpy(buffer_.data() + buffered_, data.data(), data.size());
  buffered_ += data.size();
  size_ += data.size();
  return Status::OK();
}

Status FileWriter::Flush() {
  if (is_poisoned()) return FirstError();
  if (buffered_ == 0) return Status::OK();
  RETURN_IF_ERROR(WriteThrough(Slice(buffer_.data(), buffered_)));
  buffered_ = 0;
  return Status::OK();
}

Status FileWriter::WriteThrough(Slice data) {
  AssertIoAllowed();
  const uint64_t offset = flushed_size_.load(std::memory_order_relaxed);
  {
    const IoTimer timer(&IOStatsContext::prepare_write_nanos);
    file_->PrepareWrite(static_cast<size_t>(offset), data.size(), io_options_, nullptr);
  }
  const uint32_t histogram = HistogramOf(options_.activity);
  Statistics* const activity_statistics =
      histogram == HISTOGRAM_ENUM_MAX ? nullptr : options_.statistics;
  Status status;
  {
    const StopWatch activity_watch(SystemClock::Default().get(), activity_statistics, histogram);
    const IoTimer timer(&IOStatsContext::write_nanos, &IOStatsContext::cpu_write_nanos);
    const StopWatch watch(SystemClock::Default().get(), options_.statistics, SST_WRITE_MICROS);
    status = WritePaced(data);
  }
  if (!status.ok()) return Poison(status);
  AddIoBytes(&IOStatsContext::bytes_written, data.size());
  flushed_size_.store(offset + data.size(), std::memory_order_release);
  return StartWriteOut();
}

Status FileWriter::WritePaced(Slice data) {
  if (options_.rate_limiter == nullptr || options_.priority == Env::IO_TOTAL) {
    return file_->Append(data, io_options_, nullptr);
  }
  while (!data.empty()) {
    const size_t granted = options_.rate_limiter->RequestToken(
        data.size(), 0, options_.priority, options_.statistics, RateLimiter::OpType::kWrite);
    RETURN_IF_ERROR(file_->Append(Slice(data.data(), granted), io_options_, nullptr));
    data.remove_prefix(granted);
  }
  return Status::OK();
}

// Keeps dirty pages from piling up until one long sync. The last megabyte stays: it is likely to
// be written again soon.
Status FileWriter::StartWriteOut() {
  constexpr uint64_t kKeepBytes = 1 << 20;
  constexpr uint64_t kPageBytes = 4096;
  if (options_.bytes_per_sync == 0) return Status::OK();
  const uint64_t flushed = flushed_size_.load(std::memory_order_relaxed);
  if (flushed <= kKeepBytes) return Status::OK();
  const uint64_t end = (flushed - kKeepBytes) / kPageBytes * kPageBytes;
  if (end < written_out_size_ + options_.bytes_per_sync) return Status::OK();
  const IoTimer timer(&IOStatsContext::range_sync_nanos);
  const Status status =
      file_->RangeSync(written_out_size_, end - written_out_size_, io_options_, nullptr);
  if (!status.ok()) return Poison(status);
  written_out_size_ = end;
  return Status::OK();
}

Status FileWriter::Sync() {
  RETURN_IF_ERROR(Flush());
  return DoSync();
}

Status FileWriter::SyncFlushed() {
  if (is_poisoned()) return FirstError();
  if (!file_->IsSyncThreadSafe()) {
    return Status::NotSupported(StrCat("sync beside appends: ", path_), "this file system cannot");
  }
  return DoSync();
}

Status FileWriter::DoSync() {
  AssertIoAllowed();
  const IoTimer timer(&IOStatsContext::fsync_nanos);
  const Status status =
      options_.use_fsync ? file_->Fsync(io_options_, nullptr) : file_->Sync(io_options_, nullptr);
  return status.ok() ? status : Poison(status);
}

Status FileWriter::Close() {
  if (is_closed()) return is_poisoned() ? FirstError() : Status::OK();
  Status status = Flush();
  const Status close_status = file_->Close(io_options_, nullptr);
  file_.reset();
  if (status.ok() && !close_status.ok()) status = Poison(close_status);
  return status;
}

Status FileWriter::Poison(const Status& error) {
  MutexLock lock(&error_mutex_);
  if (first_error_.ok()) first_error_ = error;
  is_poisoned_.store(true, std::memory_order_release);
  return first_error_;
}

Status FileWriter::FirstError() {
  MutexLock lock(&error_mutex_);
  return first_error_;
}

}  // namespace ashlar
