// SPDX-License-Identifier: Apache-2.0
//
// CompactionRegistry knows, as values, which compactions run and what is reserved for tables that
// come into a family in another way; it counts the calls that abort compactions; and it says when a
// table may drop what was kept for snapshots.
//
// It knows no job and no scheduler: a compaction enters its plan when it begins and takes it out
// when it has ended. All functions but next_table_due() need the DB mutex.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "db/column_family/column_family_data.h"
#include "db/compaction/compaction_picker.h"
#include "util/threads/mutex.h"

namespace ashlar {

class CompactionRegistry {
 public:
  using Plans = std::vector<const CompactionPlan*>;

  // A compaction that runs. The plan and the flag outlive the entry.
  struct Running {
    const ColumnFamilyData* family;
    const CompactionPlan* plan;
    std::atomic<bool>* is_aborted;  // set where it is to give up
  };
  void Add(const Running& running) REQUIRES(db_mutex);
  void Remove(const CompactionPlan* plan) REQUIRES(db_mutex);

  // Tables are about to be put where this plan, of which the level and the range count, would
  // write: until it is released no compaction goes there. It outlives that.
  void ReserveLocked(const ColumnFamilyData* family, const CompactionPlan* plan) REQUIRES(db_mutex);
  void ReleaseLocked(const CompactionPlan* plan) REQUIRES(db_mutex);

  // Of the compactions that run in the family, and what is reserved there.
  Plans PlansLocked(const ColumnFamilyData* family) const REQUIRES(db_mutex);
  // Whether one runs in the family (null: in any).
  bool IsRunningLocked(const ColumnFamilyData* family) const REQUIRES(db_mutex);
  // Sorted runs that the running ones have for input.
  uint64_t SortedRunsLocked() const REQUIRES(db_mutex);

  // Stops those that run in the family (null: in all) and lets none begin, until as many Resume
  // calls.
  void AbortLocked(const ColumnFamilyData* family) REQUIRES(db_mutex);
  void ResumeLocked(const ColumnFamilyData* family) REQUIRES(db_mutex);
  bool AreAllAbortedLocked() const REQUIRES(db_mutex) { return abort_all_count_ > 0; }
  bool IsAbortedLocked(const ColumnFamilyData& family) const REQUIRES(db_mutex) {
    return AbortCountLocked(family) > 0;
  }
  // Abort calls without their Resume that hold for the family.
  uint64_t AbortCountLocked(const ColumnFamilyData& family) const REQUIRES(db_mutex);

  // When the oldest snapshot reaches this number, a family has versions or tombstones to drop that
  // it did not have to drop before (KeptForSnapshots). Any thread: a snapshot that is released
  // asks.
  SequenceNumber next_table_due() const { return next_table_due_.load(std::memory_order_relaxed); }
  void SetNextTableDue(SequenceNumber due) REQUIRES(db_mutex) {
    next_table_due_.store(due, std::memory_order_relaxed);
  }
  // A compaction wrote a table that may be rewritten at this number.
  void NoteTableDue(SequenceNumber due) REQUIRES(db_mutex) {
    if (due < next_table_due()) SetNextTableDue(due);
  }

  // A line for each compaction and each abort.
  std::string DebugStringLocked() const REQUIRES(db_mutex);

 private:
  std::vector<Running> running_ GUARDED_BY(db_mutex);
  std::vector<std::pair<const ColumnFamilyData*, const CompactionPlan*>> reserved_
      GUARDED_BY(db_mutex);
  // Abort calls without their Resume: for all families, and by family id.
  int abort_all_count_ GUARDED_BY(db_mutex) = 0;
  std::map<uint32_t, int> abort_counts_ GUARDED_BY(db_mutex);
  std::atomic<SequenceNumber> next_table_due_{KeptForSnapshots::kNever};  // written under the mutex
};

}  // namespace ashlar
