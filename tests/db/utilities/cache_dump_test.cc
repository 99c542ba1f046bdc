// SPDX-License-Identifier: Apache-2.0
//
// A block cache is saved and loaded into the second tier of another cache, so that the database
// reads no block again. A dump that is damaged or cut off gives no wrong block.
#include "ashlar/cache.h"
#include "ashlar/filter_policy.h"
#include "ashlar/perf_context.h"
#include "ashlar/perf_level.h"
#include "ashlar/utilities/cache_dump_load.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kKeys = 2000;
constexpr char kDump[] = "/dump";

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

class CacheDumpTest : public DbTest {
 protected:
  CacheDumpTest() {
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
    dir_ = dir;
    DbTest::Open();
  }
  void Fill() {
    for (int i = 0; i < kKeys; i++) Put(Key(i), Value(i));
    Flush();
  }
  void ReadEachKey() {
    for (int i = 0; i < kKeys; i++) ASSERT_EQ(Get(Key(i)), Value(i));
  }
  // Blocks that came from files.
  uint64_t BlocksReadByReadingAll() {
    get_perf_context()->Reset();
    ReadEachKey();
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
    EXPECT_OK(NewToFileCacheDumpWriter(memory_, FileOptions(), kDump, &writer));
    return writer;
  }
  std::unique_ptr<CacheDumpReader> FromFile() {
    std::unique_ptr<CacheDumpReader> reader;
    EXPECT_OK(NewFromFileCacheDumpReader(memory_, FileOptions(), kDump, &reader));
    return reader;
  }
};

TEST_F(CacheDumpTest, SparesTheReadsOfADatabaseThatStartsAgain) {
  const auto cache = NewCache();
  Open("/db", cache);
  Fill();
  for (int i = 0; i < 5; i++) ReadEachKey();  // so that the blocks are hot and some are decoded
  ASSERT_OK(Dump(cache, ToFile()));
  Close();

  const auto tier = NewTier();
  ASSERT_OK(Load(tier, FromFile()));
  Open("/db", NewCache(tier));
  EXPECT_EQ(BlocksReadByReadingAll(), 0u);
  Close();
  Open("/db", NewCache(NewTier()));
  EXPECT_GT(BlocksReadByReadingAll(), 100u) << "without the dump";
}

TEST_F(CacheDumpTest, HoldsOnlyTheBlocksOfTheDatabasesThatAreAskedFor) {
  const auto cache = NewCache();
  Open("/first", cache);
  Fill();
  ReadEachKey();
  std::unique_ptr<DB> first = std::move(db_);
  Open("/second", cache);
  Fill();
  ReadEachKey();
  ASSERT_OK(Dump(cache, ToFile(), {}, {first.get()}));
  first.reset();
  Close();
  const auto tier = NewTier();
  ASSERT_OK(Load(tier, FromFile()));
  const auto tiered = NewCache(tier);
  Open("/first", tiered);
  EXPECT_EQ(BlocksReadByReadingAll(), 0u);
  Close();
  Open("/second", tiered);
  EXPECT_GT(BlocksReadByReadingAll(), 100u);
}

TEST_F(CacheDumpTest, EndsAtItsLimits) {
  const auto cache = NewCache();
  Open("/db", cache);
  Fill();
  ReadEachKey();
  CacheDumpOptions limited;
  limited.max_size_bytes = 20000;
  ASSERT_OK(Dump(cache, ToFile(), limited));
  EXPECT_LT(memory_->AllFiles()[kDump].size(), 21000u);
  EXPECT_GT(memory_->AllFiles()[kDump].size(), 10000u);
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
  ReadEachKey();
  CacheDumpOptions little;
  little.max_size_bytes = 4000;
  ASSERT_OK(Dump(cache, ToFile(), little));
  const std::string whole = memory_->AllFiles()[kDump];
  for (size_t i = 0; i < whole.size(); i++) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    memory_->PutFile(kDump, damaged);
    ASSERT_TRUE(Load(NewTier(), FromFile()).IsCorruption()) << "at " << i;
  }
  for (size_t i = 0; i < whole.size(); i++) {
    memory_->PutFile(kDump, whole.substr(0, i));
    ASSERT_TRUE(Load(NewTier(), FromFile()).IsCorruption()) << i << " bytes";
  }
}

TEST_F(CacheDumpTest, ThatLacksAPacketIsCorruption) {
  const auto cache = NewCache();
  Open("/db", cache);
  Fill();
  ReadEachKey();
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
  EXPECT_FALSE(NewFromFileCacheDumpReader(memory_, FileOptions(), "/missing", &reader).ok());
}

}  // namespace
}  // namespace ashlar
