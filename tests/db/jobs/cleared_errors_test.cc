// SPDX-License-Identifier: Apache-2.0
//
// Errors of flushes that a listener clears: the flush is repeated, but not without a pause. On a
// simulated machine with one thread, whose time passes only in waits.
#include <memory>
#include <utility>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/listener.h"
#include "env/sim/sim_env.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class ClearingListener final : public EventListener {
 public:
  explicit ClearingListener(std::shared_ptr<SimClock> clock) : clock_(std::move(clock)) {}
  void OnFlushBegin(DB*, const FlushJobInfo&) override { begun_at.push_back(clock_->NowMicros()); }
  void OnBackgroundError(BackgroundErrorReason, Status* error) override { *error = Status::OK(); }

  std::vector<uint64_t> begun_at;  // microseconds

 private:
  const std::shared_ptr<SimClock> clock_;
};

class ClearedErrorsTest : public DbTest {
 protected:
  ClearedErrorsTest() : DbTest(TestFiles::kSim) {
    UseEnv(NewSimEnv(sim_, &executor_));
    options_.listeners = {listener_};
    options_.disable_auto_compactions = true;
    Open();
    Put("a", "1");
  }
  void TearDown() override {
    DbTest::TearDown();
    UseFiles(sim_);  // the executor ends before the environment of the base class
  }

  SimExecutor executor_{1};
  const std::shared_ptr<ClearingListener> listener_ =
      std::make_shared<ClearingListener>(executor_.clock());
};

// Cancels all background work when a thread is about to wait for some time only.
class CancelsInsteadOfSleep final : public SleepReplacement {
 public:
  explicit CancelsInsteadOfSleep(DB* db) : db_(db), before_(SetSleepReplacement(this)) {}
  ~CancelsInsteadOfSleep() override { SetSleepReplacement(before_); }
  CancelsInsteadOfSleep(const CancelsInsteadOfSleep&) = delete;
  CancelsInsteadOfSleep& operator=(const CancelsInsteadOfSleep&) = delete;

  bool RunInsteadOfSleep(uint64_t micros) override {
    if (micros == UINT64_MAX) return before_->RunInsteadOfSleep(micros);
    pauses++;
    CancelAllBackgroundWork(db_, /*wait=*/false);
    return false;
  }

  int pauses = 0;

 private:
  DB* const db_;
  SleepReplacement* const before_;
};

TEST_F(ClearedErrorsTest, OfAFlushGiveItAPauseBeforeItIsRepeated) {
  Fail(CallKind::kSync, ".sst", FaultMode::kNextFive);
  Flush();
  EXPECT_EQ(Get("a"), "1");
  const std::vector<uint64_t>& begun_at = listener_->begun_at;
  ASSERT_GE(begun_at.size(), 3u);
  for (size_t i = 1; i < begun_at.size(); i++) {
    EXPECT_GE(begun_at[i] - begun_at[i - 1], 200'000u) << "attempt " << i;
  }
}

TEST_F(ClearedErrorsTest, ThePauseEndsWithAllBackgroundWork) {
  Fail(CallKind::kSync, ".sst", FaultMode::kSticky);
  CancelsInsteadOfSleep sleep(db_.get());
  const Status status = db_->Flush(FlushOptions());
  EXPECT_TRUE(status.IsShutdownInProgress()) << status.ToString();
  EXPECT_EQ(sleep.pauses, 1);
  EXPECT_EQ(listener_->begun_at.size(), 1u);
}

}  // namespace
}  // namespace ashlar
