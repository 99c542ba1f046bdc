// SPDX-License-Identifier: Apache-2.0
//
// Traces in the memory of a test. Threads: as TraceWriter and TraceReader.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/trace_reader_writer.h"

namespace ashlar {

// Records in memory, which outlive the writer.
struct MemoryTrace {
  std::vector<std::string> records;
  bool is_closed = false;
  Status next_write;
  Status close;
  bool throws = false;
  bool size_throws = false;
  bool close_throws = false;
};

class WriterInto final : public TraceWriter {
 public:
  explicit WriterInto(MemoryTrace* trace) : trace_(trace) {}
  Status Write(const Slice& data) override {
    if (trace_->throws) throw std::runtime_error("full");
    if (!trace_->next_write.ok()) return trace_->next_write;
    trace_->records.push_back(data.ToString());
    bytes_ += data.size();
    return Status::OK();
  }
  Status Close() override {
    trace_->is_closed = true;
    if (trace_->close_throws) throw std::runtime_error("not closed");
    return trace_->close;
  }
  uint64_t GetFileSize() override {
    if (trace_->size_throws) throw std::runtime_error("no size");
    return bytes_;
  }

 private:
  MemoryTrace* const trace_;
  uint64_t bytes_ = 0;
};

class ReaderOf final : public TraceReader {
 public:
  explicit ReaderOf(const MemoryTrace& trace) : records_(trace.records) {}
  Status Read(std::string* data) override {
    if (next_ == records_.size()) return Status::Incomplete("end");
    *data = records_[next_++];
    return Status::OK();
  }
  Status Close() override { return Status::OK(); }
  Status Reset() override {
    next_ = 0;
    return Status::OK();
  }

 private:
  const std::vector<std::string> records_;
  size_t next_ = 0;
};

}  // namespace ashlar
