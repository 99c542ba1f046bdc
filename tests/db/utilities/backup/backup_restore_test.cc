// SPDX-License-Identifier: Apache-2.0
//
// What a restore does to the directories it goes to: modes, logs, foreign files, refusals; and
// files that were left out of a backup.
#include "ashlar/file_system_wrapper.h"
#include "db/utilities/backup/backup_names.h"
#include "env/fault/fault_file_system.h"
#include "tests/db/utilities/backup/backup_fixture.h"

namespace ashlar {
namespace {

class RestoreTest : public BackupTest {
 protected:
  // A backup of 100 rows in a table and ten in the log, and the database one step further.
  void MakeBackup() {
    Open();
    OpenEngine();
    Put(0, 100, "value");
    Flush();
    Put(100, 110, "in the log");
    Create();
    expected_ = Expected(0, 100, "value");
    expected_.merge(Expected(100, 110, "in the log"));
    Put(0, 200, "later");
    Flush();
    Close();
  }

  IOStatus RestoreTo(const std::string& dir, RestoreOptions::Mode mode,
                     bool keep_log_files = false) {
    return engine_->RestoreDBFromBackup(RestoreOptions(keep_log_files, mode), 1, dir, dir);
  }

  // Files that were written to since.
  std::vector<std::string> CreatedIn(const std::string& dir, const FaultFileSystem& watched) {
    std::vector<std::string> names;
    for (const FileCall& call : watched.Calls()) {
      if (call.kind == CallKind::kCreate && call.path.starts_with(dir + "/")) {
        names.push_back(call.path.substr(dir.size() + 1));
      }
    }
    return names;
  }
  std::string TableIn(const std::string& dir) {
    for (const std::string& name : List(dir)) {
      if (name.ends_with(".sst")) return dir + "/" + name;
    }
    return "";
  }
  static bool HasTable(const std::vector<std::string>& names) {
    return std::ranges::any_of(names, [](const auto& name) { return name.ends_with(".sst"); });
  }

  Rows expected_;
};

TEST_F(RestoreTest, OverANewerStateOfTheDatabase) {
  MakeBackup();
  ASSERT_OK(RestoreTo(kDbDir, RestoreOptions::kPurgeAllFiles));
  EXPECT_EQ(RowsOf(kDbDir), expected_);
}

TEST_F(RestoreTest, ToTheDirectoryOfAnotherDatabase) {
  MakeBackup();
  {
    TestDb other(memory_, options_);
    other.dir() = "/other";
    other.Open();
    for (int i = 0; i < 5; i++) {
      other.Put("other" + std::to_string(i), "x");
      other.Flush();
    }
  }
  for (const auto mode : {RestoreOptions::kKeepLatestDbSessionIdFiles,
                          RestoreOptions::kVerifyChecksum, RestoreOptions::kPurgeAllFiles}) {
    ASSERT_OK(RestoreTo("/other", mode));
    EXPECT_EQ(RowsOf("/other"), expected_);
  }
}

TEST_F(RestoreTest, FilesThatNoDatabaseHasStay) {
  MakeBackup();
  Write("/db/notes.txt", "mine");
  Write("/db/backup/inner", "mine");
  Write("/db/000099.sst", "old table");
  Write("/db/LOG.old.5", "old log");
  ASSERT_OK(RestoreTo(kDbDir, RestoreOptions::kPurgeAllFiles));
  EXPECT_EQ(Read("/db/notes.txt"), "mine");
  EXPECT_EQ(Read("/db/backup/inner"), "mine");
  EXPECT_FALSE(Exists("/db/000099.sst"));
  EXPECT_FALSE(Exists("/db/LOG.old.5"));
}

TEST_F(RestoreTest, AnOpenDatabaseIsRefusedUntouched) {
  MakeBackup();
  Open();
  const IOStatus status = RestoreTo(kDbDir, RestoreOptions::kPurgeAllFiles);
  EXPECT_TRUE(status.IsIOError()) << status.ToString();
  Put(0, 1, "goes on");
  Close();
  EXPECT_EQ(RowsOf(kDbDir).size(), 200u);
}

TEST_F(RestoreTest, TheDirectoryOfTheBackupsIsRefused) {
  MakeBackup();
  EXPECT_TRUE(RestoreTo(kBackupDir, RestoreOptions::kPurgeAllFiles).IsInvalidArgument());
  EXPECT_TRUE(engine_->RestoreDBFromBackup(1, "/x", "/backups/").IsInvalidArgument());
  EXPECT_TRUE(engine_->RestoreDBFromBackup(1, "", "/x").IsInvalidArgument());
  EXPECT_OK(engine_->VerifyBackup(1, true));
}

TEST_F(RestoreTest, TooLittleSpaceIsToldBeforeAnythingIsDeleted) {
  MakeBackup();
  Write("/x/CURRENT", "old");
  memory_->SetByteQuota(memory_->UsedBytes() + 100);
  const IOStatus status = RestoreTo("/x", RestoreOptions::kPurgeAllFiles);
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  EXPECT_EQ(Read("/x/CURRENT"), "old");
  // The deleted files make room.
  EXPECT_OK(RestoreTo(kDbDir, RestoreOptions::kPurgeAllFiles));
  memory_->SetByteQuota(UINT64_MAX);
  EXPECT_EQ(RowsOf(kDbDir), expected_);
}

// Such as those of a checkpoint.
TEST_F(RestoreTest, OldFilesWithOtherLinksMakeNoRoom) {
  options_.compression = kNoCompression;
  Open();
  OpenEngine();
  Put("big", std::string(1 << 20, 'v'));
  CreateFlushed();
  Close();
  ASSERT_OK(memory_->CreateDirIfMissing("/linked", IOOptions(), nullptr));
  ASSERT_OK(memory_->LinkFile(TableIn(kDbDir), "/linked/table", IOOptions(), nullptr));
  memory_->SetByteQuota(memory_->UsedBytes() + 100);
  const IOStatus status = RestoreTo(kDbDir, RestoreOptions::kPurgeAllFiles);
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  EXPECT_TRUE(Exists("/db/CURRENT"));
  ASSERT_OK(memory_->DeleteFile("/linked/table", IOOptions(), nullptr));
  EXPECT_OK(RestoreTo(kDbDir, RestoreOptions::kPurgeAllFiles));
}

// Two disks, of which one has the directory of the logs.
class TwoDisks final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "TwoDisks"; }
  IOStatus GetFreeSpace(const std::string& path, const IOOptions&, uint64_t* bytes,
                        IODebugContext*) override {
    uint64_t& free = path.starts_with("/logs") ? free_for_logs : free_for_tables;
    free_for_tables -= lost_per_call;
    free_for_logs -= lost_per_call;
    *bytes = free;
    return IOStatus::OK();
  }
  uint64_t lost_per_call = 0;  // to other programs
  uint64_t free_for_tables = 1 << 30, free_for_logs = 1 << 30;
};

class RestoreToTwoDisksTest : public RestoreTest {
 protected:
  static constexpr uint64_t kMiB = 1 << 20;

  // A backup with a MiB in its log and less than that in all other files.
  void MakeBackupOfLog() {
    UseFiles(disks_);
    Open();
    OpenEngine();
    Put("big", std::string(kMiB, 'v'));
    Create();
    Close();
    Write("/x/CURRENT", "old");
  }
  IOStatus RestoreWithFree(uint64_t for_tables, uint64_t for_logs, bool keep_log_files = false) {
    disks_->free_for_tables = for_tables;
    disks_->free_for_logs = for_logs;
    const RestoreOptions options(keep_log_files);
    return engine_->RestoreDBFromBackup(1, "/x", "/logs", options);
  }
  void ExpectNoSpace(const IOStatus& status) {
    EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
    EXPECT_EQ(Read("/x/CURRENT"), "old");
  }
  void CheckRoomOf(const std::string& old_log) {
    MakeBackupOfLog();
    Write(old_log, std::string(kMiB, 'o'));
    ExpectNoSpace(RestoreWithFree(10 * kMiB, kMiB / 2, /*keep_log_files=*/true));
    EXPECT_OK(RestoreWithFree(10 * kMiB, kMiB / 2));
    EXPECT_FALSE(Exists(old_log));
  }

  const std::shared_ptr<TwoDisks> disks_ = std::make_shared<TwoDisks>(memory_);
};

TEST_F(RestoreToTwoDisksTest, LogsNeedSpaceOnTheirs) {
  MakeBackupOfLog();
  ExpectNoSpace(RestoreWithFree(10 * kMiB, kMiB / 2));
  EXPECT_OK(RestoreWithFree(kMiB / 2, 10 * kMiB));
}

// About the same free space on both shows that they are one.
TEST_F(RestoreToTwoDisksTest, OneDiskNeedsSpaceForBoth) {
  options_.compression = kNoCompression;
  UseFiles(disks_);
  Open();
  OpenEngine();
  Put("in a table", std::string(kMiB, 'v'));
  Flush();
  Put("in the log", std::string(kMiB, 'v'));
  Create();
  Close();
  Write("/x/CURRENT", "old");
  ExpectNoSpace(RestoreWithFree(kMiB * 3 / 2, kMiB * 3 / 2));
  disks_->lost_per_call = 4096;
  ExpectNoSpace(RestoreWithFree(kMiB * 3 / 2, kMiB * 3 / 2));
  EXPECT_OK(RestoreWithFree(kMiB * 3, kMiB * 3));
}

TEST_F(RestoreToTwoDisksTest, OldLogsMakeRoomUnlessTheyAreKept) { CheckRoomOf("/logs/000099.log"); }

TEST_F(RestoreToTwoDisksTest, ArchivedLogsMakeRoomUnlessTheyAreKept) {
  CheckRoomOf("/logs/archive/000098.log");
}

TEST_F(RestoreTest, KeepingBySessionCopiesOnlyWhatIsMissing) {
  MakeBackup();
  ASSERT_OK(RestoreTo("/x", RestoreOptions::kPurgeAllFiles));
  const auto watched = std::make_shared<FaultFileSystem>(memory_);
  UseFiles(watched);
  OpenEngine();
  watched->KeepCalls(true);
  ASSERT_OK(RestoreTo("/x", RestoreOptions::kKeepLatestDbSessionIdFiles));
  EXPECT_FALSE(HasTable(CreatedIn("/x", *watched)));
  EXPECT_EQ(RowsOf("/x"), expected_);
}

TEST_F(RestoreTest, KeepingByChecksumCopiesOnlyWhatIsMissing) {
  options_.enable_blob_files = true;
  MakeBackup();
  ASSERT_OK(RestoreTo("/x", RestoreOptions::kPurgeAllFiles));
  const auto watched = std::make_shared<FaultFileSystem>(memory_);
  UseFiles(watched);
  OpenEngine();
  watched->KeepCalls(true);
  ASSERT_OK(RestoreTo("/x", RestoreOptions::kVerifyChecksum));
  for (const std::string& name : CreatedIn("/x", *watched)) {
    EXPECT_FALSE(name.ends_with(".sst") || name.ends_with(".blob")) << name;
  }
  EXPECT_EQ(RowsOf("/x"), expected_);
}

// As documented, the mode that compares session ids does not read the bytes.
TEST_F(RestoreTest, OnlyChecksumsFindADamagedFileThatIsKept) {
  MakeBackup();
  ASSERT_OK(RestoreTo("/x", RestoreOptions::kPurgeAllFiles));
  const std::string table = TableIn("/x"), bytes = Read(table);
  FlipByte(table, 10);
  ASSERT_OK(RestoreTo("/x", RestoreOptions::kKeepLatestDbSessionIdFiles));
  EXPECT_NE(Read(table), bytes);
  ASSERT_OK(RestoreTo("/x", RestoreOptions::kVerifyChecksum));
  EXPECT_EQ(Read(table), bytes);
}

TEST_F(RestoreTest, ATableOfAnotherSessionIsNotKept) {
  MakeBackup();
  ASSERT_OK(RestoreTo("/x", RestoreOptions::kPurgeAllFiles));
  const std::string table = TableIn("/x"), bytes = Read(table);
  {
    TestDb other(memory_, options_);
    other.dir() = "/other";
    other.Open();
    for (int i = 0; i < 100; i++) {
      other.Put("key" + std::to_string(1000 + i), "value");
    }
    other.Flush();
    other.Close();
  }
  std::string foreign = Read(TableIn("/other"));
  ASSERT_EQ(foreign.size(), bytes.size());
  Write(table, foreign);
  ASSERT_OK(RestoreTo("/x", RestoreOptions::kKeepLatestDbSessionIdFiles));
  EXPECT_EQ(Read(table), bytes);
}

TEST_F(RestoreTest, BlobFilesAreNotKeptBySession) {
  options_.enable_blob_files = true;
  MakeBackup();
  ASSERT_OK(RestoreTo("/x", RestoreOptions::kPurgeAllFiles));
  std::string blob;
  for (const std::string& name : List("/x")) {
    if (name.ends_with(".blob")) blob = "/x/" + name;
  }
  const std::string bytes = Read(blob);
  FlipByte(blob, bytes.size() / 2);
  ASSERT_OK(RestoreTo("/x", RestoreOptions::kKeepLatestDbSessionIdFiles));
  EXPECT_EQ(Read(blob), bytes);
}

// With logs that were written after the backup the database is as it was last: what
// backup_log_files = false is for.
TEST_F(RestoreTest, KeptLogsAreReplayedOverTheBackup) {
  backup_options_.backup_log_files = false;
  options_.wal_dir = "/logs";
  Open();
  OpenEngine();
  Put(0, 100, "flushed");
  CreateFlushed();
  Put(100, 120, "logged later");
  Close();
  Write("/logs/archive/000001.log", "");
  ASSERT_OK(engine_->RestoreDBFromBackup(1, kDbDir, "/logs", RestoreOptions(true)));
  EXPECT_TRUE(Exists("/logs/000001.log"));
  EXPECT_FALSE(Exists("/logs/archive/000001.log"));
  Rows expected = Expected(0, 100, "flushed");
  expected.merge(Expected(100, 120, "logged later"));
  EXPECT_EQ(RowsOf(kDbDir, "/logs"), expected);
}

TEST_F(RestoreTest, KeptLogsAreNotOverwritten) {
  MakeBackup();
  ASSERT_OK(RestoreTo("/x", RestoreOptions::kPurgeAllFiles));
  std::string log;
  for (const std::string& name : List("/x")) {
    if (name.ends_with(".log")) log = "/x/" + name;
  }
  const std::string bytes = Read(log);
  Write(log, bytes + "more");
  ASSERT_OK(RestoreTo("/x", RestoreOptions::kPurgeAllFiles, /*keep_log_files=*/true));
  EXPECT_EQ(Read(log), bytes + "more");
  ASSERT_OK(RestoreTo("/x", RestoreOptions::kPurgeAllFiles));
  EXPECT_EQ(Read(log), bytes);
}

// It becomes a log again, and has more writes than the log of the backup.
TEST_F(RestoreTest, ArchivedLogsAreNotOverwritten) {
  MakeBackup();
  ASSERT_OK(RestoreTo("/x", RestoreOptions::kPurgeAllFiles));
  std::string log;
  for (const std::string& name : List("/x")) {
    if (name.ends_with(".log")) log = name;
  }
  const std::string bytes = Read("/x/" + log);
  Write("/x/archive/" + log, bytes + "more");
  ASSERT_OK(memory_->DeleteFile("/x/" + log, IOOptions(), nullptr));
  ASSERT_OK(RestoreTo("/x", RestoreOptions::kPurgeAllFiles, /*keep_log_files=*/true));
  EXPECT_EQ(Read("/x/" + log), bytes + "more");
}

TEST_F(RestoreTest, OfADirectoryOfLogsOnlyLogsAreDeleted) {
  MakeBackup();
  Write("/logs/CURRENT", "of somebody else");
  Write("/logs/000099.log", "old");
  Write("/logs/archive/000098.log", "old");
  ASSERT_OK(engine_->RestoreDBFromBackup(1, "/x", "/logs"));
  EXPECT_EQ(Read("/logs/CURRENT"), "of somebody else");
  EXPECT_FALSE(Exists("/logs/000099.log"));
  EXPECT_FALSE(Exists("/logs/archive/000098.log"));
  EXPECT_EQ(RowsOf("/x", "/logs"), expected_);
}

// Backups with files left out, which a second directory of backups has.
class ExcludedTest : public RestoreTest {
 protected:
  // A whole backup in /backups, one without its tables in /rest.
  void MakeBoth() {
    backup_options_.schema_version = 2;
    Open();
    OpenEngine();
    Put(0, 100, "value");
    CreateFlushed();
    BackupEngineOptions rest("/rest");
    rest.schema_version = 2;
    BackupEngine* engine = nullptr;
    ASSERT_OK(BackupEngine::Open(env_.get(), rest, &engine));
    rest_.reset(engine);
    CreateBackupOptions options;
    options.exclude_files_callback = [this](MaybeExcludeBackupFile* file,
                                            MaybeExcludeBackupFile* end) {
      ++calls_;
      for (; file != end; ++file) {
        offered_.push_back(file->info.relative_file);
        file->exclude_decision = true;
      }
    };
    ASSERT_OK(rest_->CreateNewBackup(options, db_.get()));
    Close();
  }

  std::unique_ptr<BackupEngine> rest_;
  std::vector<std::string> offered_;
  int calls_ = 0;
};

TEST_F(ExcludedTest, TheCallbackSeesAllThatWouldBeCopiedOnce) {
  MakeBoth();
  EXPECT_EQ(calls_, 1);
  EXPECT_EQ(offered_, std::vector<std::string>{SharedFile().substr(9)});
  EXPECT_TRUE(List("/rest/shared_checksum").empty());
  BackupInfo info;
  ASSERT_OK(rest_->GetBackupInfo(1, &info, true));
  ASSERT_EQ(info.excluded_files.size(), 1u);
  EXPECT_EQ(info.excluded_files[0].relative_file, offered_[0]);
  EXPECT_EQ(info.number_files, info.file_details.size());
  for (const BackupFileInfo& file : info.file_details) {
    EXPECT_NE(file.relative_filename, offered_[0]);
  }
  EXPECT_OK(rest_->VerifyBackup(1, true));
}

TEST_F(ExcludedTest, WhatIsThereAlreadyIsNotOffered) {
  MakeBoth();
  Open();
  CreateBackupOptions options;
  options.exclude_files_callback = [](MaybeExcludeBackupFile*, MaybeExcludeBackupFile*) {
    ADD_FAILURE() << "nothing is to be copied";
  };
  ASSERT_OK(engine_->CreateNewBackup(options, db_.get()));
}

TEST_F(ExcludedTest, RestoringTakesThemFromAlternateDirectories) {
  MakeBoth();
  const IOStatus missing = rest_->RestoreDBFromBackup(1, "/x", "/x");
  EXPECT_TRUE(missing.IsInvalidArgument()) << missing.ToString();
  RestoreOptions options;
  options.alternate_dirs.push_front(engine_.get());
  ASSERT_OK(rest_->RestoreDBFromBackup(options, 1, "/x", "/x"));
  EXPECT_EQ(RowsOf("/x"), Expected(0, 100, "value"));
}

TEST_F(ExcludedTest, AMissingFileIsToldBeforeAnythingIsDeleted) {
  MakeBoth();
  EXPECT_TRUE(rest_->RestoreDBFromBackup(1, kDbDir, kDbDir).IsInvalidArgument());
  EXPECT_EQ(RowsOf(kDbDir), Expected(0, 100, "value"));
}

TEST_F(ExcludedTest, DamageInTheAlternateDirectoryIsTold) {
  MakeBoth();
  FlipByte(SharedFile(), 20);
  RestoreOptions options;
  options.alternate_dirs.push_front(engine_.get());
  EXPECT_TRUE(rest_->RestoreDBFromBackup(options, 1, "/x", "/x").IsCorruption());
  EXPECT_FALSE(Exists("/x/CURRENT"));
}

TEST_F(ExcludedTest, WhatIsInTheTargetStandsInForThem) {
  MakeBoth();
  ASSERT_OK(rest_->RestoreDBFromBackup(
      RestoreOptions(false, RestoreOptions::kKeepLatestDbSessionIdFiles), 1, kDbDir, kDbDir));
  EXPECT_EQ(RowsOf(kDbDir), Expected(0, 100, "value"));
}

TEST_F(ExcludedTest, FilesLeftOutArePutInByALaterBackup) {
  MakeBoth();
  Open();
  ASSERT_OK(rest_->CreateNewBackup(CreateBackupOptions(), db_.get()));
  Close();
  EXPECT_EQ(List("/rest/shared_checksum").size(), 1u);
  ASSERT_OK(rest_->RestoreDBFromBackup(2, "/x", "/x"));
  EXPECT_EQ(RowsOf("/x"), Expected(0, 100, "value"));
}

}  // namespace
}  // namespace ashlar
