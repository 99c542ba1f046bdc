// SPDX-License-Identifier: Apache-2.0
//
// Traces: routed to the component that records them.
//
// There are three kinds of traces: of queries (reads and writes of the program), of file
// operations, and of accesses to blocks. At most one of each kind runs at a time. While none runs,
// an operation pays only a check of a flag.
#include <cassert>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "db/db_impl.h"
#include "db/read/block_accesses.h"
#include "db/read/multi_get.h"
#include "db/trace/replay/replayer.h"

namespace ashlar {

// The clock gives the times of the records; the writer belongs to the trace until it ends.
Status DBImpl::StartTrace(const TraceOptions& options,
                          std::unique_ptr<TraceWriter>&& trace_writer) {
  return core_.query_trace.Start(core_.environment.clock.get(), std::move(trace_writer), options);
}

Status DBImpl::EndTrace() { return core_.query_trace.End(); }

void DBImpl::EndTraces() {
  IgnoreError(core_.query_trace.End(), "mostly there is no trace to end");
  IgnoreError(core_.environment.io_trace->End(), "nobody has asked for it");
  IgnoreError(core_.block_trace.End(), "nobody has asked for it");
}

Status DBImpl::StartIOTrace(const TraceOptions& options,
                            std::unique_ptr<TraceWriter>&& trace_writer) {
  return core_.environment.io_trace->Start(std::move(trace_writer), options);
}

Status DBImpl::EndIOTrace() { return core_.environment.io_trace->End(); }

Status DBImpl::StartBlockCacheTrace(const TraceOptions& trace_options,
                                    std::unique_ptr<TraceWriter>&& trace_writer) {
  return core_.block_trace.Start(core_.environment.clock.get(), trace_options,
                                 std::move(trace_writer));
}

Status DBImpl::StartBlockCacheTrace(const BlockCacheTraceOptions& options,
                                    std::unique_ptr<BlockCacheTraceWriter>&& trace_writer) {
  return core_.block_trace.Start(core_.environment.clock.get(), options, std::move(trace_writer));
}

Status DBImpl::EndBlockCacheTrace() { return core_.block_trace.End(); }

// The replayer outlives neither the database nor the handles.
Status DBImpl::NewDefaultReplayer(const std::vector<ColumnFamilyHandle*>& handles,
                                  std::unique_ptr<TraceReader>&& reader,
                                  std::unique_ptr<Replayer>* replayer) {
  assert(replayer != nullptr);
  replayer->reset();
  if (reader == nullptr) return Status::InvalidArgument("NewDefaultReplayer: there is no reader");
  for (const ColumnFamilyHandle* handle : handles) RETURN_IF_ERROR(CheckHandle(handle));
  *replayer = std::make_unique<QueryReplayer>(this, handles, std::move(reader));
  return Status::OK();
}

// Reads while a trace is running.

void DBImpl::RecordMultiGet(std::span<const Slice> keys, ColumnFamilyHandle** handles) {
  std::vector<uint32_t> families;
  families.reserve(keys.size());
  for (size_t i = 0; i < keys.size(); i++) families.push_back(handles[i]->GetID());
  core_.query_trace.OnMultiGet(families, keys);
}

// The facts that all records of one read have in common.
BlockAccesses::Reads DBImpl::TracedReads(TableReaderCaller caller, const ReadOptions& options,
                                         const ColumnFamilyHandle* handle) {
  return {.trace = &core_.block_trace,
          .caller = caller,
          .family = handle == nullptr ? 0 : handle->GetID(),
          .family_name = handle == nullptr ? std::string() : handle->GetName(),
          .has_snapshot = options.snapshot != nullptr,
          .fills_cache = options.fill_cache};
}

// All keys have the same id in the trace. kReservedGetId: no trace runs, and the keys are read
// together.
void DBImpl::MultiGetTraced(const ReadOptions& options, MultiGetRequest request,
                            ColumnFamilyHandle** handles, uint64_t get_id) {
  if (get_id == BlockCacheTraceRecord::kReservedGetId) {
    return ReadPoints(options, request, handles);
  }
  // One recorder for each family, because its name is part of every record.
  std::map<ColumnFamilyHandle*, std::unique_ptr<BlockAccesses>> of_families;
  std::vector<ReadTrace*> watches;
  for (size_t i = 0; i < request.keys.size(); i++) {
    std::unique_ptr<BlockAccesses>& accesses = of_families[handles[i]];
    if (accesses == nullptr) {
      accesses =
          std::make_unique<BlockAccesses>(TracedReads(kUserMultiGet, options, handles[i]), get_id);
    }
    watches.push_back(accesses.get());
  }
  request.watches = watches;
  ReadPoints(options, request, handles);
}

}  // namespace ashlar
