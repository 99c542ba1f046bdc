// SPDX-License-Identifier: Apache-2.0
//
// The file objects of the POSIX file system. Each owns one descriptor; short counts and signals are
// retried, every other failure carries the call, the path and the system's text.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/file_system.h"
#include "env/posix/posix_error.h"

namespace ashlar {

// Read from the front; a position of its own, so that two objects on one file do not meet.
class PosixSequentialFile : public FSSequentialFile {
 public:
  PosixSequentialFile(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override;
  IOStatus Skip(uint64_t n) override;
  IOStatus InvalidateCache(size_t offset, size_t length) override;
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                          char* scratch, IODebugContext* dbg) override;

 private:
  const UniqueFd fd_;
  const std::string path_;
  uint64_t offset_ = 0;  // of the next Read()
};

// Positioned reads (pread), from any number of threads. Prefetch() asks the kernel and waits for
// nothing. Direct reads are of whole pages, into memory that is aligned to pages.
class PosixRandomAccessFile : public FSRandomAccessFile {
 public:
  enum class Direct : bool { kNo, kYes };
  PosixRandomAccessFile(UniqueFd fd, std::string path, Direct direct)
      : fd_(std::move(fd)), path_(std::move(path)), is_direct_(direct == Direct::kYes) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override;
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                    IODebugContext* dbg) override;
  // Both take what the page cache has, and then go by the io_uring of the thread where it has one:
  // the reads of a device are made side by side.
  IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* dbg) override;
  // To be waited for, by WaitForReads(), while the file is open.
  IOStatus ReadAsync(FSReadRequest& request, const IOOptions& options,
                     std::function<void(FSReadRequest&, void*)> done, void* argument, void** handle,
                     IOHandleDeleter* deleter, IODebugContext* dbg) override;
  size_t GetUniqueId(char* id, size_t max_size) const override;
  void Hint(AccessPattern pattern) override;
  bool use_direct_io() const override { return is_direct_; }
  IOStatus InvalidateCache(size_t offset, size_t length) override;
  IOStatus GetFileSize(uint64_t* result) override;

 private:
  bool ReadCached(FSReadRequest* request) const;

  const UniqueFd fd_;
  const std::string path_;
  const bool is_direct_;
  // Found out by whoever asks first: whether the file system says what is cached, and if it does
  // not, whether all of it is memory. Any thread; each finds the same.
  enum class CacheAnswers : uint8_t { kYes, kNo, kAllIsMemory };
  mutable std::atomic<CacheAnswers> cache_answers_{CacheAnswers::kYes};
};

// A finished file as memory, into which results point: nothing is copied. Whoever truncates the
// file meanwhile ends the process (SIGBUS). Any thread.
class PosixMappedReadFile : public FSRandomAccessFile {
 public:
  static IOStatus Open(const std::string& path, std::unique_ptr<FSRandomAccessFile>* result);
  ~PosixMappedReadFile() override;

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override;
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                    IODebugContext* dbg) override;
  size_t GetUniqueId(char* id, size_t max_size) const override;
  void Hint(AccessPattern pattern) override;
  IOStatus InvalidateCache(size_t offset, size_t length) override;
  IOStatus GetFileSize(uint64_t* result) override;

 private:
  PosixMappedReadFile(UniqueFd fd, std::string path, char* base, size_t size)
      : fd_(std::move(fd)), path_(std::move(path)), base_(base), size_(size) {}
  int Advise(uint64_t offset, size_t n, int advice) const;

  const UniqueFd fd_;
  const std::string path_;
  char* const base_;  // null: the file is empty
  const size_t size_;
};

// Waits for the first `count` reads that PosixRandomAccessFile::ReadAsync() has started, or were
// done at once (null), and calls those back that were not called back yet. All are on their way
// then, also if `count` is 0.
void WaitForReads(const std::vector<void*>& handles, size_t count);

// Appends, and space allocated ahead in steps, which Close() gives back. Sync() is fdatasync: the
// content and the size are durable afterwards, times perhaps not. One thread writes; any thread may
// sync beside it.
class PosixWritableFile : public FSWritableFile {
 public:
  // Appends go to `size`, which may lie before the end of a recycled file.
  PosixWritableFile(UniqueFd fd, std::string path, uint64_t size, const FileOptions& options);
  ~PosixWritableFile() override;

  using FSWritableFile::Append;
  using FSWritableFile::PositionedAppend;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override;
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override;
  // Frees space allocated ahead that was not used.
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override;
  bool IsSyncThreadSafe() const override { return true; }
  bool use_direct_io() const override { return is_direct_; }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return size_; }
  size_t GetUniqueId(char* id, size_t max_size) const override;
  IOStatus InvalidateCache(size_t offset, size_t length) override;
  IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                     IODebugContext* dbg) override;
  IOStatus Allocate(uint64_t offset, uint64_t len, const IOOptions& options,
                    IODebugContext* dbg) override;

 private:
  UniqueFd fd_;  // closed by Close(), else by the destructor
  const std::string path_;
  uint64_t size_;           // where the next Append() goes
  bool may_allocate_;       // cleared when the file system turns out unable
  const bool keeps_size_;   // allocate without moving the end of the file
  const bool is_direct_;    // whole pages are written, from memory that is aligned to pages
  const bool is_strict_;    // RangeSync() also waits for what was asked for before
  uint64_t allocated_ = 0;  // end of what was allocated ahead
};

// Positioned reads and writes. One thread at a time writes.
class PosixRandomRWFile : public FSRandomRWFile {
 public:
  PosixRandomRWFile(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                 IODebugContext* dbg) override;
  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override;
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override;

 private:
  UniqueFd fd_;
  const std::string path_;
};

// Open so that its entries can be made durable: names, not the contents they lead to.
class PosixDirectory : public FSDirectory {
 public:
  PosixDirectory(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override;
  size_t GetUniqueId(char* id, size_t max_size) const override;

 private:
  UniqueFd fd_;
  const std::string path_;
};

// Maps the whole of an existing file, shared.
IOStatus MapWholeFile(const std::string& path, std::unique_ptr<MemoryMappedFileBuffer>* result);

}  // namespace ashlar
