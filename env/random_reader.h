// SPDX-License-Identifier: Apache-2.0
//
// RandomReader reads a finished file at any offset. A short read is Corruption, with file, offset,
// and the bytes expected and found. Immutable from the first read on; any number of threads.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/file_system.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "util/memory/page_allocator.h"
#include "util/result.h"
#include "util/statistics/level_histograms.h"

namespace ashlar {

class Statistics;

// Owns the file. Everything that "is called before the first read" is not synchronized.
class RandomReader {
 public:
  static Result<std::unique_ptr<RandomReader>> Open(FileSystem* fs, const std::string& path,
                                                    const FileOptions& file_options);
  // Wraps an open file of known size. With direct I/O, which needs whole pages, the reader reads
  // whole pages and returns the requested part. `fs`, which outlives the reader, is used to wait
  // for asynchronous reads of the file; null: the file is not read asynchronously.
  RandomReader(std::unique_ptr<FSRandomAccessFile> file, std::string path, uint64_t size,
               FileSystem* fs = nullptr)
      : file_(std::move(file)),
        path_(std::move(path)),
        size_(size),
        fs_(fs),
        alignment_(file_->use_direct_io() ? file_->GetRequiredBufferAlignment() : 0) {}
  // Called before the first read: `statistics` gets histograms of the time of reads and outlives
  // the last read. Null: no histograms, not even by level.
  void CountInto(Statistics* statistics, const LevelHistogramRef& by_level = {}) {
    statistics_ = statistics;
    by_level_ = by_level;
  }
  Statistics* statistics() const { return statistics_; }
  // Called before the first read: limits the rate of reads that have a priority. Outlives the
  // reader.
  void PaceBy(RateLimiter* limiter) { rate_limiter_ = limiter; }
  // Waits until `n` bytes may be read; for callers that read through file() themselves.
  void Pace(size_t n, const IOOptions& io) const {
    if (rate_limiter_ == nullptr || io.rate_limiter_priority == Env::IO_TOTAL) [[likely]]
      return;
    AwaitTurn(n, io);
  }
  // Called before the first read: the file ends at `size` for its readers, whatever follows.
  void EndAt(uint64_t size) {
    assert(size <= size_);
    size_ = size;
  }
  // Counts one read of `n` bytes in the storage tier of the file, if it is known. For reads through
  // file(); the functions of this class count theirs.
  void CountInTier(uint64_t n) const {
    if (temperature_ != Temperature::kUnknown) CountInKnownTier(n);
  }
  // True with direct I/O: a caller that uses file() itself must then read whole pages.
  bool is_direct() const { return alignment_ != 0; }
  // True if bytes that were read recently are probably in the page cache: for a file of the
  // operating system's file system without direct I/O. Nothing is known about file systems of
  // programs.
  bool IsCachedBySystem() const;
  RandomReader(const RandomReader&) = delete;
  RandomReader& operator=(const RandomReader&) = delete;
  ~RandomReader() = default;

  // Reads exactly n bytes from `offset`. `*result` points into `scratch` (n bytes), or into memory
  // of the file that is valid as long as the reader.
  Status ReadExactly(uint64_t offset, size_t n, char* scratch, Slice* result,
                     const IOOptions& io = IOOptions()) const;
  // The same for bytes that turned out to be damaged: past the page cache if the file system can do
  // that, and repaired from other copies if it has any.
  Status ReadAgain(uint64_t offset, size_t n, char* scratch, Slice* result) const;
  // Reads several ranges at once, with the batching of the file system if it has any. Each request
  // gets its own status; returns the first error.
  Status MultiReadExactly(FSReadRequest* requests, size_t count,
                          const IOOptions& io = IOOptions()) const;

  // The error for a read of `found` bytes instead of `expected`; OK if they are equal.
  Status CheckLength(uint64_t offset, size_t expected, size_t found) const {
    return found == expected ? Status::OK() : ShortRead(offset, expected, found);
  }

  // Reads the last `n` bytes of the file at once; until ForgetTail(), reads inside of them are
  // copied from memory. For code that opens a file and reads several places at its end, before
  // other threads read it.
  Status KeepTail(size_t n);
  // Frees the copy of the tail. No other thread reads at this time.
  void ForgetTail() { tail_.reset(); }

  // A hint to the file system; NotSupported is not an error here.
  Status Prefetch(uint64_t offset, size_t n) const;
  void Hint(FSRandomAccessFile::AccessPattern pattern) const { file_->Hint(pattern); }

  // The size at Open(), or as set by EndAt().
  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  FSRandomAccessFile* file() const { return file_.get(); }
  FileSystem* fs() const { return fs_; }

 private:
  struct Pages;
  // One read from the file, with rate limit and statistics. Checks that the range is within the
  // file.
  Status ReadFile(uint64_t offset, size_t n, char* scratch, Slice* result,
                  const IOOptions& io) const;
  // Corruption that names file, offset, expectation and finding.
  Status ShortRead(uint64_t offset, size_t expected, size_t found) const;
  void CountInKnownTier(uint64_t n) const;
  // The slow part of Pace().
  void AwaitTurn(size_t n, const IOOptions& io) const;
  // Reads like the function above with direct I/O: whole pages are read into aligned memory.
  IOStatus ReadPages(uint64_t offset, size_t n, char* scratch, Slice* result,
                     const IOOptions& io) const;
  IOStatus MultiReadPages(FSReadRequest* requests, size_t count, const IOOptions& io) const;

  const std::unique_ptr<FSRandomAccessFile> file_;
  const std::string path_;
  uint64_t size_;
  FileSystem* const fs_;
  const size_t alignment_;  // of direct I/O; 0: no direct I/O
  RateLimiter* rate_limiter_ = nullptr;
  Statistics* statistics_ = nullptr;
  LevelHistogramRef by_level_;
  Temperature temperature_ = Temperature::kUnknown;  // set by Open()
  PageArray tail_;                                   // tail_bytes_ bytes; null: none
  uint64_t tail_bytes_ = 0;
};

}  // namespace ashlar
