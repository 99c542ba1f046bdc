// SPDX-License-Identifier: Apache-2.0
//
// Lists of live files have the names and sizes on disk without calls to the file system. Obsolete
// logs are closed without the DB mutex. Nothing is listed that does not fit together.
#include <atomic>
#include <utility>

#include "ashlar/file_checksum.h"
#include "ashlar/file_system_wrapper.h"
#include "env/filename.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// A log whose destructor calls the database: a deadlock if the caller has the DB mutex.
class AskingLog final : public FSWritableFileOwnerWrapper {
 public:
  AskingLog(std::unique_ptr<FSWritableFile>&& file, std::atomic<DB*>* db, std::atomic<int>* closed)
      : FSWritableFileOwnerWrapper(std::move(file)), db_(db), closed_(closed) {}
  ~AskingLog() override {
    DB* const db = db_->load();
    if (db == nullptr) return;
    static_cast<void>(db->GetDBOptions());
    closed_->fetch_add(1);
  }

 private:
  std::atomic<DB*>* const db_;
  std::atomic<int>* const closed_;
};

class WatchedFiles final : public FileSystemWrapper {
 public:
  explicit WatchedFiles(std::shared_ptr<FileSystem> target)
      : FileSystemWrapper(std::move(target)) {}
  const char* Name() const override { return "WatchedFiles"; }

  IOStatus GetFileSize(const std::string& name, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) override {
    questions++;
    return FileSystemWrapper::GetFileSize(name, options, size, dbg);
  }
  IOStatus FileExists(const std::string& name, const IOOptions& options,
                      IODebugContext* dbg) override {
    questions++;
    return FileSystemWrapper::FileExists(name, options, dbg);
  }
  IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                       std::vector<std::string>* names, IODebugContext* dbg) override {
    questions++;
    return FileSystemWrapper::GetChildren(dir, options, names, dbg);
  }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    questions++;
    return FileSystemWrapper::NewRandomAccessFile(name, options, file, dbg);
  }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    IOStatus status = FileSystemWrapper::NewWritableFile(name, options, file, dbg);
    if (status.ok() && name.ends_with(".log")) {
      *file = std::make_unique<AskingLog>(std::move(*file), &db, &closed_logs);
    }
    return status;
  }

  std::atomic<int> questions{0};
  std::atomic<int> closed_logs{0};
  std::atomic<DB*> db{nullptr};
};

class LiveFilesTest : public DbTest {
 protected:
  LiveFilesTest() {
    UseFiles(files_);
    Open();
    other_ = CreateFamily("other");
    for (int i = 0; i < 3; i++) {
      Put(StrCat("key", i), "value");
      Flush();
    }
    Put(other_, "key", "value");
    Flush(other_);
    Put("in the log", "value");
    WaitForJobs();
  }
  void TearDown() override {
    files_->db = nullptr;
    DbTest::TearDown();
  }

  const std::shared_ptr<WatchedFiles> files_ = std::make_shared<WatchedFiles>(memory_);
  ColumnFamilyHandle* other_ = nullptr;
};

class ShownStateTest : public DbTest {};

}  // namespace

TEST_F(LiveFilesTest, TheListsSayWhatIsOnDiskWithoutAskingIt) {
  LiveFilesStorageInfoOptions list_options;
  list_options.wal_size_for_flush = UINT64_MAX;
  list_options.include_checksum_info = true;
  files_->questions = 0;
  std::vector<LiveFileStorageInfo> infos;
  ASSERT_OK(db_->GetLiveFilesStorageInfo(list_options, &infos));
  std::vector<std::string> names;
  uint64_t manifest_bytes = 0;
  ASSERT_OK(db_->GetLiveFiles(names, &manifest_bytes, /*flush_memtable=*/false));
  const std::unique_ptr<FileChecksumList> checksums(NewFileChecksumList());
  ASSERT_OK(db_->GetLiveFilesChecksumInfo(checksums.get()));
  EXPECT_EQ(files_->questions, 0);

  std::map<FileType, int> count;
  const std::map<std::string, std::string> on_disk = memory_->AllFiles();
  for (const LiveFileStorageInfo& info : infos) {
    count[info.file_type]++;
    const auto file = on_disk.find(info.directory + "/" + info.relative_filename);
    ASSERT_NE(file, on_disk.end()) << info.relative_filename;
    if (!info.replacement_contents.empty()) {
      EXPECT_EQ(file->second, info.replacement_contents);
    } else if (info.trim_to_size) {
      EXPECT_LE(info.size, file->second.size()) << info.relative_filename;
    } else {
      EXPECT_EQ(info.size, file->second.size()) << info.relative_filename;
    }
    if (info.file_type == kDescriptorFile) {
      EXPECT_EQ(info.size, manifest_bytes);
    }
  }
  EXPECT_EQ(count[kTableFile], 4);
  EXPECT_EQ(count[kDescriptorFile], 1);
  EXPECT_EQ(count[kCurrentFile], 1);
  EXPECT_EQ(count[kOptionsFile], 1);
  EXPECT_GE(count[kWalFile], 1);
  EXPECT_EQ(checksums->size(), 4u);
  // Logs are not among the names.
  EXPECT_EQ(names.size() + static_cast<size_t>(count[kWalFile]), infos.size());
  for (const std::string& name : names) EXPECT_TRUE(on_disk.contains(dir_ + name)) << name;
}

// Programs that copy files compare checksums unless the function is unknown.
TEST_F(LiveFilesTest, EveryFileNamesItsChecksumFunctionIfItIsAskedFor) {
  for (const bool is_asked : {true, false}) {
    LiveFilesStorageInfoOptions list_options;
    list_options.include_checksum_info = is_asked;
    std::vector<LiveFileStorageInfo> infos;
    ASSERT_OK(db_->GetLiveFilesStorageInfo(list_options, &infos));
    ASSERT_GE(infos.size(), 8u);
    for (const LiveFileStorageInfo& info : infos) {
      EXPECT_EQ(info.file_checksum_func_name, is_asked ? kUnknownFileChecksumFuncName : "")
          << info.relative_filename;
      EXPECT_EQ(info.file_checksum, kUnknownFileChecksum) << info.relative_filename;
    }
  }
}

TEST_F(LiveFilesTest, MetaDataIsOfTheLevelAndTheRangeThatTheCallNames) {
  const auto ask = [this](const OptSlice& start, const OptSlice& limit, int level = -1) {
    ColumnFamilyMetaData metadata;
    const GetColumnFamilyMetaDataOptions options(start, limit, level);
    db_->GetColumnFamilyMetaData(options, &metadata);
    return metadata;
  };
  ColumnFamilyMetaData all;
  db_->GetColumnFamilyMetaData(&all);
  ASSERT_EQ(all.file_count, 3u);
  const ColumnFamilyMetaData middle = ask("key1", "key2");
  EXPECT_EQ(middle.levels.size(), all.levels.size());
  EXPECT_EQ(middle.file_count, 1u);
  ASSERT_EQ(middle.levels[0].files.size(), 1u);
  EXPECT_EQ(middle.levels[0].files[0].smallestkey, "key1");
  EXPECT_EQ(middle.levels[0].size, middle.levels[0].files[0].size);
  EXPECT_EQ(middle.size, middle.levels[0].size);
  EXPECT_EQ(ask("key1", nullptr).file_count, 2u);
  EXPECT_EQ(ask(nullptr, "key1").file_count, 1u);
  EXPECT_EQ(ask("l", nullptr).file_count, 0u);

  const ColumnFamilyMetaData top = ask(nullptr, nullptr, 0);
  EXPECT_EQ(top.levels.size(), 1u);
  EXPECT_EQ(top.size, all.size);
  const ColumnFamilyMetaData below = ask(nullptr, nullptr, 1);
  EXPECT_EQ(below.size + below.file_count, 0u);
  ASSERT_EQ(below.levels.size(), 1u);
  EXPECT_EQ(below.levels[0].level, 1);
  EXPECT_TRUE(ask(nullptr, nullptr, 99).levels.empty());

  Compact();  // below level 0
  EXPECT_EQ(ask(nullptr, nullptr, 0).file_count, 0u);
  EXPECT_EQ(ask("key2", nullptr).file_count, 1u);
  EXPECT_EQ(ask("key3", nullptr).file_count, 0u);
  EXPECT_EQ(ask(nullptr, "in the log").file_count, 0u);
}

TEST_F(LiveFilesTest, LogsAreClosedWithoutTheDbMutex) {
  files_->db = db_.get();
  for (int i = 0; i < 3; i++) {
    Put("key", "value");
    Put(other_, "key", "value");
    Flush({db_->DefaultColumnFamily(), other_});
  }
  WaitForJobs();
  EXPECT_GE(files_->closed_logs, 2);
}

// The MANIFEST names a table that is missing, and describes a later state than the one that is
// shown. So no copy could be made from the lists.
TEST_F(ShownStateTest, ADatabaseThatShowsAnOlderStateThanItsManifestListsNoFiles) {
  options_.disable_auto_compactions = true;
  Open();
  Put("a");
  Flush();
  Put("b");
  Flush();
  const std::string newest = dir_ + "/" + BaseNameOf(TableNames(0).front());
  Close();
  ASSERT_OK(memory_->DeleteFile(newest, IOOptions(), nullptr));
  options_.best_efforts_recovery = true;
  OpenReadOnly();
  EXPECT_EQ(Scan(), "a=v");
  std::vector<std::string> names;
  uint64_t manifest_bytes = 0;
  std::vector<LiveFileStorageInfo> infos;
  for (const Status& status : {db_->GetLiveFiles(names, &manifest_bytes, /*flush_memtable=*/false),
                               db_->GetLiveFilesStorageInfo({}, &infos)}) {
    EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
    EXPECT_NE(status.ToString().find("best-efforts recovery"), std::string::npos)
        << status.ToString();
  }
  EXPECT_TRUE(names.empty());
  EXPECT_TRUE(infos.empty());
  Open();  // writes a MANIFEST that fits
  EXPECT_OK(db_->GetLiveFiles(names, &manifest_bytes, /*flush_memtable=*/false));
  EXPECT_FALSE(names.empty());
}

}  // namespace ashlar
