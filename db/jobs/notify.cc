// SPDX-License-Identifier: Apache-2.0
//
// Filling the structs that listeners get.
#include "db/jobs/notify.h"

#include "ashlar/listener.h"
#include "env/filename.h"
#include "env/info_log.h"

namespace ashlar {

namespace {

FlushJobInfo FlushInfo(const DbCore& core, const ColumnFamilyData& family,
                       const OutputResult* result, const FlushToTell& flush) {
  FlushJobInfo info;
  info.flush_reason = flush.reason;
  info.file_number = flush.file_number.value();
  info.file_path = TableFileName(core.table_paths.front(), flush.file_number);
  info.cf_id = family.id();
  info.cf_name = family.name();
  if (result != nullptr && !result->tables.empty()) {
    const OutputTable& table = result->tables.front();
    info.smallest_seqno = table.meta.smallest_seqno;
    info.largest_seqno = table.meta.largest_seqno;
    info.table_properties = table.properties;
  }
  return info;
}

TableFileCreationInfo CreationInfo(const DbCore& core, const ColumnFamilyData& family,
                                   FileNumber file_number, TableFileCreationReason reason) {
  TableFileCreationInfo info;
  info.db_name = core.dir;
  info.cf_name = family.name();
  info.file_path = TableFileName(core.table_paths.front(), file_number);
  info.reason = reason;
  info.file_checksum_func_name = kUnknownFileChecksumFuncName;
  return info;
}

CompactionFileInfo CompactionFile(Level level, FileNumber file_number) {
  return {.level = level, .file_number = file_number.value(), .oldest_blob_file_number = 0};
}

CompactionJobInfo CompactionInfo(const DbCore& core, const ColumnFamilyData& family,
                                 const CompactionPlan& plan) {
  CompactionJobInfo info;
  for (const LevelFiles& level : plan.inputs) {
    for (const TableFile* file : level.files) {
      info.input_files.push_back(TableFileName(core.table_paths.front(), file->meta.number));
      info.input_file_infos.push_back(CompactionFile(level.level, file->meta.number));
    }
    if (level.level == 0) info.num_l0_files = static_cast<int>(level.files.size());
  }
  info.cf_id = family.id();
  info.cf_name = family.name();
  info.base_input_level = plan.start_level;
  info.output_level = plan.output_level;
  info.compaction_reason = plan.reason;
  info.stats.is_manual_compaction = plan.is_manual;
  info.stats.num_input_files = plan.InputFileCount();
  return info;
}

// Once for each flush that was begun; a table that would be empty is told of with size 0.
void NotifyFlushedTable(DbCore* core, const ColumnFamilyData& family, FileNumber file_number,
                        const OutputResult& result, const Status& status) {
  TableFileCreationInfo info =
      CreationInfo(*core, family, file_number, TableFileCreationReason::kFlush);
  info.status = status;
  if (!result.tables.empty()) {
    info.file_size = result.tables.front().meta.file_size;
    info.table_properties = result.tables.front().properties;
  }
  ForEachListener(*core, [&](EventListener* listener) { listener->OnTableFileCreated(info); });
}

void NotifyCompactedTable(DbCore* core, const ColumnFamilyData& family, const OutputTable& table) {
  TableFileCreationInfo info =
      CreationInfo(*core, family, table.meta.number, TableFileCreationReason::kCompaction);
  info.file_size = table.meta.file_size;
  info.table_properties = table.properties;
  ForEachListener(*core, [&](EventListener* listener) { listener->OnTableFileCreated(info); });
}

}  // namespace

void NotifyFlushBegin(DbCore* core, const ColumnFamilyData& family, const FlushToTell& flush) {
  if (core->listeners.empty()) return;
  const FlushJobInfo info = FlushInfo(*core, family, nullptr, flush);
  const TableFileCreationInfo creation =
      CreationInfo(*core, family, flush.file_number, TableFileCreationReason::kFlush);
  ForEachListener(*core, [&](EventListener* listener) {
    listener->OnFlushBegin(core->db, info);
    listener->OnTableFileCreationStarted(creation);
  });
}

void NotifyFlushCompleted(DbCore* core, const ColumnFamilyData& family, const FlushToTell& flush,
                          const OutputResult& result, const Status& status) {
  if (core->listeners.empty()) return;
  NotifyFlushedTable(core, family, flush.file_number, result, status);
  if (!status.ok() || result.tables.empty()) return;
  const FlushJobInfo info = FlushInfo(*core, family, &result, flush);
  ForEachListener(*core,
                  [&](EventListener* listener) { listener->OnFlushCompleted(core->db, info); });
}

void NotifyCompactionBegin(DbCore* core, const ColumnFamilyData& family, const CompactionPlan& plan,
                           int job_id) {
  if (core->listeners.empty()) return;
  CompactionJobInfo info = CompactionInfo(*core, family, plan);
  info.job_id = job_id;
  ForEachListener(*core,
                  [&](EventListener* listener) { listener->OnCompactionBegin(core->db, info); });
}

void NotifyCompactionCompleted(DbCore* core, const ColumnFamilyData& family,
                               const CompactionPlan& plan, const OutputResult& result,
                               const Status& status) {
  if (core->listeners.empty()) return;
  CompactionJobInfo info = CompactionInfo(*core, family, plan);
  for (const OutputTable& table : result.tables) {
    NotifyCompactedTable(core, family, table);
    info.output_files.push_back(TableFileName(core->table_paths.front(), table.meta.number));
    info.table_properties[info.output_files.back()] =
        std::make_shared<const TableProperties>(table.properties);
    info.output_file_infos.push_back(CompactionFile(plan.output_level, table.meta.number));
  }
  info.status = status;
  info.stats.num_input_records = result.input_entries;
  info.stats.num_output_records = result.output_entries;
  info.stats.num_output_files = result.tables.size();
  info.stats.num_records_replaced = result.hidden_dropped;
  info.stats.total_input_bytes = plan.InputBytes();
  info.stats.total_output_bytes = result.bytes_written;
  ForEachListener(
      *core, [&](EventListener* listener) { listener->OnCompactionCompleted(core->db, info); });
}

void NotifyTableDeleted(DbCore* core, const std::string& path, const Status& status) {
  if (core->listeners.empty()) return;
  TableFileDeletionInfo info;
  info.db_name = core->dir;
  info.file_path = path;
  info.status = status;
  ForEachListener(*core, [&](EventListener* listener) { listener->OnTableFileDeleted(info); });
}

}  // namespace ashlar
