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

class SequentialReader {
 public:
  static Result<std::unique_ptr<SequentialReader>> Open(FileSystem* fs, const std::string& path,
                                                        const FileOptions& file_options);
  SequentialReader(std::unique_ptr<FSSequentialFile> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  SequentialReader(const SequentialReader&) = delete;
  SequentialReader& operator=(const SequentialReader&) = delete;
  ~SequentialReader() = default;

  // The next n bytes; fewer only at the end of the file (none = the end). `scratch` holds n bytes
  // and lives as long as `*result` is used.
  Status Read(size_t n, char* scratch, Slice* result);
  // Skipping past the end is no error.
  Status Skip(uint64_t n);

  // Bytes read or skipped so far.
  uint64_t offset() const { return offset_; }
  const std::string& path() const { return path_; }
  // Where the file lies, as its file system says.
  Temperature temperature() const { return file_->GetTemperature(); }

 private:
  const std::unique_ptr<FSSequentialFile> file_;
  const std::string path_;
  uint64_t offset_ = 0;
};

}  // namespace ashlar
