// SPDX-License-Identifier: Apache-2.0
//
// A compaction uses a second thread while fewer jobs run than the limit allows.
#include <atomic>
#include <latch>
#include <mutex>
#include <set>
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

}  // namespace
}  // namespace ashlar
