// SPDX-License-Identifier: Apache-2.0
//
// Traces in files: the records one behind the other.
#include <algorithm>
#include <cassert>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/trace_reader_writer.h"
#include "env/file_writer.h"
#include "env/random_reader.h"
#include "env/trace/trace_frame.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

class FileTraceWriter final : public TraceWriter {
 public:
  FileTraceWriter(std::shared_ptr<FileSystem> fs, std::unique_ptr<FileWriter> file)
      : fs_(std::move(fs)), file_(std::move(file)) {}

  Status Write(const Slice& data) override { return file_->Append(data); }
  Status Close() override { return file_->Close(); }
  uint64_t GetFileSize() override { return file_->size(); }

 private:
  const std::shared_ptr<FileSystem> fs_;  // outlives the file
  const std::unique_ptr<FileWriter> file_;
};

// The window avoids a system call per record. A length in a damaged file may be anything, so it is
// compared with the rest of the file before memory is taken for it.
class FileTraceReader final : public TraceReader {
 public:
  FileTraceReader(std::shared_ptr<FileSystem> fs, std::unique_ptr<RandomReader> file)
      : fs_(std::move(fs)), file_(std::move(file)) {}

  // A damaged record is Corruption at each call: the position does not move behind it.
  Status Read(std::string* data) override {
    assert(data != nullptr);
    data->clear();
    if (file_ == nullptr) return Status::InvalidArgument("trace: the reader was closed");
    const uint64_t left = file_->size() - offset_;
    if (left == 0) return Status::Incomplete("end of the trace", file_->path());
    if (left < kTraceFrameHeaderBytes) return Cut("a record header", kTraceFrameHeaderBytes, left);
    RETURN_IF_ERROR(Take(kTraceFrameHeaderBytes, data));
    const uint64_t payload_bytes = ParseTraceFrameHeader(data->data()).payload_bytes;
    const uint64_t payload_left = file_->size() - offset_;
    if (payload_bytes > payload_left) {
      offset_ -= kTraceFrameHeaderBytes;
      data->clear();
      return Cut("a record with a payload", payload_bytes, payload_left);
    }
    return Take(payload_bytes, data);
  }

  Status Close() override {
    file_.reset();
    return Status::OK();
  }
  Status Reset() override {
    if (file_ == nullptr) return Status::InvalidArgument("trace: the reader was closed");
    offset_ = 0;
    return Status::OK();
  }

 private:
  static constexpr uint64_t kWindowBytes = 64 * 1024;

  Status Cut(const char* what, uint64_t expected, uint64_t found) const {
    return Status::Corruption(StrCat("trace ", file_->path(), ": expected ", what, " of ", expected,
                                     " bytes at offset ", offset_, ", found ", found));
  }

  // Appends the next `n` bytes, which the file has.
  Status Take(uint64_t n, std::string* data) {
    assert(n <= file_->size() - offset_);
    while (n > 0) {
      if (offset_ < window_offset_ || offset_ >= window_offset_ + window_.size()) {
        RETURN_IF_ERROR(FillWindow());
      }
      const size_t skipped = static_cast<size_t>(offset_ - window_offset_);
      const size_t taken = static_cast<size_t>(std::min<uint64_t>(n, window_.size() - skipped));
      data->append(window_.data() + skipped, taken);
      offset_ += taken;
      n -= taken;
    }
    return Status::OK();
  }

  Status FillWindow() {
    assert(offset_ < file_->size());
    buffer_.resize(static_cast<size_t>(std::min(kWindowBytes, file_->size() - offset_)));
    window_ = Slice();
    RETURN_IF_ERROR(file_->ReadExactly(offset_, buffer_.size(), buffer_.data(), &window_));
    window_offset_ = offset_;
    return Status::OK();
  }

  const std::shared_ptr<FileSystem> fs_;  // outlives the file
  std::unique_ptr<RandomReader> file_;    // null after Close()
  uint64_t offset_ = 0;                   // of the next record
  std::string buffer_;
  Slice window_;  // bytes of the file at window_offset_
  uint64_t window_offset_ = 0;
};

}  // namespace

Status NewFileTraceWriter(Env* env, const EnvOptions& env_options,
                          const std::string& trace_filename,
                          std::unique_ptr<TraceWriter>* trace_writer) {
  assert(env != nullptr);
  assert(trace_writer != nullptr);
  trace_writer->reset();
  std::shared_ptr<FileSystem> fs = env->GetFileSystem();
  std::unique_ptr<FileWriter> file;
  ASSIGN_OR_RETURN(file, FileWriter::Create(fs.get(), trace_filename, FileOptions(env_options)));
  *trace_writer = std::make_unique<FileTraceWriter>(std::move(fs), std::move(file));
  return Status::OK();
}

Status NewFileTraceReader(Env* env, const EnvOptions& env_options,
                          const std::string& trace_filename,
                          std::unique_ptr<TraceReader>* trace_reader) {
  assert(env != nullptr);
  assert(trace_reader != nullptr);
  trace_reader->reset();
  std::shared_ptr<FileSystem> fs = env->GetFileSystem();
  std::unique_ptr<RandomReader> file;
  ASSIGN_OR_RETURN(file, RandomReader::Open(fs.get(), trace_filename, FileOptions(env_options)));
  *trace_reader = std::make_unique<FileTraceReader>(std::move(fs), std::move(file));
  return Status::OK();
}

}  // namespace ashlar
