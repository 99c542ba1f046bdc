// SPDX-License-Identifier: Apache-2.0
//
// A switch of memtables creates a next log exactly if the current one has records, although writes
// continue until the pause. The test decides when a commit comes before the pause.
#include "db/write/next_log.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

class NextLogTest : public testing::Test, public LogTurn {
 protected:
  bool HasNextLocked() const override { return has_next_; }
  bool CurrentHasRecordsLocked() const override { return has_records_; }
  Status MakeNextLocked() override {
    EXPECT_FALSE(is_paused_) << "file operations while writes wait";
    made_++;
    if (!make_error_.ok()) return make_error_;
    has_next_ = true;
    return Status::OK();
  }
  void Pause() override {
    EXPECT_FALSE(is_paused_);
    if (++pauses_ == write_before_pause_) has_records_ = true;
    is_paused_ = true;
  }
  void Resume() override {
    EXPECT_TRUE(is_paused_);
    is_paused_ = false;
  }

  Status Run() {
    MutexLock lock(&mutex_);
    return PauseWithNextLog(this);
  }

  DbMutex mutex_;
  bool has_records_ = false, has_next_ = false, is_paused_ = false;
  int pauses_ = 0, made_ = 0;
  int write_before_pause_ = 0;  // the first write of the log precedes this one
  Status make_error_;
};

TEST_F(NextLogTest, AnEmptyLogGoesOn) {
  ASSERT_OK(Run());
  EXPECT_TRUE(is_paused_);
  EXPECT_EQ(made_, 0);
}

TEST_F(NextLogTest, OneWithRecordsIsFollowed) {
  has_records_ = true;
  ASSERT_OK(Run());
  EXPECT_TRUE(is_paused_);
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(pauses_, 1);
}

// If a memtable were sealed with the number of the log that has its records, recovery would replay
// them after the flush.
TEST_F(NextLogTest, AFirstWriteJustBeforeThePauseIsSeenInIt) {
  write_before_pause_ = 1;
  ASSERT_OK(Run());
  EXPECT_TRUE(is_paused_);
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(pauses_, 2);
}

TEST_F(NextLogTest, AnErrorLeavesNothingPaused) {
  write_before_pause_ = 1;
  make_error_ = Status::IOError("no log");
  EXPECT_TRUE(Run().IsIOError());
  EXPECT_FALSE(is_paused_);
  EXPECT_FALSE(has_next_);
}

}  // namespace
}  // namespace ashlar
