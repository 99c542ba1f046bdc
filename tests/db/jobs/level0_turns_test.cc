// SPDX-License-Identifier: Apache-2.0
//
// Compactions of level 0 go before those of deeper levels that have the only thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/compaction_filter.h"
#include "ashlar/concurrent_task_limiter.h"
#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

// Stops the first compaction that begins below level 0 at its first key, until it is let go on.
class DeepGate final : public CompactionFilterFactory {
  class Gate;

 public:
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override;
  const char* Name() const override { return "DeepGate"; }

  std::binary_semaphore is_reached{0}, opens{0};
  // Called by that compaction when it has seen so many keys.
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
  // The levels from which compactions came, in the order in which they ended.
  std::vector<int> levels() const {
    MutexLock lock(&mutex_);
    return levels_;
  }

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  std::vector<int> levels_ GUARDED_BY(mutex_);
};

class Level0TurnsTest : public testing::Test {
 protected:
  static constexpr int kDeepKeys = 20'000;

  Level0TurnsTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
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
    db_.reset();
    env_->WaitForJoin();
  }

  // A compaction of level 1, whose keys all begin with "a", is at its first key.
  void BeginDeep() {
    ASSERT_OK(DB::Open(options_, "/db", &db_));
    for (int i = 0; i < kDeepKeys; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), StrCat("a", 100'000 + i), "value"));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    ASSERT_EQ(files.size(), 1u);
    ASSERT_OK(db_->CompactFiles(CompactionOptions(), {files[0].name}, 1));
    db_->GetLiveFilesMetaData(&files);
    ASSERT_EQ(files.size(), 1u);
    ASSERT_EQ(files[0].level, 1);
    deep_ = std::thread([this, name = files[0].name] {
      deep_status_ = db_->CompactFiles(CompactionOptions(), {name}, 2);
    });
    gate_->is_reached.acquire();
  }
  void AddToLevel0(int tables) {
    for (int i = 0; i < tables; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), StrCat("z", i), "value"));
      ASSERT_OK(db_->Put(WriteOptions(), "zz", StrCat(i)));
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
  }
  void LetDeepGoOn() {
    gate_->opens.release();
    deep_.join();
    ASSERT_OK(deep_status_);
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  }
  void ExpectContents(int tables) {
    std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    int count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) count++;
    EXPECT_OK(it->status());
    EXPECT_EQ(count, kDeepKeys + tables + 1);
    std::string value;
    EXPECT_OK(db_->Get(ReadOptions(), "zz", &value));
    EXPECT_EQ(value, StrCat(tables - 1));
  }

  // Of level 0 nothing is compacted before the deep compaction has seen its last key. Which of the
  // two tells of its end first afterwards is chance.
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

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  const std::shared_ptr<DeepGate> gate_ = std::make_shared<DeepGate>();
  const std::shared_ptr<EndListener> listener_ = std::make_shared<EndListener>();
  Options options_;
  std::unique_ptr<DB> db_;
  std::thread deep_;
  Status deep_status_;  // what became of it; of its thread until that has ended
};

TEST_F(Level0TurnsTest, ADeepCompactionLetsLevel0GoFirst) {
  BeginDeep();
  AddToLevel0(5);
  EXPECT_EQ(listener_->levels(), std::vector<int>({0}));  // the one that made level 1
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

// What level 0 would be compacted into is what the deep compaction reads.
TEST_F(Level0TurnsTest, WhatCannotGoFirstWaits) {
  BeginDeep();
  for (int i = 0; i < 5; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), "a", "small"));
    ASSERT_OK(db_->Put(WriteOptions(), "zz", "large"));
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  LetDeepGoOn();
  const std::vector<int> levels = listener_->levels();
  ASSERT_GE(levels.size(), 3u);
  std::string value;
  EXPECT_OK(db_->Get(ReadOptions(), "a", &value));
  EXPECT_EQ(value, "small");
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
  db_.reset();
  options_.compaction_filter_factory.reset();
  ASSERT_OK(DB::Open(options_, "/db", &db_));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  ExpectContents(5);
}

}  // namespace
}  // namespace ashlar
