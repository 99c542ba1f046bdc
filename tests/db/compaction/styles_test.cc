// SPDX-License-Identifier: Apache-2.0
//
// What universal and FIFO compaction decide, and what all styles merge on level 0. Runs, newest
// first: the tables of level 0, which is written newest last, then the levels.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "db/compaction/compaction_picker.h"
#include "db/compaction/plan_maker.h"
#include "tests/support/text_tree.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

ColumnFamilyOptions UniversalStyle() {
  ColumnFamilyOptions options;
  options.compaction_style = kCompactionStyleUniversal;
  options.level_compaction_dynamic_level_bytes = false;
  options.level0_file_num_compaction_trigger = 3;
  options.target_file_size_base = 50;
  options.compression = kNoCompression;
  return options;
}

ColumnFamilyOptions Fifo(uint64_t most_bytes) {
  ColumnFamilyOptions options;
  options.compaction_style = kCompactionStyleFIFO;
  options.level0_file_num_compaction_trigger = 3;
  options.compaction_options_fifo.max_table_files_size = most_bytes;
  options.ttl = 0;
  options.max_compaction_bytes = 1000;
  options.write_buffer_size = 100;
  return options;
}

std::optional<CompactionPlan> PlanOfStyle(const TextTree& tree, const ColumnFamilyOptions& options,
                                          const std::vector<const CompactionPlan*>& running = {},
                                          uint64_t now = 0) {
  DbMutex mutex;
  MutexLock lock(&mutex);
  return PickCompaction(
      tree.version(),
      {.options = &options, .claims = &tree.claims(), .cursors = nullptr, .now_seconds = now},
      running);
}

std::string PickOfStyle(const TextTree& tree, const ColumnFamilyOptions& options,
                        uint64_t now = 0) {
  const auto plan = PlanOfStyle(tree, options, {}, now);
  return plan.has_value() ? plan->DebugString() : "none";
}

// Where the memtables hold an entry as old as this, and RocksDB 7.8 is to read the tables.
std::string PickBeside(SequenceNumber oldest_unflushed, const TextTree& tree,
                       const ColumnFamilyOptions& options) {
  DbMutex mutex;
  MutexLock lock(&mutex);
  PickOptions pick{.options = &options, .claims = &tree.claims()};
  pick.oldest_unflushed = oldest_unflushed;
  const auto plan = PickCompaction(tree.version(), pick, {});
  return plan.has_value() ? plan->DebugString() : "none";
}

CompactionReason ReasonOf(const TextTree& tree, const ColumnFamilyOptions& options,
                          uint64_t now = 0) {
  const auto plan = PlanOfStyle(tree, options, {}, now);
  return plan.has_value() ? plan->reason : CompactionReason::kUnknown;
}

std::string PickAll(const TextTree& tree, bool rewrites_last, bool* has_conflict,
                    const std::vector<const CompactionPlan*>& running = {}) {
  DbMutex mutex;
  MutexLock lock(&mutex);
  const ColumnFamilyOptions options = UniversalStyle();
  const auto plan = PickAllRuns(tree.version(), {.options = &options, .claims = &tree.claims()},
                                rewrites_last, running, has_conflict);
  return plan.has_value() ? plan->DebugString() : "none";
}

}  // namespace

TEST(UniversalPicker, Plans) {
  const struct {
    const char* name;
    const char* tree;
    const char* plan;
  } kCases[] = {
      {"fewer runs than the trigger", "L0: 1 a-z 10, 2 a-z 10", "none"},
      {"runs of the same size go to the last level if nothing is older",
       "L0: 1 a-z 10, 2 a-z 10, 3 a-z 10", "merge L0[3 2 1] -> L6 bottommost"},
      {"beside an older run on level 0 they stay there", "L0: 1 a-z 100, 2 a-z 10, 3 a-z 10",
       "merge L0[3 2] -> L0"},
      {"above an older level they come to lie right above it",
       "L0: 2 a-z 10, 3 a-z 10\nL6: 1 a-z 100", "merge L0[3 2] -> L5"},
      {"a level is a run as a whole",
       "L0: 8 a-z 10, 9 a-z 10\nL4: 5 a-m 10, 6 n-z 10\nL6: 1 a-z 500",
       "merge L0[9 8] L4[5 6] -> L5"},
      {"above level 1 there is only level 0",
       "L0: 8 a-z 10, 9 a-z 10\nL1: 5 a-z 500\nL6: 1 a-z 5000", "merge L0[9 8] -> L0"},
      {"a much larger run does not join", "L0: 2 a-z 10, 3 a-z 10, 4 a-z 10\nL5: 1 a-z 900",
       "merge L0[4 3 2] -> L4"},
      {"more new than old: everything is merged",
       "L0: 5 a-z 90, 6 a-z 80\nL4: 3 a-z 70\nL6: 1 a-z 100",
       "merge L0[6 5] L4[3] L6[1] -> L6 bottommost"},
      {"taken runs end a pick", "L0: 5 a-z 10!, 6 a-z 10, 7 a-z 10\nL6: 1 a-z 900",
       "merge L0[7 6] -> L0"},
      {"taken runs are stepped over", "L0: 5 a-z 10, 6 a-z 10, 7 a-z 10!\nL6: 1 a-z 900",
       "merge L0[6 5] -> L5"},
      {"of a level of which a part is taken nothing goes",
       "L0: 6 a-z 10\nL4: 3 a-m 10!, 4 n-z 10\nL5: 2 a-z 20\nL6: 1 a-z 900", "none"},
      {"too many runs of unlike sizes: the newest go, as many as are too many",
       "L0: 5 a-z 100, 6 a-z 10, 7 a-z 1\nL6: 1 a-z 900", "merge L0[7 6] -> L0"},
      {"a marked run goes with the next older one", "L0: 5 a-z 10*\nL6: 1 a-z 900",
       "merge L0[5] L6[1] -> L6 bottommost"},
      {"a marked oldest run is rewritten", "L6: 1 a-z 900*", "merge L6[1] -> L6 bottommost"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(PickOfStyle(TextTree(c.tree), UniversalStyle()), c.plan) << c.name;
  }
}

TEST(UniversalPicker, WhatIsNewerThanAMemTableLeavesLevel0ForRocksDb78) {
  const TextTree beside_older("L0: 1 a-z 100, 2 a-z 10, 3 a-z 10\nL6: 4 a-z 9000");
  EXPECT_EQ(PickBeside(998, beside_older, UniversalStyle()), "merge L0[3 2] -> L0");
  EXPECT_EQ(PickBeside(997, beside_older, UniversalStyle()), "merge L0[3 2 1] -> L5");
  const TextTree above_level_1("L0: 8 a-z 10, 9 a-z 10\nL1: 5 a-z 500\nL6: 1 a-z 5000");
  EXPECT_EQ(PickBeside(991, above_level_1, UniversalStyle()), "merge L0[9 8] L1[5] -> L5");
  EXPECT_EQ(PickBeside(900, TextTree("L0: 1 a-z 100!, 2 a-z 10, 3 a-z 10"), UniversalStyle()),
            "none");
}

TEST(UniversalPicker, SaysWhy) {
  EXPECT_EQ(ReasonOf(TextTree("L0: 2 a-z 10, 3 a-z 10\nL6: 1 a-z 100"), UniversalStyle()),
            CompactionReason::kUniversalSizeRatio);
  EXPECT_EQ(ReasonOf(TextTree("L0: 5 a-z 90, 6 a-z 80\nL6: 1 a-z 80"), UniversalStyle()),
            CompactionReason::kUniversalSizeAmplification);
  EXPECT_EQ(ReasonOf(TextTree("L0: 5 a-z 100, 6 a-z 10, 7 a-z 1\nL6: 1 a-z 900"), UniversalStyle()),
            CompactionReason::kUniversalSortedRunNum);
  EXPECT_EQ(ReasonOf(TextTree("L0: 5 a-z 10*\nL6: 1 a-z 900"), UniversalStyle()),
            CompactionReason::kFilesMarkedForCompaction);
}

TEST(UniversalPicker, WidthsAndRatio) {
  ColumnFamilyOptions options = UniversalStyle();
  CompactionOptionsUniversal& universal = options.compaction_options_universal;
  const TextTree even("L0: 2 a-z 10, 3 a-z 10, 4 a-z 10, 5 a-z 10\nL6: 1 a-z 900");
  universal.max_read_amp = 9;  // not to be merged for their number
  universal.max_merge_width = 3;
  EXPECT_EQ(PickOfStyle(even, options), "merge L0[5 4 3] -> L0");
  universal.max_merge_width = UINT_MAX;
  universal.min_merge_width = 5;
  EXPECT_EQ(PickOfStyle(even, options), "none");
  universal.min_merge_width = 2;
  const TextTree growing("L0: 2 a-z 12, 3 a-z 10\nL6: 1 a-z 900");
  EXPECT_EQ(PickOfStyle(growing, options), "none");
  universal.size_ratio = 20;
  EXPECT_EQ(PickOfStyle(growing, options), "merge L0[3 2] -> L5");
}

// 20 is about as large as the two runs of 10 together, and no run is like 100 but itself.
TEST(UniversalPicker, StopStyles) {
  ColumnFamilyOptions options = UniversalStyle();
  options.compaction_options_universal.max_read_amp = 9;
  const TextTree tree("L0: 2 a-z 20, 3 a-z 10, 4 a-z 10\nL6: 1 a-z 900");
  EXPECT_EQ(PickOfStyle(tree, options), "merge L0[4 3 2] -> L5");
  options.compaction_options_universal.stop_style = kCompactionStopStyleSimilarSize;
  EXPECT_EQ(PickOfStyle(tree, options), "merge L0[4 3] -> L0");
}

TEST(UniversalPicker, RunsThatAReadMayMeet) {
  ColumnFamilyOptions options = UniversalStyle();
  options.write_buffer_size = 1;
  options.compaction_options_universal.max_read_amp = 0;  // 1, 2, 4 ... 1024: eleven
  EXPECT_EQ(PickOfStyle(TextTree("L0: 5 a-z 100, 6 a-z 10, 7 a-z 1\nL6: 1 a-z 900"), options),
            "none");
  options.write_buffer_size = 500;  // 500, 1005: two
  EXPECT_EQ(PickOfStyle(TextTree("L0: 5 a-z 100, 6 a-z 10, 7 a-z 1\nL6: 1 a-z 900"), options),
            "merge L0[7 6 5] -> L5");
}

// Whatever the widths say: else writers would wait for a compaction that never comes.
TEST(UniversalPicker, WhatStopsWritersIsMerged) {
  ColumnFamilyOptions options = UniversalStyle();
  options.level0_file_num_compaction_trigger = options.level0_stop_writes_trigger = 2;
  options.compaction_options_universal.min_merge_width = 3;
  options.compaction_options_universal.max_read_amp = 9;
  EXPECT_EQ(PickOfStyle(TextTree("L0: 2 a-z 1\nL6: 1 a-z 900"), options),
            "merge L0[2] L6[1] -> L6 bottommost");
}

TEST(UniversalPicker, OnlyTheOldestShareIsCompressed) {
  ColumnFamilyOptions options = UniversalStyle();
  options.compaction_options_universal.compression_size_percent = 80;
  options.compaction_options_universal.allow_trivial_move = true;
  EXPECT_EQ(PickOfStyle(TextTree("L0: 2 a-b 10, 3 c-d 10\nL6: 1 a-z 80"), options),
            "merge L0[3 2] -> L5 uncompressed");
  EXPECT_EQ(PickOfStyle(TextTree("L0: 2 a-b 10, 3 c-d 10\nL6: 1 a-z 79"), options),
            "merge L0[3 2] -> L5");
}

TEST(UniversalPicker, MovesWhatOverlapsNothing) {
  ColumnFamilyOptions options = UniversalStyle();
  const TextTree disjoint("L0: 2 a-b 10, 3 c-d 10, 4 e-f 10");
  EXPECT_EQ(PickOfStyle(disjoint, options), "merge L0[4 3 2] -> L6 bottommost");
  options.compaction_options_universal.allow_trivial_move = true;
  EXPECT_EQ(PickOfStyle(disjoint, options), "move L0[4 3 2] -> L6 bottommost");
  EXPECT_EQ(PickOfStyle(TextTree("L0: 2 a-b 10, 3 c-d 10\nL4: 1 e-f 10"), options),
            "move L0[3 2] L4[1] -> L6 bottommost");
  EXPECT_EQ(PickOfStyle(TextTree("L0: 2 a-b 10, 3 b-d 10, 4 e-f 10"), options),
            "merge L0[4 3 2] -> L6 bottommost");
  EXPECT_EQ(PickOfStyle(TextTree("L0: 2 a-b 10, 3 c-d 10\nL6: 1 e-f 10"), options),
            "merge L0[3 2] L6[1] -> L6 bottommost")
      << "the last level is an input itself";
}

// A single level holds all runs; what is written there again is one table.
TEST(UniversalPicker, OneLevelIsEnough) {
  const TextTree tree("L0: 1 a-z 10, 2 a-z 10, 3 a-z 10", /*num_levels=*/1);
  const auto plan = PlanOfStyle(tree, UniversalStyle());
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->DebugString(), "merge L0[3 2 1] -> L0 bottommost");
  EXPECT_EQ(plan->target_file_bytes, UINT64_MAX);
}

TEST(UniversalPicker, WhatIsOlderOnLevel0LiesBelow) {
  const TextTree tree("L0: 1 a-z 100, 2 a-z 100, 3 x-z 10, 4 x-z 10\nL6: 9 a-b 300");
  const auto plan = PlanOfStyle(tree, UniversalStyle());
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->DebugString(), "merge L0[4 3] -> L0");
  EXPECT_EQ(plan->older_in_level0,
            (std::vector<TableFile*>{tree.File(FileNumber{2}), tree.File(FileNumber{1})}));
}

TEST(UniversalPicker, AllRuns) {
  bool has_conflict = true;
  EXPECT_EQ(PickAll(TextTree("L0: 2 a-z 10\nL6: 1 a-z 900"), false, &has_conflict),
            "merge L0[2] L6[1] -> L6 bottommost");
  EXPECT_FALSE(has_conflict);
  EXPECT_EQ(PickAll(TextTree("L6: 1 a-z 900"), false, &has_conflict), "none");
  EXPECT_EQ(PickAll(TextTree("L6: 1 a-z 900"), true, &has_conflict),
            "merge L6[1] -> L6 bottommost");
  EXPECT_FALSE(has_conflict);
  EXPECT_EQ(PickAll(TextTree("L0: 2 a-z 10!\nL6: 1 a-z 900"), false, &has_conflict), "none");
  EXPECT_TRUE(has_conflict);
  EXPECT_EQ(PickAll(TextTree(""), true, &has_conflict), "none");
  EXPECT_FALSE(has_conflict);
}

// Its reservation is a plan of tables that are not in the tree, so that none of the tree is taken.
TEST(UniversalPicker, AllRunsWaitForAnIngestionAmongThem) {
  const TextTree tree("L0: 2 a-z 10\nL6: 1 a-z 900"), bottom("L6: 1 a-c 9, 2 x-z 9");
  const auto reserve = [](const TextTree& coming) {
    CompactionPlan plan;
    plan.start_level = plan.output_level = 6;
    plan.inputs.push_back({6, coming.version().files(6)});
    return plan;
  };
  const TextTree among("L6: 9 m-n 10"), aside("L6: 9 zz-zz 10");
  const CompactionPlan in_the_way = reserve(among), out_of_the_way = reserve(aside);
  bool has_conflict = false;
  EXPECT_EQ(PickAll(tree, false, &has_conflict, {&in_the_way}), "none");
  EXPECT_TRUE(has_conflict);
  has_conflict = false;
  EXPECT_EQ(PickAll(bottom, true, &has_conflict, {&in_the_way}), "none");
  EXPECT_TRUE(has_conflict);
  EXPECT_EQ(PickAll(tree, false, &has_conflict, {&out_of_the_way}),
            "merge L0[2] L6[1] -> L6 bottommost");
  EXPECT_FALSE(has_conflict);
}

TEST(UniversalPicker, ScoresAndStallsCountRuns) {
  const TextTree tree("L0: 5 a-z 10, 6 a-z 10!\nL4: 3 a-m 10, 4 n-z 10\nL6: 1 a-z 900");
  EXPECT_DOUBLE_EQ(tree.Needs(UniversalStyle()).scores[0], 1.0);
  EXPECT_EQ(tree.Needs(UniversalStyle()).pending_bytes, 0u);
  EXPECT_EQ(RunsThatSlowWrites(tree.version(), UniversalStyle()), 4);
  EXPECT_EQ(RunsThatSlowWrites(tree.version(), ColumnFamilyOptions()), 2);
}

TEST(UniversalPicker, ALevelForIngestionBehindIsNoRun) {
  ColumnFamilyOptions options = UniversalStyle();
  options.cf_allow_ingest_behind = true;
  const TextTree tree("L0: 5 a-z 10, 6 a-z 10\nL6: 1 a-z 900");
  EXPECT_LT(tree.Needs(options).scores[0], 1.0);
  EXPECT_EQ(RunsThatSlowWrites(tree.version(), options), 2);
}

TEST(LevelPicker, WhatIsNewerThanAMemTableIsNotMergedOnLevel0ForRocksDb78) {
  ColumnFamilyOptions options;
  options.level_compaction_dynamic_level_bytes = false;
  options.max_compaction_bytes = 1000;
  const TextTree tree(
      "L0: 1 a-z 10 seq=1-1, 2 a-z 10 seq=2-2, 3 a-z 10 seq=3-3, 4 a-z 10 seq=4-4, "
      "5 a-z 10 seq=5-5, 6 a-z 10 seq=6-6, 7 a-z 10 seq=7-7\nL1: 8 a-z 10!");
  EXPECT_EQ(PickBeside(kMaxSequenceNumber, tree, options), "merge L0[7 6 5 4 3 2 1] -> L0");
  EXPECT_EQ(PickBeside(5, tree, options), "merge L0[5 4 3 2 1] -> L0");
  EXPECT_EQ(PickBeside(3, tree, options), "none") << "too few";
}

TEST(FifoPicker, WritesTablesAgainThatAreOldEnoughForAnotherTier) {
  ColumnFamilyOptions options = Fifo(1000);
  options.compaction_options_fifo.file_temperature_age_thresholds = {{Temperature::kWarm, 100},
                                                                     {Temperature::kCold, 200}};
  const TextTree tree(
      "L0: 3 a-z 40 born=900 kin=900, 2 a-z 40 born=800 kin=800, "
      "1 a-z 40 born=700 kin=700 tier=8");
  EXPECT_EQ(PickOfStyle(tree, options, 899), "none");
  EXPECT_EQ(PickOfStyle(tree, options, 900), "merge L0[1] -> L0 bottommost");
  EXPECT_EQ(PlanOfStyle(tree, options, {}, 900)->temperature, Temperature::kCold);
  EXPECT_EQ(PlanOfStyle(tree, options, {}, 900)->reason, CompactionReason::kChangeTemperature);
  const TextTree later(
      "L0: 3 a-z 40 born=900 kin=900, 2 a-z 40 born=800 kin=800, "
      "1 a-z 40 born=700 kin=700 tier=12");
  EXPECT_EQ(PickOfStyle(later, options, 900), "merge L0[2] -> L0");
  EXPECT_EQ(PlanOfStyle(later, options, {}, 900)->temperature, Temperature::kWarm);
}

TEST(FifoPicker, ATableThatWasWrittenAgainIsAsOldAsItsData) {
  ColumnFamilyOptions options = Fifo(1000);
  options.compaction_options_fifo.file_temperature_age_thresholds = {{Temperature::kCold, 200}};
  const TextTree tree("L0: 2 a-z 40 born=800 kin=800, 1 a-z 40 born=950 kin=700 tier=8");
  EXPECT_EQ(PickOfStyle(tree, options, 999), "none");
  EXPECT_EQ(PickOfStyle(tree, options, 1000), "merge L0[1] -> L0 bottommost");
}

TEST(FifoPicker, TheNewestTableIsAsOldAsItsNewestKey) {
  ColumnFamilyOptions options = Fifo(1000);
  options.compaction_options_fifo.file_temperature_age_thresholds = {{Temperature::kCold, 200}};
  const TextTree written_again("L0: 1 a-z 40 born=950 kin=700 tier=8");
  EXPECT_EQ(PickOfStyle(written_again, options, 1149), "none") << "not known";
  written_again.File(1)->newest_key_time = 800;
  EXPECT_EQ(PickOfStyle(written_again, options, 999), "none");
  EXPECT_EQ(PickOfStyle(written_again, options, 1000), "merge L0[1] -> L0 bottommost");
  const TextTree ingested("L0: 1 a-z 40 born=950 kin=950 tier=8");
  ingested.File(1)->newest_key_time = 100;
  EXPECT_EQ(PickOfStyle(ingested, options, 1149), "none") << "it counts from its ingestion";
  EXPECT_EQ(PickOfStyle(ingested, options, 1150), "merge L0[1] -> L0 bottommost");
}

TEST(FifoPicker, DropsTheOldestOverTheLimit) {
  const TextTree tree("L0: 1 a-z 40, 2 a-z 40, 3 a-z 40");
  EXPECT_EQ(PickOfStyle(tree, Fifo(120)), "none");
  EXPECT_EQ(PickOfStyle(tree, Fifo(119)), "drop L0[1]");
  EXPECT_EQ(PickOfStyle(tree, Fifo(79)), "drop L0[2 1]");
  EXPECT_EQ(PickOfStyle(tree, Fifo(0)), "drop L0[3 2 1]");
  EXPECT_EQ(ReasonOf(tree, Fifo(79)), CompactionReason::kFIFOMaxSize);
  ColumnFamilyOptions with_blobs = Fifo(1000);
  with_blobs.compaction_options_fifo.max_data_files_size = 100;
  EXPECT_EQ(PickOfStyle(tree, with_blobs), "drop L0[1]");
  EXPECT_EQ(PickOfStyle(TextTree("L0: 3 a-z 40\nL2: 1 a-c 40, 2 d-z 40"), Fifo(90)), "drop L2[2]")
      << "deeper levels, of another style, are older";
  EXPECT_EQ(PickOfStyle(TextTree("L0: 3 a-z 40\nL2: 1 a-c 40, 2 d-z 40"), Fifo(0)),
            "drop L0[3] L2[1 2]");
}

TEST(FifoPicker, IsDueByTheLimitByWhichItDrops) {
  const TextTree tree("L0: 1 a-z 40, 2 a-z 40, 3 a-z 40");
  EXPECT_TRUE(tree.Needs(Fifo(119)).IsNeeded());
  EXPECT_FALSE(tree.Needs(Fifo(120)).IsNeeded()) << "exactly the limit stays";
  ColumnFamilyOptions with_blobs = Fifo(1000);
  with_blobs.compaction_options_fifo.max_data_files_size = 119;
  EXPECT_TRUE(tree.Needs(with_blobs).IsNeeded());
  with_blobs.compaction_options_fifo = {/*max_table_files_size=*/100, /*allow_compaction=*/false};
  with_blobs.compaction_options_fifo.max_data_files_size = 120;
  EXPECT_FALSE(tree.Needs(with_blobs).IsNeeded());
}

TEST(FifoPicker, DropsWhatIsTooOld) {
  ColumnFamilyOptions options = Fifo(1000);
  options.ttl = 10;
  const TextTree tree("L0: 1 a-z 40 born=5, 2 a-z 40 born=8, 3 a-z 40 born=20");
  EXPECT_EQ(PickOfStyle(tree, options, 15), "none");
  EXPECT_EQ(PickOfStyle(tree, options, 16), "drop L0[1]");
  EXPECT_EQ(PickOfStyle(tree, options, 19), "drop L0[2 1]");
  EXPECT_EQ(ReasonOf(tree, options, 19), CompactionReason::kFIFOTtl);
  EXPECT_EQ(PickOfStyle(TextTree("L0: 1 a-z 40, 2 a-z 40 born=8"), options, 99), "none")
      << "nobody knows how old the oldest one is";
}

TEST(FifoPicker, ATableThatWasWrittenAgainIsTooOldWhenItsDataIs) {
  ColumnFamilyOptions options = Fifo(1000);
  options.ttl = 10;
  const TextTree tree("L0: 2 a-z 40 born=95 kin=90, 1 a-z 40 born=98 kin=50");
  EXPECT_EQ(PickOfStyle(tree, options, 100), "none");
  EXPECT_EQ(PickOfStyle(tree, options, 101), "drop L0[1]");
}

TEST(FifoPicker, TablesOfADeeperLevelTellNothingOfEachOther) {
  ColumnFamilyOptions options = Fifo(1000);
  options.ttl = 50;
  const TextTree tree("L2: 1 a-c 40 born=90 kin=10, 2 d-f 40 born=90 kin=90");
  EXPECT_EQ(PickOfStyle(tree, options, 100), "none");
}

TEST(FifoPicker, OneJobAtATime) {
  const TextTree tree("L0: 1 a-z 40, 2 a-z 40, 3 a-z 40");
  const auto plan = PlanOfStyle(tree, Fifo(79));
  ASSERT_TRUE(plan.has_value());
  EXPECT_FALSE(PlanOfStyle(tree, Fifo(79), {&*plan}).has_value());
  EXPECT_EQ(PickOfStyle(TextTree("L0: 3 a-z 40\nL2: 1 a-z 40!"), Fifo(0)), "none")
      << "a call that drops files has one";
}

TEST(FifoPicker, MergesSmallTablesIfAsked) {
  ColumnFamilyOptions options = Fifo(100000);
  const TextTree small("L0: 1 a-z 300, 2 a-z 10, 3 a-z 10, 4 a-z 10");
  EXPECT_EQ(PickOfStyle(small, options), "none");
  options.compaction_options_fifo.allow_compaction = true;
  EXPECT_EQ(PickOfStyle(small, options), "merge L0[4 3 2] -> L0");
  EXPECT_EQ(ReasonOf(small, options), CompactionReason::kFIFOReduceNumFiles);
  EXPECT_EQ(PickOfStyle(TextTree("L0: 1 a-z 100, 2 a-z 100, 3 a-z 100"), options), "none")
      << "of whole memtables";
  EXPECT_EQ(PickOfStyle(TextTree("L0: 1 a-z 10, 2 a-z 10"), options), "none") << "too few";
  EXPECT_EQ(PickBeside(999, small, options), "merge L0[4 3 2] -> L0");
  EXPECT_EQ(PickBeside(996, small, options), "none") << "too few that RocksDB 7.8 reads then";
  options.max_compaction_bytes = 25;
  EXPECT_EQ(PickOfStyle(small, options), "none") << "too few that may be merged at once";
}

TEST(CompactionStyle, NoneLeavesAllAsItIs) {
  ColumnFamilyOptions options = UniversalStyle();
  options.compaction_style = kCompactionStyleNone;
  const TextTree tree("L0: 1 a-z 10, 2 a-z 10, 3 a-z 10, 4 a-z 10*");
  EXPECT_EQ(PickOfStyle(tree, options), "none");
  EXPECT_FALSE(tree.Needs(options).IsNeeded());
}

}  // namespace ashlar
