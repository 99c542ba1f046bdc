// SPDX-License-Identifier: Apache-2.0
//
// The file objects of the POSIX file system. Each owns one descriptor. Calls that end early or are
// interrupted by a signal are continued; every other error names the call, the path and the reason.
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

// Reads from the beginning of the file. The position is kept in the object, so that two objects on
// one file are independent.
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
  uint64_t offset_ = 0;  // where the next Read() begins
};

// Reads at any offset (pread), from any number of threads. Prefetch() tells the kernel to read and
// does not wait. Direct reads are of whole pages: offset, length and memory are aligned to pages by
// the caller.
class PosixRandomAccessFile : public FSRandomAccessFile {
 public:
  enum class Direct : bool { kNo, kYes };
  PosixRandomAccessFile(UniqueFd fd, std::string path, Direct direct)
      : fd_(std::move(fd)), path_(std::move(path)), is_direct_(direct == Direct::kYes) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override;
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                    IODebugContext* dbg) override;
  // MultiRead() and ReadAsync() first answer from the page cache. For the rest they use the
  // io_uring of the thread, if it has one, so that the device can serve the reads in parallel.
  IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* dbg) override;
  // The read must be awaited with WaitForReads() while the file is open; until then the kernel may
  // write into its buffer. `*handle` is null if the read was done at once, and else belongs to the
  // caller, who frees it with `*deleter` after the wait.
  IOStatus ReadAsync(FSReadRequest& request, const IOOptions& options,
                     std::function<void(FSReadRequest&, void*)> done, void* argument, void** handle,
                     IOHandleDeleter* deleter, IODebugContext* dbg) override;
  size_t GetUniqueId(char* id, size_t max_size) const override;
  void Hint(AccessPattern pattern) override;
  bool use_direct_io() const override { return is_direct_; }
  IOStatus InvalidateCache(size_t offset, size_t length) override;
  IOStatus GetFileSize(uint64_t* result) override;

 private:
  // Returns false if the request was not answered; the request is unchanged then.
  bool ReadCached(FSReadRequest* request) const;

  const UniqueFd fd_;
  const std::string path_;
  const bool is_direct_;
  // Whether the file system can tell what is cached; if not, whether it keeps everything in memory.
  // The first reads find this out. Several threads may do so, and all find the same.
  enum class CacheAnswers : uint8_t { kYes, kNo, kAllIsMemory };
  mutable std::atomic<CacheAnswers> cache_answers_{CacheAnswers::kYes};
};

// A finished file that is mapped into memory. Results point into the mapping, so that nothing is
// copied. If another process truncates the file, a read of the lost pages ends the process with
// SIGBUS. A mapping is not a copy: the file must stay open as long as results are used. Any thread.
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
  // Applies madvise() to the pages of a range. Returns 0 or the errno.
  int Advise(uint64_t offset, size_t n, int advice) const;

  const UniqueFd fd_;
  const std::string path_;
  char* const base_;  // null if the file is empty
  const size_t size_;
};

// Waits for the first `count` reads, as started by PosixRandomAccessFile::ReadAsync(), and calls
// their callbacks unless they were called before. A null handle is a read that was done at once.
// The other reads are at least handed to the kernel.
void WaitForReads(const std::vector<void*>& handles, size_t count);

// A file that is appended to. Space is allocated ahead in steps, and Close() gives back the rest.
// Sync() is fdatasync: it makes the content and the size durable, but possibly not the times. One
// thread writes; any thread may sync at the same time.
class PosixWritableFile : public FSWritableFile {
 public:
  // Appends begin at `size`, which may be before the end of a recycled file.
  PosixWritableFile(UniqueFd fd, std::string path, uint64_t size, const FileOptions& options);
  ~PosixWritableFile() override;

  using FSWritableFile::Append;
  using FSWritableFile::PositionedAppend;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override;
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override;
  // Cuts off the space that was allocated ahead and not used. Does not sync. A second call does
  // nothing.
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override;
  bool IsSyncThreadSafe() const override { return true; }
  bool use_direct_io() const override { return is_direct_; }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return size_; }
  // Starts the write-out of a range and returns without waiting for it. It is no durability:
  // neither the size nor the caches of the device are written. Sync() must follow.
  size_t GetUniqueId(char* id, size_t max_size) const override;
  IOStatus InvalidateCache(size_t offset, size_t length) override;
  IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                     // Allocates disk space for a range. Does nothing on file systems that cannot.
                     IODebugContext* dbg) override;
  IOStatus Allocate(uint64_t offset, uint64_t len, const IOOptions& options,
                    IODebugContext* dbg) override;

 private:
  UniqueFd fd_;  // closed by Close() or by the destructor
  const std::string path_;
  uint64_t size_;           // offset of the next Append()
  bool may_allocate_;       // set to false when the file system turns out not to support it
  const bool keeps_size_;   // allocates without changing the file size
  const bool is_direct_;    // writes whole pages, from memory that is aligned to pages
  const bool is_strict_;    // RangeSync() also waits for earlier write-outs
  uint64_t allocated_ = 0;  // end of the allocated space
};

// Reads and writes at any offset. Only one thread at a time may write. Nothing is buffered, so that
// Flush() has nothing to do.
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

// A directory that was opened to make its entries durable: after Fsync() a crash neither loses a
// new or renamed file nor brings back a deleted one. That concerns the names, not the contents of
// the files.
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

// Maps an existing file completely, shared: stores change the file. The object unmaps it, and must
// outlive all uses of its address.
IOStatus MapWholeFile(const std::string& path, std::unique_ptr<MemoryMappedFileBuffer>* result);

}  // namespace ashlar
