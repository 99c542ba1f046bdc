// SPDX-License-Identifier: Apache-2.0
//
// preserve_internal_time_seconds: entries keep their sequence numbers on the last level while they
// are young, and tables carry the times of their numbers. The tests advance the time by hand.
#include <algorithm>
#include <memory>
#include <string>

#include "ashlar/merge_operator.h"
#include "tests/db/tiers/tiers_fixture.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

class Joiner final : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "Joiner"; }
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             Logger*) const override {
    *result = (existing == nullptr ? "" : existing->ToString() + ",") + value.ToString();
    return true;
  }
};

class PreservedTimesTest : public TiersTest {
 protected:
  PreservedTimesTest() {
    options_.disable_auto_compactions = true;
    options_.preserve_internal_time_seconds = kPeriod;
  }
};

}  // namespace

TEST_F(PreservedTimesTest, YoungEntriesKeepTheirNumbersOnTheLastLevel) {
  Open();
  Put("a");
  Put("b");
  Flush();
  Pass(kPeriod / 2);
  Put("c");
  Flush();
  CompactAndRewrite();
  EXPECT_EQ(Numbers(), "1-3");
  Pass(kPeriod / 2 + 10);  // now "a" and "b" are old enough
  CompactAndRewrite();
  EXPECT_EQ(Numbers(), "0-3");
  Pass(kPeriod);
  CompactAndRewrite();
  EXPECT_EQ(Numbers(), "0-0");
  EXPECT_TRUE(TimesOfTable().empty());
  EXPECT_EQ(Keys(), "abc");
}

TEST_F(PreservedTimesTest, WithoutTheOptionNumbersAreLostAndNoTimesAreKept) {
  options_.preserve_internal_time_seconds = 0;
  Open();
  Put("a");
  Flush();
  EXPECT_TRUE(TimesOfTable().empty());
  CompactAndRewrite();
  EXPECT_EQ(Numbers(), "0-0");
}

TEST_F(PreservedTimesTest, SamplesAreTakenByTimeAndATableGetsThoseOfItsNumbers) {
  Open();
  Put("a");
  Pass(1000);
  const uint64_t first = Now();
  Put("b");
  Put("c");
  Pass(1000);
  const uint64_t second = Now();
  Pass(10);
  Put("d");
  Flush();
  const SeqnoTimes times = TimesOfTable();
  ASSERT_EQ(times.samples().size(), 3u) << times.DebugString();
  EXPECT_EQ(times.samples()[0].seqno, 1u);
  EXPECT_EQ(times.samples()[1].seqno, 3u);
  EXPECT_EQ(times.samples()[2].seqno, 4u);
  EXPECT_NEAR(static_cast<double>(times.samples()[0].seconds), static_cast<double>(first), 60);
  EXPECT_NEAR(static_cast<double>(times.samples()[1].seconds), static_cast<double>(second), 60);
}

TEST_F(PreservedTimesTest, TimesComeFromTheTablesAfterReopening) {
  Open();
  Put("a");
  Flush();
  Put("b");
  Flush();
  Pass(kPeriod - 1000);
  Reopen();
  Pass(2000);
  CompactAndRewrite();  // the numbers are old only by what their tables say
  EXPECT_EQ(Numbers(), "0-0");
}

TEST_F(PreservedTimesTest, EntriesFromTheLogAreYoungWhenTheDatabaseIsOpened) {
  options_.avoid_flush_during_shutdown = true;
  Open();
  Put("a");
  Pass(kPeriod);
  Reopen();
  Flush();
  CompactAndRewrite();
  EXPECT_EQ(Numbers(), "1-1");
  Reopen();
  Pass(kPeriod + 10);
  CompactAndRewrite();
  EXPECT_EQ(Numbers(), "0-0");
}

TEST_F(PreservedTimesTest, AFoldedMergeIsAsYoungAsItsNewestOperand) {
  options_.merge_operator = std::make_shared<Joiner>();
  Open();
  Put("k", "a");
  Pass(kPeriod + 10);
  Merge("k", "b");
  Merge("l", "x");
  Flush();
  CompactAndRewrite();
  EXPECT_EQ(Numbers(), "2-3");
  EXPECT_EQ(Get("k"), "a,b");
  Pass(kPeriod + 10);
  CompactAndRewrite();
  EXPECT_EQ(Numbers(), "0-0");
}

TEST_F(PreservedTimesTest, TombstonesVanishAtTheBottomHoweverYoungTheyAre) {
  Open();
  Put("a");
  Put("b");
  Delete("a");
  Flush();
  CompactAndRewrite();
  EXPECT_EQ(Numbers(), "2-2");
  EXPECT_EQ(Keys(), "b");
}

TEST_F(PreservedTimesTest, TheOptionIsDynamic) {
  options_.preserve_internal_time_seconds = 0;
  Open();
  Put("a");
  ASSERT_OK(db_->SetOptions({{"preserve_internal_time_seconds", "100000"}}));
  Put("b");
  Flush();
  EXPECT_FALSE(TimesOfTable().empty());
  CompactAndRewrite();
  EXPECT_EQ(Numbers(), "1-2");  // the age of "a" is not known, so it may be young
  ASSERT_OK(db_->SetOptions({{"preserve_internal_time_seconds", "0"}}));
  CompactAndRewrite();
  EXPECT_EQ(Numbers(), "0-0");
}

TEST_F(PreservedTimesTest, OnlyFamiliesWithTheOptionKeepTimes) {
  Open();
  ColumnFamilyOptions plain;
  plain.disable_auto_compactions = true;
  ColumnFamilyHandle* const other = CreateFamily("other", plain);
  Put(other, "a", "1");
  Put("a");
  Flush();
  Flush(other);
  EXPECT_FALSE(TimesOfTable().empty());
  EXPECT_TRUE(TimesOfTable(other).empty());
}

TEST_F(PreservedTimesTest, ALongPeriodKeepsNoMoreSamplesThanATableHasRoomFor) {
  Open();
  for (int i = 0; i < 300; i++) {
    Put("k" + std::to_string(i));
    Pass(1000);
  }
  Flush();
  const SeqnoTimes times = TimesOfTable();
  EXPECT_LE(times.samples().size(), SeqnoTimes::kMaxSamplesOfTable);
  EXPECT_GE(times.samples().size(), SeqnoTimes::kMaxSamplesOfTable / 2);
  CompactAndRewrite();
  // Numbers up to 199 are old, one sample more or less.
  SequenceNumber kept = kMaxSequenceNumber;
  const SeqnoTimes rewritten = TimesOfTable();
  for (const auto& sample : rewritten.samples()) kept = std::min(kept, sample.seqno);
  EXPECT_NEAR(static_cast<double>(kept), 200, 5);
}

}  // namespace ashlar
