// SPDX-License-Identifier: Apache-2.0
//
// Databases that share a manager of space: what it counts, what it refuses, what it deletes in its
// own time, and that a full disk is resumed from.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/statistics.h"
#include "env/file_util.h"
#include "env/memory/memory_file_system.h"
#include "env/space/sst_file_manager_impl.h"
#include "tests/support/status_matchers.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

constexpr int64_t kOneByteASecond = 1;

class Listener final : public EventListener {
 public:
  void OnErrorRecoveryBegin(BackgroundErrorReason, Status, bool* is_automatic) override {
    begun++;
    begun.notify_all();
    *is_automatic = recovers;
  }
  void OnErrorRecoveryCompleted(Status) override {
    completed++;
    completed.notify_all();
  }
  std::atomic<int> begun{0}, completed{0};
  bool recovers = true;
};

class SpaceTest : public testing::Test {
 protected:
  SpaceTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.statistics = CreateDBStatistics();
    options_.listeners = {listener_};
    Make(0);
  }
  void Make(int64_t rate) {
    space_ = std::make_shared<SstFileManagerImpl>(
        PacedDeleterOptions{.fs = fs_, .clock = env_->GetSystemClock(), .bytes_per_second = rate},
        SstFileManagerImpl::Settings{.max_trash_ratio = 1e9, .poll_micros = 100});
    options_.sst_file_manager = space_;
  }
  void Open(const std::string& dir = "/db") { ASSERT_OK(DB::Open(options_, dir, &db_)); }
  void PutSome(size_t bytes = 1000) {
    for (int i = 0; i < 10; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), StrCat("k", i), std::string(bytes, 'v')));
    }
  }
  void Flush() { ASSERT_OK(db_->Flush(FlushOptions())); }
  Status Compact() {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    return db_->CompactRange(options, nullptr, nullptr);
  }
  uint64_t Count(uint32_t ticker) const { return options_.statistics->getTickerCount(ticker); }
  // By ending, without the trash.
  uint64_t BytesOnDisk(const std::string& dir = "/db", bool with_trash = false) const {
    uint64_t bytes = 0;
    auto names = ListDirectory(fs_.get(), dir);
    if (!names.ok()) return 0;
    for (const std::string& name : *names) {
      const bool is_counted =
          name.ends_with(".sst") || name.ends_with(".blob") || (with_trash && IsTrashName(name));
      if (is_counted) bytes += *FileSizeOf(fs_.get(), StrCat(dir, "/", name));
    }
    return bytes;
  }
  std::string TablesAt(int level) {
    std::string count;
    EXPECT_TRUE(db_->GetProperty(StrCat("rocksdb.num-files-at-level", level), &count));
    return count;
  }

  const std::shared_ptr<MemoryFileSystem> fs_ = std::make_shared<MemoryFileSystem>();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(fs_);
  const std::shared_ptr<Listener> listener_ = std::make_shared<Listener>();
  Options options_;
  std::shared_ptr<SstFileManagerImpl> space_;
  std::unique_ptr<DB> db_;
};

TEST_F(SpaceTest, CountsTablesAndBlobFilesThroughTheirLives) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 500;
  Open();
  for (int i = 0; i < 3; i++) {
    PutSome();
    ASSERT_OK(db_->Put(WriteOptions(), "small", "value"));
    Flush();
    EXPECT_GT(BytesOnDisk(), 10000u);
    EXPECT_EQ(space_->GetTotalSize(), BytesOnDisk());
  }
  ASSERT_OK(Compact());
  EXPECT_EQ(space_->GetTotalSize(), BytesOnDisk());
  EXPECT_FALSE(space_->GetTrackedFiles().empty());

  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/external"));
  ASSERT_OK(writer.Put("z", std::string(3000, 'z')));
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db_->IngestExternalFile({"/external"}, IngestExternalFileOptions()));
  EXPECT_EQ(space_->GetTotalSize(), BytesOnDisk());
  db_.reset();
  EXPECT_EQ(space_->GetTotalSize(), 0u) << "a closed database has no files";
  Open();
  EXPECT_EQ(space_->GetTotalSize(), BytesOnDisk());
}

TEST_F(SpaceTest, IsSharedAndOutlivesTheDatabases) {
  Open("/db");
  std::unique_ptr<DB> first = std::move(db_);
  Open("/other");
  PutSome();
  Flush();
  ASSERT_OK(first->Put(WriteOptions(), "k", "v"));
  ASSERT_OK(first->Flush(FlushOptions()));
  EXPECT_EQ(space_->GetTotalSize(), BytesOnDisk("/db") + BytesOnDisk("/other"));
  first.reset();
  EXPECT_EQ(space_->GetTotalSize(), BytesOnDisk("/other"));
  db_.reset();
  EXPECT_TRUE(space_->GetTrackedFiles().empty());
}

TEST_F(SpaceTest, AFlushThatReachesTheLimitEndsWritesUntilThereIsRoom) {
  Open();
  space_->SetMaxAllowedSpaceUsage(1000);
  PutSome();
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsSpaceLimit());
  EXPECT_EQ(TablesAt(0), "1") << "the flush itself took effect";
  EXPECT_TRUE(db_->Put(WriteOptions(), "k", "v").IsSpaceLimit());
  EXPECT_TRUE(db_->Resume().IsSpaceLimit());
  EXPECT_TRUE(db_->Put(WriteOptions(), "k", "v").IsSpaceLimit());
  space_->SetMaxAllowedSpaceUsage(0);
  ASSERT_OK(db_->Resume());
  EXPECT_OK(db_->Put(WriteOptions(), "k", "v"));
  Flush();
  EXPECT_EQ(listener_->begun, 0) << "nobody recovers from a limit but a call";
}

TEST_F(SpaceTest, ACompactionThatReachesTheLimitEndsAndLeavesNothing) {
  options_.target_file_size_base = 4000;
  Open();
  for (int i = 0; i < 2; i++) {
    PutSome();
    Flush();
  }
  const uint64_t before = BytesOnDisk();
  struct Filler : public EventListener {
    void OnCompactionBegin(DB*, const CompactionJobInfo&) override {
      space->SetMaxAllowedSpaceUsage(space->GetTotalSize() + 1);
    }
    SstFileManagerImpl* space = nullptr;
  };
  auto filler = std::make_shared<Filler>();
  filler->space = space_.get();
  db_.reset();
  options_.listeners = {filler};
  Open();
  EXPECT_TRUE(Compact().IsSpaceLimit());
  EXPECT_TRUE(db_->Put(WriteOptions(), "k", "v").IsSpaceLimit());
  EXPECT_EQ(BytesOnDisk(), before);
  EXPECT_EQ(space_->GetTotalSize(), before);
  space_->SetMaxAllowedSpaceUsage(0);
  ASSERT_OK(db_->Resume());
}

TEST_F(SpaceTest, ACallsCompactionThatWouldNotFitIsCancelled) {
  Open();
  for (int i = 0; i < 2; i++) {
    PutSome();
    Flush();
  }
  const uint64_t bytes = BytesOnDisk();
  space_->SetMaxAllowedSpaceUsage(2 * bytes - 1);
  EXPECT_TRUE(Compact().IsCompactionTooLarge());
  EXPECT_EQ(Count(COMPACTION_CANCELLED), 1u);
  EXPECT_EQ(TablesAt(0), "2");
  space_->SetMaxAllowedSpaceUsage(2 * bytes);
  space_->SetCompactionBufferSize(1);
  EXPECT_TRUE(Compact().IsCompactionTooLarge());
  space_->SetCompactionBufferSize(0);
  EXPECT_OK(Compact());
  EXPECT_EQ(TablesAt(0), "0");
  space_->SetMaxAllowedSpaceUsage(space_->GetTotalSize() + 1);
  EXPECT_FALSE(space_->IsMaxAllowedSpaceReachedIncludingCompactions()) << "what it had is free";
}

TEST_F(SpaceTest, AnAutomaticCompactionThatDidNotFitIsPickedWhenThereIsRoom) {
  struct Waiter : public EventListener {
    void OnCompactionCompleted(DB*, const CompactionJobInfo&) override {
      done = true;
      done.notify_all();
    }
    std::atomic<bool> done{false};
  };
  auto waiter = std::make_shared<Waiter>();
  options_.listeners = {waiter};
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  for (int i = 0; i < 2; i++) {
    PutSome();
    Flush();
  }
  space_->SetMaxAllowedSpaceUsage(2 * BytesOnDisk() - 1);
  ASSERT_OK(db_->EnableAutoCompaction({db_->DefaultColumnFamily()}));
  EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions())) << "it is not tried over and over";
  EXPECT_EQ(TablesAt(0), "2");
  EXPECT_GE(Count(COMPACTION_CANCELLED), 1u);
  EXPECT_OK(db_->Put(WriteOptions(), "k", "v"));
  space_->SetMaxAllowedSpaceUsage(0);
  waiter->done.wait(false);
  EXPECT_EQ(TablesAt(0), "0");
}

TEST_F(SpaceTest, ObsoleteFilesWaitAsTrashThatTheNextOpenDeletes) {
  Make(kOneByteASecond);
  Open();
  for (int i = 0; i < 3; i++) {
    PutSome();
    Flush();
  }
  ASSERT_OK(Compact());
  EXPECT_EQ(Count(FILES_MARKED_TRASH), 3u);
  EXPECT_GT(BytesOnDisk("/db", /*with_trash=*/true), BytesOnDisk());
  EXPECT_GE(space_->GetTotalSize(), BytesOnDisk());
  db_.reset();
  options_.sst_file_manager.reset();
  space_.reset();
  EXPECT_GT(BytesOnDisk("/db", /*with_trash=*/true), BytesOnDisk());
  Open();
  EXPECT_EQ(BytesOnDisk("/db", /*with_trash=*/true), BytesOnDisk());
}

TEST_F(SpaceTest, TrashOfBeforeIsPacedTooAndDestroyingTakesItAlong) {
  const std::string trash = "/db/000900.sst.trash", foreign = "/db/notes.trash";
  Make(kOneByteASecond);
  Open();
  PutSome();
  Flush();
  db_.reset();
  for (const char* name : {"/db/000899.sst.trash", "/db/000900.sst.trash", "/db/notes.trash"}) {
    fs_->PutFile(name, std::string(100000, 't'));
  }
  Open();
  EXPECT_EQ(Count(FILES_MARKED_TRASH), 2u);
  EXPECT_GE(space_->GetTotalSize(), BytesOnDisk() + 100000);
  EXPECT_OK(fs_->FileExists(foreign, IOOptions(), nullptr));
  space_->SetDeleteRateBytesPerSecond(0);
  space_->AwaitEmptyTrash();
  EXPECT_TRUE(fs_->FileExists(trash, IOOptions(), nullptr).IsNotFound());
  EXPECT_EQ(space_->GetTotalSize(), BytesOnDisk());
  db_.reset();
  space_->SetDeleteRateBytesPerSecond(kOneByteASecond);
  ASSERT_OK(DestroyDB("/db", options_));
  EXPECT_EQ(Count(FILES_MARKED_TRASH), 3u) << "the table";
  space_->SetDeleteRateBytesPerSecond(0);
  space_->AwaitEmptyTrash();
  EXPECT_EQ(BytesOnDisk("/db", /*with_trash=*/true), 100000u) << "what was nobody's of ours";
}

class FullDiskTest : public SpaceTest {
 protected:
  // The memtable's content does not fit.
  void Fill() {
    Open();
    WriteOptions unlogged;
    unlogged.disableWAL = true;
    ASSERT_OK(db_->Put(unlogged, "k", std::string(100000, 'v')));
    fs_->SetByteQuota(fs_->UsedBytes() + 1000);
    EXPECT_TRUE(db_->Flush(FlushOptions()).IsNoSpace());
    EXPECT_TRUE(db_->Put(unlogged, "l", "v").IsNoSpace());
  }
  void AwaitRecovery() { listener_->completed.wait(0); }
};

TEST_F(FullDiskTest, IsResumedFromWhenThereIsSpace) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  fs_->SetByteQuota(uint64_t{1} << 40);
  AwaitRecovery();
  EXPECT_EQ(listener_->begun, 1);
  EXPECT_EQ(Count(ERROR_HANDLER_AUTORESUME_COUNT), 1u);
  EXPECT_OK(db_->Put(WriteOptions(), "l", "v"));
  std::string value;
  EXPECT_OK(db_->Get(ReadOptions(), "k", &value));
  EXPECT_EQ(TablesAt(0), "1");
}

TEST_F(FullDiskTest, OfALogIsResumedFromToo) {
  Open();
  PutSome();
  fs_->SetByteQuota(fs_->UsedBytes());
  Status status;
  WriteOptions synced;
  synced.sync = true;
  while (status.ok()) status = db_->Put(synced, "k", std::string(100000, 'v'));
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  fs_->SetByteQuota(uint64_t{1} << 40);
  AwaitRecovery();
  EXPECT_OK(db_->Put(synced, "l", "v"));
}

TEST_F(FullDiskTest, IsLeftToACallIfAListenerSaysSo) {
  listener_->recovers = false;
  ASSERT_NO_FATAL_FAILURE(Fill());
  listener_->begun.wait(0);  // told after the flush has returned
  fs_->SetByteQuota(uint64_t{1} << 40);
  EXPECT_TRUE(db_->Put(WriteOptions(), "l", "v").IsNoSpace());
  EXPECT_OK(db_->Resume());
  EXPECT_OK(db_->Put(WriteOptions(), "l", "v"));
  EXPECT_EQ(listener_->begun, 1);
  EXPECT_EQ(Count(ERROR_HANDLER_AUTORESUME_COUNT), 0u);
}

// The watch looks again once it may.
TEST_F(FullDiskTest, IsNotResumedFromWhileBackgroundWorkIsPaused) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  ASSERT_OK(db_->PauseBackgroundWork());
  fs_->SetByteQuota(uint64_t{1} << 40);
  for (int i = 0; i < 3; i++) space_->watch()->LookAgain();
  EXPECT_EQ(listener_->completed, 0);
  EXPECT_TRUE(db_->Put(WriteOptions(), "l", "v").IsNoSpace());
  ASSERT_OK(db_->ContinueBackgroundWork());
  AwaitRecovery();
  EXPECT_OK(db_->Put(WriteOptions(), "l", "v"));
}

TEST_F(FullDiskTest, MayBeClosedWhileItWaits) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  IgnoreError(db_->Close(), "the disk is full");
  db_.reset();
  EXPECT_EQ(listener_->completed, 0);
}

TEST_F(FullDiskTest, IsResumedFromByACallBeforeTheWatchSeesIt) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  fs_->SetByteQuota(uint64_t{1} << 40);
  const Status status = db_->Resume();
  EXPECT_TRUE(status.ok() || status.IsBusy()) << status.ToString();
  AwaitRecovery();
  EXPECT_OK(db_->Put(WriteOptions(), "l", "v"));
}

TEST_F(SpaceTest, AManagerOfAnotherMakingIsRefused) {
  class Other final : public SstFileManager {
    void SetMaxAllowedSpaceUsage(uint64_t) override {}
    void SetCompactionBufferSize(uint64_t) override {}
    bool IsMaxAllowedSpaceReached() override { return false; }
    bool IsMaxAllowedSpaceReachedIncludingCompactions() override { return false; }
    uint64_t GetTotalSize() override { return 0; }
    std::unordered_map<std::string, uint64_t> GetTrackedFiles() override { return {}; }
    int64_t GetDeleteRateBytesPerSecond() override { return 0; }
    void SetDeleteRateBytesPerSecond(int64_t) override {}
    double GetMaxTrashDBRatio() override { return 0; }
    void SetMaxTrashDBRatio(double) override {}
    uint64_t GetTotalTrashSize() override { return 0; }
    void SetStatisticsPtr(const std::shared_ptr<Statistics>&) override {}
  };
  options_.sst_file_manager = std::make_shared<Other>();
  EXPECT_TRUE(DB::Open(options_, "/db", &db_).IsInvalidArgument());
}

}  // namespace
}  // namespace ashlar
