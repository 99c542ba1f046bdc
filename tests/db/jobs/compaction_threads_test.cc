// SPDX-License-Identifier: Apache-2.0
//
// A compaction uses a second thread while fewer jobs run than the limit allows; compactions and
// openings get along with fewer threads than they ask for.
#include <atomic>
#include <latch>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <thread>

#include "ashlar/comparator.h"
#include "ashlar/listener.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

// Bytewise order; records the threads that compare.
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

class CompactionThreads : public DbTest {
 protected:
  CompactionThreads() {
    options_.comparator = &order_;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.listeners = {holder_};
  }
  // Large enough for a second thread.
  void FillOneTable() {
    Fill(400, 4096);
    Flush();
  }
  size_t ThreadsOfCompaction() {
    order_.is_noted = true;
    CompactAndRewrite();
    order_.is_noted = false;
    return order_.thread_count();
  }

  NotedOrder order_;
  const std::shared_ptr<Holder> holder_ = std::make_shared<Holder>();
};

// Such a flush still calls listeners, writes to the info log and deletes logs, which may take long.
TEST_F(CompactionThreads, AFlushThatHasTakenEffectTakesNone) {
  Open();
  FillOneTable();
  EXPECT_EQ(ThreadsOfCompaction(), 2u);
  holder_->may_end.count_down();
  ASSERT_OK(db_->Close());
}

// The system refuses all threads after the first `left` ones.
class FewThreadsEnv final : public EnvWrapper {
 public:
  using EnvWrapper::EnvWrapper;
  void StartThread(void (*function)(void*), void* argument) override {
    asked++;
    if (asked > left) throw std::system_error(EAGAIN, std::generic_category());
    EnvWrapper::StartThread(function, argument);
  }
  std::atomic<int> asked{0}, left{0};
};

class RefusedThreads : public DbTest {
 protected:
  RefusedThreads() : env_(options_.env) {
    options_.env = &env_;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.max_subcompactions = 4;
    options_.target_file_size_base = 32 << 10;
    options_.max_file_opening_threads = 8;
  }
  ~RefusedThreads() override { Drop(); }
  FewThreadsEnv env_;
};

TEST_F(RefusedThreads, PartsOfACompactionRunOnTheThreadThatThereIs) {
  Open();
  for (int round = 0; round < 2; round++) {
    Fill(1000);
    Flush();
    env_.left = env_.asked + round;
    CompactAndRewrite();
  }
  EXPECT_GT(env_.asked, 0);
  EXPECT_EQ(ReadAll().begin()->second.size(), 1000U);
}

TEST_F(RefusedThreads, AnOpeningReadsTablesAndLogsWithTheThreadsThatThereAre) {
  Open();
  Fill(2000);
  Flush();
  CompactAndRewrite();
  for (int i = 0; i < 400; i++) Put(Key(i), std::string(20'000, 'v'));  // 8 MB of log
  Close();
  const int before = env_.asked;
  env_.left = before;
  Open();
  EXPECT_GT(env_.asked, before);
  EXPECT_EQ(Get(Key(399)).size(), 20'000U);
  EXPECT_EQ(Get(Key(1999)).size(), 100U);
}

}  // namespace
}  // namespace ashlar
