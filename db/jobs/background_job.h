// SPDX-License-Identifier: Apache-2.0
//
// BackgroundJob is what the runner needs of a flush or a compaction. A job has begun when it
// exists: its constructor took what it works on, under the DB mutex. JobRunner does the rest:
//
//   Announce    listeners hear that it begins
//   WriteTables the long part; a flush counts here what it has written
//   Describe    what the MANIFEST is to record                  (DB mutex)
//   Finish      gives back what it took, or says it is done     (DB mutex)
//   Report      event log, statistics, listeners
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

// TableNumbers are the numbers a job gives its tables. They are protected from deletion
// (JobRegistry) until the job has ended and nobody can name them but a version.
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

class BackgroundJob {
 public:
  virtual ~BackgroundJob() = default;
  BackgroundJob(const BackgroundJob&) = delete;
  BackgroundJob& operator=(const BackgroundJob&) = delete;

  ColumnFamilyData* family() const { return family_; }
  // What listeners and the event log call it.
  int id() const { return id_; }
  TableNumbers& numbers() { return numbers_; }
  // The tables it has written. The runner deletes those of a job that failed.
  OutputResult& result() { return result_; }

  // Env::GetThreadList() tells what this thread does, from now until EndOperation().
  void BeginOperation() {
    if (core_->environment.thread_list != nullptr)
      operation_.emplace(core_->environment.thread_list, OperationToTell());
  }
  void SetStage(ThreadStatus::OperationStage stage) {
    if (operation_.has_value()) operation_->SetStage(stage);
  }
  // Takes effect.
  virtual ThreadStatus::OperationStage install_stage() const = 0;
  void EndOperation() { operation_.reset(); }

  virtual void Announce() = 0;
  virtual Status WriteTables() = 0;
  // Fails if the job may not take effect any more.
  virtual Status Describe(VersionEdit* edit) REQUIRES(db_mutex) = 0;
  virtual void Finish(const Status& status) REQUIRES(db_mutex) = 0;
  virtual void Report(const Status& status) = 0;
  // As what an error of the job goes to the listeners and becomes the background error. None: it
  // concerns nobody but, perhaps, who waits for the job.
  virtual std::optional<BackgroundErrorReason> ErrorReason(const Status& error) const = 0;
  // How the tables were written, to delete them by.
  virtual const TableOutputOptions& table_options() const = 0;

 protected:
  // The family lives as long as the job.
  BackgroundJob(DbCore* core, ColumnFamilyData* family) REQUIRES(db_mutex)
      : core_(core),
        family_(family),
        id_(core->jobs.NewJobId()),
        start_micros_(core->environment.NowMicros()),
        numbers_(core) {}

  virtual OperationFacts OperationToTell() const = 0;
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
