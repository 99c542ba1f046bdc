// SPDX-License-Identifier: Apache-2.0
//
// Payloads of I/O traces. They are only written: no part of the library reads them.
#include "env/trace/io_trace.h"

#include <utility>

#include "ashlar/version.h"
#include "env/filename.h"
#include "util/keys/coding.h"

namespace ashlar {

// Unlike the header of query traces, this one is not text.
std::string BinaryTraceHeader() {
  std::string header;
  PutLengthPrefixedSlice(&header, kTraceMagic);
  PutFixed32(&header, ROCKSDB_MAJOR);
  PutFixed32(&header, ROCKSDB_MINOR);
  return header;
}

// The order of the fields is that of RocksDB's io_tracer. The map in front tells which of the
// optional numbers follow.
void AppendIoRecord(const IoOperation& operation, uint64_t nanos, const std::string& status,
                    const std::string& file_name, const IODebugContext* dbg, std::string* payload) {
  PutFixed64(payload, operation.fields);
  PutLengthPrefixedSlice(payload, operation.name);
  PutFixed64(payload, nanos);
  PutLengthPrefixedSlice(payload, status);
  PutLengthPrefixedSlice(payload, file_name);
  if ((operation.fields & IoOperation::kFileSize) != 0) PutFixed64(payload, operation.file_size);
  if ((operation.fields & IoOperation::kLength) != 0) PutFixed64(payload, operation.length);
  if ((operation.fields & IoOperation::kOffset) != 0) PutFixed64(payload, operation.offset);
  constexpr uint64_t kHasRequestId = uint64_t{1} << IODebugContext::kRequestID;
  const bool has_request_id =
      dbg != nullptr && (dbg->trace_data & kHasRequestId) != 0 && dbg->request_id != nullptr;
  PutFixed64(payload, has_request_id ? kHasRequestId : 0);
  if (has_request_id) PutLengthPrefixedSlice(payload, *dbg->request_id);
}

Status IoTrace::Start(std::unique_ptr<TraceWriter> writer, const TraceOptions& options) {
  return sink_.Start(
      clock_, std::move(writer),
      {.max_bytes = options.max_trace_file_size, .sampling_frequency = options.sampling_frequency},
      BinaryTraceHeader(), [] {});
}

Status IoTrace::End() {
  bool was_started;
  return sink_.End(TraceSink::Footer::kNone, &was_started);
}

// Only the base name of the path is recorded, so traces of different directories can be compared.
void IoTrace::Record(const IoOperation& operation, uint64_t nanos, const IOStatus& status,
                     const std::string& path, const IODebugContext* dbg) {
  sink_.Record(kIOTracer, [&](std::string* payload) {
    AppendIoRecord(operation, nanos, status.ToString(), BaseNameOf(path), dbg, payload);
  });
}

}  // namespace ashlar
