// SPDX-License-Identifier: Apache-2.0
//
// Objects by name, kind by kind, as RocksDB 7.8 answers: a name that nothing has leaves what is
// there, or is refused where the program asked for that.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "ashlar/compaction_filter.h"
#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_checksum.h"
#include "ashlar/file_system.h"
#include "ashlar/filter_policy.h"
#include "ashlar/flush_block_policy.h"
#include "ashlar/memtablerep.h"
#include "ashlar/secondary_cache.h"
#include "ashlar/sst_partitioner.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

ConfigOptions StrictNames() {
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  return config;
}

template <typename T>
std::string NameOf(const std::string& text) {
  std::shared_ptr<T> made;
  const Status status = std::remove_const_t<T>::CreateFromString(StrictNames(), text, &made);
  if (!status.ok()) return status.ToString();
  return made == nullptr ? "(none)" : made->Name();
}

template <typename T>
void ExpectUnknownIsIgnored() {
  SCOPED_TRACE(std::remove_const_t<T>::Type());
  std::shared_ptr<T> made;
  EXPECT_OK(std::remove_const_t<T>::CreateFromString(ConfigOptions(), "bogus", &made));
  EXPECT_EQ(made, nullptr);
  EXPECT_TRUE(
      std::remove_const_t<T>::CreateFromString(StrictNames(), "bogus", &made).IsNotSupported());
}

}  // namespace

TEST(NamedObjects, UnknownNamesAreIgnoredUnlessAskedFor) {
  ExpectUnknownIsIgnored<const FilterPolicy>();
  ExpectUnknownIsIgnored<FileChecksumGenFactory>();
  ExpectUnknownIsIgnored<FileSystem>();
  ExpectUnknownIsIgnored<FlushBlockPolicyFactory>();
  ExpectUnknownIsIgnored<MemTableRepFactory>();
  ExpectUnknownIsIgnored<SecondaryCache>();
  ExpectUnknownIsIgnored<SstPartitionerFactory>();
  ExpectUnknownIsIgnored<Statistics>();
  ExpectUnknownIsIgnored<TableFactory>();
}

TEST(NamedObjects, WhatIsThereStaysForAnUnknownName) {
  std::shared_ptr<MemTableRepFactory> factory = std::make_shared<VectorRepFactory>();
  const MemTableRepFactory* const former = factory.get();
  EXPECT_OK(MemTableRepFactory::CreateFromString(ConfigOptions(), "bogus", &factory));
  EXPECT_EQ(factory.get(), former);
  EXPECT_OK(MemTableRepFactory::CreateFromString(ConfigOptions(), "nullptr", &factory));
  EXPECT_EQ(factory, nullptr);
}

TEST(NamedObjects, StatisticsHaveOneClass) {
  for (const char* text : {"BasicStatistics", "id=BasicStatistics", "{id=BasicStatistics}", ""}) {
    EXPECT_EQ(NameOf<Statistics>(text), "BasicStatistics") << text;
  }
  EXPECT_EQ(NameOf<Statistics>("nullptr"), "(none)");
}

TEST(NamedObjects, FileSystemsOfTheMachine) {
  for (const char* text : {"PosixFileSystem", "posix://", "posix", "DefaultFileSystem"}) {
    std::shared_ptr<FileSystem> fs;
    EXPECT_OK(FileSystem::CreateFromString(StrictNames(), text, &fs));
    EXPECT_EQ(fs, FileSystem::Default()) << text;
  }
  EXPECT_EQ(NameOf<FileSystem>("TimedFS"), "TimedFS");
  Env* env = nullptr;
  std::shared_ptr<Env> guard;
  ASSERT_OK(Env::CreateFromUri(StrictNames(), "CompositeEnv", "", &env, &guard));
  EXPECT_STREQ(env->Name(), "CompositeEnv");
  EXPECT_EQ(env, guard.get());
  EXPECT_OK(env->FileExists("/"));
}

TEST(NamedObjects, EveryKeyEndsABlock) {
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  BlockBasedTableOptions table;
  ASSERT_OK(GetBlockBasedTableOptionsFromString(
      StrictNames(), table, "flush_block_policy_factory=FlushBlockEveryKeyPolicyFactory", &table));
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  for (const char* key : {"a", "b", "c"}) ASSERT_OK(db->Put(WriteOptions(), key, "v"));
  ASSERT_OK(db->Flush(FlushOptions()));
  TablePropertiesCollection tables;
  ASSERT_OK(db->GetPropertiesOfAllTables(&tables));
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables.begin()->second->num_data_blocks, 3u);
}

TEST(NamedObjects, AFilterRemovesEmptyValues) {
  ColumnFamilyOptions options;
  ASSERT_OK(GetColumnFamilyOptionsFromString(
      StrictNames(), options, "compaction_filter=RemoveEmptyValueCompactionFilter", &options));
  ASSERT_NE(options.compaction_filter, nullptr);
  std::string new_value;
  bool is_changed = false;
  EXPECT_TRUE(options.compaction_filter->Filter(0, "k", "", &new_value, &is_changed));
  EXPECT_FALSE(options.compaction_filter->Filter(0, "k", "v", &new_value, &is_changed));
  EXPECT_FALSE(is_changed);
}

TEST(NamedObjects, ACompressedSecondTier) {
  std::shared_ptr<SecondaryCache> tier;
  ASSERT_OK(SecondaryCache::CreateFromString(
      StrictNames(),
      "compressed_secondary_cache://capacity=1M;num_shard_bits=2;compression_type=kLZ4Compression",
      &tier));
  EXPECT_STREQ(tier->Name(), "CompressedSecondaryCache");
  size_t capacity = 0;
  ASSERT_OK(tier->GetCapacity(capacity));
  EXPECT_EQ(capacity, size_t{1} << 20);
  for (const char* bad : {"capacity=1M;bogus=1", "capacity=x", "compression_type=bogus"}) {
    EXPECT_TRUE(SecondaryCache::CreateFromString(
                    ConfigOptions(), std::string("compressed_secondary_cache://") + bad, &tier)
                    .IsInvalidArgument())
        << bad;
  }
}

}  // namespace ashlar
