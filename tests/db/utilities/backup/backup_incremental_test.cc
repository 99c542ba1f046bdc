// SPDX-License-Identifier: Apache-2.0
//
// What a further backup of a database reads and writes, under each naming of shared files.
#include <algorithm>
#include <functional>

#include "ashlar/file_checksum.h"
#include "ashlar/sst_file_writer.h"
#include "env/fault/fault_file_system.h"
#include "tests/db/utilities/backup/backup_fixture.h"

namespace ashlar {
namespace {

class IncrementalTest : public BackupTest {
 protected:
  IncrementalTest() { UseFiles(counted_); }

  void ReopenBoth() {
    Reopen();
    OpenEngine();
  }

  // Stores the calls of the next backup.
  void CreateWatched() {
    counted_->KeepCalls(false);
    counted_->KeepCalls(true);
    const size_t before = counted_->Calls().size();
    CreateFlushed();
    calls_ = counted_->Calls();
    calls_.erase(calls_.begin(), calls_.begin() + static_cast<ptrdiff_t>(before));
  }
  // Bytes read of files of the database with this ending.
  uint64_t BytesRead(const std::string& ending) const {
    uint64_t bytes = 0;
    for (const FileCall& call : calls_) {
      if (call.kind != CallKind::kRead || !call.path.starts_with("/db/")) continue;
      if (call.path.ends_with(ending)) bytes += call.size;
    }
    return bytes;
  }
  // Directories of the backups in which files were created.
  std::vector<std::string> WrittenPlaces() const {
    std::vector<std::string> places;
    for (const FileCall& call : calls_) {
      if (call.kind != CallKind::kCreate || !call.path.starts_with(kBackupDir)) continue;
      const std::string place = call.path.substr(0, call.path.rfind('/'));
      if (std::ranges::find(places, place) == places.end()) places.push_back(place);
    }
    std::ranges::sort(places);
    return places;
  }
  // Tables of one writer, each with one row of this value.
  void MakeTables(const std::vector<std::pair<std::string, std::string>>& value_by_path) {
    SstFileWriter writer(EnvOptions(), options_);
    for (const auto& [path, value] : value_by_path) {
      ASSERT_OK(writer.Open(path));
      ASSERT_OK(writer.Put("ingested", value));
      ASSERT_OK(writer.Finish());
    }
  }
  void ExpectNothingOfTablesDone() const {
    EXPECT_EQ(BytesRead(".sst"), 0u);
    EXPECT_EQ(WrittenPlaces(), (std::vector<std::string>{"/backups/meta", "/backups/private/2"}));
  }

  const std::shared_ptr<FaultFileSystem> counted_ = std::make_shared<FaultFileSystem>(memory_);
  std::vector<FileCall> calls_;
};

TEST_F(IncrementalTest, AnUnchangedDatabaseCostsNoReadOfATable) {
  Open();
  OpenEngine();
  Put(0, 100, "value");
  CreateFlushed();
  CreateWatched();
  ExpectNothingOfTablesDone();
  EXPECT_EQ(RowsOf(2), Expected(0, 100, "value"));
}

// The names in the directory, and the MANIFEST, say who made the tables.
TEST_F(IncrementalTest, NorInALaterProcess) {
  Open();
  OpenEngine();
  Put(0, 100, "value");
  CreateFlushed();
  ReopenBoth();
  CreateWatched();
  ExpectNothingOfTablesDone();
  EXPECT_EQ(RowsOf(2), Expected(0, 100, "value"));
}

TEST_F(IncrementalTest, ANewTableIsReadOnceToBeCopied) {
  Open();
  OpenEngine();
  Put(0, 100, "value");
  CreateFlushed();
  Put(100, 200, "value");
  Flush();
  uint64_t bytes = 0;
  std::vector<LiveFileMetaData> tables;
  db_->GetLiveFilesMetaData(&tables);
  ASSERT_EQ(tables.size(), 2u);
  for (const LiveFileMetaData& table : tables) {
    if (table.smallestkey == "key1100") bytes = table.size;
  }
  CreateWatched();
  EXPECT_LE(BytesRead(".sst"), bytes + 1);  // and whether it ends there
  EXPECT_EQ(RowsOf(2), Expected(0, 200, "value"));
}

// It is in no backup, and a session before this one made it: then its properties are asked.
TEST_F(IncrementalTest, TablesOfEarlierSessionsAreNamedByThem) {
  Open();
  Put(0, 100, "value");
  std::string session;
  ASSERT_OK(db_->GetDbSessionId(session));
  Flush();
  ReopenBoth();
  CreateFlushed();
  EXPECT_NE(SharedFile().find("_s" + session + "_"), std::string::npos) << SharedFile();
}

TEST_F(IncrementalTest, NamesWithoutSizesAreUsedAgain) {
  backup_options_.share_files_with_checksum_naming = BackupEngineOptions::kUseDbSessionId;
  Open();
  OpenEngine();
  Put(0, 100, "value");
  CreateFlushed();
  ReopenBoth();
  CreateWatched();
  ExpectNothingOfTablesDone();
}

TEST_F(IncrementalTest, NamesByChecksumCostAReadInANewSessionAlone) {
  backup_options_.share_files_with_checksum_naming = BackupEngineOptions::kLegacyCrc32cAndFileSize;
  Open();
  OpenEngine();
  Put(0, 100, "value");
  CreateFlushed();
  CreateWatched();
  ExpectNothingOfTablesDone();
  ReopenBoth();
  CreateWatched();
  EXPECT_GT(BytesRead(".sst"), 0u);
  EXPECT_EQ(WrittenPlaces(), (std::vector<std::string>{"/backups/meta", "/backups/private/3"}));
}

TEST_F(IncrementalTest, RecordedChecksumsSaveThatRead) {
  backup_options_.share_files_with_checksum_naming = BackupEngineOptions::kLegacyCrc32cAndFileSize;
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  OpenEngine();
  Put(0, 100, "value");
  CreateFlushed();
  ReopenBoth();
  CreateWatched();
  ExpectNothingOfTablesDone();
}

TEST_F(IncrementalTest, BlobFilesAreReadOnceASession) {
  options_.enable_blob_files = true;
  Open();
  OpenEngine();
  Put(0, 10, std::string(1000, 'x'));
  CreateFlushed();
  CreateWatched();
  EXPECT_EQ(BytesRead(".blob"), 0u);
  ExpectNothingOfTablesDone();
}

TEST_F(IncrementalTest, NamingsMayChangeInOneDirectory) {
  Open();
  OpenEngine();
  Put(0, 100, "value");
  CreateFlushed();
  for (const auto naming :
       {BackupEngineOptions::kUseDbSessionId, BackupEngineOptions::kLegacyCrc32cAndFileSize}) {
    backup_options_.share_files_with_checksum_naming = naming;
    OpenEngine();
    CreateFlushed();
  }
  EXPECT_EQ(List("/backups/shared_checksum").size(), 3u);
  OpenEngine();
  for (const BackupID id : {1u, 2u, 3u}) EXPECT_EQ(RowsOf(id), Expected(0, 100, "value"));
  ASSERT_OK(engine_->DeleteBackup(2));
  EXPECT_EQ(List("/backups/shared_checksum").size(), 2u);
}

TEST_F(IncrementalTest, WithoutSharingEachBackupIsByItself) {
  backup_options_.share_table_files = false;
  Open();
  OpenEngine();
  Put(0, 100, "value");
  CreateFlushed();
  CreateFlushed();
  EXPECT_FALSE(Exists("/backups/shared_checksum"));
  ASSERT_OK(engine_->DeleteBackup(1));
  EXPECT_EQ(RowsOf(2), Expected(0, 100, "value"));
}

TEST_F(IncrementalTest, SharingByNumberReadsWhatItBelieves) {
  backup_options_.share_files_with_checksum = false;
  Open();
  OpenEngine();
  Put(0, 100, "value");
  CreateFlushed();
  EXPECT_EQ(List("/backups/shared").size(), 1u);
  ReopenBoth();
  CreateWatched();
  EXPECT_GT(BytesRead(".sst"), 0u);
  EXPECT_EQ(WrittenPlaces(), (std::vector<std::string>{"/backups/meta", "/backups/private/2"}));
  EXPECT_EQ(RowsOf(2), Expected(0, 100, "value"));
}

// As where two histories of a database gave one number to two tables.
TEST_F(IncrementalTest, SharingByNumberTellsAnotherTableOfThatNumber) {
  backup_options_.share_files_with_checksum = false;
  Open();
  OpenEngine();
  Put(0, 100, "value");
  CreateFlushed();
  Close();
  FlipByte("/db/" + List("/backups/shared")[0], 20);
  Open();
  OpenEngine();
  const IOStatus status = engine_->CreateNewBackup(CreateBackupOptions(), db_.get());
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_EQ(RowsOf(1), Expected(0, 100, "value"));
}

TEST_F(IncrementalTest, HistoriesThatPartedShareADirectoryByDefault) {
  Open();
  OpenEngine();
  Create();
  Put(0, 100, "value");
  CreateFlushed();
  Close();
  ASSERT_OK(engine_->RestoreDBFromBackup(1, kDbDir, kDbDir));
  Open();
  Put(0, 100, "other");
  CreateFlushed();
  Close();
  EXPECT_EQ(RowsOf(2), Expected(0, 100, "value"));
  EXPECT_EQ(RowsOf(3), Expected(0, 100, "other"));
}

TEST_F(IncrementalTest, AMissingSharedFileIsCopiedAgainForAll) {
  Open();
  OpenEngine();
  Put(0, 100, "value");
  CreateFlushed();
  ASSERT_OK(memory_->DeleteFile(SharedFile(), IOOptions(), nullptr));
  EXPECT_TRUE(engine_->VerifyBackup(1).IsNotFound());
  CreateFlushed();
  EXPECT_OK(engine_->VerifyBackup(1, /*verify_with_checksum=*/true));
}

TEST_F(IncrementalTest, WhatNoBackupNamesIsNotBelieved) {
  Open();
  OpenEngine();
  Put(0, 100, "value");
  CreateFlushed();
  const std::string table = SharedFile(), bytes = Read(table);
  ASSERT_OK(engine_->DeleteBackup(1));
  Write(table, std::string(bytes.size(), 'x'));
  CreateFlushed();
  EXPECT_EQ(Read(table), bytes);
}

TEST_F(IncrementalTest, IngestedTablesAreNamedByTheirMaker) {
  Open();
  OpenEngine();
  MakeTables({{"/new.sst", "value"}});
  ASSERT_OK(db_->IngestExternalFile({"/new.sst"}, IngestExternalFileOptions()));
  CreateFlushed();
  CreateWatched();
  ExpectNothingOfTablesDone();
  EXPECT_EQ(RowsOf(2), (Rows{{"ingested", "value"}}));
}

// A new session does not know the checksum of the table any more.
TEST_F(IncrementalTest, IngestedTablesAreReadOnceASession) {
  Open();
  OpenEngine();
  MakeTables({{"/new.sst", "value"}});
  ASSERT_OK(db_->IngestExternalFile({"/new.sst"}, IngestExternalFileOptions()));
  CreateFlushed();
  ReopenBoth();
  CreateWatched();
  EXPECT_GT(BytesRead(".sst"), 0u);
  EXPECT_EQ(WrittenPlaces(), (std::vector<std::string>{"/backups/meta", "/backups/private/2"}));
  CreateWatched();
  EXPECT_EQ(BytesRead(".sst"), 0u);
  EXPECT_EQ(List("/backups/shared_checksum").size(), 1u);
}

TEST_F(IncrementalTest, OnlyPropertiesOfIngestedTablesAreReadAgain) {
  options_.compression = kNoCompression;
  Open();
  OpenEngine();
  MakeTables({{"/new.sst", std::string(1 << 20, 'v')}});
  ASSERT_OK(db_->IngestExternalFile({"/new.sst"}, IngestExternalFileOptions()));
  CreateFlushed();
  ReopenBoth();
  CreateWatched();
  EXPECT_LT(BytesRead(".sst"), 1u << 18);
  EXPECT_EQ(List("/backups/shared_checksum").size(), 1u);
}

// One file with two sequence numbers, which ingestions have written into it.
TEST_F(IncrementalTest, CopiesWithOtherSequenceNumbersGetTwoNames) {
  Open();
  OpenEngine();
  MakeTables({{"/new.sst", "value"}});
  IngestExternalFileOptions ingest;
  ingest.write_global_seqno = true;
  Create();
  for (const int writes : {1, 5}) {
    Close();
    ASSERT_OK(engine_->RestoreDBFromBackup(1, kDbDir, kDbDir));
    Open();
    // Deletions of the same key, so that the ingested table needs a sequence number.
    const Snapshot* const snapshot = db_->GetSnapshot();
    for (int i = 0; i < writes; i++) ASSERT_OK(db_->Delete({}, "ingested"));
    Flush();
    ASSERT_OK(db_->IngestExternalFile({"/new.sst"}, ingest));
    db_->ReleaseSnapshot(snapshot);
    ReopenBoth();
    CreateFlushed();
  }
  Close();
  const std::vector<std::string> names = List("/backups/shared_checksum");
  const auto has_session = [](const std::string& name) { return name[6] == '_' && name[7] == 's'; };
  EXPECT_EQ(std::ranges::count_if(names, std::not_fn(has_session)), 1);
  EXPECT_EQ(RowsOf(2), (Rows{{"ingested", "value"}}));
  EXPECT_EQ(RowsOf(3), (Rows{{"ingested", "value"}}));
  EXPECT_OK(engine_->VerifyBackup(3, /*verify_with_checksum=*/true));
}

class TwoTablesOfOneMakerTest : public IncrementalTest {
 protected:
  // Each is ingested by a database that was restored from the same backup, so both have one number.
  void CheckBothAreKept() {
    Open();
    OpenEngine();
    MakeTables({{"/first.sst", "1"}, {"/second.sst", "2"}});
    ASSERT_EQ(Read("/first.sst").size(), Read("/second.sst").size());
    Create();
    for (const char* const table : {"/first.sst", "/second.sst"}) {
      Close();
      ASSERT_OK(engine_->RestoreDBFromBackup(1, kDbDir, kDbDir));
      Open();
      ASSERT_OK(db_->IngestExternalFile({table}, IngestExternalFileOptions()));
      CreateFlushed();
    }
    Close();
    const std::vector<std::string> names = List("/backups/shared_checksum");
    ASSERT_EQ(names.size(), 2u);
    EXPECT_EQ(names[0].substr(0, 6), names[1].substr(0, 6));
    EXPECT_EQ(RowsOf(2), (Rows{{"ingested", "1"}}));
    EXPECT_EQ(RowsOf(3), (Rows{{"ingested", "2"}}));
    EXPECT_OK(engine_->VerifyBackup(3, /*verify_with_checksum=*/true));
    // The directory has the second table, which the first must replace.
    const RestoreOptions keep(/*_keep_log_files=*/false,
                              RestoreOptions::kKeepLatestDbSessionIdFiles);
    ASSERT_OK(engine_->RestoreDBFromBackup(keep, 2, kDbDir, kDbDir));
    EXPECT_EQ(RowsOf(kDbDir), (Rows{{"ingested", "1"}}));
  }
};

TEST_F(TwoTablesOfOneMakerTest, GetTwoNames) { CheckBothAreKept(); }

TEST_F(TwoTablesOfOneMakerTest, GetTwoNamesWithoutSizes) {
  backup_options_.share_files_with_checksum_naming = BackupEngineOptions::kUseDbSessionId;
  CheckBothAreKept();
}

TEST_F(IncrementalTest, ATableThatIsNotWhatTheManifestSaysIsNotBackedUp) {
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  OpenEngine();
  Put(0, 100, "value");
  Flush();
  for (const std::string& name : List(kDbDir)) {
    if (name.ends_with(".sst")) FlipByte("/db/" + name, 50);
  }
  EXPECT_TRUE(engine_->CreateNewBackup(CreateBackupOptions(), db_.get()).IsCorruption());
  EXPECT_TRUE(Ids().empty());
  EXPECT_TRUE(List("/backups/shared_checksum").empty());
  EXPECT_TRUE(List("/backups/private").empty());
}

// Copies of a mapped log end where the log does, not where its space does.
TEST_F(IncrementalTest, ALogIsCutAtItsEnd) {
  Open();
  OpenEngine();
  Put(0, 10, "value");
  std::vector<LiveFileStorageInfo> infos;
  LiveFilesStorageInfoOptions never;
  never.wal_size_for_flush = UINT64_MAX;
  ASSERT_OK(db_->GetLiveFilesStorageInfo(never, &infos));
  Create();
  for (const LiveFileStorageInfo& info : infos) {
    if (info.file_type != kWalFile || info.size == 0) continue;
    EXPECT_EQ(Read("/backups/private/1/" + info.relative_filename),
              Read("/db/" + info.relative_filename).substr(0, info.size));
  }
}

}  // namespace
}  // namespace ashlar
