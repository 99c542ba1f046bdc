// SPDX-License-Identifier: Apache-2.0
//
// RandomReader reads a finished file at any place and turns a short read into Corruption, naming
// file, offset, bytes expected and found. Immutable from the first read on; any number of threads.
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

class RandomReader {
 public:
  static Result<std::unique_ptr<RandomReader>> Open(FileSystem* fs, const std::string& path,
                                                    const FileOptions& file_options);
  // Over an open file of known size. With direct I/O, which wants whole pages, the reader reads
  // those and gives out what was asked for.
  // `fs`, which outlives the reader, is where reads of the file that were started are waited for;
  // null: they are not started beside others.
  RandomReader(std::unique_ptr<FSRandomAccessFile> file, std::string path, uint64_t size,
               FileSystem* fs = nullptr)
      : file_(std::move(file)),
        path_(std::move(path)),
        size_(size),
        fs_(fs),
        alignment_(file_->use_direct_io() ? file_->GetRequiredBufferAlignment() : 0) {}
  // Before the first read: histograms of the time that reads take, which outlive the last read.
  // Null: none, also not by level.
  void CountInto(Statistics* statistics, const LevelHistogramRef& by_level = {}) {
    statistics_ = statistics;
    by_level_ = by_level;
  }
  Statistics* statistics() const { return statistics_; }
  // Before the first read: paces those that have a priority. Outlives the reader.
  void PaceBy(RateLimiter* limiter) { rate_limiter_ = limiter; }
  // Waits until `n` bytes may be read; for who does so through file() itself.
  void Pace(size_t n, const IOOptions& io) const {
    if (rate_limiter_ == nullptr || io.rate_limiter_priority == Env::IO_TOTAL) [[likely]]
      return;
    AwaitTurn(n, io);
  }
  // Before the first read: the file ends here for its readers, whatever lies behind.
  void EndAt(uint64_t size) {
    assert(size <= size_);
    size_ = size;
  }
  // Past the page cache: whoever uses file() itself must ask for whole pages.
  bool is_direct() const { return alignment_ != 0; }
  // What was read lately is in the page cache, as far as we know: a file of the machine's own file
  // system, not read past it. Of a program's own file system nothing is known.
  bool IsCachedBySystem() const;
  RandomReader(const RandomReader&) = delete;
  RandomReader& operator=(const RandomReader&) = delete;
  ~RandomReader() = default;

  // Exactly n bytes from `offset`. `*result` points into `scratch` (n bytes) or into memory of the
  // file that lives as long as the reader.
  Status ReadExactly(uint64_t offset, size_t n, char* scratch, Slice* result,
                     const IOOptions& io = IOOptions()) const;
  // The same for one who has reason to doubt what it has read: not out of the page cache if the
  // file system can help it, and repaired from other copies if it keeps any.
  Status ReadAgain(uint64_t offset, size_t n, char* scratch, Slice* result) const;
  // The same for several ranges at once, by the file system's own batching where it has one.
  // Each request gets its own status; the answer is the first error among them.
  Status MultiReadExactly(FSReadRequest* requests, size_t count,
                          const IOOptions& io = IOOptions()) const;

  // What is wrong with an answer of `found` bytes.
  Status CheckLength(uint64_t offset, size_t expected, size_t found) const {
    return found == expected ? Status::OK() : ShortRead(offset, expected, found);
  }

  // Reads the file's last `n` bytes at once: until ForgetTail() whatever lies in them is copied
  // from memory. For one who opens a file and looks at several places of its end, before others
  // read it.
  Status KeepTail(size_t n);
  void ForgetTail() { tail_.reset(); }

  // A hint; NotSupported is not an error here.
  Status Prefetch(uint64_t offset, size_t n) const;
  void Hint(FSRandomAccessFile::AccessPattern pattern) const { file_->Hint(pattern); }

  // As of Open(), or where it ends since.
  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  FSRandomAccessFile* file() const { return file_.get(); }
  FileSystem* fs() const { return fs_; }

 private:
  struct Pages;
  Status ReadFile(uint64_t offset, size_t n, char* scratch, Slice* result,
                  const IOOptions& io) const;
  Status ShortRead(uint64_t offset, size_t expected, size_t found) const;
  void AwaitTurn(size_t n, const IOOptions& io) const;
  IOStatus ReadPages(uint64_t offset, size_t n, char* scratch, Slice* result,
                     const IOOptions& io) const;
  IOStatus MultiReadPages(FSReadRequest* requests, size_t count, const IOOptions& io) const;

  const std::unique_ptr<FSRandomAccessFile> file_;
  const std::string path_;
  uint64_t size_;
  FileSystem* const fs_;
  const size_t alignment_;  // of direct I/O; 0: none
  RateLimiter* rate_limiter_ = nullptr;
  Statistics* statistics_ = nullptr;
  LevelHistogramRef by_level_;
  PageArray tail_;  // of tail_bytes_; null: none
  uint64_t tail_bytes_ = 0;
};

}  // namespace ashlar
