// SPDX-License-Identifier: Apache-2.0
//
// Options from strings and maps, and back: values, errors, nested objects.
#include <gtest/gtest.h>

#include <set>

#include "ashlar/advanced_cache.h"
#include "ashlar/convenience.h"
#include "ashlar/filter_policy.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "db/options/option_table.h"
#include "tests/support/status_matchers.h"
#include "util/interfaces/filter_policy_impl.h"

namespace ashlar {
namespace {

ColumnFamilyOptions Family(const std::string& text) {
  ColumnFamilyOptions options;
  EXPECT_OK(
      GetColumnFamilyOptionsFromString(ConfigOptions(), ColumnFamilyOptions(), text, &options));
  return options;
}

Status FamilyStatus(const std::string& text) {
  ColumnFamilyOptions options;
  return GetColumnFamilyOptionsFromString(ConfigOptions(), ColumnFamilyOptions(), text, &options);
}

TEST(OptionStrings, APrefixExtractorIsMadeByItsName) {
  const ColumnFamilyOptions fixed = Family("prefix_extractor=fixed:8");
  ASSERT_NE(fixed.prefix_extractor, nullptr);
  EXPECT_EQ(fixed.prefix_extractor->AsString(), "rocksdb.FixedPrefix.8");
  const ColumnFamilyOptions capped = Family("prefix_extractor=rocksdb.CappedPrefix.4");
  ASSERT_NE(capped.prefix_extractor, nullptr);
  EXPECT_EQ(capped.prefix_extractor->AsString(), "rocksdb.CappedPrefix.4");
  EXPECT_STREQ(capped.prefix_extractor->Name(), "rocksdb.CappedPrefix");
}

TEST(OptionStrings, SetsValuesOfEveryKind) {
  const ColumnFamilyOptions options = Family(
      "write_buffer_size=8M;num_levels=4;disable_auto_compactions=true;"
      "max_bytes_for_level_multiplier=7.5;compression=kZSTD;"
      "compression_per_level=kNoCompression:kLZ4Compression;"
      "max_bytes_for_level_multiplier_additional=1:2:3;compaction_pri=kRoundRobin");
  EXPECT_EQ(options.write_buffer_size, 8u << 20);
  EXPECT_EQ(options.num_levels, 4);
  EXPECT_TRUE(options.disable_auto_compactions);
  EXPECT_EQ(options.max_bytes_for_level_multiplier, 7.5);
  EXPECT_EQ(options.compression, kZSTD);
  EXPECT_EQ(options.compression_per_level,
            (std::vector<CompressionType>{kNoCompression, kLZ4Compression}));
  EXPECT_EQ(options.max_bytes_for_level_multiplier_additional, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(options.compaction_pri, kRoundRobin);
}

TEST(OptionStrings, NestedStructsKeepWhatIsNotNamed) {
  const ColumnFamilyOptions options = Family("compression_opts={level=5;strategy=2}");
  EXPECT_EQ(options.compression_opts.level, 5);
  EXPECT_EQ(options.compression_opts.strategy, 2);
  EXPECT_EQ(options.compression_opts.window_bits, -14);
}

TEST(OptionStrings, PointReachesIntoAStruct) {
  EXPECT_EQ(
      Family("compaction_options_universal.size_ratio=9").compaction_options_universal.size_ratio,
      9u);
}

TEST(OptionStrings, OldPositionalCompressionOptions) {
  const ColumnFamilyOptions options = Family("compression_opts=4:5:6:7:8:2:true");
  EXPECT_EQ(options.compression_opts.window_bits, 4);
  EXPECT_EQ(options.compression_opts.level, 5);
  EXPECT_EQ(options.compression_opts.strategy, 6);
  EXPECT_EQ(options.compression_opts.max_dict_bytes, 7u);
  EXPECT_EQ(options.compression_opts.zstd_max_train_bytes, 8u);
  EXPECT_EQ(options.compression_opts.parallel_threads, 2u);
  EXPECT_TRUE(options.compression_opts.enabled);
}

TEST(OptionStrings, TemperatureAgesAreAListOfStructs) {
  const auto ages = Family(
                        "compaction_options_fifo={file_temperature_age_thresholds="
                        "{temperature=kWarm;age=10}:{temperature=kCold;age=20}}")
                        .compaction_options_fifo.file_temperature_age_thresholds;
  ASSERT_EQ(ages.size(), 2u);
  EXPECT_EQ(ages[1].temperature, Temperature::kCold);
  EXPECT_EQ(ages[1].age, 20u);
}

// To RocksDB's reader a list that begins with a brace ends with its twin.
TEST(OptionStrings, TemperatureAgesArePrintedInBracesOfTheirOwn) {
  constexpr const char* kNames[] = {"{temperature=kWarm;age=10;}", "{temperature=kCold;age=20;}"};
  ColumnFamilyOptions options;
  auto& ages = options.compaction_options_fifo.file_temperature_age_thresholds;
  ages.push_back({Temperature::kWarm, 10});
  std::string expected = std::string("file_temperature_age_thresholds={") + kNames[0];
  for (int count = 1; count <= 2; count++) {
    std::string text;
    ASSERT_OK(GetStringFromColumnFamilyOptions(ConfigOptions(), options, &text));
    EXPECT_NE(text.find(expected + "};"), std::string::npos) << text;
    EXPECT_EQ(Family(text).compaction_options_fifo.file_temperature_age_thresholds, ages);
    ages.push_back({Temperature::kCold, 20});
    expected += std::string(":") + kNames[1];
  }
}

TEST(OptionStrings, TableFactoryWithOptions) {
  for (const char* text :
       {"table_factory={id=BlockBasedTable;block_size=8k;filter_policy=bloomfilter:9.5:false}",
        "block_based_table_factory={block_size=8k;filter_policy=bloomfilter:9.5:false}"}) {
    const ColumnFamilyOptions options = Family(text);
    const auto* table = options.table_factory->GetOptions<BlockBasedTableOptions>();
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->block_size, 8192u);
    EXPECT_EQ(DescribeFilterPolicy(table->filter_policy.get()).millibits_per_key, 9500);
  }
}

TEST(OptionStrings, BlockCacheFromItsCapacity) {
  BlockBasedTableOptions options;
  ASSERT_OK(GetBlockBasedTableOptionsFromString(ConfigOptions(), BlockBasedTableOptions(),
                                                "block_cache=1M;block_size=16k", &options));
  ASSERT_NE(options.block_cache, nullptr);
  EXPECT_EQ(options.block_cache->GetCapacity(), 1u << 20);
}

TEST(OptionStrings, MemtableFactoriesByName) {
  EXPECT_STREQ(Family("memtable_factory=VectorRepFactory").memtable_factory->Name(),
               "VectorRepFactory");
  EXPECT_STREQ(Family("memtable=prefix_hash:7").memtable_factory->Name(), "HashSkipListRepFactory");
  const auto with_options = Family("memtable_factory={id=SkipListFactory;lookahead=5}");
  EXPECT_EQ(with_options.memtable_factory->CheckedCast<SkipListFactory>()->lookahead(), 5u);
}

TEST(OptionStrings, ObjectsThatAreNotBuiltInAreLeftUnset) {
  const ColumnFamilyOptions options =
      Family("merge_operator=CatMerge;comparator=Strange;compaction_filter=Mine");
  EXPECT_EQ(options.merge_operator, nullptr);
  EXPECT_EQ(options.comparator, BytewiseComparator());
  EXPECT_EQ(options.compaction_filter, nullptr);
}

TEST(OptionStrings, ObjectsThatAreNotBuiltInAreRefusedWhenAsked) {
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  ColumnFamilyOptions options;
  EXPECT_TRUE(GetColumnFamilyOptionsFromString(config, options, "merge_operator=CatMerge", &options)
                  .IsNotSupported());
}

TEST(OptionStrings, UnknownNamesAreInvalidAndNamed) {
  const Status status = FamilyStatus("write_buffer_sise=1");
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("write_buffer_sise"), std::string::npos);
}

TEST(OptionStrings, BadValuesAreInvalidAndNamed) {
  for (const char* bad :
       {"num_levels=x", "num_levels=99999999999", "num_levels=4G", "write_buffer_size=99999999T",
        "disable_auto_compactions=maybe", "compression=kZip", "compression_opts={level=1;levle=2}",
        "compression_opts=1:2"}) {
    const Status status = FamilyStatus(bad);
    EXPECT_TRUE(status.IsInvalidArgument()) << bad << status.ToString();
    const std::string name(bad, std::string(bad).find('='));
    EXPECT_NE(status.ToString().find(name), std::string::npos) << status.ToString();
  }
}

TEST(OptionStrings, AFailureLeavesTheBaseOptions) {
  ColumnFamilyOptions base, options;
  base.num_levels = 5;
  options.num_levels = 6;
  EXPECT_FALSE(
      GetColumnFamilyOptionsFromString(ConfigOptions(), base, "num_levels=3;bad=1", &options).ok());
  EXPECT_EQ(options.num_levels, 5);
}

TEST(OptionStrings, UnknownNamesAreSkippedWhenAsked) {
  ConfigOptions config;
  config.ignore_unknown_options = true;
  DBOptions options;
  ASSERT_OK(
      GetDBOptionsFromString(config, DBOptions(), "max_open_files=7;from_tomorrow=1", &options));
  EXPECT_EQ(options.max_open_files, 7);
}

TEST(OptionStrings, NamesOfOldReleasesAreIgnored) {
  DBOptions options;
  EXPECT_OK(GetDBOptionsFromString(ConfigOptions(), DBOptions(),
                                   "skip_checking_sst_file_sizes_on_db_open=true", &options));
}

TEST(OptionStrings, MixedDatabaseAndFamilyOptions) {
  Options options;
  ASSERT_OK(
      GetOptionsFromString(Options(), "max_open_files=9;num_levels=3;wal_dir=/a:b", &options));
  EXPECT_EQ(options.max_open_files, 9);
  EXPECT_EQ(options.num_levels, 3);
  EXPECT_EQ(options.wal_dir, "/a:b");
}

TEST(OptionStrings, FormsOfRocksDb78SetTheirOptions) {
  Options options;
  BlockBasedTableOptions table;
  PlainTableOptions plain;
  EXPECT_OK(GetDBOptionsFromMap(options, {{"max_background_jobs", "4"}}, &options));
  EXPECT_OK(GetDBOptionsFromString(options, "max_open_files=100", &options));
  EXPECT_OK(GetColumnFamilyOptionsFromMap(options, {{"write_buffer_size", "1M"}}, &options));
  EXPECT_OK(GetColumnFamilyOptionsFromString(options, "num_levels=5", &options));
  EXPECT_OK(GetBlockBasedTableOptionsFromMap(table, {{"block_size", "8192"}}, &table));
  EXPECT_OK(GetBlockBasedTableOptionsFromString(table, "block_restart_interval=8", &table));
  EXPECT_OK(GetPlainTableOptionsFromMap(plain, {{"user_key_len", "8"}}, &plain));
  EXPECT_OK(GetPlainTableOptionsFromString(plain, "hash_table_ratio=0.5", &plain));
  EXPECT_EQ(options.max_background_jobs, 4);
  EXPECT_EQ(options.max_open_files, 100);
  EXPECT_EQ(options.write_buffer_size, size_t{1} << 20);
  EXPECT_EQ(options.num_levels, 5);
  EXPECT_EQ(table.block_size, 8192u);
  EXPECT_EQ(table.block_restart_interval, 8);
  EXPECT_EQ(plain.user_key_len, 8u);
  EXPECT_EQ(plain.hash_table_ratio, 0.5);
}

TEST(OptionStrings, FormsOfRocksDb78RefuseUnknownNamesUnlessAsked) {
  Options options;
  EXPECT_TRUE(GetDBOptionsFromString(options, "x=1", &options).IsInvalidArgument());
  EXPECT_TRUE(GetDBOptionsFromMap(options, {{"x", "1"}}, &options).IsInvalidArgument());
  EXPECT_OK(GetDBOptionsFromMap(options, {{"x", "1"}}, &options, false, true));
}

TEST(OptionStrings, FormsOfRocksDb78TakeEscapedTextWhenAsked) {
  Options options;
  EXPECT_OK(GetDBOptionsFromMap(options, {{"wal_dir", "a\\:b"}}, &options));
  EXPECT_EQ(options.wal_dir, "a\\:b");
  EXPECT_OK(GetDBOptionsFromMap(options, {{"wal_dir", "a\\:b"}}, &options, true));
  EXPECT_EQ(options.wal_dir, "a:b");
}

TEST(OptionStrings, PrintedOptionsParseToThemselves) {
  ColumnFamilyOptions base;
  base.compression_opts.level = 3;
  base.num_levels = 9;
  base.memtable_factory = std::make_shared<VectorRepFactory>(3);
  std::string text;
  ASSERT_OK(GetStringFromColumnFamilyOptions(ConfigOptions(), base, &text));
  const ColumnFamilyOptions parsed = Family(text);
  std::string again;
  ASSERT_OK(GetStringFromColumnFamilyOptions(ConfigOptions(), parsed, &again));
  EXPECT_EQ(again, text);
  EXPECT_NE(text.find("num_levels=9;"), std::string::npos);
}

TEST(OptionStrings, PrintedDatabaseOptionsParseToThemselves) {
  DBOptions base;
  base.wal_dir = "/tmp/x#y:z;=";
  base.write_compatible_with = "7.8";
  std::string text;
  ASSERT_OK(GetStringFromDBOptions(ConfigOptions(), base, &text));
  DBOptions parsed;
  ASSERT_OK(GetDBOptionsFromString(ConfigOptions(), DBOptions(), text, &parsed));
  EXPECT_EQ(parsed.wal_dir, base.wal_dir);
}

TEST(FilterPolicyText, NamesRoundTrip) {
  for (const char* id : {"bloomfilter:10:false", "bloomfilter:4.567:false", "ribbonfilter:10:0",
                         "ribbonfilter:6.5:-1"}) {
    std::shared_ptr<const FilterPolicy> policy;
    ASSERT_OK(FilterPolicy::CreateFromString(ConfigOptions(), id, &policy));
    EXPECT_EQ(policy->GetId(), id);
  }
}

TEST(FilterPolicyText, RibbonAsRocksDb119WritesIt) {
  std::shared_ptr<const FilterPolicy> policy;
  ASSERT_OK(FilterPolicy::CreateFromString(
      ConfigOptions(), "{id=ribbonfilter:10:0;bloom_before_level=3;}", &policy));
  EXPECT_EQ(policy->GetId(), "ribbonfilter:10:3");
}

// As part of the name they make one that no built-in policy has.
TEST(FilterPolicyText, BadParametersAreRefused) {
  ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  std::shared_ptr<const FilterPolicy> policy;
  for (const char* bad :
       {"bloomfilter", "bloomfilter:x", "bloomfilter:1:2:3", "ribbonfilter:1:y"}) {
    EXPECT_TRUE(FilterPolicy::CreateFromString(strict, bad, &policy).IsNotSupported()) << bad;
    EXPECT_OK(FilterPolicy::CreateFromString(ConfigOptions(), bad, &policy));
    EXPECT_EQ(policy, nullptr) << bad;
  }
}

// Every name once: FindOption() takes the first.
TEST(OptionTables, NamesAreUnique) {
  for (OptionTable table : {DbOptionTable(), ColumnFamilyOptionTable(), BlockBasedOptionTable(),
                            CompressionOptionTable(), UniversalOptionTable(), FifoOptionTable()}) {
    std::set<std::string> names;
    for (const OptionRow& row : table) {
      EXPECT_TRUE(names.insert(row.name()).second) << row.name();

      EXPECT_GT(std::string(row.facts.help).size(), 2u) << row.name();
    }
  }
}

}  // namespace
}  // namespace ashlar
