// SPDX-License-Identifier: Apache-2.0
//
// Interfaces for writing and reading traces. Threads: one at a time per object.
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

  virtual Status Write(const Slice& data) = 0;
  virtual Status Close() = 0;
  // Number of bytes written so far.
  virtual uint64_t GetFileSize() = 0;
};

// Returns the records of a trace.
class ASHLAR_EXPORT TraceReader {
 public:
  TraceReader() = default;
  virtual ~TraceReader() = default;

  // Returns the data of the next Write() call; Incomplete at the end.
  virtual Status Read(std::string* data) = 0;
  virtual Status Close() = 0;
  // Goes back to the first record.
  virtual Status Reset() = 0;
};

// Traces in files. NotSupported so far. *trace_writer and *trace_reader are owned by the caller.
ASHLAR_EXPORT Status NewFileTraceWriter(Env* env, const EnvOptions& env_options,
                                        const std::string& trace_filename,
                                        std::unique_ptr<TraceWriter>* trace_writer);
ASHLAR_EXPORT Status NewFileTraceReader(Env* env, const EnvOptions& env_options,
                                        const std::string& trace_filename,
                                        std::unique_ptr<TraceReader>* trace_reader);

}  // namespace ashlar
