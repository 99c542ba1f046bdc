// SPDX-License-Identifier: Apache-2.0
//
// Write stalls: how much writes must slow down so that flushes and compactions keep up. Pure.
//
// Below the slow-down triggers nothing is delayed. Between slow-down and stop the allowed rate falls
// smoothly with the debt, from the full delayed rate to a sixteenth of it; at the stop triggers
// writes wait until the debt is lower.
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

// The more severe of two.
StallDecision WorseOf(const StallDecision& a, const StallDecision& b);

// Bytes a second that writers may write together.
uint64_t DelayedRate(const StallDecision& decision, uint64_t full_delayed_rate);

}  // namespace ashlar
