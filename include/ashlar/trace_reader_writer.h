// SPDX-License-Identifier: Apache-2.0
//
// Where traces go and come from. Threads: one at a time per object.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

class ASHLAR_EXPORT TraceWriter {
 public:
  TraceWriter() = default;
  virtual ~TraceWriter() = default;

  virtual Status Write(const Slice& data) = 0;
  virtual Status Close() = 0;
  // Bytes written.
  virtual uint64_t GetFileSize() = 0;
};

class ASHLAR_EXPORT TraceReader {
 public:
  TraceReader() = default;
  virtual ~TraceReader() = default;

  // One Write() at a time; Incomplete at the end.
  virtual Status Read(std::string* data) = 0;
  virtual Status Close() = 0;
  // Back to the start.
  virtual Status Reset() = 0;
};

// Traces in files. NotSupported so far.
ASHLAR_EXPORT Status NewFileTraceWriter(Env* env, const EnvOptions& env_options,
                                        const std::string& trace_filename,
                                        std::unique_ptr<TraceWriter>* trace_writer);
ASHLAR_EXPORT Status NewFileTraceReader(Env* env, const EnvOptions& env_options,
                                        const std::string& trace_filename,
                                        std::unique_ptr<TraceReader>* trace_reader);

}  // namespace ashlar
