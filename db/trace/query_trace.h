// SPDX-License-Identifier: Apache-2.0
//
// QueryTrace records the calls of a database: DB::StartTrace(). The calls ask is_on() before they
// do anything else for it. Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "ashlar/options.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "db/trace/query_records.h"
#include "env/trace/trace_sink.h"

namespace ashlar {

// One per database. Only the calls of programs are recorded, not the reads and writes of background
// jobs.
class QueryTrace {
 public:
  QueryTrace() : sink_(TraceSink::Unit::kMicrosSince1970) {}

  bool is_on() const { return sink_.is_on(); }
  // Writes are to be recorded by OnWriteInOrder() when they take their place in the order, not by
  // OnWrite() when their calls begin.
  bool keeps_write_order() const { return keeps_write_order_.load(std::memory_order_relaxed); }
  // Of writes with an open place.
  static constexpr uint64_t kMostInOrder = TraceSink::kMostKept;

  // Busy if a trace is running or has failed. InvalidArgument without a writer. `clock` outlives
  // the trace.
  Status Start(SystemClock* clock, std::unique_ptr<TraceWriter> writer,
               const TraceOptions& options);
  // Writes the last record and closes the writer. Returns the first error of the trace; IOError if
  // no trace was started.
  Status End();

  // Each records one call, unless the trace omits it.
  void OnWrite(const Slice& batch);
  // `place`: as CommitRecorder::OnReserved() gets it. Does not wait for earlier places. Called for
  // every place, also if the trace has ended since keeps_write_order().
  void OnWriteInOrder(uint64_t place, const Slice& batch) noexcept;
  void OnGet(uint32_t family, const Slice& key);
  // `families` and `keys` have the same length.
  void OnMultiGet(std::span<const uint32_t> families, std::span<const Slice> keys);
  // `type`: kTraceIteratorSeek or kTraceIteratorSeekForPrev.
  void OnSeek(const SeekQuery& seek, TraceType type);

 private:
  // Whether the running trace leaves out calls of this kind.
  bool Omits(TraceFilterType kind) const {
    return (omitted_.load(std::memory_order_relaxed) & kind) != 0;
  }

  TraceSink sink_;
  // Of the running trace. A call that reads the values of the next one records in that one as well.
  std::atomic<uint64_t> omitted_{kTraceFilterNone};
  std::atomic<bool> keeps_write_order_{false};
};

}  // namespace ashlar
