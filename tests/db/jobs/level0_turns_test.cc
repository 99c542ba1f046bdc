// SPDX-License-Identifier: Apache-2.0
//
// Compactions of level 0 take precedence over those of deeper levels that use the only thread.
#include <algorithm>
#include <functional>
#include <semaphore>
#include <thread>

#include "ashlar/compaction_filter.h"
#include "ashlar/concurrent_task_limiter.h"
#include "ashlar/convenience.h"
#include "ashlar/listener.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

// Stops the first compaction that begins below level 0 at its first key, until it may continue.
class DeepGate final : public CompactionFilterFactory {
  class Gate;

 public:
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override;
  const char* Name() const override { return "DeepGate"; }

  std::binary_semaphore is_reached{0}, opens{0};
  // Called by that compaction at its `last_key`-th key.
  int last_key = 0;
  std::function<void()> at_last_key;
};

class DeepGate::Gate final : public CompactionFilter {
 public:
  explicit Gate(DeepGate* gate) : gate_(gate) {}
  bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override {
    if (gate_ == nullptr) return false;
    if (keys_++ == 0) {
      gate_->is_reached.release();
      gate_->opens.acquire();
    }
    if (keys_ == gate_->last_key) gate_->at_last_key();
    return false;
  }
  const char* Name() const override { return "DeepGate"; }

 private:
  DeepGate* const gate_;
  mutable int keys_ = 0;
};

std::unique_ptr<CompactionFilter> DeepGate::CreateCompactionFilter(
    const CompactionFilter::Context& context) {
  return std::make_unique<Gate>(context.input_start_level > 0 ? this : nullptr);
}

class EndListener final : public EventListener {
 public:
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
    MutexLock lock(&mutex_);
    levels_.push_back(info.base_input_level);
  }
  // The input levels of compactions, in the order in which they ended.
  std::vector<int> levels() const {
    MutexLock lock(&mutex_);
    return levels_;
  }

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  std::vector<int> levels_ GUARDED_BY(mutex_);
};

class Level0TurnsTest : public DbTest {
 protected:
  static constexpr int kDeepKeys = 20'000;

  Level0TurnsTest() {
    options_.compression = kNoCompression;
    options_.level_compaction_dynamic_level_bytes = false;
    options_.max_background_jobs = 2;  // one of them for compactions
    options_.level0_file_num_compaction_trigger = 2;
    options_.level0_slowdown_writes_trigger = 6;
    options_.compaction_filter_factory = gate_;
    options_.listeners.push_back(listener_);
  }
  void TearDown() override {
    if (deep_.joinable()) deep_.join();
    DbTest::TearDown();
  }

  // Starts a compaction of level 1, whose keys all begin with "a", and stops it at its first key.
  void BeginDeep() {
    Open();
    for (int i = 0; i < kDeepKeys; i++) Put(StrCat("a", 100'000 + i), "value");
    Flush();
    std::vector<LiveFileMetaData> files = Tables();
    ASSERT_EQ(files.size(), 1u);
    ASSERT_OK(db_->CompactFiles(CompactionOptions(), {files[0].name}, 1));
    files = Tables();
    ASSERT_EQ(files.size(), 1u);
    ASSERT_EQ(files[0].level, 1);
    deep_ = std::thread([this, name = files[0].name] {
      deep_status_ = db_->CompactFiles(CompactionOptions(), {name}, 2);
    });
    gate_->is_reached.acquire();
  }
  void AddToLevel0(int tables) {
    for (int i = 0; i < tables; i++) {
      Put(StrCat("z", i), "value");
      Put("zz", StrCat(i));
      Flush();
    }
  }
  void LetDeepGoOn() {
    gate_->opens.release();
    deep_.join();
    ASSERT_OK(deep_status_);
    WaitForJobs();
  }
  void ExpectContents(int tables) {
    EXPECT_EQ(ReadRows().size(), static_cast<size_t>(kDeepKeys + tables + 1));
    EXPECT_EQ(Get("zz"), StrCat(tables - 1));
  }

  // Level 0 is not compacted before the deep compaction has seen its last key. Which of the two
  // calls its listener first afterwards is not defined.
  void ExpectNoneGoesFirst(int tables) {
    std::vector<int> levels;
    gate_->last_key = kDeepKeys;
    gate_->at_last_key = [&] { levels = listener_->levels(); };
    BeginDeep();
    AddToLevel0(tables);
    LetDeepGoOn();
    EXPECT_EQ(levels, std::vector<int>({0}));
    levels = listener_->levels();
    std::sort(levels.begin(), levels.end());
    EXPECT_EQ(levels, std::vector<int>({0, 0, 1}));
    ExpectContents(tables);
  }

  const std::shared_ptr<DeepGate> gate_ = std::make_shared<DeepGate>();
  const std::shared_ptr<EndListener> listener_ = std::make_shared<EndListener>();
  std::thread deep_;
  Status deep_status_;  // its result; written by its thread
};

TEST_F(Level0TurnsTest, ADeepCompactionLetsLevel0GoFirst) {
  BeginDeep();
  AddToLevel0(5);
  EXPECT_EQ(listener_->levels(), std::vector<int>({0}));  // the compaction that created level 1
  LetDeepGoOn();
  EXPECT_EQ(listener_->levels(), std::vector<int>({0, 0, 1}));
  ExpectContents(5);
}

TEST_F(Level0TurnsTest, NotForAFewTables) { ExpectNoneGoesFirst(3); }

TEST_F(Level0TurnsTest, NorWhereAnotherThreadDoesIt) {
  options_.max_background_jobs = 8;
  BeginDeep();
  AddToLevel0(5);
  while (listener_->levels().size() < 2) std::this_thread::yield();
  LetDeepGoOn();
  EXPECT_EQ(listener_->levels()[1], 0);
  ExpectContents(5);
}

// Level 0 would be compacted into the table that the deep compaction reads.
TEST_F(Level0TurnsTest, WhatCannotGoFirstWaits) {
  BeginDeep();
  for (int i = 0; i < 5; i++) {
    Put("a", "small");
    Put("zz", "large");
    Flush();
  }
  LetDeepGoOn();
  const std::vector<int> levels = listener_->levels();
  ASSERT_GE(levels.size(), 3u);
  EXPECT_EQ(Get("a"), "small");
}

TEST_F(Level0TurnsTest, WhatALimiterHoldsBackDoesNotGoFirst) {
  options_.compaction_thread_limiter.reset(NewConcurrentTaskLimiter("one", 1));
  ExpectNoneGoesFirst(5);
}

TEST_F(Level0TurnsTest, NothingGoesFirstOnceWorkIsCancelled) {
  BeginDeep();
  AddToLevel0(5);
  CancelAllBackgroundWork(db_.get(), /*wait=*/false);
  gate_->opens.release();
  deep_.join();
  EXPECT_TRUE(deep_status_.IsShutdownInProgress()) << deep_status_.ToString();
  options_.compaction_filter_factory.reset();
  Reopen();
  WaitForJobs();
  ExpectContents(5);
}

}  // namespace
}  // namespace ashlar
