// SPDX-License-Identifier: Apache-2.0
//
// Traces of accesses to the block cache, see DB::StartBlockCacheTrace(). Not built yet: the call
// returns NotSupported.
#pragma once

#include <cstdint>
#include <memory>

#include "ashlar/export.h"
#include "ashlar/options.h"
#include "ashlar/trace_reader_writer.h"

namespace ashlar {

class Slice;
class SystemClock;
struct BlockCacheTraceRecord;

// Receives the trace records. Implementations are called from many threads at the same time.
class ASHLAR_EXPORT BlockCacheTraceWriter {
 public:
  virtual ~BlockCacheTraceWriter() {}

  // Records one access to a block. The slices are valid during the call.
  virtual Status WriteBlockAccess(const BlockCacheTraceRecord& record, const Slice& block_key,
                                  const Slice& cf_name, const Slice& referenced_key) = 0;
  // Called once, before the first record.
  virtual Status WriteHeader() = 0;
};

// Options of DB::StartBlockCacheTrace().
struct BlockCacheTraceOptions {
  // Trace one block out of this many.
  uint64_t sampling_frequency = 1;
};

// Options of a writer that stores the trace in a file.
struct BlockCacheTraceWriterOptions {
  // Bytes after which no more records are written.
  uint64_t max_trace_file_size = uint64_t{64} * 1024 * 1024 * 1024;
};

}  // namespace ashlar
