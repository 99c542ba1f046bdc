// SPDX-License-Identifier: Apache-2.0
//
// WaitForCompact() on a database without work returns the same as where it has to wait. Waiting
// itself is tested in tests/db/engine_test.cc.
#include "ashlar/convenience.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class IdleWaitTest : public DbTest {
 protected:
  IdleWaitTest() : DbTest(TestFiles::kSim) {
    options_.disable_auto_compactions = true;
    options_.max_bgerror_resume_count = 0;  // only Resume() recovers
    Open();
  }
  Status Wait(bool abort_on_pause = false) {
    WaitForCompactOptions options;
    options.abort_on_pause = abort_on_pause;
    return db_->WaitForCompact(options);
  }

  // A failed sync of the log leaves a hard error.
  Status FailASync() {
    Fail(CallKind::kSync, ".log");
    const Status failed = db_->Put(Synced(), "k", "v");
    sim_->ClearFaults();
    return failed;
  }
};

}  // namespace

TEST_F(IdleWaitTest, TellsOfTheErrorThatStands) {
  const Status failed = FailASync();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(Wait().code(), failed.code());
  ASSERT_OK(db_->Resume());
  EXPECT_OK(Wait());
}

// After an error there is no work to wait for.
TEST_F(IdleWaitTest, ClosesInSpiteOfAnErrorIfAskedTo) {
  ASSERT_FALSE(FailASync().ok());
  WaitForCompactOptions closing;
  closing.close_db = true;
  IgnoreError(db_->WaitForCompact(closing), "the error of the sync");
  std::unique_ptr<DB> again;
  EXPECT_OK(DB::Open(options_, "/db", &again)) << "the directory is not locked any more";
}

TEST_F(IdleWaitTest, ClosesInSpiteOfAFailedFlushIfAskedTo) {
  Put("k", "v");
  Fail(CallKind::kSync, ".sst");
  WaitForCompactOptions closing;
  closing.flush = closing.close_db = true;
  EXPECT_TRUE(db_->WaitForCompact(closing).IsIOError()) << "the error of the flush";
  sim_->ClearFaults();
  std::unique_ptr<DB> again;
  ASSERT_OK(DB::Open(options_, "/db", &again)) << "the directory is not locked any more";
  std::string value;
  EXPECT_OK(again->Get(ReadOptions(), "k", &value));
  EXPECT_EQ(value, "v");
}

TEST_F(IdleWaitTest, TellsThatBackgroundWorkIsPaused) {
  ASSERT_OK(
      Wait());  // an open database looks for compactions first, which it would not do while paused
  ASSERT_OK(db_->PauseBackgroundWork());
  EXPECT_OK(Wait());
  EXPECT_TRUE(Wait(/*abort_on_pause=*/true).IsAborted());
  ASSERT_OK(db_->ContinueBackgroundWork());
  EXPECT_OK(Wait(/*abort_on_pause=*/true));
}

TEST_F(IdleWaitTest, TellsThatBackgroundWorkIsCancelled) {
  Put("k", "v");
  CancelAllBackgroundWork(db_.get(), /*wait=*/true);
  EXPECT_TRUE(Wait().IsShutdownInProgress());
}

}  // namespace ashlar
