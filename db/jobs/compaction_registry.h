// SPDX-License-Identifier: Apache-2.0
//
// CompactionRegistry records, as plain values, which compactions run and which key ranges are
// reserved for tables that enter a family in another way (ingestion, moves between levels). It also
// counts the calls that abort compactions, and stores the sequence number at which a table may drop
// entries that were kept for snapshots.
//
// It knows neither jobs nor the scheduler: a compaction adds its plan when it begins and removes it
// when it has ended. All functions except next_table_due() need the DB mutex.
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

  // A running compaction. The plan and the flag outlive the entry.
  struct Running {
    const ColumnFamilyData* family;
    const CompactionPlan* plan;
    std::atomic<bool>* is_aborted;  // set by AbortLocked(); the job polls the flag and gives up
  };
  void Add(const Running& running) REQUIRES(db_mutex);
  void Remove(const CompactionPlan* plan) REQUIRES(db_mutex);

  // Reserves the output level and the key range of `plan` for tables that are about to be put
  // there: no compaction writes there until ReleaseLocked(). Only the level and the range of the
  // plan matter. The plan outlives the reservation.
  void ReserveLocked(const ColumnFamilyData* family, const CompactionPlan* plan) REQUIRES(db_mutex);
  void ReleaseLocked(const CompactionPlan* plan) REQUIRES(db_mutex);

  // The plans of the compactions that run in the family, and of the reservations in it.
  Plans PlansLocked(const ColumnFamilyData* family) const REQUIRES(db_mutex);
  // Whether a compaction runs in the family (null: in any family).
  bool IsRunningLocked(const ColumnFamilyData* family) const REQUIRES(db_mutex);
  // The number of sorted runs that the running compactions read, of all families.
  uint64_t SortedRunsLocked() const REQUIRES(db_mutex);

  // Stops the compactions that run in the family (null: in all families) and lets no new one begin,
  // until ResumeLocked() has been called as many times.
  void AbortLocked(const ColumnFamilyData* family) REQUIRES(db_mutex);
  void ResumeLocked(const ColumnFamilyData* family) REQUIRES(db_mutex);
  bool AreAllAbortedLocked() const REQUIRES(db_mutex) { return abort_all_count_ > 0; }
  bool IsAbortedLocked(const ColumnFamilyData& family) const REQUIRES(db_mutex) {
    return AbortCountLocked(family) > 0;
  }
  // How many abort calls hold for the family: calls for the family and for all families that were
  // not resumed yet.
  uint64_t AbortCountLocked(const ColumnFamilyData& family) const REQUIRES(db_mutex);

  // When the oldest snapshot reaches this number, some family can drop versions or tombstones that
  // it had to keep before (KeptForSnapshots). Any thread: the release of a snapshot reads it.
  SequenceNumber next_table_due() const { return next_table_due_.load(std::memory_order_relaxed); }
  void SetNextTableDue(SequenceNumber due) REQUIRES(db_mutex) {
    next_table_due_.store(due, std::memory_order_relaxed);
  }
  // A compaction has written a table that can be rewritten when the oldest snapshot reaches `due`.
  void NoteTableDue(SequenceNumber due) REQUIRES(db_mutex) {
    if (due < next_table_due()) SetNextTableDue(due);
  }

  // One line for each running compaction and for each abort.
  std::string DebugStringLocked() const REQUIRES(db_mutex);

 private:
  std::vector<Running> running_ GUARDED_BY(db_mutex);
  std::vector<std::pair<const ColumnFamilyData*, const CompactionPlan*>> reserved_
      GUARDED_BY(db_mutex);
  // Abort calls that were not resumed yet: for all families, and by family id.
  int abort_all_count_ GUARDED_BY(db_mutex) = 0;
  std::map<uint32_t, int> abort_counts_ GUARDED_BY(db_mutex);
  std::atomic<SequenceNumber> next_table_due_{KeptForSnapshots::kNever};  // written under the mutex
};

}  // namespace ashlar
