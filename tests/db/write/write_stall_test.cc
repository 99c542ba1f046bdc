// SPDX-License-Identifier: Apache-2.0
//
// Stalls: what is delayed, what is stopped, and how the delay grows with the debt.
#include "db/write/write_stall.h"

#include <gtest/gtest.h>

#include <string>

#include "ashlar/options.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr uint64_t kStallMiB = 1 << 20;

ColumnFamilyOptions TestOptions() {
  ColumnFamilyOptions options;
  options.write_buffer_size = 64 * kStallMiB;
  options.max_write_buffer_number = 4;
  options.level0_slowdown_writes_trigger = 20;
  options.level0_stop_writes_trigger = 36;
  options.soft_pending_compaction_bytes_limit = 1000;
  options.hard_pending_compaction_bytes_limit = 2000;
  return options;
}

TEST(WriteStall, CompactionsAreBehindHalfwayToTheSlowdown) {
  const ColumnFamilyOptions options = TestOptions();  // compaction at 4 files, slow-down at 20
  EXPECT_FALSE(IsCompactionBehind({.level0_files = 11}, options));
  EXPECT_TRUE(IsCompactionBehind({.level0_files = 12}, options));
  EXPECT_FALSE(IsCompactionBehind({.pending_compaction_bytes = 249}, options));
  EXPECT_TRUE(IsCompactionBehind({.pending_compaction_bytes = 250}, options));
}

TEST(WriteStall, HowNearItIsGrowsWithTheNearestDebt) {
  ColumnFamilyOptions options = TestOptions();
  EXPECT_EQ(StallProximityPercent({}, options), 0);
  EXPECT_EQ(StallProximityPercent({.level0_files = 10}, options), 50);
  EXPECT_EQ(StallProximityPercent({.level0_files = 30}, options), 150);
  EXPECT_EQ(StallProximityPercent({.pending_compaction_bytes = 250}, options), 25);
  EXPECT_EQ(StallProximityPercent({.immutable_memtables = 3}, options), 100);
  EXPECT_EQ(StallProximityPercent({1, 10, 900}, options), 90);
  options.max_write_buffer_number = 2;
  EXPECT_EQ(StallProximityPercent({.immutable_memtables = 1}, options), 50);
  options.soft_pending_compaction_bytes_limit = 0;
  EXPECT_EQ(StallProximityPercent({.pending_compaction_bytes = 500}, options), 25);
  options.hard_pending_compaction_bytes_limit = 0;
  EXPECT_EQ(StallProximityPercent({.pending_compaction_bytes = 500}, options), 0);
  options.level0_slowdown_writes_trigger = -1;
  EXPECT_EQ(StallProximityPercent({.level0_files = 18}, options), 50);
  options.disable_auto_compactions = true;
  EXPECT_EQ(StallProximityPercent({0, 100, 5000}, options), 0);
}

// At 100 percent, and not before, writes are held up.
TEST(WriteStall, ItIsNearByAHundredPercentWhenItIsThere) {
  const ColumnFamilyOptions options = TestOptions();
  for (int files = 0; files < 40; files++) {
    for (int sealed = 0; sealed < 5; sealed++) {
      const WriteDebt debt = {sealed, files, static_cast<uint64_t>(31 * files + 200 * sealed)};
      EXPECT_EQ(StallProximityPercent(debt, options) >= 100,
                DecideStall(debt, options).condition != WriteStallCondition::kNormal)
          << files << " " << sealed;
    }
  }
}

TEST(WriteStall, TheLastBufferIsFilledAtThePaceOfTheFlush) {
  ColumnFamilyOptions options = TestOptions();
  options.max_write_buffer_number = 2;
  EXPECT_EQ(PacedMemTableBytes(1, 0, options), 8 * kStallMiB);
  EXPECT_EQ(PacedMemTableBytes(1, 0.5, options), 12 * kStallMiB);
  EXPECT_EQ(PacedMemTableBytes(1, 1, options), 16 * kStallMiB);
}

// Otherwise a filter of a quarter of the buffer would use up all that a flush allows.
TEST(WriteStall, WhatAnEmptyMemTableHasIsLeftOutOfThePace) {
  ColumnFamilyOptions options = TestOptions();
  options.max_write_buffer_number = 2;
  const uint64_t filter_bytes = 16 * kStallMiB;
  EXPECT_EQ(PacedMemTableBytes(1, 0, options, filter_bytes), (16 + 6) * kStallMiB);
  EXPECT_EQ(PacedMemTableBytes(1, 1, options, filter_bytes), (16 + 12) * kStallMiB);
  EXPECT_EQ(PacedMemTableBytes(1, 0, options, options.write_buffer_size + 1),
            options.write_buffer_size);
}

TEST(WriteStall, BuffersBeforeTheLastAndSmallOnesAreFilledAtAnyPace) {
  ColumnFamilyOptions options = TestOptions();
  options.max_write_buffer_number = 3;
  EXPECT_EQ(PacedMemTableBytes(1, 0, options), options.write_buffer_size);
  EXPECT_EQ(PacedMemTableBytes(2, 0, options), 8 * kStallMiB);
  options.write_buffer_size = 4 * kStallMiB;
  EXPECT_EQ(PacedMemTableBytes(2, 0, options), options.write_buffer_size);
}

TEST(WriteStall, TheWorstDebtDecides) {
  const ColumnFamilyOptions options = TestOptions();
  using enum WriteStallCondition;
  using Cause = WriteStallCause;
  const struct {
    WriteDebt debt;
    WriteStallCondition condition;
    WriteStallCause cause;
    double severity;
  } kCases[] = {
      {{0, 0, 0}, kNormal, Cause::kNone, 0},
      {{2, 19, 999}, kNormal, Cause::kNone, 0},
      {{3, 0, 0}, kDelayed, Cause::kMemtableLimit, 0.5},
      {{4, 0, 0}, kStopped, Cause::kMemtableLimit, 1},
      {{0, 20, 0}, kDelayed, Cause::kL0FileCountLimit, 0},
      {{0, 28, 0}, kDelayed, Cause::kL0FileCountLimit, 0.5},
      {{0, 36, 0}, kStopped, Cause::kL0FileCountLimit, 1},
      {{0, 0, 1000}, kDelayed, Cause::kPendingCompactionBytes, 0},
      {{0, 0, 1750}, kDelayed, Cause::kPendingCompactionBytes, 0.75},
      {{0, 0, 2000}, kStopped, Cause::kPendingCompactionBytes, 1},
      {{0, 24, 1750}, kDelayed, Cause::kPendingCompactionBytes, 0.75},
      {{3, 35, 1750}, kDelayed, Cause::kL0FileCountLimit, 0.9375},
  };
  for (const auto& c : kCases) {
    const StallDecision decision = DecideStall(c.debt, options);
    const std::string label = StrCat(c.debt.immutable_memtables, " ", c.debt.level0_files, " ",
                                     c.debt.pending_compaction_bytes);
    EXPECT_EQ(decision.condition, c.condition) << label;
    EXPECT_EQ(decision.cause, c.cause) << label;
    EXPECT_DOUBLE_EQ(decision.severity, c.severity) << label;
  }
}

TEST(WriteStall, WithoutAutomaticCompactionOnlyMemtablesCount) {
  ColumnFamilyOptions options;
  options.disable_auto_compactions = true;
  EXPECT_EQ(DecideStall({0, 1000, uint64_t{1} << 60}, options).condition,
            WriteStallCondition::kNormal);
  EXPECT_EQ(DecideStall({options.max_write_buffer_number, 0, 0}, options).condition,
            WriteStallCondition::kStopped);
}

TEST(WriteStall, TheRateFallsWithTheDebt) {
  const auto rate = [](double severity) {
    return DelayedRate(
        {WriteStallCondition::kDelayed, WriteStallCause::kL0FileCountLimit, severity}, 16 << 20);
  };
  EXPECT_EQ(rate(0), 16u << 20);
  EXPECT_EQ(rate(0.5), 4u << 20);
  EXPECT_EQ(rate(1), 1u << 20);
  EXPECT_EQ(DelayedRate({WriteStallCondition::kDelayed, WriteStallCause::kNone, 1}, 1), 16u << 10);
}

}  // namespace
}  // namespace ashlar
