// SPDX-License-Identifier: Apache-2.0
//
// Compression dictionaries: when blocks wait for one, and who owns it while it is read.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "ashlar/perf_context.h"
#include "ashlar/perf_level.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "cache/block_cache.h"
#include "table/format/compression.h"
#include "table/format/compression_dictionary.h"
#include "table/sst/read/table_reader.h"
#include "table/sst/write/table_builder.h"
#include "tests/support/memory_writer.h"
#include "tests/support/sample_table.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_lookup.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kDictionaryEntries = 2000;

std::string DictionaryKey(int i) {
  return MakeInternalKey(StrCat("key", 100'000 + i), 7, kTypeValue);
}
// Values that are similar in different blocks, but not within one block.
std::string DictionaryValue(int i) {
  return StrCat("{\"name\": \"customer ", i * 7919 % 1000, "\", \"city\": \"town ", i % 13,
                "\", \"balance\": ", i * 31, "}");
}

class DictionaryTest : public testing::TestWithParam<CompressionType> {
 protected:
  DictionaryTest() : icmp_(BytewiseComparator()), cache_(NewLRUCache(8 << 20, 0)) {
    options_.icmp = &icmp_;
    options_.table = &table_;
    options_.db_id = "dictionary";
    options_.db_session_id = "ABCDEFGHIJKLMNOPQRST";
    options_.file_number = 9;
    table_.block_size = 512;
    options_.compression_opts.max_dict_bytes = 4096;
  }
  void SetUp() override {
    options_.compression = GetParam();
    if (!IsCompressionSupported(GetParam())) return SkipAsMissing("compression");
  }
  void TearDown() override { EpochDrain(); }

  void Build() {
    bytes_.clear();
    writer_ = WriterIntoString(&bytes_);
    builder_ = std::make_unique<TableBuilder>(options_, writer_.get());
    for (int i = 0; i < kDictionaryEntries; ++i)
      ASSERT_OK(builder_->Add(DictionaryKey(i), DictionaryValue(i)));
    bytes_before_finish_ = bytes_.size();
    size_before_finish_ = builder_->FileSize();
    ASSERT_OK(builder_->Finish());
  }

  Result<std::unique_ptr<TableReader>> Open(BlockCacheView* cache) {
    TableReaderOptions options;
    options.icmp = &icmp_;
    options.block_cache = cache;
    options.statistics = statistics_.get();
    return TableReader::Open(ReaderOverBytes(bytes_, "memory.sst"), options);
  }

  void ExpectAll(const TableReader& reader) {
    const std::unique_ptr<InternalIterator> it(reader.NewIterator(ReadOptions(), nullptr));
    int i = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++i) {
      ASSERT_EQ(it->key(), Slice(DictionaryKey(i)));
      ASSERT_EQ(it->value(), Slice(DictionaryValue(i)));
    }
    ASSERT_OK(it->status());
    EXPECT_EQ(i, kDictionaryEntries);
    EXPECT_OK(reader.VerifyChecksums(ReadOptions()));
  }

  uint64_t Ticker(Tickers ticker) const { return statistics_->getTickerCount(ticker); }

  InternalKeyComparator icmp_;
  const std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
  std::shared_ptr<Cache> cache_;
  BlockBasedTableOptions table_;
  TableBuilderOptions options_;
  std::string bytes_;
  std::unique_ptr<FileWriter> writer_;
  std::unique_ptr<TableBuilder> builder_;
  size_t bytes_before_finish_ = 0;
  uint64_t size_before_finish_ = 0;
};

TEST_P(DictionaryTest, MakesSmallBlocksSmaller) {
  Build();
  const uint64_t with = builder_->properties().data_size;
  options_.compression_opts.max_dict_bytes = 0;
  Build();
  const uint64_t without = builder_->properties().data_size;
  EXPECT_LT(with * 10, without * 9);
}

TEST_P(DictionaryTest, TheTableOwnsItWithoutACache) {
  Build();
  auto reader = Open(nullptr);
  ASSERT_OK(reader);
  ExpectAll(**reader);
  EXPECT_GT((*reader)->MemoryUsage(), options_.compression_opts.max_dict_bytes);
  EXPECT_EQ(Ticker(BLOCK_CACHE_COMPRESSION_DICT_ADD), 0u);
  EXPECT_EQ(Ticker(BLOCK_CACHE_COMPRESSION_DICT_MISS), 0u);
}

TEST_P(DictionaryTest, TheCacheIsChargedForBothForms) {
  Build();
  BlockCacheView cache(cache_);
  SetPerfLevel(kEnableCount);
  get_perf_context()->Reset();
  auto reader = Open(&cache);
  SetPerfLevel(kDisable);
  ASSERT_OK(reader);
  EXPECT_EQ(get_perf_context()->compression_dict_block_read_count, 1u);
  EXPECT_GE(get_perf_context()->compression_dict_block_read_byte, 4096u);
  EXPECT_EQ(Ticker(BLOCK_CACHE_COMPRESSION_DICT_MISS), 1u);
  EXPECT_EQ(Ticker(BLOCK_CACHE_COMPRESSION_DICT_ADD), 1u);
  // The bytes, and the digest that zstd made from them.
  EXPECT_GT(Ticker(BLOCK_CACHE_COMPRESSION_DICT_BYTES_INSERT), 4096u);
  EXPECT_GE(cache_->GetUsage(), Ticker(BLOCK_CACHE_COMPRESSION_DICT_BYTES_INSERT));
  ExpectAll(**reader);
}

TEST_P(DictionaryTest, ASecondReaderOfTheFileSharesIt) {
  Build();
  BlockCacheView cache(cache_);
  auto first = Open(&cache);
  ASSERT_OK(first);
  SetPerfLevel(kEnableCount);
  get_perf_context()->Reset();
  auto second = Open(&cache);
  SetPerfLevel(kDisable);
  ASSERT_OK(second);
  EXPECT_EQ(Ticker(BLOCK_CACHE_COMPRESSION_DICT_HIT), 1u);
  EXPECT_EQ(Ticker(BLOCK_CACHE_COMPRESSION_DICT_ADD), 1u);
  EXPECT_EQ(get_perf_context()->compression_dict_block_read_count, 0u);
  EXPECT_GT(get_perf_context()->block_cache_compression_dict_read_byte, 4096u);
  first->reset();  // removes it from the cache; the other reader still works
  EpochDrain();
  ExpectAll(**second);
}

TEST_P(DictionaryTest, BlocksWaitUntilTheBufferIsFull) {
  Build();
  EXPECT_EQ(bytes_before_finish_, 0u) << "everything fits into the buffer";
  EXPECT_GT(size_before_finish_, kDictionaryEntries * 40u)
      << "what waits counts for the size of the file";
  options_.compression_opts.max_dict_buffer_bytes = 20'000;
  Build();
  EXPECT_GT(bytes_before_finish_, 20'000u);
  auto reader = Open(nullptr);
  ASSERT_OK(reader);
  ExpectAll(**reader);
}

TEST_P(DictionaryTest, TheTargetOfTheFileIsABoundToo) {
  options_.target_file_bytes = 20'000;
  Build();
  EXPECT_GT(bytes_before_finish_, 0u);
}

TEST_P(DictionaryTest, DamageIsFoundAtOpening) {
  table_.enable_index_compression = false;  // its size is that of the properties
  Build();
  // The dictionary is before the properties, and only these are behind it in the tail.
  const size_t tail = builder_->properties().tail_start_offset;
  const size_t index_end = tail + builder_->properties().index_size;
  ASSERT_LT(index_end + 3000, bytes_.size());
  bytes_[index_end + 1000] = static_cast<char>(bytes_[index_end + 1000] ^ 1);
  auto reader = Open(nullptr);
  ASSERT_TRUE(reader.status().IsCorruption()) << reader.status().ToString();
  EXPECT_NE(reader.status().ToString().find("compression dictionary"), std::string::npos)
      << reader.status().ToString();
}

INSTANTIATE_TEST_SUITE_P(Types, DictionaryTest,
                         testing::Values(kZlibCompression, kLZ4Compression, kLZ4HCCompression,
                                         kZSTD));

TEST(CompressionDictionary, SamplesFromAllOverTheTable) {
  std::vector<std::string> blocks;
  for (char c = 'a'; c <= 'z'; ++c) blocks.emplace_back(100, c);
  const std::string dictionary =
      MakeCompressionDictionary({blocks.begin(), blocks.end()}, {.max_dict_bytes = 1050});
  ASSERT_EQ(dictionary.size(), 1050u);
  std::string letters = dictionary;
  letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
  EXPECT_EQ(letters.size(), 11u) << "ten blocks and a half, none twice: " << letters;
  EXPECT_EQ(letters.front(), 'n') << "from the middle on";
}

TEST(CompressionDictionary, IsNeverLargerThanAsked) {
  std::vector<std::string> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(DictionaryValue(i) + DictionaryValue(i + 1));
  for (const bool trains : {true, false}) {
    for (const uint32_t train_bytes : {0u, 5000u, 100'000u}) {
      const CompressionOptions options{.max_dict_bytes = 1000,
                                       .zstd_max_train_bytes = train_bytes,
                                       .use_zstd_dict_trainer = trains};
      const std::string dictionary =
          MakeCompressionDictionary({blocks.begin(), blocks.end()}, options);
      EXPECT_LE(dictionary.size(), 1000u);
    }
  }
}

TEST(CompressionDictionary, NothingToLearnFromIsNone) {
  EXPECT_EQ(MakeCompressionDictionary({}, {.max_dict_bytes = 100}), "");
}

}  // namespace
}  // namespace ashlar
