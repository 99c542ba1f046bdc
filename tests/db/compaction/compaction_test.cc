// SPDX-License-Identifier: Apache-2.0
//
// What compaction decides, without doing any: targets and scores, and plans.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/compaction/compaction_picker.h"
#include "tests/support/status_matchers.h"
#include "tests/support/text_tree.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

ColumnFamilyOptions SmallOptions() {
  ColumnFamilyOptions options;
  options.level_compaction_dynamic_level_bytes = false;
  options.level0_file_num_compaction_trigger = 2;
  options.max_bytes_for_level_base = 100;
  options.max_bytes_for_level_multiplier = 10;
  options.target_file_size_base = 50;
  options.max_compaction_bytes = 1000;
  options.compression = kNoCompression;
  options.bottommost_compression = kNoCompression;
  options.compaction_pri = kByCompensatedSize;
  return options;
}

std::string Pick(const TextTree& tree, const ColumnFamilyOptions& options,
                 const std::vector<const CompactionPlan*>& running = {},
                 const std::map<Level, std::string>* cursors = nullptr) {
  DbMutex mutex;
  MutexLock lock(&mutex);
  const auto plan = PickCompaction(tree.version(), {&options, &tree.claims(), cursors}, running);
  return plan.has_value() ? plan->DebugString() : "none";
}

std::string Targets(const TextTree& tree, const ColumnFamilyOptions& options) {
  const CompactionNeeds needs = tree.Needs(options);
  std::string text = StrCat("base ", needs.base_level, ":");
  for (size_t level = 1; level < needs.target_bytes.size(); level++) {
    StrAppend(&text, " ", needs.target_bytes[level]);
  }
  return text;
}

}  // namespace

TEST(CompactionTargets, FixedTargetsGrowFromLevel1) {
  ColumnFamilyOptions options = SmallOptions();
  EXPECT_EQ(Targets(TextTree("L2: 1 a-b 5000", 5), options), "base 1: 100 1000 10000 100000");
  options.max_bytes_for_level_multiplier_additional = {1, 3};
  EXPECT_EQ(Targets(TextTree("", 4), options), "base 1: 100 3000 30000");
}

TEST(CompactionTargets, DynamicTargetsFollowTheLargestLevel) {
  ColumnFamilyOptions options = SmallOptions();
  options.level_compaction_dynamic_level_bytes = true;
  // While the last level is below the base size, level 0 goes straight into it.
  EXPECT_EQ(Targets(TextTree("L3: 1 a-b 80", 4), options), "base 3: 0 0 80");
  EXPECT_EQ(Targets(TextTree("L3: 1 a-b 800", 4), options), "base 2: 0 80 800");
  EXPECT_EQ(Targets(TextTree("L3: 1 a-b 5000", 4), options), "base 1: 50 500 5000");
  // No level is left to put in front: the base level has at most the base size.
  EXPECT_EQ(Targets(TextTree("L3: 1 a-b 50000", 4), options), "base 1: 100 1000 10000");
}

TEST(CompactionTargets, AnEmptyTreeHasTheLastLevelAsBase) {
  ColumnFamilyOptions options = SmallOptions();
  options.level_compaction_dynamic_level_bytes = true;
  const TextTree tree("", 4);
  const CompactionNeeds needs = tree.Needs(options);
  EXPECT_EQ(needs.base_level, 3);
  EXPECT_FALSE(needs.IsNeeded());
  EXPECT_EQ(needs.pending_bytes, 0u);
}

TEST(CompactionTargets, ASingleLevelNeverNeedsCompaction) {
  const TextTree tree("L0: 1 a-b 500, 2 a-b 500, 3 a-b 500", 1);
  EXPECT_FALSE(tree.Needs(SmallOptions()).IsNeeded());
}

TEST(CompactionTargets, FilesBeingCompactedCountForNothing) {
  const ColumnFamilyOptions options = SmallOptions();
  const TextTree idle("L0: 1 a-b 10, 2 a-b 10\nL1: 3 a-b 200");
  const TextTree busy("L0: 1 a-b 10!, 2 a-b 10!\nL1: 3 a-b 200!");
  EXPECT_DOUBLE_EQ(idle.Needs(options).scores[0], 0.5);
  EXPECT_DOUBLE_EQ(idle.Needs(options).scores[1], 2.0);
  EXPECT_FALSE(busy.Needs(options).IsNeeded());
}

// With each merge all of the base level is written anew: one that is too large shrinks first.
TEST(CompactionTargets, Level0WaitsForABaseLevelThatIsTooLarge) {
  ColumnFamilyOptions options = SmallOptions();  // two tables, 100 bytes
  const char* const tables = "L0: 1 a-b 10, 2 a-b 10, 3 a-b 10, 4 a-b 10\nL1: 5 a-b ";
  const TextTree full(std::string(tables) + "100"), overfull(std::string(tables) + "101");
  EXPECT_DOUBLE_EQ(full.Needs(options).scores[0], 2.0);
  EXPECT_DOUBLE_EQ(overfull.Needs(options).scores[0], 1.0);
  EXPECT_EQ(full.Needs(options).pending_bytes, 180u);
  EXPECT_EQ(overfull.Needs(options).pending_bytes, 182u) << "debt all the same";
  // Not where writes would soon be slowed down for it.
  options.level0_slowdown_writes_trigger = 6;
  EXPECT_DOUBLE_EQ(overfull.Needs(options).scores[0], 4.0 / 3);
  options.level0_slowdown_writes_trigger = 2;
  EXPECT_DOUBLE_EQ(overfull.Needs(options).scores[0], 2.0);
  options.level0_slowdown_writes_trigger = -1;
  EXPECT_DOUBLE_EQ(overfull.Needs(options).scores[0], 2.0);
  options.level0_slowdown_writes_trigger = 20;
  options.level0_stop_writes_trigger = 4;
  EXPECT_DOUBLE_EQ(overfull.Needs(options).scores[0], 2.0);
  // Nor above a level that passes nothing on.
  options.level0_stop_writes_trigger = 36;
  EXPECT_DOUBLE_EQ(overfull.Needs(options).scores[0], 1.0);
  const TextTree last(std::string(tables) + "101", /*num_levels=*/2);
  EXPECT_DOUBLE_EQ(last.Needs(options).scores[0], 2.0);
}

// What a level holds is summed up with the version, what is taken of it with the claims: tables
// that do not exist cannot be looked at.
TEST(CompactionTargets, NoTableIsLookedAt) {
  const InternalKeyComparator comparator{BytewiseComparator()};
  const auto level = [](size_t files, uint64_t bytes, size_t marked) {
    auto tables = std::make_shared<LevelTables>();
    tables->files.assign(files, nullptr);
    tables->bytes = bytes;
    tables->marked_count = marked;
    return tables;
  };
  const Version version(comparator, nullptr,
                        {level(4, 40, 0), level(1000, 300, 0), level(1000, 10, 1), level(1, 1, 0)});
  DbMutex mutex;
  MutexLock lock(&mutex);
  const CompactionNeeds needs = AssessCompaction(version, SmallOptions(), CompactionClaims());
  EXPECT_DOUBLE_EQ(needs.scores[0], 1.0);
  EXPECT_DOUBLE_EQ(needs.scores[1], 3.0);
  EXPECT_DOUBLE_EQ(needs.scores[2], 1.0) << "marked";
  EXPECT_GT(needs.pending_bytes, 0u);
}

TEST(CompactionTargets, WhatIsTakenIsIdleAgainWhenItIsGivenBack) {
  const TextTree tree("L1: 1 a-b 70, 2 c-d 30*\nL2: 3 a-d 500");
  CompactionClaims claims;
  const std::vector<LevelFiles> inputs = {{1, {tree.File(2)}}, {2, {tree.File(3)}}};
  DbMutex mutex;
  MutexLock lock(&mutex);
  claims.Take(inputs);
  EXPECT_TRUE(tree.File(2)->being_compacted);
  EXPECT_EQ(claims.IdleOn(tree.version(), 1).bytes, 70u);
  EXPECT_EQ(claims.IdleOn(tree.version(), 1).files, 1u);
  EXPECT_EQ(claims.IdleOn(tree.version(), 1).marked, 0u);
  EXPECT_EQ(claims.IdleOn(tree.version(), 2).files, 0u);
  claims.GiveBack(inputs);
  EXPECT_FALSE(tree.File(3)->being_compacted);
  EXPECT_EQ(claims.IdleOn(tree.version(), 1).bytes, 100u);
  EXPECT_EQ(claims.IdleOn(tree.version(), 1).marked, 1u);
  EXPECT_EQ(claims.IdleOn(tree.version(), 2).bytes, 500u);
}

TEST(CompactionTargets, PendingBytesAreTheExcessAndWhatItOverlapsBelow) {
  const TextTree tree("L1: 1 a-b 300\nL2: 2 a-b 600");
  // 200 too many on level 1, each with 600 / 300 of level 2.
  EXPECT_EQ(tree.Needs(SmallOptions()).pending_bytes, 600u);
}

TEST(CompactionPicker, Plans) {
  const struct {
    const char* name;
    const char* tree;
    const char* plan;
  } kCases[] = {
      {"nothing to do", "L0: 1 a-c 10", "none"},
      {"disjoint files of level 0 move together", "L0: 1 a-b 10, 2 c-d 10",
       "move L0[2 1] -> L1 bottommost"},
      {"overlapping files of level 0 merge", "L0: 1 a-c 10, 2 b-d 10",
       "merge L0[2 1] -> L1 bottommost"},
      {"the oldest file of level 0 goes with what it overlaps through others",
       "L0: 1 a-c 10, 2 c-e 10, 3 e-g 10, 4 x-z 10", "merge L0[3 2 1] -> L1 bottommost"},
      {"level 0 merges with what it overlaps",
       "L0: 1 a-c 10, 2 b-d 10\nL1: 3 a-a 10, 4 d-f 10, 5 h-i 10",
       "merge L0[2 1] L1[3 4] -> L1 bottommost"},
      {"a file below makes it not bottommost", "L0: 1 a-c 10, 2 b-d 10\nL3: 3 c-c 10",
       "merge L0[2 1] -> L1"},
      {"a file that overlaps nothing moves", "L1: 1 a-c 60, 2 d-f 70\nL2: 3 a-c 10",
       "move L1[2] -> L2 bottommost"},
      {"the inputs are closed over shared user keys",
       "L1: 1 a-c@9 60, 2 c@8-e@4 70, 3 e@3-f 10, 4 g-h 10\nL2: 5 d-d 10",
       "merge L1[1 2 3] L2[5] -> L2 bottommost"},
      {"so are the files of the output level",
       "L1: 1 a-b 160\nL2: 5 b-d@9 10, 6 d@8-f 10, 7 g-h 10",
       "merge L1[1] L2[5 6] -> L2 bottommost"},
      {"more files of the start level go along if that costs nothing",
       "L1: 1 a-b 110, 2 c-d 10, 3 g-h 10\nL2: 4 a-d 10, 5 g-h 10",
       "merge L1[1 2] L2[4] -> L2 bottommost"},
      {"and not if they overlap further files of the output level",
       "L1: 1 a-b 110, 2 c-d 10\nL2: 4 a-c 10, 5 d-e 10", "merge L1[1] L2[4] -> L2 bottommost"},
      {"a busy file lets the next one go", "L1: 1 a-c 200!, 2 d-f 150\nL2: 3 d-d 10",
       "merge L1[2] L2[3] -> L2 bottommost"},
      {"a busy file on the output level blocks", "L1: 1 a-c 200\nL2: 3 b-b 10!", "none"},
      {"a marked file goes although the level is small", "L1: 1 a-c 10, 2 d-f 5*\nL2: 3 e-e 9",
       "merge L1[2] L2[3] -> L2 bottommost"},
      {"no move over too many bytes of the level after", "L1: 1 a-c 200\nL3: 3 b-b 1001",
       "merge L1[1] -> L2"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Pick(TextTree(c.tree), SmallOptions()), c.plan) << c.name;
}

TEST(CompactionPicker, TheLevelWithTheHighestScoreGoesFirst) {
  EXPECT_EQ(Pick(TextTree("L0: 1 a-c 10, 2 b-d 10\nL1: 3 m-n 300\nL2: 4 m-m 10"), SmallOptions()),
            "merge L1[3] L2[4] -> L2 bottommost");
  // If it is blocked the next one does.
  const char* const blocked = "L0: 1 a-c 9, 2 b-d 9, 5 a-a 9, 6 a-a 9\nL1: 3 m-n 300\nL2: 4 m-m 9!";
  EXPECT_EQ(Pick(TextTree(blocked), SmallOptions()), "merge L0[6 5 2 1] -> L1 bottommost");
}

TEST(CompactionPicker, SaysWhy) {
  const struct {
    const char* tree;
    CompactionReason reason;
  } kCases[] = {
      {"L0: 1 a-c 10, 2 b-d 10", CompactionReason::kLevelL0FilesNum},
      {"L0: 1 a-c 10, 2 b-d 10*", CompactionReason::kLevelL0FilesNum},
      {"L0: 2 b-d 10*", CompactionReason::kFilesMarkedForCompaction},
      {"L1: 3 m-n 300", CompactionReason::kLevelMaxLevelSize},
      {"L1: 3 m-n 300*", CompactionReason::kLevelMaxLevelSize},
      {"L1: 3 m-n 30*", CompactionReason::kFilesMarkedForCompaction},
  };
  DbMutex mutex;
  MutexLock lock(&mutex);
  const ColumnFamilyOptions options = SmallOptions();
  for (const auto& c : kCases) {
    const TextTree tree(c.tree);
    const auto plan = PickCompaction(tree.version(), {&options, &tree.claims()}, {});
    ASSERT_TRUE(plan.has_value()) << c.tree;
    EXPECT_EQ(plan->reason, c.reason) << c.tree;
  }
}

TEST(CompactionPicker, PartsOfLevel0WithoutACommonKeyGoAtTheSameTime) {
  const TextTree tree("L0: 1 a-b 10!, 2 m-n 10, 3 m-n 10");
  CompactionPlan running;
  running.start_level = 0;
  running.inputs = {{0, {tree.File(1)}}};
  EXPECT_EQ(Pick(tree, SmallOptions(), {&running}), "merge L0[3 2] -> L1 bottommost");
}

TEST(CompactionPicker, APartOfLevel0WaitsForOlderFilesAndForWhatIsWrittenBelow) {
  // 2 is newer than 1, 3 overlaps 2; 1 and 9 are being merged into level 1.
  const TextTree tree("L0: 1 a-d 10!, 2 d-f 10, 3 f-g 10\nL1: 9 a-d 10!");
  CompactionPlan running;
  running.start_level = 0;
  running.inputs = {{0, {tree.File(1)}}, {1, {tree.File(9)}}};
  EXPECT_EQ(Pick(tree, SmallOptions(), {&running}), "none");
  // No file of level 0 in common, but the range of the output.
  const TextTree wide("L0: 1 a-b 10!, 2 c-d 10, 3 c-d 10\nL1: 9 a-d 10!");
  running.inputs = {{0, {wide.File(1)}}, {1, {wide.File(9)}}};
  EXPECT_EQ(Pick(wide, SmallOptions(), {&running}), "none");
}

TEST(CompactionPicker, TheNewestFilesOfLevel0MergeAmongThemselvesWhileTheBaseLevelIsBusy) {
  const ColumnFamilyOptions options = SmallOptions();
  EXPECT_EQ(Pick(TextTree("L0: 1 a-c 10!, 2 a-c 10, 3 a-c 10, 4 a-c 10, 5 a-c 10\nL1: 9 a-c 9!"),
                 options),
            "merge L0[5 4 3 2] -> L0");
  EXPECT_EQ(Pick(TextTree("L0: 1 a-c 10!, 3 a-c 10, 4 a-c 10, 5 a-c 10\nL1: 9 a-c 9!"), options),
            "none")
      << "three files are not worth it";
  EXPECT_EQ(Pick(TextTree("L0: 1 a-c 200, 2 a-c 10, 3 a-c 10, 4 a-c 10, 5 a-c 10\nL1: 9 a-c 9!"),
                 options),
            "merge L0[5 4 3 2] -> L0")
      << "a large file is not written again to save one";
  EXPECT_EQ(Pick(TextTree("L0: 1 a-c 10, 2 a-c 10!, 3 a-c 10, 4 a-c 10, 5 a-c 10\nL1: 9 a-c 9!"),
                 options),
            "none")
      << "files between which another one lies in age have no common place";
  ColumnFamilyOptions narrow = options;
  narrow.max_compaction_bytes = 35;
  EXPECT_EQ(
      Pick(TextTree("L0: 1 a-c 10!, 2 a-c 10, 3 a-c 10, 4 a-c 10, 5 a-c 10\nL1: 9 a-c 9!"), narrow),
      "none");
}

TEST(CompactionPicker, TwoPlansNeverWriteOverlappingRangesIntoALevel) {
  const TextTree tree("L1: 1 a-e 100!, 2 f-h 200, 3 p-q 150\nL2: 7 d-g 10, 4 p-p 10");
  CompactionPlan running;
  running.start_level = 1;
  running.output_level = 2;
  running.inputs = {{1, {tree.File(1)}}};
  EXPECT_EQ(Pick(tree, SmallOptions(), {&running}), "merge L1[3] L2[4] -> L2 bottommost");
  running.output_level = 3;
  EXPECT_EQ(Pick(tree, SmallOptions(), {&running}), "merge L1[2] L2[7] -> L2 bottommost");
}

TEST(CompactionPicker, Priorities) {
  ColumnFamilyOptions options = SmallOptions();
  // File n has sequence numbers n to 1000 - n.
  const TextTree tree("L1: 3 a-b 150, 1 c-d 100, 2 e-f 50\nL2: 10 a-b 90, 11 c-d 80, 12 e-f 45");
  options.compaction_pri = kByCompensatedSize;
  EXPECT_EQ(Pick(tree, options), "merge L1[3] L2[10] -> L2 bottommost");
  options.compaction_pri = kOldestSmallestSeqFirst;
  EXPECT_EQ(Pick(tree, options), "merge L1[1] L2[11] -> L2 bottommost");
  options.compaction_pri = kOldestLargestSeqFirst;
  EXPECT_EQ(Pick(tree, options), "merge L1[3] L2[10] -> L2 bottommost");
  options.compaction_pri = kMinOverlappingRatio;  // 0.6, 0.8 and 0.9
  EXPECT_EQ(Pick(tree, options), "merge L1[3] L2[10] -> L2 bottommost");
  options.compaction_pri = kRoundRobin;
  const std::map<Level, std::string> cursors = {{1, MakeInternalKey("d", 1, kTypeValue)}};
  EXPECT_EQ(Pick(tree, options, {}, &cursors), "merge L1[2] L2[12] -> L2 bottommost");
  const std::map<Level, std::string> at_end = {{1, MakeInternalKey("z", 1, kTypeValue)}};
  EXPECT_EQ(Pick(tree, options, {}, &at_end), "merge L1[3] L2[10] -> L2 bottommost");
}

TEST(CompactionPicker, TombstonesThatPrevailCountAsValues) {
  const TextTree tree("L1: 3 a-b 150, 1 c-d 100, 2 e-f 50\nL2: 10 a-b 90, 11 c-d 80, 12 e-f 45");
  const auto pick_with = [&tree](uint64_t tombstones) {
    tree.File(1)->NoteWeights({.entries = 20, .tombstones = 0, .value_bytes = 100});
    tree.File(2)->NoteWeights({.entries = 30, .tombstones = tombstones, .value_bytes = 25});
    return Pick(tree, SmallOptions());
  };
  EXPECT_EQ(pick_with(15), "merge L1[3] L2[10] -> L2 bottommost") << "as many as others";
  // An excess of 20 stands for 40 values of 5 bytes, and of 6 for 12 values.
  EXPECT_EQ(pick_with(25), "merge L1[2] L2[12] -> L2 bottommost");
  EXPECT_EQ(pick_with(18), "merge L1[3] L2[10] -> L2 bottommost");
}

void NoteFailure(const TextTree& tree, FileNumber number) {
  DbMutex mutex;
  MutexLock lock(&mutex);
  tree.File(number)->failed_compactions++;
}

TEST(CompactionPicker, AFileWhoseCompactionFailedComesBehindTheOthers) {
  const ColumnFamilyOptions options = SmallOptions();
  const TextTree tree("L1: 1 a-b 150*, 2 c-d 100*, 3 e-f 50\nL2: 10 a-b 90, 11 c-d 80, 12 e-f 45");
  EXPECT_EQ(Pick(tree, options), "merge L1[1] L2[10] -> L2 bottommost");
  NoteFailure(tree, 1);
  EXPECT_EQ(Pick(tree, options), "merge L1[2] L2[11] -> L2 bottommost");
  NoteFailure(tree, 2);
  EXPECT_EQ(Pick(tree, options), "merge L1[3] L2[12] -> L2 bottommost");
  NoteFailure(tree, 3);
  EXPECT_EQ(Pick(tree, options), "merge L1[1] L2[10] -> L2 bottommost");
  // Marks are no reason to compact a file that has none.
  const TextTree small("L1: 1 a-b 15*, 2 c-d 10*, 3 e-f 5\nL2: 10 a-b 9, 11 c-d 8, 12 e-f 4");
  NoteFailure(small, 1);
  EXPECT_EQ(Pick(small, options), "merge L1[2] L2[11] -> L2 bottommost");
  NoteFailure(small, 2);
  EXPECT_EQ(Pick(small, options), "merge L1[1] L2[10] -> L2 bottommost");
}

TEST(CompactionPicker, RoundRobinGoesOnBehindWhatItTook) {
  ColumnFamilyOptions options = SmallOptions();
  options.compaction_pri = kRoundRobin;
  const TextTree tree("L1: 3 a-b 150, 1 c-d 100, 2 e-f 50\nL2: 10 a-b 90, 11 c-d 80, 12 e-f 45");
  DbMutex mutex;
  MutexLock lock(&mutex);
  std::map<Level, std::string> cursors;
  std::string order;
  for (int i = 0; i < 4; i++) {
    const auto plan = PickCompaction(tree.version(), {&options, &tree.claims(), &cursors}, {});
    ASSERT_TRUE(plan.has_value());
    StrAppend(&order, plan->inputs.front().files.front()->meta.number, " ");
    ASSERT_FALSE(plan->next_cursor.empty());
    cursors[plan->start_level] = plan->next_cursor;
  }
  EXPECT_EQ(order, "3 1 2 3 ");
  options.compaction_pri = kByCompensatedSize;
  const auto plan = PickCompaction(tree.version(), {&options, &tree.claims(), &cursors}, {});
  EXPECT_TRUE(plan->next_cursor.empty());
}

TEST(CompactionPicker, TheDecisionIsTheSameEveryTime) {
  const TextTree tree("L0: 1 a-c 10, 2 b-d 10\nL1: 3 m-n 300, 4 o-p 300\nL2: 5 m-p 10");
  const std::string first = Pick(tree, SmallOptions());
  for (int i = 0; i < 3; i++) EXPECT_EQ(Pick(tree, SmallOptions()), first);
}

TEST(RangeCompaction, TakesADeepLevelInPieces) {
  ColumnFamilyOptions options = SmallOptions();
  options.max_compaction_bytes = 100;
  const TextTree tree("L1: 1 a-b 60, 2 c-d 60, 3 e-f 60\nL2: 4 a-f 10");
  RangePickOptions range{
      .options = &options, .claims = &tree.claims(), .input_level = 1, .output_level = 2};
  DbMutex mutex;
  MutexLock lock(&mutex);
  bool has_conflict = true;
  auto plan = PickRangeCompaction(tree.version(), range, {}, &has_conflict);
  ASSERT_TRUE(plan.has_value());
  EXPECT_FALSE(has_conflict);
  EXPECT_EQ(plan->DebugString(), "merge L1[1 2] L2[4] -> L2 bottommost");
  ASSERT_TRUE(plan->next_begin.has_value());
  EXPECT_EQ(*plan->next_begin, "e");
  const Slice begin(*plan->next_begin);
  range.begin = &begin;
  plan = PickRangeCompaction(tree.version(), range, {}, &has_conflict);
  ASSERT_TRUE(plan.has_value());
  EXPECT_FALSE(plan->next_begin.has_value());
}

TEST(RangeCompaction, SaysWhetherThereIsNothingOrItMustWait) {
  const ColumnFamilyOptions options = SmallOptions();
  const TextTree tree("L1: 1 a-b 60!, 2 m-n 10");
  const Slice low("a"), high("c"), far("x");
  RangePickOptions range{
      .options = &options, .claims = &tree.claims(), .input_level = 1, .output_level = 2};
  range.begin = &low;
  range.end = &high;
  DbMutex mutex;
  MutexLock lock(&mutex);
  bool has_conflict = false;
  EXPECT_FALSE(PickRangeCompaction(tree.version(), range, {}, &has_conflict).has_value());
  EXPECT_TRUE(has_conflict);
  range.begin = &far;
  range.end = nullptr;
  EXPECT_FALSE(PickRangeCompaction(tree.version(), range, {}, &has_conflict).has_value());
  EXPECT_FALSE(has_conflict);
}

}  // namespace ashlar
