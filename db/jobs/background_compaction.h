// SPDX-License-Identifier: Apache-2.0
//
// BackgroundCompaction executes one compaction plan: merges its inputs, or moves them to another
// level without rewriting them.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "db/compaction/compaction_job.h"
#include "db/jobs/background_job.h"
#include "db/jobs/compaction_registry.h"
#include "db/jobs/job_events.h"
#include "db/jobs/level0_turns.h"
#include "db/jobs/notify.h"
#include "db/jobs/remote/remote_compaction.h"
#include "db/version/version_ref.h"
#include "util/threads/concurrent_task_limiter.h"

namespace ashlar {

class BackgroundCompaction final : public BackgroundJob, public FamilyJob {
 public:
  // Claims the inputs and adds itself to `registry` until Finish(). `turns`: a compaction of a
  // deeper level yields there to urgent compactions of level 0.
  BackgroundCompaction(DbCore* core, CompactionRegistry* registry, Level0Turns* turns,
                       ColumnFamilyData* family, CompactionPlan plan) REQUIRES(db_mutex);

  const CompactionPlan& plan() const { return plan_; }
  // Space below the manager's limit that is reserved for this job until it has ended.
  void SetReserved(SpaceReservation reserved) { reserved_ = std::move(reserved); }
  // The job's token of the family's compaction_thread_limiter; null: there is no limiter.
  void SetToken(std::unique_ptr<TaskLimiter::Token> token) { token_ = std::move(token); }
  // Marks the job as requested by a call: `stop` are the flags of the call, 0 subcompactions means
  // the option of the database.
  void SetManual(const StopFlags& stop, uint32_t max_subcompactions);
  // What the compaction drops besides, of a stamped family.
  void SetTrim(const HistoryTrim& trim) { work_.trim = trim; }
  // Which blob files are relocated. An `age_cutoff` outside of [0, 1] means the option of the
  // family.
  void SetBlobPolicy(BlobGarbageCollectionPolicy policy, double age_cutoff) REQUIRES(db_mutex);
  // The struct for listeners: the job, its outputs, and `status` as its outcome. After Run().
  CompactionJobInfo Describe(const Status& status) const;
  void Announce() override;
  Status WriteTables() override;
  Status Describe(VersionSet::Change* change) override REQUIRES(db_mutex);
  void Finish(const Status& status) override REQUIRES(db_mutex);
  void DeleteUnnamed() override;
  void Report(const Status& status) override;
  std::optional<BackgroundErrorReason> ErrorReason(const Status& error) const override;

  // Whether a job with this status was stopped or has lost its family. That is not an error of the
  // database.
  static bool IsStopped(const Status& status) {
    return status.IsShutdownInProgress() || status.IsColumnFamilyDropped() ||
           status.IsCompactionAborted();
  }

 private:
  OperationInfo OperationToShow() const;
  // Lets the compaction service do the merge if it accepts the job, else merges in this process.
  Status Merge();
  void ReconsiderMove() EXCLUDES(db_mutex);
  void Count(const Status& status) const;
  void LogEnd(const Status& status) const;
  // Counts the failure in the input files, so that other compactions are preferred.
  void NoteFailure() REQUIRES(db_mutex);
  void NoteKeptForSnapshots() REQUIRES(db_mutex);
  JobWork WorkDone() const;
  // Includes the results once the job has run.
  CompactionNotice MakeNotice() const;

  CompactionRegistry* const registry_;
  // The version from which the plan was made. Released after the report, so that listeners still
  // find the input tables.
  const VersionRef version_;
  // is_trivial_move may change before the job is announced, under the DB mutex; all else is fixed.
  CompactionPlan plan_;
  CompactionJobOptions work_;
  std::unique_ptr<RemoteCompaction> remote_;  // null: the job is done in this process
  SpaceReservation reserved_;
  std::unique_ptr<TaskLimiter::Token> token_;
  std::optional<Level0Turns::Yielder> yielder_;  // only if no input is on level 0
  std::atomic<bool> is_aborted_{false};          // set by the registry
  CompactionNotice notice_;                      // without the results
  CompactionNotifier notifier_;
  BlobFileNotifier blob_notifier_;
  FamilyShape shape_;       // set by Finish()
  Status outcome_;          // set by Finish()
  Status recovered_error_;  // the background error that its success has cleared, if any
};

}  // namespace ashlar
