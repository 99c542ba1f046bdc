// SPDX-License-Identifier: Apache-2.0
//
// Families, names and directories of files that RepairDB() finds.
#include <memory>

#include "ashlar/file_checksum.h"
#include "ashlar/utilities/backup_engine.h"
#include "env/env_adaptors.h"
#include "env/filename.h"
#include "tests/db/repair/repair_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class RepairedFilesTest : public RepairTest {};

// Each directory below the root is a file system of its own.
class SeveralDisks final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "SeveralDisks"; }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    if (DiskOf(from) != DiskOf(to)) return IOStatus::IOError("rename", "Invalid cross-device link");
    return FileSystemWrapper::RenameFile(from, to, options, dbg);
  }

 private:
  static std::string DiskOf(const std::string& path) { return path.substr(0, path.find('/', 1)); }
};

TEST_F(RepairedFilesTest, ABlobFileOnAnotherDiskGetsItsFooterThere) {
  UseFiles(std::make_shared<SeveralDisks>(memory_));
  options_.enable_blob_files = true;
  options_.cf_paths = {{"/second", 1 << 30}};
  Open();
  Put("a", std::string(200, 'a'));
  Put("b", std::string(200, 'b'));
  Flush();
  Close();
  const std::string blob = Newest(".blob");
  ASSERT_TRUE(blob.starts_with("/second/"));
  Cut(blob, Bytes(blob).size() - 100);
  Repair();
  EXPECT_TRUE(Reports("a footer added"));
  Open();
  EXPECT_EQ(Get("a"), std::string(200, 'a'));
}

// With the second repair the first one was interrupted after it had added the footer.
TEST_F(RepairedFilesTest, ABlobFileThatGotAFooterHasItsChecksum) {
  for (const bool is_interrupted : {false, true}) {
    options_.enable_blob_files = true;
    options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
    Open();
    Put("a", std::string(200, 'a'));
    Put("b", std::string(200, 'b'));
    Flush();
    Close();
    const std::string blob = Newest(".blob");
    Cut(blob, Bytes(blob).size() - 100);
    const auto files = memory_->AllFiles();
    Repair();
    if (is_interrupted) {
      const std::string completed = Bytes(blob);
      for (const auto& [path, bytes] : memory_->AllFiles()) Unlink(path);
      for (const auto& [path, bytes] : files) memory_->PutFile(path, bytes);
      memory_->PutFile(blob, completed);
      Repair();
    }
    Open();
    EXPECT_EQ(Get("a"), std::string(200, 'a'));
    EXPECT_OK(db_->VerifyFileChecksums(ReadOptions()));
    const std::string backups = StrCat("/backups", is_interrupted);
    BackupEngine* engine = nullptr;
    ASSERT_OK(BackupEngine::Open(env_.get(), BackupEngineOptions(backups), &engine));
    const std::unique_ptr<BackupEngine> owner(engine);
    EXPECT_OK(engine->CreateNewBackup(CreateBackupOptions(), db_.get()));
    Close();
    for (const auto& [path, bytes] : memory_->AllFiles()) Unlink(path);
  }
}

// Nobody can compute it then.
TEST_F(RepairedFilesTest, WithoutAFactoryABlobFileThatGotAFooterHasNoChecksum) {
  options_.enable_blob_files = true;
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  Put("a", std::string(200, 'a'));
  Put("b", std::string(200, 'b'));
  Flush();
  Close();
  const std::string blob = Newest(".blob");
  Cut(blob, Bytes(blob).size() - 100);
  const auto factory = std::exchange(options_.file_checksum_gen_factory, nullptr);
  Repair();
  options_.file_checksum_gen_factory = factory;
  Open();
  EXPECT_OK(db_->VerifyFileChecksums(ReadOptions()));
}

TEST_F(RepairedFilesTest, OfFamiliesWithOneNameTheLastOneLives) {
  Open({"default", "users"});
  Put(handles_[1], "u", "of the dropped one");
  Flush(handles_[1]);
  const std::string sst = Newest(".sst");
  const std::string bytes = Bytes(sst);
  ASSERT_OK(db_->DropColumnFamily(handles_[1]));
  DestroyHandles();
  CreateFamily("users");
  Put(Family("users"), "v", "of the new one");
  Flush(Family("users"));
  Close();
  memory_->PutFile(sst, bytes);  // its deletion was not durable
  DeleteAll("MANIFEST");
  Repair();
  OpenAll();
  EXPECT_EQ(ReadAll(), (Contents{{"default", {}}, {"users", {{"v", "of the new one"}}}}));
  EXPECT_TRUE(IsLost(sst.substr(sst.rfind('/'))));
}

// Repair compares the ages of the tables, and reads them for references to blob files.
TEST_F(RepairedFilesTest, TablesWithLevelDBsExtensionAreFound) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 100;
  Open();
  Put("a", "old");
  Put("m", "old");
  Flush();
  Compact();
  Put("a", std::string(200, 'n'));
  Put("b", "1");
  Flush();
  const std::string newer = Newest(".sst");
  Put("m", "newest");
  Flush();
  const Contents before = ReadAll();
  Close();
  for (const std::string& path : Files(".sst")) {
    ASSERT_OK(
        memory_->RenameFile(path, path.substr(0, path.size() - 4) + ".ldb", IOOptions(), nullptr));
  }
  DeleteAll("MANIFEST");
  Repair();
  OpenAll();
  EXPECT_EQ(ReadAll(), before);
}

}  // namespace
}  // namespace ashlar
