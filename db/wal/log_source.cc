// SPDX-License-Identifier: Apache-2.0
//
// The two sources of log bytes: a file and memory.
#include <algorithm>
#include <cassert>
#include <utility>

#include "db/wal/log_reader.h"
#include "env/sequential_reader.h"

namespace ashlar {
namespace {

class FileLogSource final : public LogSource {
 public:
  explicit FileLogSource(std::unique_ptr<SequentialReader> file) : file_(std::move(file)) {}
  Status Read(size_t n, char* scratch, Slice* result) override {
    return file_->Read(n, scratch, result);
  }
  const std::string& name() const override { return file_->path(); }

 private:
  const std::unique_ptr<SequentialReader> file_;
};

class MemoryLogSource final : public LogSource {
 public:
  MemoryLogSource(const Slice& contents, const std::string& name) : rest_(contents), name_(name) {}
  Status Read(size_t n, char* /*scratch*/, Slice* result) override {
    assert(result != nullptr);
    *result = Slice(rest_.data(), std::min(n, rest_.size()));
    rest_.remove_prefix(result->size());
    return Status::OK();
  }
  const std::string& name() const override { return name_; }

 private:
  Slice rest_;
  const std::string name_;
};

}  // namespace

std::unique_ptr<LogSource> NewFileLogSource(std::unique_ptr<SequentialReader> file) {
  return std::make_unique<FileLogSource>(std::move(file));
}

std::unique_ptr<LogSource> NewMemoryLogSource(const Slice& contents, const std::string& name) {
  return std::make_unique<MemoryLogSource>(contents, name);
}

}  // namespace ashlar
