// SPDX-License-Identifier: Apache-2.0
//
// What every new table of a family has in common, and how a flush begins: one place for flushes,
// compactions and recovery, so that none of them forgets a field.
#pragma once

#include "db/flush/flush_job.h"
#include "db/state/db_core.h"

namespace ashlar {

// Everything but number, level and epoch: a table that is made now from entries without history.
TableOutputOptions TableOptionsFor(const DbCore& core, const ColumnFamilyData& family)
    REQUIRES(db_mutex);

// For folding merge operands while the family, which the caller holds, is written.
MergeTools MergeToolsFor(const DbCore& core, const ColumnFamilyData& family);

// Takes the sealed memtables that no job has, and a protected number (JobRegistry) for their
// table. Without memtables when there are none to take.
FlushJobOptions BeginFlush(DbCore* core, ColumnFamilyData* family, FlushScope scope)
    REQUIRES(db_mutex);

}  // namespace ashlar
