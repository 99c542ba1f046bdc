// SPDX-License-Identifier: Apache-2.0
//
// Blocks that are passed from table to table in stored form: which blocks are passed, and that the
// written bytes are the same as without it. Only the cost differs.
#include "table/sst/write/block_passing.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "ashlar/table_properties.h"
#include "env/memory/memory_file_system.h"
#include "env/random_reader.h"
#include "table/block/block_builder.h"
#include "table/format/compression.h"
#include "table/iterator/merging_iterator.h"
#include "table/sst/read/table_iterator.h"
#include "table/sst/read/table_reader.h"
#include "table/sst/write/table_builder.h"
#include "tests/support/damaged_files.h"
#include "tests/support/memory_writer.h"
#include "tests/support/sample_table.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_lookup.h"
#include "tests/support/unknown_block_policy.h"
#include "util/keys/internal_key.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;
using Tables = std::vector<const TableReader*>;

std::string PassingKey(int i) { return StrCat("key", 1000000 + i); }

// Keys first, first + step, ... with values that compress to about a half.
Entries PassingEntries(int first, int count, int step = 1, SequenceNumber seqno = 0) {
  Random64 random(static_cast<uint64_t>(first) + 1);
  Entries entries;
  for (int i = first; i < first + count * step; i += step) {
    std::string value(60, static_cast<char>('a' + i % 26));
    for (size_t k = 0; k < 30; ++k) value[k] = static_cast<char>(random.Next());
    entries.emplace_back(MakeInternalKey(PassingKey(i), seqno, kTypeValue), value);
  }
  return entries;
}

class BlockPassingTest : public testing::Test {
 protected:
  BlockPassingTest() {
    table_.no_block_cache = true;
    table_.filter_policy.reset(NewBloomFilterPolicy(10));
    options_.icmp = &icmp_;
    options_.table = &table_;
    options_.compression = kLZ4Compression;
    options_.db_session_id = "ABCDEFGHIJKLMNOPQRST";
    options_.file_number = 12;
  }

  struct Made {
    std::string bytes;
    TableProperties properties;
    uint64_t passed = 0;
    std::unique_ptr<TableReader> reader;
  };

  Made Build(const std::function<void(TableBuilder*)>& fill) {
    Made made;
    const std::unique_ptr<FileWriter> writer = WriterIntoString(&made.bytes);
    TableBuilder builder(options_, writer.get());
    fill(&builder);
    EXPECT_OK(builder.Finish());
    made.properties = builder.properties();
    made.passed = builder.passed_blocks();
    made.reader = Open(made.bytes);
    return made;
  }
  Made Build(const Entries& entries) {
    return Build([&](TableBuilder* builder) {
      for (const auto& [key, value] : entries) EXPECT_OK(builder->Add(key, value));
    });
  }
  std::unique_ptr<TableReader> Open(const std::string& bytes) const {
    auto reader =
        TableReader::Open(ReaderOverBytes(bytes, "memory.sst"),
                          {.icmp = &icmp_, .prefix_extractor = options_.prefix_extractor});
    EXPECT_OK(reader);
    return reader.ok() ? reader.Take() : nullptr;
  }

  std::unique_ptr<MergingIterator> Merge(const Tables& tables, const BlockPassing* output) const {
    SortedRuns runs;
    for (const TableReader* table : tables) {
      auto* const it = new TableIterator(table, ReadOptions(), /*for_compaction=*/true);
      it->OfferBlocksTo(output);
      runs.runs.emplace_back(it);
    }
    return std::make_unique<MergingIterator>(&icmp_, std::move(runs));
  }
  // Does what a compaction does that drops nothing.
  Made Compact(const Tables& tables, bool passes) {
    const std::optional<BlockPassing> output = BlockPassing::Into(options_);
    const auto merged = Merge(tables, passes && output.has_value() ? &*output : nullptr);
    PassedBlock block;
    return Build([&](TableBuilder* builder) {
      for (merged->SeekToFirst(); merged->Valid(); merged->Next()) {
        if (merged->EntersBlock() && merged->OfferBlock(&block)) builder->OfferBlock(&block);
        EXPECT_OK(builder->Add(merged->key(), merged->value()));
      }
      EXPECT_OK(merged->status());
    });
  }

  Entries Read(const TableReader& table) const {
    Entries entries;
    const std::unique_ptr<InternalIterator> it(table.NewIterator(ReadOptions(), nullptr));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      entries.emplace_back(it->key().ToString(), it->value().ToString());
    }
    EXPECT_OK(it->status());
    EXPECT_OK(table.VerifyChecksums(ReadOptions()));
    return entries;
  }
  // Looks up all entries through index and filter.
  void ExpectFound(const TableReader& table, const Entries& entries) const {
    for (const auto& [key, value] : entries) {
      const LookupKey wanted(ExtractUserKey(key), kMaxSequenceNumber, icmp_.order());
      PinnableSlice found;
      PointLookup lookup(wanted, &found);
      ASSERT_OK(LookUp(table, ReadOptions(), &lookup));
      ASSERT_EQ(lookup.outcome(), PointLookup::Outcome::kFound);
      ASSERT_EQ(found.ToString(), value);
    }
  }
  // The entries and all their properties are the same.
  void ExpectSame(const Made& passing, const Made& plain) const {
    EXPECT_EQ(Read(*passing.reader), Read(*plain.reader));
    const TableProperties &a = passing.properties, &b = plain.properties;
    EXPECT_EQ(a.num_entries, b.num_entries);
    EXPECT_EQ(a.raw_key_size, b.raw_key_size);
    EXPECT_EQ(a.raw_value_size, b.raw_value_size);
    EXPECT_EQ(a.num_deletions, b.num_deletions);
    EXPECT_EQ(a.num_filter_entries, b.num_filter_entries);
    EXPECT_EQ(a.key_smallest_seqno, b.key_smallest_seqno);
    EXPECT_EQ(a.key_largest_seqno, b.key_largest_seqno);
    EXPECT_EQ(a.compression_name, b.compression_name);
  }

  const InternalKeyComparator icmp_{BytewiseComparator()};
  BlockBasedTableOptions table_;
  TableBuilderOptions options_;
};

// The file is the same, byte for byte, if its checksums have the same file number.
TEST_F(BlockPassingTest, ATableThatNothingIsMergedIntoIsWrittenAgainAsItWas) {
  for (const CompressionType type : {kLZ4Compression, kZSTD, kSnappyCompression}) {
    if (!IsCompressionSupported(type)) continue;
    options_.compression = type;
    for (uint32_t version = 2; version <= 7; ++version) {
      table_.format_version = version;
      const Made input = Build(PassingEntries(0, 2000));
      const Made passing = Compact({input.reader.get()}, true);
      const Made plain = Compact({input.reader.get()}, false);
      EXPECT_GE(passing.passed, passing.properties.num_data_blocks - 1);  // a short last one
      EXPECT_EQ(plain.passed, 0u);
      EXPECT_EQ(passing.bytes, plain.bytes) << "type " << int{type} << ", version " << version;
    }
  }
}

TEST_F(BlockPassingTest, EveryKindOfTableTakesThem) {
  const std::unique_ptr<const SliceTransform> prefix(NewFixedPrefixTransform(8));
  const std::vector<std::function<void()>> forms = {
      [&] { options_.compression_opts.parallel_threads = 3; },
      [&] { table_.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch; },
      [&] { table_.partition_filters = true, table_.metadata_block_size = 256; },
      [&] { options_.prefix_extractor = prefix.get(); },
      [&] { table_.index_type = BlockBasedTableOptions::kHashSearch; },
      [&] { options_.compression_opts.parallel_threads = 1; },
      [&] { table_.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash; },
      [&] { table_.separate_key_value_in_data_block = true; },
      [&] { table_.block_size = 300; },
      [&] { table_.block_size = 1; },
      [&] { table_.super_block_alignment_size = 16384; },
  };
  for (size_t i = 0; i < forms.size(); ++i) {
    SCOPED_TRACE(i);
    forms[i]();
    const Made input = Build(PassingEntries(0, 2000));
    const Made passing = Compact({input.reader.get()}, true);
    EXPECT_GE(passing.passed, passing.properties.num_data_blocks - 1);
    EXPECT_EQ(passing.bytes, Compact({input.reader.get()}, false).bytes);
  }
}

TEST_F(BlockPassingTest, BlocksThatDidNotCompressPassToo) {
  Random64 random(7);
  Entries entries = PassingEntries(0, 500);
  for (auto& [key, value] : entries) {
    for (char& byte : value) byte = static_cast<char>(random.Next());
  }
  const Made input = Build(entries);
  ASSERT_GT(input.properties.num_data_blocks_compression_rejected, 5u);
  const Made passing = Compact({input.reader.get()}, true);
  EXPECT_GE(passing.passed, passing.properties.num_data_blocks - 1);
  EXPECT_EQ(passing.bytes, Compact({input.reader.get()}, false).bytes);
}

// The other runs have a few keys in one place. The blocks before and after it are passed on.
TEST_F(BlockPassingTest, OnlyWhatIsMergedIsCompressed) {
  const Made lower = Build(PassingEntries(0, 4000, /*step=*/2));
  const Made upper = Build(PassingEntries(3001, 50, 2, /*seqno=*/7));
  const Made passing = Compact({upper.reader.get(), lower.reader.get()}, true);
  const uint64_t blocks = passing.properties.num_data_blocks;
  EXPECT_GT(passing.passed, blocks * 9 / 10);
  EXPECT_LT(passing.passed, blocks);
  ExpectSame(passing, Compact({upper.reader.get(), lower.reader.get()}, false));
  ExpectFound(*passing.reader, PassingEntries(0, 4000, 2));
}

// Every second block gets a key. Blocks that end early must not result in many small blocks.
TEST_F(BlockPassingTest, TablesDoNotFallIntoSmallBlocks) {
  const Made lower = Build(PassingEntries(0, 20000, /*step=*/2));
  const int keys_a_block = static_cast<int>(20000 / lower.properties.num_data_blocks);
  for (const int gap : {2, 3, 10}) {
    const Made upper =
        Build(PassingEntries(1, 20000 / (gap * keys_a_block), 2 * gap * keys_a_block, 7));
    Made passing = Compact({upper.reader.get(), lower.reader.get()}, true);
    const Made plain = Compact({upper.reader.get(), lower.reader.get()}, false);
    ExpectSame(passing, plain);
    EXPECT_GT(passing.passed, 0u) << gap;
    // Neither in one compaction nor after several.
    for (int round = 0; round < 3; ++round) {
      EXPECT_LT(passing.properties.num_data_blocks, plain.properties.num_data_blocks * 6 / 5 + 3);
      passing = Compact({passing.reader.get()}, true);
    }
  }
}

TEST_F(BlockPassingTest, OtherOptionsMakeOtherTables) {
  const Made input = Build(PassingEntries(0, 2000));
  const std::vector<std::function<void()>> changes = {
      [&] { options_.compression_opts.level = 3; },
      [&] { table_.block_restart_interval = 3; },
      [&] { table_.use_delta_encoding = false; },
      [&] { table_.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash; },
      [&] { table_.separate_key_value_in_data_block = true; },
      [&] { table_.format_version = 3; },
      [&] { table_.block_size = 16384; },
      [&] { table_.block_size = 1024; },
      [&] { options_.compression = kSnappyCompression; },
      [&] { options_.compression = kNoCompression; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    const BlockBasedTableOptions table = table_;
    const TableBuilderOptions options = options_;
    changes[i]();
    const Made passing = Compact({input.reader.get()}, true);
    EXPECT_EQ(passing.passed, 0u);
    ExpectSame(passing, Compact({input.reader.get()}, false));
    table_ = table;
    std::destroy_at(&options_);
    std::construct_at(&options_, options);
  }
}

// If an entry is dropped or changed, the result is another block, whichever block was offered.
TEST_F(BlockPassingTest, AnOfferIsOnlyTakenForTheSameBytes) {
  const Entries entries = PassingEntries(0, 400);
  const Made input = Build(entries);
  const std::optional<BlockPassing> output = BlockPassing::Into(options_);
  for (const bool drops : {true, false}) {
    const auto merged = Merge({input.reader.get()}, &*output);
    PassedBlock block;
    int count = 0;
    Entries expected;
    const Made made = Build([&](TableBuilder* builder) {
      for (merged->SeekToFirst(); merged->Valid(); merged->Next()) {
        if (merged->EntersBlock() && merged->OfferBlock(&block)) builder->OfferBlock(&block);
        const bool is_odd_one = ++count % 10 == 5;
        if (is_odd_one && drops) continue;
        const std::string value = merged->value().ToString().substr(is_odd_one ? 1 : 0);
        EXPECT_OK(builder->Add(merged->key(), value));
        expected.emplace_back(merged->key().ToString(), value);
      }
    });
    EXPECT_EQ(made.passed, 0u);
    EXPECT_EQ(Read(*made.reader), expected);
  }
}

TEST_F(BlockPassingTest, WhatIsDamagedIsRefusedByName) {
  const Made input = Build(PassingEntries(0, 2000));
  std::string bytes = input.bytes;
  bytes[20000] = static_cast<char>(bytes[20000] ^ 1);
  const std::unique_ptr<TableReader> damaged = Open(bytes);
  const std::optional<BlockPassing> output = BlockPassing::Into(options_);
  const auto merged = Merge({damaged.get()}, &*output);
  PassedBlock block;
  size_t offers = 0;
  for (merged->SeekToFirst(); merged->Valid(); merged->Next()) {
    if (merged->EntersBlock()) offers += merged->OfferBlock(&block);
  }
  EXPECT_TRUE(merged->status().IsCorruption());
  EXPECT_NE(merged->status().ToString().find("memory.sst, offset 1"), std::string::npos)
      << merged->status().ToString();
  EXPECT_GT(offers, 0u);
}

// A second read may repair a damaged block. The bytes of the first read are still in the buffer.
TEST_F(BlockPassingTest, WhatCameDamagedIsNotPassedOnThoughItWasReadAgain) {
  const Made input = Build(PassingEntries(0, 2000));
  const auto memory = std::make_shared<MemoryFileSystem>();
  memory->PutFile("/table.sst", input.bytes);
  Damage damage;
  DamagedFiles files(memory, &damage);
  auto file = RandomReader::Open(&files, "/table.sst", FileOptions());
  ASSERT_OK(file);
  auto damaged = TableReader::Open(file.Take(), {.icmp = &icmp_});
  ASSERT_OK(damaged);
  damage.first = damage.reads;  // the first one of the compaction, for all blocks together
  damage.count = 1;
  const Made passing = Compact({damaged->get()}, true);
  EXPECT_GT(passing.passed, 0u);
  EXPECT_LT(passing.passed, passing.properties.num_data_blocks - 1);
  ExpectSame(passing, Compact({input.reader.get()}, false));
}

TEST(BlockPassing, IntoSaysWhereNothingIsToBeGained) {
  const InternalKeyComparator icmp{BytewiseComparator()};
  BlockBasedTableOptions table;
  TableBuilderOptions options{.icmp = &icmp, .table = &table, .compression = kLZ4Compression};
  EXPECT_TRUE(BlockPassing::Into(options).has_value());
  options.compression_opts.max_dict_bytes = 1000;
  EXPECT_FALSE(BlockPassing::Into(options).has_value()) << "each table has its own dictionary";
  options.compression_opts.max_dict_bytes = 0;
  options.compression = kNoCompression;
  EXPECT_FALSE(BlockPassing::Into(options).has_value());
  options.compression = kZSTD;
  table.flush_block_policy_factory = std::make_shared<FlushBlockBySizePolicyFactory>();
  EXPECT_TRUE(BlockPassing::Into(options).has_value());
  table.flush_block_policy_factory = std::make_shared<UnknownBlockPolicyFactory>();
  EXPECT_FALSE(BlockPassing::Into(options).has_value()) << "the program ends blocks";
}

TEST(BlockPassing, TablesMustHaveTheSameForm) {
  const BlockPassing output{.compression = kZSTD,
                            .compression_options = "level=3",
                            .format_version = 5,
                            .restart_interval = 16,
                            .separates_values = false,
                            .block_bytes = 4096};
  TableProperties same;
  same.compression_options = "level=3";
  same.format_version = 5;
  same.data_block_restart_interval = 16;
  same.separate_key_value_in_data_block = 0;
  EXPECT_TRUE(output.TakesFrom(same));
  const std::pair<const char*, std::function<void(TableProperties*)>> kOthers[] = {
      {"level", [](TableProperties* p) { p->compression_options = "level=4"; }},
      {"unknown", [](TableProperties* p) { p->compression_options.clear(); }},
      {"version", [](TableProperties* p) { p->format_version = 6; }},
      {"restarts", [](TableProperties* p) { p->data_block_restart_interval = 1; }},
      {"values", [](TableProperties* p) { p->separate_key_value_in_data_block = 1; }},
  };
  for (const auto& [name, change] : kOthers) {
    TableProperties other = same;
    change(&other);
    EXPECT_FALSE(output.TakesFrom(other)) << name;
  }
  EXPECT_TRUE(output.Takes(kZSTD));
  EXPECT_TRUE(output.Takes(kNoCompression)) << "compressing it did not pay";
  EXPECT_FALSE(output.Takes(kLZ4Compression));
}

TEST(BlockPassing, BlocksMustHaveTheRightSize) {
  const BlockPassing output{.compression = kZSTD, .block_bytes = 1000};
  const struct {
    const char* name;
    int entries;
    size_t value_bytes;
    bool is_taken;
  } kCases[] = {{"empty", 0, 0, false},
                {"small", 4, 100, false},
                {"right", 8, 100, true},
                {"one large entry", 1, 5000, true},
                {"large", 20, 100, false}};
  for (const auto& c : kCases) {
    BlockBuilder builder({.restart_interval = 2});
    for (int i = 0; i < c.entries; ++i) builder.Add(PassingKey(i), std::string(c.value_bytes, 'v'));
    Block block;
    ASSERT_OK(Block::Parse(builder.Finish(), &block));
    EXPECT_EQ(output.Takes(block), c.is_taken) << c.name;
  }
}

}  // namespace
}  // namespace ashlar
