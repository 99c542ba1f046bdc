// SPDX-License-Identifier: Apache-2.0
//
// PlainTables and CuckooTables that we write and RocksDB reads, and the other way round, through
// bare_theirs (bare_tables/bare_client.cc), and the equality of files. Skipped without RocksDB's
// library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/sst_file_writer.h"
#include "env/file_util.h"
#include "env/random_reader.h"
#include "table/format/properties.h"
#include "table/plain/bare_table.h"
#include "tests/support/opened_db.h"
#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

struct Format {
  const char* name;
  const char* options;    // of the family, for both libraries
  const char* scannable;  // options with which RocksDB can iterate over all keys
};

constexpr Format kFormats[] = {
    {"plain", "prefix_extractor=fixed:2;table_factory={id=PlainTable;}",
     "prefix_extractor=fixed:2;table_factory={id=PlainTable;full_scan_mode=true;}"},
    {"stored_index",
     "prefix_extractor=fixed:2;"
     "table_factory={id=PlainTable;encoding_type=kPrefix;store_index_in_file=true;user_key_len=5;"
     "index_sparseness=3;}",
     "prefix_extractor=fixed:2;table_factory={id=PlainTable;full_scan_mode=true;"
     "encoding_type=kPrefix;user_key_len=5;}"},
    {"local_bloom",
     "prefix_extractor=fixed:3;bloom_locality=1;"
     "table_factory={id=PlainTable;store_index_in_file=true;}",
     "prefix_extractor=fixed:3;bloom_locality=1;"
     "table_factory={id=PlainTable;full_scan_mode=true;}"},
    {"total_order", "table_factory={id=PlainTable;hash_table_ratio=0;store_index_in_file=true;}",
     "table_factory={id=PlainTable;hash_table_ratio=0;store_index_in_file=true;}"},
    {"cuckoo", "table_factory={id=CuckooTable;}", "table_factory={id=CuckooTable;}"},
    {"identity", "table_factory={id=CuckooTable;use_module_hash=false;hash_table_ratio=0.5;}",
     "table_factory={id=CuckooTable;use_module_hash=false;hash_table_ratio=0.5;}"},
};

class BareTablesInterop : public testing::TestWithParam<Format> {
 protected:
  void SetUp() override {
    int exit_code = 0;
    RunCommand(StrCat("test -x '", theirs_, "'"), &exit_code);
    if (exit_code != 0) return SkipAsMissing("RocksDB (librocksdb-dev)");
    dir_ = FreshTempDir("bare_interop");
    db_dir_ = dir_ + "/db";
  }
  Options OurOptions() {
    Options options;
    EXPECT_OK(
        GetColumnFamilyOptionsFromString(ConfigOptions(), options, GetParam().options, &options));
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.write_compatible_with = "7.8";
    return options;
  }
  std::string Theirs(const std::string& words, const char* options = GetParam().options) {
    int exit_code = 0;
    const std::string output =
        RunCommand(StrCat("'", theirs_, "' '", options, "' '", db_dir_, "' ", words), &exit_code);
    EXPECT_EQ(exit_code, 0) << words << ": " << output;
    return output;
  }
  static std::string Key(int i) {
    char key[16];
    std::snprintf(key, sizeof(key), "%c%c%03d", 'a' + i % 3, 'a' + i % 2, i);
    return key;
  }
  static std::string TextOf(const Rows& rows) {
    std::string text;
    for (const auto& [key, value] : rows) StrAppend(&text, key, " ", value, "\n");
    return text;
  }
  void ExpectTheyRead(const Rows& rows) {
    EXPECT_EQ(Theirs("rows", GetParam().scannable), TextOf(rows));
    std::string words, expected;
    for (int i = 0; i < 60; i++) {
      const auto row = rows.find(Key(i));
      StrAppend(&words, " get ", Key(i));
      StrAppend(&expected, Key(i), " ", row == rows.end() ? "none" : row->second, "\n");
    }
    EXPECT_EQ(Theirs(words), expected);
  }
  void ExpectWeRead(const Rows& rows) {
    OpenedDb db;
    ASSERT_OK(db.Open(OurOptions(), db_dir_));
    Contents contents;
    ASSERT_OK(db.ReadAll(&contents));
    EXPECT_EQ(contents[kDefaultColumnFamilyName], rows);
    ASSERT_OK(db.Close());
  }

  std::string dir_, db_dir_;
  const std::string theirs_ = BuildPath("bare_theirs");
};

TEST_P(BareTablesInterop, EachReadsAndContinuesTheDatabaseOfTheOther) {
  Rows rows;
  {
    OpenedDb db;
    ASSERT_OK(db.Open(OurOptions(), db_dir_));
    for (int round = 0; round < 3; round++) {
      for (int i = round; i < 60; i += 2) {
        rows[Key(i)] = StrCat("ours", round);
        ASSERT_OK(db.db()->Put({}, Key(i), rows[Key(i)]));
      }
      ASSERT_OK(db.db()->Delete({}, Key(7 + round)));
      rows.erase(Key(7 + round));
      ASSERT_OK(db.db()->Flush({}));
    }
    ASSERT_OK(db.Close());
  }
  ExpectTheyRead(rows);
  {
    OpenedDb db;
    ASSERT_OK(db.Open(OurOptions(), db_dir_));
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db.db()->CompactRange(all, nullptr, nullptr));
    ASSERT_OK(db.Close());
  }
  ExpectTheyRead(rows);
  Theirs(StrCat("put ", Key(8), " yours flush delete ", Key(1), " flush"));
  rows[Key(8)] = "yours";
  rows.erase(Key(1));
  ExpectWeRead(rows);
  Theirs("compact");
  ExpectWeRead(rows);
  ExpectTheyRead(rows);
}

// The properties, but not those that name the session and the external file. RocksDB does not
// record the latter in CuckooTables, so that its own cannot be ingested.
EncodedProperties PropertiesOf(const std::string& path, bool is_cuckoo) {
  const auto file = RandomReader::Open(FileSystem::Default().get(), path, FileOptions());
  EXPECT_OK(file.status());
  Result<BareTable> table = ReadBareTable(*file.value());
  EXPECT_OK(table.status());
  EncodedProperties properties = EncodeProperties(table->properties);
  properties.erase("rocksdb.creating.session.identity");
  if (is_cuckoo) properties.erase("rocksdb.external_sst_file.version");
  if (is_cuckoo) properties.erase("rocksdb.external_sst_file.global_seqno");
  return properties;
}

size_t DifferentBytes(const std::string& a, const std::string& b, size_t count) {
  size_t different = 0;
  for (size_t i = 0; i < std::min({a.size(), b.size(), count}); i++) different += a[i] != b[i];
  return different;
}

TEST_P(BareTablesInterop, ExternalFilesAreEqualAndAreIngested) {
  const bool is_cuckoo = std::string(GetParam().options).find("Cuckoo") != std::string::npos;
  const std::string ours = dir_ + "/ours.sst", theirs = dir_ + "/theirs.sst";
  Rows rows;
  for (int i = 0; i < 50; i++) rows[Key(i)] = StrCat("value", 10 + i);
  std::string words = StrCat("file ", theirs);
  {
    SstFileWriter writer(EnvOptions(), OurOptions());
    ASSERT_OK(writer.Open(ours));
    for (const auto& [key, value] : rows) {
      ASSERT_OK(writer.Put(key, value));
      StrAppend(&words, " put ", key, " ", value);
    }
    ASSERT_OK(writer.Finish());
  }
  Theirs(StrCat("put ", Key(0), " old0000 flush ", words, " end"));
  const EncodedProperties properties = PropertiesOf(ours, is_cuckoo);
  EXPECT_EQ(properties, PropertiesOf(theirs, is_cuckoo));
  std::string our_bytes, their_bytes;
  ASSERT_OK(ReadFileToString(Env::Default(), ours, &our_bytes));
  ASSERT_OK(ReadFileToString(Env::Default(), theirs, &their_bytes));
  if (is_cuckoo) {
    Slice value(properties.at("rocksdb.data.size"));
    uint64_t bytes = 0;
    ASSERT_TRUE(GetVarint64(&value, &bytes));
    EXPECT_EQ(DifferentBytes(our_bytes, their_bytes, bytes), 0u);
  } else {
    EXPECT_EQ(our_bytes.size(), their_bytes.size());
    constexpr size_t kSessionBytes = 20;
    EXPECT_LE(DifferentBytes(our_bytes, their_bytes, our_bytes.size()), kSessionBytes);
  }
  ExpectWeRead({{Key(0), "old0000"}});
  {
    OpenedDb db;
    ASSERT_OK(db.Open(OurOptions(), db_dir_));
    ASSERT_OK(db.db()->IngestExternalFile({is_cuckoo ? ours : theirs}, {}));
    ASSERT_OK(db.Close());
  }
  ExpectWeRead(rows);
}

INSTANTIATE_TEST_SUITE_P(Formats, BareTablesInterop, testing::ValuesIn(kFormats),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ashlar
