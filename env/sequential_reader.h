// SPDX-License-Identifier: Apache-2.0
//
// SequentialReader reads a file from its start to its end. Threads: one at a time.
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

// For logs, MANIFESTs and copies. Owns the file; keeps the position.
class SequentialReader {
 public:
  // Opens an existing file at its start.
  static Result<std::unique_ptr<SequentialReader>> Open(FileSystem* fs, const std::string& path,
                                                        const FileOptions& file_options);
  // Takes over an open file that is at its start.
  SequentialReader(std::unique_ptr<FSSequentialFile> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  SequentialReader(const SequentialReader&) = delete;
  SequentialReader& operator=(const SequentialReader&) = delete;
  ~SequentialReader() = default;

  // Reads the next n bytes. Fewer are read only at the end of the file (none: the end was reached).
  // `scratch` has n bytes and must live as long as `*result` is used.
  Status Read(size_t n, char* scratch, Slice* result);
  // Skips bytes. Skipping past the end is not an error.
  Status Skip(uint64_t n);

  // Bytes read or skipped so far.
  uint64_t offset() const { return offset_; }
  const std::string& path() const { return path_; }
  // The temperature of the file, according to its file system.
  Temperature temperature() const { return file_->GetTemperature(); }

 private:
  const std::unique_ptr<FSSequentialFile> file_;
  const std::string path_;
  uint64_t offset_ = 0;
};

}  // namespace ashlar
