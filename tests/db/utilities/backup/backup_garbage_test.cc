// SPDX-License-Identifier: Apache-2.0
//
// Damaged backups, what may be collected beside them, and what is left of unfinished ones.
#include "env/fault/fault_file_system.h"
#include "tests/db/utilities/backup/backup_fixture.h"

namespace ashlar {
namespace {

class GarbageTest : public BackupTest {
 protected:
  // Backup 1 has a table that backup 2 does not have, and they share another one.
  void MakeTwo() {
    Open();
    OpenEngine();
    Put(0, 10, "value");
    CreateFlushed();
    Put(0, 20, "later");
    Flush();
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    CreateFlushed();
  }
  // Files of both, as they are now.
  std::vector<std::string> Shared() { return List("/backups/shared_checksum"); }
};

TEST_F(GarbageTest, OnlyWhatNobodyNamesIsCollected) {
  MakeTwo();
  const auto before = memory_->AllFiles();
  ASSERT_OK(engine_->GarbageCollect());
  Write("/backups/shared_checksum/000077_sAAAAAAAAAAAAAAAAAAAA_5.sst", "12345");
  Write("/backups/shared_checksum/.000078_sAAAAAAAAAAAAAAAAAAAA_5.sst.tmp", "123");
  Write("/backups/shared/000079.blob", "123");
  Write("/backups/private/3/CURRENT", "MANIFEST-1");
  Write("/backups/private/4.tmp/CURRENT", "MANIFEST-1");
  Write("/backups/meta/.3.tmp", "1\n2\n");
  ASSERT_OK(engine_->GarbageCollect());
  EXPECT_FALSE(Exists("/backups/private/3"));
  EXPECT_FALSE(Exists("/backups/private/4.tmp"));
  for (auto& [path, bytes] : memory_->AllFiles()) {
    EXPECT_TRUE(before.contains(path) || !path.starts_with(kBackupDir)) << path;
  }
  OpenEngine();
  EXPECT_OK(engine_->VerifyBackup(1, true));
  EXPECT_OK(engine_->VerifyBackup(2, true));
}

TEST_F(GarbageTest, ForeignFilesStay) {
  MakeTwo();
  Write("/backups/README", "mine");
  Write("/backups/meta/notes", "mine");
  Write("/backups/private/mine/x", "mine");
  Write("/backups/shared_checksum/notes.txt", "mine");
  ASSERT_OK(engine_->GarbageCollect());
  ASSERT_OK(engine_->PurgeOldBackups(0));
  for (const char* path : {"/backups/README", "/backups/meta/notes", "/backups/private/mine/x",
                           "/backups/shared_checksum/notes.txt"}) {
    EXPECT_EQ(Read(path), "mine");
  }
}

TEST_F(GarbageTest, ACorruptBackupIsListedAndKeepsItsFiles) {
  MakeTwo();
  const auto before = Shared();
  Write("/backups/meta/1", MetaOf(1) + "odd\n");
  OpenEngine();
  EXPECT_EQ(Ids(), std::vector<BackupID>{2});
  EXPECT_EQ(CorruptIds(), std::vector<BackupID>{1});
  BackupInfo info;
  EXPECT_TRUE(engine_->GetBackupInfo(1, &info).IsCorruption());
  EXPECT_TRUE(engine_->VerifyBackup(1).IsCorruption());
  EXPECT_TRUE(engine_->RestoreDBFromBackup(1, "/x", "/x").IsCorruption());
  ASSERT_OK(engine_->GarbageCollect());
  ASSERT_OK(engine_->PurgeOldBackups(1));
  EXPECT_EQ(Shared(), before);
  EXPECT_TRUE(Exists("/backups/private/1/CURRENT"));
  ASSERT_OK(engine_->DeleteBackup(1));
  EXPECT_LT(Shared().size(), before.size());
  EXPECT_FALSE(Exists("/backups/private/1"));
  EXPECT_FALSE(Exists("/backups/meta/1"));
  EXPECT_OK(engine_->VerifyBackup(2, true));
}

// Mended by hand, it is a backup again.
TEST_F(GarbageTest, ACorruptBackupCanBeMended) {
  MakeTwo();
  const std::string meta = MetaOf(1);
  Write("/backups/meta/1", meta + "odd\n");
  OpenEngine();
  ASSERT_OK(engine_->GarbageCollect());
  Create();
  Write("/backups/meta/1", meta);
  OpenEngine();
  EXPECT_EQ(Ids(), (std::vector<BackupID>{1, 2, 3}));
  Close();
  EXPECT_EQ(RowsOf(1), Expected(0, 10, "value"));
}

TEST_F(GarbageTest, AMissingFileMakesABackupCorrupt) {
  MakeTwo();
  ASSERT_OK(memory_->DeleteFile("/backups/private/2/CURRENT", IOOptions(), nullptr));
  OpenEngine();
  EXPECT_EQ(Ids(), std::vector<BackupID>{1});
  EXPECT_EQ(CorruptIds(), std::vector<BackupID>{2});
  EXPECT_EQ(Create(), 3u);
}

TEST_F(GarbageTest, BackupsThatContradictEachOtherAreTold) {
  Open();
  OpenEngine();
  Put(0, 10, "value");
  CreateFlushed();
  CreateFlushed();
  std::string meta = MetaOf(1);
  const size_t at = meta.find(".sst crc32 ") + 11;
  meta[at] = meta[at] == '1' ? '2' : '1';
  Write("/backups/meta/1", meta);
  OpenEngine();
  EXPECT_EQ(Ids(), std::vector<BackupID>{2});
  EXPECT_EQ(CorruptIds(), std::vector<BackupID>{1});
}

TEST_F(GarbageTest, NothingIsCollectedBesideANewerSchema) {
  MakeTwo();
  Write("/backups/meta/7", "schema_version 3.0\nwhatever\n");
  OpenEngine();
  EXPECT_EQ(CorruptIds(), std::vector<BackupID>{7});
  BackupInfo info;
  EXPECT_TRUE(engine_->GetBackupInfo(7, &info).IsNotSupported());
  Write("/backups/shared_checksum/000077_sAAAAAAAAAAAAAAAAAAAA_5.sst", "12345");
  const IOStatus collected = engine_->GarbageCollect();
  EXPECT_TRUE(collected.IsNotSupported());
  EXPECT_NE(collected.ToString().find("/backups/meta/7"), std::string::npos)
      << collected.ToString();
  const auto before = Shared();
  EXPECT_OK(engine_->DeleteBackup(1));
  EXPECT_EQ(Shared(), before);
  EXPECT_FALSE(Exists("/backups/private/1"));
  EXPECT_EQ(Create(), 8u);
  ASSERT_OK(engine_->DeleteBackup(7));
  ASSERT_OK(engine_->GarbageCollect());
  EXPECT_LT(Shared().size(), before.size());
}

TEST_F(GarbageTest, AnErrorOfOneMetaFileIsNotOneOfTheEngine) {
  MakeTwo();
  const auto faulty = std::make_shared<FaultFileSystem>(memory_);
  UseFiles(faulty);
  faulty->AddFault(
      {.mode = FaultMode::kSticky, .kinds = KindBit(CallKind::kOpenRead), .path_part = "/meta/1"});
  OpenEngine();
  EXPECT_EQ(Ids(), std::vector<BackupID>{2});
  EXPECT_EQ(CorruptIds(), std::vector<BackupID>{1});
  EXPECT_TRUE(engine_->GarbageCollect().IsIOError());
  faulty->ClearFaults();
  OpenEngine();
  EXPECT_EQ(Ids(), (std::vector<BackupID>{1, 2}));
  EXPECT_OK(engine_->VerifyBackup(1, true));
}

// The meta file could not be read when the engine was opened, so nobody seems to name its table.
TEST_F(GarbageTest, AStoppedBackupLeavesTheFilesOfOneThatCannotBeRead) {
  backup_options_.callback_trigger_interval_size = 1;
  Open();
  OpenEngine();
  Put(0, 10, "value");
  CreateFlushed();
  const auto faulty = std::make_shared<FaultFileSystem>(memory_);
  UseFiles(faulty);
  faulty->AddFault(
      {.mode = FaultMode::kSticky, .kinds = KindBit(CallKind::kOpenRead), .path_part = "/meta/1"});
  Open();
  OpenEngine();
  ASSERT_EQ(CorruptIds(), std::vector<BackupID>{1});
  CreateBackupOptions options;
  options.progress_callback = [this] { engine_->StopBackup(); };
  EXPECT_TRUE(engine_->CreateNewBackup(options, db_.get()).IsIncomplete());
  faulty->ClearFaults();
  OpenEngine();
  EXPECT_EQ(Ids(), std::vector<BackupID>{1});
  EXPECT_OK(engine_->VerifyBackup(1, /*verify_with_checksum=*/true));
}

// Not only the first attempt, whose id the other backup has, is refused.
TEST_F(GarbageTest, BesideAnUnknownBackupNoOtherIsMade) {
  Open();
  Put(0, 10, "value");
  OpenEngine();
  const std::unique_ptr<BackupEngine> other = std::move(engine_);
  OpenEngine();
  CreateFlushed();
  for (int i = 0; i < 3; i++) {
    EXPECT_TRUE(other->CreateNewBackup(CreateBackupOptions(), db_.get()).IsAborted()) << i;
  }
  EXPECT_EQ(List("/backups/meta"), std::vector<std::string>{"1"});
  EXPECT_OK(engine_->VerifyBackup(1, /*verify_with_checksum=*/true));
}

TEST_F(GarbageTest, ADeletionLeavesTheFilesOfAnUnknownBackup) {
  Open();
  Put(0, 10, "value");
  OpenEngine();
  CreateFlushed();
  const std::unique_ptr<BackupEngine> other = std::move(engine_);
  OpenEngine();
  ASSERT_EQ(Create(), 2u);
  EXPECT_OK(other->DeleteBackup(1));
  EXPECT_FALSE(Exists("/backups/meta/1"));
  EXPECT_OK(engine_->VerifyBackup(2, /*verify_with_checksum=*/true));
}

TEST_F(GarbageTest, TheFirstCreationCollectsWhatAnEarlierEngineLeft) {
  MakeTwo();
  Write("/backups/shared_checksum/000077_sAAAAAAAAAAAAAAAAAAAA_5.sst", "12345");
  Write("/backups/private/3/stale", "x");
  OpenEngine();
  EXPECT_TRUE(Exists("/backups/private/3/stale"));
  EXPECT_EQ(Create(), 3u);
  EXPECT_FALSE(Exists("/backups/private/3/stale"));
  EXPECT_FALSE(Exists("/backups/shared_checksum/000077_sAAAAAAAAAAAAAAAAAAAA_5.sst"));
}

}  // namespace
}  // namespace ashlar
