// SPDX-License-Identifier: Apache-2.0
//
// What an open database says about its own state (property ashlar.state): the classes behind it
// describe themselves, a line a fact, and the same state gives the same text.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "env/sim/sim_fs.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class StateTest : public testing::Test {
 protected:
  StateTest() {
    options_.create_if_missing = true;
    options_.max_bgerror_resume_count = 0;  // only a call resumes
    options_.env = env_.get();
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    EXPECT_OK(DB::Open(options_, "/db", &db_));
  }
  std::string State() {
    std::string text;
    EXPECT_TRUE(db_->GetProperty("ashlar.state", &text));
    return text;
  }
  bool Says(const std::string& line) {
    const bool says = ("\n" + State()).find("\n" + line) != std::string::npos;
    if (!says) ADD_FAILURE() << "no line begins with: " << line << "\n" << State();
    return says;
  }

  const std::shared_ptr<SimFS> sim_ = SimFS::Create();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(sim_);
  Options options_;
  std::unique_ptr<DB> db_;
};

}  // namespace

TEST_F(StateTest, ADatabaseAtRest) {
  ASSERT_OK(db_->Put(WriteOptions(), "k", "v"));
  EXPECT_TRUE(Says("writes: free\n"));
  EXPECT_TRUE(Says("error: OK\n"));
  EXPECT_TRUE(Says("commits: 1 begun, 1 published; sequence numbers to 1, visible to 1\n"));
  EXPECT_TRUE(Says("log "));
  EXPECT_TRUE(Says("MANIFEST "));
  EXPECT_TRUE(Says("family 0 default: version 1, 0 tables, logs from "));
  EXPECT_TRUE(Says("snapshots: 0\n"));
  EXPECT_TRUE(Says("super version 1: memtables 1, version 1 with 0 tables\n"));
  EXPECT_EQ(State(), State());
}

TEST_F(StateTest, AFlushAndASnapshotShow) {
  ASSERT_OK(db_->Put(WriteOptions(), "k", "v"));
  const Snapshot* snapshot = db_->GetSnapshot();
  EXPECT_TRUE(Says("snapshots: 1 @1\n"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_TRUE(Says("family 0 default: version 2, 1 tables, logs from "));
  EXPECT_TRUE(Says("super version 3: memtables 2, version 2 with 1 tables\n"));
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), "k", &value));
  EXPECT_TRUE(Says("tables open: 1, "));
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(StateTest, LockedOutWritersShow) {
  ASSERT_OK(db_->LockWAL());
  EXPECT_TRUE(Says("writes: free, locked out by 1 calls\n"));
  EXPECT_NE(State().find(", paused 1 times, attention wanted\n"), std::string::npos) << State();
  ASSERT_OK(db_->UnlockWAL());
  EXPECT_TRUE(Says("writes: free\n"));
}

TEST_F(StateTest, AnErrorOfALogShows) {
  FaultPlan plan;
  plan.kinds = KindBit(CallKind::kSync);
  plan.path_part = ".log";
  plan.mode = FaultMode::kOnce;
  plan.first_call = sim_->CallCount();
  sim_->AddFault(plan);
  WriteOptions sync;
  sync.sync = true;
  ASSERT_FALSE(db_->Put(sync, "k", "v").ok());
  EXPECT_TRUE(Says("error: "));
  EXPECT_TRUE(Says("of a log: "));
  EXPECT_TRUE(Says("writes are refused\n"));
  sim_->ClearFaults();
  ASSERT_OK(db_->Resume());
  EXPECT_TRUE(Says("error: OK\nlogs before "));
}

}  // namespace ashlar
