// SPDX-License-Identifier: Apache-2.0
//
// ReplayedFlushes writes the memtables that a replay has filled to tables of level 0: one for each
// family, or several for a family with many memtables. Several threads are used if there is enough
// work.
//
// As with a flush, each table has the memtables of one period, and a later one has the greater
// epoch number. Threads: one; the threads that it starts end before Run() returns.
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

  // Takes the family's immutable memtables and returns them, oldest first. Run() adds the family's
  // tables to `*edit`, which outlives this object.
  std::vector<MemTable*> Add(ColumnFamilyData* family, VersionEdit* edit) REQUIRES(db_mutex);
  // Releases the mutex meanwhile: no other thread knows the database yet. Of several errors it
  // returns the one of the family that was added first.
  Status Run() REQUIRES(db_mutex);

 private:
  struct Flush {
    FlushJobOptions job;
    const ColumnFamilyData* family = nullptr;
    VersionEdit* edit = nullptr;
    int id = 0;  // the job id for listeners
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
  std::deque<Flush> flushes_;            // a deque, because pointers to the elements are kept
  uint64_t bytes_ = 0;                   // of keys and values in all flushes
  std::atomic<size_t> next_{0};          // index of the next flush; taken by any thread
  std::atomic<bool> has_failed_{false};  // then no further flush begins
  Mutex mutex_{LockRank::kLeaf};
  CondVar helper_ended_{&mutex_};
  size_t running_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ashlar
