// SPDX-License-Identifier: Apache-2.0
//
// BlockTrace records which blocks of tables the reads of a program use: DB::StartBlockCacheTrace().
// Bytes: docs/formats/traces.md. Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/block_cache_trace_writer.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "util/threads/mutex.h"

namespace ashlar {

class BlockTraceFile;

// One per database. A record is written under the mutex, so that records are in the order of their
// times.
class BlockTrace {
 public:
  BlockTrace();
  ~BlockTrace();
  BlockTrace(const BlockTrace&) = delete;
  BlockTrace& operator=(const BlockTrace&) = delete;

  // Asked before anything else is done for the trace: one relaxed load.
  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  // `clock` outlives the trace. Busy: a trace is running, or has failed and was not ended.
  Status Start(SystemClock* clock, const BlockCacheTraceOptions& options,
               std::unique_ptr<BlockCacheTraceWriter> writer);
  // Like the function above, with a writer of bytes: the records have RocksDB's format.
  Status Start(SystemClock* clock, const TraceOptions& options,
               std::unique_ptr<TraceWriter> writer);
  // Returns the first error of the trace. OK if there is no trace.
  Status End();

  // An id that joins the accesses of one Get() or MultiGet(). Ids are unique within the process's
  // database object.
  uint64_t NextGetId() { return next_get_id_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t NextGetIdIfOn() { return is_on() ? NextGetId() : BlockCacheTraceRecord::kReservedGetId; }
  // Records an access, unless its block is left out by the sampling. Sets the time of the record.
  // Not inside an epoch, because the writer may wait.
  void Record(BlockCacheTraceRecord* record, const Slice& block_key, const Slice& family_name,
              const Slice& referenced_key);

 private:
  // Writes the first record. After an error no trace runs.
  Status StartLocked(SystemClock* clock, uint64_t sampling_frequency,
                     std::unique_ptr<BlockCacheTraceWriter> writer) REQUIRES(mutex_);

  std::atomic<bool> is_on_{false};  // written under the mutex, which orders everything else
  std::atomic<uint64_t> next_get_id_{1};
  Mutex mutex_{LockRank::kTrace};
  SystemClock* clock_ GUARDED_BY(mutex_) = nullptr;
  std::unique_ptr<BlockCacheTraceWriter> writer_ GUARDED_BY(mutex_);  // null: no trace was started
  BlockTraceFile* file_ GUARDED_BY(mutex_) = nullptr;  // the writer, if it has to be closed
  uint64_t sampling_frequency_ GUARDED_BY(mutex_) = 1;
  Status error_ GUARDED_BY(mutex_);  // the first one
};

}  // namespace ashlar
