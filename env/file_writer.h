// SPDX-License-Identifier: Apache-2.0
//
// FileWriter appends to a new file through a buffer and makes it durable on request.
//
// The first failed append or sync makes the writer unusable: the contents behind that point are
// unknown, and a second fsync would prove nothing, because the kernel may have marked the lost
// pages as clean. Every later call returns the first error and does not touch the file.
//
// With direct I/O whole pages are written. The last page is filled with zeros if it is not full,
// and is written again when more data follows. Sync() and Close() cut off the zeros.
//
// Threads: one at a time; only SyncFlushed() may run at the same time as appends.
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

// All constant for the life of a writer.
struct FileWriterOptions {
  // Appends are collected up to this many bytes; 0: each append is one system call.
  size_t buffer_bytes = 1 << 20;
  // The kernel is asked to start writing to the disk each time this many bytes were appended; 0:
  // never.
  uint64_t bytes_per_sync = 0;
  // Sync() also makes metadata durable (fsync instead of fdatasync).
  bool use_fsync = false;
  // Space is allocated ahead in blocks of this size; 0: never.
  uint64_t preallocate_bytes = 0;
  // Limits the rate of bytes that are passed to the kernel; not owned; null: no limit.
  RateLimiter* rate_limiter = nullptr;
  Env::IOPriority priority = Env::IO_TOTAL;  // IO_TOTAL: no limit
  // Gets histograms of the time of writes to tables; outlives the writer. Null: none.
  Statistics* statistics = nullptr;
  Env::IOActivity activity = Env::IOActivity::kUnknown;  // the job for which the file is written
  // Gets all appended bytes, in order; its owner finalizes it. Null: none.
  FileChecksumGenerator* checksum = nullptr;
};

// See the head of this file.
class FileWriter {
 public:
  // Creates the file, or empties an existing one.
  static Result<std::unique_ptr<FileWriter>> Create(FileSystem* fs, const std::string& path,
                                                    const FileOptions& file_options,
                                                    const FileWriterOptions& options = {});
  // Wraps an open file that has `size` bytes already (a recycled or reopened one). The next append
  // follows these bytes. With direct I/O `size` is 0.
  static std::unique_ptr<FileWriter> Wrap(std::unique_ptr<FSWritableFile> file,
                                          const std::string& path, uint64_t size,
                                          const FileWriterOptions& options = {});

  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  // Closes the file. An error of closing is lost then, so call Close() if it matters.
  ~FileWriter();

  // Appends to the buffer; passes the buffer to the kernel when it is full. Bytes in the buffer are
  // lost if the process dies.
  Status Append(Slice data);
  // Passes the buffer to the kernel. The bytes then survive the death of the process, but not a
  // crash of the machine.
  Status Flush();
  // Flushes, and makes all bytes durable. Not the name of the file: see env/new_entries.h.
  Status Sync();
  // Makes flushed bytes durable, without flushing. May run at the same time as Append() and Flush()
  // if the file permits it (IsSyncThreadSafe); otherwise returns NotSupported.
  Status SyncFlushed();
  // Flushes and closes without syncing. Afterwards only Close() may be called again.
  Status Close();

  // Bytes appended so far, including those in the buffer.
  uint64_t size() const { return size_; }
  // Bytes passed to the kernel. May be read by any thread.
  uint64_t flushed_size() const { return flushed_size_.load(std::memory_order_acquire); }
  bool is_closed() const { return file_ == nullptr; }
  const std::string& path() const { return path_; }
  // Null after Close(). Owned by the writer.
  FSWritableFile* file() { return file_.get(); }

 private:
  FileWriter(std::unique_ptr<FSWritableFile> file, const std::string& path, uint64_t size,
             const FileWriterOptions& options);

  // Append() and Flush() with direct I/O.
  Status AppendDirect(Slice data);
  Status FlushDirect();
  Status WritePages(size_t bytes);
  // Cuts off zeros behind the last byte.
  Status CutPadding();
  // Writes data to the file, past the buffer, and counts it as flushed.
  Status WriteThrough(Slice data);
  // Writes as much at a time as the rate limiter grants.
  Status WritePaced(Slice data);
  size_t GrantedOf(size_t bytes);
  // Asks the kernel to begin to write out, if bytes_per_sync is reached. Not a sync.
  Status StartWriteOut();
  // Syncs and records a failure.
  Status DoSync();
  // Records the first error, and returns the recorded one.
  Status Poison(const Status& error);
  bool is_poisoned() const { return is_poisoned_.load(std::memory_order_acquire); }
  // The recorded error. There is one.
  Status FirstError();

  std::unique_ptr<FSWritableFile> file_;  // null after Close()
  const std::string path_;
  const FileWriterOptions options_;
  IOOptions io_options_;
  // The value is in bytes, a power of two.
  const size_t alignment_;  // of direct I/O; 0: no direct I/O
  // With direct I/O: buffered_ bytes of a page that starts at direct_offset_ of the file.
  AlignedBuffer pages_;
  uint64_t direct_offset_;
  bool has_padding_ = false;  // the file has zeros behind flushed_size_
  PageBuffer buffer_;         // allocated by the first Append() that needs it
  size_t buffered_ = 0;
  // Bytes were appended to the file object, which may have a buffer of its own.
  bool has_unflushed_ = false;
  uint64_t size_;
  // Written by the appending thread with release; SyncFlushed() and others read it.
  std::atomic<uint64_t> flushed_size_;
  uint64_t written_out_size_;  // the kernel was asked to write out everything before this offset

  // Set once, by the first call that fails. Needs a lock because SyncFlushed() may run at the same
  // time as an append.
  Mutex error_mutex_{LockRank::kFile};
  // Set with release after first_error_; a relaxed false only delays the error.
  std::atomic<bool> is_poisoned_{false};
  Status first_error_ GUARDED_BY(error_mutex_);
};

}  // namespace ashlar
