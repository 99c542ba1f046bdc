// SPDX-License-Identifier: Apache-2.0
//
// The steps of a compaction: claim the inputs, merge them, and replace them by the outputs in one
// change of the MANIFEST.
#include "db/jobs/background_compaction.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "db/jobs/notify.h"
#include "db/jobs/table_options.h"
#include "db/options/options_check.h"
#include "db/state/notify_errors.h"
#include "env/info_log.h"
#include "env/new_entries.h"
#include "table/format/compression.h"
#include "util/statistics/statistics.h"

namespace ashlar {

BackgroundCompaction::BackgroundCompaction(DbCore* core, CompactionRegistry* registry,
                                           Level0Turns* turns, ColumnFamilyData* family,
                                           CompactionPlan plan)
    : FamilyJob(core, family),
      registry_(registry),
      version_(family->current(), core->versions.get()),
      plan_(std::move(plan)),
      notifier_(core, *family, notice_),
      blob_notifier_(core, *family,
                     {.job_id = id_, .reason = BlobFileCreationReason::kCompaction}) {
  assert(core != nullptr);
  // All values are those of this moment, taken under the DB mutex. Options may change while the job
  // runs; the job keeps the ones with which it began.
  work_.table = TableOptionsFor(*core, *family);
  work_.table.is_flush = false;
  work_.table.path_id = plan_.output_path_id;
  work_.table.dir = family->versions()->tables->DirOf(plan_.output_path_id);
  work_.plan = &plan_;
  work_.version = version_.get();
  work_.snapshots = core->SnapshotsForJob();
  work_.undecided = UndecidedForJob(*core);
  work_.full_history_ts_low = family->versions()->full_history_ts_low.value_or("");
  work_.new_file_number = [this] { return numbers_.NewNumber(); };
  work_.stop = {.background_cancelled = core->shutdown.background_cancelled_flag(),
                .aborted = &is_aborted_};
  work_.merge = MergeToolsFor(*core, *family);
  // The program is not waiting for a merge result, so a key whose operands cannot be merged keeps
  // them: it must not end all compaction.
  work_.on_merge_failure = OperandFold::OnFailure::kKeepOperands;
  work_.env = core->environment.env;
  work_.max_subcompactions = core->options->max_subcompactions;
  work_.readahead_bytes = core->options->compaction_readahead_size;
  work_.blob_readahead_bytes = family->options().blob_compaction_readahead_size;
  SetBlobPolicy(BlobGarbageCollectionPolicy::kUseDefault, -1);
  work_.verify_record_count = core->options->compaction_verify_record_count;
  notice_ = {.job_id = id_,
             .plan = &plan_,
             .version = version_.get(),
             .compression = plan_.compression != kDisableCompressionOption
                                ? plan_.compression
                                : CompressionFor(family->options(), plan_.output_level,
                                                 plan_.base_level, plan_.is_bottommost),
             .blob_compression = family->options().blob_compression_type};
  work_.blob_observer = &blob_notifier_;
  work_.observer = &notifier_;
  if (plan_.start_level > 0) {
    // A job that does not read level 0 lets a compaction of level 0 go first when writers wait for
    // it. Jobs of level 0 never yield, or they would wait for each other.
    yielder_.emplace(turns);
    work_.on_pause = [this] { yielder_->YieldIfAsked(); };
  }
  assert(!plan_.inputs.empty());
  assert(plan_.output_level >= 0);
  // From here on the inputs belong to this job. Finish() gives them back, also after an error.
  family->versions()->claims.Take(plan_.inputs);
  registry_->Add({.family = family, .plan = &plan_, .is_aborted = &is_aborted_});
  // The job may use one helper thread while fewer jobs run than are allowed. It keeps the helper
  // until it has ended.
  const BackgroundJobLimits limits = GetBackgroundJobLimits(*core_->options);
  work_.may_use_helper =
      plan_.IsMerge() && core_->jobs.TakeHelper(limits.flushes + limits.compactions);
}

// The call that waits for the result gets the error of a failed merge, so merge operators decide
// whether operands may be kept.
void BackgroundCompaction::SetManual(const StopFlags& stop, uint32_t max_subcompactions) {
  assert(stop.aborted != nullptr);
  work_.stop = stop;
  work_.on_merge_failure = OperandFold::OnFailure::kAsOperatorSays;
  assert(plan_.is_manual);
  if (max_subcompactions > 0) work_.max_subcompactions = max_subcompactions;
}

// Without relocation, blob files are kept until no table refers to them.
void BackgroundCompaction::SetBlobPolicy(BlobGarbageCollectionPolicy policy, double age_cutoff) {
  const ColumnFamilyOptions& options = family_->options();
  const bool is_on = policy == BlobGarbageCollectionPolicy::kUseDefault
                         ? options.enable_blob_garbage_collection
                         : policy == BlobGarbageCollectionPolicy::kForce;
  work_.relocated_blob_share.reset();
  if (!is_on) return;
  // A value outside of 0 to 1 means that the call leaves the choice to the options.
  const bool is_given = age_cutoff >= 0 && age_cutoff <= 1;
  work_.relocated_blob_share = is_given ? age_cutoff : options.blob_garbage_collection_age_cutoff;
}

// The encodings of levels and flags are RocksDB's: programs read them with Env::GetThreadList().
OperationInfo BackgroundCompaction::OperationToShow() const {
  OperationInfo facts{.type = ThreadStatus::OP_COMPACTION,
                      .stage = ThreadStatus::STAGE_COMPACTION_PREPARE,
                      .db_name = core_->paths.dir,
                      .family_name = family_->name()};
  const auto start_level = static_cast<uint64_t>(plan_.start_level);
  const auto output_level = static_cast<uint64_t>(plan_.output_level);
  facts.properties[ThreadStatus::COMPACTION_JOB_ID] = static_cast<uint64_t>(id_);
  facts.properties[ThreadStatus::COMPACTION_INPUT_OUTPUT_LEVEL] = start_level << 32 | output_level;
  facts.properties[ThreadStatus::COMPACTION_PROP_FLAGS] = (plan_.is_manual ? 2u : 0u) |
                                                          (plan_.is_deletion ? 4u : 0u) |
                                                          (plan_.is_trivial_move ? 8u : 0u);
  facts.properties[ThreadStatus::COMPACTION_TOTAL_INPUT_BYTES] = plan_.InputBytes();
  return facts;
}

// Last decisions before the job is announced: whether it moves tables instead of merging them, and
// whether a compaction service does it. Runs without the DB mutex, because both may call code of
// the program.
void BackgroundCompaction::Announce() {
  BeginOperation(OperationToShow());
  if (plan_.is_trivial_move) ReconsiderMove();
  if (plan_.IsMerge()) {
    // InputFor() reads the state of the family.
    MutexLock lock(&core_->mutex);
    remote_ = RemoteCompaction::For(core_, *family_, work_, id_);
  }
  const std::vector<SequenceNumber>& snapshots = work_.snapshots;
  LogCompactionStarted(*core_, *family_, id_, plan_,
                       snapshots.empty() ? std::nullopt : std::optional(snapshots.front()));
  NotifyCompactionBegin(core_, *family_, notice_);
}

// A move becomes a merge if the program's partitioner would cut one of the tables. The partitioner
// is not asked when the plan is made, because that happens under the DB mutex.
void BackgroundCompaction::ReconsiderMove() {
  assert(plan_.is_trivial_move);
  if (plan_.reason == CompactionReason::kRefitLevel) return;  // the call wants the tables unchanged
  const auto partitioner = MakePartitioner(*work_.table.family_options, plan_, *version_);
  if (partitioner == nullptr) return;
  for (const LevelFiles& level : plan_.inputs) {
    for (const TableFile* file : level.files) {
      if (partitioner->CanDoTrivialMove(file->meta.smallest_user_key(),
                                        file->meta.largest_user_key())) {
        continue;
      }
      // Other threads read the plan through the registry, under the mutex.
      MutexLock lock(&core_->mutex);
      plan_.is_trivial_move = false;
      return;
    }
  }
}

// A copy of the notice with the results. Notices from before the merge have none, which is how
// listeners tell the beginning from the end.
CompactionNotice BackgroundCompaction::MakeNotice() const {
  CompactionNotice done = notice_;
  done.result = &result_;
  done.elapsed_micros = ElapsedMicros();
  return done;
}

CompactionJobInfo BackgroundCompaction::Describe(const Status& status) const {
  return DescribeCompaction(*core_, *family_, MakeNotice(), status);
}

// The share of the job in the statistics of its family. A move reads and writes no tables, so it
// only counts the bytes that it moved.
JobWork BackgroundCompaction::WorkDone() const {
  JobWork work;
  if (!plan_.IsMerge()) {
    if (plan_.is_trivial_move) work.moved_bytes = plan_.InputBytes();
    return work;
  }
  work.jobs = 1;
  work.micros = ElapsedMicros();
  work.cpu_micros = result_.cpu_micros;
  for (const LevelFiles& level : plan_.inputs) {
    // Bytes from the output level are the cost of the merge; bytes from above are the data that
    // moved down.
    const bool is_upper = level.level != plan_.output_level;
    for (const TableFile* file : level.files) {
      (is_upper ? work.upper_bytes : work.output_level_bytes) += file->meta.file_size;
    }
  }
  work.written_bytes = result_.bytes_written + result_.blob_bytes_written();
  work.entries_read = result_.input_entries;
  // If operands were kept instead of being merged, there may be more output than input entries.
  work.entries_dropped =
      result_.input_entries - std::min(result_.input_entries, result_.output_entries);
  return work;
}

// The compaction service merges if there is one and it accepts the job. Otherwise, and after every
// failure of the service, this process does.
Status BackgroundCompaction::Merge() {
  assert(plan_.IsMerge());
  bool is_done = false;
  if (remote_ != nullptr) RETURN_IF_ERROR(remote_->Run(&result_, &is_done));
  notice_.is_remote = is_done;
  return is_done ? Status::OK() : CompactionJob(work_).Run(&result_);
}

// Writes the outputs; a move writes nothing. The directories are synced here, because a MANIFEST
// that names a table must not be durable before the directory entry of the table is.
Status BackgroundCompaction::WriteTables() {
  assert(plan_.InputFileCount() > 0);
  assert(work_.plan == &plan_);
  if (plan_.IsMerge()) {
    SetStage(ThreadStatus::STAGE_COMPACTION_PROCESS_KV);
    work_.operation = operation();
    const NewEntries tables(core_->environment.fs.get(), work_.table.dir);
    const NewEntries blobs(core_->environment.fs.get(), work_.table.blob_dir);
    RETURN_IF_ERROR(Merge());
    SetStage(ThreadStatus::STAGE_COMPACTION_SYNC_FILE);
    RETURN_IF_ERROR(tables.Sync());
    if (!result_.blob_files.empty() && work_.table.blob_dir != work_.table.dir) {
      RETURN_IF_ERROR(blobs.Sync());
    }
  }
  // Listeners see the outputs before readers do.
  NotifyCompactionPreCommit(core_, *family_, MakeNotice());
  return Status::OK();
}

// Replaces the inputs by the outputs in one edit. A move keeps the metadata of the tables.
Status BackgroundCompaction::Describe(VersionSet::Change* change) {
  assert(change != nullptr);
  assert(plan_.IsMerge() || result_.tables.empty());
  assert(result_.tables.size() + result_.blob_files.size() <= numbers_.count());
  SetStage(ThreadStatus::STAGE_COMPACTION_INSTALL);
  // The last chance to stop: after this the change is written to the MANIFEST.
  RETURN_IF_ERROR(work_.stop.Check());
  VersionEdit& edit = change->edits.emplace_back();
  edit.column_family = family_->id();
  for (const LevelFiles& level : plan_.inputs) {
    for (const TableFile* file : level.files) {
      edit.DeleteFile(level.level, file->meta.number);
      if (plan_.is_trivial_move) edit.AddFile(plan_.output_level, file->meta);
    }
  }
  // The next compaction of this level begins behind the keys of this one.
  DescribeOutput(result_, plan_.output_level, &edit);
  if (!plan_.next_cursor.empty()) {
    edit.compact_cursors.push_back({plan_.start_level, plan_.next_cursor});
  }
  numbers_.ExpectNaming();
  return Status::OK();
}

// Gives up everything that the constructor took, whether or not the job has taken effect.
void BackgroundCompaction::Finish(const Status& status) {
  core_->mutex.AssertHeld();
  outcome_ = status;
  SettleNumbers(status, work_.table);
  family_->versions()->claims.GiveBack(plan_.inputs);
  registry_->Remove(&plan_);
  if (work_.may_use_helper) core_->jobs.ReturnHelper();
  reserved_.Release();
  if (!status.ok() && !IsStopped(status) && !plan_.is_manual) NoteFailure();
  shape_ = ShapeOf(*family_);
  // The reads that asked for this compaction do not ask again, so a failed job restores the
  // request.
  if (!status.ok() && plan_.reason == CompactionReason::kReadTriggered) {
    family_->is_read_compaction_wanted = true;
  }
  // The old version stays current after an error, and the outputs are deleted.
  if (!status.ok()) return;
  family_->work.AddCompaction(plan_.output_level, WorkDone());
  NoteKeptForSnapshots();
  family_->PublishSuperVersion();
  if (!plan_.is_manual) recovered_error_ = core_->errors.ClearCompactionError();
}

// Counts a failure at each input file. Compactions of other files are preferred from now on, so a
// table that cannot be compacted does not block them for ever.
void BackgroundCompaction::NoteFailure() {
  core_->mutex.AssertHeld();
  assert(!plan_.inputs.empty());
  assert(!plan_.inputs.front().files.empty());
  for (TableFile* file : plan_.inputs.front().files) {
    if (file->failed_compactions != UINT8_MAX) file->failed_compactions++;
  }
}

// Notes output tables that hold entries only for the sake of a snapshot. They are compacted again
// when the snapshot is released. If that has happened already, the thread of this job requests the
// next compaction.
void BackgroundCompaction::NoteKeptForSnapshots() {
  core_->mutex.AssertHeld();
  // The counter saturates.
  for (const OutputTable& table : result_.tables) {
    if (!table.meta.keeps_for_snapshots) continue;
    family_->versions()->kept_for_snapshots.Add(table.meta.number, table.meta.largest_seqno);
    registry_->NoteTableDue(table.meta.largest_seqno);
  }
}

// Deletes the outputs of a failed job. If the MANIFEST on disk may name them, for example because
// its sync failed, they stay until a new MANIFEST is certain not to: a recovery could need them.
void BackgroundCompaction::DeleteUnnamed() {
  if (!outcome_.ok() && !numbers_.may_be_named()) DeleteUnnamedFiles(work_.table, &result_);
}

// The kind of background error that a failure of this job becomes; none if the error concerns only
// the caller. A manual compaction returns its error to the call. Corruption becomes a background
// error nevertheless, unless a merge operator reported it.
std::optional<BackgroundErrorReason> BackgroundCompaction::ErrorReason(const Status& error) const {
  assert(!error.ok());
  if (error.IsSpaceLimit()) return BackgroundErrorReason::kCompaction;  // concerns all writers
  const bool is_damage = error.IsCorruption() && error.subcode() != Status::kMergeOperatorFailed;
  if ((plan_.is_manual && !is_damage) || IsStopped(error)) return std::nullopt;
  return numbers_.is_described() ? BackgroundErrorReason::kManifestWrite
                                 : BackgroundErrorReason::kCompaction;
}

// Statistics of the job. Bytes count only if the job has taken effect.
void BackgroundCompaction::Count(const Status& status) const {
  Statistics* const statistics = core_->services.statistics.get();
  RecordTime(statistics, COMPACTION_TIME, ElapsedMicros());
  RecordInHistogram(statistics, NUM_FILES_IN_SINGLE_COMPACTION, plan_.InputFileCount());
  if (status.subcode() == Status::kManualCompactionPaused) {
    RecordTick(statistics, COMPACTION_CANCELLED);
  } else if (status.subcode() == Status::kCompactionAborted) {
    RecordTick(statistics, COMPACTION_ABORTED);
  }
  if (plan_.is_deletion && status.ok()) {
    RecordTick(statistics, plan_.reason == CompactionReason::kFIFOTtl ? FIFO_TTL_COMPACTIONS
                                                                      : FIFO_MAX_SIZE_COMPACTIONS);
  }
  if (!plan_.IsMerge()) return;
  if (plan_.reason == CompactionReason::kChangeTemperature && status.ok()) {
    RecordTick(statistics, FIFO_CHANGE_TEMPERATURE_COMPACTIONS);
  }
  RecordTime(statistics, COMPACTION_CPU_TIME, result_.cpu_micros);
  RecordTick(statistics, COMPACTION_CPU_TOTAL_TIME, result_.cpu_micros);
  RecordTick(statistics, COMPACTION_KEY_DROP_NEWER_ENTRY, result_.hidden_dropped);
  RecordTick(statistics, COMPACTION_KEY_DROP_OBSOLETE, result_.tombstones_dropped);
  RecordTick(statistics, COMPACTION_KEY_DROP_RANGE_DEL, result_.covered_dropped);
  RecordTick(statistics, COMPACTION_KEY_DROP_USER, result_.filtered);
  RecordTick(statistics, COMPACTION_RANGE_DEL_DROP_OBSOLETE, result_.range_tombstones_dropped);
  RecordTick(statistics, BLOB_DB_GC_NUM_KEYS_RELOCATED, result_.blobs.relocated);
  RecordTick(statistics, BLOB_DB_GC_BYTES_RELOCATED, result_.blobs.relocated_bytes);
  if (!status.ok()) return;
  const uint64_t written_bytes = result_.bytes_written + result_.blob_bytes_written();
  RecordTick(statistics, COMPACT_READ_BYTES, plan_.InputBytes());
  RecordTick(statistics, COMPACT_WRITE_BYTES, written_bytes);
  if (plan_.reason == CompactionReason::kPeriodicCompaction) {
    RecordTick(statistics, COMPACT_READ_BYTES_PERIODIC, plan_.InputBytes());
    RecordTick(statistics, COMPACT_WRITE_BYTES_PERIODIC, written_bytes);
  } else if (plan_.reason == CompactionReason::kTtl) {
    RecordTick(statistics, COMPACT_READ_BYTES_TTL, plan_.InputBytes());
    RecordTick(statistics, COMPACT_WRITE_BYTES_TTL, written_bytes);
  }
  // Marked tables are only counted for the start level.
  const std::vector<TableFile*>& files = plan_.inputs.front().files;
  const auto is_marked = [](const TableFile* file) { return file->meta.marked_for_compaction; };
  if (std::none_of(files.begin(), files.end(), is_marked)) return;
  RecordTick(statistics, COMPACT_READ_BYTES_MARKED, plan_.InputBytes());
  RecordTick(statistics, COMPACT_WRITE_BYTES_MARKED, written_bytes);
}

// Writes the line of the event log. Tools parse these lines, so the member names are those of
// RocksDB.
void BackgroundCompaction::LogEnd(const Status& status) const {
  EventLine line = core_->services.events->Event("compaction_finished");
  line.Add("job", id_)
      .Add("cf_name", family_->name())
      .Add("output_level", plan_.output_level)
      .Add("num_input_files", plan_.InputFileCount())
      .Add("num_output_files", result_.tables.size())
      .Add("num_input_records", result_.input_entries)
      .Add("num_output_records", result_.output_entries)
      .Add("num_filtered_records", result_.filtered)
      .Add("num_passed_blocks", result_.passed_blocks)
      .Add("total_output_size", result_.bytes_written)
      .Add("num_blob_output_files", result_.blob_files.size())
      .Add("total_blob_output_size", result_.blob_bytes_written())
      .Add("num_subcompactions", result_.part_count)
      .Add("output_compression", CompressionPropertyName(notice_.compression))
      .Add("num_single_delete_mismatches", result_.mismatched_singles)
      .Add("num_single_delete_fallthrough", result_.unmatched_singles)
      .Add("is_trivial_move", plan_.is_trivial_move)
      .Add("compaction_time_micros", ElapsedMicros())
      .Add("compaction_time_cpu_micros", result_.cpu_micros)
      .Add("status", status.ToString());
  AddShape(shape_, &line);
}

// The compaction service is notified before the listeners. The operation stays visible in
// Env::GetThreadList() until all of them have been called.
void BackgroundCompaction::Report(const Status& status) {
  const bool is_move = plan_.is_trivial_move && plan_.reason != CompactionReason::kRefitLevel;
  if (is_move && status.ok()) LogTrivialMove(*core_, *family_, id_, plan_);
  LogEnd(status);
  if (core_->services.statistics != nullptr) Count(status);
  if (remote_ != nullptr) remote_->NotifyInstallation(status);
  NotifyCompactionCompleted(core_, *family_, MakeNotice(), status);
  if (!recovered_error_.ok()) {
    RecordTick(core_->services.statistics.get(), ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT);
    NotifyRecoveryEnd(core_->services, recovered_error_, Status::OK());
  }
  EndOperation();
}

}  // namespace ashlar
