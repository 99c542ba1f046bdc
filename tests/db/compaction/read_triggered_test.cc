// SPDX-License-Identifier: Apache-2.0
//
// Reads that search tables in vain start a compaction of these tables once their cost exceeds that
// of the compaction, but not before, and not where a compaction gains nothing.
#include <algorithm>
#include <atomic>

#include "ashlar/concurrent_task_limiter.h"
#include "ashlar/filter_policy.h"
#include "ashlar/listener.h"
#include "db/read/read_sampler.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/test_db.h"

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

class ReadTriggeredTest : public DbTest {
 protected:
  ReadTriggeredTest() : DbTest(TestFiles::kSim) {
    options_.listeners.push_back(reasons_);
    options_.level0_file_num_compaction_trigger = 100;
    options_.compression = kNoCompression;
    this_thread_sampling = {.reads_to_go = kReadsPerSample, .has_begun = true};
  }
  // All keys on the last level, and two tables of level 0 with every hundredth key each.
  void Fill() {
    options_.table_factory.reset(NewBlockBasedTableFactory(table_));
    Open();
    for (int i = 0; i < kKeys; i++) Put(i);
    Flush();
    Compact();
    for (int round = 0; round < 2; round++) {
      for (int i = round; i < kKeys; i += 100) Put(i);
      Flush();
    }
    WaitForJobs();
    reasons_->all = 0;
    ASSERT_EQ(TableCount(0), 2);
    const uint64_t bytes = Bytes();
    reads_to_pay_ = bytes / 64;
    ASSERT_GT(reads_to_pay_, 4 * kReadsPerSample);
    ASSERT_LT(bytes, 2u << 20);
  }
  static std::string Key(int i) { return std::to_string(100000 + i); }
  void Put(int i) { DbTest::Put(Key(i), std::string(100, 'v')); }
  uint64_t Bytes() {
    ColumnFamilyMetaData family;
    db_->GetColumnFamilyMetaData(&family);
    return family.size;
  }
  // The sampled reads of each table that has any, newest table first.
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
  // Reads keys that only the last level has.
  void Read(uint64_t count) {
    for (uint64_t i = 0; i < count; i++) ReadOne(static_cast<int>(i * 100 + 50) % kKeys);
  }
  // The same with batches of 32 keys.
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
  void ReadOne(int i) { ASSERT_NE(Get(Key(i)), "(none)"); }

  static constexpr int kKeys = 5000;
  const std::shared_ptr<CompactionReasons> reasons_ = std::make_shared<CompactionReasons>();
  BlockBasedTableOptions table_;
  uint64_t reads_to_pay_ = 0;
};

// A read is charged to both tables of level 0. Larger tables are checked less often, so the
// compaction starts at the latest after four times the reads that pay for it.
TEST_F(ReadTriggeredTest, TablesThatWasteReadsAreCompactedWhenThatIsPaidFor) {
  Fill();
  Read(reads_to_pay_ / 4);
  WaitForJobs();
  EXPECT_EQ(reasons_->all, 0);
  EXPECT_EQ(TableCount(0), 2);
  Read(4 * reads_to_pay_ + kReadsPerSample);
  WaitForJobs();
  EXPECT_EQ(reasons_->read_triggered, 1);
  EXPECT_EQ(TableCount(0), 0);
  const int compactions = reasons_->all;
  Read(4 * reads_to_pay_);  // there is nothing to gain any more
  WaitForJobs();
  EXPECT_EQ(reasons_->all, compactions);
}

// No read comes after the time when the compaction may begin.
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
  EXPECT_EQ(TableCount(0), 0);
}

TEST_F(ReadTriggeredTest, OneThatFailsIsTriedAgainWithoutMoreReads) {
  options_.max_bgerror_resume_count = 0;
  Fill();
  {
    const BlockedPool not_yet(env_.get(), Env::Priority::LOW);
    Read(4 * reads_to_pay_ + kReadsPerSample);
    Fail(CallKind::kSync, ".sst");
  }
  reasons_->failed.wait(0);
  ASSERT_OK(db_->Resume());  // otherwise the next attempt comes much later
  WaitForJobs();
  EXPECT_EQ(reasons_->read_triggered, 2);
  EXPECT_EQ(TableCount(0), 0);
}

TEST_F(ReadTriggeredTest, BatchesCountAsTheirKeysWould) {
  Fill();
  ReadBatches(kReadsPerSample + 32);
  EXPECT_EQ(SampledReads(), std::vector<uint64_t>(3, kReadsPerSample));
  ReadBatches(8 * reads_to_pay_ + kReadsPerSample);
  WaitForJobs();
  EXPECT_EQ(reasons_->read_triggered, 1);
  EXPECT_EQ(TableCount(0), 0);
}

TEST_F(ReadTriggeredTest, AFilterSparesTheCompactionToo) {
  table_.filter_policy.reset(NewBloomFilterPolicy(20));
  Fill();
  Read(6 * reads_to_pay_);
  WaitForJobs();
  EXPECT_EQ(reasons_->all, 0);
  EXPECT_EQ(TableCount(0), 2);
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
  EXPECT_EQ(TableCount(0), 0);
}

TEST_F(ReadTriggeredTest, ReadsThatFindTheirKeyAtOnceWasteNothing) {
  Fill();
  for (uint64_t i = 0; i < 6 * reads_to_pay_; i++) ReadOne(static_cast<int>(i * 100 + 1) % kKeys);
  WaitForJobs();
  EXPECT_EQ(reasons_->all, 0);
}

// A read of a block that is not in memory leaves the epoch and then searches its table again.
TEST_F(ReadTriggeredTest, ASampleCountsOnceForEachTableAlsoWhereAFileMustBeRead) {
  Fill();
  ReadOne(50);
  EXPECT_EQ(SampledReads(), std::vector<uint64_t>());
  this_thread_sampling.reads_to_go = 1;
  ReadOne(2050);
  EXPECT_EQ(SampledReads(), std::vector<uint64_t>(3, kReadsPerSample));
  this_thread_sampling.reads_to_go = 1;
  ReadOne(1);  // the newest table has it
  EXPECT_EQ(SampledReads(),
            (std::vector<uint64_t>{2 * kReadsPerSample, kReadsPerSample, kReadsPerSample}));
}

// A sampled read that had to read a block from the file counts as many reads.
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

// A program that reads two keys in turn has both of them sampled.
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
