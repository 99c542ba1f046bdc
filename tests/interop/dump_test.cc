// SPDX-License-Identifier: Apache-2.0
//
// Dumps that we write and RocksDB loads, and the other way round. Skipped without RocksDB's
// library.
#include <gtest/gtest.h>

#include <string>

#include "ashlar/db_dump_tool.h"
#include "ashlar/env.h"
#include "tests/interop/utilities_theirs.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class DumpInterop : public UtilitiesInterop {
 protected:
  DumpInterop() : UtilitiesInterop("dump_interop") {}
  void SetUp() override {
    UtilitiesInterop::SetUp();
    if (IsSkipped()) return;
    options_.create_if_missing = true;
    options_.write_compatible_with = "7.8";
  }
  void Fill(const std::string& path) {
    OpenedDb db;
    ASSERT_OK(db.Open(options_, path));
    for (int i = 0; i < 1000; ++i) {
      ASSERT_OK(db.db()->Put({}, StrCat("key", i), std::string(static_cast<size_t>(i), 'v')));
    }
    ASSERT_OK(db.ReadAll(&rows_));
    ASSERT_OK(db.Close());
  }
  Contents Read(const std::string& path) {
    Contents contents;
    OpenedDb db;
    EXPECT_OK(db.Open(options_, path));
    EXPECT_OK(db.ReadAll(&contents));
    return contents;
  }
  std::string BytesOf(const std::string& path) {
    std::string bytes;
    EXPECT_OK(ReadFileToString(Env::Default(), path, &bytes));
    return bytes;
  }

  Options options_;
  Contents rows_;
};

TEST_F(DumpInterop, BothWriteTheSameBytes) {
  Fill(dir_ + "/db");
  DumpOptions dump;
  dump.db_path = dir_ + "/db";
  dump.dump_location = dir_ + "/ours";
  dump.anonymous = true;
  ASSERT_TRUE(DbDumpTool().Run(dump, options_));
  RunTheirs(StrCat("dump ", dir_, "/db ", dir_, "/theirs anonymous"));
  EXPECT_EQ(BytesOf(dir_ + "/ours"), BytesOf(dir_ + "/theirs"));
}

TEST_F(DumpInterop, EachLoadsTheDumpOfTheOther) {
  Fill(dir_ + "/db");
  DumpOptions dump;
  dump.db_path = dir_ + "/db";
  dump.dump_location = dir_ + "/ours";
  ASSERT_TRUE(DbDumpTool().Run(dump, options_));
  RunTheirs(StrCat("undump ", dir_, "/ours ", dir_, "/loaded"));
  EXPECT_EQ(Read(dir_ + "/loaded"), rows_);
  RunTheirs(StrCat("dump ", dir_, "/loaded ", dir_, "/theirs"));
  UndumpOptions undump;
  undump.dump_location = dir_ + "/theirs";
  undump.db_path = dir_ + "/back";
  ASSERT_TRUE(DbUndumpTool().Run(undump, options_));
  EXPECT_EQ(Read(dir_ + "/back"), rows_);
}

}  // namespace
}  // namespace ashlar
