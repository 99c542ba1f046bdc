// SPDX-License-Identifier: Apache-2.0
//
// Tracing of block cache accesses (DB::StartBlockCacheTrace). The database does not write such
// traces so far: the call returns NotSupported.
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

// Takes records; implementations are called from many threads at once.
class ASHLAR_EXPORT BlockCacheTraceWriter {
 public:
  virtual ~BlockCacheTraceWriter() {}

  virtual Status WriteBlockAccess(const BlockCacheTraceRecord& record, const Slice& block_key,
                                  const Slice& cf_name, const Slice& referenced_key) = 0;
  // Once, before the first record.
  virtual Status WriteHeader() = 0;
};

struct BlockCacheTraceOptions {
  // Trace one block out of so many.
  uint64_t sampling_frequency = 1;
};

struct BlockCacheTraceWriterOptions {
  // Bytes after which nothing more is written.
  uint64_t max_trace_file_size = uint64_t{64} * 1024 * 1024 * 1024;
};

}  // namespace ashlar
