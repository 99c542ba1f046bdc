// SPDX-License-Identifier: Apache-2.0
//
// External files that were written by a database with blob files or for another family.
#include "env/fault/fault_file_system.h"
#include "env/file_util.h"
#include "tests/db/ingestion/ingest_fixture.h"

namespace ashlar {

// The values would stay in the directory of the database that wrote the table.
TEST_F(IngestTest, OfADatabaseAreRefusedIfTheirValuesAreInBlobFiles) {
  options_.enable_blob_files = true;
  Open();
  Put(1, "x");
  Flush();
  ASSERT_OK(CopyFileTo(env_->GetFileSystem().get(), "/db" + FileOn(0).name, "/x.sst"));
  Close();
  ASSERT_OK(DestroyDB("/db", options_));
  Open();
  EXPECT_TRUE(Ingest({"/x.sst"}).IsInvalidArgument());  // like all tables of a database
  IngestExternalFileOptions allowed;
  allowed.allow_db_generated_files = true;
  allowed.move_files = true;
  EXPECT_TRUE(Ingest({"/x.sst"}, allowed).IsNotSupported());
  EXPECT_OK(env_->FileExists("/x.sst"));
  EXPECT_EQ(FilesOnDisk(".sst"), 0);
  Put(1, "y");
  Compact();
  EXPECT_EQ(Get(1), "y");
  CheckWhole();
}

// Copies the only table of the database, creates the database again and ingests the copy, counting
// the reads.
class IngestReads : public IngestTest {
 protected:
  using Info = std::shared_ptr<const PreparedFileInfo>;
  IngestReads() { UseFiles(counting_); }
  // With `is_told`, what the database knows about the table is passed on.
  void IngestItsTable(bool is_told = false) {
    Flush();
    const SstFileMetaData table = FileOn(0);
    Info info;
    ASSERT_OK(db_->GetPreparedFileInfoForExternalSstIngestion(table.name, &info));
    EXPECT_OK(CopyFileTo(counting_.get(), "/db" + table.name, "/x.sst"));
    Close();
    EXPECT_OK(DestroyDB("/db", options_));
    Open();
    IngestExternalFileOptions allowed;
    allowed.allow_db_generated_files = true;
    allowed.move_files = true;
    const CallStats before = counting_->Stats();
    EXPECT_OK(Ingest({"/x.sst"}, allowed, is_told ? info.get() : nullptr));
    const CallStats after = counting_->Stats();
    constexpr auto kRead = static_cast<size_t>(CallKind::kRead);
    reads_ = after.calls[kRead] - before.calls[kRead];
    bytes_read_ = after.bytes_read - before.bytes_read;
    table_bytes_ = table.size;
  }

  Status Ingest(const std::vector<std::string>& files, const IngestExternalFileOptions& options,
                const PreparedFileInfo* info) {
    IngestExternalFileArg arg;
    arg.column_family = db_->DefaultColumnFamily();
    arg.external_files = files;
    arg.options = options;
    arg.file_infos = {info};
    return db_->IngestExternalFiles({arg});
  }

  const std::shared_ptr<FaultFileSystem> counting_ = std::make_shared<FaultFileSystem>(memory_);
  uint64_t reads_ = 0;
  uint64_t bytes_read_ = 0;
  uint64_t table_bytes_ = 0;
};

TEST_F(IngestReads, LookForBlobsInLargePieces) {
  Open();
  for (int i = 0; i < 1000; i++) Put(i, std::string(1000, 'v'));
  IngestItsTable();
  EXPECT_GT(bytes_read_, table_bytes_);
  EXPECT_LT(reads_, 10u) << table_bytes_;  // of 256 KiB each, and those for opening and the bounds
}

TEST_F(IngestReads, LookForNoBlobsIfTheDatabaseOfTheTableHasToldThatThereAreNone) {
  Open();
  for (int i = 0; i < 1000; i++) Put(i, std::string(1000, 'v'));
  IngestItsTable(/*is_told=*/true);
  EXPECT_LT(bytes_read_, table_bytes_ / 2);
  EXPECT_EQ(Get(7), std::string(1000, 'v'));
}

// A file that is not that table may have such values.
TEST_F(IngestReads, RefuseAFileThatIsNotTheTableThatWasToldOf) {
  Open();
  Info infos[2];
  for (int i = 0; i < 2; i++) {
    Put(i, "v");
    Flush();
    const std::string name = "/db" + FileOn(0).name;
    ASSERT_OK(db_->GetPreparedFileInfoForExternalSstIngestion(name, &infos[i]));
    ASSERT_OK(CopyFileTo(counting_.get(), name, "/" + std::to_string(i) + ".sst"));
  }
  Close();
  ASSERT_OK(DestroyDB("/db", options_));
  Open();
  IngestExternalFileOptions allowed;
  allowed.allow_db_generated_files = true;
  EXPECT_TRUE(Ingest({"/1.sst"}, allowed, infos[0].get()).IsInvalidArgument());
  EXPECT_TRUE(Ingest({"/0.sst", "/1.sst"}, allowed, infos[0].get()).IsInvalidArgument());
  EXPECT_OK(Ingest({"/0.sst"}, allowed, infos[0].get()));
  EXPECT_OK(Ingest({"/1.sst"}, allowed, nullptr));
  EXPECT_EQ(Get(0) + Get(1), "vv");
}

TEST_F(IngestReads, AreToldOnlyOfLiveTables) {
  Open();
  Put(1, "1");
  Flush();
  Info info;
  const auto told = [&](const std::string& name) {
    return db_->GetPreparedFileInfoForExternalSstIngestion(name, &info);
  };
  ASSERT_OK(told(FileOn(0).name));
  EXPECT_NE(info, nullptr);
  EXPECT_TRUE(told("/000999.sst").IsNotFound());
  EXPECT_EQ(info, nullptr);
  EXPECT_TRUE(told("/CURRENT").IsInvalidArgument());
  EXPECT_TRUE(told("x.sst").IsInvalidArgument());
}

TEST_F(IngestReads, LookForNoBlobsWhereThereAreNoValues) {
  Open();
  const std::string operand(100, 'v');
  for (int i = 0; i < 3000; i++) Delete(Key(i));
  for (int i = 3000; i < 6000; i++) Merge(Key(i), operand);
  IngestItsTable();
  EXPECT_LT(bytes_read_, table_bytes_ / 2);
}

// Like tables of a database, these files have the identifier of their family.
TEST_F(IngestTest, OfAnotherFamilyAreTakenIfThoseOfDatabasesAre) {
  Open({kDefaultColumnFamilyName, "second"});
  SstFileWriter writer(EnvOptions(), options_, handles_[1]);
  ASSERT_OK(writer.Open("/a.sst"));
  ASSERT_OK(writer.Put(Key(1), "a"));
  ASSERT_OK(writer.Finish());
  Put(1, "old");
  EXPECT_TRUE(Ingest({"/a.sst"}).IsInvalidArgument());
  EXPECT_EQ(Get(1), "old");
  IngestExternalFileOptions allowed;
  allowed.allow_db_generated_files = true;
  ASSERT_OK(Ingest({"/a.sst"}, allowed));
  EXPECT_EQ(Get(1) + Get(Key(1), nullptr, 1), "a-");
  CheckWhole();
}

}  // namespace ashlar
