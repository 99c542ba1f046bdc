// SPDX-License-Identifier: Apache-2.0
//
// Plug-ins of the user for building tables: policies that end blocks, filter policies, and
// estimates of other compressions for collectors.
#include <gtest/gtest.h>

#include <climits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "ashlar/flush_block_policy.h"
#include "ashlar/options.h"
#include "ashlar/table.h"
#include "ashlar/table_properties.h"
#include "table/format/compression.h"
#include "table/sst/read/table_reader.h"
#include "table/sst/write/table_builder.h"
#include "tests/support/ample_memory.h"
#include "tests/support/memory_writer.h"
#include "tests/support/sample_table.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_lookup.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string PluginUserKey(int i) { return StrCat("key", 1000 + i); }
std::string PluginKey(int i) { return MakeInternalKey(PluginUserKey(i), 7, kTypeValue); }

class BuilderPlugins : public testing::Test {
 protected:
  BuilderPlugins() : icmp_(BytewiseComparator()) {
    options_.icmp = &icmp_;
    options_.table = &table_;
  }

  std::unique_ptr<TableReader> Build(int entries, const std::string& value) {
    bytes_.clear();
    const std::unique_ptr<FileWriter> writer = WriterIntoString(&bytes_);
    TableBuilder builder(options_, writer.get());
    for (int i = 0; i < entries; ++i) EXPECT_OK(builder.Add(PluginKey(i), value));
    EXPECT_OK(builder.Finish());
    auto reader = TableReader::Open(ReaderOverBytes(bytes_, "memory.sst"), {.icmp = &icmp_});
    EXPECT_OK(reader);
    return reader.ok() ? reader.Take() : nullptr;
  }

  InternalKeyComparator icmp_;
  BlockBasedTableOptions table_;
  TableBuilderOptions options_;
  std::string bytes_;
};

// Ends a block before every fifth key, and records the calls.
class EveryFifth final : public FlushBlockPolicy {
 public:
  explicit EveryFifth(std::vector<std::string>* told) : told_(told) {}
  bool Update(const Slice& key, const Slice& value) override {
    EXPECT_EQ(value, Slice("value"));
    told_->push_back(key.ToString());
    return told_->size() % 5 == 0;
  }

 private:
  std::vector<std::string>* const told_;
};

class EveryFifthFactory final : public FlushBlockPolicyFactory {
 public:
  explicit EveryFifthFactory(std::vector<std::string>* told) : told_(told) {}
  const char* Name() const override { return "EveryFifthFactory"; }
  FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions&,
                                        const BlockBuilder&) const override {
    return new EveryFifth(told_);
  }

 private:
  std::vector<std::string>* const told_;
};

TEST_F(BuilderPlugins, APolicyOfTheUserEndsBlocks) {
  std::vector<std::string> told;
  table_.flush_block_policy_factory = std::make_shared<EveryFifthFactory>(&told);
  table_.block_size = 64;  // counts for nothing
  const std::unique_ptr<TableReader> reader = Build(23, "value");
  ASSERT_NE(reader, nullptr);
  ASSERT_EQ(told.size(), 23u) << "once for each entry";
  for (int i = 0; i < 23; ++i) EXPECT_EQ(told[static_cast<size_t>(i)], PluginKey(i));
  // Before the 5th, 10th, 15th and 20th key.
  EXPECT_EQ(reader->properties().num_data_blocks, 5u);
  EXPECT_OK(reader->VerifyChecksums(ReadOptions()));
}

class NeverEnds final : public FlushBlockPolicy {
 public:
  bool Update(const Slice&, const Slice&) override { return false; }
};

class NeverEndsFactory final : public FlushBlockPolicyFactory {
 public:
  const char* Name() const override { return "NeverEndsFactory"; }
  FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions&,
                                        const BlockBuilder&) const override {
    return new NeverEnds();
  }
};

// Positions in a block have 32 bits, which a policy of the user need not know.
TEST_F(BuilderPlugins, ABlockThatThePolicyNeverEndsEndsAtAGibibyte) {
  if (!HasAmpleMemory(4)) return SkipAsImpossible("a block of 1 GiB: 4 GiB of free memory");
  table_.flush_block_policy_factory = std::make_shared<NeverEndsFactory>();
  constexpr size_t kBlockBytes = size_t{1} << 30;
  const std::string large(kBlockBytes / 16, 'v');
  bytes_.reserve(kBlockBytes + (1 << 20));  // else it is copied while it grows
  {
    const std::unique_ptr<FileWriter> writer = WriterIntoString(&bytes_);
    TableBuilder builder(options_, writer.get());
    for (int i = 0; i < 16; ++i) ASSERT_OK(builder.Add(PluginKey(i), large));
    ASSERT_OK(builder.Add(PluginKey(16), "last"));
    ASSERT_OK(builder.Finish());
    EXPECT_EQ(builder.properties().num_data_blocks, 2u);
  }
  auto reader = TableReader::Open(ReaderOverBytes(std::move(bytes_), "m.sst"), {.icmp = &icmp_});
  ASSERT_OK(reader);
  PinnableSlice value;
  const std::string last = PluginUserKey(16);
  const LookupKey key(last, kMaxSequenceNumber, icmp_.order());
  PointLookup lookup(key, &value);
  ASSERT_OK(LookUp(**reader, ReadOptions(), &lookup));
  EXPECT_EQ(value, Slice("last"));
}

TEST_F(BuilderPlugins, TheStockPolicyIsTheBuildersOwn) {
  table_.block_size = 300;
  const std::string without = (Build(200, "value"), bytes_);
  table_.flush_block_policy_factory = std::make_shared<FlushBlockBySizePolicyFactory>();
  const std::string with = (Build(200, "value"), bytes_);
  EXPECT_EQ(with, without);
}

// The first of the last five bytes of the filter.
char FilterMark(const TableReader& reader, const std::string& bytes) {
  const uint64_t begin = reader.properties().tail_start_offset;
  return bytes[begin + reader.properties().filter_size - 5];
}

TEST_F(BuilderPlugins, RibbonFromItsLevelOn) {
  constexpr char kRibbon = static_cast<char>(0xfe), kBloom = static_cast<char>(0xff);
  struct Case {
    int bloom_before_level;
    int level;
    bool is_flush;
    char mark;
    bool has_levels = true;
  };
  for (const Case& c :
       {Case{0, 0, true, kBloom}, Case{0, 1, false, kRibbon}, Case{-1, 0, true, kRibbon},
        Case{3, 2, false, kBloom}, Case{3, 3, false, kRibbon}, Case{INT_MAX, 6, false, kBloom},
        Case{3, -1, false, kRibbon}, Case{INT_MAX, -1, false, kBloom},
        Case{0, 0, true, kRibbon, false}, Case{3, 0, false, kRibbon, false},
        Case{INT_MAX, 0, true, kBloom, false}}) {
    table_.filter_policy.reset(NewRibbonFilterPolicy(10, c.bloom_before_level));
    options_.level = c.level;
    options_.is_flush = c.is_flush;
    options_.has_levels = c.has_levels;
    const std::unique_ptr<TableReader> reader = Build(3000, "value");
    ASSERT_NE(reader, nullptr);
    EXPECT_EQ(FilterMark(*reader, bytes_), c.mark) << c.bloom_before_level << " " << c.level;
    EXPECT_EQ(reader->properties().filter_policy_name, "ribbonfilter");
  }
}

// Adds up what is reported about blocks.
class Sums final : public TablePropertiesCollector {
 public:
  const char* Name() const override { return "Sums"; }
  void BlockAdd(uint64_t raw, uint64_t fast, uint64_t slow) override {
    raw_ += raw;
    sampled_ += fast != 0 && slow != 0;
  }
  Status Finish(UserCollectedProperties* properties) override {
    (*properties)["test.raw"] = std::to_string(raw_);
    (*properties)["test.sampled"] = std::to_string(sampled_);
    return Status::OK();
  }
  UserCollectedProperties GetReadableProperties() const override { return {}; }

 private:
  uint64_t raw_ = 0;
  uint64_t sampled_ = 0;
};

class SumsFactory final : public TablePropertiesCollectorFactory {
 public:
  TablePropertiesCollector* CreateTablePropertiesCollector(Context) override { return new Sums(); }
  const char* Name() const override { return "SumsFactory"; }
};

TEST_F(BuilderPlugins, SamplesEstimateOtherCompressions) {
  if (!IsCompressionSupported(kLZ4Compression) || !IsCompressionSupported(kZSTD)) {
    return SkipAsMissing("compression");
  }
  const TableCollectorFactories factories = {std::make_shared<SumsFactory>()};
  options_.collector_factories = &factories;
  options_.sample_for_compression = 4;
  options_.compression = kNoCompression;
  const std::string value(100, 'v');
  const std::unique_ptr<TableReader> reader = Build(400, value);
  ASSERT_NE(reader, nullptr);
  const TableProperties& p = reader->properties();
  EXPECT_EQ(p.user_collected_properties.at("test.sampled"),
            std::to_string((p.num_data_blocks + 3) / 4));
  EXPECT_EQ(p.user_collected_properties.at("test.raw"),
            std::to_string(p.data_size - 5 * p.num_data_blocks));
  EXPECT_GT(p.fast_compression_estimated_data_size, 0u);
  EXPECT_LT(p.fast_compression_estimated_data_size * 3, p.data_size);
  EXPECT_LT(p.slow_compression_estimated_data_size * 3, p.data_size);
}

TEST_F(BuilderPlugins, WithoutSamplesThereAreNoEstimates) {
  const std::unique_ptr<TableReader> reader = Build(400, std::string(100, 'v'));
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(reader->properties().fast_compression_estimated_data_size, 0u);
  EXPECT_EQ(reader->properties().slow_compression_estimated_data_size, 0u);
}

}  // namespace
}  // namespace ashlar
