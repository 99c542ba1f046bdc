// SPDX-License-Identifier: Apache-2.0
//
// What is refused at open, what is put in for "automatic", and what may change later.
#include "db/options/options_check.h"

#include <gtest/gtest.h>

#include <limits>

#include "ashlar/compaction_filter.h"
#include "ashlar/convenience.h"
#include "ashlar/filter_policy.h"
#include "ashlar/flush_block_policy.h"
#include "ashlar/memtablerep.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "db/options/dynamic_options.h"
#include "db/options/memtable_factories.h"
#include "db/options/table_factory.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class ForeignFactory final : public TableFactory {
 public:
  const char* Name() const override { return kBlockBasedTableName(); }
  using TableFactory::NewTableReader;
  Status NewTableReader(const ReadOptions&, const TableReaderOptions&,
                        std::unique_ptr<RandomAccessFileReader>&&, uint64_t,
                        std::unique_ptr<TableReader>*, bool) const override {
    return Status::OK();
  }
  TableBuilder* NewTableBuilder(const TableBuilderOptions&, WritableFileWriter*) const override {
    return nullptr;
  }
  std::unique_ptr<TableFactory> Clone() const override { return nullptr; }
};

// Changes nothing but is a class of the program, whose functions would have to be called.
class WrappingFactory final : public TableFactory {
 public:
  explicit WrappingFactory(TableFactory* inner) : inner_(inner) {}
  const char* Name() const override { return "Wrapping"; }
  using TableFactory::NewTableReader;
  Status NewTableReader(const ReadOptions& read, const TableReaderOptions& options,
                        std::unique_ptr<RandomAccessFileReader>&& file, uint64_t bytes,
                        std::unique_ptr<TableReader>* reader, bool prefetches) const override {
    return inner_->NewTableReader(read, options, std::move(file), bytes, reader, prefetches);
  }
  TableBuilder* NewTableBuilder(const TableBuilderOptions& options,
                                WritableFileWriter* file) const override {
    return inner_->NewTableBuilder(options, file);
  }
  std::unique_ptr<TableFactory> Clone() const override { return nullptr; }
  const Customizable* Inner() const override { return inner_.get(); }

 private:
  const std::unique_ptr<TableFactory> inner_;
};

class WrappingPolicy final : public FilterPolicy {
 public:
  const char* Name() const override { return "Wrapping"; }
  const char* CompatibilityName() const override { return inner_->CompatibilityName(); }
  FilterBitsBuilder* GetBuilderWithContext(const FilterBuildingContext& context) const override {
    return inner_->GetBuilderWithContext(context);
  }
  FilterBitsReader* GetFilterBitsReader(const Slice& contents) const override {
    return inner_->GetFilterBitsReader(contents);
  }
  const Customizable* Inner() const override { return inner_.get(); }

 private:
  const std::unique_ptr<const FilterPolicy> inner_{NewBloomFilterPolicy(10)};
};

class WrappingReps final : public MemTableRepFactory {
 public:
  const char* Name() const override { return "Wrapping"; }
  using MemTableRepFactory::CreateMemTableRep;
  MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator& order, Allocator* allocator,
                                 const SliceTransform* prefixes, Logger* logger) override {
    return inner_.CreateMemTableRep(order, allocator, prefixes, logger);
  }
  const Customizable* Inner() const override { return &inner_; }

 private:
  VectorRepFactory inner_;
};

TEST(OptionsCheck, DefaultsAreSupported) {
  EXPECT_OK(CheckOptionsSupported(DBOptions(), ColumnFamilyOptions()));
  EXPECT_OK(CheckTableOptionsSupported(BlockBasedTableOptions()));
}

TEST(OptionsCheck, FormatVersionIsSixByDefault) {
  EXPECT_EQ(BlockBasedTableOptions().format_version, 6u);
}

TEST(OptionsCheck, SanitizedOptionsAreSupported) {
  const DBOptions db = SanitizeDbOptions(DBOptions());
  EXPECT_OK(CheckOptionsSupported(db, SanitizeColumnFamilyOptions(db, ColumnFamilyOptions())));
}

void ExpectRefused(const Status& status, const std::string& name) {
  EXPECT_TRUE(status.IsNotSupported()) << name << ": " << status.ToString();
  EXPECT_NE(status.ToString().find(name), std::string::npos) << status.ToString();
}

// The engine does not call the functions of a table factory or a filter policy, so it would bypass
// those of a wrapper.
TEST(OptionsCheck, WrappersOfBuiltInObjectsAreNotTheseObjects) {
  ColumnFamilyOptions cf;
  for (TableFactory* const inner : {NewBlockBasedTableFactory(), NewPlainTableFactory(),
                                    NewCuckooTableFactory(), NewAdaptiveTableFactory()}) {
    cf.table_factory = std::make_shared<WrappingFactory>(inner);
    ExpectRefused(CheckColumnFamilyOptionsSupported(cf), "table_factory");
  }
  BlockBasedTableOptions table;
  table.filter_policy = std::make_shared<WrappingPolicy>();
  ExpectRefused(CheckTableOptionsSupported(table), "filter_policy");
  const WrappingReps reps;
  EXPECT_EQ(MemtableKindOf(&reps), MemtableKind::kOfProgram) << "whose function is called";
}

// A program can cast any number to an enumeration.
TEST(OptionsCheck, NumbersThatNoEnumeratorHasAreRefused) {
  const auto refuses = [](const Status& status, const std::string& name) {
    EXPECT_TRUE(status.IsInvalidArgument()) << name << ": " << status.ToString();
    EXPECT_NE(status.ToString().find("option " + name), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find("is not a value of its enumeration"), std::string::npos);
  };
  DBOptions db;
  db.wal_recovery_mode = static_cast<WALRecoveryMode>(4);
  refuses(CheckDbOptionsSupported(db), "wal_recovery_mode");
  db = DBOptions();
  db.info_log_level = static_cast<InfoLogLevel>(77);
  refuses(CheckDbOptionsSupported(db), "info_log_level");
  ColumnFamilyOptions cf;
  cf.compaction_style = static_cast<CompactionStyle>(9);
  refuses(CheckColumnFamilyOptionsSupported(cf), "compaction_style");
  cf = ColumnFamilyOptions();
  cf.compaction_pri = static_cast<CompactionPri>(5);
  refuses(CheckColumnFamilyOptionsSupported(cf), "compaction_pri");
  cf = ColumnFamilyOptions();
  cf.compaction_options_universal.stop_style = static_cast<CompactionStopStyle>(2);
  refuses(CheckColumnFamilyOptionsSupported(cf), "compaction_options_universal.stop_style");
  BlockBasedTableOptions table;
  table.index_type = static_cast<BlockBasedTableOptions::IndexType>(17);
  refuses(CheckTableOptionsSupported(table), "index_type");
  table = BlockBasedTableOptions();
  table.checksum = static_cast<ChecksumType>(5);
  refuses(CheckTableOptionsSupported(table), "checksum");
  table = BlockBasedTableOptions();
  table.metadata_cache_options.partition_pinning = static_cast<PinningTier>(4);
  refuses(CheckTableOptionsSupported(table), "metadata_cache_options.partition_pinning");
}

TEST(OptionsCheck, WhatIsNotBuiltIsRefusedByName) {
  DBOptions db;
  db.db_paths.assign(5, {"/a", 1});
  ExpectRefused(CheckDbOptionsSupported(db), "db_paths");
  ColumnFamilyOptions cf;
  cf.enable_blob_direct_write = true;
  ExpectRefused(CheckColumnFamilyOptionsSupported(cf), "enable_blob_direct_write");
  cf = ColumnFamilyOptions();
  cf.cf_paths.assign(2, {"/a", 1});
  EXPECT_OK(CheckColumnFamilyOptionsSupported(cf));
  cf.compaction_style = kCompactionStyleFIFO;
  ExpectRefused(CheckColumnFamilyOptionsSupported(cf), "cf_paths");
  cf = ColumnFamilyOptions();
  cf.table_factory = std::make_shared<ForeignFactory>();
  ExpectRefused(CheckColumnFamilyOptionsSupported(cf), "table_factory");
}

TEST(OptionsCheck, TiersByAgeAreBuilt) {
  ColumnFamilyOptions cf;
  cf.preclude_last_level_data_seconds = 3600;
  EXPECT_OK(CheckColumnFamilyOptionsSupported(cf));
  cf.preserve_internal_time_seconds = 3600;
  EXPECT_OK(CheckColumnFamilyOptionsSupported(cf));
  cf.last_level_temperature = Temperature::kCold;
  EXPECT_OK(CheckColumnFamilyOptionsSupported(cf));
}

TEST(OptionsCheck, NumbersOfUniversalCompactionThatContradictEachOther) {
  ColumnFamilyOptions cf;
  cf.compaction_options_universal.max_read_amp = 1;
  EXPECT_OK(CheckColumnFamilyOptionsSupported(cf)) << "of another style";
  cf.compaction_style = kCompactionStyleUniversal;
  EXPECT_TRUE(CheckColumnFamilyOptionsSupported(cf).IsInvalidArgument());
  cf.compaction_options_universal.max_read_amp = 0;
  EXPECT_OK(CheckColumnFamilyOptionsSupported(cf));
  cf.compaction_options_universal.min_merge_width = 5;
  cf.compaction_options_universal.max_merge_width = 4;
  EXPECT_TRUE(CheckColumnFamilyOptionsSupported(cf).IsInvalidArgument());
}

TEST(OptionsCheck, FifoNeverSlowsWritersAndEveryLevelledTreeHasTwoLevels) {
  ColumnFamilyOptions cf;
  cf.num_levels = 1;
  cf.periodic_compaction_seconds = 50;
  EXPECT_EQ(SanitizeColumnFamilyOptions(DBOptions(), cf).num_levels, 2);
  cf.compaction_style = kCompactionStyleFIFO;
  const ColumnFamilyOptions fifo = SanitizeColumnFamilyOptions(DBOptions(), cf);
  EXPECT_EQ(fifo.num_levels, 1);
  EXPECT_EQ(fifo.level0_slowdown_writes_trigger, std::numeric_limits<int>::max());
  EXPECT_EQ(fifo.level0_stop_writes_trigger, std::numeric_limits<int>::max());
  EXPECT_EQ(fifo.ttl, uint64_t{30 * 24 * 60 * 60}) << "a period is no age at which data is deleted";
}

// RocksDB never looks at the ages of such tables, so FIFO compaction keeps them.
TEST(OptionsCheck, PlainAndCuckooTablesHaveNoAgeByDefault) {
  ColumnFamilyOptions cf;
  cf.compaction_style = kCompactionStyleFIFO;
  cf.table_factory.reset(NewPlainTableFactory(PlainTableOptions()));
  EXPECT_EQ(SanitizeColumnFamilyOptions(DBOptions(), cf).ttl, 0u);
  cf.table_factory.reset(NewCuckooTableFactory(CuckooTableOptions()));
  EXPECT_EQ(SanitizeColumnFamilyOptions(DBOptions(), cf).ttl, 0u);
  cf.ttl = 60;
  EXPECT_EQ(SanitizeColumnFamilyOptions(DBOptions(), cf).ttl, 60u);
}

TEST(OptionsCheck, TableOptionsThatAreNotBuiltAreRefused) {
  BlockBasedTableOptions options;
  options.fail_if_no_udi_on_open = true;
  ExpectRefused(CheckTableOptionsSupported(options), "fail_if_no_udi_on_open");
  ColumnFamilyOptions cf;
  cf.table_factory.reset(NewBlockBasedTableFactory(options));
  ExpectRefused(CheckColumnFamilyOptionsSupported(cf), "fail_if_no_udi_on_open");
}

TEST(OptionsCheck, EveryIndexAndBuiltInFilterIsWritten) {
  using Table = BlockBasedTableOptions;
  for (const auto type : {Table::kBinarySearch, Table::kHashSearch, Table::kTwoLevelIndexSearch,
                          Table::kBinarySearchWithFirstKey}) {
    Table options;
    options.index_type = type;
    options.partition_filters = true;
    options.filter_policy.reset(NewRibbonFilterPolicy(10));
    ColumnFamilyOptions cf;
    cf.prefix_extractor.reset(NewFixedPrefixTransform(3));
    cf.table_factory.reset(NewBlockBasedTableFactory(options));
    EXPECT_OK(CheckColumnFamilyOptionsSupported(cf));
  }
}

TEST(OptionsCheck, AlignedBlocksAreNotCompressed) {
  BlockBasedTableOptions options;
  options.block_align = true;
  ColumnFamilyOptions cf;
  cf.compression = kNoCompression;
  cf.table_factory.reset(NewBlockBasedTableFactory(options));
  EXPECT_OK(CheckColumnFamilyOptionsSupported(cf));
  const std::vector<CompressionType> supported = GetSupportedCompressions();
  for (const CompressionType type : supported) {
    if (type == kNoCompression) continue;
    for (CompressionType ColumnFamilyOptions::*option :
         {&ColumnFamilyOptions::compression, &ColumnFamilyOptions::bottommost_compression}) {
      ColumnFamilyOptions changed = cf;
      changed.*option = type;
      EXPECT_TRUE(CheckColumnFamilyOptionsSupported(changed).IsInvalidArgument());
    }
    cf.compression_per_level = {kNoCompression, type};
    EXPECT_TRUE(CheckColumnFamilyOptionsSupported(cf).IsInvalidArgument());
    cf.compression_per_level.clear();
  }
}

TEST(OptionsCheck, HashIndexNeedsPrefixes) {
  BlockBasedTableOptions options;
  options.index_type = BlockBasedTableOptions::kHashSearch;
  ColumnFamilyOptions cf;
  cf.table_factory.reset(NewBlockBasedTableFactory(options));
  const Status status = CheckColumnFamilyOptionsSupported(cf);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("index_type"), std::string::npos) << status.ToString();
}

// Each row that must have its default is really looked at.
TEST(OptionsCheck, EveryDefaultOnlyFlagIsChecked) {
  const ColumnFamilyOptions defaults;
  int checked = 0;
  for (const OptionRow& row : ColumnFamilyOptionTable()) {
    ColumnFamilyOptions changed;
    if (row.facts.support != Support::kDefaultOnly || row.parse == nullptr) continue;
    const bool was_true = row.IsSame(&changed, &defaults) &&
                          row.Parse(ConfigOptions(), "true", &changed).ok() &&
                          row.IsSame(&changed, &defaults);
    if (was_true && !row.Parse(ConfigOptions(), "false", &changed).ok()) continue;
    if (row.IsSame(&changed, &defaults)) continue;  // not a flag
    ExpectRefused(CheckColumnFamilyOptionsSupported(changed), row.name());
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

TEST(OptionsCheck, LogsAreCompressedByZstdOrNotAtAll) {
  for (const CompressionType type : {kNoCompression, kSnappyCompression, kLZ4Compression}) {
    DBOptions db;
    db.wal_compression = type;
    EXPECT_OK(CheckDbOptionsSupported(db));
    EXPECT_EQ(SanitizeDbOptions(db).wal_compression, kNoCompression);
  }
  DBOptions db;
  db.wal_compression = kZSTD;
  EXPECT_EQ(SanitizeDbOptions(db).wal_compression, kZSTD);
}

TEST(OptionsCheck, HintsAreAccepted) {
  DBOptions db;
  db.enable_pipelined_write = true;
  db.async_wal_precreate = true;
  db.max_subcompactions = 8;
  ColumnFamilyOptions cf;
  cf.experimental_mempurge_threshold = 0.5;
  cf.bloom_locality = 1;
  EXPECT_OK(CheckOptionsSupported(db, cf));
}

TEST(OptionsCheck, ContradictionsAreInvalid) {
  DBOptions db;
  db.write_compatible_with = "6.0";
  EXPECT_TRUE(CheckDbOptionsSupported(db).IsInvalidArgument());
  db = DBOptions();
  db.use_direct_io_for_flush_and_compaction = true;
  EXPECT_OK(CheckDbOptionsSupported(db));
  db.writable_file_max_buffer_size = 0;
  EXPECT_TRUE(CheckDbOptionsSupported(db).IsInvalidArgument());
  BlockBasedTableOptions table;
  table.format_version = 8;
  EXPECT_TRUE(CheckTableOptionsSupported(table).IsInvalidArgument());
  table = BlockBasedTableOptions();
  table.no_block_cache = true;
  table.block_cache = NewLRUCache(1 << 20);
  EXPECT_TRUE(CheckTableOptionsSupported(table).IsInvalidArgument());
  table.block_cache = nullptr;
  EXPECT_TRUE(CheckTableOptionsSupported(table).ok());
  table.cache_index_and_filter_blocks = true;
  EXPECT_TRUE(CheckTableOptionsSupported(table).IsInvalidArgument());
  WriteOptions write;
  write.sync = write.disableWAL = true;
  EXPECT_TRUE(CheckWriteOptionsSupported(write).IsInvalidArgument());
}

TEST(OptionsCheck, WhatATableCannotUseIsRefusedByItsFactoryToo) {
  const auto verdict = [](const BlockBasedTableOptions& table, const ColumnFamilyOptions& family) {
    const std::unique_ptr<TableFactory> factory(NewBlockBasedTableFactory(table));
    ColumnFamilyOptions with_table = family;
    with_table.table_factory.reset(NewBlockBasedTableFactory(table));
    const Status status = CheckColumnFamilyOptionsSupported(with_table);
    EXPECT_EQ(status, factory->ValidateOptions(DBOptions(), family));
    return status;
  };
  ColumnFamilyOptions family;
  family.compression = kLZ4Compression;
  BlockBasedTableOptions table;
  table.block_align = true;
  EXPECT_TRUE(verdict(table, family).IsInvalidArgument());
  family.compression = kNoCompression;
  EXPECT_OK(verdict(table, family));
  table = BlockBasedTableOptions();
  table.index_type = BlockBasedTableOptions::kHashSearch;
  EXPECT_TRUE(verdict(table, family).IsInvalidArgument());
  table = BlockBasedTableOptions();
  table.no_block_cache = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  EXPECT_TRUE(verdict(table, family).IsInvalidArgument());
  table = BlockBasedTableOptions();
  table.data_block_hash_table_util_ratio = 0;
  EXPECT_OK(verdict(table, family));  // there is no such index
  table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
  EXPECT_TRUE(verdict(table, family).IsInvalidArgument());
  table.data_block_hash_table_util_ratio = 2.5;
  EXPECT_OK(verdict(table, family)) << "several entries may share a bucket";
}

TEST(OptionsCheck, BlobsAreCompressedByWhatThereIs) {
  ColumnFamilyOptions family;
  for (const CompressionType type :
       {kXpressCompression, kDisableCompressionOption, static_cast<CompressionType>(0x33)}) {
    family.blob_compression_type = type;
    EXPECT_TRUE(CheckColumnFamilyOptionsSupported(family).IsInvalidArgument()) << int{type};
  }
  family.blob_compression_type = kLZ4Compression;
  EXPECT_OK(CheckColumnFamilyOptionsSupported(family));
}

TEST(OptionsCheck, OnlyTheLastLevelMayTakeAnotherCompression) {
  ColumnFamilyOptions family;
  family.bottommost_compression = kDisableCompressionOption;
  EXPECT_OK(CheckColumnFamilyOptionsSupported(family));
  family.compression = kDisableCompressionOption;
  EXPECT_TRUE(CheckColumnFamilyOptionsSupported(family).IsInvalidArgument());
  family.compression = kNoCompression;
  family.compression_per_level = {kNoCompression, kDisableCompressionOption};
  EXPECT_TRUE(CheckColumnFamilyOptionsSupported(family).IsInvalidArgument());
}

TEST(OptionsCheck, SharesOfBlobGarbageAreShares) {
  ColumnFamilyOptions family;
  family.blob_garbage_collection_age_cutoff = 2;
  EXPECT_OK(CheckColumnFamilyOptionsSupported(family));  // it means nothing
  family.enable_blob_garbage_collection = true;
  EXPECT_TRUE(CheckColumnFamilyOptionsSupported(family).IsInvalidArgument());
  family.blob_garbage_collection_age_cutoff = 1;
  EXPECT_OK(CheckColumnFamilyOptionsSupported(family));
  family.blob_garbage_collection_force_threshold = -0.5;
  EXPECT_TRUE(CheckColumnFamilyOptionsSupported(family).IsInvalidArgument());
}

TEST(OptionsCheck, CompatibleWritingCapsTheTableFormat) {
  DBOptions db;
  BlockBasedTableOptions table;
  table.separate_key_value_in_data_block = true;
  table.uniform_cv_threshold = 0.5;
  EXPECT_EQ(WrittenTableOptions(db, table).format_version, 6u);
  EXPECT_TRUE(WrittenTableOptions(db, table).separate_key_value_in_data_block);
  EXPECT_EQ(WrittenTableOptions(db, table).uniform_cv_threshold, 0.5);
  db.write_compatible_with = "7.8";
  EXPECT_EQ(WrittenTableOptions(db, table).format_version, 5u);
  EXPECT_FALSE(WrittenTableOptions(db, table).separate_key_value_in_data_block);
  EXPECT_EQ(WrittenTableOptions(db, table).uniform_cv_threshold, -1);
}

TEST(Sanitize, ReportsWhatRocksDbReports) {
  const DBOptions db = SanitizeDbOptions(DBOptions());
  EXPECT_EQ(db.delayed_write_rate, 16u << 20);
  const ColumnFamilyOptions cf = SanitizeColumnFamilyOptions(db, ColumnFamilyOptions());
  EXPECT_EQ(cf.arena_block_size, 1048576u);
  EXPECT_EQ(cf.max_compaction_bytes, 1677721600u);
  EXPECT_EQ(cf.ttl, 2592000u);
  EXPECT_EQ(cf.periodic_compaction_seconds, 0u);
  ColumnFamilyOptions universal;
  universal.compaction_style = kCompactionStyleUniversal;
  EXPECT_EQ(SanitizeColumnFamilyOptions(db, universal).periodic_compaction_seconds, 2592000u);
  universal.ttl = 0;
  EXPECT_EQ(SanitizeColumnFamilyOptions(db, universal).periodic_compaction_seconds, 0u);
  universal.ttl = 500;
  universal.periodic_compaction_seconds = 400;
  EXPECT_EQ(SanitizeColumnFamilyOptions(db, universal).periodic_compaction_seconds, 400u);
}

TEST(Sanitize, CompactionFiltersMeetEveryTableOneDay) {
  class KeepsAll final : public CompactionFilter {
   public:
    const char* Name() const override { return "KeepsAll"; }
  };
  const KeepsAll filter;
  ColumnFamilyOptions cf;
  cf.compaction_filter = &filter;
  EXPECT_EQ(SanitizeColumnFamilyOptions(DBOptions(), cf).periodic_compaction_seconds, 2592000u);
  cf.ttl = 0;
  cf.compaction_style = kCompactionStyleUniversal;
  EXPECT_EQ(SanitizeColumnFamilyOptions(DBOptions(), cf).periodic_compaction_seconds, 0u);
  cf.compaction_style = kCompactionStyleLevel;
  cf.periodic_compaction_seconds = 0;
  EXPECT_EQ(SanitizeColumnFamilyOptions(DBOptions(), cf).periodic_compaction_seconds, 0u);
}

TEST(Sanitize, MovesExtremesToTheNearestThatWorks) {
  ColumnFamilyOptions options;
  options.write_buffer_size = 1;
  options.max_write_buffer_number = 1;
  options.min_write_buffer_number_to_merge = 9;
  options.level0_stop_writes_trigger = 1;
  options.soft_pending_compaction_bytes_limit = 0;
  const ColumnFamilyOptions result = SanitizeColumnFamilyOptions(DBOptions(), options);
  EXPECT_EQ(result.write_buffer_size, 64u << 10);
  EXPECT_EQ(result.max_write_buffer_number, 2);
  EXPECT_EQ(result.min_write_buffer_number_to_merge, 1);
  EXPECT_GE(result.level0_stop_writes_trigger, result.level0_slowdown_writes_trigger);
  EXPECT_EQ(result.soft_pending_compaction_bytes_limit, result.hard_pending_compaction_bytes_limit);
}

TEST(Sanitize, SplitsBackgroundJobs) {
  DBOptions options;
  options.max_background_jobs = 8;
  EXPECT_EQ(GetBackgroundJobLimits(options).flushes, 2);
  EXPECT_EQ(GetBackgroundJobLimits(options).compactions, 6);
  options.max_background_compactions = 3;
  EXPECT_EQ(GetBackgroundJobLimits(options).compactions, 3);
  EXPECT_EQ(GetBackgroundJobLimits(options).flushes, 1);
}

TEST(Sanitize, NoBackgroundJobsMeansOneOfEachKind) {
  Options options;
  options.max_background_jobs = 0;
  EXPECT_EQ(GetBackgroundJobLimits(options).flushes, 1);
  EXPECT_EQ(GetBackgroundJobLimits(options).compactions, 1);
  EXPECT_OK(CheckOptionsSupported(options, ColumnFamilyOptions()));
}

TEST(Sanitize, LimitsOfBackgroundJobsCanBeAdded) {
  DBOptions options;
  options.max_background_flushes = std::numeric_limits<int>::max();
  options.max_background_compactions = std::numeric_limits<int>::max();
  const BackgroundJobLimits limits = GetBackgroundJobLimits(options);
  EXPECT_LT(int64_t{limits.flushes} + limits.compactions + 1, std::numeric_limits<int>::max());
}

TEST(DynamicOptions, ChangesWhatIsDynamic) {
  auto changed =
      ChangeColumnFamilyOptions(DBOptions(), ColumnFamilyOptions(),
                                {{"write_buffer_size", "128k"}, {"compression_opts", "{level=4}"}});
  ASSERT_OK(changed);
  EXPECT_EQ(changed->write_buffer_size, 128u << 10);
  EXPECT_EQ(changed->compression_opts.level, 4);
}

TEST(DynamicOptions, RefusesTheRest) {
  const ColumnFamilyOptions cf;
  EXPECT_TRUE(ChangeColumnFamilyOptions(DBOptions(), cf, {{"num_levels", "3"}})
                  .status()
                  .IsInvalidArgument());
  EXPECT_TRUE(ChangeColumnFamilyOptions(DBOptions(), cf, {}).status().IsInvalidArgument());
  EXPECT_TRUE(ChangeColumnFamilyOptions(DBOptions(), cf, {{"block_protection_bytes_per_key", "3"}})
                  .status()
                  .IsNotSupported());
  EXPECT_TRUE(ChangeDbOptions(DBOptions(), {{"wal_dir", "/x"}}).status().IsNotFound());
  EXPECT_TRUE(ChangeDbOptions(DBOptions(), {{"nothing", "1"}}).status().IsNotFound());
  EXPECT_TRUE(
      ChangeDbOptions(DBOptions(), {{"max_background_jobs", "x"}}).status().IsInvalidArgument());
}

TEST(TableFactory, GivesItsOptionsAndCache) {
  BlockBasedTableOptions options;
  options.block_size = 12345;
  std::unique_ptr<TableFactory> factory(NewBlockBasedTableFactory(options));
  EXPECT_STREQ(factory->Name(), "BlockBasedTable");
  ASSERT_NE(factory->GetOptions<BlockBasedTableOptions>(), nullptr);
  EXPECT_EQ(factory->GetOptions<BlockBasedTableOptions>()->block_size, 12345u);
  ASSERT_NE(factory->GetOptions<Cache>(TableFactory::kBlockCacheOpts()), nullptr);
  EXPECT_EQ(factory->GetOptions<PlainTableOptions>(), nullptr);
}

TEST(TableFactory, AForeignClassIsNotTakenForOurs) {
  ForeignFactory foreign;
  EXPECT_EQ(BlockBasedOptionsOf(&foreign), nullptr);
  EXPECT_NE(BlockBasedOptionsOf(nullptr), nullptr);
}

}  // namespace
}  // namespace ashlar
