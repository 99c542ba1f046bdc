// SPDX-License-Identifier: Apache-2.0
//
// Write stalls: how much writes must slow down so that flushes and compactions keep up. Pure.
//
// Below the slow-down triggers nothing is delayed. Between slow-down and stop the allowed rate
// falls smoothly with the debt, from the full delayed rate to a sixteenth of it; at the stop
// triggers writes wait until the debt is lower. Writers that are faster than a flush are limited to
// its rate.
#pragma once

#include <cstdint>

#include "ashlar/types.h"

namespace ashlar {

struct ColumnFamilyOptions;

// The pending work of a family: flushes and compactions.
struct WriteDebt {
  int immutable_memtables = 0;
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

// How near the family is to a stall: the debt relative to the nearest slow-down or stop limit. From
// 1 on, writes are slowed down or stopped.
double StallProximity(const WriteDebt& debt, const ColumnFamilyOptions& options);
// How far the debt is on its way to a stall, in percent, rounded down.
int StallProximityPercent(const WriteDebt& debt, const ColumnFamilyOptions& options);

// The more severe of two.
StallDecision WorseOf(const StallDecision& a, const StallDecision& b);

// The size in bytes to which the active memtable may grow while the oldest immutable memtable is
// being flushed; `flush_progress` (0 to 1) is the fraction that is flushed. Without this limit,
// writers that are faster than the flush would fill the last buffer and then stop completely, and
// would use twice the memory. With it they are slowed down to the rate of the flush: the limit
// grows from an eighth to a quarter of the buffer. `empty_bytes`: what the memtable has without
// entries, such as its Bloom filter, and what the limit therefore leaves out.
uint64_t PacedMemTableBytes(int immutable_memtables, double flush_progress,
                            const ColumnFamilyOptions& options, uint64_t empty_bytes = 0);

// Whether compactions lag so much that writes of low priority must wait: long before any other
// write is delayed.
bool IsCompactionBehind(const WriteDebt& debt, const ColumnFamilyOptions& options);

// Whether the number of level-0 files is at least half way from the compaction trigger to the
// slow-down trigger.
bool IsLevel0Behind(const WriteDebt& debt, const ColumnFamilyOptions& options);

// The rate in bytes per second that all writers together may use.
uint64_t DelayedRate(const StallDecision& decision, uint64_t full_delayed_rate);

}  // namespace ashlar
