// SPDX-License-Identifier: Apache-2.0
//
// Write stalls: how much writes must slow down so that flushes and compactions keep up. Pure.
//
// Below the slow-down triggers nothing is delayed. Between slow-down and stop the allowed rate
// falls smoothly with the debt, from the full delayed rate to a sixteenth of it; at the stop
// triggers writes wait until the debt is lower. Writers that outrun a flush are held to its pace.
#pragma once

#include <cstdint>

#include "ashlar/types.h"

namespace ashlar {

struct ColumnFamilyOptions;

// What a family owes.
struct WriteDebt {
  int sealed_memtables = 0;
  int level0_files = 0;
  uint64_t pending_compaction_bytes = 0;
};

struct StallDecision {
  WriteStallCondition condition = WriteStallCondition::kNormal;
  WriteStallCause cause = WriteStallCause::kNone;
  // With kDelayed: how far the debt is between slow-down (0) and stop (1).
  double severity = 0;
};

StallDecision DecideStall(const WriteDebt& debt, const ColumnFamilyOptions& options);

// How near to a stall: the share of the way to the nearest limit at which writes are slowed down or
// stopped; 1 and more: they are.
double StallProximity(const WriteDebt& debt, const ColumnFamilyOptions& options);
// The same in percent, rounded down.
int StallProximityPercent(const WriteDebt& debt, const ColumnFamilyOptions& options);

// The more severe of two.
StallDecision WorseOf(const StallDecision& a, const StallDecision& b);

// The size to which the active memtable may be filled while the oldest sealed one is being flushed,
// `flush_progress` (0 to 1) of it. While the last buffer is being filled, writers that are faster
// than the flush would stop dead when it is full, and hold twice the memory until then. Instead
// they are slowed down to the pace of the flush: a share of the buffer that grows from an eighth to
// a quarter.
uint64_t PacedMemTableBytes(int sealed_memtables, double flush_progress,
                            const ColumnFamilyOptions& options);

// Whether compactions lag so much that writes of low priority must wait: long before any other
// write is delayed.
bool IsCompactionBehind(const WriteDebt& debt, const ColumnFamilyOptions& options);

// Whether level 0 alone is half way from where it is compacted to where writes are slowed down.
bool IsLevel0Behind(const WriteDebt& debt, const ColumnFamilyOptions& options);

// Bytes a second that writers may write together.
uint64_t DelayedRate(const StallDecision& decision, uint64_t full_delayed_rate);

}  // namespace ashlar
