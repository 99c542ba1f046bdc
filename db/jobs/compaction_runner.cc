// SPDX-License-Identifier: Apache-2.0
//
// One compaction: pick and mark under the mutex, merge without it, install under it. A manual range
// is a series of them.
#include "db/jobs/compaction_runner.h"

#include <algorithm>
#include <utility>

#include "db/jobs/notify.h"
#include "db/jobs/table_options.h"
#include "env/file_util.h"
#include "env/info_log.h"
#include "util/statistics.h"
#include "util/str_cat.h"

namespace ashlar {

struct CompactionRunner::Job {
  int id = 0;
  ColumnFamilyData* family = nullptr;
  Version* version = nullptr;  // a reference
  CompactionPlan plan;
  CompactionJobOptions work;
  OutputResult result;
  std::vector<uint64_t> outputs;  // numbers in pending_outputs
  uint64_t start_micros = 0;
  bool may_be_named = false;  // the MANIFEST was told of the outputs
};

CompactionRunner::Running CompactionRunner::RunningIn(const ColumnFamilyData* family) const {
  Running plans;
  for (const Job* job : running_) {
    if (job->family == family) plans.push_back(&job->plan);
  }
  return plans;
}

bool CompactionRunner::IsRunningLocked(const ColumnFamilyData* family) const {
  return !RunningIn(family).empty();
}

bool CompactionRunner::HasExclusiveManual(const ColumnFamilyData* family) const {
  return std::any_of(manual_.begin(), manual_.end(), [family](const ManualCompaction* manual) {
    return manual->family == family && manual->is_exclusive && !manual->is_done;
  });
}

CompactionRunner::Outcome CompactionRunner::RunAutomatic(ColumnFamilyData* family) {
  Job job;
  {
    MutexLock lock(&core_->mutex);
    if (family->is_dropped() || family->options().disable_auto_compactions ||
        core_->errors.BlocksWrites() || HasExclusiveManual(family)) {
      return Outcome::kNothing;
    }
    PickOptions pick;
    pick.options = &family->options();
    pick.cursors = &family->versions()->compact_cursors;
    auto plan = PickCompaction(*family->current(), pick, RunningIn(family));
    if (!plan.has_value()) return Outcome::kNothing;
    Begin(family, std::move(*plan), &job);
  }
  Status status = Execute(&job);
  {
    MutexLock lock(&core_->mutex);
    if (status.ok()) status = Install(&job);
    End(&job, status);
    if (status.ok()) core_->errors.ClearSoft();
  }
  DeleteRefused(&job, status);
  const bool is_pointless = status.IsShutdownInProgress() || status.IsColumnFamilyDropped();
  if (!status.ok() && !is_pointless) {
    NotifyBackgroundError(core_, status,
                          job.may_be_named ? BackgroundErrorReason::kManifestWrite
                                           : BackgroundErrorReason::kCompaction);
  }
  Report(job, status);
  return status.ok() ? Outcome::kMore : is_pointless ? Outcome::kNothing : Outcome::kFailed;
}

void CompactionRunner::Begin(ColumnFamilyData* family, CompactionPlan plan, Job* job) {
  job->id = next_job_id_++;
  job->family = family;
  job->version = family->current();
  job->version->Ref();
  job->plan = std::move(plan);
  job->start_micros = core_->NowMicros();
  for (const LevelFiles& level : job->plan.inputs) {
    for (TableFile* file : level.files) {
      assert(!file->being_compacted);
      file->being_compacted = true;
    }
  }
  running_.push_back(job);

  CompactionJobOptions& work = job->work;
  work.plan = &job->plan;
  work.version = job->version;
  work.snapshots = core_->snapshots.SequenceNumbers();
  work.is_closing = &core_->is_closing;
  work.env = core_->env;
  work.max_subcompactions = core_->options->max_subcompactions;
  work.readahead_bytes = core_->options->compaction_readahead_size;
  work.verify_record_count = core_->options->compaction_verify_record_count;
  work.new_file_number = [this, job] {
    MutexLock lock(&core_->mutex);
    const uint64_t number = core_->versions->NewFileNumber();
    core_->pending_outputs.insert(number);
    job->outputs.push_back(number);
    return number;
  };
  work.table = TableOptionsFor(*core_, *family);
}

Status CompactionRunner::Execute(Job* job) {
  NotifyCompactionBegin(core_, *job->family, job->plan, job->id);
  if (job->plan.is_trivial_move) return Status::OK();
  RETURN_IF_ERROR(CompactionJob(job->work).Run(&job->result));
  return SyncDirectory(core_->fs.get(), job->work.table.dir);
}

Status CompactionRunner::Install(Job* job) {
  if (core_->is_closing.load(std::memory_order_acquire)) return Status::ShutdownInProgress();
  VersionEdit edit;
  edit.column_family = job->family->id();
  for (const LevelFiles& level : job->plan.inputs) {
    for (const TableFile* file : level.files) {
      edit.DeleteFile(level.level, file->meta.number);
      if (job->plan.is_trivial_move) edit.AddFile(job->plan.output_level, file->meta);
    }
  }
  for (const OutputTable& table : job->result.tables) {
    edit.AddFile(job->plan.output_level, table.meta);
  }
  VersionSet::Change change;
  change.edits.push_back(std::move(edit));
  change.last_sequence = core_->pipeline->visible_seqno();
  job->may_be_named = !job->result.tables.empty();
  RETURN_IF_ERROR(core_->versions->LogAndApply(std::move(change), &core_->mutex));
  job->family->PublishSuperVersion();
  return Status::OK();
}

void CompactionRunner::End(Job* job, const Status& status) {
  for (const LevelFiles& level : job->plan.inputs) {
    for (TableFile* file : level.files) file->being_compacted = false;
  }
  // After a failed MANIFEST write the outputs may be named on disk: they stay protected.
  if (status.ok() || status.IsColumnFamilyDropped()) job->may_be_named = false;
  for (uint64_t number : job->outputs) {
    if (!job->may_be_named) core_->pending_outputs.erase(core_->pending_outputs.find(number));
  }
  running_.erase(std::find(running_.begin(), running_.end(), job));
  core_->changed.SignalAll();
}

void CompactionRunner::DeleteRefused(Job* job, const Status& status) const {
  if (!status.ok() && !job->may_be_named) DeleteUnnamedTables(job->work.table, &job->result);
}

void CompactionRunner::Report(const Job& job, const Status& status) {
  core_->events->Event("compaction_finished")
      .Add("job", job.id)
      .Add("cf_name", job.family->name())
      .Add("output_level", job.plan.output_level)
      .Add("num_input_files", job.plan.InputFileCount())
      .Add("num_output_files", job.outputs.size())
      .Add("num_input_records", job.result.input_entries)
      .Add("num_output_records", job.result.output_entries)
      .Add("total_output_size", job.result.bytes_written)
      .Add("is_trivial_move", job.plan.is_trivial_move)
      .Add("compaction_time_micros", core_->NowMicros() - job.start_micros)
      .Add("status", status.ToString());
  Statistics* const statistics = core_->statistics.get();
  RecordTime(statistics, COMPACTION_TIME, core_->NowMicros() - job.start_micros);
  RecordTick(statistics, COMPACTION_KEY_DROP_NEWER_ENTRY, job.result.hidden_dropped);
  RecordTick(statistics, COMPACTION_KEY_DROP_OBSOLETE, job.result.tombstones_dropped);
  NotifyCompactionCompleted(core_, *job.family, job.plan, job.result, status);
  MutexLock lock(&core_->mutex);
  if (job.version->Unref()) core_->versions->Release(job.version);
}

void CompactionRunner::AddManualLocked(ManualCompaction* manual) { manual_.push_back(manual); }

void CompactionRunner::RemoveManualLocked(ManualCompaction* manual) {
  manual_.erase(std::find(manual_.begin(), manual_.end(), manual));
}

// An exclusive one waits until the family is quiet; another one only for exclusive ones before it.
bool CompactionRunner::CanTakeManual(const ManualCompaction& manual) const {
  if (manual.is_taken || manual.is_done) return false;
  for (const ManualCompaction* other : manual_) {
    if (other == &manual) break;
    if (other->family == manual.family && !other->is_done &&
        (other->is_exclusive || manual.is_exclusive)) {
      return false;
    }
  }
  return !manual.is_exclusive || !IsRunningLocked(manual.family);
}

int CompactionRunner::WaitingManualLocked() const {
  int waiting = 0;
  for (const ManualCompaction* manual : manual_) waiting += CanTakeManual(*manual) ? 1 : 0;
  return waiting;
}

ManualCompaction* CompactionRunner::RunManual() {
  ManualCompaction* manual = nullptr;
  {
    MutexLock lock(&core_->mutex);
    for (ManualCompaction* candidate : manual_) {
      if (CanTakeManual(*candidate)) {
        manual = candidate;
        break;
      }
    }
    if (manual == nullptr) return nullptr;
    manual->is_taken = true;
  }
  manual->status = RunManualRange(manual);
  return manual;
}

void CompactionRunner::FinishManual(ManualCompaction* manual) {
  MutexLock lock(&core_->mutex);
  manual->is_done = true;
  core_->changed.SignalAll();
}

// The range in pieces, each as large as one compaction may be.
Status CompactionRunner::RunManualRange(ManualCompaction* manual) {
  std::optional<std::string> begin = manual->begin;
  while (true) {
    Job job;
    {
      MutexLock lock(&core_->mutex);
      const Slice begin_key = begin.has_value() ? Slice(*begin) : Slice();
      const Slice end_key = manual->end.has_value() ? Slice(*manual->end) : Slice();
      RangePickOptions pick;
      pick.input_level = manual->input_level;
      pick.output_level = manual->output_level;
      pick.begin = begin.has_value() ? &begin_key : nullptr;
      pick.end = manual->end.has_value() ? &end_key : nullptr;
      pick.allow_trivial_move = manual->allow_trivial_move;
      std::optional<CompactionPlan> plan;
      while (true) {
        if (core_->is_closing.load(std::memory_order_acquire)) return Status::ShutdownInProgress();
        if (manual->cancel.IsSet()) return Status::Incomplete(Status::kManualCompactionPaused);
        if (manual->family->is_dropped()) return Status::ColumnFamilyDropped();
        bool has_conflict = false;
        pick.options = &manual->family->options();  // others came, perhaps, during the wait
        if (manual->input_level == 0) {
          // Not deeper than what is there now: older data would come to lie above newer.
          pick.output_level =
              std::max(AssessCompaction(*manual->family->current(), *pick.options).base_level, 1);
        }
        plan = PickRangeCompaction(*manual->family->current(), pick, RunningIn(manual->family),
                                   &has_conflict);
        if (!has_conflict) break;
        core_->changed.Wait();
      }
      if (!plan.has_value()) return Status::OK();
      plan->is_manual = true;
      plan->reason = CompactionReason::kManualCompaction;
      begin = plan->next_begin;
      Begin(manual->family, std::move(*plan), &job);
      job.work.cancel = manual->cancel;
      if (manual->max_subcompactions > 0) job.work.max_subcompactions = manual->max_subcompactions;
    }
    Status status = Execute(&job);
    {
      MutexLock lock(&core_->mutex);
      if (status.ok()) status = Install(&job);
      End(&job, status);
    }
    DeleteRefused(&job, status);
    Report(job, status);
    RETURN_IF_ERROR(status);
    if (!begin.has_value()) return Status::OK();
  }
}

}  // namespace ashlar
