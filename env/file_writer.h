// SPDX-License-Identifier: Apache-2.0
//
// FileWriter appends to a new file through a buffer and makes it durable on request.
//
// The first failed append or sync poisons the writer: the content behind it is unknown, and a
// second fsync would prove nothing, because the kernel may have marked the lost pages clean. Every
// later call answers the first error and touches the file no more.
//
// With direct I/O whole pages are written: what does not fill its last page yet is written with
// zeros behind it, and again when more has come; Sync() and Close() cut the zeros off.
//
// Threads: one at a time; sync may be called beside appends only through SyncFlushed().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "env/aligned_buffer.h"
#include "util/memory/page_buffer.h"
#include "util/result.h"
#include "util/threads/mutex.h"

namespace ashlar {

class FileChecksumGenerator;
class Statistics;

struct FileWriterOptions {
  // Appends are gathered up to this many bytes; 0 = each append is one system call.
  size_t buffer_bytes = 1 << 20;
  // Ask the kernel to start writing out each time this many bytes were appended; 0 = never.
  uint64_t bytes_per_sync = 0;
  // Sync() also makes metadata durable (fsync instead of fdatasync).
  bool use_fsync = false;
  // Space is allocated ahead in blocks of this size; 0 = never.
  uint64_t preallocate_bytes = 0;
  // Paces the bytes handed to the kernel; not owned; null = no limit.
  RateLimiter* rate_limiter = nullptr;
  Env::IOPriority priority = Env::IO_TOTAL;  // IO_TOTAL = not paced
  // Histograms of the time that writes take, for tables; outlive the writer. Null: none.
  Statistics* statistics = nullptr;
  Env::IOActivity activity = Env::IOActivity::kUnknown;  // that the writes are a part of
  // Is given all that is appended, in order; whoever owns it finalizes it. Null: nobody asks.
  FileChecksumGenerator* checksum = nullptr;
};

class FileWriter {
 public:
  // Creates the file, or empties an existing one.
  static Result<std::unique_ptr<FileWriter>> Create(FileSystem* fs, const std::string& path,
                                                    const FileOptions& file_options,
                                                    const FileWriterOptions& options = {});
  // Over an open file that is `size` bytes long already (a recycled or reopened one).
  static std::unique_ptr<FileWriter> Wrap(std::unique_ptr<FSWritableFile> file,
                                          const std::string& path, uint64_t size,
                                          const FileWriterOptions& options = {});

  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  // Closes; an error at that point is lost, so call Close() where it matters.
  ~FileWriter();

  Status Append(Slice data);
  // Hands the buffer to the kernel.
  Status Flush();
  // Flushes and makes all bytes durable.
  Status Sync();
  // Makes durable what was flushed, without flushing. May run beside Append() and Flush() where
  // the file allows it (IsSyncThreadSafe); answers NotSupported otherwise.
  Status SyncFlushed();
  // Flushes and closes, without syncing. Nothing may be called afterwards but Close() again.
  Status Close();

  // Bytes appended so far, buffered ones included.
  uint64_t size() const { return size_; }
  // Bytes handed to the kernel.
  uint64_t flushed_size() const { return flushed_size_.load(std::memory_order_acquire); }
  bool is_closed() const { return file_ == nullptr; }
  const std::string& path() const { return path_; }
  FSWritableFile* file() { return file_.get(); }

 private:
  FileWriter(std::unique_ptr<FSWritableFile> file, const std::string& path, uint64_t size,
             const FileWriterOptions& options);

  Status AppendDirect(Slice data);
  Status FlushDirect();
  Status WritePages(size_t bytes);
  Status CutPadding();
  Status WriteThrough(Slice data);
  Status WritePaced(Slice data);
  size_t GrantedOf(size_t bytes);
  Status StartWriteOut();
  Status DoSync();
  // Remembers the first error and returns that one.
  Status Poison(const Status& error);
  bool is_poisoned() const { return is_poisoned_.load(std::memory_order_acquire); }
  Status FirstError();

  std::unique_ptr<FSWritableFile> file_;  // null after Close()
  const std::string path_;
  const FileWriterOptions options_;
  IOOptions io_options_;
  const size_t alignment_;  // of direct I/O; 0: none
  AlignedBuffer pages_;     // with direct I/O: buffered_ bytes that begin a page at direct_offset_
  uint64_t direct_offset_;
  bool has_padding_ = false;  // the file ends behind flushed_size_
  PageBuffer buffer_;         // none before the first Append() that uses it
  size_t buffered_ = 0;
  bool has_unflushed_ = false;  // appended to the file, which may have a buffer of its own
  uint64_t size_;
  std::atomic<uint64_t> flushed_size_;
  uint64_t written_out_size_;  // up to here write-out was asked for

  // Set once, by whoever fails first: SyncFlushed() may race with an append.
  Mutex error_mutex_{LockRank::kFile};
  std::atomic<bool> is_poisoned_{false};
  Status first_error_ GUARDED_BY(error_mutex_);
};

}  // namespace ashlar
