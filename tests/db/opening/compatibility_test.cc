// SPDX-License-Identifier: Apache-2.0
//
// A directory that an older RocksDB wrote is written so that this RocksDB can still open it, unless
// an option needs a newer format or the program requests it.
#include <filesystem>
#include <fstream>

#include "tests/support/json.h"
#include "tests/support/paths.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

namespace stdfs = std::filesystem;

class Compatibility : public DbTest {
 protected:
  void SetUp() override { dir_ = FreshTempDir("compatibility") + "/db"; }

  Status Open(const Options& options) {
    options_ = options;
    return TryOpen();
  }

  // As if this release of RocksDB had opened the directory last.
  void PutOptionsFile(const std::string& version) {
    Close();
    std::ofstream(StrCat(dir_, "/OPTIONS-900000"))
        << "[Version]\n  rocksdb_version=" << version
        << "\n  options_file_version=1.1\n[DBOptions]\n[CFOptions \"default\"]\n";
  }

  static Options Creating() {
    Options options;
    options.create_if_missing = true;
    return options;
  }
  void MakeWithOptionsOf(const std::string& version) {
    ASSERT_OK(Open(Creating()));
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
};

TEST_F(Compatibility, ANewDatabaseIsWrittenForTheNewest) {
  ASSERT_OK(Open(Creating()));
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
    ASSERT_OK(Open(Options()));  // now the OPTIONS file is ours, with the same result
    EXPECT_TRUE(WritesFor78()) << version;
    Close();
    stdfs::remove_all(dir_);
  }
}

TEST_F(Compatibility, OneOfTheNewestOrOfNoneIsNot) {
  for (const char* version : {"11.9.0", "99.1.0", "nonsense", ""}) {
    MakeWithOptionsOf(version);
    ASSERT_OK(Open(Options()));
    EXPECT_EQ(db_->GetDBOptions().write_compatible_with, "") << version;
    Close();
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
    Close();
    stdfs::remove_all(dir_);
  }
}

TEST_F(Compatibility, ReadingOnlyAsksForNothing) {
  MakeWithOptionsOf("7.8.3");
  options_ = Options();
  OpenReadOnly();
  EXPECT_EQ(db_->GetDBOptions().write_compatible_with, "");
}

TEST_F(Compatibility, AnOptionsFileThatCannotBeReadIsAnError) {
  MakeWithOptionsOf("7.8.3");
  stdfs::create_directory(dir_ + "/OPTIONS-900001");
  EXPECT_FALSE(Open(Options()).ok());
  stdfs::remove(dir_ + "/OPTIONS-900001");
  EXPECT_OK(Open(Options()));
}

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
  EXPECT_TRUE(TryOpenReadOnly().IsIOError());
  EXPECT_EQ(ReadTestFile(dir_), "hello");
}

TEST_F(Compatibility, AFileIsNotADirectoryForLogs) {
  Options options = Creating();
  options.wal_dir = dir_ + "_logs";
  std::ofstream(options.wal_dir) << "hello";
  const Status status = Open(options);
  EXPECT_NE(status.ToString().find(options.wal_dir + ": exists but is not a directory"),
            std::string::npos)
      << status.ToString();
}

}  // namespace
}  // namespace ashlar
