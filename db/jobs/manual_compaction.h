// SPDX-License-Identifier: Apache-2.0
//
// ManualCompactions executes compactions on request: DB::CompactRange(), DB::CompactFiles(), moves
// of tables to other levels, and the calls that stop compactions.
//
// Threads: any, without locks.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <functional>
#include <optional>
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

// InvalidArgument if the family has no directory with this number. `what` names the option.
Status CheckPath(const ColumnFamilyData& family, const char* what, uint32_t path_id);

class ManualCompactions {
 public:
  // All arguments outlive the object.
  ManualCompactions(DbCore* core, JobRunner* jobs, CompactionRegistry* registry, ManualQueue* queue,
                    Compactions* compactions, Scheduler* scheduler, ManualFlushes* flushes)
      : core_(core),
        jobs_(jobs),
        registry_(registry),
        queue_(queue),
        compactions_(compactions),
        scheduler_(scheduler),
        flushes_(flushes) {
    assert(core != nullptr);
    assert(jobs != nullptr);
    assert(registry != nullptr);
    assert(queue != nullptr);
    assert(compactions != nullptr);
    assert(scheduler != nullptr);
    assert(flushes != nullptr);
  }

  // Bounds inclusive; null: unbounded. The caller holds a reference on the family.
  Status CompactRange(const CompactRangeOptions& options, ColumnFamilyData* family,
                      const Slice* begin, const Slice* end) EXCLUDES(db_mutex);
  // Rewrites all tables in the range of a stamped family without what `trim` drops. Bounds are keys
  // with timestamps, inclusive; nullopt: unbounded.
  Status TrimHistory(ColumnFamilyData* family, const HistoryTrim& trim,
                     const std::optional<std::string>& begin, const std::optional<std::string>& end)
      EXCLUDES(db_mutex);

  // Runs in the thread of the caller, who holds a reference on the family. The last two may be
  // null.
  Status CompactFiles(const CompactFilesCall& call, ColumnFamilyData* family,
                      std::vector<std::string>* output_file_names, CompactionJobInfo* info)
      EXCLUDES(db_mutex);

  // Moves all tables of level 0 to another level without rewriting them; see level_moves.cc.
  Status PromoteLevel0(ColumnFamilyData* family, int target_level) EXCLUDES(db_mutex);
  // Marks the tables of a range for compaction soon. Bounds inclusive; null: unbounded.
  Status Suggest(ColumnFamilyData* family, const Slice* begin, const Slice* end) EXCLUDES(db_mutex);

  // Stops all manual compactions and refuses new ones, until Enable() has been called as many
  // times.
  void Disable() EXCLUDES(db_mutex);
  void Enable() EXCLUDES(db_mutex);
  // Stops automatic compactions as well and lets none begin, until Resume() has been called as many
  // times. `family` null: in all families. Disable() and Abort() return when the compactions that
  // were running have ended.
  void Abort(const ColumnFamilyData* family) EXCLUDES(db_mutex);
  void Resume(ColumnFamilyData* family) EXCLUDES(db_mutex);

 private:
  // The levels on which a range has files. An automatic compaction may change them at any time.
  struct RangeLevels {
    int first = -1, last = -1;  // -1: no files
    Level base = 1;
    FileNumber oldest_in_last = FileNumber::None();  // the lowest number of a file there
    bool has_foreign_in_last = false;  // a file there that the compaction has not written
  };

  Status CheckMayBeginLocked(const ColumnFamilyData& family, std::atomic<bool>* canceled) const
      REQUIRES(db_mutex);
  // The flags that stop the compaction; `canceled` is the caller's flag, or null.
  StopFlags FlagsFor(ManualCompaction* manual, std::atomic<bool>* canceled) const;
  RangeLevels LevelsOf(const ManualCompaction& manual) EXCLUDES(db_mutex);
  Status FlushFor(const CompactRangeOptions& options, ColumnFamilyData* family) EXCLUDES(db_mutex);
  Status CompactLevels(const CompactRangeOptions& options, ManualCompaction* manual)
      EXCLUDES(db_mutex);
  Status CheckLevel(const ColumnFamilyData& family, int level, int least) EXCLUDES(db_mutex);
  Status ChangeLevel(const ManualCompaction& done, int target_level) EXCLUDES(db_mutex);
  // Waits until nothing else compacts in the family, then moves all tables of level `from` to the
  // level that `choose` returns. `choose` is called with the DB mutex held.
  Status MoveTables(ManualCompaction* turn, Level from,
                    const std::function<Result<Level>(const Version&)>& choose) EXCLUDES(db_mutex);
  // Puts the compaction in the queue and waits until it is done, or was stopped before a thread
  // took it.
  Status RunToEnd(ManualCompaction* manual) EXCLUDES(db_mutex);
  Status AwaitDoneLocked(ManualCompaction* manual) REQUIRES(db_mutex);

  DbCore* const core_;
  JobRunner* const jobs_;
  CompactionRegistry* const registry_;
  ManualQueue* const queue_;
  Compactions* const compactions_;
  Scheduler* const scheduler_;
  ManualFlushes* const flushes_;
  // Calls of Disable() less those of Enable(). Below 0 after an Enable() that came first: programs
  // call Enable() and Disable() in this order and then compact, which works with RocksDB.
  int disable_count_ GUARDED_BY(db_mutex) = 0;
  // Whether disable_count_ is above 0. Written under the DB mutex; polled by running compactions.
  std::atomic<bool> is_disabled_{false};
};

}  // namespace ashlar
