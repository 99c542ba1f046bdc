// SPDX-License-Identifier: Apache-2.0
//
// Reads that search tables in vain bring about a compaction of these tables, when there were so
// many of them that it is paid for; and not before, nor where nothing is gained.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/concurrent_task_limiter.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/filter_policy.h"
#include "ashlar/listener.h"
#include "ashlar/metadata.h"
#include "ashlar/options.h"
#include "ashlar/table.h"
#include "db/read/read_sampler.h"
#include "env/sim/sim_fs.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class CompactionReasons final : public EventListener {
 public:
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
    if (info.compaction_reason == CompactionReason::kReadTriggered) ++read_triggered;
    ++all;
    if (info.status.ok()) return;
    ++failed;
    failed.notify_all();
  }
  std::atomic<int> read_triggered{0};
  std::atomic<int> all{0};
  std::atomic<int> failed{0};
};

class ReadTriggeredTest : public testing::Test {
 protected:
  ReadTriggeredTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.listeners.push_back(reasons_);
    options_.level0_file_num_compaction_trigger = 100;
    options_.compression = kNoCompression;
    this_thread_sampling = {.reads_to_go = kReadsPerSample, .has_begun = true};
  }
  // All keys at the bottom, and two tables over them that hold every hundredth.
  void Fill() {
    options_.table_factory.reset(NewBlockBasedTableFactory(table_));
    ASSERT_OK(DB::Open(options_, "/db", &db_));
    for (int i = 0; i < kKeys; i++) Put(i);
    ASSERT_OK(db_->Flush(FlushOptions()));
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    for (int round = 0; round < 2; round++) {
      for (int i = round; i < kKeys; i += 100) Put(i);
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
    WaitForJobs();
    reasons_->all = 0;
    ASSERT_EQ(Level0Files(), 2);
    const uint64_t bytes = Bytes();
    reads_to_pay_ = bytes / 64;
    ASSERT_GT(reads_to_pay_, 4 * kReadsPerSample);
    ASSERT_LT(bytes, 2u << 20);
  }
  static std::string Key(int i) { return std::to_string(100000 + i); }
  void Put(int i) { ASSERT_OK(db_->Put(WriteOptions(), Key(i), std::string(100, 'v'))); }
  int Level0Files() {
    ColumnFamilyMetaData family;
    db_->GetColumnFamilyMetaData(&family);
    return static_cast<int>(family.levels.at(0).files.size());
  }
  uint64_t Bytes() {
    ColumnFamilyMetaData family;
    db_->GetColumnFamilyMetaData(&family);
    return family.size;
  }
  // By table, newest first, of those that have any.
  std::vector<uint64_t> SampledReads() {
    ColumnFamilyMetaData family;
    db_->GetColumnFamilyMetaData(&family);
    std::vector<uint64_t> reads;
    for (const LevelMetaData& level : family.levels) {
      for (const SstFileMetaData& file : level.files) {
        if (file.num_reads_sampled > 0) reads.push_back(file.num_reads_sampled);
      }
    }
    return reads;
  }
  // Keys that only the bottom has.
  void Read(uint64_t count) {
    std::string value;
    for (uint64_t i = 0; i < count; i++) {
      ASSERT_OK(db_->Get(ReadOptions(), Key(static_cast<int>(i * 100 + 50) % kKeys), &value));
    }
  }
  // The same, 32 at a time.
  void ReadBatches(uint64_t count) {
    std::vector<std::string> keys;
    for (int i = 50; i < 50 + 32 * 100; i += 100) keys.push_back(Key(i));
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<std::string> values;
    for (uint64_t i = 0; i < count; i += keys.size()) {
      const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), slices, &values);
      ASSERT_TRUE(std::all_of(statuses.begin(), statuses.end(), [](auto& s) { return s.ok(); }));
    }
  }
  void WaitForJobs() { ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions())); }

  static constexpr int kKeys = 5000;
  const std::shared_ptr<SimFS> sim_ = SimFS::Create();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(sim_);
  const std::shared_ptr<CompactionReasons> reasons_ = std::make_shared<CompactionReasons>();
  BlockBasedTableOptions table_;
  Options options_;
  std::unique_ptr<DB> db_;
  uint64_t reads_to_pay_ = 0;
};

// A read is charged to both tables of level 0, and asking is rarer the more there is: within four
// times of what must be paid somebody has asked.
TEST_F(ReadTriggeredTest, TablesThatWasteReadsAreCompactedWhenThatIsPaidFor) {
  Fill();
  Read(reads_to_pay_ / 4);
  WaitForJobs();
  EXPECT_EQ(reasons_->all, 0);
  EXPECT_EQ(Level0Files(), 2);
  Read(4 * reads_to_pay_ + kReadsPerSample);
  WaitForJobs();
  EXPECT_EQ(reasons_->read_triggered, 1);
  EXPECT_EQ(Level0Files(), 0);
  const int compactions = reasons_->all;
  Read(4 * reads_to_pay_);  // there is nothing to gain any more
  WaitForJobs();
  EXPECT_EQ(reasons_->all, compactions);
}

// Nobody reads any more when it could begin.
TEST_F(ReadTriggeredTest, OneThatIsHeldBackIsNotForgotten) {
  const std::shared_ptr<ConcurrentTaskLimiter> limiter(NewConcurrentTaskLimiter("none", 0));
  options_.compaction_thread_limiter = limiter;
  Fill();
  env_->SetBackgroundThreads(1, Env::Priority::LOW);
  Read(4 * reads_to_pay_ + kReadsPerSample);
  { const BlockedPool after_all_attempts(env_.get(), Env::Priority::LOW); }
  EXPECT_EQ(reasons_->all, 0);
  limiter->SetMaxOutstandingTask(1);
  WaitForJobs();
  EXPECT_EQ(reasons_->read_triggered, 1);
  EXPECT_EQ(Level0Files(), 0);
}

TEST_F(ReadTriggeredTest, OneThatFailsIsTriedAgainWithoutMoreReads) {
  options_.max_bgerror_resume_count = 0;
  Fill();
  {
    const BlockedPool not_yet(env_.get(), Env::Priority::LOW);
    Read(4 * reads_to_pay_ + kReadsPerSample);
    FaultPlan fault;
    fault.kinds = KindBit(CallKind::kSync);
    fault.path_part = ".sst";
    fault.first_call = sim_->CallCount();
    sim_->AddFault(fault);
  }
  reasons_->failed.wait(0);
  ASSERT_OK(db_->Resume());  // else the next attempt takes its time
  WaitForJobs();
  EXPECT_EQ(reasons_->read_triggered, 2);
  EXPECT_EQ(Level0Files(), 0);
}

TEST_F(ReadTriggeredTest, BatchesCountAsTheirKeysWould) {
  Fill();
  ReadBatches(kReadsPerSample + 32);
  EXPECT_EQ(SampledReads(), std::vector<uint64_t>(3, kReadsPerSample));
  ReadBatches(8 * reads_to_pay_ + kReadsPerSample);
  WaitForJobs();
  EXPECT_EQ(reasons_->read_triggered, 1);
  EXPECT_EQ(Level0Files(), 0);
}

TEST_F(ReadTriggeredTest, AFilterSparesTheCompactionToo) {
  table_.filter_policy.reset(NewBloomFilterPolicy(20));
  Fill();
  Read(6 * reads_to_pay_);
  WaitForJobs();
  EXPECT_EQ(reasons_->all, 0);
  EXPECT_EQ(Level0Files(), 2);
}

TEST_F(ReadTriggeredTest, ANegativeThresholdTurnsItOff) {
  options_.read_triggered_compaction_threshold = -1;
  Fill();
  Read(6 * reads_to_pay_);
  WaitForJobs();
  EXPECT_EQ(reasons_->all, 0);
}

TEST_F(ReadTriggeredTest, WhoTurnsAutomaticCompactionsOffHasNoneForReadsEither) {
  options_.disable_auto_compactions = true;
  Fill();
  Read(6 * reads_to_pay_);
  WaitForJobs();
  EXPECT_EQ(reasons_->all, 0);
}

TEST_F(ReadTriggeredTest, TheOptionSaysWhatAReadPays) {
  Fill();
  ASSERT_OK(db_->SetOptions({{"read_triggered_compaction_threshold", "0.00015625"}}));
  Read(reads_to_pay_ / 10 + 2 * kReadsPerSample);
  WaitForJobs();
  EXPECT_EQ(reasons_->read_triggered, 1);
  EXPECT_EQ(Level0Files(), 0);
}

TEST_F(ReadTriggeredTest, ReadsThatFindTheirKeyAtOnceWasteNothing) {
  Fill();
  std::string value;
  for (uint64_t i = 0; i < 6 * reads_to_pay_; i++) {
    ASSERT_OK(db_->Get(ReadOptions(), Key(static_cast<int>(i * 100 + 1) % kKeys), &value));
  }
  WaitForJobs();
  EXPECT_EQ(reasons_->all, 0);
}

// A read of a block that is not in memory leaves the epoch, and enters its table for the second
// time.
TEST_F(ReadTriggeredTest, ASampleCountsOnceForEachTableAlsoWhereAFileMustBeRead) {
  Fill();
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), Key(50), &value));
  EXPECT_EQ(SampledReads(), std::vector<uint64_t>());
  this_thread_sampling.reads_to_go = 1;
  ASSERT_OK(db_->Get(ReadOptions(), Key(2050), &value));
  EXPECT_EQ(SampledReads(), std::vector<uint64_t>(3, kReadsPerSample));
  this_thread_sampling.reads_to_go = 1;
  ASSERT_OK(db_->Get(ReadOptions(), Key(1), &value));  // the newest table has it
  EXPECT_EQ(SampledReads(),
            (std::vector<uint64_t>{2 * kReadsPerSample, kReadsPerSample, kReadsPerSample}));
}

// What one sample in a block that had to be read wastes counts as many reads.
TEST_F(ReadTriggeredTest, ReadingAFileInVainWeighsMore) {
  options_.read_triggered_compaction_threshold = 1.0 / 64;
  table_.no_block_cache = true;
  Fill();
  Read(reads_to_pay_ / 8);
  WaitForJobs();
  EXPECT_EQ(reasons_->read_triggered, 1);
}

uint64_t CountSamples(uint64_t reads) {
  uint64_t samples = 0;
  for (uint64_t i = 0; i < reads; i++) samples += IsReadSampled();
  return samples;
}

TEST(ReadSampling, OneReadInAThousandIsWatchedAlsoOfThreadsThatEndEarly) {
  this_thread_sampling = ReadSampling();
  const uint64_t samples = CountSamples(1024 * kReadsPerSample);
  EXPECT_GT(samples, 950u);
  EXPECT_LT(samples, 1100u);
  uint64_t of_short_threads = 0;
  for (int thread = 0; thread < 16 * 1024; thread++) {
    this_thread_sampling = ReadSampling();
    of_short_threads += CountSamples(kReadsPerSample / 16);
  }
  EXPECT_GT(of_short_threads, 850u);
  EXPECT_LT(of_short_threads, 1200u);
}

// A program that reads two keys in turn has both of them watched.
TEST(ReadSampling, EveryKeyOfABatchIsAsLikelyToBeWatched) {
  this_thread_sampling = {};
  constexpr size_t kBatch = 7;
  std::vector<int> samples(kBatch);
  for (int i = 0; i < 10000 * 1024 / 7; i++) {
    const size_t which = SampledRead(kBatch);
    ASSERT_LE(which, kBatch);
    if (which < kBatch) ++samples[which];
  }
  for (const int count : samples) {
    EXPECT_GT(count, 10000 / 7 * 9 / 10);
    EXPECT_LT(count, 10000 / 7 * 11 / 10);
  }
  EXPECT_EQ(SampledRead(0), 0u);
}

TEST(ReadSampling, SamplesFollowNoPattern) {
  this_thread_sampling = ReadSampling();
  int odd = 0, even = 0;
  for (uint64_t i = 0; i < 200 * kReadsPerSample; i++) {
    if (IsReadSampled()) ++(i % 2 == 0 ? even : odd);
  }
  EXPECT_GT(odd, 50);
  EXPECT_GT(even, 50);
}

}  // namespace
}  // namespace ashlar
