// SPDX-License-Identifier: Apache-2.0
//
// OPTIONS files of a directory: the newest one is loaded and compared with the options of a
// program.
#include <fstream>
#include <functional>
#include <utility>

#include "ashlar/advanced_cache.h"
#include "ashlar/file_checksum.h"
#include "ashlar/filter_policy.h"
#include "ashlar/memtablerep.h"
#include "ashlar/slice_transform.h"
#include "ashlar/sst_partitioner.h"
#include "ashlar/utilities/options_util.h"
#include "tests/support/paths.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class LoadOptionsTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ + "/" + name) << text;
  }
  static std::string FileWith(const std::string& db, const std::string& family) {
    return "[Version]\nrocksdb_version=11.9.0\n[DBOptions]\n" + db + "\n[CFOptions \"default\"]\n" +
           family + "\n[TableOptions/BlockBasedTable \"default\"]\nblock_size=8192\n";
  }
  Status Load() { return LoadLatestOptions(ConfigOptions(), dir_, &db_options_, &families_); }
  Status Check(ConfigOptions::SanityLevel level, const ColumnFamilyOptions& family) {
    ConfigOptions config;
    config.sanity_level = level;
    return CheckOptionsCompatibility(config, dir_, DBOptions(), {{"default", family}});
  }

  const std::string dir_ = FreshTempDir("load_options");
  DBOptions db_options_;
  std::vector<ColumnFamilyDescriptor> families_;
};

TEST_F(LoadOptionsTest, WithoutAFileItIsNotFound) { EXPECT_TRUE(Load().IsNotFound()); }

TEST_F(LoadOptionsTest, TheGreatestNumberCounts) {
  Write("OPTIONS-000009", FileWith("max_open_files=9", ""));
  Write("OPTIONS-000010", FileWith("max_open_files=10", "num_levels=5"));
  Write("OPTIONS-000011.dbtmp", "half a file");
  ASSERT_OK(Load());
  EXPECT_EQ(db_options_.max_open_files, 10);
  ASSERT_EQ(families_.size(), 1u);
  EXPECT_EQ(families_[0].options.num_levels, 5);
}

TEST_F(LoadOptionsTest, FamiliesShareTheGivenCache) {
  Write("OPTIONS-000001", FileWith("", ""));
  std::shared_ptr<Cache> cache = NewLRUCache(1 << 20);
  ASSERT_OK(LoadLatestOptions(ConfigOptions(), dir_, &db_options_, &families_, &cache));
  const auto* table = families_[0].options.table_factory->GetOptions<BlockBasedTableOptions>();
  EXPECT_EQ(table->block_cache, cache);
  EXPECT_EQ(table->block_size, 8192u);
}

TEST_F(LoadOptionsTest, AnErrorNamesTheFile) {
  Write("OPTIONS-000001", "[DBOptions]\nrubbish\n");
  const Status status = Load();
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("OPTIONS-000001"), std::string::npos) << status.ToString();
}

TEST_F(LoadOptionsTest, FormsOfRocksDb78SkipNamesOfNewerReleasesWhenAsked) {
  const std::string file = dir_ + "/OPTIONS-000005";
  Write("OPTIONS-000005",
        "[Version]\nrocksdb_version=99.1.0\n[DBOptions]\nmax_open_files=5\nof_a_newer_release=1\n"
        "[CFOptions \"default\"]\n");
  EXPECT_FALSE(LoadLatestOptions(dir_, Env::Default(), &db_options_, &families_).ok());
  EXPECT_FALSE(LoadOptionsFromFile(file, Env::Default(), &db_options_, &families_).ok());
  EXPECT_OK(LoadLatestOptions(dir_, Env::Default(), &db_options_, &families_, true));
  EXPECT_EQ(db_options_.max_open_files, 5);
  db_options_ = DBOptions();
  EXPECT_OK(LoadOptionsFromFile(file, Env::Default(), &db_options_, &families_, true));
  EXPECT_EQ(db_options_.max_open_files, 5);
}

TEST_F(LoadOptionsTest, TheCheckOfRocksDb78LooksForWhatMustFit) {
  Write("OPTIONS-000005", FileWith("", "comparator=leveldb.BytewiseComparator"));
  ColumnFamilyOptions family;
  family.write_buffer_size = 1 << 20;
  const DBOptions db_options;
  EXPECT_OK(
      CheckOptionsCompatibility(dir_, Env::Default(), db_options, {{"default", family}}, false));
  family.comparator = ReverseBytewiseComparator();
  EXPECT_TRUE(CheckOptionsCompatibility(dir_, Env::Default(), db_options, {{"default", family}})
                  .IsInvalidArgument());
}

TEST_F(LoadOptionsTest, AnotherComparatorIsIncompatible) {
  Write("OPTIONS-000001", FileWith("", "comparator=Strange"));
  const Status status = Check(ConfigOptions::kSanityLevelLooselyCompatible, ColumnFamilyOptions());
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("Strange"), std::string::npos);
}

TEST_F(LoadOptionsTest, OtherTuningIsCompatibleButNotExactlyEqual) {
  Write("OPTIONS-000001", FileWith("", "write_buffer_size=1048576"));
  ColumnFamilyOptions family;
  BlockBasedTableOptions table;
  table.block_size = 8192;
  family.table_factory.reset(NewBlockBasedTableFactory(table));
  EXPECT_OK(Check(ConfigOptions::kSanityLevelLooselyCompatible, family));
  EXPECT_TRUE(Check(ConfigOptions::kSanityLevelExactMatch, family).IsInvalidArgument());
  family.write_buffer_size = 1 << 20;
  EXPECT_OK(Check(ConfigOptions::kSanityLevelExactMatch, family));
  EXPECT_OK(Check(ConfigOptions::kSanityLevelNone, ColumnFamilyOptions()));
}

TEST_F(LoadOptionsTest, AMissingFamilyIsIncompatible) {
  Write("OPTIONS-000001", FileWith("", "") + "[CFOptions \"other\"]\n");
  EXPECT_TRUE(Check(ConfigOptions::kSanityLevelLooselyCompatible, ColumnFamilyOptions())
                  .IsInvalidArgument());
}

// Objects of the program, which no text can create.
class OwnPrefix final : public SliceTransform {
 public:
  explicit OwnPrefix(std::string name) : name_(std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  Slice Transform(const Slice& key) const override { return key; }
  bool InDomain(const Slice& /*key*/) const override { return true; }

 private:
  const std::string name_;
};

class OwnMemtables final : public MemTableRepFactory {
 public:
  const char* Name() const override { return "OwnMemtables"; }
  using MemTableRepFactory::CreateMemTableRep;
  MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator& /*comparator*/,
                                 Allocator* /*allocator*/, const SliceTransform* /*prefixes*/,
                                 Logger* /*logger*/) override {
    return nullptr;
  }
};

class OwnPartitions final : public SstPartitionerFactory {
 public:
  const char* Name() const override { return "OwnPartitions"; }
  std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& /*context*/) const override {
    return nullptr;
  }
};

class OwnChecksums final : public FileChecksumGenFactory {
 public:
  const char* Name() const override { return "OwnChecksums"; }
  std::unique_ptr<FileChecksumGenerator> CreateFileChecksumGenerator(
      const FileChecksumGenContext& /*context*/) override {
    return nullptr;
  }
};

class ExactMatch : public DbTest {
 protected:
  Status Check(const Options& options,
               ConfigOptions::SanityLevel level = ConfigOptions::kSanityLevelExactMatch) {
    ConfigOptions config;
    config.env = env_.get();
    config.sanity_level = level;
    return CheckOptionsCompatibility(config, "/db", options, {{"default", options}});
  }
  Status Check() { return Check(options_); }
};

TEST_F(ExactMatch, ObjectsOfTheProgramAreComparedByName) {
  options_.prefix_extractor = std::make_shared<OwnPrefix>("OwnPrefix");
  options_.memtable_insert_with_hint_prefix_extractor = std::make_shared<OwnPrefix>("OwnHints");
  options_.memtable_factory = std::make_shared<OwnMemtables>();
  options_.sst_partitioner_factory = std::make_shared<OwnPartitions>();
  options_.file_checksum_gen_factory = std::make_shared<OwnChecksums>();
  Open();
  EXPECT_OK(Check());
  const std::vector<std::pair<const char*, std::function<void(Options*)>>> others{
      {"prefix_extractor",
       [](Options* o) { o->prefix_extractor = std::make_shared<OwnPrefix>("Another"); }},
      {"prefix_extractor", [](Options* o) { o->prefix_extractor = nullptr; }},
      {"memtable_insert_with_hint_prefix_extractor",
       [](Options* o) { o->memtable_insert_with_hint_prefix_extractor = o->prefix_extractor; }},
      {"memtable_factory",
       [](Options* o) { o->memtable_factory = std::make_shared<VectorRepFactory>(); }},
      {"sst_partitioner_factory", [](Options* o) { o->sst_partitioner_factory = nullptr; }},
      {"file_checksum_gen_factory",
       [](Options* o) { o->file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory(); }},
  };
  for (const auto& [option, change] : others) {
    Options other = options_;
    change(&other);
    const Status status = Check(other);
    EXPECT_TRUE(status.IsInvalidArgument()) << option;
    EXPECT_NE(status.ToString().find(option), std::string::npos) << status.ToString();
  }
}

TEST_F(ExactMatch, ALimitOfMemoryIsTheSame) {
  options_.memory_limit = 64 << 20;
  Open();
  EXPECT_OK(Check());
  Options other = options_;
  other.memory_limit = 32 << 20;
  EXPECT_FALSE(Check(other).ok());
}

TEST_F(ExactMatch, NoFactoryMeansBlockBasedTables) {
  options_.table_factory = nullptr;
  Open();
  EXPECT_OK(Check());
  EXPECT_OK(Check(options_, ConfigOptions::kSanityLevelLooselyCompatible));
}

TEST_F(ExactMatch, ObjectsWithNamesAreComparedWithTheirOptions) {
  options_.prefix_extractor.reset(NewFixedPrefixTransform(3));
  options_.memtable_factory.reset(NewHashSkipListRepFactory(1000));
  Open();
  EXPECT_OK(Check());
  Options other = options_;
  other.prefix_extractor.reset(NewFixedPrefixTransform(4));
  EXPECT_TRUE(Check(other).IsInvalidArgument());
  other = options_;
  other.memtable_factory.reset(NewHashSkipListRepFactory(2000));
  EXPECT_TRUE(Check(other).IsInvalidArgument());
}

TEST_F(ExactMatch, TablesAreComparedByTheirOptions) {
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  EXPECT_OK(Check());
  const std::vector<std::pair<const char*, std::function<void(BlockBasedTableOptions*)>>> others{
      {"format_version", [](BlockBasedTableOptions* t) { t->format_version = 4; }},
      {"checksum", [](BlockBasedTableOptions* t) { t->checksum = kCRC32c; }},
      {"block_size", [](BlockBasedTableOptions* t) { t->block_size = 8192; }},
      {"index_type",
       [](BlockBasedTableOptions* t) { t->index_type = BlockBasedTableOptions::kHashSearch; }},
      {"whole_key_filtering", [](BlockBasedTableOptions* t) { t->whole_key_filtering = false; }},
      {"filter_policy", [](BlockBasedTableOptions* t) { t->filter_policy = nullptr; }},
      {"filter_policy",
       [](BlockBasedTableOptions* t) { t->filter_policy.reset(NewBloomFilterPolicy(12)); }},
  };
  for (const auto& [option, change] : others) {
    BlockBasedTableOptions other = table;
    change(&other);
    Options changed = options_;
    changed.table_factory.reset(NewBlockBasedTableFactory(other));
    const Status status = Check(changed);
    EXPECT_TRUE(status.IsCorruption()) << option << " " << status.ToString();
    EXPECT_NE(status.ToString().find(option), std::string::npos) << status.ToString();
    EXPECT_OK(Check(changed, ConfigOptions::kSanityLevelLooselyCompatible)) << option;
  }
}

TEST_F(ExactMatch, FiltersMayBeAddedAndACacheIsNoDifference) {
  Open();
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  table.block_cache = NewLRUCache(1 << 20);
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  EXPECT_OK(Check());
}

// The file has the release that the directory is written for, and only options of that release.
TEST_F(ExactMatch, WhatAnOlderRocksDbDoesNotKnowIsNotCompared) {
  BlockBasedTableOptions table;
  table.format_version = 6;  // written as 5
  table.uniform_cv_threshold = 0.5;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  options_.write_compatible_with = "7.8";
  options_.last_level_temperature = Temperature::kIce;
  options_.memtable_max_range_deletions = 100;
  Open();
  EXPECT_OK(Check());
  options_.write_compatible_with = "";
  EXPECT_OK(Check());
  options_.write_buffer_size = 1 << 20;
  EXPECT_TRUE(Check().IsInvalidArgument());
}

TEST_F(ExactMatch, FamiliesAreSanitizedByTheOptionsOfTheirDatabase) {
  options_.atomic_flush = true;
  options_.allow_ingest_behind = true;
  options_.max_write_buffer_number = 6;
  options_.min_write_buffer_number_to_merge = 3;
  options_.num_levels = 2;
  Open();
  EXPECT_OK(Check());
}

}  // namespace
}  // namespace ashlar
