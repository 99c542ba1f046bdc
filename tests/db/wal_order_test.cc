// SPDX-License-Identifier: Apache-2.0
//
// Several logs at once: the records that are handed to the kernel, copied, or found after a crash
// are a prefix of all records over all logs; and the limit on the total size of the logs.
#include <algorithm>
#include <atomic>
#include <functional>
#include <semaphore>
#include <thread>

#include "ashlar/listener.h"
#include "ashlar/utilities/checkpoint.h"
#include "tests/support/test_db.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class WalOrderTest : public DbTest {
 protected:
  WalOrderTest() : DbTest(TestFiles::kSim) {
    options_.max_bgerror_resume_count = 0;  // only a call resumes
  }

  void Put(char group, int first, int end) {
    for (int i = first; i < end; i++) {
      DbTest::Put(StrCat(group, i), "v");
    }
  }
  // Seals the active memtable and its log without flushing them.
  void Switch() {
    ASSERT_OK(db_->PauseBackgroundWork());
    FlushOptions options;
    options.wait = false;
    ASSERT_OK(db_->Flush(options));
  }
  void TearDown() override {
    if (db_ != nullptr) IgnoreError(db_->ContinueBackgroundWork(), "it may not be paused");
    DbTest::TearDown();
  }
  std::unique_ptr<Checkpoint> NewCheckpoint() {
    Checkpoint* checkpoint = nullptr;
    EXPECT_OK(Checkpoint::Create(db_.get(), &checkpoint));
    return std::unique_ptr<Checkpoint>(checkpoint);
  }

  // The keys that an open of `dir` finds, or the kind of its error. Sets report_.
  std::string Keys(const std::shared_ptr<FileSystem>& fs, const std::string& dir,
                   WALRecoveryMode mode = WALRecoveryMode::kPointInTimeRecovery) {
    TestDb opened(fs);
    opened.dir() = dir;
    opened.options().wal_recovery_mode = mode;
    Contents contents;
    Status status = opened.TryOpenAll();
    if (status.ok()) status = opened.TryReadAll(&contents);
    report_ = status.ToString();
    if (!status.ok()) return status.IsCorruption() ? "corruption" : "other error";
    report_ = opened.Property("ashlar.recovery-report");
    std::string keys;
    for (const auto& [key, value] : contents["default"]) keys += key;
    return keys;
  }
  std::string KeysAfterKill() { return Keys(CrashImage(CrashPolicy::kAll), "/db"); }
  // The files that a killed process leaves, with the older log cut to its first `bytes` bytes.
  std::shared_ptr<SimFS> ImageWithOlderLogCutTo(uint64_t bytes) {
    VectorWalPtr logs;
    EXPECT_OK(db_->GetSortedWalFiles(logs));
    EXPECT_EQ(logs.size(), 2u);
    auto image = CrashImage(CrashPolicy::kAll);
    const std::string path = "/db" + logs[0]->PathName();
    const std::string whole = image->memory()->AllFiles().at(path);
    EXPECT_LT(bytes, whole.size());
    image->memory()->PutFile(path, whole.substr(0, bytes));
    return image;
  }

  std::string report_;
};

class ManualWalFlush : public WalOrderTest {
 protected:
  ManualWalFlush() { options_.manual_wal_flush = true; }
};

}  // namespace

TEST_F(ManualWalFlush, CoversTheLogThatWasSealedBefore) {
  Open();
  Put('a', 0, 2);
  ASSERT_OK(db_->FlushWAL(false));
  Put('a', 2, 4);
  Switch();
  Put('b', 0, 2);
  ASSERT_OK(db_->FlushWAL(false));
  EXPECT_EQ(KeysAfterKill(), "a0a1a2a3b0b1");
  EXPECT_EQ(report_, "");
}

TEST_F(ManualWalFlush, ASpillOfTheNewerLogFollowsTheOlder) {
  options_.writable_file_max_buffer_size = 64 << 10;
  Open();
  Put('a', 0, 2);
  Switch();
  DbTest::Put("big", std::string(100 << 10, 'v'));
  EXPECT_EQ(KeysAfterKill(), "a0a1big");
}

TEST_F(ManualWalFlush, LockWalCoversBothLogs) {
  Open();
  Put('a', 0, 2);
  Switch();
  Put('b', 0, 2);
  ASSERT_OK(db_->LockWAL());
  EXPECT_EQ(KeysAfterKill(), "a0a1b0b1");
  ASSERT_OK(db_->UnlockWAL());
}

TEST_F(ManualWalFlush, ALockThatFailsHoldsNobody) {
  Open();
  Put('a', 0, 2);
  Fail(CallKind::kAppend, ".log");
  EXPECT_FALSE(db_->LockWAL().ok());
  EXPECT_OK(db_->Resume());
  DbTest::Put("k", "v");
}

TEST_F(ManualWalFlush, ACheckpointHoldsTheSealedLog) {
  Open();
  Put('a', 0, 4);
  Switch();
  Put('b', 0, 2);
  ASSERT_OK(NewCheckpoint()->CreateCheckpoint("/copy", uint64_t{1} << 40));
  EXPECT_EQ(Keys(sim_, "/copy"), "a0a1a2a3b0b1");
}

TEST_F(ManualWalFlush, ListsWhatCanBeRead) {
  Open();
  Put('a', 0, 4);
  VectorWalPtr logs;
  std::unique_ptr<WalFile> current;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  EXPECT_TRUE(logs.empty());
  ASSERT_OK(db_->GetCurrentWalFile(&current));
  EXPECT_EQ(current->SizeFileBytes(), 0u);
  ASSERT_OK(db_->FlushWAL(false));
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_GT(logs[0]->SizeFileBytes(), 0u);
  EXPECT_EQ(logs[0]->SizeFileBytes(),
            sim_->memory()->AllFiles().at("/db" + logs[0]->PathName()).size());
}

TEST_F(ManualWalFlush, CheckpointsBesideWritersHoldAPrefix) {
  options_.writable_file_max_buffer_size = 256 << 20;
  Open();
  std::atomic<bool> stops{false};
  std::thread writer([&] {
    for (int i = 0; !stops; i++) {
      EXPECT_OK(db_->Put(WriteOptions(), StrCat("k", i % 1000), std::string(100, 'v')));
    }
  });
  const std::unique_ptr<Checkpoint> checkpoint = NewCheckpoint();
  for (int i = 0; i < 20; i++) {
    EXPECT_OK(checkpoint->CreateCheckpoint(StrCat("/copy", i), 1 << 30));
  }
  stops = true;
  writer.join();
}

// A crash of the machine may leave the newer log whole and lose the end of the older one.
TEST_F(WalOrderTest, AHoleBetweenTwoLogsIsNoticedInEveryMode) {
  Open();
  Put('a', 0, 4);
  std::unique_ptr<WalFile> log;
  ASSERT_OK(db_->GetCurrentWalFile(&log));
  const uint64_t three_puts = log->SizeFileBytes() / 4 * 3;
  Switch();
  Put('b', 0, 2);
  const auto keys = [&](uint64_t bytes, WALRecoveryMode mode) {
    return Keys(ImageWithOlderLogCutTo(bytes), "/db", mode);
  };
  EXPECT_EQ(KeysAfterKill(), "a0a1a2a3b0b1");
  EXPECT_EQ(report_, "");
  for (const uint64_t bytes : {three_puts, three_puts + 1}) {
    EXPECT_EQ(keys(bytes, WALRecoveryMode::kPointInTimeRecovery), "a0a1a2");
    EXPECT_NE(report_, "");
    EXPECT_EQ(keys(bytes, WALRecoveryMode::kAbsoluteConsistency), "corruption");
    EXPECT_EQ(keys(bytes, WALRecoveryMode::kTolerateCorruptedTailRecords), "corruption");
    EXPECT_EQ(keys(bytes, WALRecoveryMode::kSkipAnyCorruptedRecords), "a0a1a2b0b1");
    EXPECT_NE(report_, "");
  }
  EXPECT_EQ(keys(0, WALRecoveryMode::kPointInTimeRecovery), "");
}

namespace {

// Stops each flush after it has chosen its memtables.
class FlushGate final : public EventListener {
 public:
  void OnFlushBegin(DB*, const FlushJobInfo&) override {
    begun.release();
    opens.acquire();
  }
  std::counting_semaphore<> begun{0}, opens{0};
};

}  // namespace

// The MANIFEST records the final size of the closed log. The crash loses the unsynced end of that
// log and all of the next log.
TEST_F(WalOrderTest, AClosedLogThatLostItsEndIsNotConsistentIfNothingIsBehindIt) {
  FlushOptions no_wait;
  no_wait.wait = false;
  options_.max_write_buffer_number = 6;
  for (const CompressionType compression : {kNoCompression, kZSTD}) {
    const auto gate = std::make_shared<FlushGate>();
    options_.listeners = {gate};
    options_.wal_compression = compression;
    dir_ = compression == kNoCompression ? "/db" : "/compressed";
    Open();
    Put('a', 0, 1);
    ASSERT_OK(db_->Flush(no_wait));
    gate->begun.acquire();
    Put('a', 1, 3);
    ASSERT_OK(db_->SyncWAL());
    std::unique_ptr<WalFile> log;
    ASSERT_OK(db_->GetCurrentWalFile(&log));
    const uint64_t synced_bytes = log->SizeFileBytes();
    const std::string closed = dir_ + log->PathName();
    Put('a', 3, 4);
    ASSERT_OK(db_->Flush(no_wait));
    ASSERT_OK(db_->GetCurrentWalFile(&log));
    gate->opens.release();
    gate->begun.acquire();  // the flush before has taken effect
    const auto keys = [&](WALRecoveryMode mode) {
      auto image = CrashImage(CrashPolicy::kAll);
      const std::string whole = image->memory()->AllFiles().at(closed);
      EXPECT_LT(synced_bytes, whole.size());
      image->memory()->PutFile(closed, whole.substr(0, synced_bytes));
      image->memory()->PutFile(dir_ + log->PathName(), std::string(100, 0));
      return Keys(image, dir_, mode);
    };
    EXPECT_EQ(keys(WALRecoveryMode::kPointInTimeRecovery), "a0a1a2");
    EXPECT_NE(report_, "");
    EXPECT_EQ(keys(WALRecoveryMode::kAbsoluteConsistency), "corruption");
    EXPECT_EQ(keys(WALRecoveryMode::kTolerateCorruptedTailRecords), "a0a1a2");
    EXPECT_EQ(keys(WALRecoveryMode::kSkipAnyCorruptedRecords), "a0a1a2");
    gate->opens.release();
    Close();
  }
}

TEST_F(WalOrderTest, WritesThatSkipTheLogLeaveNoHole) {
  Open();
  Put('a', 0, 2);
  ASSERT_OK(db_->Put(Unlogged(), "x", "v"));
  Switch();
  ASSERT_OK(db_->Put(Unlogged(), "y", "v"));
  Put('b', 0, 2);
  EXPECT_EQ(KeysAfterKill(), "a0a1b0b1");
  EXPECT_EQ(report_, "");
}

TEST_F(WalOrderTest, WhatWasRecoveredBeforeAHoleIsWrittenOn) {
  Open();
  Put('a', 0, 4);
  Switch();
  Put('b', 0, 2);
  auto image = ImageWithOlderLogCutTo(1);
  EXPECT_EQ(Keys(image, "/db"), "");
  EXPECT_EQ(Keys(image, "/db"), "") << "the second open finds nothing to report";
  EXPECT_EQ(report_, "");
}

// One family gets most of the writes, while another one has a few in the oldest log.
TEST_F(WalOrderTest, TheTotalSizeOfLogsStaysNearItsLimit) {
  options_.write_buffer_size = 64 << 20;
  options_.max_total_wal_size = 256 << 10;
  Open();
  ColumnFamilyHandle* const handle = CreateFamily("two");
  DbTest::Put(handle, "x", "y");
  uint64_t most = 0;
  for (int i = 0; i < 4000; i++) {
    DbTest::Put(StrCat("k", i), std::string(1000, 'v'));
    if (i % 1000 == 500) DbTest::Put(handle, StrCat("x", i), "y");
    if (i % 20 != 0) continue;
    WaitForJobs();  // logs of flushes that run do not count
    VectorWalPtr logs;
    ASSERT_OK(db_->GetSortedWalFiles(logs));
    uint64_t bytes = 0;
    for (const auto& log : logs) bytes += log->SizeFileBytes();
    most = std::max(most, bytes);
  }
  EXPECT_LE(most, 2 * options_.max_total_wal_size);
  WaitForJobs();
  VectorWalPtr logs;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  EXPECT_LE(logs.size(), 2u);
}

TEST_F(WalOrderTest, AFamilyThatWasIdleForLongKeepsNoOldLog) {
  Open();
  ColumnFamilyHandle* const handle = CreateFamily("idle");
  for (int i = 0; i < 3; i++) {
    Put('a', i, i + 1);
    Flush();
  }
  DbTest::Put(handle, "late", "v");
  Put('b', 0, 1);
  Flush();
  WaitForJobs();
  VectorWalPtr logs;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  EXPECT_EQ(logs.size(), 1u) << "the log of the late write; the current log is empty";
}

}  // namespace ashlar
