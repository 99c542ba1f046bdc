// SPDX-License-Identifier: Apache-2.0
//
// BackgroundFlush is the part of a FlushGroup that flushes one family: it writes immutable
// memtables to a table of level 0.
//
// Crash: the memtables' logs are released only after the MANIFEST names the table, durably.
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
  // Null if there are no memtables that may be flushed now. `family` lives as long as the job.
  static std::unique_ptr<BackgroundFlush> Begin(DbCore* core, ColumnFamilyData* family,
                                                FlushScope scope) REQUIRES(db_mutex);
  // Whether a flush of the family alone is due of sealed memtables that no job has taken.
  static bool IsWanted(const DbCore& core, const ColumnFamilyData& family) REQUIRES(db_mutex);

  // The steps of BackgroundJob. A thread shows one operation at a time: the group says from when
  // until when it is this one.
  void BeginOperation() { FamilyJob::BeginOperation(OperationToShow()); }
  void EndOperation() { FamilyJob::EndOperation(); }
  void Announce();
  Status WriteTable();
  void Describe(VersionEdit* edit) REQUIRES(db_mutex);
  void Finish(const Status& status) REQUIRES(db_mutex);
  void DeleteUnnamed();
  // A log that cannot be synced is told of here, as an error of the log.
  void Report();
  std::optional<BackgroundErrorReason> ErrorReason(const Status& error) const;
  // The first log that the family needs once this is installed.
  FileNumber log_number() const { return log_number_; }

 private:
  BackgroundFlush(DbCore* core, ColumnFamilyData* family, FlushJobOptions work) REQUIRES(db_mutex);
  OperationFacts OperationToShow() const;
  void NoteProgress(double progress) EXCLUDES(db_mutex);
  Status SyncFiles(const NewEntries& entries);
  void NotifyTable(const Status& status);
  void Count() const;

  FlushNotice MakeNotice() const;
  void NoteStallTriggers() REQUIRES(db_mutex);
  JobWork WorkDone() const;

  FlushJobOptions work_;
  const FlushReason reason_;     // of the oldest memtable
  const FileNumber log_number_;  // the first log that the family needs once this is installed
  const bool syncs_older_logs_;
  bool slows_writes_ = false;             // with as many tables on level 0 as there are now
  bool stops_writes_ = false;             // likewise
  bool has_notified_table_ = false;       // listeners, what became of it
  uint64_t memory_bytes_ = 0;             // of the memtables
  uint64_t payload_bytes_ = 0;            // internal keys and values in them
  std::optional<FileNumber> failed_log_;  // a log up to this one could not be synced
  Status outcome_;                        // once it has ended
  FamilyShape shape_;                     // likewise
  BlobFileNotifier blob_notifier_;
  std::optional<TrackedBytes> bytes_;  // while it writes
};

}  // namespace ashlar
