// SPDX-License-Identifier: Apache-2.0
//
// A Replayer executes the records of a query trace. DB::NewDefaultReplayer() makes one for traces
// of DB::StartTrace(), by this library or by RocksDB (trace versions 0.0 to 0.2).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

class TraceRecord;
class TraceRecordResult;

// Options of Replayer::Replay().
struct ReplayOptions {
  // Threads that execute records; 0 counts as 1. With several, records start in their order, and
  // may end in another one.
  uint32_t num_threads;
  // How many times faster than recorded the calls are made: with 2.0 in half the time. Must be
  // above 0. A database that is slower than that falls behind, and no call is left out.
  double fast_forward;

  ReplayOptions() : num_threads(1), fast_forward(1.0) {}
  ReplayOptions(uint32_t num_of_threads, double fast_forward_ratio)
      : num_threads(num_of_threads), fast_forward(fast_forward_ratio) {}
};

// Threads: any. Calls of Next() and Replay() at the same time divide the records among them.
class ASHLAR_EXPORT Replayer {
 public:
  virtual ~Replayer() = default;

  // Reads the header of the trace. Must be called first, and may be called again: then the trace
  // starts over. Corruption: the file is no query trace.
  virtual Status Prepare() = 0;

  // When the trace was begun, in microseconds since 1970; 0 before Prepare().
  virtual uint64_t GetHeaderTimestamp() const = 0;

  // Reads the next record. Incomplete: not prepared, or the trace is over. Corruption: the record
  // is damaged; the message names the offset. NotSupported: a record that can only be skipped.
  virtual Status Next(std::unique_ptr<TraceRecord>* record) = 0;

  // Executes a record. `result` may be null. The status says whether it could be executed;
  // the database's answer, also NotFound, is in the result. Corruption: the record names a family
  // whose handle was not given.
  virtual Status Execute(const std::unique_ptr<TraceRecord>& record,
                         std::unique_ptr<TraceRecordResult>* result) = 0;

  // Executes the remaining records at the pace of the trace. `result_callback` may be null. It gets
  // the status and the result of each record (null if the status is not OK), from the thread that
  // executed it; with several threads, several calls at the same time. OK: the trace ended, also if
  // its last record is missing because it was never ended. Incomplete: not prepared, or at its end
  // already. InvalidArgument: fast_forward. Corruption: a damaged record, behind which nothing was
  // executed.
  virtual Status Replay(
      const ReplayOptions& options,
      const std::function<void(Status, std::unique_ptr<TraceRecordResult>&&)>& result_callback) = 0;
};

}  // namespace ashlar
