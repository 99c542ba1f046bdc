// SPDX-License-Identifier: Apache-2.0
//
// A block cache that is saved and given to the second tier of another: the database reads nothing
// again; and a dump that is damaged or cut off gives no block that was not saved.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/filter_policy.h"
#include "ashlar/perf_context.h"
#include "ashlar/perf_level.h"
#include "ashlar/utilities/cache_dump_load.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kKeys = 2000;
constexpr char kDump[] = "/dump";

std::string Key(int i) { return StrCat("key", 10000 + i); }
std::string Value(int i) { return StrCat("value ", i, std::string(50, 'v')); }

class Packets final : public CacheDumpWriter, public CacheDumpReader {
 public:
  IOStatus WriteMetadata(const Slice& metadata) override { return WritePacket(metadata); }
  IOStatus WritePacket(const Slice& data) override {
    packets.push_back(data.ToString());
    return IOStatus::OK();
  }
  IOStatus Close() override { return IOStatus::OK(); }
  IOStatus ReadMetadata(std::string* metadata) override { return ReadPacket(metadata); }
  IOStatus ReadPacket(std::string* data) override {
    *data = next < packets.size() ? packets[next++] : "";
    return IOStatus::OK();
  }
  std::vector<std::string> packets;
  size_t next = 0;
};

class CacheDumpTest : public testing::Test {
 protected:
  CacheDumpTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.compression = kNoCompression;
    SetPerfLevel(kEnableCount);
  }

  static std::shared_ptr<SecondaryCache> NewTier() {
    CompressedSecondaryCacheOptions tier;
    tier.capacity = 64 << 20;
    tier.compression_type = kNoCompression;
    return tier.MakeSharedSecondaryCache();
  }
  static std::shared_ptr<Cache> NewCache(std::shared_ptr<SecondaryCache> tier = nullptr) {
    LRUCacheOptions cache;
    cache.capacity = 64 << 20;
    cache.secondary_cache = std::move(tier);
    return cache.MakeSharedCache();
  }
  void Open(const std::string& dir, const std::shared_ptr<Cache>& cache) {
    BlockBasedTableOptions table;
    table.block_cache = cache;
    table.block_size = 1024;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    table.cache_index_and_filter_blocks = true;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    ASSERT_OK(DB::Open(options_, dir, &db_));
  }
  void Fill() {
    for (int i = 0; i < kKeys; i++) ASSERT_OK(db_->Put(WriteOptions(), Key(i), Value(i)));
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  void ReadAll() {
    std::string value;
    for (int i = 0; i < kKeys; i++) {
      ASSERT_OK(db_->Get(ReadOptions(), Key(i), &value));
      ASSERT_EQ(value, Value(i));
    }
  }
  // Blocks that came from files.
  uint64_t BlocksReadByReadingAll() {
    get_perf_context()->Reset();
    ReadAll();
    return get_perf_context()->block_read_count - get_perf_context()->index_block_read_count;
  }
  static IOStatus Dump(const std::shared_ptr<Cache>& cache, std::unique_ptr<CacheDumpWriter> writer,
                       const CacheDumpOptions& options = {}, std::vector<DB*> of = {}) {
    std::unique_ptr<CacheDumper> dumper;
    EXPECT_OK(NewDefaultCacheDumper(options, cache, std::move(writer), &dumper));
    if (!of.empty()) {
      EXPECT_OK(dumper->SetDumpFilter(of));
    }
    return dumper->DumpCacheEntriesToWriter();
  }
  static IOStatus Load(const std::shared_ptr<SecondaryCache>& tier,
                       std::unique_ptr<CacheDumpReader> reader,
                       const CacheDumpOptions& options = {}) {
    std::unique_ptr<CacheDumpedLoader> loader;
    EXPECT_OK(NewDefaultCacheDumpedLoader(options, {}, tier, std::move(reader), &loader));
    return loader->RestoreCacheEntriesToSecondaryCache();
  }
  std::unique_ptr<CacheDumpWriter> ToFile() {
    std::unique_ptr<CacheDumpWriter> writer;
    EXPECT_OK(NewToFileCacheDumpWriter(fs_, FileOptions(), kDump, &writer));
    return writer;
  }
  std::unique_ptr<CacheDumpReader> FromFile() {
    std::unique_ptr<CacheDumpReader> reader;
    EXPECT_OK(NewFromFileCacheDumpReader(fs_, FileOptions(), kDump, &reader));
    return reader;
  }

  const std::shared_ptr<MemoryFileSystem> fs_ = std::make_shared<MemoryFileSystem>();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(fs_);
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(CacheDumpTest, SparesTheReadsOfADatabaseThatStartsAgain) {
  const auto cache = NewCache();
  Open("/db", cache);
  Fill();
  for (int i = 0; i < 5; i++) ReadAll();  // the blocks are hot: some are decoded
  ASSERT_OK(Dump(cache, ToFile()));
  db_.reset();

  const auto tier = NewTier();
  ASSERT_OK(Load(tier, FromFile()));
  Open("/db", NewCache(tier));
  EXPECT_EQ(BlocksReadByReadingAll(), 0u);
  db_.reset();
  Open("/db", NewCache(NewTier()));
  EXPECT_GT(BlocksReadByReadingAll(), 100u) << "without the dump";
}

TEST_F(CacheDumpTest, HoldsOnlyTheBlocksOfTheDatabasesThatAreAskedFor) {
  const auto cache = NewCache();
  Open("/first", cache);
  Fill();
  ReadAll();
  std::unique_ptr<DB> first = std::move(db_);
  Open("/second", cache);
  Fill();
  ReadAll();
  ASSERT_OK(Dump(cache, ToFile(), {}, {first.get()}));
  first.reset();
  db_.reset();
  const auto tier = NewTier();
  ASSERT_OK(Load(tier, FromFile()));
  const auto tiered = NewCache(tier);
  Open("/first", tiered);
  EXPECT_EQ(BlocksReadByReadingAll(), 0u);
  db_.reset();
  Open("/second", tiered);
  EXPECT_GT(BlocksReadByReadingAll(), 100u);
}

TEST_F(CacheDumpTest, EndsAtItsLimits) {
  const auto cache = NewCache();
  Open("/db", cache);
  Fill();
  ReadAll();
  CacheDumpOptions limited;
  limited.max_size_bytes = 20000;
  ASSERT_OK(Dump(cache, ToFile(), limited));
  EXPECT_LT(fs_->AllFiles()[kDump].size(), 21000u);
  EXPECT_GT(fs_->AllFiles()[kDump].size(), 10000u);
  EXPECT_OK(Load(NewTier(), FromFile()));
  limited.max_size_bytes = 5000;
  EXPECT_OK(Load(NewTier(), FromFile(), limited));
}

TEST_F(CacheDumpTest, OfAnEmptyCacheIsEmpty) {
  ASSERT_OK(Dump(NewCache(), ToFile()));
  EXPECT_OK(Load(NewTier(), FromFile()));
}

TEST_F(CacheDumpTest, ThatIsDamagedAnywhereIsCorruption) {
  const auto cache = NewCache();
  Open("/db", cache);
  Fill();
  ReadAll();
  CacheDumpOptions little;
  little.max_size_bytes = 4000;
  ASSERT_OK(Dump(cache, ToFile(), little));
  const std::string whole = fs_->AllFiles()[kDump];
  for (size_t i = 0; i < whole.size(); i++) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    fs_->PutFile(kDump, damaged);
    ASSERT_TRUE(Load(NewTier(), FromFile()).IsCorruption()) << "at " << i;
  }
  for (size_t i = 0; i < whole.size(); i++) {
    fs_->PutFile(kDump, whole.substr(0, i));
    ASSERT_TRUE(Load(NewTier(), FromFile()).IsCorruption()) << i << " bytes";
  }
}

TEST_F(CacheDumpTest, ThatLacksAPacketIsCorruption) {
  const auto cache = NewCache();
  Open("/db", cache);
  Fill();
  ReadAll();
  auto writer = std::make_unique<Packets>();
  Packets* const written = writer.get();
  std::unique_ptr<CacheDumper> dumper;
  ASSERT_OK(NewDefaultCacheDumper({}, cache, std::move(writer), &dumper));
  ASSERT_OK(dumper->DumpCacheEntriesToWriter());
  ASSERT_GT(written->packets.size(), 100u);
  auto whole = std::make_unique<Packets>();
  whole->packets = written->packets;
  auto shorter = std::make_unique<Packets>();
  shorter->packets = written->packets;
  shorter->packets.erase(shorter->packets.begin() + 50);
  EXPECT_TRUE(Load(NewTier(), std::move(shorter)).IsCorruption());
  EXPECT_OK(Load(NewTier(), std::move(whole)));
}

TEST_F(CacheDumpTest, NeedsACacheAndSomewhereToGo) {
  std::unique_ptr<CacheDumper> dumper;
  EXPECT_TRUE(NewDefaultCacheDumper({}, NewCache(), nullptr, &dumper).IsInvalidArgument());
  EXPECT_TRUE(
      NewDefaultCacheDumper({}, nullptr, std::make_unique<Packets>(), &dumper).IsInvalidArgument());
  std::unique_ptr<CacheDumpedLoader> loader;
  EXPECT_TRUE(NewDefaultCacheDumpedLoader({}, {}, nullptr, std::make_unique<Packets>(), &loader)
                  .IsInvalidArgument());
  std::unique_ptr<CacheDumpReader> reader;
  EXPECT_FALSE(NewFromFileCacheDumpReader(fs_, FileOptions(), "/missing", &reader).ok());
}

}  // namespace
}  // namespace ashlar
