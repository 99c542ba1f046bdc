// SPDX-License-Identifier: Apache-2.0
//
// preclude_last_level_data_seconds in the pickers: what is too young stays off the last level, and
// nothing is merged with the last level in vain. Entries from number 100 on are young.
#include "db/compaction/young_data.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "db/compaction/compaction_picker.h"
#include "tests/support/text_tree.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

constexpr SequenceNumber kFirstYoung = 100;

ColumnFamilyOptions Levelled() {
  ColumnFamilyOptions options;
  options.level_compaction_dynamic_level_bytes = false;
  options.max_bytes_for_level_base = 50;
  options.max_bytes_for_level_multiplier = 1;
  options.compression = kNoCompression;
  options.preclude_last_level_data_seconds = 1000;
  return options;
}

ColumnFamilyOptions UniversalOfAges() {
  ColumnFamilyOptions options;
  options.compaction_style = kCompactionStyleUniversal;
  options.level0_file_num_compaction_trigger = 2;
  options.compression = kNoCompression;
  options.preclude_last_level_data_seconds = 1000;
  return options;
}

class YoungTree : public TextTree {
 public:
  explicit YoungTree(const std::string& text, int num_levels = 4) : TextTree(text, num_levels) {
    SetFirstYoung(kFirstYoung);
  }
};

std::string PickYoung(const TextTree& tree, const ColumnFamilyOptions& options,
                      const std::vector<const CompactionPlan*>& running = {}) {
  DbMutex mutex;
  MutexLock lock(&mutex);
  const auto plan =
      PickCompaction(tree.version(), {.options = &options, .claims = &tree.claims()}, running);
  return plan.has_value() ? plan->DebugString() : "none";
}

TEST(YoungData, SharesFollowTheNumbers) {
  FileMetadata meta;
  meta.smallest_seqno = 10;
  meta.largest_seqno = 19;
  EXPECT_EQ(OldShare(meta, 20), 1);
  EXPECT_EQ(OldShare(meta, 10), 0);
  EXPECT_DOUBLE_EQ(OldShare(meta, 15), 0.5);
  EXPECT_TRUE(IsWorthMoving(meta, 15));
  EXPECT_FALSE(IsWorthMoving(meta, 14));
  meta.smallest_seqno = meta.largest_seqno = 0;  // without numbers
  EXPECT_EQ(OldShare(meta, 1), 1);
}

TEST(YoungData, OnlyTreesWithALevelBetweenKeepItApart) {
  const TextTree deep("L1: 1 a-b 10", 3), shallow("L1: 1 a-b 10", 2);
  ColumnFamilyOptions options = Levelled();
  EXPECT_EQ(YoungLevel(deep.version(), options), Level{1});
  EXPECT_FALSE(YoungLevel(shallow.version(), options).has_value());
  options.cf_allow_ingest_behind = true;
  EXPECT_FALSE(YoungLevel(deep.version(), options).has_value());
  options = Levelled();
  options.compaction_style = kCompactionStyleFIFO;
  EXPECT_FALSE(YoungLevel(deep.version(), options).has_value());
  options = Levelled();
  options.preclude_last_level_data_seconds = 0;
  EXPECT_FALSE(YoungLevel(deep.version(), options).has_value());
}

TEST(YoungData, YoungTablesDoNotGoToTheLastLevel) {
  const YoungTree tree("L2: 1 a-b 100 seq=100-200\nL3: 2 a-z 500 seq=0-0");
  EXPECT_EQ(PickYoung(tree, Levelled()), "none");
  EXPECT_EQ(tree.Needs(Levelled()).pending_bytes, 0u);
  EXPECT_FALSE(tree.Needs(Levelled()).IsNeeded());
  ColumnFamilyOptions off = Levelled();
  off.preclude_last_level_data_seconds = 0;
  EXPECT_EQ(PickYoung(tree, off), "merge L2[1] L3[2] -> L3 bottommost");
}

TEST(YoungData, OldTablesDoAndTakeARangeOfTheLevelAbove) {
  EXPECT_EQ(
      PickYoung(YoungTree("L2: 1 a-b 100 seq=0-150, 3 c-d 100 seq=150-200\nL3: 2 a-z 500 seq=0-0"),
                Levelled()),
      "merge L2[1] L3[2] -> L3 bottommost young above");
}

TEST(YoungData, OnlyOldTablesAreMoved) {
  EXPECT_EQ(PickYoung(YoungTree("L2: 1 a-b 100 seq=10-99\nL3: 2 c-z 500 seq=0-0"), Levelled()),
            "move L2[1] -> L3 bottommost young above");
  EXPECT_EQ(PickYoung(YoungTree("L2: 1 a-b 100 seq=10-101\nL3: 2 c-z 500 seq=0-0"), Levelled()),
            "merge L2[1] -> L3 bottommost young above");
}

TEST(YoungData, NoTwoJobsWriteTheSameRangeOfTheLevelAbove) {
  const YoungTree tree(
      "L1: 5 c-d 100 seq=1-2\n"
      "L2: 1 a-b 100! seq=1-2, 4 e-f 100! seq=1-2, 3 x-y 10 seq=1-2\n"
      "L3: 2 a-z 500! seq=0-0");
  CompactionPlan running;
  running.start_level = 2;
  running.output_level = 3;
  running.inputs = {{2, {tree.File(1), tree.File(4)}}, {3, {tree.File(2)}}};
  // Between tables 1 and 4, where the running job may write to L2.
  running.young_range = CompactionPlan::KeyRange{"a", "f"};
  EXPECT_EQ(PickYoung(tree, Levelled(), {&running}), "none");
  running.young_range.reset();
  EXPECT_EQ(PickYoung(tree, Levelled(), {&running}), "merge L1[5] -> L2");
}

TEST(YoungData, WithDynamicLevelsLevel0NeverGoesToTheLastOne) {
  ColumnFamilyOptions options = Levelled();
  options.level_compaction_dynamic_level_bytes = true;
  EXPECT_EQ(YoungTree("").Needs(options).base_level, 2);
  EXPECT_EQ(YoungTree("L3: 2 a-z 5 seq=0-0").Needs(options).base_level, 2);
  options.preclude_last_level_data_seconds = 0;
  EXPECT_EQ(YoungTree("L3: 2 a-z 5 seq=0-0").Needs(options).base_level, 3);
}

TEST(YoungData, UniversalMergesLeaveTheLastLevelOutWhileAllIsYoung) {
  EXPECT_EQ(
      PickYoung(YoungTree("L0: 3 a-z 100 seq=150-160, 1 a-z 100 seq=120-130"), UniversalOfAges()),
      "merge L0[3 1] -> L2 bottommost");
  EXPECT_EQ(PickYoung(YoungTree("L0: 3 a-z 100 seq=150-160\nL2: 1 a-z 100 seq=120-130\n"
                                "L3: 2 a-z 100 seq=0-0"),
                      UniversalOfAges()),
            "merge L0[3] L2[1] -> L2");
  EXPECT_EQ(
      PickYoung(YoungTree("L2: 1 a-z 900 seq=120-130\nL3: 2 a-z 100 seq=0-0"), UniversalOfAges()),
      "none");
}

TEST(YoungData, UniversalMergesReachTheLastLevelWhenHalfIsOld) {
  EXPECT_EQ(
      PickYoung(YoungTree("L2: 1 a-z 900 seq=10-150\nL3: 2 a-z 100 seq=0-0"), UniversalOfAges()),
      "merge L2[1] L3[2] -> L3 bottommost young above");
  EXPECT_EQ(
      PickYoung(YoungTree("L2: 1 a-z 900 seq=10-900\nL3: 2 a-z 100 seq=0-0"), UniversalOfAges()),
      "none");
}

}  // namespace
}  // namespace ashlar
