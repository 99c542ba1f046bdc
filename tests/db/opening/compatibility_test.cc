// SPDX-License-Identifier: Apache-2.0
//
// A directory that an older RocksDB wrote is written on so that this RocksDB can open it, until an
// option asks for something newer or the program says otherwise.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/table.h"
#include "tests/support/json.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

namespace stdfs = std::filesystem;

class Compatibility : public testing::Test {
 protected:
  void SetUp() override { dir_ = FreshTempDir("compatibility") + "/db"; }

  Status Open(const Options& options) {
    db_.reset();
    return DB::Open(options, dir_, &db_);
  }

  // As if that release had been the last to open the directory.
  void PutOptionsFile(const std::string& version) {
    db_.reset();
    std::ofstream(StrCat(dir_, "/OPTIONS-900000"))
        << "[Version]\n  rocksdb_version=" << version
        << "\n  options_file_version=1.1\n[DBOptions]\n[CFOptions \"default\"]\n";
  }

  void MakeWithOptionsOf(const std::string& version) {
    Options options;
    options.create_if_missing = true;
    ASSERT_OK(Open(options));
    PutOptionsFile(version);
  }

  std::string NewestOptionsText() const {
    std::map<std::string, std::string> paths;
    for (const auto& file : stdfs::directory_iterator(dir_)) {
      const std::string name = file.path().filename();
      if (name.substr(0, 8) == "OPTIONS-") paths[name] = file.path();
    }
    return paths.empty() ? "" : ReadTestFile(paths.rbegin()->second);
  }

  bool WritesFor78() const {
    return NewestOptionsText().find("rocksdb_version=7.8.3") != std::string::npos;
  }

  std::string dir_;
  std::unique_ptr<DB> db_;
};

TEST_F(Compatibility, ANewDatabaseIsWrittenForTheNewest) {
  Options options;
  options.create_if_missing = true;
  ASSERT_OK(Open(options));
  EXPECT_EQ(db_->GetDBOptions().write_compatible_with, "");
  ASSERT_OK(Open(Options()));
  EXPECT_FALSE(WritesFor78());
}

TEST_F(Compatibility, ADirectoryOfAnOlderRocksDbIsKept) {
  for (const char* version : {"7.8.3", "6.29.5", "10.4.2"}) {
    MakeWithOptionsOf(version);
    ASSERT_OK(Open(Options()));
    EXPECT_EQ(db_->GetDBOptions().write_compatible_with, "7.8") << version;
    EXPECT_TRUE(WritesFor78()) << version;
    EXPECT_NE(NewestOptionsText().find("  format_version=5\n"), std::string::npos);
    ASSERT_OK(Open(Options()));  // and our own file says so again
    EXPECT_TRUE(WritesFor78()) << version;
    db_.reset();
    stdfs::remove_all(dir_);
  }
}

TEST_F(Compatibility, OneOfTheNewestOrOfNoneIsNot) {
  for (const char* version : {"11.9.0", "99.1.0", "nonsense", ""}) {
    MakeWithOptionsOf(version);
    ASSERT_OK(Open(Options()));
    EXPECT_EQ(db_->GetDBOptions().write_compatible_with, "") << version;
    db_.reset();
    stdfs::remove_all(dir_);
  }
}

TEST_F(Compatibility, TheProgramMaySayOtherwise) {
  MakeWithOptionsOf("7.8.3");
  Options options;
  options.write_compatible_with = "11.9";
  ASSERT_OK(Open(options));
  EXPECT_FALSE(WritesFor78());
  ASSERT_OK(Open(Options()));
  EXPECT_FALSE(WritesFor78());
}

TEST_F(Compatibility, AskingForSomethingNewerIsSayingOtherwise) {
  Options with_format;
  BlockBasedTableOptions table;
  table.format_version = 7;
  with_format.table_factory.reset(NewBlockBasedTableFactory(table));
  Options with_option;
  with_option.memtable_max_range_deletions = 100;
  Options with_db_option;
  with_db_option.compaction_verify_record_count = false;
  for (const Options& options : {with_format, with_option, with_db_option}) {
    MakeWithOptionsOf("7.8.3");
    ASSERT_OK(Open(options));
    EXPECT_FALSE(WritesFor78());
    db_.reset();
    stdfs::remove_all(dir_);
  }
}

TEST_F(Compatibility, ReadingOnlyAsksForNothing) {
  MakeWithOptionsOf("7.8.3");
  ASSERT_OK(DB::OpenForReadOnly(Options(), dir_, &db_));
  EXPECT_EQ(db_->GetDBOptions().write_compatible_with, "");
}

TEST_F(Compatibility, AnOptionsFileThatCannotBeReadIsAnError) {
  MakeWithOptionsOf("7.8.3");
  stdfs::create_directory(dir_ + "/OPTIONS-900001");
  EXPECT_FALSE(Open(Options()).ok());
  stdfs::remove(dir_ + "/OPTIONS-900001");
  EXPECT_OK(Open(Options()));
}

// ---- a file where a directory is wanted

TEST_F(Compatibility, AFileIsNotADatabase) {
  std::ofstream(dir_) << "hello";
  for (const bool creates : {false, true}) {
    Options options;
    options.create_if_missing = creates;
    const Status status = Open(options);
    EXPECT_TRUE(status.IsIOError()) << status.ToString();
    EXPECT_NE(status.ToString().find(dir_ + ": exists but is not a directory"), std::string::npos)
        << status.ToString();
  }
  EXPECT_TRUE(DB::OpenForReadOnly(Options(), dir_, &db_).IsIOError());
  EXPECT_EQ(ReadTestFile(dir_), "hello");
}

TEST_F(Compatibility, AFileIsNotADirectoryForLogs) {
  Options options;
  options.create_if_missing = true;
  options.wal_dir = dir_ + "_logs";
  std::ofstream(options.wal_dir) << "hello";
  const Status status = Open(options);
  EXPECT_NE(status.ToString().find(options.wal_dir + ": exists but is not a directory"),
            std::string::npos)
      << status.ToString();
}

}  // namespace
}  // namespace ashlar
