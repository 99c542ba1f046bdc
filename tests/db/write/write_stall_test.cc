// SPDX-License-Identifier: Apache-2.0
//
// Stalls: what is delayed, what is stopped, and how the delay grows with the debt.
#include "db/write/write_stall.h"

#include <gtest/gtest.h>

#include "ashlar/options.h"

namespace ashlar {
namespace {

constexpr uint64_t kMiB = 1 << 20;

ColumnFamilyOptions TestOptions() {
  ColumnFamilyOptions options;
  options.write_buffer_size = 64 * kMiB;
  options.max_write_buffer_number = 2;
  options.level0_slowdown_writes_trigger = 20;
  options.level0_stop_writes_trigger = 36;
  options.soft_pending_compaction_bytes_limit = 1000;
  options.hard_pending_compaction_bytes_limit = 2000;
  return options;
}

StallDecision Decide(const WriteDebt& debt) { return DecideStall(debt, TestOptions()); }

TEST(WriteStall, NothingIsDelayedBelowTheTriggers) {
  const StallDecision decision =
      Decide({.sealed_memtables = 1, .level0_files = 19, .pending_compaction_bytes = 999});
  EXPECT_EQ(decision.condition, WriteStallCondition::kNormal);
}

TEST(WriteStall, EachLimitStops) {
  EXPECT_EQ(Decide({.sealed_memtables = 2}).cause, WriteStallCause::kMemtableLimit);
  EXPECT_EQ(Decide({.level0_files = 36}).cause, WriteStallCause::kL0FileCountLimit);
  const StallDecision bytes = Decide({.pending_compaction_bytes = 2000});
  EXPECT_EQ(bytes.cause, WriteStallCause::kPendingCompactionBytes);
  EXPECT_EQ(bytes.condition, WriteStallCondition::kStopped);
}

TEST(WriteStall, TheDelayedRateFallsWithTheDebt) {
  uint64_t previous = UINT64_MAX;
  for (int files = 20; files < 36; files += 5) {
    const StallDecision decision = Decide({.level0_files = files});
    ASSERT_EQ(decision.condition, WriteStallCondition::kDelayed);
    const uint64_t rate = DelayedRate(decision, 16 * kMiB);
    EXPECT_LT(rate, previous);
    previous = rate;
  }
  EXPECT_GE(previous, kMiB);
}

TEST(WriteStall, TheWorseOfTwoReasonsCounts) {
  const StallDecision decision = Decide({.level0_files = 20, .pending_compaction_bytes = 1900});
  EXPECT_EQ(decision.cause, WriteStallCause::kPendingCompactionBytes);
}

TEST(WriteStall, WithoutAutomaticCompactionsOnlyMemTablesCount) {
  ColumnFamilyOptions options = TestOptions();
  options.disable_auto_compactions = true;
  EXPECT_EQ(DecideStall({.level0_files = 100}, options).condition, WriteStallCondition::kNormal);
  EXPECT_EQ(DecideStall({.sealed_memtables = 2}, options).condition,
            WriteStallCondition::kStopped);
}

TEST(WriteStall, CompactionsAreBehindHalfwayToTheSlowdown) {
  const ColumnFamilyOptions options = TestOptions();  // compaction at 4 files, slow-down at 20
  EXPECT_FALSE(IsCompactionBehind({.level0_files = 11}, options));
  EXPECT_TRUE(IsCompactionBehind({.level0_files = 12}, options));
  EXPECT_FALSE(IsCompactionBehind({.pending_compaction_bytes = 249}, options));
  EXPECT_TRUE(IsCompactionBehind({.pending_compaction_bytes = 250}, options));
}

TEST(WriteStall, TheLastBufferIsFilledAtThePaceOfTheFlush) {
  const ColumnFamilyOptions options = TestOptions();
  EXPECT_EQ(PacedMemTableBytes(1, 0, options), 8 * kMiB);
  EXPECT_EQ(PacedMemTableBytes(1, 0.5, options), 12 * kMiB);
  EXPECT_EQ(PacedMemTableBytes(1, 1, options), 16 * kMiB);
}

TEST(WriteStall, BuffersBeforeTheLastAndSmallOnesAreFilledAtAnyPace) {
  ColumnFamilyOptions options = TestOptions();
  options.max_write_buffer_number = 3;
  EXPECT_EQ(PacedMemTableBytes(1, 0, options), options.write_buffer_size);
  EXPECT_EQ(PacedMemTableBytes(2, 0, options), 8 * kMiB);
  options.write_buffer_size = 4 * kMiB;
  EXPECT_EQ(PacedMemTableBytes(2, 0, options), options.write_buffer_size);
}

}  // namespace
}  // namespace ashlar
