// SPDX-License-Identifier: Apache-2.0
//
// BackgroundJob is what the runner needs of a job, which is a compaction or a group of flushes. A
// job has begun when it exists: its constructor took what it works on, under the DB mutex.
// JobRunner does the rest:
//
//   Announce       listeners hear that it begins
//   WriteTables    the long part
//   TablesWritten  a hook: before the job takes effect
//   Describe       what the MANIFEST is to record                  (DB mutex)
//   Finish         gives back what it took, or says it is done     (DB mutex)
//   DeleteUnnamed  files of a failed job
//   Report         event log, statistics, listeners
//
// FamilyJob is what a compaction and a flush of one family have in common: family, id, time,
// numbers of files, result.
//
// Threads: one at a time; the runner's, but for NewNumber() of TableNumbers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ashlar/listener.h"
#include "db/output/output_writer.h"
#include "db/state/db_core.h"
#include "env/thread_list.h"
#include "util/keys/file_number.h"

namespace ashlar {

class BackgroundJob {
 public:
  BackgroundJob() = default;
  virtual ~BackgroundJob() = default;
  BackgroundJob(const BackgroundJob&) = delete;
  BackgroundJob& operator=(const BackgroundJob&) = delete;

  virtual void Announce() = 0;
  virtual Status WriteTables() = 0;
  virtual void TablesWritten() {}
  // Fails if the job may not take effect any more.
  virtual Status Describe(VersionSet::Change* change) REQUIRES(db_mutex) = 0;
  virtual void Finish(const Status& status) REQUIRES(db_mutex) = 0;
  // Once Finish() was called: nothing if no MANIFEST could name them by mistake.
  virtual void DeleteUnnamed() = 0;
  virtual void Report(const Status& status) = 0;
  // As what an error of the job goes to the listeners and becomes the background error. None: it
  // concerns only the thread that waits for the job, if any.
  virtual std::optional<BackgroundErrorReason> ErrorReason(const Status& error) const = 0;
};

// TableNumbers are the numbers a job gives its tables. They are protected from deletion
// (JobRegistry) until the job has ended and only versions name them.
class TableNumbers {
 public:
  explicit TableNumbers(DbCore* core) : core_(core) {}

  // Any thread.
  FileNumber NewNumber() EXCLUDES(db_mutex);
  // One that is protected already.
  void Adopt(FileNumber number) { numbers_.push_back(number); }
  size_t count() const { return numbers_.size(); }

  // The MANIFEST is going to be told of them.
  void ExpectNaming() { may_be_named_ = true; }
  // With what became of the job. After a failed MANIFEST write the tables may be named on disk:
  // they stay protected for good.
  void Settle(const Status& status) REQUIRES(db_mutex);
  // Of a job that failed: the MANIFEST on disk may name its tables all the same.
  bool may_be_named() const { return may_be_named_; }

 private:
  DbCore* const core_;
  // Grows under the DB mutex while the job writes.
  std::vector<FileNumber> numbers_;
  bool may_be_named_ = false;
};

class FamilyJob {
 public:
  ColumnFamilyData* family() const { return family_; }
  // What listeners and the event log call it.
  int id() const { return id_; }
  // The tables it has written.
  const OutputResult& result() const { return result_; }

 protected:
  // The family lives as long as the job.
  FamilyJob(DbCore* core, ColumnFamilyData* family) REQUIRES(db_mutex)
      : core_(core),
        family_(family),
        id_(core->jobs.NewJobId()),
        start_micros_(core->environment.NowMicros()),
        numbers_(core) {}
  ~FamilyJob() = default;

  // Env::GetThreadList() shows what this thread does, from now until EndOperation().
  void BeginOperation(const OperationFacts& facts) {
    ThreadStatusUpdater* const list = core_->environment.thread_list;
    if (list != nullptr) operation_.emplace(list, facts);
  }
  void SetStage(ThreadStatus::OperationStage stage) {
    if (operation_.has_value()) operation_->SetStage(stage);
  }
  void EndOperation() { operation_.reset(); }
  // Null: nobody is told.
  TrackedOperation* operation() { return operation_.has_value() ? &*operation_ : nullptr; }

  uint64_t ElapsedMicros() const { return core_->environment.NowMicros() - start_micros_; }

  DbCore* const core_;
  ColumnFamilyData* const family_;
  const int id_;
  const uint64_t start_micros_;
  TableNumbers numbers_;
  OutputResult result_;

 private:
  std::optional<TrackedOperation> operation_;
};

}  // namespace ashlar
