// SPDX-License-Identifier: Apache-2.0
//
// Ingestions takes external tables into an open database: all files of a call, of any number of
// families, or none.
//
//   Prepare   looks at the files and stages them in the directory      writes go on
//   Flush     of memtables that share keys with a file                 writes go on
//   AwaitRoom if level 0 is full, for a compaction to make some        writes go on
//   Install   places, numbers, one group in the MANIFEST, views        no write begins
//   Report    listeners; sources that were given away are deleted      writes go on
//
// A file lies as one write between those before the install and those after it: its entries have
// the next sequence number, or, if nothing shares a key with it and no snapshot exists, 0. What
// is in memory and older must not lie above it: so it is flushed first. Writers may overlap it
// again meanwhile. Then small files become a synced write (file_as_batch.h); what was written over
// large ones since the flush is flushed while writers wait.
//
// Threads: any, without locks; one installs at a time.
// Crash: the files count from the synced record in the MANIFEST on, all of them. Before that they
// are names that the next open deletes.
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
  // All outlive it.
  Ingestions(DbCore* core, WriteControl* writes, Scheduler* scheduler,
             CompactionRegistry* compactions, ManualFlushes* flushes)
      : core_(core),
        writes_(writes),
        scheduler_(scheduler),
        compactions_(compactions),
        flushes_(flushes) {}

  Status Prepare(const std::vector<IngestExternalFileArg>& args,
                 std::unique_ptr<FileIngestionHandle>* handle) EXCLUDES(db_mutex);
  // All handles as one. Those that fail are aborted.
  Status Commit(std::vector<std::unique_ptr<FileIngestionHandle>> handles) EXCLUDES(db_mutex);

 private:
  struct Part;  // a family on its way in
  class Standstill;

  Status CommitStaged(const std::vector<StagedFiles*>& all) EXCLUDES(db_mutex);
  Status FlushOverlapped(const std::vector<Part*>& parts) EXCLUDES(db_mutex);
  void AwaitRoom(const std::vector<Part*>& parts) EXCLUDES(db_mutex);
  // False: nothing is installed, as writers have overlapped the files again; they may be written.
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
  bool is_installing_ GUARDED_BY(db_mutex) = false;  // some thread is
};

}  // namespace ashlar
