// SPDX-License-Identifier: Apache-2.0
//
// CompactionOptionsUniversal::incremental: compactions that reduce space amplification in parts, in
// the picker and in databases. Trees have a run on level 0, one on level 5 that is merged in parts,
// and the oldest one.
#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "ashlar/listener.h"
#include "db/compaction/compaction_picker.h"
#include "tests/support/test_db.h"
#include "tests/support/text_tree.h"
#include "util/random.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

ColumnFamilyOptions Incremental(uint64_t max_compaction_bytes) {
  ColumnFamilyOptions options;
  options.compaction_style = kCompactionStyleUniversal;
  options.level_compaction_dynamic_level_bytes = false;
  options.level0_file_num_compaction_trigger = 3;
  options.target_file_size_base = 50;
  options.compression = kNoCompression;
  options.max_compaction_bytes = max_compaction_bytes;
  options.compaction_options_universal.max_size_amplification_percent = 50;
  options.compaction_options_universal.incremental = true;
  return options;
}

std::optional<CompactionPlan> IncrementalPlan(const TextTree& tree,
                                              const ColumnFamilyOptions& options) {
  DbMutex mutex;
  MutexLock lock(&mutex);
  return PickCompaction(tree.version(), {.options = &options, .claims = &tree.claims()}, {});
}

std::string PickIncrementally(const std::string& text, const ColumnFamilyOptions& options,
                              int num_levels = 7) {
  const TextTree tree(text, num_levels);
  const auto plan = IncrementalPlan(tree, options);
  return plan.has_value() ? plan->DebugString() : "none";
}

// The middle of it is the cheapest to merge; 310 bytes in all.
constexpr char kTree[] =
    "L0: 9 a-z 50\n"
    "L5: 5 a-c 20, 6 d-f 20, 7 g-i 20, 8 j-l 20\n"
    "L6: 1 a-c 60, 2 d-f 30, 3 g-i 30, 4 j-l 60";

}  // namespace

TEST(IncrementalPicker, IsOffByDefault) {
  EXPECT_FALSE(CompactionOptionsUniversal().incremental);
  ColumnFamilyOptions options = Incremental(100);
  options.compaction_options_universal.incremental = false;
  EXPECT_EQ(PickIncrementally(kTree, options),
            "merge L0[9] L5[5 6 7 8] L6[1 2 3 4] -> L6 bottommost");
}

TEST(IncrementalPicker, AsMuchGoesAsTheLimitAllows) {
  const std::string all = "merge L0[9] L5[5 6 7 8] L6[1 2 3 4] -> L6 bottommost";
  EXPECT_EQ(PickIncrementally(kTree, Incremental(310)), all) << "that is not too much at once";
  EXPECT_EQ(PickIncrementally(kTree, Incremental(309)), "merge L5[6 7] L6[2 3] -> L6 bottommost");
  EXPECT_EQ(PickIncrementally(kTree, Incremental(100)), "merge L5[6 7] L6[2 3] -> L6 bottommost");
  EXPECT_EQ(PickIncrementally(kTree, Incremental(99)), "merge L5[6] L6[2] -> L6 bottommost");
  EXPECT_EQ(PickIncrementally(kTree, Incremental(1)), "merge L5[6] L6[2] -> L6 bottommost")
      << "one at least";
  const auto plan = IncrementalPlan(TextTree(kTree), Incremental(100));
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->reason, CompactionReason::kUniversalSizeAmplification);
}

TEST(IncrementalPicker, TheLeastIsRewritten) {
  const struct {
    const char* name;
    const char* tree;
    const char* plan;
  } kCases[] = {
      {"what overlaps nothing costs nothing",
       "L0: 9 a-z 50\nL5: 5 a-c 20, 6 d-f 20, 7 g-i 20\nL6: 1 a-c 60, 3 g-i 90",
       "merge L5[6] -> L6 bottommost"},
      {"a table below two is rewritten once",
       "L0: 9 a-z 50\nL5: 5 a-c 20, 6 d-f 20, 7 g-i 20\nL6: 1 a-c 30, 2 e-h 40, 3 x-z 90",
       "merge L5[6 7] L6[2] -> L6 bottommost"},
      {"what fits goes before what is cheaper and does not",
       "L0: 9 a-z 50\nL5: 5 a-c 90, 6 d-f 20\nL6: 1 a-c 20, 2 d-f 60",
       "merge L5[6] L6[2] -> L6 bottommost"},
      {"what lies between two would come along",
       "L0: 9 a-z 50\nL5: 5 a-c 20, 6 g-i 20\nL6: 1 a-a 10, 2 d-e 50, 3 g-g 10, 4 x-z 90",
       "merge L5[5] L6[1] -> L6 bottommost"},
      {"past empty levels", "L0: 9 a-z 50\nL2: 5 a-c 20, 6 d-f 20\nL6: 1 a-c 80, 2 d-f 60",
       "merge L2[6] L6[2] -> L6 bottommost"},
  };
  for (const auto& c : kCases)
    EXPECT_EQ(PickIncrementally(c.tree, Incremental(100)), c.plan) << c.name;
}

TEST(IncrementalPicker, CutsAreClean) {
  EXPECT_EQ(PickIncrementally(
                "L0: 9 a-z 50\nL5: 5 a-c@20 20, 6 c@10-f 20, 7 g-i 20\nL6: 1 a-b 10, 2 g-i 60",
                Incremental(100)),
            "merge L5[5 6] L6[1] -> L6 bottommost")
      << "6 alone would overlap nothing";
  EXPECT_EQ(PickIncrementally(
                "L0: 9 a-z 50\nL5: 5 a-a 20, 6 d-f 20\nL6: 1 a-b@20 10, 2 b@10-c 100, 3 d-f 60",
                Incremental(100)),
            "merge L5[6] L6[3] -> L6 bottommost")
      << "1 alone would be little, but 2 goes with it";
}

TEST(IncrementalPicker, WhatIsTakenStays) {
  const auto with = [](const std::string& table) {
    std::string tree = kTree;
    return tree.insert(tree.find(table) + table.size(), "!");
  };
  EXPECT_EQ(PickIncrementally(with("6 d-f 20"), Incremental(100)),
            "merge L5[7] L6[3] -> L6 bottommost");
  EXPECT_EQ(PickIncrementally(with("2 d-f 30"), Incremental(100)),
            "merge L5[7] L6[3] -> L6 bottommost");
  EXPECT_EQ(PickIncrementally("L0: 9 a-z 50\nL5: 5 a-c@20 20!, 6 c@10-f 20\nL6: 1 a-b 60",
                              Incremental(100)),
            "none")
      << "6 does not go without 5";
}

TEST(IncrementalPicker, OtherwiseAllRunsAreMerged) {
  EXPECT_EQ(PickIncrementally("L0: 8 a-c 50, 9 d-z 50\nL6: 1 a-c 60, 2 d-z 60", Incremental(100)),
            "merge L0[9 8] L6[1 2] -> L6 bottommost");
  EXPECT_EQ(
      PickIncrementally("L0: 1 a-z 50, 2 a-z 50, 3 a-z 50", Incremental(100), /*num_levels=*/1),
      "merge L0[3 2 1] -> L0 bottommost");
  // For another reason.
  EXPECT_EQ(
      PickIncrementally("L0: 8 a-z 10, 9 a-z 10\nL5: 5 a-z 20\nL6: 1 a-z 900", Incremental(10)),
      "merge L0[9 8] L5[5] -> L5");
}

TEST(IncrementalPicker, MovesWhatOverlapsNothing) {
  const std::string tree = "L0: 9 a-z 50\nL5: 5 a-c 20, 6 d-f 20, 7 g-i 20\nL6: 1 a-c 60, 3 g-i 90";
  ColumnFamilyOptions options = Incremental(100);
  options.compaction_options_universal.allow_trivial_move = true;
  EXPECT_EQ(PickIncrementally(tree, options), "move L5[6] -> L6 bottommost");
  options.compaction_options_universal.compression_size_percent = 50;
  EXPECT_EQ(PickIncrementally(tree, options), "merge L5[6] -> L6 bottommost");
}

// The first directory has room for 100 bytes, but not for the run that they become a part of.
TEST(IncrementalPicker, OutputsLieWhereTheirRunDoes) {
  ColumnFamilyOptions options = Incremental(100);
  options.cf_paths = {{"/small", 200}, {"/large", 1000}};
  EXPECT_EQ(PickIncrementally(kTree, options), "merge L5[6 7] L6[2 3] path 1 -> L6 bottommost");
}

namespace {

class Jobs final : public EventListener {
 public:
  struct Job {
    CompactionReason reason;
    int start_level;
    uint64_t input_bytes;
  };
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (info.status.IsShutdownInProgress()) return;  // stopped because the database was closed
    EXPECT_OK(info.status);
    jobs_.push_back({info.compaction_reason, info.base_input_level, info.stats.total_input_bytes});
  }
  std::vector<Job> Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(jobs_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Job> jobs_;
};

class IncrementalDb : public DbTest {
 protected:
  static constexpr uint64_t kLimit = 50'000;
  static constexpr int kKeyCount = 400;  // with 500 bytes each: four times the limit

  IncrementalDb() {
    options_.compression = kNoCompression;
    options_.compaction_style = kCompactionStyleUniversal;
    options_.level0_file_num_compaction_trigger = 3;
    options_.target_file_size_base = 4096;
    options_.max_compaction_bytes = kLimit;
    options_.listeners.push_back(jobs_);
  }
  static std::string Key(uint64_t i) { return "key" + std::to_string(1000 + i); }
  void Put(const std::string& key) {
    expected_[key] = random_.Letters(500);
    DbTest::Put(key, expected_[key]);
  }
  void PutAll() {
    for (int i = 0; i < kKeyCount; i++) Put(Key(i));
    Flush();
  }
  // Puts and deletions of both kinds, less than one part of the compaction holds.
  void WriteAtRandom() {
    for (int i = 0; i < 40; i++) {
      const std::string key = Key(random_.Uniform(kKeyCount));
      const uint64_t kind = random_.Uniform(20);
      if (kind == 0) {
        const std::string end = key + "~";
        DeleteRange(key, end);
        expected_.erase(expected_.lower_bound(key), expected_.lower_bound(end));
      } else if (kind < 4) {
        Delete(key);
        expected_.erase(key);
      } else {
        Put(key);
      }
    }
    Flush();
  }
  std::vector<uint64_t> LevelBytes() {
    ColumnFamilyMetaData facts;
    db_->GetColumnFamilyMetaData(&facts);
    std::vector<uint64_t> bytes;
    for (const LevelMetaData& level : facts.levels) bytes.push_back(level.size);
    return bytes;
  }
  // Bytes of the newer runs in percent of the oldest one.
  uint64_t SpaceAmplificationPercent() {
    const std::vector<uint64_t> bytes = LevelBytes();
    return std::accumulate(bytes.begin(), bytes.end() - 1, uint64_t{0}) * 100 / bytes.back();
  }
  void MoveLevel0To5() {
    CompactionOptions compaction;
    compaction.output_file_size_limit = 4096;
    ASSERT_OK(db_->CompactFiles(compaction, TableNames(0), 5));
  }

  const std::shared_ptr<Jobs> jobs_ = std::make_shared<Jobs>();
  Random64 random_{7};
  Rows expected_;
};

}  // namespace

TEST_F(IncrementalDb, SpaceComesDownInSmallSteps) {
  options_.disable_auto_compactions = true;
  Open();
  PutAll();
  Compact();
  PutAll();
  MoveLevel0To5();
  Put(Key(0));
  Flush();
  EXPECT_GT(SpaceAmplificationPercent(), 90u);
  jobs_->Take();
  ASSERT_OK(db_->SetOptions(
      {{"compaction_options_universal", "{incremental=true;max_size_amplification_percent=50}"},
       {"disable_auto_compactions", "false"}}));
  WaitForJobs();
  const std::vector<Jobs::Job> jobs = jobs_->Take();
  EXPECT_GT(jobs.size(), 1u);
  for (const Jobs::Job& job : jobs) {
    EXPECT_EQ(job.reason, CompactionReason::kUniversalSizeAmplification);
    EXPECT_EQ(job.start_level, 5);
    EXPECT_LE(job.input_bytes, kLimit);
  }
  EXPECT_LT(SpaceAmplificationPercent(), 50u);
  EXPECT_GT(LevelBytes()[5], 0u) << "no more than the limit requires";
  EXPECT_EQ(ReadRows(), expected_);
  Reopen();
  EXPECT_EQ(ReadRows(), expected_);
}

TEST_F(IncrementalDb, KeepsWhatWasWritten) {
  options_.compaction_options_universal.incremental = true;
  options_.compaction_options_universal.max_size_amplification_percent = 20;
  options_.compaction_options_universal.size_ratio = 30;  // two flushes make a run of level 5
  Open();
  PutAll();
  Compact();
  jobs_->Take();
  const Snapshot* snapshot = nullptr;
  Rows seen;
  for (int round = 0; round < 40; round++) {
    if (round == 20) {
      snapshot = db_->GetSnapshot();
      seen = expected_;
    }
    WriteAtRandom();
    WaitForJobs();
    ASSERT_EQ(ReadRows(), expected_) << round;
  }
  EXPECT_EQ(ReadRows(AsOf(snapshot)), seen);
  db_->ReleaseSnapshot(snapshot);
  const std::vector<Jobs::Job> jobs = jobs_->Take();
  EXPECT_TRUE(std::any_of(jobs.begin(), jobs.end(), [](const Jobs::Job& job) {
    return job.reason == CompactionReason::kUniversalSizeAmplification && job.start_level > 0;
  }));
}

}  // namespace ashlar
