// SPDX-License-Identifier: Apache-2.0
//
// Notifies listeners of the begin, the files and the end of jobs, and logs the files that were
// made. Never called with the DB mutex held: a listener may call back into the database.
#pragma once

#include <cassert>

#include "db/compaction/compaction_job.h"
#include "db/flush/flush_job.h"
#include "db/state/db_core.h"
#include "db/state/notify_errors.h"
#include "util/keys/file_number.h"

namespace ashlar {

struct FlushNotice {
  int job_id = 0;
  FileNumber file_number = 0;  // of the table; also of one that is not written because it is empty
  FlushReason reason = FlushReason::kOthers;
  // Whether level 0 has so many tables that writes are slowed down or stopped.
  bool slows_writes = false;
  bool stops_writes = false;
  CompressionType blob_compression = kNoCompression;
  TableFileCreationReason creation_reason = TableFileCreationReason::kFlush;
};
void NotifyFlushBegin(DbCore* core, const ColumnFamilyData& family, const FlushNotice& flush);
// Only the creation of the table: tables that recovery writes belong to no flush job.
void NotifyFlushedTableBegun(DbCore* core, const ColumnFamilyData& family,
                             const FlushNotice& flush);
// Once for each table that was begun, when it is written. A table that would be empty is reported
// with size 0.
void NotifyFlushedTable(DbCore* core, const ColumnFamilyData& family, const FlushNotice& flush,
                        const OutputResult& result, const Status& status);
// `flush` is what NotifyFlushBegin() announced. Not reported if the flush failed or made no table.
void NotifyFlushCompleted(DbCore* core, const ColumnFamilyData& family, const FlushNotice& flush,
                          const OutputResult& result, const Status& status);

struct CompactionNotice {
  int job_id = 0;
  const CompactionPlan* plan = nullptr;
  const Version* version = nullptr;  // from which the plan was made
  CompressionType compression = kNoCompression;
  CompressionType blob_compression = kNoCompression;
  // Set for a job that has run: its result and duration.
  const OutputResult* result = nullptr;
  uint64_t elapsed_micros = 0;
  bool is_remote = false;  // another process has done the work
};
// The notification has the properties of all inputs, for which tables may be opened.
void NotifyCompactionBegin(DbCore* core, const ColumnFamilyData& family,
                           const CompactionNotice& compaction);
// The outputs are written but not installed yet.
void NotifyCompactionPreCommit(DbCore* core, const ColumnFamilyData& family,
                               const CompactionNotice& compaction);
void NotifyCompactionCompleted(DbCore* core, const ColumnFamilyData& family,
                               const CompactionNotice& compaction, const Status& status);
// The struct that listeners get when the compaction has completed.
CompactionJobInfo DescribeCompaction(const DbCore& core, const ColumnFamilyData& family,
                                     const CompactionNotice& compaction, const Status& status);
void NotifyTableDeleted(DbCore* core, const std::string& path, int job_id, const Status& status);
void NotifyBlobFileDeleted(DbCore* core, const std::string& path, int job_id, const Status& status);

// An external table that was ingested.
struct IngestionNotice {
  std::string external_path;
  std::string internal_path;
  SequenceNumber seqno = 0;
  const TableProperties* properties = nullptr;
};
void NotifyExternalFileIngested(DbCore* core, const ColumnFamilyData& family,
                                const IngestionNotice& ingested);

// Notifies listeners of the blob files of one job while it writes them.
class BlobFileNotifier final : public BlobFileObserver {
 public:
  struct Job {
    int job_id = 0;
    BlobFileCreationReason reason = BlobFileCreationReason::kFlush;
  };
  // The core and the family outlive the object.
  BlobFileNotifier(DbCore* core, const ColumnFamilyData& family, const Job& job)
      : core_(core), family_(family), job_(job) {
    assert(core != nullptr);
  }

  void OnBlobFileBegun(FileNumber number) override;
  void OnBlobFileEnded(FileNumber number, const BlobFileAddition* finished,
                       const Status& status) override;

 private:
  DbCore* const core_;
  const ColumnFamilyData& family_;
  const Job job_;
};

// Notifies listeners of the tables and the subcompactions of one compaction while it runs.
class CompactionNotifier final : public OutputObserver {
 public:
  // All arguments outlive the object.
  CompactionNotifier(DbCore* core, const ColumnFamilyData& family,
                     const CompactionNotice& compaction)
      : core_(core), family_(family), compaction_(compaction) {
    assert(core != nullptr);
  }

  void OnTableBegun(FileNumber number) override;
  void OnTableEnded(FileNumber number, const OutputTable* finished, const Status& status) override;
  void OnPartBegun(int part) override;
  void OnPartEnded(int part, const OutputResult& result, const Status& status) override;

 private:
  std::string OutputPath(FileNumber number) const;
  SubcompactionJobInfo PartInfo(int part) const;

  DbCore* const core_;
  const ColumnFamilyData& family_;
  const CompactionNotice& compaction_;
};

}  // namespace ashlar
