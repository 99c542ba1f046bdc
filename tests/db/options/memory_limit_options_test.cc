// SPDX-License-Identifier: Apache-2.0
//
// DBOptions::memory_limit: what it refuses, which objects follow from it, who shares it, and that
// they keep to it; and the options of Options::for_intent().
#include <string>

#include "ashlar/cache.h"
#include "ashlar/filter_policy.h"
#include "ashlar/utilities/options_util.h"
#include "ashlar/write_buffer_manager.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

constexpr size_t kLimitUnit = 1 << 20;

const BlockBasedTableOptions& TableOptionsOfHandle(const ColumnFamilyDescriptor& descriptor) {
  return *descriptor.options.table_factory->GetOptions<BlockBasedTableOptions>();
}

class MemoryLimitOption : public DbTest {
 protected:
  MemoryLimitOption() { options_.memory_limit = 16 * kLimitUnit; }

  void ExpectRefused(const std::string& word) {
    const Status status = TryOpen();
    EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
    EXPECT_NE(status.ToString().find("memory_limit"), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find(word), std::string::npos) << status.ToString();
  }
  void UseTable(const BlockBasedTableOptions& table) {
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }
  std::shared_ptr<Cache> SharedCache() { return db_->GetOptions().write_buffer_manager->cache(); }
  BlockBasedTableOptions TableOf(ColumnFamilyHandle* family) {
    ColumnFamilyDescriptor descriptor;
    EXPECT_OK(family->GetDescriptor(&descriptor));
    return TableOptionsOfHandle(descriptor);
  }
};

TEST_F(MemoryLimitOption, RefusesLimitsThatAreTooSmall) {
  options_.memory_limit = 1;
  ExpectRefused("8388608");
  options_.memory_limit = 8 * kLimitUnit;
  EXPECT_OK(TryOpen());
}

TEST_F(MemoryLimitOption, RefusesObjectsWithALimitOfTheirOwn) {
  const Options plain = options_;
  options_.db_write_buffer_size = kLimitUnit;
  ExpectRefused("db_write_buffer_size");
  options_ = plain;
  options_.row_cache = NewLRUCache(kLimitUnit);
  ExpectRefused("row_cache");
  options_ = plain;
  options_.write_buffer_manager = std::make_shared<WriteBufferManager>(kLimitUnit);
  ExpectRefused("write_buffer_manager");
  // With a cache but without a limit for memtables, which the limit of memory would not set.
  options_.write_buffer_manager =
      std::make_shared<WriteBufferManager>(0, NewLRUCache(16 * kLimitUnit));
  ExpectRefused("write_buffer_manager");
  // With both, of sizes that the limit of memory would not set.
  options_.write_buffer_manager =
      std::make_shared<WriteBufferManager>(64 * kLimitUnit, NewLRUCache(256 * kLimitUnit));
  ExpectRefused("write_buffer_manager");
  options_ = plain;
  options_.blob_cache = NewLRUCache(kLimitUnit);
  ExpectRefused("blob_cache");
  options_ = plain;
  BlockBasedTableOptions table;
  table.block_cache = NewLRUCache(kLimitUnit);
  UseTable(table);
  ExpectRefused("block_cache");
  PlainTableOptions plain_table;
  plain_table.hash_table_ratio = 0;
  options_.table_factory.reset(NewPlainTableFactory(plain_table));
  ExpectRefused("table_factory");
}

// A program may have looked at the default cache of a factory, which is then made.
TEST_F(MemoryLimitOption, ACacheThatTheFactoryMadeItselfIsReplaced) {
  ASSERT_NE(options_.table_factory->GetOptions<BlockBasedTableOptions>()->block_cache, nullptr);
  Open();
  EXPECT_EQ(TableOf(db_->DefaultColumnFamily()).block_cache, SharedCache());
}

TEST_F(MemoryLimitOption, AllFamiliesShareOneCacheAndKeepTheirOtherOptions) {
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewRibbonFilterPolicy(7));
  table.block_size = 8192;
  UseTable(table);
  options_.write_buffer_size = 64 * kLimitUnit;
  Open({"default", "first"});
  ColumnFamilyHandle* const later = CreateFamily("later", options_);
  const std::shared_ptr<Cache> cache = SharedCache();
  ASSERT_NE(cache, nullptr);
  EXPECT_LT(cache->GetCapacity(), options_.memory_limit);
  EXPECT_GE(cache->GetCapacity(), options_.memory_limit * 3 / 4);
  for (ColumnFamilyHandle* family : {handles_[0], handles_[1], later}) {
    const BlockBasedTableOptions used = TableOf(family);
    EXPECT_EQ(used.block_cache, cache);
    EXPECT_EQ(used.block_size, 8192U);
    EXPECT_STREQ(used.filter_policy->CompatibilityName(), table.filter_policy->CompatibilityName());
    EXPECT_TRUE(used.cache_index_and_filter_blocks);
    EXPECT_EQ(db_->GetOptions(family).write_buffer_size, options_.memory_limit / 8);
    EXPECT_EQ(db_->GetOptions(family).blob_cache, cache);
  }
  EXPECT_EQ(db_->GetOptions().write_buffer_manager->buffer_size(), options_.memory_limit / 4);
}

TEST_F(MemoryLimitOption, ADatabaseWithTheOptionsOfAnotherSharesItsLimit) {
  Open();
  Options shared = db_->GetOptions();
  shared.create_if_missing = true;
  std::unique_ptr<DB> other;
  ASSERT_OK(DB::Open(shared, "/other", &other));
  EXPECT_EQ(other->GetOptions().write_buffer_manager, db_->GetOptions().write_buffer_manager);
  const size_t before = SharedCache()->GetUsage();
  const std::string value(1000, 'v');
  for (int i = 0; i < 1000; i++) ASSERT_OK(other->Put(WriteOptions(), Key(i), value));
  EXPECT_GE(SharedCache()->GetUsage(), before + 512 * 1024);
}

// The manager may outlive the database that it was made for.
TEST_F(MemoryLimitOption, AManagerOfAClosedDatabaseCarriesItsLimitOn) {
  Open();
  options_.write_buffer_manager = db_->GetOptions().write_buffer_manager;
  Close();
  ASSERT_OK(TryOpen());
  EXPECT_EQ(db_->GetOptions().write_buffer_manager, options_.write_buffer_manager);
  EXPECT_EQ(TableOf(db_->DefaultColumnFamily()).block_cache, SharedCache());
}

TEST_F(MemoryLimitOption, CanBeChangedButNotSwitchedOff) {
  Open();
  const size_t before = SharedCache()->GetCapacity();
  ASSERT_OK(db_->SetDBOptions({{"memory_limit", "32M"}}));
  EXPECT_GT(SharedCache()->GetCapacity(), before + 12 * kLimitUnit);
  EXPECT_EQ(db_->GetOptions().write_buffer_manager->buffer_size(), 8 * kLimitUnit);
  EXPECT_TRUE(db_->SetDBOptions({{"memory_limit", "0"}}).IsInvalidArgument());
  EXPECT_TRUE(db_->SetDBOptions({{"memory_limit", "1000"}}).IsInvalidArgument());
  EXPECT_EQ(db_->GetDBOptions().memory_limit, 32 * kLimitUnit);
  options_.memory_limit = 0;
  Reopen();
  EXPECT_TRUE(db_->SetDBOptions({{"memory_limit", "32M"}}).IsInvalidArgument());
}

// RocksDB would not open a directory whose OPTIONS file has a name that it does not know.
TEST_F(MemoryLimitOption, IsNotInTheOptionsFile) {
  Open();
  DBOptions loaded;
  std::vector<ColumnFamilyDescriptor> families;
  ConfigOptions config;
  config.env = options_.env;
  ASSERT_OK(LoadLatestOptions(config, dir_, &loaded, &families));
  EXPECT_EQ(loaded.memory_limit, 0U);
}

// Writes several times the limit to two families, and reads it back while an iterator holds blocks.
TEST_F(MemoryLimitOption, MemtablesAndBlocksTogetherKeepToIt) {
  options_.compression = kNoCompression;
  options_.enable_blob_files = true;
  options_.min_blob_size = 4000;
  options_.target_file_size_base = 2 * kLimitUnit;
  Open({"default", "other"});
  const std::shared_ptr<Cache> cache = SharedCache();
  const std::shared_ptr<WriteBufferManager> manager = db_->GetOptions().write_buffer_manager;
  constexpr int kRows = 40'000;
  for (int i = 0; i < kRows; i++) {
    Put(handles_[i % 2], Key(i), std::string(i % 16 == 0 ? 5000 : 1000, 'v'));
    // A writer stalls after the write that crosses the limit, which adds a block of an arena.
    ASSERT_LE(manager->memory_usage(), options_.memory_limit / 4 + kLimitUnit) << i;
    ASSERT_LE(cache->GetUsage(), options_.memory_limit) << i;
  }
  std::unique_ptr<Iterator> held(db_->NewIterator(ReadOptions(), handles_[0]));
  held->SeekToFirst();
  for (int i = 0; i < kRows; i += 3) {
    PinnableSlice value;
    ASSERT_OK(db_->Get(ReadOptions(), handles_[i % 2], Key(i), &value));
    ASSERT_LE(cache->GetUsage(), options_.memory_limit) << i;
  }
  ASSERT_TRUE(held->Valid());
  EXPECT_EQ(held->key(), Key(0));
  EXPECT_GT(cache->GetUsage(), options_.memory_limit / 2);
  EXPECT_GE(cache->GetUsage(), manager->dummy_entries_in_cache_usage());
}

// Memtables that a reader of the writing thread keeps are never freed while it waits.
TEST_F(MemoryLimitOption, AWriterDoesNotWaitForMemtablesThatItsOwnIteratorsKeep) {
  options_.compression = kNoCompression;
  Open();
  const std::string value(1000, 'v');
  std::vector<std::unique_ptr<Iterator>> held;
  for (int i = 0; i < 40'000; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), Key(i), value));
    if (i % 500 != 0) continue;
    held.emplace_back(db_->NewIterator(ReadOptions()));
    held.back()->SeekToFirst();
  }
  ASSERT_TRUE(held.front()->Valid());
  EXPECT_EQ(held.front()->key(), Key(0));
}

TEST_F(MemoryLimitOption, AWriterDoesNotWaitForMemtablesOfADroppedFamily) {
  options_.memory_limit = 8 * kLimitUnit;
  options_.compression = kNoCompression;
  options_.max_write_buffer_number = 6;
  options_.write_buffer_size = 512 << 10;
  Open({"default", "dropped"});
  const std::string value(1000, 'v');
  ASSERT_OK(db_->PauseBackgroundWork());
  for (int i = 0; i < 1500; i++) Put(handles_[1], Key(i), value);
  ASSERT_OK(db_->DropColumnFamily(handles_[1]));  // flushes are due that will never begin
  ASSERT_OK(db_->ContinueBackgroundWork());
  for (int i = 0; i < 20'000; i++) Put(handles_[0], Key(i), value);
  EXPECT_EQ(Get(handles_[1], Key(0)), value);
}

TEST_F(MemoryLimitOption, AWriterDoesNotWaitForMemtablesOfAClosedDatabase) {
  options_.memory_limit = 8 * kLimitUnit;
  options_.compression = kNoCompression;
  options_.max_write_buffer_number = 6;
  options_.write_buffer_size = 512 << 10;
  Open();
  Options shared = db_->GetOptions();
  shared.create_if_missing = true;
  std::unique_ptr<DB> other;
  ASSERT_OK(DB::Open(shared, "/other", &other));
  const std::string value(1000, 'v');
  ASSERT_OK(other->PauseBackgroundWork());
  for (int i = 0; i < 1500; i++) ASSERT_OK(other->Put(WriteOptions(), Key(i), value));
  ASSERT_OK(other->Close());
  for (int i = 0; i < 20'000; i++) ASSERT_OK(db_->Put(WriteOptions(), Key(i), value));
  EXPECT_EQ(Get(Key(0)), value);
}

TEST_F(MemoryLimitOption, IntentsOpenWriteAndRead) {
  for (Options::Intent intent :
       {Options::kServer, Options::kEmbedded, Options::kBulkLoad, Options::kLowMemory}) {
    const Options given = Options::for_intent(intent);
    const Options files = options_;
    options_ = given;
    options_.env = files.env;
    options_.create_if_missing = true;
    dir_ = "/intent" + std::to_string(intent);
    Open();
    EXPECT_EQ(db_->GetDBOptions().memory_limit, given.memory_limit);
    EXPECT_NE(TableOf(db_->DefaultColumnFamily()).filter_policy, nullptr);
    Fill(5000);
    Flush();
    EXPECT_EQ(Get(Key(4999)).size(), 100U);
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    EXPECT_EQ(Get(Key(1)).size(), 100U);
    EXPECT_EQ(Get("missing"), "(none)");
    Close();
  }
  EXPECT_EQ(Options::for_intent(Options::kEmbedded).memory_limit, 64 * kLimitUnit);
  EXPECT_EQ(Options::for_intent(Options::kLowMemory).memory_limit, 16 * kLimitUnit);
  EXPECT_GE(Options::for_intent(Options::kServer).memory_limit, 64 * kLimitUnit);
  EXPECT_TRUE(Options::for_intent(Options::kBulkLoad).disable_auto_compactions);
}

}  // namespace
}  // namespace ashlar
