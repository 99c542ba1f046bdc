// SPDX-License-Identifier: Apache-2.0
//
// One flush: take memtables under the mutex, write without it, install under it.
#include "db/jobs/flush_runner.h"

#include <algorithm>

#include "db/jobs/notify.h"
#include "db/jobs/table_options.h"
#include "db/state/needed_logs.h"
#include "env/file_util.h"
#include "env/info_log.h"
#include "util/statistics.h"
#include "util/str_cat.h"

namespace ashlar {

struct FlushRunner::Job {
  ColumnFamilyData* family = nullptr;
  FlushJobOptions work;
  OutputResult result;
  uint64_t log_number = 0;
  bool syncs_older_logs = false;
  uint64_t start_micros = 0;
  bool may_be_named = false;  // the MANIFEST was told of the file
};

bool FlushRunner::WantsFlushLocked(ColumnFamilyData* family) const {
  if (family->is_dropped() || family->sealed().empty() || core_->errors.BlocksWrites()) {
    return false;
  }
  return !family->sealed().front().is_flushing;
}

bool FlushRunner::Run(ColumnFamilyData* family) {
  Job job;
  {
    MutexLock lock(&core_->mutex);
    if (family->is_dropped() || family->sealed().empty() || core_->errors.IsFatal()) return false;
    Begin(family, &job);
  }
  if (job.work.memtables.empty()) return false;
  NotifyFlushBegin(core_, *family, job.work.table.file_number);
  Status status = Write(&job);
  {
    MutexLock lock(&core_->mutex);
    if (status.ok()) status = Install(&job);
    // After a failed MANIFEST write the file may be named on disk: it stays protected.
    if (status.ok() || status.IsColumnFamilyDropped()) job.may_be_named = false;
    if (!job.may_be_named) {
      core_->pending_outputs.erase(core_->pending_outputs.find(job.work.table.file_number));
    }
    if (!status.ok()) family->ReturnFromFlush(job.work.memtables);
    core_->changed.SignalAll();
  }
  if (!status.ok() && !job.may_be_named) DeleteUnnamedTables(job.work.table, &job.result);
  if (!status.ok() && !status.IsColumnFamilyDropped()) {
    NotifyBackgroundError(core_, status, BackgroundErrorReason::kFlush);
  }
  Report(job, status);
  return status.ok() && !job.result.tables.empty();
}

void FlushRunner::Begin(ColumnFamilyData* family, Job* job) {
  job->family = family;
  job->start_micros = core_->NowMicros();
  job->work = BeginFlush(core_, family);
  if (job->work.memtables.empty()) return;
  job->work.on_progress = [this, family](double progress) {
    MutexLock lock(&core_->mutex);
    family->NoteFlushProgress(std::clamp(progress, 0.0, 1.0));
    core_->changed.SignalAll();
  };
  job->log_number = family->LogNumberAfter(job->work.memtables);
  job->syncs_older_logs = core_->families.All().size() > 1;
}

// A table must not hold more of the order of writes than the logs of the other families do after a
// machine crash: so older logs are synced first if there are other families.
Status FlushRunner::Write(Job* job) {
  RETURN_IF_ERROR(FlushJob(job->work).Run(&job->result));
  if (job->syncs_older_logs) RETURN_IF_ERROR(core_->wals->SyncSealed());
  return SyncDirectories(*job);
}

// One sync serves the table and the logs that have come since, if they share a directory. Only then
// may the MANIFEST name either.
Status FlushRunner::SyncDirectories(const Job& job) {
  if (!job.result.tables.empty()) {
    const uint64_t newest_log = core_->wals->current_number();
    RETURN_IF_ERROR(SyncDirectory(core_->fs.get(), job.work.table.dir));
    if (job.work.table.dir == core_->wal_dir) core_->wals->NoteEntriesSynced(newest_log);
  }
  return core_->wals->SyncEntries();
}

Status FlushRunner::Install(Job* job) {
  VersionEdit edit;
  edit.column_family = job->family->id();
  edit.log_number = job->log_number;
  edit.min_log_number_to_keep = MinLogNumberAfter(job->family, job->log_number);
  for (const OutputTable& table : job->result.tables) edit.AddFile(0, table.meta);
  VersionSet::Change change;
  change.edits.push_back(std::move(edit));
  change.last_sequence = core_->pipeline->visible_seqno();
  job->may_be_named = !job->result.tables.empty();
  RETURN_IF_ERROR(core_->versions->LogAndApply(std::move(change), &core_->mutex));
  job->family->RemoveFlushed(job->work.memtables);
  return Status::OK();
}

// The lowest log that any family still needs once the flush is installed.
uint64_t FlushRunner::MinLogNumberAfter(const ColumnFamilyData* flushed,
                                        uint64_t log_number) const {
  return std::min(log_number, OldestLogNeeded(*core_, flushed));
}

void FlushRunner::Report(const Job& job, const Status& status) {
  EventLine line = core_->events->Event("flush_finished");
  line.Add("cf_name", job.family->name())
      .Add("memtables", job.work.memtables.size())
      .Add("input_entries", job.result.input_entries)
      .Add("output_entries", job.result.output_entries)
      .Add("micros", core_->NowMicros() - job.start_micros)
      .Add("status", status.ToString());
  for (const OutputTable& table : job.result.tables) {
    line.Add("file_number", table.meta.number).Add("file_size", table.meta.file_size);
  }
  RecordTime(core_->statistics.get(), FLUSH_TIME, core_->NowMicros() - job.start_micros);
  NotifyFlushCompleted(core_, *job.family, job.work.table.file_number, job.result, status);
}

}  // namespace ashlar
