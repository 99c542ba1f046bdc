// SPDX-License-Identifier: Apache-2.0
//
// Traces of a benchmark, and the benchmark `replay`.
#include "tools/db_bench/traces.h"

#include <cassert>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/trace_reader_writer.h"
#include "ashlar/trace_record_result.h"
#include "ashlar/utilities/replayer.h"
#include "tools/db_bench/workloads.h"

DEFINE_string(trace_file, "",
              "record the calls of each benchmark in this file, which then has those of the last "
              "one; `replay` executes them");
DEFINE_double(trace_replay_fast_forward, 1.0,
              "how many times faster than recorded `replay` makes the calls; above 0");
DEFINE_int32(trace_replay_threads, 1, "threads of `replay`; at least 1");
DEFINE_string(
    block_cache_trace_file, "",
    "record the blocks that each benchmark uses in this file, which then has those of the "
    "last one");
DEFINE_int32(block_cache_trace_sampling_frequency, 1, "record one block in this many");
DEFINE_int64(block_cache_trace_max_trace_file_size_in_bytes, int64_t{64} * 1024 * 1024 * 1024,
             "bytes after which --block_cache_trace_file does not grow");

namespace ashlar {
namespace bench {
namespace {

// The file is overwritten, so it has the trace of the last benchmark.
std::unique_ptr<TraceWriter> NewWriter(const std::string& path) {
  std::unique_ptr<TraceWriter> writer;
  RequireOk(NewFileTraceWriter(Env::Default(), EnvOptions(), path, &writer), "trace file");
  return writer;
}

// The kind of a record, for the result.
Operation KindOf(TraceType type) {
  // The names of the results are those of workloads, not of types of records.
  switch (type) {
    case kTraceWrite: return Operation::kWrite;
    case kTraceIteratorSeek:
    case kTraceIteratorSeekForPrev: return Operation::kSeek;
    default: return Operation::kRead;
  }
}

}  // namespace

bool IsTracingValid() {
  // A division by a factor or a frequency of 0 would have no meaning.
  return FLAGS_trace_replay_fast_forward > 0 && FLAGS_trace_replay_threads > 0 &&
         FLAGS_block_cache_trace_sampling_frequency > 0 &&
         FLAGS_block_cache_trace_max_trace_file_size_in_bytes >= 0;
}

// A replay must not record itself.
void StartTraces(DB* db, bool is_replay) {
  assert(db != nullptr);
  if (!is_replay && !FLAGS_trace_file.empty()) {
    RequireOk(db->StartTrace(TraceOptions(), NewWriter(FLAGS_trace_file)), "trace");
  }
  if (FLAGS_block_cache_trace_file.empty()) return;
  TraceOptions options;
  options.max_trace_file_size =
      static_cast<uint64_t>(FLAGS_block_cache_trace_max_trace_file_size_in_bytes);
  options.sampling_frequency = static_cast<uint64_t>(FLAGS_block_cache_trace_sampling_frequency);
  RequireOk(db->StartBlockCacheTrace(options, NewWriter(FLAGS_block_cache_trace_file)),
            "block cache trace");
}

void EndTraces(DB* db, bool is_replay) {
  assert(db != nullptr);
  // An error at the end of a trace means that the file is not complete, so it ends the process too.
  if (!is_replay && !FLAGS_trace_file.empty()) RequireOk(db->EndTrace(), "trace");
  if (!FLAGS_block_cache_trace_file.empty()) {
    RequireOk(db->EndBlockCacheTrace(), "block cache trace");
  }
}

// Executes the recorded operations in the open database, at the recorded times or faster.
void ReplayTrace(ThreadContext* thread) {
  assert(thread != nullptr);
  std::unique_ptr<TraceReader> reader;
  RequireOk(NewFileTraceReader(Env::Default(), EnvOptions(), FLAGS_trace_file, &reader),
            "trace file");
  const std::vector<ColumnFamilyHandle*> families(thread->families.begin(), thread->families.end());
  std::unique_ptr<Replayer> replayer;
  RequireOk(thread->db->NewDefaultReplayer(families, std::move(reader), &replayer), "replay");
  // Prepare() reads the header of the trace; without it the records cannot be read.
  RequireOk(replayer->Prepare(), "replay");
  const ReplayOptions options(static_cast<uint32_t>(FLAGS_trace_replay_threads),
                              FLAGS_trace_replay_fast_forward);
  std::mutex mutex;  // the threads of the replay share the statistics
  const auto count = [&](Status status, std::unique_ptr<TraceRecordResult>&& result) {
    RequireOk(status, "replay");
    const std::lock_guard<std::mutex> lock(mutex);
    thread->stats.Finished(KindOf(result->GetTraceType()), 1, 0);
  };
  RequireOk(replayer->Replay(options, count), "replay");
}

}  // namespace bench
}  // namespace ashlar
