// SPDX-License-Identifier: Apache-2.0
//
// A program may take all threads from the pool in which flushes run.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class NoFlushThreadsTest : public testing::Test {
 protected:
  NoFlushThreadsTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.write_buffer_size = 64 << 10;
    options_.max_write_buffer_number = 8;
    EXPECT_OK(DB::Open(options_, "/db", &db_));
    high_ = env_->GetBackgroundThreads(Env::Priority::HIGH);
    low_ = env_->GetBackgroundThreads(Env::Priority::LOW);
    env_->SetBackgroundThreads(0, Env::Priority::HIGH);
  }
  // The pools are those of the process.
  ~NoFlushThreadsTest() override {
    env_->SetBackgroundThreads(high_, Env::Priority::HIGH);
    env_->SetBackgroundThreads(low_, Env::Priority::LOW);
  }
  // More than a memtable holds.
  void Fill() {
    for (int i = 0; i < 40; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), std::to_string(i), std::string(4 << 10, 'x')));
    }
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  Options options_;
  std::unique_ptr<DB> db_;
  int high_ = 0, low_ = 0;
};

TEST_F(NoFlushThreadsTest, FlushesRunAmongCompactions) {
  Fill();
  WaitForCompactOptions wait;
  wait.timeout = std::chrono::seconds(60);
  ASSERT_OK(db_->WaitForCompact(wait));
  std::string tables;
  ASSERT_TRUE(db_->GetProperty("rocksdb.num-files-at-level0", &tables));
  EXPECT_NE(tables, "0");
  ASSERT_OK(db_->Close());
}

TEST_F(NoFlushThreadsTest, ClosingTakesBackWhatNobodyRuns) {
  env_->SetBackgroundThreads(0, Env::Priority::LOW);
  Fill();
  uint64_t pending = 0;
  ASSERT_TRUE(db_->GetIntProperty("rocksdb.mem-table-flush-pending", &pending));
  EXPECT_EQ(pending, 1u);
  ASSERT_OK(db_->Close());
}

}  // namespace
}  // namespace ashlar
