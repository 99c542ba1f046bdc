// SPDX-License-Identifier: Apache-2.0
//
// FileWriter is a buffer in front of an FSWritableFile. Data that does not fit into the buffer is
// written directly, after the contents of the buffer.
#include "env/file_writer.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "ashlar/file_checksum.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "env/io_rule.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// The histogram for writes of this kind of job; HISTOGRAM_ENUM_MAX if there is none.
uint32_t HistogramOf(Env::IOActivity activity) {
  switch (activity) {
    case Env::IOActivity::kFlush: return FILE_WRITE_FLUSH_MICROS;
    case Env::IOActivity::kCompaction: return FILE_WRITE_COMPACTION_MICROS;
    default: return HISTOGRAM_ENUM_MAX;
  }
}

// Measures one write, for the statistics and for the counters of the thread. The object is made
// before the write and destroyed after it, even if the write fails.
class WriteWatch {
 public:
  explicit WriteWatch(const FileWriterOptions& options)
      : of_activity_(
            SystemClock::Default().get(),
            HistogramOf(options.activity) == HISTOGRAM_ENUM_MAX ? nullptr : options.statistics,
            HistogramOf(options.activity)),
        timer_(&IOStatsContext::write_nanos, &IOStatsContext::cpu_write_nanos),
        of_all_(SystemClock::Default().get(), options.statistics, SST_WRITE_MICROS) {}
  WriteWatch(const WriteWatch&) = delete;
  WriteWatch& operator=(const WriteWatch&) = delete;

 private:
  const StopWatch of_activity_;
  const IoTimer timer_;
  const StopWatch of_all_;
};

}  // namespace

Result<std::unique_ptr<FileWriter>> FileWriter::Create(FileSystem* fs, const std::string& path,
                                                       const FileOptions& file_options,
                                                       const FileWriterOptions& options) {
  assert(fs != nullptr);
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
  assert(file != nullptr);
  return std::unique_ptr<FileWriter>(new FileWriter(std::move(file), path, size, options));
}

FileWriter::FileWriter(std::unique_ptr<FSWritableFile> file, const std::string& path, uint64_t size,
                       const FileWriterOptions& options)
    : file_(std::move(file)),
      path_(path),
      options_(options),
      alignment_(file_->use_direct_io() ? file_->GetRequiredBufferAlignment() : 0),
      direct_offset_(size),
      size_(size),
      flushed_size_(size),
      written_out_size_(size) {
  // With direct I/O, the last page of an existing file would have to be read before it is
  // completed.
  assert(alignment_ == 0 || size == 0);
  io_options_.rate_limiter_priority = options.priority;
  // The limiter of the engine paces the writes; a file system of the program may have its own.
  file_->SetIOPriority(options.priority);
  if (options.preallocate_bytes > 0) {
    file_->SetPreallocationBlockSize(static_cast<size_t>(options.preallocate_bytes));
  }
}

FileWriter::~FileWriter() { IgnoreError(Close(), "a destructor cannot return errors"); }

// The checksum takes the bytes before they are written. If the write fails, the file is given up,
// and its checksum is not needed.
Status FileWriter::Append(Slice data) {
  if (is_poisoned()) return FirstError();
  assert(!is_closed());
  if (options_.checksum != nullptr) options_.checksum->Update(data.data(), data.size());
  if (alignment_ != 0) return AppendDirect(data);
  if (buffered_ + data.size() > options_.buffer_bytes) {
    // The buffered bytes come first in the file.
    RETURN_IF_ERROR(Flush());
    if (data.size() >= options_.buffer_bytes) {
      size_ += data.size();
      return WriteThrough(data);
    }
  }
  if (data.empty()) return Status::OK();
  // Allocated late, because many files consist of a few large appends that need no buffer.
  if (buffer_.data() == nullptr) buffer_ = PageBuffer(options_.buffer_bytes);
  std::memcpy(buffer_.data() + buffered_, data.data(), data.size());
  buffered_ += data.size();
  size_ += data.size();
  return Status::OK();
}

Status FileWriter::Flush() {
  if (is_poisoned()) return FirstError();
  if (alignment_ != 0) return FlushDirect();
  if (buffered_ > 0) {
    RETURN_IF_ERROR(WriteThrough(Slice(buffer_.data(), buffered_)));
    buffered_ = 0;
  }
  // The file object may buffer what it got; files of the operating system do not.
  if (!has_unflushed_) return Status::OK();
  const Status status = file_->Flush(io_options_, nullptr);
  if (!status.ok()) return Poison(status);
  has_unflushed_ = false;
  return Status::OK();
}

// With direct I/O, bytes collect in whole pages, and a full buffer is written at its place in the
// file. Large appends go through the buffer as well, because the memory of the caller is not
// aligned.
Status FileWriter::AppendDirect(Slice data) {
  assert(alignment_ != 0);
  if (pages_.data() == nullptr) {
    const size_t pages = std::max<size_t>(options_.buffer_bytes / alignment_, 1);
    pages_ = AlignedBuffer(pages * alignment_, alignment_);
  }
  size_ += data.size();
  while (!data.empty()) {
    const size_t n = std::min(data.size(), pages_.size() - buffered_);
    std::memcpy(pages_.data() + buffered_, data.data(), n);
    buffered_ += n;
    data.remove_prefix(n);
    if (buffered_ < pages_.size()) break;
    RETURN_IF_ERROR(WritePages(buffered_));
    direct_offset_ += buffered_;
    buffered_ = 0;
  }
  return Status::OK();
}

// Writes everything, with padding up to a whole page. The last page stays in the buffer if it is
// not full, and it is written again with the data that follows.
Status FileWriter::FlushDirect() {
  if (size_ == flushed_size_.load(std::memory_order_relaxed)) return Status::OK();
  const size_t part = buffered_ % alignment_;
  const size_t padding = part == 0 ? 0 : alignment_ - part;
  assert(buffered_ + padding <= pages_.size());
  std::memset(pages_.data() + buffered_, 0, padding);
  has_padding_ |= padding != 0;
  RETURN_IF_ERROR(WritePages(buffered_ + padding));
  // The next write begins at the page that was not full.
  direct_offset_ += buffered_ - part;
  std::memmove(pages_.data(), pages_.data() + (buffered_ - part), part);
  buffered_ = part;
  return Status::OK();
}

// Writes the first `bytes` bytes of the buffer, which are whole pages.
Status FileWriter::WritePages(size_t bytes) {
  AssertIoAllowed();
  assert(bytes % alignment_ == 0);
  assert(direct_offset_ % alignment_ == 0);
  Slice left(pages_.data(), bytes);
  uint64_t offset = direct_offset_;
  const WriteWatch watch(options_);
  while (!left.empty()) {
    const size_t granted = GrantedOf(left.size());
    const Status status =
        file_->PositionedAppend(Slice(left.data(), granted), offset, io_options_, nullptr);
    if (!status.ok()) return Poison(status);
    left.remove_prefix(granted);
    offset += granted;
  }
  AddIoBytes(&IOStatsContext::bytes_written, bytes);
  // Padding does not count as flushed.
  flushed_size_.store(direct_offset_ + std::min(bytes, buffered_), std::memory_order_release);
  return Status::OK();
}

// Removes the padding from the end of the file. A crash before this leaves zeros behind the last
// byte, which readers of logs and MANIFESTs accept.
Status FileWriter::CutPadding() {
  if (!has_padding_ || is_poisoned()) return Status::OK();
  assert(alignment_ != 0);
  const Status status = file_->Truncate(size_, io_options_, nullptr);
  if (!status.ok()) return Poison(status);
  has_padding_ = false;
  return Status::OK();
}

// How many of `bytes` bytes the rate limiter permits now; whole pages with direct I/O.
size_t FileWriter::GrantedOf(size_t bytes) {
  if (options_.rate_limiter == nullptr || options_.priority == Env::IO_TOTAL) return bytes;
  return options_.rate_limiter->RequestToken(bytes, alignment_, options_.priority,
                                             options_.statistics, RateLimiter::OpType::kWrite);
}

Status FileWriter::WriteThrough(Slice data) {
  AssertIoAllowed();
  has_unflushed_ = true;
  const uint64_t offset = flushed_size_.load(std::memory_order_relaxed);
  {
    // Lets the file allocate space ahead; errors of that are found by the write.
    const IoTimer timer(&IOStatsContext::prepare_write_nanos);
    file_->PrepareWrite(static_cast<size_t>(offset), data.size(), io_options_, nullptr);
  }
  Status status;
  {
    const WriteWatch watch(options_);
    status = WritePaced(data);
  }
  if (!status.ok()) return Poison(status);
  AddIoBytes(&IOStatsContext::bytes_written, data.size());
  flushed_size_.store(offset + data.size(), std::memory_order_release);
  return StartWriteOut();
}

// Writes in pieces of the size that the rate limiter permits. An error leaves a part of the data in
// the file.
Status FileWriter::WritePaced(Slice data) {
  while (!data.empty()) {
    const size_t granted = GrantedOf(data.size());
    RETURN_IF_ERROR(file_->Append(Slice(data.data(), granted), io_options_, nullptr));
    data.remove_prefix(granted);
  }
  return Status::OK();
}

// Starts to write dirty pages to the disk, so that they do not pile up until one long sync. The
// last megabyte is left out, because its pages are likely to be changed again soon.
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

// On success, all bytes that were appended before this call are durable.
Status FileWriter::Sync() {
  RETURN_IF_ERROR(Flush());
  RETURN_IF_ERROR(CutPadding());
  return DoSync();
}

Status FileWriter::SyncFlushed() {
  if (is_poisoned()) return FirstError();
  // Direct I/O would first have to write the last page, which only the appending thread may touch.
  if (!file_->IsSyncThreadSafe() || alignment_ != 0) {
    return Status::NotSupported(StrCat("sync beside appends: ", path_), "this file system cannot");
  }
  return DoSync();
}

Status FileWriter::DoSync() {
  AssertIoAllowed();
  const IoTimer timer(&IOStatsContext::fsync_nanos);
  const Status status =
      options_.use_fsync ? file_->Fsync(io_options_, nullptr) : file_->Sync(io_options_, nullptr);
  // See the head of file_writer.h: after a failed sync nothing is tried again.
  return status.ok() ? status : Poison(status);
}

Status FileWriter::Close() {
  if (is_closed()) return is_poisoned() ? FirstError() : Status::OK();
  // The file is closed in any case, so that its descriptor is not leaked.
  Status status = Flush();
  if (status.ok()) status = CutPadding();
  const Status close_status = file_->Close(io_options_, nullptr);
  file_.reset();
  if (status.ok() && !close_status.ok()) status = Poison(close_status);
  return status;
}

Status FileWriter::Poison(const Status& error) {
  assert(!error.ok());
  MutexLock lock(&error_mutex_);
  // The first error explains the state of the file. Later errors only follow from it.
  if (first_error_.ok()) first_error_ = error;
  is_poisoned_.store(true, std::memory_order_release);
  return first_error_;
}

Status FileWriter::FirstError() {
  assert(is_poisoned());
  MutexLock lock(&error_mutex_);
  return first_error_;
}

}  // namespace ashlar
