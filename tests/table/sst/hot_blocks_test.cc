// SPDX-License-Identifier: Apache-2.0
//
// Searches and steps backwards make blocks hot, so that they are decoded; scans do not. Lookups of
// keys decode a block when they read it, if the cache has room.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "cache/block_cache.h"
#include "table/sst/read/table_iterator.h"
#include "table/sst/read/table_reader.h"
#include "table/sst/write/table_builder.h"
#include "tests/support/memory_writer.h"
#include "tests/support/sample_table.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_lookup.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// A decoded block takes another amount of memory, so that the usage of the cache shows its form.
class HotBlocksTest : public testing::Test {
 protected:
  HotBlocksTest() {
    auto opened = TableReader::Open(ReaderOverBytes(sample_.bytes, "sample.sst"),
                                    {.icmp = &icmp_, .block_cache = &view_});
    EXPECT_OK(opened);
    if (opened.ok()) table_ = opened.Take();
  }
  // The usage of the cache after a pass over all entries.
  size_t AfterScan() {
    TableIterator it(table_.get(), ReadOptions(), /*for_compaction=*/false);
    size_t entries = 0;
    for (it.SeekToFirst(); it.Valid(); it.Next()) ++entries;
    EXPECT_OK(it.status());
    EXPECT_EQ(entries, sample_.entries.size());
    return cache_->GetUsage();
  }
  size_t AfterReverseScan(bool fill_cache = true) {
    ReadOptions options;
    options.fill_cache = fill_cache;
    TableIterator it(table_.get(), options, /*for_compaction=*/false);
    size_t entries = 0;
    for (it.SeekToLast(); it.Valid(); it.Prev()) ++entries;
    EXPECT_OK(it.status());
    EXPECT_EQ(entries, sample_.entries.size());
    return cache_->GetUsage();
  }
  // Each lookup has a new iterator, which has no block yet.
  size_t AfterSeeks() {
    for (const SampleEntry& entry : sample_.entries) {
      TableIterator it(table_.get(), ReadOptions(), /*for_compaction=*/false);
      it.Seek(entry.internal_key);
      EXPECT_TRUE(it.Valid());
    }
    return cache_->GetUsage();
  }

  // The usage after the lookup of one key, and of all keys with their neighbours.
  size_t AfterLookup(const SampleEntry& entry, bool fill_cache = true) {
    ReadOptions options;
    options.fill_cache = fill_cache;
    const LookupKey key = KeyOf(entry);
    PinnableSlice value;
    PointLookup lookup(key, &value);
    EXPECT_OK(LookUp(*table_, options, &lookup));
    ExpectFound(lookup, value, entry);
    return cache_->GetUsage();
  }
  size_t AfterLookupsTogether() {
    std::vector<LookupKey> keys;
    for (const SampleEntry& entry : sample_.entries) keys.push_back(KeyOf(entry));
    LookUpTogether(table_.get(), keys,
                   [this](size_t i, const PointLookup& lookup, const PinnableSlice& value) {
                     ExpectFound(lookup, value, sample_.entries[i]);
                   });
    return cache_->GetUsage();
  }
  LookupKey KeyOf(const SampleEntry& entry) const {
    return {ExtractUserKey(entry.internal_key), TrailerSeqno(ExtractTrailer(entry.internal_key)),
            icmp_.order()};
  }
  static void ExpectFound(const PointLookup& lookup, const PinnableSlice& value,
                          const SampleEntry& entry) {
    if (TrailerType(ExtractTrailer(entry.internal_key)) != kTypeValue) return;
    ASSERT_EQ(lookup.outcome(), PointLookup::Outcome::kFound);
    EXPECT_EQ(value.ToString(), entry.value);
  }
  // The memory usage after all blocks were decoded.
  size_t AllDecoded() {
    size_t usage = 0;
    for (int pass = 0; pass < 4; ++pass) usage = AfterReverseScan();
    return usage;
  }
  // Opens the file again with an empty cache, except for an object of `bytes_in_use`.
  void StartAnew(size_t bytes_in_use) {
    table_.reset();
    cache_->EraseUnRefEntries();
    ASSERT_EQ(cache_->GetUsage(), 0u);
    ASSERT_OK(cache_->Insert("fills it", nullptr, &kNoHelper, bytes_in_use, &filling_));
    auto opened = TableReader::Open(ReaderOverBytes(sample_.bytes, "sample.sst"),
                                    {.icmp = &icmp_, .block_cache = &view_});
    ASSERT_OK(opened);
    table_ = opened.Take();
  }
  ~HotBlocksTest() override {
    table_.reset();
    if (filling_ != nullptr) cache_->Release(filling_);
  }

  static constexpr size_t kCapacity = size_t{64} << 20;
  static constexpr Cache::CacheItemHelper kNoHelper{CacheEntryRole::kMisc, nullptr};
  Cache::Handle* filling_ = nullptr;
  const SampleTable sample_ = LoadSampleTable("v78_partitioned_filter_fv5");
  const InternalKeyComparator icmp_{BytewiseComparator()};
  const std::shared_ptr<Cache> cache_ = NewLRUCache(kCapacity, /*num_shard_bits=*/0);
  BlockCacheView view_{cache_};
  std::unique_ptr<TableReader> table_;
};

TEST_F(HotBlocksTest, ScansLeaveBlocksAsTheyAre) {
  ASSERT_NE(table_, nullptr);
  const size_t raw = AfterScan();
  for (int pass = 0; pass < 5; ++pass) ASSERT_EQ(AfterScan(), raw);
  EXPECT_NE(AfterSeeks(), raw);
}

TEST_F(HotBlocksTest, StepsBackwardsDecode) {
  ASSERT_NE(table_, nullptr);
  const size_t raw = AfterReverseScan();
  EXPECT_EQ(AfterReverseScan(), raw);
  for (int pass = 0; pass < 3; ++pass) EXPECT_EQ(AfterReverseScan(/*fill_cache=*/false), raw);
  const size_t decoded = AfterReverseScan();
  EXPECT_GT(decoded, raw);
  EXPECT_LT(decoded, 2 * raw);
  EXPECT_EQ(AfterReverseScan(), decoded);
  EXPECT_EQ(AfterScan(), decoded);
}

TEST_F(HotBlocksTest, LookupsDecodeWhatTheyRead) {
  ASSERT_NE(table_, nullptr);
  const size_t kept_by_table = cache_->GetUsage();
  size_t usage = 0;
  for (const SampleEntry& entry : sample_.entries) {
    EXPECT_EQ(AfterLookup(entry, /*fill_cache=*/false), std::max(kept_by_table, usage));
    usage = AfterLookup(entry);
    for (int again = 0; again < 3; ++again) EXPECT_EQ(AfterLookup(entry), usage);
  }
  EXPECT_EQ(AllDecoded(), usage);
}

TEST_F(HotBlocksTest, LookupsOfSeveralKeysDecodeWhatTheyRead) {
  ASSERT_NE(table_, nullptr);
  const size_t usage = AfterLookupsTogether();
  EXPECT_EQ(AllDecoded(), usage);
  EXPECT_EQ(AfterLookupsTogether(), usage);
}

// If blocks are evicted soon, decoding is not worth it. Then a block must first be used again.
TEST_F(HotBlocksTest, LookupsDecodeNothingAtOnceInAFullCache) {
  ASSERT_NE(table_, nullptr);
  const size_t raw = AfterScan(), decoded = AllDecoded();
  ASSERT_GT(decoded, raw);
  ASSERT_LT(decoded, kCapacity / 64);
  const auto block_of_first_key = [this](size_t bytes_in_use) -> size_t {
    StartAnew(bytes_in_use);
    const size_t usage = AfterLookup(sample_.entries.front()) - bytes_in_use;
    cache_->Release(std::exchange(filling_, nullptr));
    return usage;
  };
  const size_t at_once = block_of_first_key(kCapacity / 2);
  const size_t as_stored = block_of_first_key(kCapacity - kCapacity / 50);
  EXPECT_GT(at_once, as_stored);
  EXPECT_LT(at_once, 2 * as_stored);
}

// The checksums do not depend on the place of a block. Therefore its keys must fit the index, in
// either form.
TEST(DecodedAsRead, BlocksThatChangedPlacesAreCorruptionInOldFormats) {
  const InternalKeyComparator icmp(BytewiseComparator());
  BlockBasedTableOptions format;
  format.format_version = 5;
  format.block_size = 600;
  format.filter_policy = nullptr;
  std::string bytes;
  const std::unique_ptr<FileWriter> writer = WriterIntoString(&bytes);
  TableBuilderOptions options;
  options.icmp = &icmp;
  options.table = &format;
  options.compression = kNoCompression;
  TableBuilder builder(options, writer.get());
  std::vector<std::string> keys;
  for (int i = 100; i < 130; ++i) keys.push_back(StrCat("key", i));
  for (const std::string& key : keys) {
    ASSERT_OK(builder.Add(MakeInternalKey(key, 5, kTypeValue), std::string(100, 'v')));
  }
  ASSERT_OK(builder.Finish());

  const std::shared_ptr<Cache> cache = NewLRUCache(1 << 20);
  BlockCacheView view(cache);
  const auto open = [&] {
    return TableReader::Open(ReaderOverBytes(bytes, "memory.sst"),
                             {.icmp = &icmp, .block_cache = &view});
  };
  auto table = open();
  ASSERT_OK(table);
  const uint64_t blocks = (*table)->properties().num_data_blocks;
  ASSERT_GE(blocks, 3u);
  ASSERT_EQ(keys.size() % blocks, 0u);
  ASSERT_EQ((*table)->properties().data_size % blocks, 0u);
  const auto block_bytes = static_cast<ptrdiff_t>((*table)->properties().data_size / blocks);
  std::swap_ranges(bytes.begin(), bytes.begin() + block_bytes, bytes.begin() + block_bytes);
  table = open();
  ASSERT_OK(table);
  for (const size_t position : {size_t{0}, keys.size() / blocks}) {
    const LookupKey key(keys[position], kMaxSequenceNumber, icmp.order());
    PinnableSlice value;
    PointLookup lookup(key, &value);
    const Status status = LookUp(**table, ReadOptions(), &lookup);
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  }
}

}  // namespace
}  // namespace ashlar
