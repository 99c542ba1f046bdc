// SPDX-License-Identifier: Apache-2.0
//
// Checksums of whole files: computed while tables are written, stored in the MANIFEST, reported to
// listeners and verified.
#include <mutex>

#include "ashlar/file_checksum.h"
#include "ashlar/listener.h"
#include "env/file_util.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Stores the checksums that are reported to listeners.
class CreationListener final : public EventListener {
 public:
  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    const std::lock_guard lock(mutex_);
    told_[info.file_path] = {.value = info.file_checksum, .function = info.file_checksum_func_name};
  }
  std::map<std::string, FileChecksum> told() {
    const std::lock_guard lock(mutex_);
    return told_;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, FileChecksum> told_;
};

// A function that the program defines: the sum of all bytes.
class SumGenerator final : public FileChecksumGenerator {
 public:
  void Update(const char* data, size_t n) override {
    for (size_t i = 0; i < n; i++) sum_ += static_cast<unsigned char>(data[i]);
  }
  void Finalize() override { text_ = StrCat("sum ", sum_); }
  std::string GetChecksum() const override { return text_; }
  const char* Name() const override { return "Sum"; }

 private:
  uint64_t sum_ = 0;
  std::string text_;
};

class SumFactory final : public FileChecksumGenFactory {
 public:
  std::unique_ptr<FileChecksumGenerator> CreateFileChecksumGenerator(
      const FileChecksumGenContext&) override {
    return std::make_unique<SumGenerator>();
  }
  const char* Name() const override { return "SumFactory"; }
};

class FileChecksumsTest : public DbTest {
 protected:
  FileChecksumsTest() {
    options_.statistics = CreateDBStatistics();
    options_.disable_auto_compactions = true;
    options_.listeners = {listener_};
    options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  }
  void FillTable(int number) {
    for (int i = 0; i < 100; i++) Put(StrCat("key", i), StrCat("value", number));
    Flush();
  }
  void Damage(const std::string& path) {
    std::string bytes = memory_->AllFiles()[path];
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    memory_->PutFile(path, bytes);
  }
  // The checksum of the bytes on disk.
  std::string ChecksumOnDisk(const std::string& path) {
    auto found =
        ChecksumFile(memory_.get(), path, FileOptions(), options_.file_checksum_gen_factory.get());
    return found.ok() ? found->value : found.status().ToString();
  }
  // All calls return the same checksum, that of the bytes on disk.
  void ExpectAllRecorded() {
    const std::unique_ptr<FileChecksumList> list(NewFileChecksumList());
    ASSERT_OK(db_->GetLiveFilesChecksumInfo(list.get()));
    for (const LiveFileMetaData& table : Tables()) {
      EXPECT_EQ(table.file_checksum, ChecksumOnDisk(table.db_path + table.name));
      EXPECT_EQ(table.file_checksum_func_name, kStandardDbFileChecksumFuncName);
      std::string value, function;
      ASSERT_OK(list->SearchOneFileChecksum(table.file_number, &value, &function));
      EXPECT_EQ(value, table.file_checksum);
      EXPECT_EQ(function, kStandardDbFileChecksumFuncName);
    }
    LiveFilesStorageInfoOptions with_checksums;
    with_checksums.include_checksum_info = true;
    std::vector<LiveFileStorageInfo> infos;
    ASSERT_OK(db_->GetLiveFilesStorageInfo(with_checksums, &infos));
    for (const LiveFileStorageInfo& info : infos) {
      if (info.file_type != kTableFile) continue;
      EXPECT_EQ(info.file_checksum, ChecksumOnDisk(StrCat(dir_, "/", info.relative_filename)));
      EXPECT_EQ(info.file_checksum_func_name, kStandardDbFileChecksumFuncName);
    }
  }

  const std::shared_ptr<CreationListener> listener_ = std::make_shared<CreationListener>();
};

}  // namespace

TEST_F(FileChecksumsTest, AreThoseOfTheFilesOfFlushesAndCompactionsAndStayAfterReopening) {
  Open();
  FillTable(1);
  FillTable(2);
  ASSERT_EQ(Tables().size(), 2u);
  ExpectAllRecorded();
  Compact();
  ASSERT_EQ(Tables().size(), 1u);
  ExpectAllRecorded();
  Open();
  ASSERT_EQ(Tables().size(), 1u);
  ExpectAllRecorded();
  ASSERT_OK(options_.statistics->Reset());
  EXPECT_OK(db_->VerifyFileChecksums(ReadOptions()));
  EXPECT_EQ(Ticks(VERIFY_CHECKSUM_READ_BYTES), Tables()[0].size);
}

TEST_F(FileChecksumsTest, AreOfTablesRecoveredFromLogsToo) {
  options_.avoid_flush_during_shutdown = true;
  Open();
  Put("key", "value");
  Open();
  Flush();
  ASSERT_EQ(Tables().size(), 1u);
  ExpectAllRecorded();
}

TEST_F(FileChecksumsTest, AreToldToListeners) {
  Open();
  FillTable(1);
  FillTable(2);
  Compact();
  const auto told = listener_->told();
  ASSERT_EQ(told.size(), 3u);
  const LiveFileMetaData table = Tables().front();
  const auto found = told.find(table.db_path + table.name);
  ASSERT_NE(found, told.end());
  EXPECT_EQ(found->second.value, table.file_checksum);
  for (const auto& [path, checksum] : told) {
    EXPECT_EQ(checksum.value.size(), 4u) << path;
    EXPECT_EQ(checksum.function, kStandardDbFileChecksumFuncName) << path;
  }
}

TEST_F(FileChecksumsTest, DifferIfOneByteDoes) {
  Open();
  FillTable(1);
  FillTable(2);
  const LiveFileMetaData table = Tables().back();
  const std::string path = table.db_path + table.name;
  Damage(path);
  const Status status = db_->VerifyFileChecksums(ReadOptions());
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find(table.relative_filename), std::string::npos);
}

TEST_F(FileChecksumsTest, AreOfBlobFilesToo) {
  options_.enable_blob_files = true;
  Open();
  FillTable(1);
  LiveFilesStorageInfoOptions with_checksums;
  with_checksums.include_checksum_info = true;
  std::vector<LiveFileStorageInfo> infos;
  ASSERT_OK(db_->GetLiveFilesStorageInfo(with_checksums, &infos));
  std::string path;
  for (const LiveFileStorageInfo& info : infos) {
    if (info.file_type != kBlobFile) continue;
    path = StrCat(dir_, "/", info.relative_filename);
    EXPECT_EQ(info.file_checksum, ChecksumOnDisk(path));
    EXPECT_EQ(info.file_checksum_func_name, kStandardDbFileChecksumFuncName);
  }
  ASSERT_FALSE(path.empty());
  Open();
  EXPECT_OK(db_->VerifyFileChecksums(ReadOptions()));
  Damage(path);
  const Status status = db_->VerifyFileChecksums(ReadOptions());
  EXPECT_TRUE(status.IsCorruption() && status.ToString().find(".blob") != std::string::npos)
      << status.ToString();
}

TEST_F(FileChecksumsTest, OfTablesThatWereWrittenWithoutAreNotMissed) {
  options_.file_checksum_gen_factory = nullptr;
  Open();
  FillTable(1);
  EXPECT_TRUE(db_->VerifyFileChecksums(ReadOptions()).IsInvalidArgument());
  EXPECT_EQ(Tables().front().file_checksum, kUnknownFileChecksum);
  EXPECT_EQ(Tables().front().file_checksum_func_name, kUnknownFileChecksumFuncName);
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  FillTable(2);
  EXPECT_OK(db_->VerifyFileChecksums(ReadOptions()));
}

TEST_F(FileChecksumsTest, AreOfAnyFunction) {
  options_.file_checksum_gen_factory = std::make_shared<SumFactory>();
  Open();
  FillTable(1);
  const LiveFileMetaData table = Tables().front();
  EXPECT_EQ(table.file_checksum_func_name, "Sum");
  EXPECT_EQ(table.file_checksum, ChecksumOnDisk(table.db_path + table.name));
  EXPECT_OK(db_->VerifyFileChecksums(ReadOptions()));
  // Another factory does not know the function.
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  EXPECT_TRUE(db_->VerifyFileChecksums(ReadOptions()).IsInvalidArgument());
}

}  // namespace ashlar
