// SPDX-License-Identifier: Apache-2.0
//
// A compaction has a second thread while fewer jobs run than may.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// The usual order; notes who asks for it.
class NotedOrder final : public Comparator {
 public:
  const char* Name() const override { return "NotedOrder"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (is_noted) {
      const std::lock_guard<std::mutex> lock(mutex_);
      threads_.insert(std::this_thread::get_id());
    }
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  size_t thread_count() const { return threads_.size(); }
  std::atomic<bool> is_noted{false};

 private:
  mutable std::mutex mutex_;
  mutable std::set<std::thread::id> threads_;
};

// Keeps flushes that have taken effect from ending.
class Holder final : public EventListener {
 public:
  void OnFlushCompleted(DB*, const FlushJobInfo&) override { may_end.wait(); }
  std::latch may_end{1};
};

class CompactionThreads : public testing::Test {
 protected:
  void SetUp() override {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.comparator = &order_;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.listeners = {holder_};
  }
  // Above what is worth a second thread.
  void FillOneTable() {
    for (int i = 0; i < 400; ++i) {
      ASSERT_OK(db_->Put(WriteOptions(), "key" + std::to_string(i), std::string(4096, 'v')));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  size_t ThreadsOfCompaction() {
    order_.is_noted = true;
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;  // not only moved
    EXPECT_OK(db_->CompactRange(all, nullptr, nullptr));
    order_.is_noted = false;
    return order_.thread_count();
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  NotedOrder order_;
  const std::shared_ptr<Holder> holder_ = std::make_shared<Holder>();
  Options options_;
  std::unique_ptr<DB> db_;
};

// It listens to listeners, writes its line, deletes logs: all that may take long.
TEST_F(CompactionThreads, AFlushThatHasTakenEffectTakesNone) {
  ASSERT_OK(DB::Open(options_, "/db", &db_));
  FillOneTable();
  EXPECT_EQ(ThreadsOfCompaction(), 2u);
  holder_->may_end.count_down();
  ASSERT_OK(db_->Close());
}

}  // namespace
}  // namespace ashlar
