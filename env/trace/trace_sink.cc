// SPDX-License-Identifier: Apache-2.0
//
// A trace that failed keeps its writer until End(), which reports the error.
#include "env/trace/trace_sink.h"

#include <cassert>
#include <utility>

#include "env/trace/writer_call.h"
#include "util/result.h"

namespace ashlar {

TraceSink::~TraceSink() {
  bool was_started;
  IgnoreError(End(Footer::kNone, &was_started), "the trace was not ended, so nobody asks for it");
}

// At most one trace runs. The writer that is not used is closed, so that its file is complete.
Status TraceSink::BeginTraceLocked(SystemClock* clock, std::unique_ptr<TraceWriter> writer,
                                   const Limits& limits, const Slice& first_payload) {
  if (writer == nullptr) return Status::InvalidArgument("trace: no writer was given");
  if (writer_ != nullptr) {
    IgnoreError(GuardedWriterCall([&] { return writer->Close(); }), "it is not used");
    // The running trace goes on; only the new writer is given up.
    return Status::Busy("a trace of this kind is running, or has failed and was not ended");
  }
  if (limits.has_order && kept_.empty()) kept_.resize(kMostKept);
  clock_ = clock;
  writer_ = std::move(writer);
  limits_ = limits;
  since_sample_ = 0;
  error_ = Status::OK();
  record_.clear();
  BeginTraceFrame(&record_, clock_->NowMicros(), kTraceBegin);
  record_.append(first_payload.data(), first_payload.size());
  WriteLocked();
  return error_.ok() ? Status::OK() : CloseLocked();
}

Status TraceSink::End(Footer footer, bool* was_started) {
  assert(was_started != nullptr);
  MutexLock lock(&mutex_);
  *was_started = writer_ != nullptr;
  if (writer_ == nullptr) return Status::OK();
  if (footer == Footer::kEndRecord && error_.ok()) {
    BeginLocked(kTraceEnd);
    WriteLocked();
  }
  // Before the writer is gone. A thread that read true before takes the mutex and finds false.
  is_on_.store(false, std::memory_order_relaxed);
  for (Kept& kept : kept_) kept.payload.clear();  // not for the next trace
  return CloseLocked();
}

// The first error of the trace comes before that of closing it.
Status TraceSink::CloseLocked() {
  assert(writer_ != nullptr);
  const std::unique_ptr<TraceWriter> writer = std::move(writer_);
  const Status closed = GuardedWriterCall([&] { return writer->Close(); });
  return error_.ok() ? closed : error_;
}

// With a sampling frequency of n, every n-th record is written.
bool TraceSink::AdmitsLocked() {
  if (!is_on()) return false;
  uint64_t bytes = 0;
  TraceWriter* const writer = writer_.get();
  const Status sized = GuardedWriterCall([&] {
    bytes = writer->GetFileSize();
    return Status::OK();
  });
  if (!sized.ok()) FailLocked(sized);
  // The limit is not exact: the last record may exceed it by its own length.
  if (!sized.ok() || bytes > limits_.max_bytes) return false;
  if (++since_sample_ < limits_.sampling_frequency) return false;
  since_sample_ = 0;
  return true;
}

void TraceSink::BeginLocked(TraceType type) {
  assert(clock_ != nullptr);
  record_.clear();
  const bool is_wall_clock = unit_ == Unit::kMicrosSince1970;
  BeginTraceFrame(&record_, is_wall_clock ? clock_->NowMicros() : clock_->NowNanos(), type);
}

// Stops at the first place whose record is not here.
void TraceSink::WriteKeptLocked() {
  for (;; next_place_++) {
    Kept& kept = kept_[next_place_ % kept_.size()];
    if (!kept.is_here) return;
    kept.is_here = false;
    const std::string payload = std::exchange(kept.payload, {});
    if (payload.empty() || !AdmitsLocked()) continue;
    try {
      BeginLocked(kept.type);
      record_.append(payload);
    } catch (const std::bad_alloc&) {
      FailLocked(Status::MemoryLimit());
      continue;
    }
    WriteLocked();
  }
}

void TraceSink::FailLocked(const Status& error) {
  if (!is_on()) return;
  error_ = error;
  is_on_.store(false, std::memory_order_relaxed);
}

void TraceSink::WriteLocked() {
  assert(writer_ != nullptr);
  EndTraceFrame(&record_, 0);
  TraceWriter* const writer = writer_.get();
  const Slice record = record_;
  error_ = GuardedWriterCall([&] { return writer->Write(record); });
  if (!error_.ok()) is_on_.store(false, std::memory_order_relaxed);
}

}  // namespace ashlar
