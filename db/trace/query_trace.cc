// SPDX-License-Identifier: Apache-2.0
#include "db/trace/query_trace.h"

#include <cassert>
#include <utility>

#include "util/result.h"

namespace ashlar {

// The settings are changed only if the sink has started: a second Start() must not change those of
// the running trace.
Status QueryTrace::Start(SystemClock* clock, std::unique_ptr<TraceWriter> writer,
                         const TraceOptions& options) {
  RETURN_IF_ERROR(sink_.Start(clock, std::move(writer),
                              {.max_bytes = options.max_trace_file_size,
                               .sampling_frequency = options.sampling_frequency,
                               .has_order = options.preserve_write_order},
                              QueryTraceHeader(), [&] {
                                omitted_.store(options.filter, std::memory_order_relaxed);
                                keeps_write_order_.store(options.preserve_write_order,
                                                         std::memory_order_relaxed);
                              }));
  return Status::OK();
}

Status QueryTrace::End() {
  bool was_started;
  RETURN_IF_ERROR(sink_.End(TraceSink::Footer::kEndRecord, &was_started));
  return was_started ? Status::OK() : Status::IOError("No trace file to close");
}

void QueryTrace::OnWrite(const Slice& batch) {
  if (Omits(kTraceFilterWrite)) return;
  sink_.Record(kTraceWrite, [&](std::string* payload) { AppendWriteQuery(batch, payload); });
}

void QueryTrace::OnWriteInOrder(uint64_t place, const Slice& batch) noexcept {
  sink_.RecordInOrder(place, kTraceWrite, [&](std::string* payload) {
    if (!Omits(kTraceFilterWrite)) AppendWriteQuery(batch, payload);
  });
}

void QueryTrace::OnGet(uint32_t family, const Slice& key) {
  if (Omits(kTraceFilterGet)) return;
  sink_.Record(kTraceGet, [&](std::string* payload) { AppendGetQuery(family, key, payload); });
}

void QueryTrace::OnMultiGet(std::span<const uint32_t> families, std::span<const Slice> keys) {
  if (Omits(kTraceFilterMultiGet)) return;
  sink_.Record(kTraceMultiGet,
               [&](std::string* payload) { AppendMultiGetQuery(families, keys, payload); });
}

void QueryTrace::OnSeek(const SeekQuery& seek, TraceType type) {
  assert(type == kTraceIteratorSeek || type == kTraceIteratorSeekForPrev);
  const bool is_seek = type == kTraceIteratorSeek;
  if (Omits(is_seek ? kTraceFilterIteratorSeek : kTraceFilterIteratorSeekForPrev)) return;
  sink_.Record(type, [&](std::string* payload) { AppendSeekQuery(seek, payload); });
}

}  // namespace ashlar
