// SPDX-License-Identifier: Apache-2.0
//
// IoTrace records the operations on the files of a database: DB::StartIOTrace(). Bytes:
// docs/formats/traces.md. Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "ashlar/status.h"
#include "env/trace/trace_sink.h"

namespace ashlar {

// The first record of traces of files and of blocks names the release whose formats they have.
std::string BinaryTraceHeader();

// One operation of a file. `name` is a string literal and is not copied. Of the three numbers only
// those are recorded whose bit is set in `fields`.
struct IoOperation {
  enum Field : uint64_t { kFileSize = 1, kLength = 2, kOffset = 4 };
  const char* name = "";
  uint64_t fields = 0;
  uint64_t file_size = 0;
  uint64_t length = 0;
  uint64_t offset = 0;
};

// Appends the payload of one record. `nanos`: how long the operation took. `dbg` may be null; its
// request id is recorded if the caller asked for that.
void AppendIoRecord(const IoOperation& operation, uint64_t nanos, const std::string& status,
                    const std::string& file_name, const IODebugContext* dbg, std::string* payload);

// One per database. The file systems made by WithIoTrace() share it.
class IoTrace {
 public:
  // `clock` outlives the object.
  explicit IoTrace(SystemClock* clock) : clock_(clock), sink_(TraceSink::Unit::kMonotonicNanos) {}

  bool is_on() const { return sink_.is_on(); }
  // Busy if a trace is running. The writer is closed by End(), or at once after an error.
  Status Start(std::unique_ptr<TraceWriter> writer, const TraceOptions& options);
  // Returns the first error of the trace. OK if none was running.
  Status End();
  // The current time in nanoseconds, from which the durations of operations are computed.
  uint64_t NowNanos() const { return clock_->NowNanos(); }
  // Records an operation that has ended. Only the last part of the path is recorded.
  void Record(const IoOperation& operation, uint64_t nanos, const IOStatus& status,
              const std::string& path, const IODebugContext* dbg);

 private:
  SystemClock* const clock_;
  TraceSink sink_;
};

// A file system that offers everything that `fs` offers, mapped logs included, and records each
// operation in `trace` while a trace is running. At other times an operation costs one call and one
// branch more. Stores into mapped logs are not recorded, because they are no calls.
std::shared_ptr<FileSystem> WithIoTrace(const std::shared_ptr<FileSystem>& fs,
                                        std::shared_ptr<IoTrace> trace);
// The file system below such a wrapper; `fs` itself if it is not wrapped. For code that needs the
// functions of one particular file system.
const FileSystem* WithoutIoTrace(const FileSystem* fs);

}  // namespace ashlar
