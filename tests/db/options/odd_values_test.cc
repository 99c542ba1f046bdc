// SPDX-License-Identifier: Apache-2.0
//
// Extreme values of every option that has a text form, one at a time: each is refused, by its text
// or by the check of the options, or a database with it takes writes, is flushed, compacted and
// opened again, and shows what was written. None crashes, hangs or loses anything.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/env.h"
#include "ashlar/filter_policy.h"
#include "ashlar/table.h"
#include "db/options/option_table.h"
#include "db/options/options_check.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

const char* const kValues[] = {"0",    "1",   "-1",  "2147483647", "18446744073709551615",
                               "0.5",  "nan", "inf", "1e300",      "true",
                               "false"};

std::string KeyAt(int i) { return StrCat("key", 1000 + i); }

class OddValues : public testing::Test {
 protected:
  OddValues() {
    options_.create_if_missing = true;
    options_.level0_file_num_compaction_trigger = 2;
    options_.max_background_jobs = 2;
  }

  // Opens, works and compares.
  static void Work(const Options& options) {
    OpenedDb opened;
    const Status status = opened.Open(options, "/db");
    if (!status.ok()) {
      // What the file system cannot do, say, is no contradiction of the options.
      EXPECT_TRUE(status.IsInvalidArgument() || status.IsNotSupported()) << status.ToString();
      return;
    }
    if (options.disallow_memtable_writes) {
      EXPECT_TRUE(opened.db()->Put(WriteOptions(), "k", "v").IsInvalidArgument());
      return;
    }
    Rows rows;
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 40; ++i) {
        const std::string key = KeyAt(i * 7 % 40), value = StrCat(round, std::string(40, 'x'));
        ASSERT_OK(opened.db()->Put(WriteOptions(), key, value));
        rows[key] = value;
      }
      const std::string begin = KeyAt(round), end = KeyAt(round + 3);
      ASSERT_OK(opened.db()->DeleteRange(WriteOptions(), begin, end));
      rows.erase(rows.lower_bound(begin), rows.lower_bound(end));
      ASSERT_OK(opened.db()->Delete(WriteOptions(), KeyAt(20)));
      rows.erase(KeyAt(20));
      ASSERT_OK(opened.db()->Flush(FlushOptions()));
    }
    ASSERT_OK(opened.db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    for (const bool is_new : {false, true}) {
      if (is_new) {
        ASSERT_OK(opened.Close());
        ASSERT_OK(opened.Open(options, "/db"));
      }
      Contents found;
      ASSERT_OK(opened.ReadAll(&found));
      ASSERT_EQ(found[kDefaultColumnFamilyName], rows) << (is_new ? "again" : "at once");
    }
    ASSERT_OK(opened.Close());
  }
  void TryOne(Options options) {
    const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
    options.env = env.get();
    const Status status = CheckOptionsSupported(options, options);
    if (status.ok()) {
      taken_++;
      return Work(options);
    }
    refused_++;
    EXPECT_TRUE(status.IsInvalidArgument() || status.IsNotSupported()) << status.ToString();
  }

  Options options_;
  int taken_ = 0, refused_ = 0;
};

TEST_F(OddValues, OfTheDatabaseAndFamiliesAreRefusedOrWork) {
  for (const OptionTable table : {DbOptionTable(), ColumnFamilyOptionTable()}) {
    for (const OptionRow& row : table) {
      // A database with one byte a second works, but not in the time of a test.
      if (row.parse == nullptr || row.name() == std::string("rate_limiter_bytes_per_sec")) continue;
      for (const char* value : kValues) {
        SCOPED_TRACE(StrCat(row.name(), "=", value));
        Options options;
        if (!GetOptionsFromString(ConfigOptions(), options_, StrCat(row.name(), "=", value),
                                  &options)
                 .ok()) {
          continue;
        }
        options.create_if_missing = true;
        options.error_if_exists = false;  // it is opened twice
        TryOne(options);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(taken_, 300);
  EXPECT_GT(refused_, 10);
}

TEST_F(OddValues, OfOtherStylesAndOfLargeValuesAreRefusedOrWork) {
  for (const char* base :
       {"compaction_style=kCompactionStyleUniversal", "compaction_style=kCompactionStyleFIFO",
        "enable_blob_files=true;min_blob_size=0;enable_blob_garbage_collection=true"}) {
    for (const OptionRow& row : ColumnFamilyOptionTable()) {
      const std::string name = row.name();
      if (row.parse == nullptr || name == "compaction_style" || name == "enable_blob_files")
        continue;
      if (name == "min_blob_size" || name == "enable_blob_garbage_collection") continue;
      // These say how soon FIFO compaction drops rows.
      if (name == "compaction_options_fifo" || name == "ttl") continue;
      for (const char* value : {"0", "1", "-1", "18446744073709551615", "nan"}) {
        SCOPED_TRACE(StrCat(base, ";", name, "=", value));
        Options options;
        if (!GetOptionsFromString(ConfigOptions(), options_, StrCat(base, ";", name, "=", value),
                                  &options)
                 .ok()) {
          continue;
        }
        TryOne(options);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(taken_, 300);
}

TEST_F(OddValues, OfTablesAreRefusedOrWork) {
  for (const char* base :
       {"", "index_type=kTwoLevelIndexSearch;partition_filters=true;filter_policy=bloomfilter:10;",
        "data_block_index_type=kDataBlockBinaryAndHash;filter_policy=ribbonfilter:10;"}) {
    for (const OptionRow& row : BlockBasedOptionTable()) {
      if (row.parse == nullptr) continue;
      for (const char* value : kValues) {
        SCOPED_TRACE(StrCat(base, row.name(), "=", value));
        BlockBasedTableOptions table;
        if (!GetBlockBasedTableOptionsFromString(ConfigOptions(), BlockBasedTableOptions(),
                                                 StrCat(base, row.name(), "=", value), &table)
                 .ok()) {
          continue;
        }
        Options options = options_;
        options.table_factory.reset(NewBlockBasedTableFactory(table));
        TryOne(options);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(taken_, 100);
}

}  // namespace
}  // namespace ashlar
