// SPDX-License-Identifier: Apache-2.0
//
// PlainTables that RocksDB 7.8.3 has written are read: single tables of all encodings, and a
// database, which goes on with block-based tables. Damage never crashes, and is told where rows
// show it.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/slice_transform.h"
#include "ashlar/sst_file_reader.h"
#include "env/file_util.h"
#include "tests/support/opened_db.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string SampleTable(const char* name) {
  return SourcePath(StrCat("tests/data/plain/", name, ".sst"));
}
// Kinds: keys whole or with shared prefixes; without or with a stored index; lengths of keys stored
// or not.
constexpr const char* kSamples[] = {"000", "001", "010", "100", "111"};

Rows ExpectedRows() {
  Rows rows = {{"aa01", "v1"}, {"aa02", "v4"}, {"ab04", "xxx"}};
  for (int i = 0; i < 300; i++) {
    char key[8];
    std::snprintf(key, sizeof(key), "b%c%02d", 'a' + i / 100, i % 100);
    rows[key] = std::string(static_cast<size_t>(i % 70), 'z');
  }
  return rows;
}

Rows RowsOf(Iterator* iterator) {
  Rows rows;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    rows[iterator->key().ToString()] = iterator->value().ToString();
  }
  EXPECT_OK(iterator->status());
  return rows;
}

TEST(PlainTable, TablesOfAllEncodingsHaveTheirRows) {
  for (const char* const name : kSamples) {
    SCOPED_TRACE(name);
    SstFileReader reader{Options()};
    ASSERT_OK(reader.Open(SampleTable(name)));
    const std::unique_ptr<Iterator> iterator(reader.NewIterator(ReadOptions()));
    EXPECT_EQ(RowsOf(iterator.get()), ExpectedRows());
    Rows backwards;
    for (iterator->SeekToLast(); iterator->Valid(); iterator->Prev()) {
      backwards[iterator->key().ToString()] = iterator->value().ToString();
    }
    EXPECT_EQ(backwards, ExpectedRows());
    iterator->SeekForPrev("ab03");  // deleted
    ASSERT_TRUE(iterator->Valid());
    EXPECT_EQ(iterator->key().ToString(), "aa02");
    EXPECT_EQ(reader.GetTableProperties()->num_entries, 305u);
    EXPECT_OK(reader.VerifyChecksum());
  }
}

// In the last level, with user keys, and elsewhere.
TEST(CuckooTable, TablesOfBothLevelsHaveTheirRows) {
  for (const bool is_last_level : {false, true}) {
    Rows expected;
    for (int i = 0; i < 100; i++) {
      char key[16];
      std::snprintf(key, sizeof(key), "key%05d", i * 7);
      if (is_last_level || i % 10 != 3) {
        expected[key] = std::string(6, static_cast<char>('a' + i % 26));
      }
    }
    SstFileReader reader{Options()};
    ASSERT_OK(reader.Open(SampleTable(is_last_level ? "cuckoo_last" : "cuckoo")));
    const std::unique_ptr<Iterator> iterator(reader.NewIterator(ReadOptions()));
    EXPECT_EQ(RowsOf(iterator.get()), expected);
    EXPECT_EQ(reader.GetTableProperties()->num_entries, 100u);
    EXPECT_OK(reader.VerifyChecksum());
  }
}

// Each byte is set to some other values. There is no checksum, so damage of a value stays
// unnoticed.
TEST(PlainTable, DamageIsAnErrorOrAnotherValue) {
  for (const char* const name : {"100", "cuckoo", "cuckoo_last"}) {
    SCOPED_TRACE(name);
    std::string whole;
    ASSERT_OK(ReadFileToString(Env::Default(), SampleTable(name), &whole));
    const std::string path = FreshTempDir("plain") + "/damaged.sst";
    int errors = 0;
    for (size_t i = 0; i < whole.size(); i += i < 200 || i + 700 > whole.size() ? 7 : 499) {
      for (const int change : {0x01, 0x80, 0xff}) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ change);
        ASSERT_OK(WriteStringToFile(Env::Default(), damaged, path));
        SstFileReader reader{Options()};
        Status status = reader.Open(path);
        if (status.ok()) {
          const std::unique_ptr<Iterator> iterator(reader.NewIterator(ReadOptions()));
          for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
          }
          status = iterator->status();
        }
        errors += !status.ok();
      }
    }
    EXPECT_GT(errors, 20);
    for (size_t bytes = 0; bytes < whole.size(); bytes += 53) {
      ASSERT_OK(WriteStringToFile(Env::Default(), Slice(whole.data(), bytes), path));
      EXPECT_FALSE(SstFileReader{Options()}.Open(path).ok()) << bytes;
    }
  }
}

// Two rows in one: the first row's value reaches to the end of the second.
TEST(PlainTable, ATableWithoutOneOfItsRowsIsCorruption) {
  std::string table;
  ASSERT_OK(ReadFileToString(Env::Default(), SampleTable("000"), &table));
  constexpr size_t kLengthOfFirstValue = 13;
  ASSERT_EQ(table.substr(kLengthOfFirstValue, 3), "\x02v1");
  constexpr char kRowBytes = 16;  // of the second one
  table[kLengthOfFirstValue] = static_cast<char>(2 + kRowBytes);
  const std::string path = FreshTempDir("plain") + "/table.sst";
  ASSERT_OK(WriteStringToFile(Env::Default(), table, path));
  const Status status = SstFileReader{Options()}.Open(path);
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find("304 rows, but 305"), std::string::npos) << status.ToString();
}

TEST(PlainTable, ADatabaseOfRocksDbIsReadAndContinued) {
  const std::string dir = FreshTempDir("plain_db");
  std::filesystem::copy(SourcePath("tests/data/plain/db"), dir,
                        std::filesystem::copy_options::recursive);
  Rows expected;
  for (int i = 0; i < 600; i++) {
    char key[8];
    std::snprintf(key, sizeof(key), "b%c%02d", 'a' + i / 100, i % 100);
    if (i % 7 != 0) expected[key] = StrCat("old", i);
    if (i % 7 == 0 && i % 2 == 0) expected[key] = StrCat("new", i);
  }
  Options options;
  options.prefix_extractor.reset(NewFixedPrefixTransform(2));
  {
    OpenedDb db;
    ASSERT_OK(db.Open(options, dir));
    Contents contents;
    ASSERT_OK(db.ReadAll(&contents));  // forwards, backwards, Get, MultiGet
    EXPECT_EQ(contents[kDefaultColumnFamilyName], expected);
    ASSERT_OK(db.db()->VerifyChecksum());
    ASSERT_OK(db.db()->Put(WriteOptions(), "ba00", "ours"));
    expected["ba00"] = "ours";
    ASSERT_OK(db.db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    ASSERT_OK(db.Close());
  }
  OpenedDb db;
  ASSERT_OK(db.Open(options, dir));
  Contents contents;
  ASSERT_OK(db.ReadAll(&contents));
  EXPECT_EQ(contents[kDefaultColumnFamilyName], expected);
  ASSERT_OK(db.Close());
}

}  // namespace
}  // namespace ashlar
