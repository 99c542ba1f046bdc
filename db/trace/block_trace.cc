// SPDX-License-Identifier: Apache-2.0
//
// Records go through the public interface BlockCacheTraceWriter, even if the writer is our own.
#include "db/trace/block_trace.h"

#include <cassert>
#include <utility>

#include "ashlar/system_clock.h"
#include "env/trace/io_trace.h"
#include "env/trace/trace_frame.h"
#include "env/trace/writer_call.h"
#include "util/hash/hash.h"
#include "util/keys/coding.h"
#include "util/result.h"

namespace ashlar {

const uint64_t BlockCacheTraceRecord::kReservedGetId = 0;

// Writes the records in RocksDB's format.
class BlockTraceFile final : public BlockCacheTraceWriter {
 public:
  BlockTraceFile(SystemClock* clock, uint64_t max_bytes, std::unique_ptr<TraceWriter> writer)
      : clock_(clock), max_bytes_(max_bytes), writer_(std::move(writer)) {
    assert(clock != nullptr);
  }
  ~BlockTraceFile() override { IgnoreError(Close(), "those who need the error call Close()"); }

  Status WriteHeader() override {
    record_.clear();
    BeginTraceFrame(&record_, clock_->NowMicros(), kTraceBegin);
    record_ += BinaryTraceHeader();
    return WriteRecord();
  }
  Status WriteBlockAccess(const BlockCacheTraceRecord& record, const Slice& block_key,
                          const Slice& cf_name, const Slice& referenced_key) override;
  Status Close() {
    const std::unique_ptr<TraceWriter> writer = std::move(writer_);
    if (writer == nullptr) return Status::OK();
    return GuardedWriterCall([&] { return writer->Close(); });
  }

 private:
  // Completes the frame in record_ and writes it.
  Status WriteRecord() {
    EndTraceFrame(&record_, 0);
    return writer_->Write(record_);
  }

  SystemClock* const clock_;
  const uint64_t max_bytes_;
  std::unique_ptr<TraceWriter> writer_;  // null after Close()
  std::string record_;
};

Status BlockTraceFile::WriteBlockAccess(const BlockCacheTraceRecord& record, const Slice& block_key,
                                        const Slice& cf_name, const Slice& referenced_key) {
  // A full trace is not an error: later accesses are just missing.
  if (writer_->GetFileSize() > max_bytes_) return Status::OK();
  record_.clear();
  BeginTraceFrame(&record_, record.access_timestamp, record.block_type);
  PutLengthPrefixedSlice(&record_, block_key);
  PutFixed64(&record_, record.block_size);
  PutFixed64(&record_, record.cf_id);
  PutLengthPrefixedSlice(&record_, cf_name);
  PutFixed32(&record_, record.level);
  PutFixed64(&record_, record.sst_fd_number);
  record_.push_back(record.caller);
  record_.push_back(record.is_cache_hit ? 1 : 0);
  // Whether the caller did not want the block to be inserted into the cache.
  record_.push_back(record.no_insert ? 1 : 0);
  const bool is_lookup = record.caller == kUserGet || record.caller == kUserMultiGet;
  if (is_lookup) {
    PutFixed64(&record_, record.get_id);
    record_.push_back(record.get_from_user_specified_snapshot ? 1 : 0);
    PutLengthPrefixedSlice(&record_, referenced_key);
  }
  if (is_lookup && record.block_type == kBlockTraceDataBlock) {
    PutFixed64(&record_, record.referenced_data_size);
    PutFixed64(&record_, record.num_keys_in_block);
    record_.push_back(record.referenced_key_exist_in_block ? 1 : 0);
  }
  return WriteRecord();
}

std::unique_ptr<BlockCacheTraceWriter> NewBlockCacheTraceWriter(
    SystemClock* clock, const BlockCacheTraceWriterOptions& trace_options,
    std::unique_ptr<TraceWriter>&& trace_writer) {
  return std::make_unique<BlockTraceFile>(clock, trace_options.max_trace_file_size,
                                          std::move(trace_writer));
}

BlockTrace::BlockTrace() = default;
BlockTrace::~BlockTrace() { IgnoreError(End(), "the trace was not ended, so nobody asks for it"); }

// If the header cannot be written, no trace is running afterwards.
Status BlockTrace::StartLocked(SystemClock* clock, uint64_t sampling_frequency,
                               std::unique_ptr<BlockCacheTraceWriter> writer) {
  if (writer_ != nullptr) {
    return Status::Busy("a trace of this kind is running, or has failed and was not ended");
  }
  error_ = GuardedWriterCall([&] { return writer->WriteHeader(); });
  if (!error_.ok()) return error_;
  clock_ = clock;
  writer_ = std::move(writer);
  file_ = nullptr;
  sampling_frequency_ = sampling_frequency == 0 ? 1 : sampling_frequency;
  is_on_.store(true, std::memory_order_relaxed);
  return Status::OK();
}

// Starts a trace into a writer of the program. The writer closes its file itself.
Status BlockTrace::Start(SystemClock* clock, const BlockCacheTraceOptions& options,
                         std::unique_ptr<BlockCacheTraceWriter> writer) {
  if (writer == nullptr) return Status::InvalidArgument("trace: no writer was given");
  MutexLock lock(&mutex_);
  return StartLocked(clock, options.sampling_frequency, std::move(writer));
}

// Starts a trace into a file, which is written in RocksDB's format and closed by End().
Status BlockTrace::Start(SystemClock* clock, const TraceOptions& options,
                         std::unique_ptr<TraceWriter> writer) {
  if (writer == nullptr) return Status::InvalidArgument("trace: no writer was given");
  auto made =
      std::make_unique<BlockTraceFile>(clock, options.max_trace_file_size, std::move(writer));
  BlockTraceFile* const file = made.get();
  MutexLock lock(&mutex_);
  RETURN_IF_ERROR(StartLocked(clock, options.sampling_frequency, std::move(made)));
  file_ = file;
  return Status::OK();
}

// Returns the error that has ended the recording, if there was one.
Status BlockTrace::End() {
  MutexLock lock(&mutex_);
  if (writer_ == nullptr) return Status::OK();
  is_on_.store(false, std::memory_order_relaxed);
  const Status closed = file_ == nullptr ? Status::OK() : file_->Close();
  writer_.reset();
  return error_.ok() ? closed : error_;
}

// Records an access. The hash of the block decides whether it is sampled, so a block is always in
// the trace or never.
void BlockTrace::Record(BlockCacheTraceRecord* record, const Slice& block_key,
                        const Slice& family_name, const Slice& referenced_key) {
  MutexLock lock(&mutex_);
  if (!is_on()) return;
  if (XxHash3_64(block_key.data(), block_key.size()) % sampling_frequency_ != 0) return;
  record->access_timestamp = clock_->NowMicros();
  BlockCacheTraceWriter* const writer = writer_.get();
  error_ = GuardedWriterCall(
      [&] { return writer->WriteBlockAccess(*record, block_key, family_name, referenced_key); });
  if (!error_.ok()) is_on_.store(false, std::memory_order_relaxed);
}

}  // namespace ashlar
