// SPDX-License-Identifier: Apache-2.0
//
// The settings that all new tables of a family have in common, and the beginning of a flush.
// Flushes, compactions and recovery share them here, so that none of them forgets a field.
#pragma once

#include "db/flush/flush_job.h"
#include "db/state/db_core.h"
#include "util/keys/seqno_range.h"

namespace ashlar {

// The family for which tables are written. Everything outlives the tables' writing.
struct OutputFamily {
  uint32_t id = 0;
  std::string name;
  std::shared_ptr<const ColumnFamilyOptions> options;
  const InternalKeyComparator* comparator = nullptr;
  const TableCache* tables = nullptr;
};

// Returns everything except number, level and epoch. The times are those of a table whose entries
// are new now and have no history.
TableOutputOptions TableOptionsFor(const DbCore& core, const OutputFamily& family)
    REQUIRES(db_mutex);
TableOutputOptions TableOptionsFor(const DbCore& core, const ColumnFamilyData& family)
    REQUIRES(db_mutex);

// The tools for folding merge operands. The caller holds a reference on the family as long as it
// uses them.
MergeTools MergeToolsFor(const DbCore& core, const ColumnFamilyData& family);

// Data of transactions that are not decided, or not visibly so, by sequence number: a job does not
// show it to the program's filter.
SeqnoRanges UndecidedForJob(const DbCore& core);

// Takes the immutable memtables that no job has taken, and allocates a protected number
// (JobRegistry) for their table. The result has no memtables if there are none to take.
FlushJobOptions BeginFlush(DbCore* core, ColumnFamilyData* family, FlushScope scope)
    REQUIRES(db_mutex);

}  // namespace ashlar
