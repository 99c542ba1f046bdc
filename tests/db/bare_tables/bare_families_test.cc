// SPDX-License-Identifier: Apache-2.0
//
// Column families whose tables are PlainTables or CuckooTables: what is written is in files of that
// format and is read again; what the format cannot hold is refused before it is logged, or stays in
// the log.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/convenience.h"
#include "ashlar/filter_policy.h"
#include "ashlar/merge_operator.h"
#include "ashlar/slice_transform.h"
#include "ashlar/utilities/options_util.h"
#include "ashlar/wide_columns.h"
#include "env/file_util.h"
#include "table/plain/bare_table.h"
#include "tests/support/suite.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class BareFamilies : public DbTest {
 protected:
  BareFamilies() {
    options_.prefix_extractor.reset(NewFixedPrefixTransform(2));
    options_.table_factory.reset(NewPlainTableFactory());
    EXPECT_OK(
        MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options_.merge_operator));
  }

  void UseCuckoo(const CuckooTableOptions& table = {}) {
    options_.table_factory.reset(NewCuckooTableFactory(table));
    options_.prefix_extractor.reset();
  }
  void UseBlocks() { options_.table_factory.reset(NewBlockBasedTableFactory()); }

  // The formats of all tables, by the ends of their files.
  std::vector<BareTableKind> Kinds() {
    std::vector<BareTableKind> kinds;
    for (const LiveFileMetaData& table : Tables()) {
      std::string bytes;
      EXPECT_OK(ReadFileToString(env_.get(), dir_ + table.name, &bytes));
      EXPECT_EQ(bytes.size(), table.size);
      kinds.push_back(BareTableKindOf(Slice(bytes.data() + bytes.size() - 8, 8)));
    }
    return kinds;
  }
  void ExpectAll(BareTableKind kind) {
    const std::vector<BareTableKind> kinds = Kinds();
    EXPECT_FALSE(kinds.empty());
    for (const BareTableKind found : kinds) EXPECT_EQ(found, kind);
  }
  static void ExpectRefused(const Status& status, const std::string& what) {
    EXPECT_TRUE(status.IsNotSupported() || status.IsInvalidArgument()) << status.ToString();
    EXPECT_NE(status.ToString().find(what), std::string::npos) << status.ToString();
  }
};

struct Shape {
  const char* name;
  BareTableKind kind;
  TableFactory* (*make)();
  bool has_extractor;
};

TableFactory* SharedPrefixes() {
  PlainTableOptions plain;
  plain.encoding_type = kPrefix;
  plain.store_index_in_file = true;
  plain.index_sparseness = 3;
  return NewPlainTableFactory(plain);
}
TableFactory* FixedKeys() {
  PlainTableOptions plain;
  plain.user_key_len = 6;
  plain.hash_table_ratio = 0;
  plain.store_index_in_file = true;
  return NewPlainTableFactory(plain);
}
TableFactory* Cuckoo() { return NewCuckooTableFactory(); }
TableFactory* CuckooPowers() {
  CuckooTableOptions cuckoo;
  cuckoo.use_module_hash = false;
  cuckoo.hash_table_ratio = 0.5;
  return NewCuckooTableFactory(cuckoo);
}
TableFactory* AdaptiveToPlain() {
  return NewAdaptiveTableFactory(std::shared_ptr<TableFactory>(SharedPrefixes()));
}

constexpr Shape kShapes[] = {
    {"plain", BareTableKind::kPlain, [] { return NewPlainTableFactory(); }, true},
    {"prefixes", BareTableKind::kPlain, SharedPrefixes, true},
    {"fixed", BareTableKind::kPlain, FixedKeys, false},
    {"adaptive", BareTableKind::kPlain, AdaptiveToPlain, true},
    {"cuckoo", BareTableKind::kCuckoo, Cuckoo, false},
    {"powers", BareTableKind::kCuckoo, CuckooPowers, false},
};

// Random writes, with what the format can hold, against a map.
class BareModel : public BareFamilies, public testing::WithParamInterface<Shape> {
 protected:
  std::string RandomKey() {
    char key[16];
    std::snprintf(key, sizeof(key), "%c%c%04d", 'a' + Draw(3), 'a' + Draw(3), Draw(30));
    return key;
  }
  int Draw(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  std::mt19937 random_{7};
  Rows rows_;
};

TEST_P(BareModel, RandomWritesFlushesCompactionsAndReopenings) {
  options_.table_factory.reset(GetParam().make());
  if (!GetParam().has_extractor) options_.prefix_extractor.reset();
  options_.write_buffer_size = 64 << 10;
  options_.target_file_size_base = 8 << 10;
  options_.level0_file_num_compaction_trigger = 3;
  const bool is_cuckoo = GetParam().kind == BareTableKind::kCuckoo;
  Open();
  const int steps = std::max(20, static_cast<int>(400 * SuiteScale()));
  for (int step = 0; step < steps; step++) {
    for (int i = 0; i < 20; i++) {
      const std::string key = RandomKey();
      const std::string value(is_cuckoo ? 7 : static_cast<size_t>(Draw(200)),
                              static_cast<char>('a' + Draw(26)));
      const int kind = Draw(10);
      if (kind == 0) {
        Delete(key);
        rows_.erase(key);
      } else if (kind == 1 && !is_cuckoo) {
        Merge(key, value);
        const auto [row, is_new] = rows_.try_emplace(key, value);
        if (!is_new) row->second += "," + value;
      } else {
        Put(key, value);
        rows_[key] = value;
      }
    }
    const int then = Draw(20);
    if (then < 4) Flush();
    if (then == 4) Compact();
    if (then == 5) Reopen();
    if (then == 6) {
      EXPECT_EQ(ReadAll()[kDefaultColumnFamilyName], rows_);
    }
  }
  Flush();
  WaitForJobs();
  ExpectAll(GetParam().kind);
  EXPECT_EQ(ReadAll()[kDefaultColumnFamilyName], rows_);
  EXPECT_OK(db_->VerifyChecksum());
  Compact();
  Reopen();
  EXPECT_EQ(ReadAll()[kDefaultColumnFamilyName], rows_);
}

INSTANTIATE_TEST_SUITE_P(Shapes, BareModel, testing::ValuesIn(kShapes),
                         [](const auto& info) { return std::string(info.param.name); });

// Nothing of them is in the log, and other writes go on.
TEST_F(BareFamilies, RangeTombstonesAreRefusedBeforeTheyAreLogged) {
  for (const bool is_cuckoo : {false, true}) {
    if (is_cuckoo) UseCuckoo();
    Open();
    Put("aa1", "v");
    ExpectRefused(db_->DeleteRange({}, db_->DefaultColumnFamily(), "a", "b"), "range tombstones");
    WriteBatch batch;
    ASSERT_OK(batch.Put("aa2", "v"));
    ASSERT_OK(batch.DeleteRange("a", "b"));
    ExpectRefused(db_->Write({}, &batch), "range tombstones");
    Put("aa3", "v");
    Reopen();
    Flush();
    EXPECT_EQ(Scan(), "aa1=v aa3=v");
    Close();
    ASSERT_OK(DestroyDB(dir_, options_));
  }
}

// The log is from a time when the family had other tables.
TEST_F(BareFamilies, RangeTombstonesInTheLogAreNotDropped) {
  const Options plain = options_;
  UseBlocks();
  Open();
  Put("aa1", "v");
  Flush();
  DeleteRange("aa1", "aa2");
  Drop();
  options_ = plain;
  ExpectRefused(TryOpen(), "range tombstones");
  UseBlocks();
  Open();
  EXPECT_EQ(Scan(), "");
}

TEST_F(BareFamilies, WhatACuckooTableHasNoPlaceForIsRefusedBeforeItIsLogged) {
  UseCuckoo();
  Open();
  ExpectRefused(db_->Merge({}, "k", "v"), "only values and deletions");
  ExpectRefused(db_->SingleDelete({}, "k"), "only values and deletions");
  ExpectRefused(db_->PutEntity({}, db_->DefaultColumnFamily(), "k", WideColumns{{"c", "v"}}),
                "only values and deletions");
  Put("k", "v");
  Reopen();
  EXPECT_EQ(Scan(), "k=v");
}

TEST_F(BareFamilies, KeysOfAnotherLengthThanTheOptionSaysAreRefusedBeforeTheyAreLogged) {
  PlainTableOptions plain;
  plain.user_key_len = 3;
  options_.table_factory.reset(NewPlainTableFactory(plain));
  Open();
  ExpectRefused(db_->Put({}, "aa", "v"), "user_key_len is 3");
  ExpectRefused(db_->Delete({}, "aaaa"), "user_key_len is 3");
  Put("aaa", "v");
  Reopen();
  Flush();
  EXPECT_EQ(Scan(), "aaa=v");
}

// RocksDB reports success and loses the entry.
TEST_F(BareFamilies, AFlushThatCuckooTablesCannotHoldLosesNothing) {
  UseCuckoo();
  Open();
  Put("k1", "v");
  Put("k2", "another length");
  const Status status = db_->Flush({});
  ExpectRefused(status, "a value of 14 bytes");
  ExpectRefused(status, "block-based table_factory");
  EXPECT_EQ(Get("k2"), "another length");
  EXPECT_FALSE(db_->Put({}, "k3", "v").ok());
  Drop();
  ExpectRefused(TryOpen(), "a value of 14 bytes");  // it cannot flush what it has replayed
  UseBlocks();
  Open();
  EXPECT_EQ(Scan(), "k1=v k2=another length");
  Flush();
  EXPECT_EQ(Kinds(), std::vector<BareTableKind>{BareTableKind::kNone});
}

TEST_F(BareFamilies, AFlushWithTwoVersionsSucceedsWhenTheSnapshotIsReleased) {
  UseCuckoo();
  Open();
  Put("k", "1");
  const Snapshot* const snapshot = db_->GetSnapshot();
  Put("k", "2");
  ExpectRefused(db_->Flush({}), "Same key");
  EXPECT_EQ(Get("k", AsOf(snapshot)), "1");
  db_->ReleaseSnapshot(snapshot);
  ASSERT_OK(db_->Resume());
  Put("l", "3");
  Flush();
  ExpectAll(BareTableKind::kCuckoo);
  EXPECT_EQ(Scan(), "k=2 l=3");
}

TEST_F(BareFamilies, OptionsThatExcludeEachOtherAreRefusedAtOpen) {
  options_.prefix_extractor.reset();
  ExpectRefused(TryOpen(), "prefix extractor");
  PlainTableOptions plain;
  plain.encoding_type = kPrefix;
  plain.hash_table_ratio = 0;
  options_.table_factory.reset(NewPlainTableFactory(plain));
  ExpectRefused(TryOpen(), "kPrefix needs a prefix_extractor");
  CuckooTableOptions cuckoo;
  cuckoo.hash_table_ratio = 0;
  UseCuckoo(cuckoo);
  ExpectRefused(TryOpen(), "hash_table_ratio");
  cuckoo.hash_table_ratio = 0.9;
  cuckoo.cuckoo_block_size = 0;
  UseCuckoo(cuckoo);
  ExpectRefused(TryOpen(), "cuckoo_block_size");
  UseCuckoo();
  options_.enable_blob_files = true;
  ExpectRefused(TryOpen(), "enable_blob_files");
  options_.enable_blob_files = false;
  options_.min_tombstones_for_range_conversion = 2;
  ExpectRefused(TryOpen(), "min_tombstones_for_range_conversion");
  options_.min_tombstones_for_range_conversion = 0;
  options_.comparator = BytewiseComparatorWithU64Ts();
  ExpectRefused(TryOpen(), "timestamps");
  EXPECT_TRUE(env_->FileExists(dir_ + "/CURRENT").IsNotFound());
}

// Large values are in blob files, and the table has their places.
TEST_F(BareFamilies, PlainTablesReferToBlobFiles) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 100;
  Open();
  Put("aa1", std::string(1000, 'x'));
  Put("aa2", "small");
  Flush();
  ExpectAll(BareTableKind::kPlain);
  Compact();
  Reopen();
  EXPECT_EQ(Get("aa1"), std::string(1000, 'x'));
  EXPECT_EQ(Get("aa2"), "small");
}

TEST_F(BareFamilies, TheFormatMayChangeFromOpenToOpen) {
  Rows rows;
  int i = 0;
  for (const char* const format : {"blocks", "plain", "cuckoo", "adaptive", "blocks", "plain"}) {
    if (format == std::string("blocks")) UseBlocks();
    if (format == std::string("plain")) options_.table_factory.reset(NewPlainTableFactory());
    if (format == std::string("cuckoo")) options_.table_factory.reset(NewCuckooTableFactory());
    if (format == std::string("adaptive")) {
      options_.table_factory.reset(NewAdaptiveTableFactory());
    }
    Open();
    for (int end = i + 50; i < end; i += 2) {
      Put(Key(i), "value");
      rows[Key(i)] = "value";
    }
    Flush();
    EXPECT_EQ(ReadAll()[kDefaultColumnFamilyName], rows);
    Close();
  }
  Open();
  CompactAndRewrite();
  ExpectAll(BareTableKind::kPlain);
  EXPECT_EQ(ReadAll()[kDefaultColumnFamilyName], rows);
}

// The tombstone of an older table must not be lost while there is something below that it hides.
// The image of a table has the filter that the options ask for at this opening, and a cache that
// outlives the database may have that of another opening.
TEST_F(BareFamilies, FiltersFollowTheExtractorInACacheThatStays) {
  PlainTableOptions plain;
  plain.hash_table_ratio = 0;
  options_.table_factory.reset(NewPlainTableFactory(plain));
  options_.prefix_extractor.reset();
  Open();
  for (int i = 0; i < 100; i++) Put("p" + std::to_string(10 + i / 10) + std::to_string(i), "v");
  Flush();
  BlockBasedTableOptions blocks;
  blocks.block_cache = NewLRUCache(16 << 20);
  blocks.cache_index_and_filter_blocks = true;
  blocks.filter_policy.reset(NewBloomFilterPolicy(10));
  options_.table_factory.reset(NewBlockBasedTableFactory(blocks));
  for (const size_t prefix : {0, 3, 2}) {
    Close();
    options_.prefix_extractor.reset(prefix == 0 ? nullptr : NewFixedPrefixTransform(prefix));
    Open();
    EXPECT_EQ(Get("p100"), "v");
    ReadOptions read;
    read.prefix_same_as_start = prefix != 0;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    int count = 0;
    for (it->Seek("p10"); it->Valid(); it->Next()) count++;
    EXPECT_EQ(count, prefix == 3 ? 10 : 100) << prefix;
  }
}

TEST_F(BareFamilies, ACompactionOfRangeTombstonesSaysWhyItFails) {
  UseBlocks();
  options_.disable_auto_compactions = true;
  Open();
  Put("aa1", "v");
  Put("aa2", "v");
  Flush();
  Compact();
  DeleteRange("aa1", "aa2");
  Flush();
  Close();
  options_.table_factory.reset(NewPlainTableFactory());
  Open();
  Put("aa0", "v");
  Put("ab", "v");
  Flush();
  std::vector<std::string> files;
  for (const std::string& name : TableNames(0)) files.push_back(name);
  ASSERT_EQ(files.size(), 2u);
  const Status status = db_->CompactFiles(CompactionOptions(), files, 1);
  ExpectRefused(status, "range tombstones");
  EXPECT_EQ(Scan(), "aa0=v aa2=v ab=v");
  Close();
  UseBlocks();
  Open();
  Compact();
  Close();
  options_.table_factory.reset(NewPlainTableFactory());
  Open();
  CompactAndRewrite();
  ExpectAll(BareTableKind::kPlain);
  EXPECT_EQ(Scan(), "aa0=v aa2=v ab=v");
}

TEST_F(BareFamilies, OptionsFilesNameTheFormatAndItsOptions) {
  PlainTableOptions plain;
  plain.user_key_len = 4;
  plain.bloom_bits_per_key = 7;
  plain.encoding_type = kPrefix;
  options_.table_factory.reset(NewPlainTableFactory(plain));
  CuckooTableOptions cuckoo;
  cuckoo.hash_table_ratio = 0.5;
  cuckoo.use_module_hash = false;
  ColumnFamilyOptions of_cuckoo;
  of_cuckoo.table_factory.reset(NewCuckooTableFactory(cuckoo));
  Open();
  CreateFamily("cuckoo", of_cuckoo);
  Close();
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  ConfigOptions config;
  config.env = env_.get();
  std::shared_ptr<Cache> cache = NewLRUCache(1 << 20);  // for families with blocks
  ASSERT_OK(LoadLatestOptions(config, dir_, &db_options, &families, &cache));
  ASSERT_EQ(families.size(), 2u);
  const auto* const first = families[0].options.table_factory->GetOptions<PlainTableOptions>();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->user_key_len, 4u);
  EXPECT_EQ(first->bloom_bits_per_key, 7);
  EXPECT_EQ(first->encoding_type, kPrefix);
  const auto* const second = families[1].options.table_factory->GetOptions<CuckooTableOptions>();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->hash_table_ratio, 0.5);
  EXPECT_FALSE(second->use_module_hash);
  families[0].options.comparator = options_.comparator;
  families[0].options.merge_operator = options_.merge_operator;
  config.sanity_level = ConfigOptions::kSanityLevelExactMatch;
  EXPECT_OK(CheckOptionsCompatibility(config, dir_, db_options, families));
  plain.user_key_len = 5;
  families[0].options.table_factory.reset(NewPlainTableFactory(plain));
  EXPECT_FALSE(CheckOptionsCompatibility(config, dir_, db_options, families).ok());
}

TEST_F(BareFamilies, TheFormatOfAnOpenFamilyCannotBeChanged) {
  Open();
  for (const char* const option : {"block_based_table_factory", "table_factory"}) {
    EXPECT_TRUE(db_->SetOptions({{option, "{block_size=8192}"}}).IsInvalidArgument()) << option;
  }
  EXPECT_TRUE(db_->SetOptions({{"table_factory", "BlockBasedTable"}}).IsInvalidArgument());
  EXPECT_TRUE(
      db_->SetOptions({{"table_factory", "{id=PlainTable;user_key_len=2}"}}).IsInvalidArgument());
  Put("aa1", "v");
  Flush();
  ExpectAll(BareTableKind::kPlain);
}

// As RocksDB 7.8 reads them.
TEST_F(BareFamilies, TextsNameTheFormatAndItsOptions) {
  ColumnFamilyOptions made;
  ASSERT_OK(GetColumnFamilyOptionsFromString(
      ConfigOptions(), {}, "table_factory={id=CuckooTable;hash_table_ratio=0.5}", &made));
  EXPECT_EQ(made.table_factory->GetOptions<CuckooTableOptions>()->hash_table_ratio, 0.5);
  ASSERT_OK(GetColumnFamilyOptionsFromString(
      ConfigOptions(), {}, "table_factory={id=PlainTable;encoding_type=kPrefix}", &made));
  EXPECT_EQ(made.table_factory->GetOptions<PlainTableOptions>()->encoding_type, kPrefix);
  ASSERT_OK(GetColumnFamilyOptionsFromString(ConfigOptions(), {},
                                             "plain_table_factory={user_key_len=6}", &made));
  EXPECT_EQ(made.table_factory->GetOptions<PlainTableOptions>()->user_key_len, 6u);
}

// The image in memory is larger, and is not what is on disk.
TEST_F(BareFamilies, PropertiesAreThoseOfTheFile) {
  Open();
  Put("aa1", "v1");
  Put("aa2", "v2");
  Flush();
  TablePropertiesCollection all;
  ASSERT_OK(db_->GetPropertiesOfAllTables(&all));
  ASSERT_EQ(all.size(), 1u);
  const TableProperties& properties = *all.begin()->second;
  EXPECT_EQ(properties.num_entries, 2u);
  EXPECT_EQ(properties.data_size, 2u * (1 + 3 + 8 + 1 + 2));
  EXPECT_EQ(properties.num_data_blocks, 1u);
  EXPECT_EQ(properties.prefix_extractor_name, "rocksdb.FixedPrefix.2");
  EXPECT_TRUE(properties.compression_name.empty());
  EXPECT_TRUE(
      properties.user_collected_properties.contains(PlainTablePropertyNames::kEncodingType));
  uint64_t bytes = 0;
  ASSERT_OK(env_->GetFileSize(all.begin()->first, &bytes));
  EXPECT_EQ(Number("rocksdb.total-sst-files-size"), bytes);
}

TEST_F(BareFamilies, RepairKeepsTables) {
  Open();
  Put("aa1", "v1");
  Flush();
  Put("aa2", "v2");
  Close();
  ASSERT_OK(RepairDB(dir_, options_));
  Open();
  EXPECT_EQ(Scan(), "aa1=v1 aa2=v2");
}

// Not those at the beginning of the struct, which every option of a number could read.
TEST(BareFactories, ShowTheValuesOfTheirOptions) {
  PlainTableOptions options;
  options.user_key_len = 7;
  options.hash_table_ratio = 0.5;
  const std::unique_ptr<TableFactory> factory(NewPlainTableFactory(options));
  const std::string shown = factory->GetPrintableOptions();
  EXPECT_NE(shown.find("user_key_len: 7\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("hash_table_ratio: 0.5"), std::string::npos) << shown;
  std::string text;
  ASSERT_OK(factory->GetOption(ConfigOptions(), "hash_table_ratio", &text));
  EXPECT_EQ(std::stod(text), 0.5);
}

}  // namespace
}  // namespace ashlar
