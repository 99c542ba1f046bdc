// SPDX-License-Identifier: Apache-2.0
//
// Backups that are opened in their place.
#include "tests/db/utilities/backup/backup_fixture.h"
#include "tests/support/paths.h"

namespace ashlar {
namespace {

class InPlaceTest : public BackupTest {
 protected:
  BackupInfo InfoOf(BackupID id) {
    BackupInfo info;
    EXPECT_OK(engine_->GetBackupInfo(id, &info, /*include_file_details=*/true));
    return info;
  }
  Rows RowsInPlace(const BackupInfo& info, Options options = Options()) {
    options.env = info.env_for_open.get();
    std::unique_ptr<DB> db;
    EXPECT_OK(DB::OpenForReadOnly(options, info.name_for_open, &db));
    Rows rows;
    if (db == nullptr) return rows;
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      rows[it->key().ToString()] = it->value().ToString();
    }
    EXPECT_OK(it->status());
    EXPECT_OK(db->VerifyChecksum());
    return rows;
  }
};

TEST_F(InPlaceTest, OfEachMomentAndWithItsLog) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 50;
  Open();
  OpenEngine();
  Put(0, 100, std::string(100, 'x'));
  Flush();
  Put(100, 110, "in the log");
  Create();
  Put(0, 100, "later");
  CreateFlushed();
  Close();
  const auto before = memory_->AllFiles();
  Rows first = Expected(0, 100, std::string(100, 'x'));
  first.merge(Expected(100, 110, "in the log"));
  EXPECT_EQ(RowsInPlace(InfoOf(1)), first);
  Rows second = Expected(0, 100, "later");
  second.merge(Expected(100, 110, "in the log"));
  EXPECT_EQ(RowsInPlace(InfoOf(2)), second);
  EXPECT_EQ(memory_->AllFiles(), before);
}

TEST_F(InPlaceTest, ItOutlivesTheEngine) {
  Open();
  OpenEngine();
  Put(0, 10, "value");
  CreateFlushed();
  const BackupInfo info = InfoOf(1);
  engine_.reset();
  EXPECT_EQ(RowsInPlace(info), Expected(0, 10, "value"));
}

TEST_F(InPlaceTest, WithoutSharing) {
  backup_options_.share_table_files = false;
  Open();
  OpenEngine();
  Put(0, 10, "value");
  CreateFlushed();
  EXPECT_EQ(RowsInPlace(InfoOf(1)), Expected(0, 10, "value"));
}

TEST_F(InPlaceTest, NothingCanBeChanged) {
  Open();
  OpenEngine();
  Put(0, 10, "value");
  CreateFlushed();
  const auto before = memory_->AllFiles();
  const BackupInfo info = InfoOf(1);
  Options options;
  options.env = info.env_for_open.get();
  std::unique_ptr<DB> db;
  EXPECT_TRUE(DB::Open(options, info.name_for_open, &db).IsIOError());
  EXPECT_FALSE(DestroyDB(info.name_for_open, options).ok());
  EXPECT_EQ(memory_->AllFiles(), before);
}

// On real files, by a relative path too, which RocksDB's engine refuses.
TEST_F(InPlaceTest, ByARelativePath) {
  const std::string dir = FreshTempDir("backup_in_place");
  UseFiles(FileSystem::Default());
  dir_ = dir + "/db";
  Open();
  Put(0, 10, "value");
  BackupEngine* engine = nullptr;
  const BackupEngineOptions in_dir(dir + "/backups");
  ASSERT_OK(BackupEngine::Open(Env::Default(), in_dir, &engine));
  engine_.reset(engine);
  CreateFlushed();
  std::string here;
  ASSERT_OK(Env::Default()->GetAbsolutePath(".", &here));
  std::string way_up;
  for (size_t at = here.find('/'); at != std::string::npos; at = here.find('/', at + 1)) {
    way_up += "../";
  }
  ASSERT_OK(BackupEngine::Open(Env::Default(),
                               BackupEngineOptions(way_up + dir.substr(1) + "/backups"), &engine));
  engine_.reset(engine);
  EXPECT_EQ(RowsInPlace(InfoOf(1)), Expected(0, 10, "value"));
}

}  // namespace
}  // namespace ashlar
