// SPDX-License-Identifier: Apache-2.0
//
// Interfaces for writing and reading traces, and their implementations for files. Threads: one at a
// time per object.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

// Receives the records of a trace.
class ASHLAR_EXPORT TraceWriter {
 public:
  TraceWriter() = default;
  virtual ~TraceWriter() = default;

  // One whole record per call. The data is valid during the call. After an error the trace has
  // ended, and no more records come. Must not use the database that is traced.
  virtual Status Write(const Slice& data) = 0;
  // Called once, after the last record.
  virtual Status Close() = 0;
  // Number of bytes written so far.
  virtual uint64_t GetFileSize() = 0;
};

// Returns the records of a trace.
class ASHLAR_EXPORT TraceReader {
 public:
  TraceReader() = default;
  virtual ~TraceReader() = default;

  // Returns the data of the next Write() call; Incomplete at the end, Corruption if a record is
  // cut.
  virtual Status Read(std::string* data) = 0;
  virtual Status Close() = 0;
  // Goes back to the first record.
  virtual Status Reset() = 0;
};

// Creates a trace file, or empties an existing one. Records are buffered: until Close() the last
// ones may not be in the file. `env` outlives *trace_writer.
ASHLAR_EXPORT Status NewFileTraceWriter(Env* env, const EnvOptions& env_options,
                                        const std::string& trace_filename,
                                        std::unique_ptr<TraceWriter>* trace_writer);
// Opens a trace file. Calls after Close() are InvalidArgument. `env` outlives *trace_reader.
ASHLAR_EXPORT Status NewFileTraceReader(Env* env, const EnvOptions& env_options,
                                        const std::string& trace_filename,
                                        std::unique_ptr<TraceReader>* trace_reader);

}  // namespace ashlar
