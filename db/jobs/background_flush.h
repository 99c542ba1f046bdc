// SPDX-License-Identifier: Apache-2.0
//
// BackgroundFlush is the part of a FlushGroup that flushes one family: it writes immutable
// memtables to a table of level 0.
//
// Crash: the logs of the memtables are released only after a durable MANIFEST names the table.
#pragma once

#include <memory>
#include <optional>

#include "db/flush/flush_job.h"
#include "db/jobs/background_job.h"
#include "db/jobs/job_events.h"
#include "db/jobs/notify.h"
#include "util/keys/file_number.h"

namespace ashlar {

class NewEntries;

class BackgroundFlush final : public FamilyJob {
 public:
  // Null if there are no memtables that may be flushed now. The family outlives the job.
  static std::unique_ptr<BackgroundFlush> Begin(DbCore* core, ColumnFamilyData* family,
                                                FlushScope scope) REQUIRES(db_mutex);
  // Whether the oldest immutable memtable should be flushed now, by a flush of this family alone.
  static bool IsWanted(const DbCore& core, const ColumnFamilyData& family) REQUIRES(db_mutex);

  // The steps of BackgroundJob. A thread shows one operation at a time, so the group decides from
  // when until when it shows this flush.
  void BeginOperation() { FamilyJob::BeginOperation(OperationToShow()); }
  void EndOperation() { FamilyJob::EndOperation(); }
  void Announce();
  Status WriteTable();
  void Describe(VersionEdit* edit) REQUIRES(db_mutex);
  void Finish(const Status& status) REQUIRES(db_mutex);
  void DeleteUnnamed();
  // Also reports a log that could not be synced, as an error of the log.
  void Report();
  std::optional<BackgroundErrorReason> ErrorReason(const Status& error) const;
  // The first log that the family needs once this is installed.
  FileNumber log_number() const { return log_number_; }
  // The oldest log of a prepare section that the family needs once this is installed.
  FileNumber prepared_log() const REQUIRES(db_mutex) {
    return family_->OldestPreparedLog(work_.memtables);
  }

 private:
  BackgroundFlush(DbCore* core, ColumnFamilyData* family, FlushJobOptions work) REQUIRES(db_mutex);
  OperationInfo OperationToShow() const;
  void NoteProgress(double progress) EXCLUDES(db_mutex);
  Status SyncFiles(const NewEntries& entries);
  void NotifyTable(const Status& status);
  void Count() const;

  FlushNotice MakeNotice() const;
  void NoteStallTriggers() REQUIRES(db_mutex);
  JobWork WorkDone() const;

  FlushJobOptions work_;
  const FlushReason reason_;         // of the oldest memtable
  const FileNumber log_number_;      // the first log that the family needs once this is installed
  const bool syncs_older_logs_;      // the database has other families
  bool slows_writes_ = false;        // level 0 has reached level0_slowdown_writes_trigger
  bool stops_writes_ = false;        // level 0 has reached level0_stop_writes_trigger
  bool has_notified_table_ = false;  // listeners know the outcome of the table
  uint64_t memory_bytes_ = 0;        // of the memtables
  uint64_t payload_bytes_ = 0;       // internal keys and values in them
  std::optional<FileNumber> failed_log_;  // a log up to this number could not be synced
  Status outcome_;                        // set by Finish()
  FamilyShape shape_;                     // set by Finish()
  BlobFileNotifier blob_notifier_;
  std::optional<TrackedBytes> bytes_;  // only while WriteTable() runs
};

}  // namespace ashlar
