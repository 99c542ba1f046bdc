// SPDX-License-Identifier: Apache-2.0
//
// What WaitForCompact answers of a database where nothing is left to do: the same as where it has
// to wait. Waiting itself: tests/db/engine_test.cc.
#include <gtest/gtest.h>

#include <memory>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "env/env_adaptors.h"
#include "env/sim/sim_fs.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class IdleWaitTest : public testing::Test {
 protected:
  IdleWaitTest() {
    Options options;
    options.create_if_missing = true;
    options.env = env_.get();
    options.disable_auto_compactions = true;
    options.max_bgerror_resume_count = 0;  // only a call resumes
    EXPECT_OK(DB::Open(options, "/db", &db_));
  }
  Status Wait(bool abort_on_pause = false) {
    WaitForCompactOptions options;
    options.abort_on_pause = abort_on_pause;
    return db_->WaitForCompact(options);
  }

  // Of a log, which leaves a hard error.
  Status FailASync() {
    FaultPlan plan;
    plan.kinds = KindBit(CallKind::kSync);
    plan.path_part = ".log";
    plan.mode = FaultMode::kOnce;
    plan.first_call = sim_->CallCount();
    sim_->AddFault(plan);
    WriteOptions sync;
    sync.sync = true;
    const Status failed = db_->Put(sync, "k", "v");
    sim_->ClearFaults();
    return failed;
  }

  const std::shared_ptr<SimFS> sim_ = SimFS::Create();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(sim_);
  std::unique_ptr<DB> db_;
};

}  // namespace

TEST_F(IdleWaitTest, TellsOfTheErrorThatStands) {
  const Status failed = FailASync();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(Wait().code(), failed.code());
  ASSERT_OK(db_->Resume());
  EXPECT_OK(Wait());
}

// Then there is nothing to be waited for.
TEST_F(IdleWaitTest, ClosesInSpiteOfAnErrorIfAskedTo) {
  ASSERT_FALSE(FailASync().ok());
  WaitForCompactOptions closing;
  closing.close_db = true;
  IgnoreError(db_->WaitForCompact(closing), "the error that stands");
  Options options;
  options.env = env_.get();
  std::unique_ptr<DB> again;
  EXPECT_OK(DB::Open(options, "/db", &again)) << "its lock is gone";
}

TEST_F(IdleWaitTest, TellsThatBackgroundWorkIsPaused) {
  ASSERT_OK(Wait());  // an open database looks for compactions; paused, it would never have looked
  ASSERT_OK(db_->PauseBackgroundWork());
  EXPECT_OK(Wait());
  EXPECT_TRUE(Wait(/*abort_on_pause=*/true).IsAborted());
  ASSERT_OK(db_->ContinueBackgroundWork());
  EXPECT_OK(Wait(/*abort_on_pause=*/true));
}

TEST_F(IdleWaitTest, TellsThatBackgroundWorkIsCancelled) {
  ASSERT_OK(db_->Put(WriteOptions(), "k", "v"));
  CancelAllBackgroundWork(db_.get(), /*wait=*/true);
  EXPECT_TRUE(Wait().IsShutdownInProgress());
}

}  // namespace ashlar
