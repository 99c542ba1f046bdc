// SPDX-License-Identifier: Apache-2.0
//
// LockWAL while other calls stop the log or switch to the next one: no write succeeds while the log
// is locked, and no call waits forever.
#include <atomic>
#include <functional>
#include <thread>

#include "ashlar/utilities/checkpoint.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class LockWalTest : public DbTestWith<CompressionType> {
 protected:
  LockWalTest() : DbTestWith(TestFiles::kSim) {
    options_.write_buffer_size = 64 << 10;
    options_.wal_compression = GetParam();
    Open();
  }
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
  Put("a", "v");
  ASSERT_OK(db_->LockWAL());
  Flush();
  Compact();
  ASSERT_OK(db_->FlushWAL(/*sync=*/true));
  EXPECT_EQ(Get("a"), "v");
  ASSERT_OK(db_->UnlockWAL());
  Put("b", "v");
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
  while_writing([&](int) { Flush(); });
  while_writing([&](int) { Compact(); });
  while_writing([&](int i) {
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(), StrCat("family", i), &family));
    Put(family, "x", "v");
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
      EXPECT_EQ(Get(StrCat(writer, ".", i)), std::string(200, 'v'));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Logs, LockWalTest, testing::Values(kNoCompression, kZSTD),
                         [](const auto& info) {
                           return info.param == kZSTD ? "Compressed" : "Plain";
                         });

}  // namespace
}  // namespace ashlar
