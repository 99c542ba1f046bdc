// SPDX-License-Identifier: Apache-2.0
//
// The calls of a backup engine.
#include "ashlar/utilities/backup_engine.h"

#include "ashlar/statistics.h"
#include "tests/db/utilities/backup/backup_fixture.h"

namespace ashlar {
namespace {

using BackupEngineTest = BackupTest;

TEST_F(BackupEngineTest, ABackupHoldsTheStateOfItsTime) {
  Open();
  OpenEngine();
  Put(0, 100, "flushed");
  Flush();
  Put(100, 200, "in the log");
  EXPECT_EQ(Create(), 1u);
  Put(0, 300, "later");
  EXPECT_EQ(Create(), 2u);
  Close();
  Rows first = Expected(0, 100, "flushed");
  first.merge(Expected(100, 200, "in the log"));
  EXPECT_EQ(RowsOf(1), first);
  EXPECT_EQ(RowsOf(2), Expected(0, 300, "later"));
}

TEST_F(BackupEngineTest, IdsCountOnInTheNextEngine) {
  Open();
  OpenEngine();
  Create();
  Create();
  ASSERT_OK(engine_->DeleteBackup(1));
  OpenEngine();
  EXPECT_EQ(Ids(), std::vector<BackupID>{2});
  EXPECT_EQ(Create(), 3u);
  EXPECT_EQ(RowsOf(3), Rows());
}

TEST_F(BackupEngineTest, TheNextEngineUsesTheIdsOfDeletedNewestBackupsAgain) {
  Open();
  OpenEngine();
  Create();
  Create();
  ASSERT_OK(engine_->DeleteBackup(2));
  EXPECT_EQ(Create(), 3u);
  ASSERT_OK(engine_->DeleteBackup(3));
  OpenEngine();
  EXPECT_EQ(Create(), 2u);
}

TEST_F(BackupEngineTest, MakesTheDirectoriesThatItsOptionsNeed) {
  OpenEngine();
  EXPECT_EQ(List(kBackupDir), (std::vector<std::string>{"meta", "private", "shared_checksum"}));
  backup_options_.backup_dir = "/other";
  backup_options_.share_files_with_checksum = false;
  OpenEngine();
  EXPECT_EQ(List("/other"), (std::vector<std::string>{"meta", "private", "shared"}));
  backup_options_.backup_dir = "/third/";
  backup_options_.share_table_files = false;
  OpenEngine();
  EXPECT_EQ(List("/third"), (std::vector<std::string>{"meta", "private"}));
}

TEST_F(BackupEngineTest, InfoCountsWhatABackupHas) {
  Open();
  OpenEngine();
  Put(0, 100, "value");
  Flush();
  ASSERT_OK(engine_->CreateNewBackupWithMetadata(CreateBackupOptions(), db_.get(), "of the\nday"));
  BackupInfo info;
  ASSERT_OK(engine_->GetLatestBackupInfo(&info, /*include_file_details=*/true));
  EXPECT_EQ(info.backup_id, 1u);
  EXPECT_EQ(info.app_metadata, "of the\nday");
  int64_t now = 0;
  ASSERT_OK(env_->GetCurrentTime(&now));
  EXPECT_LE(now - info.timestamp, 100);
  EXPECT_EQ(info.number_files, info.file_details.size());
  uint64_t bytes = 0;
  for (const BackupFileInfo& file : info.file_details) {
    EXPECT_EQ(file.directory, "/backups/private/1");
    bytes += file.size;
  }
  EXPECT_EQ(info.size, bytes);
  EXPECT_EQ("/backups/" + info.file_details[0].relative_filename, SharedFile());
  EXPECT_EQ(info.file_details[0].file_type, kTableFile);
  EXPECT_EQ(info.name_for_open, "/backups/private/1");
  EXPECT_TRUE(info.excluded_files.empty());
}

TEST_F(BackupEngineTest, InfoWithoutDetailsHasNone) {
  Open();
  OpenEngine();
  Create();
  std::vector<BackupInfo> infos;
  engine_->GetBackupInfo(&infos);
  ASSERT_EQ(infos.size(), 1u);
  EXPECT_TRUE(infos[0].file_details.empty());
  EXPECT_TRUE(infos[0].name_for_open.empty());
  EXPECT_EQ(infos[0].env_for_open, nullptr);
}

TEST_F(BackupEngineTest, ABackupThatIsNotThereIsNotFound) {
  OpenEngine();
  BackupInfo info;
  EXPECT_TRUE(engine_->GetBackupInfo(1, &info).IsNotFound());
  EXPECT_TRUE(engine_->GetLatestBackupInfo(&info).IsNotFound());
  EXPECT_TRUE(engine_->VerifyBackup(1).IsNotFound());
  EXPECT_TRUE(engine_->DeleteBackup(1).IsNotFound());
  EXPECT_TRUE(engine_->RestoreDBFromBackup(1, "/x", "/x").IsNotFound());
  EXPECT_TRUE(engine_->RestoreDBFromLatestBackup("/x", "/x").IsNotFound());
  EXPECT_FALSE(Exists("/x"));
  EXPECT_OK(engine_->PurgeOldBackups(0));
}

TEST_F(BackupEngineTest, PurgeKeepsTheNewestOnes) {
  Open();
  OpenEngine();
  for (int i = 0; i < 4; i++) {
    Put(i, i + 1, "value");
    CreateFlushed();
  }
  ASSERT_OK(engine_->PurgeOldBackups(2));
  EXPECT_EQ(Ids(), (std::vector<BackupID>{3, 4}));
  EXPECT_EQ(List("/backups/meta"), (std::vector<std::string>{"3", "4"}));
  EXPECT_EQ(List("/backups/private"), (std::vector<std::string>{"3", "4"}));
  EXPECT_EQ(RowsOf(3), Expected(0, 3, "value"));
  ASSERT_OK(engine_->PurgeOldBackups(7));
  EXPECT_EQ(Ids(), (std::vector<BackupID>{3, 4}));
  ASSERT_OK(engine_->PurgeOldBackups(0));
  EXPECT_TRUE(List("/backups/shared_checksum").empty());
  EXPECT_TRUE(List("/backups/private").empty());
}

TEST_F(BackupEngineTest, DeletingOneKeepsWhatOthersShare) {
  Open();
  OpenEngine();
  Put(0, 10, "value");
  CreateFlushed();
  Put(10, 20, "value");
  CreateFlushed();
  EXPECT_EQ(List("/backups/shared_checksum").size(), 2u);
  ASSERT_OK(engine_->DeleteBackup(1));
  EXPECT_EQ(List("/backups/shared_checksum").size(), 2u);
  EXPECT_OK(engine_->VerifyBackup(2, /*verify_with_checksum=*/true));
  EXPECT_EQ(RowsOf(2), Expected(0, 20, "value"));
}

TEST_F(BackupEngineTest, VerifyFindsWhatIsMissingOrOfAnotherSize) {
  Open();
  OpenEngine();
  Put(0, 10, "value");
  CreateFlushed();
  EXPECT_OK(engine_->VerifyBackup(1));
  const std::string table = SharedFile(), bytes = Read(table);
  Write(table, bytes + "x");
  EXPECT_TRUE(engine_->VerifyBackup(1).IsCorruption());
  ASSERT_OK(memory_->DeleteFile(table, IOOptions(), nullptr));
  EXPECT_TRUE(engine_->VerifyBackup(1).IsNotFound());
  Write(table, bytes);
  EXPECT_OK(engine_->VerifyBackup(1));
}

TEST_F(BackupEngineTest, OnlyVerifyingChecksumsFindsAChangedByte) {
  Open();
  OpenEngine();
  Put(0, 10, "value");
  CreateFlushed();
  FlipByte(SharedFile(), 100);
  EXPECT_OK(engine_->VerifyBackup(1));
  EXPECT_TRUE(engine_->VerifyBackup(1, /*verify_with_checksum=*/true).IsCorruption());
  EXPECT_TRUE(engine_->RestoreDBFromBackup(1, "/x", "/x").IsCorruption());
  EXPECT_FALSE(Exists("/x/CURRENT"));
}

TEST_F(BackupEngineTest, DestroyOldDataBeginsAnew) {
  Open();
  OpenEngine();
  Put(0, 10, "value");
  CreateFlushed();
  Create();
  Write("/backups/meta/3", "schema_version 9\n");
  backup_options_.destroy_old_data = true;
  OpenEngine();
  EXPECT_TRUE(Ids().empty());
  EXPECT_TRUE(CorruptIds().empty());
  EXPECT_TRUE(List("/backups/meta").empty());
  EXPECT_TRUE(List("/backups/private").empty());
  EXPECT_TRUE(List("/backups/shared_checksum").empty());
  EXPECT_EQ(RowsOf(CreateFlushed()), Expected(0, 10, "value"));
  EXPECT_EQ(Ids(), std::vector<BackupID>{1}) << "ids begin anew, too";
}

TEST_F(BackupEngineTest, OptionsThatContradictThemselvesAreRefusedAtOpen) {
  backup_options_.schema_version = 0;
  EXPECT_TRUE(TryOpenEngine().IsInvalidArgument());
  backup_options_.schema_version = 3;
  EXPECT_TRUE(TryOpenEngine().IsNotSupported());
  backup_options_.schema_version = 2;
  backup_options_.share_files_with_checksum_naming =
      static_cast<BackupEngineOptions::ShareFilesNaming>(3);
  EXPECT_TRUE(TryOpenEngine().IsInvalidArgument());
  backup_options_.share_files_with_checksum_naming = BackupEngineOptions::kUseDbSessionId;
  backup_options_.backup_dir.clear();
  EXPECT_TRUE(TryOpenEngine().IsInvalidArgument());
  EXPECT_FALSE(Exists(kBackupDir));
}

TEST_F(BackupEngineTest, CallsThatCannotBeMeantAreRefused) {
  Open();
  OpenEngine();
  CreateBackupOptions options;
  EXPECT_TRUE(
      engine_->CreateNewBackupWithMetadata(options, db_.get(), std::string((1 << 20) + 1, 'x'))
          .IsInvalidArgument());
  options.exclude_files_callback = [](MaybeExcludeBackupFile*, MaybeExcludeBackupFile*) {};
  EXPECT_TRUE(engine_->CreateNewBackup(options, db_.get()).IsInvalidArgument());
  EXPECT_TRUE(Ids().empty());
}

TEST_F(BackupEngineTest, BackupsInTheDirectoryOfTheDatabaseSurviveIt) {
  Open();
  Put(0, 10, "value");
  backup_options_.backup_dir = kDbDir;
  OpenEngine();
  Create();
  Put(0, 20, "later");
  Flush();
  Compact();
  Reopen();
  Create();
  EXPECT_EQ(Ids().size(), 2u);
  ASSERT_OK(engine_->VerifyBackup(1, true));
  Close();
  // It would begin with deleting the backups.
  EXPECT_TRUE(
      engine_->RestoreDBFromBackup(RestoreOptions(), 1, kDbDir, kDbDir).IsInvalidArgument());
  ASSERT_OK(engine_->RestoreDBFromBackup(RestoreOptions(), 1, "/restored", "/restored"));
}

TEST_F(BackupEngineTest, ReaderListsAndRestoresAndChangesNothing) {
  Open();
  OpenEngine();
  Put(0, 10, "value");
  Create();
  Create();
  engine_.reset();
  Close();
  const auto before = memory_->AllFiles();
  const auto reader = OpenReader();
  EXPECT_EQ(reader->AsBackupEngine(), nullptr);
  EXPECT_EQ(memory_->AllFiles(), before);
  ASSERT_OK(reader->RestoreDBFromLatestBackup("/x", "/x"));
  EXPECT_EQ(RowsOf("/x"), Expected(0, 10, "value"));
}

TEST_F(BackupEngineTest, ReaderOfNothingIsNotFoundAndMakesNothing) {
  BackupEngineReadOnly* reader = nullptr;
  const IOStatus status = BackupEngineReadOnly::Open(env_.get(), backup_options_, &reader);
  EXPECT_TRUE(status.IsNotFound()) << status.ToString();
  EXPECT_EQ(reader, nullptr);
  EXPECT_FALSE(Exists(kBackupDir));
  backup_options_.destroy_old_data = true;
  EXPECT_TRUE(BackupEngineReadOnly::Open(env_.get(), backup_options_, &reader).IsInvalidArgument());
}

TEST_F(BackupEngineTest, OnlyReadersLeaveOldBackupsOut) {
  Open();
  OpenEngine();
  Create();
  Create();
  Create();
  backup_options_.max_valid_backups_to_open = 2;
  OpenEngine();
  EXPECT_EQ(Ids().size(), 3u);
  std::vector<BackupInfo> infos;
  OpenReader()->GetBackupInfo(&infos);
  ASSERT_EQ(infos.size(), 2u);
  EXPECT_EQ(infos[0].backup_id, 2u);
}

TEST_F(BackupEngineTest, BlobFilesAndFamiliesComeAlong) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 100;
  Open();
  OpenEngine();
  ColumnFamilyHandle* const family = CreateFamily("other");
  Put(family, "large", std::string(1000, 'x'));
  Flush(family);
  Put(family, "small", "y");
  Put(0, 10, "value");
  Create();
  EXPECT_TRUE(SharedFile(".blob").find("/0000") != std::string::npos);
  Close();
  ASSERT_OK(engine_->RestoreDBFromLatestBackup("/x", "/x"));
  dir_ = "/x";
  OpenAll();
  Contents contents = ReadAll();
  EXPECT_EQ(contents["other"], (Rows{{"large", std::string(1000, 'x')}, {"small", "y"}}));
  EXPECT_EQ(contents["default"], Expected(0, 10, "value"));
}

TEST_F(BackupEngineTest, LogsInADirectoryOfTheirOwnAreTaken) {
  options_.wal_dir = "/logs";
  Open();
  OpenEngine();
  Put(0, 10, "value");
  Create();
  Close();
  ASSERT_OK(engine_->RestoreDBFromBackup(1, "/x", "/xlogs"));
  for (const std::string& name : List("/x")) EXPECT_FALSE(name.ends_with(".log")) << name;
  EXPECT_EQ(List("/xlogs").size(), 1u);
  EXPECT_EQ(RowsOf("/x", "/xlogs"), Expected(0, 10, "value"));
}

TEST_F(BackupEngineTest, WithoutLogsOnlyWhatWasFlushedIsTaken) {
  backup_options_.backup_log_files = false;
  Open();
  OpenEngine();
  Put(0, 10, "flushed");
  Flush();
  Put("key", "in the log");
  Create();
  for (const std::string& name : List("/backups/private/1")) {
    EXPECT_FALSE(name.ends_with(".log")) << name;
  }
  EXPECT_EQ(RowsOf(1), Expected(0, 10, "flushed"));
  CreateFlushed();
  EXPECT_EQ(RowsOf(2).size(), 11u);
}

TEST_F(BackupEngineTest, TablesInSeveralDirectoriesAreNotSupported) {
  Open();
  OpenEngine();
  Options elsewhere = options_;
  elsewhere.cf_paths = {{"/more", 1 << 30}};
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(elsewhere, "elsewhere", &family));
  Put(family, "key", "value");
  Flush(family);
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  Put(0, 10, "value");
  Flush();
  const IOStatus status = engine_->CreateNewBackup(CreateBackupOptions(), db_.get());
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_TRUE(List("/backups/private").empty());
}

TEST_F(BackupEngineTest, ReportsToTheLogThatTheDatabaseHasOpened) {
  Open();
  OpenEngine();
  Create();
  EXPECT_NE(Read("/db/LOG").find("Backup 1 is made"), std::string::npos);
}

TEST_F(BackupEngineTest, OneDirectoryMayBeSpelledInSeveralWays) {
  OpenEngine();
  for (const char* const spelling : {"/db/", "/db/../db"}) {
    options_.db_paths = {{kDbDir, 1 << 30}};
    dir_ = spelling;
    Open();
    Put(0, 10, spelling);
    Flush();
    const BackupID id = Create();
    Close();
    options_.db_paths.clear();  // where it is restored
    EXPECT_EQ(RowsOf(id), Expected(0, 10, spelling));
  }
}

TEST_F(BackupEngineTest, BytesReadAndWrittenAreCounted) {
  options_.statistics = CreateDBStatistics();
  Open();
  OpenEngine();
  Put(0, 10, "value");
  CreateFlushed();
  BackupInfo info;
  ASSERT_OK(engine_->GetLatestBackupInfo(&info));
  EXPECT_EQ(Ticks(BACKUP_WRITE_BYTES), info.size);
  const uint64_t current_bytes = Read("/db/CURRENT").size();  // written, but not read
  EXPECT_EQ(Ticks(BACKUP_READ_BYTES), info.size - current_bytes);
}

TEST_F(BackupEngineTest, AReadOnlyDatabaseCanBeBackedUp) {
  Open();
  Put(0, 10, "value");
  OpenReadOnly();
  OpenEngine();
  Create();
  EXPECT_EQ(RowsOf(1), Expected(0, 10, "value"));
}

TEST_F(BackupEngineTest, AMetaFileOfAnotherEngineIsNotOverwritten) {
  Open();
  OpenEngine();
  Create();
  Write("/backups/meta/2", "whatever another engine wrote\n");
  EXPECT_TRUE(engine_->CreateNewBackup(CreateBackupOptions(), db_.get()).IsAborted());
  EXPECT_TRUE(engine_->GarbageCollect().IsAborted());
  EXPECT_EQ(MetaOf(2), "whatever another engine wrote\n");
  OpenEngine();
  EXPECT_EQ(Create(), 3u);
}

TEST_F(BackupEngineTest, SecondSchemaSaysMoreAndIsRead) {
  backup_options_.schema_version = 2;
  Open();
  OpenEngine();
  Put(0, 10, "value");
  CreateFlushed();
  EXPECT_TRUE(MetaOf(1).starts_with("schema_version 2.1\n")) << MetaOf(1);
  OpenEngine();
  EXPECT_EQ(RowsOf(1), Expected(0, 10, "value"));
  backup_options_.schema_version = 1;
  OpenEngine();
  EXPECT_EQ(CreateFlushed(), 2u);
  EXPECT_FALSE(MetaOf(2).starts_with("schema"));
  OpenEngine();
  EXPECT_EQ(Ids(), (std::vector<BackupID>{1, 2}));
}

}  // namespace
}  // namespace ashlar
