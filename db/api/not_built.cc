// SPDX-License-Identifier: Apache-2.0
//
// Calls that this library does not support: each returns NotSupported with its own name. A function
// is removed from this file when it is built. Member functions stay, for subclasses of DB that do
// not override them.
#include <cassert>

#include "ashlar/db.h"
#include "ashlar/trace_reader_writer.h"
#include "ashlar/utilities/replayer.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

Status NotBuilt(const char* call) {
  return Status::NotSupported(StrCat(call, ": not supported by this database"));
}

}  // namespace

Status DB::Resume() { return NotBuilt("DB::Resume"); }
Status DB::Close() { return NotBuilt("DB::Close"); }
Status DB::CreateColumnFamily(const ColumnFamilyOptions&, const std::string&,
                              ColumnFamilyHandle**) {
  return NotBuilt("DB::CreateColumnFamily");
}
Status DB::DropColumnFamily(ColumnFamilyHandle*) { return NotBuilt("DB::DropColumnFamily"); }
Status DB::WriteWithCallback(const WriteOptions&, WriteBatch*, UserWriteCallback*) {
  return NotBuilt("DB::WriteWithCallback");
}
Status DB::IngestWriteBatchWithIndex(const WriteOptions&, std::shared_ptr<WriteBatchWithIndex>) {
  return NotBuilt("DB::IngestWriteBatchWithIndex");
}
Status DB::GetEntity(const ReadOptions&, ColumnFamilyHandle*, const Slice&, PinnableWideColumns*) {
  return NotBuilt("DB::GetEntity");
}
Status DB::GetEntityLazy(const ReadOptions&, ColumnFamilyHandle*, const Slice&, LazyWideColumns*) {
  return NotBuilt("DB::GetEntityLazy");
}
void DB::MultiGetEntityLazy(const ReadOptions&, ColumnFamilyHandle*, size_t num_keys, const Slice*,
                            LazyWideColumnsBatch*, Status* statuses, bool) {
  for (size_t i = 0; i < num_keys; ++i) statuses[i] = NotBuilt("DB::MultiGetEntityLazy");
}
Status DB::ResetStats() { return NotBuilt("DB::ResetStats"); }
Status DB::SetOptions(ColumnFamilyHandle*, const std::unordered_map<std::string, std::string>&) {
  return NotBuilt("DB::SetOptions");
}
Status DB::SetOptions(
    const std::unordered_map<ColumnFamilyHandle*, std::unordered_map<std::string, std::string>>&
        column_family_opts_map) {
  if (column_family_opts_map.size() != 1) return NotBuilt("DB::SetOptions of several families");
  const auto& [column_family, opts_map] = *column_family_opts_map.begin();
  return SetOptions(column_family, opts_map);
}
Status DB::FlushWAL(const FlushWALOptions&) { return NotBuilt("DB::FlushWAL"); }
Status DB::LockWAL() { return NotBuilt("DB::LockWAL"); }
Status DB::UnlockWAL() { return NotBuilt("DB::UnlockWAL"); }
Status DB::VerifyFileChecksums(const ReadOptions&) { return NotBuilt("DB::VerifyFileChecksums"); }
Status DB::SuggestCompactRange(ColumnFamilyHandle*, const Slice*, const Slice*) {
  return NotBuilt("DB::SuggestCompactRange");
}
Status DB::PromoteL0(ColumnFamilyHandle*, int) { return NotBuilt("DB::PromoteL0"); }
Status DB::StartTrace(const TraceOptions&, std::unique_ptr<TraceWriter>&&) {
  return NotBuilt("DB::StartTrace");
}
Status DB::EndTrace() { return NotBuilt("DB::EndTrace"); }
Status DB::StartIOTrace(const TraceOptions&, std::unique_ptr<TraceWriter>&&) {
  return NotBuilt("DB::StartIOTrace");
}
Status DB::EndIOTrace() { return NotBuilt("DB::EndIOTrace"); }
Status DB::StartBlockCacheTrace(const TraceOptions&, std::unique_ptr<TraceWriter>&&) {
  return NotBuilt("DB::StartBlockCacheTrace");
}
Status DB::StartBlockCacheTrace(const BlockCacheTraceOptions&,
                                std::unique_ptr<BlockCacheTraceWriter>&&) {
  return NotBuilt("DB::StartBlockCacheTrace");
}
Status DB::EndBlockCacheTrace() { return NotBuilt("DB::EndBlockCacheTrace"); }
Status DB::NewDefaultReplayer(const std::vector<ColumnFamilyHandle*>&,
                              std::unique_ptr<TraceReader>&&, std::unique_ptr<Replayer>*) {
  return NotBuilt("DB::NewDefaultReplayer");
}
Status DB::GetStatsHistory(uint64_t, uint64_t, std::unique_ptr<StatsHistoryIterator>*) {
  return NotBuilt("DB::GetStatsHistory");
}
Status DB::TryCatchUpWithPrimary() { return NotBuilt("DB::TryCatchUpWithPrimary"); }

}  // namespace ashlar
