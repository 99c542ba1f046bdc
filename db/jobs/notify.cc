// SPDX-License-Identifier: Apache-2.0
//
// Fills in the structs that listeners get. Nothing is computed if there are no listeners. All
// listeners are called without the DB mutex, on the thread of the job.
#include "db/jobs/notify.h"

#include <algorithm>
#include <cassert>

#include "ashlar/listener.h"
#include "db/jobs/job_events.h"
#include "db/table_cache/table_cache.h"
#include "env/filename.h"
#include "env/info_log.h"

namespace ashlar {

namespace {

// The first directory of the family. Flushes create their tables there, and all jobs their blob
// files.
const std::string& FirstDirOf(const ColumnFamilyData& family) {
  return family.versions()->tables->DirOf(0);
}

// The new blob files of a job.
std::vector<BlobFileAdditionInfo> AdditionsOf(const std::string& dir, const OutputResult& result) {
  std::vector<BlobFileAdditionInfo> infos;
  for (const BlobFileAddition& blob : result.blob_files) {
    infos.emplace_back(BlobFileName(dir, blob.number), blob.number.value(), blob.blob_count,
                       blob.blob_bytes);
  }
  return infos;
}

// `result` is null before the flush has run.
FlushJobInfo FlushInfo(const DbCore& core, const ColumnFamilyData& family,
                       const OutputResult* result, const FlushNotice& flush) {
  FlushJobInfo info;
  info.flush_reason = flush.reason;
  info.file_number = flush.file_number.value();
  info.file_path = TableFileName(FirstDirOf(family), flush.file_number);
  info.cf_id = family.id();
  info.cf_name = family.name();
  info.thread_id = core.environment.env->GetThreadID();
  info.job_id = flush.job_id;
  info.triggered_writes_slowdown = flush.slows_writes;
  info.triggered_writes_stop = flush.stops_writes;
  if (result == nullptr || result->tables.empty()) {
    // The reversed range: there is no table yet, or it would be empty.
    info.smallest_seqno = kMaxSequenceNumber;
  } else {
    const OutputTable& table = result->tables.front();
    info.smallest_seqno = table.meta.smallest_seqno;
    info.largest_seqno = table.meta.largest_seqno;
    info.table_properties = table.properties;
    info.oldest_blob_file_number = table.meta.oldest_blob_file_number.value();
  }
  info.blob_compression_type = flush.blob_compression;
  if (result != nullptr) info.blob_file_addition_infos = AdditionsOf(FirstDirOf(family), *result);
  return info;
}

// The facts that events of tables of flushes, compactions and recovery have in common.
TableFileCreationInfo CreationInfo(const DbCore& core, const ColumnFamilyData& family, int job_id,
                                   const std::string& path, TableFileCreationReason reason) {
  TableFileCreationInfo info;
  info.db_name = core.paths.dir;
  info.cf_name = family.name();
  info.file_path = path;
  info.job_id = job_id;
  info.reason = reason;
  info.file_checksum_func_name = kUnknownFileChecksumFuncName;
  return info;
}

// The event of the table of a flush. Its file is in the first directory.
TableFileCreationInfo FlushedTable(const DbCore& core, const ColumnFamilyData& family,
                                   const FlushNotice& flush) {
  return CreationInfo(core, family, flush.job_id,
                      TableFileName(FirstDirOf(family), flush.file_number), flush.creation_reason);
}

// The short description of a table among the inputs or outputs of a compaction.
CompactionFileInfo CompactionFile(Level level, const FileMetadata& meta) {
  return {.level = level,
          .file_number = meta.number.value(),
          .oldest_blob_file_number = meta.oldest_blob_file_number.value()};
}

// Adds what is known only after the table has been written.
void DescribeTable(const OutputTable& table, TableFileCreationInfo* info) {
  assert(info != nullptr);
  info->file_size = table.meta.file_size;
  info->table_properties = table.properties;
  if (!table.meta.has_file_checksum) return;
  info->file_checksum = table.meta.file_checksum;
  info->file_checksum_func_name = table.meta.file_checksum_function;
}

// Adds the sizes and counts of one input table.
void AddInput(const TableProperties& properties, CompactionJobStats* stats) {
  assert(stats != nullptr);
  stats->total_input_raw_key_bytes += properties.raw_key_size;
  stats->total_input_raw_value_bytes += properties.raw_value_size;
  stats->num_input_deletion_records +=
      properties.num_deletions - std::min(properties.num_deletions, properties.num_range_deletions);
}

// Adds the inputs of a compaction. A table that cannot be opened has no properties here; the job
// itself will report the error.
void DescribeInputs(const CompactionNotice& compaction, CompactionJobInfo* info) {
  assert(info != nullptr);
  const CompactionPlan& plan = *compaction.plan;
  TableCache* const tables = compaction.version->tables();
  for (const LevelFiles& level : plan.inputs) {
    for (TableFile* file : level.files) {
      info->input_files.push_back(tables->PathOf(file->meta));
      info->input_file_infos.push_back(CompactionFile(level.level, file->meta));
      Result<TableHandle> table = tables->Pin(file);
      if (!table.ok()) continue;
      const auto properties = (*table)->shared_properties();
      info->table_properties[info->input_files.back()] = properties;
      if (compaction.result != nullptr) AddInput(*properties, &info->stats);
    }
    if (level.level == plan.output_level) {
      info->stats.num_input_files_at_output_level = level.files.size();
    }
  }
}

// The beginning of a user key, which is part of the statistics for listeners.
std::string KeyPrefix(const Slice& internal_key) {
  constexpr size_t kMost = CompactionJobStats::kMaxPrefixLength;  // by value: it has no definition
  const Slice user_key = ExtractUserKey(internal_key);
  return std::string(user_key.data(), std::min(user_key.size(), kMost));
}

// Called after the job has written its tables.
void DescribeOutputs(const CompactionNotice& compaction, CompactionJobInfo* info) {
  assert(info != nullptr);
  assert(compaction.result != nullptr);
  const CompactionPlan& plan = *compaction.plan;
  const TableCache& cache = *compaction.version->tables();
  if (plan.is_trivial_move) {  // the output tables are the input tables on another level
    info->output_files = info->input_files;
    for (const CompactionFileInfo& input : info->input_file_infos) {
      info->output_file_infos.push_back({.level = plan.output_level,
                                         .file_number = input.file_number,
                                         .oldest_blob_file_number = input.oldest_blob_file_number});
    }
    return;
  }
  const std::vector<OutputTable>& tables = compaction.result->tables;
  for (const OutputTable& table : tables) {
    info->output_files.push_back(cache.PathOf(table.meta));
    info->table_properties[info->output_files.back()] =
        std::make_shared<const TableProperties>(table.properties);
    info->output_file_infos.push_back(
        CompactionFile(table.LevelFor(plan.output_level), table.meta));
  }
  info->blob_file_addition_infos = AdditionsOf(cache.DirOf(0), *compaction.result);
  for (const BlobFileGarbage& garbage : compaction.result->blob_garbage) {
    info->blob_file_garbage_infos.emplace_back(BlobFileName(cache.DirOf(0), garbage.number),
                                               garbage.number.value(), garbage.garbage_count,
                                               garbage.garbage_bytes);
  }
  if (tables.empty()) return;
  info->stats.smallest_output_key_prefix = KeyPrefix(tables.front().meta.smallest);
  info->stats.largest_output_key_prefix = KeyPrefix(tables.back().meta.largest);
}

// Copies the counters of the job.
void AddResult(const OutputResult& result, CompactionJobStats* stats) {
  assert(stats != nullptr);
  stats->cpu_micros = result.cpu_micros;
  stats->num_input_records = result.input_entries;
  stats->has_accurate_num_input_records = !result.has_skipped;
  stats->num_output_records = result.output_entries;
  stats->num_output_files = result.tables.size();
  stats->num_records_replaced = result.hidden_dropped;
  stats->num_expired_deletion_records = result.tombstones_dropped;
  stats->total_output_bytes = result.bytes_written;
  stats->num_output_files_blob = result.blob_files.size();
  stats->total_output_bytes_blob = result.blob_bytes_written();
  stats->num_blobs_read = result.blobs.read;
  stats->total_blob_bytes_read = result.blobs.read_bytes;
  stats->num_corrupt_keys = result.corrupt_entries;
  stats->num_single_del_fallthru = result.unmatched_singles;
  stats->num_single_del_mismatch = result.mismatched_singles;
}

// Everything that listeners learn about a compaction, as far as it is known at this time.
CompactionJobInfo CompactionInfo(const DbCore& core, const ColumnFamilyData& family,
                                 const CompactionNotice& compaction) {
  assert(compaction.plan != nullptr);
  assert(compaction.version != nullptr);
  const CompactionPlan& plan = *compaction.plan;
  CompactionJobInfo info;
  info.cf_id = family.id();
  info.cf_name = family.name();
  info.thread_id = core.environment.env->GetThreadID();
  info.job_id = compaction.job_id;
  info.num_l0_files = static_cast<int>(compaction.version->files(0).size());
  info.base_input_level = plan.start_level;
  info.output_level = plan.output_level;
  info.compaction_reason = plan.reason;
  info.compression = compaction.compression;
  info.blob_compression_type = compaction.blob_compression;
  info.stats.is_manual_compaction = plan.is_manual;
  info.stats.num_input_files = plan.InputFileCount();
  info.stats.is_full_compaction = plan.InputFileCount() == compaction.version->file_count();
  if (plan.is_trivial_move) info.stats.num_input_files_trivially_moved = plan.InputFileCount();
  DescribeInputs(compaction, &info);
  if (compaction.result == nullptr) return info;
  DescribeOutputs(compaction, &info);
  info.stats.elapsed_micros = compaction.elapsed_micros;
  info.stats.is_remote_compaction = compaction.is_remote;
  if (plan.is_trivial_move) return info;
  info.stats.total_input_bytes = plan.InputBytes();
  AddResult(*compaction.result, &info.stats);
  return info;
}

}  // namespace

void NotifyFlushBegin(DbCore* core, const ColumnFamilyData& family, const FlushNotice& flush) {
  assert(core != nullptr);
  if (core->services.listeners.empty()) return;
  const FlushJobInfo info = FlushInfo(*core, family, nullptr, flush);
  ForEachListener(core->services, [&](EventListener* listener) {
    listener->OnFlushBegin(core->services.db, info);
  });
  NotifyFlushedTableBegun(core, family, flush);
}

void NotifyFlushedTableBegun(DbCore* core, const ColumnFamilyData& family,
                             const FlushNotice& flush) {
  assert(core != nullptr);
  if (core->services.listeners.empty()) return;
  const TableFileCreationInfo info = FlushedTable(*core, family, flush);
  ForEachListener(core->services,
                  [&](EventListener* listener) { listener->OnTableFileCreationStarted(info); });
}

void NotifyFlushedTable(DbCore* core, const ColumnFamilyData& family, const FlushNotice& flush,
                        const OutputResult& result, const Status& status) {
  assert(core != nullptr);
  if (status.ok() && !result.tables.empty()) {
    LogTableCreated(*core, family, flush.job_id, result.tables.front());
  }
  if (core->services.listeners.empty()) return;
  TableFileCreationInfo info = FlushedTable(*core, family, flush);
  const bool is_empty = status.ok() && result.tables.empty();
  info.status = is_empty ? Status::Aborted("Empty SST file not kept") : status;
  if (!result.tables.empty()) DescribeTable(result.tables.front(), &info);
  ForEachListener(core->services,
                  [&](EventListener* listener) { listener->OnTableFileCreated(info); });
}

void NotifyFlushCompleted(DbCore* core, const ColumnFamilyData& family, const FlushNotice& flush,
                          const OutputResult& result, const Status& status) {
  assert(core != nullptr);
  if (core->services.listeners.empty() || !status.ok()) return;
  const FlushJobInfo info = FlushInfo(*core, family, &result, flush);
  ForEachListener(core->services, [&](EventListener* listener) {
    listener->OnFlushCompleted(core->services.db, info);
  });
}

void NotifyCompactionBegin(DbCore* core, const ColumnFamilyData& family,
                           const CompactionNotice& compaction) {
  assert(core != nullptr);
  assert(compaction.result == nullptr);
  if (core->services.listeners.empty()) return;
  const CompactionJobInfo info = CompactionInfo(*core, family, compaction);
  ForEachListener(core->services, [&](EventListener* listener) {
    listener->OnCompactionBegin(core->services.db, info);
  });
}

void NotifyCompactionPreCommit(DbCore* core, const ColumnFamilyData& family,
                               const CompactionNotice& compaction) {
  assert(core != nullptr);
  assert(compaction.result != nullptr);
  if (core->services.listeners.empty()) return;
  const CompactionJobInfo info = CompactionInfo(*core, family, compaction);
  ForEachListener(core->services, [&](EventListener* listener) {
    listener->OnCompactionPreCommit(core->services.db, info);
  });
}

void NotifyCompactionCompleted(DbCore* core, const ColumnFamilyData& family,
                               const CompactionNotice& compaction, const Status& status) {
  assert(core != nullptr);
  assert(compaction.result != nullptr);
  if (core->services.listeners.empty()) return;
  const CompactionJobInfo info = DescribeCompaction(*core, family, compaction, status);
  ForEachListener(core->services, [&](EventListener* listener) {
    listener->OnCompactionCompleted(core->services.db, info);
  });
}

CompactionJobInfo DescribeCompaction(const DbCore& core, const ColumnFamilyData& family,
                                     const CompactionNotice& compaction, const Status& status) {
  CompactionJobInfo info = CompactionInfo(core, family, compaction);
  info.status = status;
  info.aborted = status.IsCompactionAborted();
  return info;
}

void NotifyTableDeleted(DbCore* core, const std::string& path, int job_id, const Status& status) {
  assert(core != nullptr);
  if (core->services.listeners.empty()) return;
  TableFileDeletionInfo info;
  info.db_name = core->paths.dir;
  info.file_path = path;
  info.job_id = job_id;
  info.status = status;
  ForEachListener(core->services,
                  [&](EventListener* listener) { listener->OnTableFileDeleted(info); });
}

void NotifyBlobFileDeleted(DbCore* core, const std::string& path, int job_id,
                           const Status& status) {
  assert(core != nullptr);
  if (core->services.listeners.empty()) return;
  const BlobFileDeletionInfo info(core->paths.dir, path, job_id, status);
  ForEachListener(core->services,
                  [&](EventListener* listener) { listener->OnBlobFileDeleted(info); });
}

void NotifyExternalFileIngested(DbCore* core, const ColumnFamilyData& family,
                                const IngestionNotice& ingested) {
  assert(core != nullptr);
  if (core->services.listeners.empty()) return;
  ExternalFileIngestionInfo info;
  info.cf_name = family.name();
  info.external_file_path = ingested.external_path;
  info.internal_file_path = ingested.internal_path;
  info.global_seqno = ingested.seqno;
  info.table_properties = *ingested.properties;
  ForEachListener(core->services, [&](EventListener* listener) {
    listener->OnExternalFileIngested(core->services.db, info);
  });
}

void BlobFileNotifier::OnBlobFileBegun(FileNumber number) {
  if (core_->services.listeners.empty()) return;
  const BlobFileCreationBriefInfo info(core_->paths.dir, family_.name(),
                                       BlobFileName(FirstDirOf(family_), number), job_.job_id,
                                       job_.reason);
  ForEachListener(core_->services,
                  [&](EventListener* listener) { listener->OnBlobFileCreationStarted(info); });
}

void BlobFileNotifier::OnBlobFileEnded(FileNumber number, const BlobFileAddition* finished,
                                       const Status& status) {
  assert((finished != nullptr) == status.ok());
  if (finished != nullptr) LogBlobFileCreated(*core_, family_, job_.job_id, *finished);
  if (core_->services.listeners.empty()) return;
  const BlobFileAddition nothing;
  const BlobFileAddition& blob = finished != nullptr ? *finished : nothing;
  const BlobFileCreationInfo info(
      core_->paths.dir, family_.name(), BlobFileName(FirstDirOf(family_), number), job_.job_id,
      job_.reason, blob.blob_count, blob.blob_bytes, status, blob.checksum_value,
      blob.checksum_method.empty() ? kUnknownFileChecksumFuncName : blob.checksum_method);
  ForEachListener(core_->services,
                  [&](EventListener* listener) { listener->OnBlobFileCreated(info); });
}

std::string CompactionNotifier::OutputPath(FileNumber number) const {
  return TableFileName(family_.versions()->tables->DirOf(compaction_.plan->output_path_id), number);
}

void CompactionNotifier::OnTableBegun(FileNumber number) {
  if (core_->services.listeners.empty()) return;
  const TableFileCreationInfo info =
      CreationInfo(*core_, family_, compaction_.job_id, OutputPath(number),
                   TableFileCreationReason::kCompaction);
  ForEachListener(core_->services,
                  [&](EventListener* listener) { listener->OnTableFileCreationStarted(info); });
}

void CompactionNotifier::OnTableEnded(FileNumber number, const OutputTable* finished,
                                      const Status& status) {
  if (finished != nullptr) LogTableCreated(*core_, family_, compaction_.job_id, *finished);
  if (core_->services.listeners.empty()) return;
  TableFileCreationInfo info = CreationInfo(*core_, family_, compaction_.job_id, OutputPath(number),
                                            TableFileCreationReason::kCompaction);
  info.status = status;
  if (finished != nullptr) DescribeTable(*finished, &info);
  ForEachListener(core_->services,
                  [&](EventListener* listener) { listener->OnTableFileCreated(info); });
}

// Called on the thread that runs the part, whose id the listener gets.
SubcompactionJobInfo CompactionNotifier::PartInfo(int part) const {
  SubcompactionJobInfo info;
  info.cf_id = family_.id();
  info.cf_name = family_.name();
  info.thread_id = core_->environment.env->GetThreadID();
  info.job_id = compaction_.job_id;
  info.subcompaction_job_id = part;
  info.base_input_level = compaction_.plan->start_level;
  info.output_level = compaction_.plan->output_level;
  info.compaction_reason = compaction_.plan->reason;
  info.compression = compaction_.compression;
  info.blob_compression_type = compaction_.blob_compression;
  return info;
}

void CompactionNotifier::OnPartBegun(int part) {
  if (core_->services.listeners.empty()) return;
  const SubcompactionJobInfo info = PartInfo(part);
  ForEachListener(core_->services,
                  [&](EventListener* listener) { listener->OnSubcompactionBegin(info); });
}

void CompactionNotifier::OnPartEnded(int part, const OutputResult& result, const Status& status) {
  if (core_->services.listeners.empty()) return;
  SubcompactionJobInfo info = PartInfo(part);
  info.status = status;
  AddResult(result, &info.stats);
  ForEachListener(core_->services,
                  [&](EventListener* listener) { listener->OnSubcompactionCompleted(info); });
}

}  // namespace ashlar
