// SPDX-License-Identifier: Apache-2.0
//
// BackgroundCompaction carries out one plan: merges its inputs, or relinks them one level deeper.
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
#include "db/jobs/remote_compaction.h"
#include "db/version/version_ref.h"
#include "util/threads/concurrent_task_limiter.h"

namespace ashlar {

class BackgroundCompaction final : public BackgroundJob, public FamilyJob {
 public:
  // Marks the inputs. `registry` has it as running until Finish(). `turns`: where one of a deeper
  // level lets urgent ones of level 0 go first.
  BackgroundCompaction(DbCore* core, CompactionRegistry* registry, Level0Turns* turns,
                       ColumnFamilyData* family, CompactionPlan plan) REQUIRES(db_mutex);

  const CompactionPlan& plan() const { return plan_; }
  // Space below the limit, which is its own until it has ended.
  void SetReserved(SpaceReservation reserved) { reserved_ = std::move(reserved); }
  // Its place among those that a limiter lets run at once; null: there is no limiter.
  void SetToken(std::unique_ptr<TaskLimiter::Token> token) { token_ = std::move(token); }
  // On behalf of a call, whose flags stop it too.
  void SetManual(const StopFlags& stop, uint32_t max_subcompactions);
  // What of the blob files it moves; a cutoff outside of 0 to 1 is that of the options.
  void SetBlobPolicy(BlobGarbageCollectionPolicy policy, double age_cutoff) REQUIRES(db_mutex);
  // What it was and, with `status`, what became of it. After Run().
  CompactionJobInfo Describe(const Status& status) const;
  void Announce() override;
  Status WriteTables() override;
  Status Describe(VersionSet::Change* change) override REQUIRES(db_mutex);
  void Finish(const Status& status) override REQUIRES(db_mutex);
  void DeleteUnnamed() override;
  void Report(const Status& status) override;
  std::optional<BackgroundErrorReason> ErrorReason(const Status& error) const override;

  // Whether a failed one was stopped or has lost its family: nothing is wrong.
  static bool IsStopped(const Status& status) {
    return status.IsShutdownInProgress() || status.IsColumnFamilyDropped() ||
           status.IsCompactionAborted();
  }

 private:
  OperationFacts OperationToShow() const;
  Status Merge();
  void ReconsiderMove() EXCLUDES(db_mutex);
  void Count(const Status& status) const;
  void LogEnd(const Status& status) const;
  void NoteFailure() REQUIRES(db_mutex);
  void NoteKeptForSnapshots() REQUIRES(db_mutex);
  JobWork WorkDone() const;
  // With what it did, once it has.
  CompactionNotice MakeNotice() const;

  CompactionRegistry* const registry_;
  // The version the plan was made of. Given back after the report: listeners find its tables.
  const VersionRef version_;
  // What it is changes only before it is announced, under the DB mutex.
  CompactionPlan plan_;
  CompactionJobOptions work_;
  std::unique_ptr<RemoteCompaction> remote_;  // null: it is done here
  SpaceReservation reserved_;
  std::unique_ptr<TaskLimiter::Token> token_;
  std::optional<Level0Turns::Yielder> yielder_;  // of one of a deeper level
  std::atomic<bool> is_aborted_{false};          // set by the registry
  CompactionNotice notice_;                      // while it runs
  CompactionNotifier notifier_;
  BlobFileNotifier blob_notifier_;
  FamilyShape shape_;       // once it has ended
  Status outcome_;          // likewise
  Status recovered_error_;  // the background error that its success has cleared, if any
};

}  // namespace ashlar
