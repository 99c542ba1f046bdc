// SPDX-License-Identifier: Apache-2.0
//
// The result of a worker is used only after its tables have been opened and checked here: the
// worker is another process, and perhaps another version of the library.
#include "db/jobs/remote/remote_compaction.h"

#include <cassert>
#include <utility>

#include "db/column_family/column_family_data.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/info_log.h"
#include "env/random_reader.h"
#include "table/sst/read/table_reader.h"
#include "util/keys/coding.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Whether only this process can do the job. A worker cannot write blob files or use several
// directories, and a move needs no worker.
bool IsForThisProcess(const ColumnFamilyData& family, const CompactionJobOptions& work)
    REQUIRES(db_mutex) {
  if (!work.plan->IsMerge() || family.versions()->tables->path_count() > 1) return true;
  if (family.comparator().stamp_bytes() != 0) return true;  // the protocol has no timestamps
  return family.options().enable_blob_files || work.version->blobs() != nullptr;
}

// The job as the worker needs it: the inputs by number, and the decisions of the plan. The worker
// reads everything else from the MANIFEST and the OPTIONS file.
RemoteInput InputFor(const DbCore& core, const ColumnFamilyData& family,
                     const CompactionJobOptions& work) REQUIRES(db_mutex) {
  assert(work.plan != nullptr);
  const CompactionPlan& plan = *work.plan;
  RemoteInput input;
  input.db_id = core.identity.db_id;
  input.family = family.name();
  if (!core.kept_files.options_files.empty())
    input.options_file = core.kept_files.options_files.rbegin()->first;
  for (const LevelFiles& level : plan.inputs) {
    RemoteInput::InputLevel& each = input.inputs.emplace_back();
    each.level = level.level;
    for (const TableFile* file : level.files) each.files.push_back(file->meta.number);
  }
  input.snapshots = work.snapshots;
  input.undecided = work.undecided;
  input.fails_on_merge = work.on_merge_failure == OperandFold::OnFailure::kAsOperatorSays;
  input.output_level = plan.output_level;
  input.base_level = plan.base_level;
  input.target_file_bytes = plan.target_file_bytes;
  input.max_grandparent_bytes = plan.max_grandparent_bytes;
  input.is_bottommost = plan.is_bottommost;
  input.is_open_below = plan.is_open_below;
  input.is_manual = plan.is_manual;
  input.compression = plan.compression;
  input.reason = plan.reason;
  input.temperature = plan.temperature;
  if (plan.young_range.has_value()) {
    input.young_range = {.smallest = plan.young_range->smallest.ToString(),
                         .largest = plan.young_range->largest.ToString(),
                         .largest_is_exclusive = plan.young_range->largest_is_exclusive};
  }
  input.now_seconds = work.table.creation_time;
  if (work.table.seqno_times != nullptr) {
    input.write_times = work.table.seqno_times->EncodeFor(1, kMaxSequenceNumber);
  }
  return input;
}

}  // namespace

// The object keeps the service alive, even if SetDBOptions() replaces it.
RemoteCompaction::RemoteCompaction(DbCore* core, const CompactionJobOptions& work)
    : core_(core), work_(work), service_(core->options->compaction_service) {
  assert(core != nullptr);
}

std::unique_ptr<RemoteCompaction> RemoteCompaction::For(DbCore* core,
                                                        const ColumnFamilyData& family,
                                                        const CompactionJobOptions& work,
                                                        int job_id) {
  assert(core != nullptr);
  assert(work.plan != nullptr);
  assert(work.version != nullptr);
  if (core->options->compaction_service == nullptr || IsForThisProcess(family, work))
    return nullptr;
  std::unique_ptr<RemoteCompaction> remote(new RemoteCompaction(core, work));
  const CompactionPlan& plan = *work.plan;
  remote->input_ = InputFor(*core, family, work);
  remote->info_ = CompactionServiceJobInfo(
      core->paths.dir, core->identity.db_id, core->identity.session_id, family.id(), family.name(),
      static_cast<uint64_t>(job_id), Env::LOW, plan.reason,
      plan.InputFileCount() == work.version->file_count(), plan.is_manual, plan.is_bottommost,
      plan.start_level, plan.output_level);
  return remote;
}

// A failed worker is not an error of the job, so it is only logged.
void RemoteCompaction::Warn(const char* what, const Status& why) const {
  ashlar::Warn(core_->services.info_log.get(), "job %llu: %s, so the compaction is done here: %s",
               static_cast<unsigned long long>(info_.job_id), what, why.ToString().c_str());
}

// Hands the job to the service and waits for its answer, unless the job is stopped: whoever closes
// the database sets the flag first, and asks the service once to end the jobs that it has by then.
// An exception thrown by the program's service counts as a failure.
Status RemoteCompaction::Ask(std::string* answer, CompactionServiceJobStatus* status) {
  assert(!is_scheduled_);
  assert(service_ != nullptr);
  *status = CompactionServiceJobStatus::kAborted;
  RETURN_IF_ERROR(work_.stop.Check());
  try {
    const CompactionServiceScheduleResponse response = service_->Schedule(info_, input_.Encode());
    *status = response.status;
    if (*status != CompactionServiceJobStatus::kSuccess) return Status::OK();
    scheduled_id_ = response.scheduled_job_id;
    is_scheduled_ = true;
    *status = CompactionServiceJobStatus::kAborted;
    RETURN_IF_ERROR(work_.stop.Check());
    *status = service_->Wait(scheduled_id_, answer);
  } catch (...) {
    *status = CompactionServiceJobStatus::kFailure;
    return Status::Aborted("the service has thrown an exception");
  }
  return Status::OK();
}

Status RemoteCompaction::Run(OutputResult* result, bool* is_done) {
  assert(is_done != nullptr);
  assert(!is_done_);
  const Status status = TakeAnswer(result);
  is_given_up_ = !status.ok();
  *is_done = is_done_;
  return status;
}

// Every failure except an abort leaves is_done_ false and the result empty, so the caller can do
// the job itself.
Status RemoteCompaction::TakeAnswer(OutputResult* result) {
  assert(result->tables.empty());
  std::string answer;
  CompactionServiceJobStatus status = CompactionServiceJobStatus::kFailure;
  const Status asked = Ask(&answer, &status);
  RETURN_IF_ERROR(work_.stop.Check());
  switch (status) {
    case CompactionServiceJobStatus::kSuccess: break;
    case CompactionServiceJobStatus::kUseLocal: return Status::OK();
    case CompactionServiceJobStatus::kAborted:
      return asked.ok() ? Status::Incomplete(Status::kCompactionAborted) : asked;
    case CompactionServiceJobStatus::kFailure:
      Warn("the compaction service has failed", asked);
      return Status::OK();
  }
  Result<RemoteResult> remote = RemoteResult::Decode(answer);
  Status taken = remote.ok() ? remote->status : remote.status();
  if (taken.ok()) taken = TakeIn(*remote, result);
  if (!taken.ok()) {
    DeleteUnnamedFiles(work_.table, result);
    *result = OutputResult();
    Warn("the worker's result cannot be used", taken);
    return Status::OK();
  }
  RecordTick(core_->services.statistics.get(), REMOTE_COMPACT_READ_BYTES, work_.plan->InputBytes());
  RecordTick(core_->services.statistics.get(), REMOTE_COMPACT_WRITE_BYTES, result->bytes_written);
  is_done_ = true;
  return Status::OK();
}

// Takes over the tables of the worker. The metadata of all tables is checked before the first one
// is renamed.
Status RemoteCompaction::TakeIn(const RemoteResult& remote, OutputResult* result) const {
  assert(result != nullptr);
  assert(result->tables.empty());
  RETURN_IF_ERROR(CheckOrder(remote));
  for (const RemoteResult::Table& table : remote.tables) {
    RETURN_IF_ERROR(TakeTable(remote.output_dir, table, result));
  }
  result->input_entries = remote.input_entries;
  result->output_entries = remote.output_entries;
  result->hidden_dropped = remote.hidden_dropped;
  result->covered_dropped = remote.covered_dropped;
  result->tombstones_dropped = remote.tombstones_dropped;
  result->filtered = remote.filtered;
  result->range_tombstones_dropped = remote.range_tombstones_dropped;
  result->cpu_micros = remote.cpu_micros;
  return Status::OK();
}

// The tables have all of their values. Those of a level must be disjoint and within the key range
// that the plan has claimed there: that of the inputs, and on the level above the young range.
Status RemoteCompaction::CheckOrder(const RemoteResult& remote) const {
  const CompactionPlan& plan = *work_.plan;
  const InternalKeyComparator& order = work_.version->comparator();
  const auto [smallest, largest] = plan.UserKeyRange(order);
  const FileMetadata* before[2] = {nullptr, nullptr};  // of the output level, and of the one above
  if (plan.output_level == 0 && remote.tables.size() > 1) {
    return Status::Corruption("remote compaction: several tables for level 0");
  }
  for (const auto& [meta, is_young] : remote.tables) {
    if (meta.oldest_blob_file_number != 0) {
      return Status::Corruption(StrCat("remote compaction: table ", meta.number,
                                       " has values in blob files of the worker"));
    }
    if (is_young && !plan.young_range.has_value()) {
      return Status::Corruption(
          StrCat("remote compaction: table ", meta.number, " is for a level that is not claimed"));
    }
    const int to_begin = order.OrderWithoutTimestamp(
        is_young ? plan.young_range->smallest : smallest, meta.smallest_user_key());
    const int to_end = order.OrderWithoutTimestamp(meta.largest_user_key(),
                                                   is_young ? plan.young_range->largest : largest);
    const bool may_reach_end =
        !is_young || !plan.young_range->largest_is_exclusive || meta.largest_is_exclusive();
    const bool is_inside = to_begin <= 0 && (may_reach_end ? to_end <= 0 : to_end < 0);
    const FileMetadata*& last = before[is_young];
    const bool is_behind = last == nullptr || order.Compare(last->largest, meta.smallest) < 0;
    if (!is_inside || !is_behind || order.Compare(meta.smallest, meta.largest) > 0) {
      return Status::Corruption(
          StrCat("remote compaction: table ", meta.number, " has keys ",
                 is_inside ? "of the table before it" : "beyond those of the inputs"));
    }
    last = &meta;
  }
  return Status::OK();
}

// The table is moved into the directory of the database under a number of this process.
Status RemoteCompaction::TakeTable(const std::string& dir, const RemoteResult::Table& taken,
                                   OutputResult* result) const {
  assert(result != nullptr);
  const FileMetadata& meta = taken.meta;
  FileSystem* const fs = core_->environment.fs.get();
  const std::string source = TableFileName(dir, meta.number);
  OutputTable& table = result->tables.emplace_back();  // a failure deletes it from here on
  table.meta = meta;
  table.is_young = taken.is_young;
  table.meta.number = work_.new_file_number();
  table.meta.path_id = 0;
  const std::string path = TableFileName(work_.table.dir, table.meta.number);
  if (work_.observer != nullptr) work_.observer->OnTableBegun(table.meta.number);
  Status status = fs->RenameFile(source, path, IOOptions(), nullptr);
  if (!status.ok()) {  // the file may be on another file system
    status = CopyFileTo(fs, source, path, UINT64_MAX, static_cast<Temperature>(meta.temperature));
    if (status.ok()) IgnoreError(DeleteFileIfExists(fs, source), "it is the worker's");
  }
  if (status.ok()) status = CheckTable(path, &table.meta, &table);
  if (work_.observer != nullptr) {
    work_.observer->OnTableEnded(table.meta.number, status.ok() ? &table : nullptr, status);
  }
  RETURN_IF_ERROR(status);
  result->bytes_written += table.meta.file_size;
  if (core_->resources.space != nullptr)
    core_->resources.space->OnAddFile(path, table.meta.file_size);
  return Status::OK();
}

// Opens the table and compares its size and its unique id with the metadata from the worker.
Status RemoteCompaction::CheckTable(const std::string& path, FileMetadata* meta,
                                    OutputTable* table) const {
  assert(meta != nullptr);
  ASSIGN_OR_RETURN(const uint64_t bytes, FileSizeOf(core_->environment.fs.get(), path));
  if (bytes != meta->file_size) {
    return Status::Corruption(
        StrCat(path, ": ", bytes, " bytes, but the worker says ", meta->file_size));
  }
  ASSIGN_OR_RETURN(
      std::unique_ptr<RandomReader> file,
      RandomReader::Open(core_->environment.fs.get(), path, core_->environment.file_options));
  TableReaderOptions options;
  options.icmp = &work_.version->comparator();
  options.expected_unique_id = meta->unique_id;
  ASSIGN_OR_RETURN(const std::unique_ptr<TableReader> reader,
                   TableReader::Open(std::move(file), options));
  table->properties = reader->properties();
  if (core_->environment.outputs.checksum_factory == nullptr) return Status::OK();
  meta->has_file_checksum = true;
  ASSIGN_OR_RETURN(const FileChecksum checksum,
                   ChecksumFile(core_->environment.fs.get(), path, core_->environment.file_options,
                                core_->environment.outputs.checksum_factory.get()));
  meta->file_checksum = checksum.value;
  meta->file_checksum_function = checksum.function;
  return Status::OK();
}

// Tells the service what became of its result. A service that has not accepted the job is not
// called.
void RemoteCompaction::NotifyInstallation(const Status& status) {
  assert(!is_done_ || is_scheduled_);
  if (!is_scheduled_) return;
  const CompactionServiceJobStatus told = is_given_up_  ? CompactionServiceJobStatus::kAborted
                                          : !is_done_   ? CompactionServiceJobStatus::kUseLocal
                                          : status.ok() ? CompactionServiceJobStatus::kSuccess
                                                        : CompactionServiceJobStatus::kFailure;
  try {
    service_->OnInstallation(scheduled_id_, told);
  } catch (...) {
    Warn("the compaction service has thrown an exception", status);
  }
}

}  // namespace ashlar
