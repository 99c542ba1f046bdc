// SPDX-License-Identifier: Apache-2.0
//
// RemoteCompaction hands a compaction to the program's CompactionService, waits for the worker
// (usually DB::OpenAndCompact() in another process), and takes over the tables that the worker has
// written. If anything fails, the compaction is done in this process instead, and only the worker's
// time is lost.
//
// Threads: the thread of the job. Crash: the next opening deletes tables that were taken over and
// not installed; tables that were not taken over belong to the worker.
#pragma once

#include <memory>
#include <string>

#include "db/compaction/compaction_job.h"
#include "db/jobs/remote/remote_forms.h"
#include "db/state/db_core.h"

namespace ashlar {

class ColumnFamilyData;

class RemoteCompaction {
 public:
  // Null if this process must do the job: there is no service, or the job involves blob files or
  // several directories. `work` and the core outlive the object.
  static std::unique_ptr<RemoteCompaction> For(DbCore* core, const ColumnFamilyData& family,
                                               const CompactionJobOptions& work, int job_id)
      REQUIRES(db_mutex);

  // If *is_done, `*result` is what a CompactionJob would have produced. If not, and the status is
  // OK, the job must be done in this process. Incomplete(kCompactionAborted): the service has
  // aborted it.
  Status Run(OutputResult* result, bool* is_done);
  // Notifies the service of the outcome of its job, also if Run() has returned an error.
  void NotifyInstallation(const Status& status);

 private:
  RemoteCompaction(DbCore* core, const CompactionJobOptions& work) REQUIRES(db_mutex);
  Status Ask(std::string* answer, CompactionServiceJobStatus* status);
  Status TakeAnswer(OutputResult* result);
  Status TakeIn(const RemoteResult& remote, OutputResult* result) const;
  Status TakeTable(const std::string& dir, const RemoteResult::Table& taken,
                   OutputResult* result) const;
  Status CheckTable(const std::string& path, FileMetadata* meta, OutputTable* table) const;
  Status CheckOrder(const RemoteResult& remote) const;
  void Warn(const char* what, const Status& why) const;

  DbCore* const core_;
  const CompactionJobOptions& work_;
  const std::shared_ptr<CompactionService> service_;
  CompactionServiceJobInfo info_;
  RemoteInput input_;
  std::string scheduled_id_;
  bool is_scheduled_ = false;
  bool is_done_ = false;
  // The job is not done at all: it was stopped, or the service has aborted it.
  bool is_given_up_ = false;
};

// The worker's half: merges the inputs that `input` names, of an open database, into new tables in
// `output_dir`. An error of the compaction is in `result->status`; an error that is returned means
// that there is no result.
Status RunForService(DbCore* core, const RemoteInput& input, const std::string& output_dir,
                     const StopFlags& stop, RemoteResult* result) EXCLUDES(db_mutex);

}  // namespace ashlar
