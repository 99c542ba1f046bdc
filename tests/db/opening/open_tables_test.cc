// SPDX-License-Identifier: Apache-2.0
//
// Tables at open: several threads open them, or only their sizes are checked; errors are found in
// both cases.
#include <atomic>
#include <utility>

#include "ashlar/file_system_wrapper.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kTables = 80;

// Counts the tables that are opened, and how often a directory is listed.
class CountingFiles final : public FileSystemWrapper {
 public:
  explicit CountingFiles(const std::shared_ptr<FileSystem>& target) : FileSystemWrapper(target) {}
  const char* Name() const override { return "CountingFiles"; }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    if (name.ends_with(".sst")) opened.fetch_add(1);
    return FileSystemWrapper::NewRandomAccessFile(name, options, file, dbg);
  }
  IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                       std::vector<std::string>* names, IODebugContext* dbg) override {
    listed.fetch_add(1);
    return FileSystemWrapper::GetChildren(dir, options, names, dbg);
  }
  std::atomic<int> opened{0}, listed{0};
};

class OpenTablesTest : public DbTest {
 protected:
  OpenTablesTest() {
    UseFiles(files_);
    options_.disable_auto_compactions = true;
    options_.level0_slowdown_writes_trigger = options_.level0_stop_writes_trigger = 1000;
    DbTest::Open();
    for (int i = 0; i < kTables; i++) {
      Put(StrCat("key", i), StrCat("value", i));
      Flush();
    }
    for (const LiveFileMetaData& table : Tables()) paths_.push_back(table.db_path + table.name);
    Close();
  }
  Status Open() {
    Drop();
    files_->opened = files_->listed = 0;
    return TryOpen();
  }
  void ExpectAllKeys() {
    for (int i = 0; i < kTables; i++) EXPECT_EQ(Get(StrCat("key", i)), StrCat("value", i));
  }
  // The status of an open after this damage to the table. Restores the table.
  template <typename Harm>
  Status StatusAfter(const std::string& path, const Harm& harm) {
    const std::string bytes = memory_->AllFiles()[path];
    harm(path, bytes);
    const Status status = Open();
    memory_->PutFile(path, bytes);
    return status;
  }
  void Delete(const std::string& path) {
    ASSERT_OK(memory_->DeleteFile(path, IOOptions(), nullptr));
  }

  const std::shared_ptr<CountingFiles> files_ = std::make_shared<CountingFiles>(memory_);
  std::vector<std::string> paths_;  // in the order of the metadata
};

}  // namespace

TEST_F(OpenTablesTest, OpensAllTablesByAnyNumberOfThreads) {
  for (const int threads : {0, 1, 3, 16}) {
    options_.max_file_opening_threads = threads;
    ASSERT_OK(Open());
    EXPECT_EQ(files_->opened, kTables) << threads;
    ExpectAllKeys();
    EXPECT_EQ(files_->opened, kTables) << threads;
  }
}

// With many tables, each listing takes a sixteenth of the time of an open. The directory is listed
// once before it is locked, for the version that wrote it, once after, and once for old info logs.
TEST_F(OpenTablesTest, ListsTheDirectoryOnceForAllThatItAsks) {
  ASSERT_OK(Open());
  EXPECT_EQ(files_->listed, 3);
  options_.write_compatible_with = "7.8";
  ASSERT_OK(Open());
  EXPECT_EQ(files_->listed, 2);
}

TEST_F(OpenTablesTest, OpensAFewTablesWhereFewMayStayOpen) {
  options_.max_open_files = 50;
  ASSERT_OK(Open());
  EXPECT_GT(files_->opened, 0);
  EXPECT_LT(files_->opened, 20);
  ExpectAllKeys();
}

TEST_F(OpenTablesTest, OpensNoneIfItIsNotToWait) {
  options_.open_files_async = true;
  ASSERT_OK(Open());
  EXPECT_EQ(files_->opened, 0);
  ExpectAllKeys();
  EXPECT_EQ(files_->opened, kTables);
}

TEST_F(OpenTablesTest, TellsOfMissingAndTruncatedTables) {
  const auto cut = [this](const std::string& path, const std::string& bytes) {
    memory_->PutFile(path, bytes.substr(0, bytes.size() - 1));
  };
  const auto remove = [this](const std::string& path, const std::string&) { Delete(path); };
  for (const bool is_lazy : {false, true}) {
    options_.open_files_async = is_lazy;
    for (const std::string& path : {paths_.front(), paths_[40], paths_.back()}) {
      for (const Status& status : {StatusAfter(path, cut), StatusAfter(path, remove)}) {
        EXPECT_TRUE(status.IsCorruption()) << status.ToString();
        EXPECT_NE(status.ToString().find(path), std::string::npos) << status.ToString();
      }
    }
  }
  options_.open_files_async = false;
  EXPECT_OK(Open());
  ExpectAllKeys();
}

// The whole tables can be read.
TEST_F(OpenTablesTest, WithoutParanoidChecksBadTablesFailTheirReadersOnly) {
  options_.paranoid_checks = false;
  Delete(paths_[20]);
  const std::string bytes = memory_->AllFiles()[paths_[40]];
  memory_->PutFile(paths_[40], bytes.substr(0, bytes.size() - 1));
  for (const bool is_lazy : {false, true}) {
    options_.open_files_async = is_lazy;
    ASSERT_OK(Open());
    int found = 0;
    for (int i = 0; i < kTables; i++) {
      std::string value;
      const Status status = db_->Get(ReadOptions(), StrCat("key", i), &value);
      if (status.ok()) {
        EXPECT_EQ(value, StrCat("value", i));
        found++;
      } else {
        EXPECT_FALSE(status.IsNotFound()) << i;
      }
    }
    EXPECT_GT(found, 0);
    EXPECT_LT(found, kTables);
    Put("key5", "value5");
  }
}

// The MANIFEST has the size of the table; with the checks, another size is an error.
TEST_F(OpenTablesTest, WithoutParanoidChecksATableThatHasGrownIsRead) {
  const std::string bytes = memory_->AllFiles()[paths_[40]];
  memory_->PutFile(paths_[40], bytes + "garbage");
  for (const bool is_lazy : {false, true}) {
    options_.open_files_async = is_lazy;
    options_.paranoid_checks = false;
    ASSERT_OK(Open());
    ExpectAllKeys();
    options_.paranoid_checks = true;
    EXPECT_TRUE(Open().IsCorruption());
  }
}

// The result does not depend on the order of the threads.
TEST_F(OpenTablesTest, TellsOfTheFirstBadTable) {
  Delete(paths_[60]);
  Delete(paths_[30]);
  Delete(paths_[31]);
  for (int i = 0; i < 20; i++) {
    const Status status = Open();
    EXPECT_NE(status.ToString().find(paths_[30]), std::string::npos) << status.ToString();
  }
}

}  // namespace ashlar
