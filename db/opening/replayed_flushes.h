// SPDX-License-Identifier: Apache-2.0
//
// ReplayedFlushes writes what a replay has left in memory to level-0 tables: one a family, or a few
// of a family with many memtables, by several threads where there is much.
//
// Like a flush, each table holds the memtables of one stretch of time, and a later one has the
// greater epoch. Threads: one; what it starts ends before Run() comes back.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "db/flush/flush_job.h"
#include "db/manifest/version_edit.h"
#include "db/output/output_writer.h"
#include "db/state/db_core.h"
#include "util/threads/mutex.h"

namespace ashlar {

class ReplayedFlushes {
 public:
  explicit ReplayedFlushes(DbCore* core) : core_(core) {}

  // Takes the family's sealed memtables, and returns them, oldest first. `edit` is what Run() adds
  // the family's tables to, and outlives it.
  std::vector<MemTable*> Add(ColumnFamilyData* family, VersionEdit* edit) REQUIRES(db_mutex);
  // Lets go of the mutex: nobody else knows the database yet. Of several errors it returns that of
  // the family that was added first.
  Status Run() REQUIRES(db_mutex);

 private:
  struct Flush {
    FlushJobOptions job;
    const ColumnFamilyData* family = nullptr;
    VersionEdit* edit = nullptr;
    int id = 0;  // what listeners call it
    OutputResult result = {};
    Status status = {};
  };
  void AddJob(FlushJobOptions job, const ColumnFamilyData* family, VersionEdit* edit)
      REQUIRES(db_mutex);
  void RunAll(size_t threads);
  void RunHelper();
  void TakeFlushes();
  void RunOne(Flush* flush);

  DbCore* const core_;
  std::deque<Flush> flushes_;            // each stays where it is
  uint64_t bytes_ = 0;                   // of keys and values in all of them
  std::atomic<size_t> next_{0};          // taken by every thread
  std::atomic<bool> has_failed_{false};  // then no more is begun
  Mutex mutex_{LockRank::kLeaf};
  CondVar helper_ended_{&mutex_};
  size_t running_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ashlar
