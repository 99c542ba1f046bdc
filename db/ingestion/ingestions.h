// SPDX-License-Identifier: Apache-2.0
//
// Ingestions adds external tables to an open database: all files of a call, for any number of
// families, or none of them.
//
//   Prepare   inspects the files and stages them in the directory      writes continue
//   Flush     flushes memtables that share keys with a file            writes continue
//   AwaitRoom if level 0 is full, waits for a compaction               writes continue
//   Install   levels, numbers, one group in the MANIFEST, views        no write begins
//   Report    notifies listeners; deletes sources that were given away writes continue
//
// A file acts like one write between the writes before the installation and those after it. Its
// entries get the next sequence number, or 0 if no data shares a key with it and no snapshot
// exists. Older data in memory must not be above the file, so it is flushed first. Writers may
// overlap the file again meanwhile: then small files are converted into a synced write
// (file_as_batch.h); for large files, the overlapping writes since the flush are flushed while
// writers wait.
//
// Threads: any, without locks; one thread installs at a time.
// Crash: once the record in the MANIFEST is synced, all files belong to the database. Before that
// the next opening deletes them.
#pragma once

#include <memory>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "db/column_family/family_ref.h"
#include "db/ingestion/external_file.h"
#include "db/ingestion/ingest_place.h"
#include "db/ingestion/staged_files.h"
#include "db/jobs/compaction_registry.h"
#include "db/jobs/manual_flush.h"
#include "db/jobs/scheduler.h"
#include "db/state/db_core.h"
#include "db/state/write_control.h"

namespace ashlar {

class Ingestions {
 public:
  // All arguments outlive the object.
  Ingestions(DbCore* core, WriteControl* writes, Scheduler* scheduler,
             CompactionRegistry* compactions, ManualFlushes* flushes)
      : core_(core),
        writes_(writes),
        scheduler_(scheduler),
        compactions_(compactions),
        flushes_(flushes) {}

  // Inspects and stages the files of all arguments. On success `*handle` owns the staged files.
  Status Prepare(const std::vector<IngestExternalFileArg>& args,
                 std::unique_ptr<FileIngestionHandle>* handle) EXCLUDES(db_mutex);
  // Commits all handles as one ingestion. After a failure their files are deleted.
  Status Commit(std::vector<std::unique_ptr<FileIngestionHandle>> handles) EXCLUDES(db_mutex);

 private:
  struct Part;  // one family of the call
  class Standstill;

  Status CommitStaged(const std::vector<StagedFiles*>& all) EXCLUDES(db_mutex);
  Status FlushOverlapped(const std::vector<Part*>& parts) EXCLUDES(db_mutex);
  void AwaitRoom(const std::vector<Part*>& parts) EXCLUDES(db_mutex);
  // False: nothing was installed, because writers have overlapped the files again, and the files
  // may be converted into a write.
  Result<bool> InstallWithoutWriters(const std::vector<StagedFiles*>& all,
                                     const std::vector<Part*>& parts) EXCLUDES(db_mutex);
  static bool MayBeWritten(const std::vector<Part*>& parts);
  Status WriteAsBatch(const std::vector<Part*>& parts) EXCLUDES(db_mutex);
  Status Look(Part* part) EXCLUDES(db_mutex);
  Status LookUntilNothingMoves(const std::vector<Part*>& parts) EXCLUDES(db_mutex);
  bool IsAsLookedAt(const std::vector<Part*>& parts) const REQUIRES(db_mutex);
  Status Place(Part* part, SequenceNumber* last_seqno) REQUIRES(db_mutex);
  Result<Level> PickLevel(const Part& part, size_t i, const IngestPlaceOptions& place) const
      REQUIRES(db_mutex);
  Result<SequenceNumber> NumberOf(const Part& part, size_t i, SequenceNumber* last_seqno) const
      REQUIRES(db_mutex);
  Status WriteSeqnos(const std::vector<Part*>& parts) EXCLUDES(db_mutex);
  Status Record(const std::vector<StagedFiles*>& all, const std::vector<Part*>& parts,
                SequenceNumber last_seqno) REQUIRES(db_mutex);
  void Report(const std::vector<Part*>& parts) EXCLUDES(db_mutex);
  void ReportFile(const Part& part, size_t i) EXCLUDES(db_mutex);

  DbCore* const core_;
  WriteControl* const writes_;
  Scheduler* const scheduler_;
  CompactionRegistry* const compactions_;
  ManualFlushes* const flushes_;
  bool is_installing_ GUARDED_BY(db_mutex) = false;  // a thread is in InstallWithoutWriters()
};

}  // namespace ashlar
