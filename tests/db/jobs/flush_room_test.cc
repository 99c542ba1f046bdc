// SPDX-License-Identifier: Apache-2.0
//
// A flush on request does not make level 0 so full that writers are slowed down, if a compaction is
// about to make room.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr int kSlowdown = 3;

class Listener : public EventListener {
 public:
  void OnFlushBegin(DB* db, const FlushJobInfo&) override {
    std::string files;
    EXPECT_TRUE(db->GetProperty("rocksdb.num-files-at-level0", &files));
    level0_files = std::stoi(files);
  }

  std::atomic<int> level0_files{-1};  // when the last flush began
};

class FlushRoomTest : public testing::Test {
 protected:
  FlushRoomTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.level0_file_num_compaction_trigger = 2;
    options_.level0_slowdown_writes_trigger = kSlowdown;
    options_.level0_stop_writes_trigger = 100;
    options_.listeners = {listener_};
    EXPECT_OK(DB::Open(options_, "/db", &db_));
  }
  void Put(const std::string& key) { ASSERT_OK(db_->Put(WriteOptions(), key, "v")); }
  // As many tables in level 0 that the next one slows writers down. Compactions must be blocked.
  void FillLevel0() {
    FlushOptions at_once;
    at_once.allow_write_stall = true;
    for (int i = 1; i < kSlowdown; i++) {
      Put("k");
      ASSERT_OK(db_->Flush(at_once));
      EXPECT_EQ(listener_->level0_files, i - 1);
    }
    Put("k");
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  const std::shared_ptr<Listener> listener_ = std::make_shared<Listener>();
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(FlushRoomTest, WaitsForTheCompaction) {
  auto compactions = std::make_unique<BlockedPool>(env_.get(), Env::Priority::LOW);
  FillLevel0();
  std::thread flush([&] { EXPECT_OK(db_->Flush(FlushOptions())); });
  compactions.reset();
  flush.join();
  EXPECT_EQ(listener_->level0_files, 0);
}

TEST_F(FlushRoomTest, DoesNotWaitIfWritersMayBeSlowedDown) {
  const BlockedPool compactions(env_.get(), Env::Priority::LOW);
  FillLevel0();
  FlushOptions at_once;
  at_once.allow_write_stall = true;
  ASSERT_OK(db_->Flush(at_once));
  EXPECT_EQ(listener_->level0_files, kSlowdown - 1);
}

TEST_F(FlushRoomTest, DoesNotWaitForWhatWillNotCome) {
  ASSERT_OK(db_->SetOptions({{"disable_auto_compactions", "true"}}));
  FillLevel0();
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(listener_->level0_files, kSlowdown - 1);
}

}  // namespace
}  // namespace ashlar
