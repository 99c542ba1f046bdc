// SPDX-License-Identifier: Apache-2.0
//
// RemoteCompaction hands a compaction to the program's CompactionService, waits for its worker
// (DB::OpenAndCompact() in another process, as a rule), and takes in what that has written.
// Whatever goes wrong with it, the job is still to be done here: nothing is lost but the worker's
// time.
//
// Threads: the job's. Crash: tables that were taken in are names that the next open deletes; those
// that were not are the worker's.
#pragma once

#include <memory>
#include <string>

#include "db/compaction/compaction_job.h"
#include "db/compaction/remote_forms.h"
#include "db/state/db_core.h"

namespace ashlar {

class ColumnFamilyData;

class RemoteCompaction {
 public:
  // Null if the job is one for this process: there is no service, or it would need more than tables
  // of one directory. `work` and the core outlive it.
  static std::unique_ptr<RemoteCompaction> For(DbCore* core, const ColumnFamilyData& family,
                                               const CompactionJobOptions& work, int job_id)
      REQUIRES(db_mutex);

  // *is_done: the result is as a CompactionJob would have left it. If not, and the status is OK,
  // the job is to be done here. Incomplete(kCompactionAborted): the service has given it up.
  Status Run(OutputResult* result, bool* is_done);
  // The service hears what became of its job.
  void NotifyInstallation(const Status& status);

 private:
  RemoteCompaction(DbCore* core, const CompactionJobOptions& work) REQUIRES(db_mutex);
  Status Ask(std::string* answer, CompactionServiceJobStatus* status);
  Status TakeIn(const RemoteResult& remote, OutputResult* result) const;
  Status TakeTable(const std::string& dir, const FileMetadata& meta, OutputResult* result) const;
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
};

// The worker's half: merges what the input says, of an open database, into new tables in
// `output_dir`. What the compaction meets is in the result; an error here means that there is none.
Status RunForService(DbCore* core, const RemoteInput& input, const std::string& output_dir,
                     const StopFlags& stop, RemoteResult* result) EXCLUDES(db_mutex);

}  // namespace ashlar
