// SPDX-License-Identifier: Apache-2.0
//
// Databases with TTL that we write and RocksDB reads, and the other way round. Skipped without
// RocksDB's library.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/convenience.h"
#include "ashlar/merge_operator.h"
#include "ashlar/utilities/db_ttl.h"
#include "tests/interop/utilities_theirs.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class TtlInterop : public UtilitiesInterop {
 protected:
  TtlInterop() : UtilitiesInterop("ttl_interop") {}
  std::unique_ptr<DBWithTTL> Open(int32_t ttl) {
    Options options;
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.write_compatible_with = "7.8";
    EXPECT_OK(
        MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options.merge_operator));
    DBWithTTL* db = nullptr;
    EXPECT_OK(DBWithTTL::Open(options, db_dir_, &db, ttl));
    return std::unique_ptr<DBWithTTL>(db);
  }
  static std::string Rows(DB* db) {
    std::string rows;
    const std::unique_ptr<Iterator> it(db->NewIterator({}));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      StrAppend(&rows, it->key().ToString(), " ", it->value().ToString(), "\n");
    }
    EXPECT_OK(it->status());
    return rows;
  }
};

TEST_F(TtlInterop, RocksDbReadsWhatWeWrite) {
  {
    const auto db = Open(1000);
    ASSERT_OK(db->Put({}, "a", "value"));
    ASSERT_OK(db->Put({}, "empty", ""));
    ASSERT_OK(db->Flush({}));
    ASSERT_OK(db->Put({}, "m", "1"));
    ASSERT_OK(db->Merge({}, "m", "2"));
    ASSERT_OK(db->Merge({}, "m", "3"));
  }
  EXPECT_EQ(Theirs("ttl-rows"), "a value\nempty \nm 1,2,3\n");
  Theirs("ttl-compact", "1000");
  EXPECT_EQ(Theirs("ttl-rows"), "a value\nempty \nm 1,2,3\n");
  EXPECT_EQ(Rows(Open(1000).get()), "a value\nempty \nm 1,2,3\n");
}

TEST_F(TtlInterop, WeReadWhatRocksDbWrites) {
  Theirs("ttl-put", "1000 a value m 1");
  Theirs("ttl-merge", "1000 m 2 m 3 only 4");
  {
    const auto db = Open(1000);
    EXPECT_EQ(Rows(db.get()), "a value\nm 1,2,3\nonly 4\n");
    ASSERT_OK(db->Merge({}, "only", "5"));
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db->CompactRange(all, nullptr, nullptr));
    EXPECT_EQ(Rows(db.get()), "a value\nm 1,2,3\nonly 4,5\n");
  }
  EXPECT_EQ(Theirs("ttl-rows"), "a value\nm 1,2,3\nonly 4,5\n");
}

}  // namespace
}  // namespace ashlar
