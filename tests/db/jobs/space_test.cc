// SPDX-License-Identifier: Apache-2.0
//
// Databases that share an SstFileManager: the files that it counts, the space limit, paced
// deletions, and recovery from a full disk.
#include <atomic>
#include <chrono>
#include <semaphore>

#include "ashlar/listener.h"
#include "ashlar/sst_file_writer.h"
#include "env/file_util.h"
#include "env/space/sst_file_manager_impl.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int64_t kOneByteASecond = 1;

class SpaceListener final : public EventListener {
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

class SpaceTest : public DbTest {
 protected:
  SpaceTest() {
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.statistics = CreateDBStatistics();
    options_.listeners = {listener_};
    Make(0);
  }
  void Make(int64_t rate) {
    space_ = std::make_shared<SstFileManagerImpl>(
        PacedDeleterOptions{
            .fs = memory_, .clock = env_->GetSystemClock(), .bytes_per_second = rate},
        SstFileManagerImpl::Settings{.max_trash_ratio = 1e9, .poll_micros = 100});
    options_.sst_file_manager = space_;
  }
  void PutSome(size_t bytes = 1000) {
    for (int i = 0; i < 10; i++) Put(StrCat("k", i), std::string(bytes, 'v'));
  }
  Status Compact() {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    return db_->CompactRange(options, nullptr, nullptr);
  }
  // The bytes of tables and blob files, and of the trash if asked for. A paced deletion may delete a
  // file between the listing and the question for its size; such a file counts as nothing.
  uint64_t BytesOnDisk(const std::string& dir = "/db", bool with_trash = false) const {
    uint64_t bytes = 0;
    auto names = ListDirectory(memory_.get(), dir);
    if (!names.ok()) return 0;
    for (const std::string& name : *names) {
      const bool is_counted =
          name.ends_with(".sst") || name.ends_with(".blob") || (with_trash && IsTrashName(name));
      if (!is_counted) continue;
      const Result<uint64_t> size = FileSizeOf(memory_.get(), StrCat(dir, "/", name));
      if (size.ok()) bytes += size.value();
    }
    return bytes;
  }
  const std::shared_ptr<SpaceListener> listener_ = std::make_shared<SpaceListener>();
  std::shared_ptr<SstFileManagerImpl> space_;
};

TEST_F(SpaceTest, CountsTablesAndBlobFilesThroughTheirLives) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 500;
  Open();
  for (int i = 0; i < 3; i++) {
    PutSome();
    Put("small", "value");
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
  Close();
  EXPECT_EQ(space_->GetTotalSize(), 0u) << "a closed database has no files";
  Open();
  EXPECT_EQ(space_->GetTotalSize(), BytesOnDisk());
}

TEST_F(SpaceTest, IsSharedAndOutlivesTheDatabases) {
  TestDb other(memory_, options_);
  other.dir() = "/other";
  Open();
  other.Open();
  other.Put("k", std::string(10000, 'v'));
  other.Flush();
  Put("k");
  Flush();
  EXPECT_EQ(space_->GetTotalSize(), BytesOnDisk("/db") + BytesOnDisk("/other"));
  Close();
  EXPECT_EQ(space_->GetTotalSize(), BytesOnDisk("/other"));
  other.Close();
  EXPECT_TRUE(space_->GetTrackedFiles().empty());
}

TEST_F(SpaceTest, ForgetsObsoleteFilesOfADatabaseThatIsClosedWithDeletionsDisabled) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 500;
  Open();
  ASSERT_OK(db_->DisableFileDeletions());
  for (int i = 0; i < 2; i++) {
    PutSome();
    Flush();
  }
  ASSERT_OK(Compact());
  EXPECT_EQ(FilesOnDisk(".sst"), 3);
  EXPECT_EQ(FilesOnDisk(".blob"), 2);
  Close();
  EXPECT_EQ(FilesOnDisk(".sst"), 3);
  EXPECT_TRUE(space_->GetTrackedFiles().empty());
  EXPECT_EQ(space_->GetTotalSize(), 0u);
}

TEST_F(SpaceTest, ForgetsFilesThatAHandleOfADroppedFamilyHolds) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 500;
  Open();
  ColumnFamilyHandle* const family = CreateFamily("f");
  Put(family, "small", "v");
  Put(family, "large", std::string(1000, 'v'));
  Flush(family);
  ASSERT_OK(db_->DropColumnFamily(family));
  EXPECT_GT(space_->GetTotalSize(), 1000u) << "the handle still reads them";
  ASSERT_OK(db_->Close());
  EXPECT_TRUE(space_->GetTrackedFiles().empty());
  EXPECT_EQ(space_->GetTotalSize(), 0u);
}

TEST_F(SpaceTest, ForgetsFilesThatAnIteratorHolds) {
  Open();
  Put("k", "1");
  Flush();
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  Put("k", "2");
  Flush();
  ASSERT_OK(Compact());
  EXPECT_EQ(FilesOnDisk(".sst"), 2) << "the output, and the table of the iterator";
  ASSERT_OK(db_->Close());
  EXPECT_EQ(space_->GetTotalSize(), 0u);
}

TEST_F(SpaceTest, AFlushThatReachesTheLimitEndsWritesUntilThereIsRoom) {
  Open();
  space_->SetMaxAllowedSpaceUsage(1000);
  PutSome();
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsSpaceLimit());
  EXPECT_EQ(TableCount(0), 1) << "the flush itself took effect";
  EXPECT_TRUE(db_->Put(WriteOptions(), "k", "v").IsSpaceLimit());
  EXPECT_TRUE(db_->Resume().IsSpaceLimit());
  EXPECT_TRUE(db_->Put(WriteOptions(), "k", "v").IsSpaceLimit());
  space_->SetMaxAllowedSpaceUsage(0);
  ASSERT_OK(db_->Resume());
  Put("k", "v");
  Flush();
  EXPECT_EQ(listener_->begun, 0) << "only Resume() recovers from a limit";
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
  options_.listeners = {filler};
  Reopen();
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
  EXPECT_EQ(Ticks(COMPACTION_CANCELLED), 1u);
  EXPECT_EQ(TableCount(0), 2);
  space_->SetMaxAllowedSpaceUsage(2 * bytes);
  space_->SetCompactionBufferSize(1);
  EXPECT_TRUE(Compact().IsCompactionTooLarge());
  space_->SetCompactionBufferSize(0);
  EXPECT_OK(Compact());
  EXPECT_EQ(TableCount(0), 0);
  space_->SetMaxAllowedSpaceUsage(space_->GetTotalSize() + 1);
  EXPECT_FALSE(space_->IsMaxAllowedSpaceReachedIncludingCompactions())
      << "the space that it had reserved is free";
}

TEST_F(SpaceTest, SoIsOneOfNamedFiles) {
  Open();
  for (int i = 0; i < 2; i++) {
    PutSome();
    Flush();
  }
  const uint64_t bytes = BytesOnDisk();
  const auto compact = [&] {
    return db_->CompactFiles(CompactionOptions(), TableNames(0), /*output_level=*/1);
  };
  space_->SetMaxAllowedSpaceUsage(2 * bytes - 1);
  const Status refused = compact();
  EXPECT_TRUE(refused.IsCompactionTooLarge()) << refused.ToString();
  EXPECT_EQ(Ticks(COMPACTION_CANCELLED), 1u);
  EXPECT_EQ(TableCount(0), 2);
  EXPECT_OK(db_->Put(WriteOptions(), "k", "v")) << "nothing has reached the limit";
  space_->SetMaxAllowedSpaceUsage(2 * bytes);
  EXPECT_OK(compact());
  EXPECT_EQ(TableCount(0), 0);
  space_->SetMaxAllowedSpaceUsage(space_->GetTotalSize() + 1);
  EXPECT_FALSE(space_->IsMaxAllowedSpaceReachedIncludingCompactions())
      << "the space that it had reserved is free";
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
  EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions())) << "it is not retried at once";
  EXPECT_EQ(TableCount(0), 2);
  EXPECT_GE(Ticks(COMPACTION_CANCELLED), 1u);
  Put("k", "v");
  space_->SetMaxAllowedSpaceUsage(0);
  waiter->done.wait(false);
  EXPECT_EQ(TableCount(0), 0);
}

// Two compactions did not fit, the larger one last.
TEST_F(SpaceTest, ACompactionThatFitsDoesNotWaitForALargerOne) {
  struct Waiter : public EventListener {
    void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
      if (info.cf_name == "small") done.release();
    }
    std::counting_semaphore<> done{0};
  };
  const auto waiter = std::make_shared<Waiter>();
  options_.listeners = {waiter};
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  ColumnFamilyHandle* const small = CreateFamily("small");
  ColumnFamilyHandle* const large = CreateFamily("large");
  for (int i = 0; i < 2; i++) {
    Put(small, "k", std::string(1000, 'v'));
    Flush(small);
  }
  const uint64_t bytes_of_small = BytesOnDisk();
  for (int i = 0; i < 2; i++) {
    Put(large, "k", std::string(100000, 'v'));
    Flush(large);
  }
  const uint64_t bytes = BytesOnDisk();
  space_->SetMaxAllowedSpaceUsage(bytes + bytes_of_small - 1);
  for (ColumnFamilyHandle* family : {small, large}) {
    const uint64_t refused = Ticks(COMPACTION_CANCELLED);
    ASSERT_OK(db_->EnableAutoCompaction({family}));
    WaitForJobs();
    EXPECT_GT(Ticks(COMPACTION_CANCELLED), refused) << family->GetName();
  }
  space_->SetMaxAllowedSpaceUsage(bytes + bytes_of_small);
  EXPECT_TRUE(waiter->done.try_acquire_for(std::chrono::minutes(1))) << "it waits for ever";
  EXPECT_EQ(TableCount(0, small), 0);
  EXPECT_EQ(TableCount(0, large), 2);
}

TEST_F(SpaceTest, ObsoleteFilesWaitAsTrashThatTheNextOpenDeletes) {
  Make(kOneByteASecond);
  Open();
  for (int i = 0; i < 3; i++) {
    PutSome();
    Flush();
  }
  ASSERT_OK(Compact());
  EXPECT_EQ(Ticks(FILES_MARKED_TRASH), 3u);
  EXPECT_GT(BytesOnDisk("/db", /*with_trash=*/true), BytesOnDisk());
  EXPECT_GE(space_->GetTotalSize(), BytesOnDisk());
  Close();
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
  Close();
  for (const char* name : {"/db/000899.sst.trash", "/db/000900.sst.trash", "/db/notes.trash"}) {
    memory_->PutFile(name, std::string(100000, 't'));
  }
  Open();
  EXPECT_EQ(Ticks(FILES_MARKED_TRASH), 2u);
  EXPECT_GE(space_->GetTotalSize(), BytesOnDisk() + 100000);
  EXPECT_OK(memory_->FileExists(foreign, IOOptions(), nullptr));
  space_->SetDeleteRateBytesPerSecond(0);
  space_->AwaitEmptyTrash();
  EXPECT_TRUE(memory_->FileExists(trash, IOOptions(), nullptr).IsNotFound());
  EXPECT_EQ(space_->GetTotalSize(), BytesOnDisk());
  Close();
  space_->SetDeleteRateBytesPerSecond(kOneByteASecond);
  ASSERT_OK(DestroyDB("/db", options_));
  EXPECT_EQ(Ticks(FILES_MARKED_TRASH), 3u) << "the table";
  space_->SetDeleteRateBytesPerSecond(0);
  space_->AwaitEmptyTrash();
  EXPECT_EQ(BytesOnDisk("/db", /*with_trash=*/true), 100000u)
      << "the file that is not a file of the database";
}

class FullDiskTest : public SpaceTest {
 protected:
  // The disk has no room for the table of a flush.
  void Fill() {
    Open();
    ASSERT_OK(db_->Put(Unlogged(), "k", std::string(100000, 'v')));
    memory_->SetByteQuota(memory_->UsedBytes() + 1000);
    EXPECT_TRUE(db_->Flush(FlushOptions()).IsNoSpace());
    EXPECT_TRUE(db_->Put(Unlogged(), "l", "v").IsNoSpace());
  }
  void AwaitRecovery() { listener_->completed.wait(0); }
};

TEST_F(FullDiskTest, IsResumedFromWhenThereIsSpace) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  memory_->SetByteQuota(uint64_t{1} << 40);
  AwaitRecovery();
  EXPECT_EQ(listener_->begun, 1);
  EXPECT_EQ(Ticks(ERROR_HANDLER_AUTORESUME_COUNT), 1u);
  Put("l", "v");
  EXPECT_EQ(Get("k").size(), 100000u);
  EXPECT_EQ(TableCount(0), 1);
}

TEST_F(FullDiskTest, OfALogIsResumedFromToo) {
  Open();
  PutSome();
  memory_->SetByteQuota(memory_->UsedBytes());
  Status status;
  while (status.ok()) status = db_->Put(Synced(), "k", std::string(100000, 'v'));
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  memory_->SetByteQuota(uint64_t{1} << 40);
  AwaitRecovery();
  EXPECT_OK(db_->Put(Synced(), "l", "v"));
}

TEST_F(FullDiskTest, IsLeftToACallIfAListenerSaysSo) {
  listener_->recovers = false;
  ASSERT_NO_FATAL_FAILURE(Fill());
  listener_->begun.wait(0);  // the call may come after the flush has returned
  memory_->SetByteQuota(uint64_t{1} << 40);
  EXPECT_TRUE(db_->Put(WriteOptions(), "l", "v").IsNoSpace());
  EXPECT_OK(db_->Resume());
  Put("l", "v");
  EXPECT_EQ(listener_->begun, 1);
  EXPECT_EQ(Ticks(ERROR_HANDLER_AUTORESUME_COUNT), 0u);
}

// The watch looks again once it may.
TEST_F(FullDiskTest, IsNotResumedFromWhileBackgroundWorkIsPaused) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  ASSERT_OK(db_->PauseBackgroundWork());
  memory_->SetByteQuota(uint64_t{1} << 40);
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
  Drop();
  EXPECT_EQ(listener_->completed, 0);
}

TEST_F(FullDiskTest, IsResumedFromByACallBeforeTheWatchSeesIt) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  memory_->SetByteQuota(uint64_t{1} << 40);
  const Status status = db_->Resume();
  EXPECT_TRUE(status.ok() || status.IsBusy()) << status.ToString();
  AwaitRecovery();
  Put("l", "v");
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
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
}

}  // namespace
}  // namespace ashlar
