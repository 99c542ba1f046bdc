// SPDX-License-Identifier: Apache-2.0
//
// BackgroundJob is the interface between a job (one compaction, or a group of flushes) and the
// JobRunner that executes it. A job has begun as soon as the object exists: its constructor takes
// the memtables or claims the tables under the DB mutex. JobRunner calls the steps in this order:
//
//   Announce       notifies listeners that the job begins
//   WriteTables    the long part: reads, merges, writes and syncs; holds no lock
//   TablesWritten  a hook before the job takes effect
//   Describe       fills in the changes for the MANIFEST                       (DB mutex)
//   Finish         gives the inputs back, or removes the flushed memtables     (DB mutex)
//   DeleteUnnamed  deletes the files of a failed job
//   Report         writes the event log, counts statistics, notifies listeners
//
// FamilyJob holds the common state of a compaction and of the flush of one family: family, id,
// start time, numbers of files, result.
//
// Threads: the thread that runs the job, except that any thread of the job may call
// TableNumbers::NewNumber().
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
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
  // Adds the edits of the job to the empty `*change`. Fails if the job may not take effect any
  // more.
  virtual Status Describe(VersionSet::Change* change) REQUIRES(db_mutex) = 0;
  // Called once, with the status of the job, whether or not it has taken effect.
  virtual void Finish(const Status& status) REQUIRES(db_mutex) = 0;
  // Called after Finish(). Deletes the files of a failed job, unless the MANIFEST on disk may name
  // them after a write whose outcome is unknown.
  virtual void DeleteUnnamed() = 0;
  virtual void Report(const Status& status) = 0;
  // The reason with which an error of the job is reported to listeners and becomes the background
  // error. None: the error concerns only the thread that waits for the job, if there is one.
  virtual std::optional<BackgroundErrorReason> ErrorReason(const Status& error) const = 0;
};

// TableNumbers are the file numbers that a job gives to its tables and blob files. JobRegistry
// protects them from deletion until the job has ended; from then on only the versions that name
// them do.
class TableNumbers {
 public:
  explicit TableNumbers(DbCore* core) : core_(core) { assert(core != nullptr); }

  // Allocates and protects a number. Any thread of the job.
  FileNumber NewNumber() EXCLUDES(db_mutex);
  // Adds a number that is protected already.
  void Adopt(FileNumber number) { numbers_.push_back(number); }
  size_t count() const { return numbers_.size(); }

  // Called before the job's edits are handed to the MANIFEST.
  void ExpectNaming() { is_described_ = may_be_named_ = true; }
  // Called after LogAndApply() of these edits has failed, before the mutex is released: the
  // MANIFEST may be certain not to have them.
  void NoteFailedWrite() REQUIRES(db_mutex);
  // Ends the protection, given the outcome of the job. If a MANIFEST write failed, the MANIFEST on
  // disk may name the files: then their numbers stay protected until a later change has begun a
  // new MANIFEST, and the files at `paths` are deleted after it.
  void Settle(const Status& status, std::vector<std::string> paths = {}) REQUIRES(db_mutex);
  // After Settle() of a failed job: the MANIFEST on disk may name its files nevertheless.
  bool may_be_named() const { return may_be_named_; }
  // The job got as far as the MANIFEST.
  bool is_described() const { return is_described_; }

 private:
  DbCore* const core_;
  // Grows under the DB mutex while the job writes. Empty after Settle().
  std::vector<FileNumber> numbers_;
  bool is_described_ = false;
  bool may_be_named_ = false;
};

class FamilyJob {
 public:
  ColumnFamilyData* family() const { return family_; }
  // The job id in events of listeners and in the event log. Unique while the database is open.
  int id() const { return id_; }
  // The tables that the job has written. Complete when WriteTables() has returned.
  const OutputResult& result() const { return result_; }

 protected:
  // The family outlives the job: the caller holds a reference on it.
  FamilyJob(DbCore* core, ColumnFamilyData* family) REQUIRES(db_mutex)
      : core_(core),
        family_(family),
        id_(core->jobs.NewJobId()),
        start_micros_(core->environment.NowMicros()),
        numbers_(core) {
    assert(core != nullptr);
    assert(family != nullptr);
  }
  ~FamilyJob() = default;

  // From now until EndOperation(), Env::GetThreadList() shows this operation for the calling
  // thread.
  void BeginOperation(const OperationInfo& facts) {
    ThreadStatusUpdater* const list = core_->environment.thread_list;
    if (list != nullptr) operation_.emplace(list, facts);
  }
  void SetStage(ThreadStatus::OperationStage stage) {
    if (operation_.has_value()) operation_->SetStage(stage);
  }
  void EndOperation() { operation_.reset(); }
  // Null if the database does not track the operations of its threads.
  TrackedOperation* operation() { return operation_.has_value() ? &*operation_ : nullptr; }

  // For Finish(): ends the protection of the numbers. `table`: the options of the outputs.
  void SettleNumbers(const Status& status, const TableOutputOptions& table) REQUIRES(db_mutex);

  // Since the job began.
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
