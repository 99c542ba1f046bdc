// SPDX-License-Identifier: Apache-2.0
//
// LockWAL beside everything else that stops or turns the log: no write gets through while it is
// locked, and nothing waits for ever.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/utilities/checkpoint.h"
#include "env/sim/sim_fs.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class LockWalTest : public testing::TestWithParam<CompressionType> {
 protected:
  LockWalTest() {
    options_.create_if_missing = true;
    options_.env = env_.get();
    options_.write_buffer_size = 64 << 10;
    options_.wal_compression = GetParam();
    EXPECT_OK(DB::Open(options_, "/db", &db_));
  }

  const std::shared_ptr<SimFS> fs_ = SimFS::Create();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(fs_);
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_P(LockWalTest, LocksAreCounted) {
  ASSERT_OK(db_->LockWAL());
  ASSERT_OK(db_->LockWAL());
  WriteOptions at_once;
  at_once.no_slowdown = true;
  EXPECT_TRUE(db_->Put(at_once, "a", "v").IsIncomplete());
  ASSERT_OK(db_->UnlockWAL());
  EXPECT_TRUE(db_->Put(at_once, "a", "v").IsIncomplete());
  ASSERT_OK(db_->UnlockWAL());
  EXPECT_OK(db_->Put(at_once, "a", "v"));
  EXPECT_TRUE(db_->UnlockWAL().IsAborted());
}

TEST_P(LockWalTest, WhatIsInMemoryMayBeFlushedMeanwhile) {
  ASSERT_OK(db_->Put(WriteOptions(), "a", "v"));
  ASSERT_OK(db_->LockWAL());
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ASSERT_OK(db_->FlushWAL(/*sync=*/true));
  std::string value;
  EXPECT_OK(db_->Get(ReadOptions(), "a", &value));
  ASSERT_OK(db_->UnlockWAL());
  ASSERT_OK(db_->Put(WriteOptions(), "b", "v"));
}

TEST_P(LockWalTest, NothingGetsThroughAndNothingHangsBesideEverything) {
  constexpr int kWriters = 3, kWrites = 400;
  std::atomic<int> writing{kWriters};
  std::vector<std::thread> threads;
  const auto start = [&](const std::function<void()>& work) { threads.emplace_back(work); };
  for (int writer = 0; writer < kWriters; writer++) {
    start([&, writer] {
      for (int i = 0; i < kWrites; i++) {
        WriteOptions options;
        options.sync = i % 40 == 0;
        EXPECT_OK(db_->Put(options, StrCat(writer, ".", i), std::string(200, 'v')));
      }
      writing--;
    });
  }
  const auto while_writing = [&](const std::function<void(int)>& step) {
    start([&, step] {
      for (int i = 0; i < 3 || writing > 0; i++) step(i);
    });
  };
  while_writing([&](int) { EXPECT_OK(db_->Flush(FlushOptions())); });
  while_writing(
      [&](int) { EXPECT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr)); });
  while_writing([&](int i) {
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(), StrCat("family", i), &family));
    EXPECT_OK(db_->Put(WriteOptions(), family, "x", "v"));
    EXPECT_OK(db_->DropColumnFamily(family));
    EXPECT_OK(db_->DestroyColumnFamilyHandle(family));
  });
  while_writing([&](int i) {
    EXPECT_OK(db_->SetOptions({{"write_buffer_size", StrCat(65536 + i % 2)}}));
    EXPECT_OK(db_->SyncWAL());
  });
  start([&] {
    Checkpoint* made = nullptr;
    ASSERT_OK(Checkpoint::Create(db_.get(), &made));
    const std::unique_ptr<Checkpoint> checkpoint(made);
    for (int i = 0; i < 3; i++) EXPECT_OK(checkpoint->CreateCheckpoint(StrCat("/copy", i)));
  });
  while_writing([&](int) {
    ASSERT_OK(db_->LockWAL());
    const SequenceNumber before = db_->GetLatestSequenceNumber();
    std::this_thread::yield();
    EXPECT_EQ(db_->GetLatestSequenceNumber(), before);
    EXPECT_OK(db_->UnlockWAL());
  });
  for (std::thread& thread : threads) thread.join();
  for (int writer = 0; writer < kWriters; writer++) {
    for (int i = 0; i < kWrites; i++) {
      std::string value;
      EXPECT_OK(db_->Get(ReadOptions(), StrCat(writer, ".", i), &value));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Logs, LockWalTest, testing::Values(kNoCompression, kZSTD),
                         [](const auto& info) {
                           return info.param == kZSTD ? "Compressed" : "Plain";
                         });

}  // namespace
}  // namespace ashlar
