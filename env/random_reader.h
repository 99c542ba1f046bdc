// SPDX-License-Identifier: Apache-2.0
//
// RandomReader reads a finished file at any place and turns a short read into Corruption, naming
// file, offset, bytes expected and found. Immutable after Open(); any number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/file_system.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "util/result.h"

namespace ashlar {

class Statistics;

class RandomReader {
 public:
  static Result<std::unique_ptr<RandomReader>> Open(FileSystem* fs, const std::string& path,
                                                    const FileOptions& file_options);
  // Over an open file of known size.
  // `fs`, which outlives the reader, is where reads of the file that were started are waited for;
  // null: they are not started beside others.
  RandomReader(std::unique_ptr<FSRandomAccessFile> file, std::string path, uint64_t size,
               FileSystem* fs = nullptr)
      : file_(std::move(file)), path_(std::move(path)), size_(size), fs_(fs) {}
  // Before the first read: histograms of the time that reads take, which outlive the reader. Null:
  // none.
  void CountInto(Statistics* statistics) { statistics_ = statistics; }
  Statistics* statistics() const { return statistics_; }
  RandomReader(const RandomReader&) = delete;
  RandomReader& operator=(const RandomReader&) = delete;
  ~RandomReader() = default;

  // Exactly n bytes from `offset`. `*result` points into `scratch` (n bytes) or into memory of the
  // file that lives as long as the reader.
  Status ReadExactly(uint64_t offset, size_t n, char* scratch, Slice* result,
                     const IOOptions& io = IOOptions()) const;
  // The same for several ranges at once, by the file system's own batching where it has one.
  // Each request gets its own status; the answer is the first error among them.
  Status MultiReadExactly(FSReadRequest* requests, size_t count,
                          const IOOptions& io = IOOptions()) const;

  // What is wrong with an answer of `found` bytes.
  Status CheckLength(uint64_t offset, size_t expected, size_t found) const {
    return found == expected ? Status::OK() : ShortRead(offset, expected, found);
  }

  // A hint; NotSupported is not an error here.
  Status Prefetch(uint64_t offset, size_t n) const;
  void Hint(FSRandomAccessFile::AccessPattern pattern) const { file_->Hint(pattern); }

  // As of Open().
  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  FSRandomAccessFile* file() const { return file_.get(); }
  FileSystem* fs() const { return fs_; }

 private:
  Status ShortRead(uint64_t offset, size_t expected, size_t found) const;

  const std::unique_ptr<FSRandomAccessFile> file_;
  const std::string path_;
  const uint64_t size_;
  FileSystem* const fs_;
  Statistics* statistics_ = nullptr;
};

}  // namespace ashlar
