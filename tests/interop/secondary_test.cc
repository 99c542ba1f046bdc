// SPDX-License-Identifier: Apache-2.0
//
// A secondary of one engine beside a primary of the other. Skipped without RocksDB's tools.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "tests/support/opened_db.h"
#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class SecondaryInterop : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasProgram("ldb")) return SkipAsMissing("ldb of RocksDB");
    const std::string dir = FreshTempDir("secondary_interop");
    db_dir_ = dir + "/db";
    own_dir_ = dir + "/secondary";
  }

  // Of RocksDB's tool on the database.
  std::string Ldb(const std::string& arguments) {
    int exit_code = 0;
    const std::string out = RunCommand(StrCat("ldb --db='", db_dir_, "' ", arguments), &exit_code);
    EXPECT_EQ(exit_code, 0) << out;
    return out;
  }
  static Rows RowsOf(DB* db) {
    Rows rows;
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      rows[it->key().ToString()] = it->value().ToString();
    }
    EXPECT_OK(it->status());
    return rows;
  }
  static std::string Shown(const Rows& rows) {
    std::string text;
    for (const auto& [key, value] : rows) StrAppend(&text, key, " : ", value, "\n");
    return text;
  }

  std::string db_dir_, own_dir_;
};

}  // namespace

// The tool opens and closes the database for each command, so each adds a log and a MANIFEST.
TEST_F(SecondaryInterop, OursFollowsADatabaseThatRocksDbWrites) {
  if (IsSkipped()) return;
  Ldb("--create_if_missing put a 1");
  std::unique_ptr<DB> secondary;
  ASSERT_OK(DB::OpenAsSecondary(Options(), db_dir_, own_dir_, &secondary));
  Rows expected = {{"a", "1"}};
  EXPECT_EQ(RowsOf(secondary.get()), expected);
  for (int i = 0; i < 8; i++) {
    const std::string key = StrCat("k", i);
    Ldb(StrCat("batchput ", key, " v ", "last ", i));
    if (i % 3 == 1) Ldb("delete a");
    if (i % 3 == 2) Ldb("put a 2");
    if (i % 4 == 3) Ldb("compact");
    if (i % 3 == 1) expected.erase("a");
    if (i % 3 == 2) expected["a"] = "2";
    expected[key] = "v";
    expected["last"] = StrCat(i);
    ASSERT_OK(secondary->TryCatchUpWithPrimary());
    ASSERT_EQ(RowsOf(secondary.get()), expected) << i;
  }
}

// Without recycled logs: secondaries of RocksDB 7.8 never return from reading one, whichever engine
// wrote it.
TEST_F(SecondaryInterop, RocksDbsFollowsADatabaseThatIsOpenHere) {
  if (IsSkipped()) return;
  Options options;
  options.create_if_missing = true;
  options.write_compatible_with = "7.8";
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, db_dir_, &db));
  for (int i = 0; i < 6; i++) {
    ASSERT_OK(db->Put(WriteOptions(), StrCat("k", i), "v"));
    ASSERT_OK(db->Put(WriteOptions(), "last", StrCat(i)));
    if (i % 3 == 2) {
      ASSERT_OK(db->Flush(FlushOptions()));
    }
    if (i == 4) {
      ASSERT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    }
    const std::string out = Ldb(StrCat("--secondary_path='", own_dir_, "' scan"));
    ASSERT_EQ(out, Shown(RowsOf(db.get()))) << i;
  }
}

}  // namespace ashlar
