// SPDX-License-Identifier: Apache-2.0
//
// One compaction: marks its inputs, merges them, swaps them for the outputs.
#include "db/jobs/background_compaction.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "db/jobs/compactions.h"
#include "db/jobs/notify.h"
#include "db/jobs/table_options.h"
#include "db/state/notify_errors.h"
#include "env/file_util.h"
#include "env/info_log.h"
#include "util/statistics.h"

namespace ashlar {

BackgroundCompaction::BackgroundCompaction(DbCore* core, Compactions* running,
                                           ColumnFamilyData* family, CompactionPlan plan)
    : BackgroundJob(core, family),
      running_(running),
      id_(running->NextJobId()),
      version_(family->current(), core->versions.get()),
      plan_(std::move(plan)) {
  work_.table = TableOptionsFor(*core, *family);
  work_.plan = &plan_;
  work_.version = version_.get();
  work_.snapshots = core->snapshots.SequenceNumbers();
  work_.new_file_number = [this] { return numbers_.NewNumber(); };
  work_.stop = {.background_cancelled = &core->is_background_cancelled, .aborted = &is_aborted_};
  work_.merge = MergeToolsFor(*core, *family);
  // Nobody asked for the values: one key that cannot be merged must not end all compaction.
  work_.on_merge_failure = OperandFold::OnFailure::kKeepOperands;
  work_.env = core->env;
  work_.max_subcompactions = core->options->max_subcompactions;
  work_.readahead_bytes = core->options->compaction_readahead_size;
  work_.verify_record_count = core->options->compaction_verify_record_count;
  assert(!plan_.inputs.empty());
  family->versions()->claims.Take(plan_.inputs);
  running_->Add(this);
}

void BackgroundCompaction::SetManual(const StopFlags& stop, uint32_t max_subcompactions) {
  work_.stop = stop;
  work_.on_merge_failure = OperandFold::OnFailure::kAsOperatorSays;
  assert(plan_.is_manual);
  if (max_subcompactions > 0) work_.max_subcompactions = max_subcompactions;
}

void BackgroundCompaction::Announce() { NotifyCompactionBegin(core_, *family_, plan_, id_); }

Status BackgroundCompaction::WriteTables() {
  assert(plan_.InputFileCount() > 0 && work_.plan == &plan_);
  if (plan_.is_trivial_move) return Status::OK();
  RETURN_IF_ERROR(CompactionJob(work_).Run(&result_));
  return SyncDirectory(core_->fs.get(), work_.table.dir);
}

Status BackgroundCompaction::Describe(VersionEdit* edit) {
  assert(edit->column_family == family_->id());
  assert(!plan_.is_trivial_move || result_.tables.empty());
  RETURN_IF_ERROR(work_.stop.Check());
  for (const LevelFiles& level : plan_.inputs) {
    for (const TableFile* file : level.files) {
      edit->DeleteFile(level.level, file->meta.number);
      if (plan_.is_trivial_move) edit->AddFile(plan_.output_level, file->meta);
    }
  }
  for (const OutputTable& table : result_.tables) edit->AddFile(plan_.output_level, table.meta);
  return Status::OK();
}

void BackgroundCompaction::Finish(const Status& status) {
  core_->mutex.AssertHeld();
  family_->versions()->claims.GiveBack(plan_.inputs);
  running_->Remove(this);
  if (!status.ok()) return;
  NoteKeptTombstones();
  family_->PublishSuperVersion();
  if (!plan_.is_manual) recovered_error_ = core_->errors.ClearSoft();
}

// Whoever ran the job asks for compactions afterwards, if the snapshot has gone meanwhile.
void BackgroundCompaction::NoteKeptTombstones() {
  core_->mutex.AssertHeld();
  for (const OutputTable& table : result_.tables) {
    if (!table.meta.keeps_tombstones) continue;
    family_->versions()->kept_tombstones.Add(table.meta.number, table.meta.largest_seqno);
    std::atomic<SequenceNumber>& next_due = core_->next_tombstones_due;
    next_due.store(std::min(next_due.load(std::memory_order_relaxed), table.meta.largest_seqno),
                   std::memory_order_relaxed);
  }
}

// A call that asked for it is told itself.
std::optional<BackgroundErrorReason> BackgroundCompaction::ErrorReason(const Status& error) const {
  assert(!error.ok());
  if (plan_.is_manual || IsStopped(error)) return std::nullopt;
  return numbers_.may_be_named() ? BackgroundErrorReason::kManifestWrite
                                 : BackgroundErrorReason::kCompaction;
}

void BackgroundCompaction::Count(const Status& status) const {
  Statistics* const statistics = core_->statistics.get();
  RecordTime(statistics, COMPACTION_TIME, ElapsedMicros());
  RecordInHistogram(statistics, NUM_FILES_IN_SINGLE_COMPACTION, plan_.InputFileCount());
  if (status.subcode() == Status::kManualCompactionPaused) {
    RecordTick(statistics, COMPACTION_CANCELLED);
  } else if (status.subcode() == Status::kCompactionAborted) {
    RecordTick(statistics, COMPACTION_ABORTED);
  }
  if (plan_.is_trivial_move) return;
  RecordTime(statistics, COMPACTION_CPU_TIME, result_.cpu_micros);
  RecordTick(statistics, COMPACTION_CPU_TOTAL_TIME, result_.cpu_micros);
  RecordTick(statistics, COMPACTION_KEY_DROP_NEWER_ENTRY, result_.hidden_dropped);
  RecordTick(statistics, COMPACTION_KEY_DROP_OBSOLETE, result_.tombstones_dropped);
  RecordTick(statistics, COMPACTION_KEY_DROP_RANGE_DEL, result_.covered_dropped);
  RecordTick(statistics, COMPACTION_RANGE_DEL_DROP_OBSOLETE, result_.range_tombstones_dropped);
  if (!status.ok()) return;
  RecordTick(statistics, COMPACT_READ_BYTES, plan_.InputBytes());
  RecordTick(statistics, COMPACT_WRITE_BYTES, result_.bytes_written);
  const std::vector<TableFile*>& files = plan_.inputs.front().files;
  const auto is_marked = [](const TableFile* file) { return file->meta.marked_for_compaction; };
  if (std::none_of(files.begin(), files.end(), is_marked)) return;
  RecordTick(statistics, COMPACT_READ_BYTES_MARKED, plan_.InputBytes());
  RecordTick(statistics, COMPACT_WRITE_BYTES_MARKED, result_.bytes_written);
}

void BackgroundCompaction::Report(const Status& status) {
  core_->events->Event("compaction_finished")
      .Add("job", id_)
      .Add("cf_name", family_->name())
      .Add("output_level", plan_.output_level)
      .Add("num_input_files", plan_.InputFileCount())
      .Add("num_output_files", numbers_.count())
      .Add("num_input_records", result_.input_entries)
      .Add("num_output_records", result_.output_entries)
      .Add("total_output_size", result_.bytes_written)
      .Add("is_trivial_move", plan_.is_trivial_move)
      .Add("compaction_time_micros", ElapsedMicros())
      .Add("status", status.ToString());
  if (core_->statistics != nullptr) Count(status);
  NotifyCompactionCompleted(core_, *family_, plan_, result_, status);
  if (recovered_error_.ok()) return;
  RecordTick(core_->statistics.get(), ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT);
  NotifyRecoveryEnd(core_, recovered_error_, Status::OK());
}

}  // namespace ashlar
