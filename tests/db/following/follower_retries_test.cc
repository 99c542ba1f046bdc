// SPDX-License-Identifier: Apache-2.0
//
// When the thread of a follower catches up, and how often it tries again, by a clock that only the
// test moves. A round that fails opens CURRENT twice. If CURRENT names another missing MANIFEST
// each time, the leader is faster in every round.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "env/env_adaptors.h"
#include "env/fault/fault_file_system.h"
#include "env/filename.h"
#include "env/port_cond_var.h"
#include "tests/db/following/secondary_db.h"
#include "tests/env/manual_clock.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// For hooks: the ranks of locks are counted by thread, and the caller of a hook holds some.
void InAnotherThread(const std::function<void()>& work) { std::thread(work).join(); }

using Waits = std::vector<uint64_t>;  // in milliseconds

// Ends the first waits at once, and records how long they were to last. The one behind them lasts
// until it is signalled.
class GrantingClock final : public ManualClock {
 public:
  GrantingClock() : ManualClock(uint64_t{1700000000} * 1000000) {}

  // Before the follower is opened. `at_first` is called at the first wait.
  void Grant(size_t count, const std::function<void()>& at_first) {
    granted_ = count;
    at_first_ = at_first;
  }
  bool TimedWait(port::CondVar* cv, std::chrono::microseconds deadline) override {
    {
      const std::lock_guard lock(mutex_);
      const uint64_t millis = (static_cast<uint64_t>(deadline.count()) - NowMicros()) / 1000;
      Advance(millis * 1000);
      waits_.push_back(millis);
      if (waits_.size() == 1) at_first_();
      if (waits_.size() <= granted_) return true;
      drained_.notify_all();
    }
    cv->Wait();
    return false;
  }
  // All granted waits, and the one behind them.
  Waits AwaitDrained() {
    std::unique_lock lock(mutex_);
    drained_.wait(lock, [this] { return waits_.size() > granted_; });
    return Waits(waits_.begin(),
                 waits_.begin() + static_cast<Waits::difference_type>(granted_) + 1);
  }

 private:
  std::mutex mutex_;
  std::condition_variable drained_;
  std::function<void()> at_first_;
  size_t granted_ = 0;
  Waits waits_;
};

class FollowerRetriesTest : public DbTest {
 protected:
  static constexpr uint64_t kPeriod = 5000, kWait = 70;
  static constexpr int kOpensOfAttempt = 2 * 10;  // an attempt has ten rounds

  FollowerRetriesTest() {
    options_.disable_auto_compactions = true;
    fs_ = std::make_shared<FaultFileSystem>(options_.env->GetFileSystem());
    clock_ = std::make_shared<GrantingClock>();
    second_env_ = NewCompositeEnvOver(Env::Default(), fs_, clock_);
  }
  void TearDown() override {
    second_.Close();
    DbTest::TearDown();
  }

  Status TryFollow(uint64_t retries) {
    Options options = options_;
    options.env = second_env_.get();
    options.follower_refresh_catchup_period_ms = kPeriod;
    options.follower_catchup_retry_count = retries;
    options.follower_catchup_retry_wait_ms = kWait;
    return second_.TryFollow(options, dir_);
  }
  // A follower whose first attempts by itself lose the race. The waits between all attempts, until
  // so many are over.
  Waits FollowAndLose(uint64_t retries, int lost_attempts, size_t waits) {
    LoseRaces();
    clock_->Grant(waits, [=, this] { lost_opens_ = lost_attempts * kOpensOfAttempt; });
    EXPECT_OK(TryFollow(retries));
    return clock_->AwaitDrained();
  }
  // From now on each opening of CURRENT uses up one of lost_opens_.
  void LoseRaces() {
    const std::string current = CurrentFileName(dir_);
    const std::string real = memory_->AllFiles().at(current);
    fs_->SetHook([=, this](const FileCall& call, bool is_before) {
      if (!is_before || call.kind != CallKind::kOpenRead || call.path != current) return;
      const bool is_lost = lost_opens_ > 0;
      if (is_lost) lost_opens_--;
      const std::string text = is_lost ? StrCat("MANIFEST-00", 8000 + lost_opens_, "\n") : real;
      InAnotherThread([&] { memory_->PutFile(current, text); });
    });
  }

  std::shared_ptr<FaultFileSystem> fs_;
  std::shared_ptr<GrantingClock> clock_;
  std::unique_ptr<Env> second_env_;
  SecondaryDb second_;
  std::atomic<int> lost_opens_{0};
};

TEST_F(FollowerRetriesTest, ALostRaceIsTriedAgainAsOftenAsTheOptionSays) {
  Open();
  EXPECT_EQ(FollowAndLose(/*retries=*/3, /*lost_attempts=*/8, /*waits=*/8),
            (Waits{kPeriod, kWait, kWait, kWait, kPeriod, kWait, kWait, kWait, kPeriod}));
  EXPECT_EQ(lost_opens_, 0) << "eight attempts";
}

TEST_F(FollowerRetriesTest, WithoutRetriesTheNextAttemptIsThatOfTheNextPeriod) {
  Open();
  EXPECT_EQ(FollowAndLose(/*retries=*/0, /*lost_attempts=*/2, /*waits=*/2),
            (Waits{kPeriod, kPeriod, kPeriod}));
  EXPECT_EQ(lost_opens_, 0) << "two attempts";
}

TEST_F(FollowerRetriesTest, ARetryThatWinsTheRaceShowsTheNews) {
  Open();
  clock_->Grant(3, [this] { lost_opens_ = 2 * kOpensOfAttempt; });
  // The leader writes when the race is over.
  const std::string current = CurrentFileName(dir_);
  const std::string real = memory_->AllFiles().at(current);
  bool has_lost = false, has_written = false;
  fs_->SetHook([&](const FileCall& call, bool is_before) {
    if (!is_before || call.kind != CallKind::kOpenRead || call.path != current) return;
    const bool is_lost = lost_opens_ > 0;
    if (is_lost) lost_opens_--;
    const std::string text = is_lost ? StrCat("MANIFEST-00", 8000 + lost_opens_, "\n") : real;
    InAnotherThread([&] { memory_->PutFile(current, text); });
    if (!has_lost) has_lost = is_lost;
    if (is_lost || !has_lost || has_written) return;
    has_written = true;
    InAnotherThread([&] {
      Put("a", "1");
      Flush();
    });
  });
  ASSERT_OK(TryFollow(/*retries=*/3));
  EXPECT_EQ(clock_->AwaitDrained(), (Waits{kPeriod, kWait, kWait, kPeriod}));
  EXPECT_EQ(second_.Get("a"), "1");
  second_.Close();
  fs_->SetHook(nullptr);
}

// It is no race: the MANIFEST has nothing newer to say.
TEST_F(FollowerRetriesTest, ATableThatVanishedForGoodIsNotTriedAgainBeforeTheNextPeriod) {
  Open();
  std::string table;
  const std::string current = CurrentFileName(dir_);
  bool is_waiting = false;
  fs_->SetHook([&](const FileCall& call, bool is_before) {
    if (!is_waiting || !table.empty() || !is_before || call.path != current) return;
    InAnotherThread([&] {
      Put("a", "1");
      Flush();
      for (const auto& [path, bytes] : memory_->AllFiles()) {
        if (path.starts_with(dir_ + "/") && path.ends_with(".sst")) table = path;
      }
      ASSERT_OK(memory_->RenameFile(table, table + ".away", IOOptions(), nullptr));
    });
  });
  clock_->Grant(2, [&] { is_waiting = true; });
  ASSERT_OK(TryFollow(/*retries=*/3));
  EXPECT_EQ(clock_->AwaitDrained(), (Waits{kPeriod, kPeriod, kPeriod}));
  EXPECT_TRUE(second_->TryCatchUpWithPrimary().IsCorruption());
  EXPECT_EQ(second_.Get("a"), "(none)");
  ASSERT_OK(memory_->RenameFile(table + ".away", table, IOOptions(), nullptr));
  second_.CatchUp();
  EXPECT_EQ(second_.Get("a"), "1");
  second_.Close();
  fs_->SetHook(nullptr);
}

// Nothing of it is left that a later opening could trip over.
TEST_F(FollowerRetriesTest, AnOpeningWhoseFilesVanishFailsAndCanBeRepeated) {
  Open();
  Put("a", "1");
  Flush();
  LoseRaces();
  lost_opens_ = 1000;
  clock_->Grant(0, [] {});
  const Status status = TryFollow(/*retries=*/3);
  EXPECT_TRUE(status.IsTryAgain()) << status.ToString();
  lost_opens_ = 0;
  ASSERT_OK(TryFollow(/*retries=*/3));
  EXPECT_EQ(second_.Get("a"), "1");
  EXPECT_EQ(clock_->AwaitDrained(), Waits{kPeriod});
}

// The sum of now and the period would overflow.
TEST_F(FollowerRetriesTest, APeriodWithoutEndIsALongOne) {
  Open();
  clock_->Grant(0, [] {});
  Options options = options_;
  options.env = second_env_.get();
  options.follower_refresh_catchup_period_ms = UINT64_MAX;
  ASSERT_OK(second_.TryFollow(options, dir_));
  constexpr uint64_t kYear = uint64_t{365} * 24 * 3600 * 1000;
  EXPECT_GT(clock_->AwaitDrained().at(0), 30 * kYear);
}

}  // namespace
}  // namespace ashlar
