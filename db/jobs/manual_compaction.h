// SPDX-License-Identifier: Apache-2.0
//
// ManualCompactions are compactions on request: DB::CompactRange(), DB::CompactFiles(), and the
// calls that stop them.
//
// Threads: any, without locks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ashlar/listener.h"
#include "ashlar/options.h"
#include "db/jobs/compactions.h"
#include "db/jobs/manual_flush.h"
#include "db/jobs/scheduler.h"
#include "db/state/db_core.h"
#include "util/keys/file_number.h"

namespace ashlar {

// The arguments of DB::CompactFiles().
struct CompactFilesCall {
  const CompactionOptions& options;
  const std::vector<std::string>& input_file_names;
  int output_level = 0;
  int output_path_id = -1;
};

// InvalidArgument if the family has no directory of this number.
Status CheckPath(const ColumnFamilyData& family, const char* what, uint32_t path_id);

class ManualCompactions {
 public:
  // All outlive it.
  ManualCompactions(DbCore* core, JobRunner* jobs, CompactionRegistry* registry, ManualQueue* queue,
                    Compactions* compactions, Scheduler* scheduler, ManualFlushes* flushes)
      : core_(core),
        jobs_(jobs),
        registry_(registry),
        queue_(queue),
        compactions_(compactions),
        scheduler_(scheduler),
        flushes_(flushes) {}

  // Bounds inclusive, null: none. The caller holds a reference on the family.
  Status CompactRange(const CompactRangeOptions& options, ColumnFamilyData* family,
                      const Slice* begin, const Slice* end) EXCLUDES(db_mutex);

  // In the thread of the caller, who holds a reference on the family. The last two may be null.
  Status CompactFiles(const CompactFilesCall& call, ColumnFamilyData* family,
                      std::vector<std::string>* output_file_names, CompactionJobInfo* info)
      EXCLUDES(db_mutex);

  // Tables as they are, to another level; see level_moves.cc.
  Status PromoteLevel0(ColumnFamilyData* family, int target_level) EXCLUDES(db_mutex);
  // The tables of a range are to be compacted soon. Bounds inclusive, null: none.
  Status Suggest(ColumnFamilyData* family, const Slice* begin, const Slice* end) EXCLUDES(db_mutex);

  // Stops all manual ones and refuses new ones, until as many Enable calls.
  void Disable() EXCLUDES(db_mutex);
  void Enable() EXCLUDES(db_mutex);
  // Stops automatic ones too and lets none begin, until as many Resume calls. Null: of all
  // families. Both return when those that ran have ended.
  void Abort(const ColumnFamilyData* family) EXCLUDES(db_mutex);
  void Resume(ColumnFamilyData* family) EXCLUDES(db_mutex);

 private:
  // Where a range has files; an automatic compaction may change that at any time.
  struct RangeLevels {
    int first = -1, last = -1;  // -1: no files
    Level base = 1;
    FileNumber oldest_in_last = FileNumber::None();  // the lowest number of a file there
  };

  Status CheckMayBeginLocked(const ColumnFamilyData& family, std::atomic<bool>* canceled) const
      REQUIRES(db_mutex);
  // What stops it; `canceled` is the caller's, or null.
  StopFlags FlagsFor(ManualCompaction* manual, std::atomic<bool>* canceled) const;
  RangeLevels LevelsOf(const ManualCompaction& manual) EXCLUDES(db_mutex);
  Status CompactLevels(const CompactRangeOptions& options, ManualCompaction* manual)
      EXCLUDES(db_mutex);
  Status CheckLevel(const ColumnFamilyData& family, int level, int least) EXCLUDES(db_mutex);
  Status ChangeLevel(const ManualCompaction& done, int target_level) EXCLUDES(db_mutex);
  // All tables of a level, when nothing else compacts in the family, to the level that is chosen
  // then. `choose` is called with the DB mutex held.
  Status MoveTables(ManualCompaction* turn, Level from,
                    const std::function<Result<Level>(const Version&)>& choose) EXCLUDES(db_mutex);
  // Queues it and waits until it is done, or stopped before anybody took it.
  Status RunToEnd(ManualCompaction* manual) EXCLUDES(db_mutex);
  Status AwaitDoneLocked(ManualCompaction* manual) REQUIRES(db_mutex);

  DbCore* const core_;
  JobRunner* const jobs_;
  CompactionRegistry* const registry_;
  ManualQueue* const queue_;
  Compactions* const compactions_;
  Scheduler* const scheduler_;
  ManualFlushes* const flushes_;
  // Disable calls without their Enable.
  int disable_count_ GUARDED_BY(db_mutex) = 0;
  // Whether that is above 0; what compactions look at. Written under the DB mutex.
  std::atomic<bool> is_disabled_{false};
};

}  // namespace ashlar
