// SPDX-License-Identifier: Apache-2.0
//
// A checkpoint opens, has all earlier writes and does not change the database.
#include "ashlar/utilities/checkpoint.h"

#include "ashlar/utilities/options_util.h"
#include "tests/support/paths.h"
#include "tests/support/test_db.h"

namespace ashlar {

namespace {

class CheckpointTest : public DbTest {
 protected:
  void SetUp() override {
    UseFiles(FileSystem::Default());
    dir_ = root_ + "/db";
    Open();
    MakeCheckpointObject();
  }
  void MakeCheckpointObject() {
    Checkpoint* checkpoint = nullptr;
    ASSERT_OK(Checkpoint::Create(db_.get(), &checkpoint));
    checkpoint_.reset(checkpoint);
  }

  void Put(int first, int end, const std::string& value) {
    for (int i = first; i < end; ++i) DbTest::Put("key" + std::to_string(i), value);
  }

  Rows RowsOf(const std::string& dir) {
    TestDb copy(FileSystem::Default());
    copy.dir() = dir;
    copy.Open();
    return copy.db() == nullptr ? Rows() : copy.ReadRows();
  }

  std::vector<uint64_t> LogSizesOf(const std::string& dir) {
    std::vector<std::string> names;
    EXPECT_OK(Env::Default()->GetChildren(dir, &names));
    std::vector<uint64_t> sizes;
    for (const std::string& name : names) {
      if (!name.ends_with(".log")) continue;
      EXPECT_OK(Env::Default()->GetFileSize(dir + "/" + name, &sizes.emplace_back()));
    }
    return sizes;
  }

  const std::string root_ = FreshTempDir("checkpoint_test");
  const std::string copy_ = root_ + "/copy";
  std::unique_ptr<Checkpoint> checkpoint_;
};

}  // namespace

TEST_F(CheckpointTest, HoldsTheStateOfItsTime) {
  Put(0, 100, "flushed");
  Flush();
  Put(100, 200, "in the WAL");
  uint64_t seqno = 0;
  ASSERT_OK(checkpoint_->CreateCheckpoint(copy_, 0, &seqno));
  EXPECT_EQ(seqno, 200u);
  Put(0, 300, "later");
  const Rows contents = RowsOf(copy_);
  EXPECT_EQ(contents.size(), 200u);
  EXPECT_EQ(contents.at("key7"), "flushed");
  EXPECT_EQ(contents.at("key150"), "in the WAL");
}

TEST_F(CheckpointTest, CopiesTheWalIfItMayNotFlush) {
  Put(0, 100, "in the WAL");
  ASSERT_OK(checkpoint_->CreateCheckpoint(copy_, UINT64_MAX));
  EXPECT_EQ(Number("rocksdb.total-sst-files-size"), 0u);
  Put(0, 100, "later");
  const Rows contents = RowsOf(copy_);
  EXPECT_EQ(contents.size(), 100u);
  EXPECT_EQ(contents.at("key7"), "in the WAL");
}

// Its log at most names the log before it. RocksDB 11.9 has such a log as well, and bindings test
// that.
TEST_F(CheckpointTest, HasOneLogWithoutDataAfterAFlush) {
  Put(0, 10, "flushed");
  Flush();
  Put(10, 20, "flushed by the checkpoint");
  ASSERT_OK(checkpoint_->CreateCheckpoint(copy_, 0));
  const std::vector<uint64_t> sizes = LogSizesOf(copy_);
  ASSERT_EQ(sizes.size(), 1u);
  EXPECT_LT(sizes[0], 100u);
  EXPECT_EQ(RowsOf(copy_).size(), 20u);
}

TEST_F(CheckpointTest, HasNoLogsWhoseDataIsInTables) {
  Put(0, 10, "flushed");
  Flush();
  Put(10, 20, "in the WAL");
  ASSERT_OK(checkpoint_->CreateCheckpoint(copy_, UINT64_MAX));
  const std::vector<uint64_t> sizes = LogSizesOf(copy_);
  ASSERT_EQ(sizes.size(), 1u);
  EXPECT_GT(sizes[0], 0u);
  EXPECT_EQ(RowsOf(copy_).size(), 20u);
}

TEST_F(CheckpointTest, SurvivesTheDatabase) {
  Put(0, 100, "value");
  ASSERT_OK(checkpoint_->CreateCheckpoint(copy_));
  checkpoint_.reset();
  Close();
  ASSERT_OK(DestroyDB(dir_, options_));
  EXPECT_EQ(RowsOf(copy_).size(), 100u);
}

TEST_F(CheckpointTest, RefusesAnExistingDirectory) {
  ASSERT_OK(checkpoint_->CreateCheckpoint(copy_));
  EXPECT_TRUE(checkpoint_->CreateCheckpoint(copy_).IsInvalidArgument());
  EXPECT_TRUE(checkpoint_->CreateCheckpoint(copy_ + "//").IsInvalidArgument());
  EXPECT_TRUE(checkpoint_->CreateCheckpoint("/").IsInvalidArgument());
}

TEST_F(CheckpointTest, ReplacesWhatACrashLeft) {
  ASSERT_OK(Env::Default()->CreateDir(copy_ + ".tmp"));
  ASSERT_OK(WriteStringToFile(Env::Default(), "junk", copy_ + ".tmp/CURRENT"));
  Put(0, 10, "value");
  ASSERT_OK(checkpoint_->CreateCheckpoint(copy_));
  EXPECT_EQ(RowsOf(copy_).size(), 10u);
  EXPECT_TRUE(Env::Default()->FileExists(copy_ + ".tmp").IsNotFound());
}

TEST_F(CheckpointTest, FailureLeavesNothingAndKeepsDeleting) {
  Put(0, 10, "value");
  EXPECT_FALSE(checkpoint_->CreateCheckpoint(root_ + "/missing/copy").ok());
  EXPECT_EQ(Number("rocksdb.is-file-deletions-enabled"), 1u);
}

TEST_F(CheckpointTest, IsMadeOfADatabaseThatIsOpenForReadingOnly) {
  Put(0, 100, "flushed");
  Flush();
  Put(100, 200, "in the log");
  checkpoint_.reset();
  OpenReadOnly();
  MakeCheckpointObject();
  uint64_t seqno = 0;
  ASSERT_OK(checkpoint_->CreateCheckpoint(copy_, 0, &seqno));
  EXPECT_EQ(seqno, 200u);
  std::string options_file;
  EXPECT_OK(GetLatestOptionsFileName(copy_, Env::Default(), &options_file));
  const Rows contents = RowsOf(copy_);
  EXPECT_EQ(contents.size(), 200u);
  EXPECT_EQ(contents.at("key7"), "flushed");
  EXPECT_EQ(contents.at("key150"), "in the log");
  ExportImportFilesMetaData* exported = nullptr;
  EXPECT_TRUE(
      checkpoint_->ExportColumnFamily(db_->DefaultColumnFamily(), root_ + "/export", &exported)
          .IsNotSupported());  // an export flushes
}

// It knows only the logs that it has read.
TEST_F(CheckpointTest, ADatabaseThatIsOpenForReadingOnlyListsNoLogs) {
  Put(0, 10, "in the log");
  checkpoint_.reset();
  OpenReadOnly();
  VectorWalPtr logs;
  EXPECT_TRUE(db_->GetSortedWalFiles(logs).IsNotSupported());
  std::unique_ptr<WalFile> log;
  EXPECT_TRUE(db_->GetCurrentWalFile(&log).IsNotSupported());
}

}  // namespace ashlar
