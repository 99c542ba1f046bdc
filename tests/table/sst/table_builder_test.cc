// SPDX-License-Identifier: Apache-2.0
//
// TableBuilder: tables of every format read back, errors are kept, refusals have a reason, and
// collectors are called.
#include "table/sst/write/table_builder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "ashlar/table.h"
#include "ashlar/table_properties.h"
#include "table/format/compression.h"
#include "table/format/table_property_names.h"
#include "table/sst/read/table_reader.h"
#include "tests/support/ample_memory.h"
#include "tests/support/memory_writer.h"
#include "tests/support/sample_table.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/keys/internal_key.h"
#include "util/random.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

Entries NumberedEntries(int count) {
  Entries entries;
  for (int i = 0; i < count; ++i) {
    char key[16];
    std::snprintf(key, sizeof(key), "key%06d", i);
    entries.emplace_back(MakeInternalKey(key, static_cast<uint64_t>(1000 - i % 10), kTypeValue),
                         "value of " + std::string(key) + std::string(i % 50, '.'));
  }
  return entries;
}

class TableBuilderTest : public testing::Test {
 protected:
  TableBuilderTest() : icmp_(BytewiseComparator()) {
    options_.icmp = &icmp_;
    options_.table = &table_;
    options_.db_session_id = "ABCDEFGHIJKLMNOPQRST";
    options_.file_number = 12;
  }

  Status Build(const Entries& entries, uint64_t capacity = UINT64_MAX) {
    contents_.clear();
    writer_ = WriterIntoString(&contents_, capacity);
    builder_ = std::make_unique<TableBuilder>(options_, writer_.get());
    for (const auto& [key, value] : entries) RETURN_IF_ERROR(builder_->Add(key, value));
    return builder_->Finish();
  }

  std::unique_ptr<TableReader> Open() {
    auto reader = TableReader::Open(ReaderOverBytes(contents_, "memory.sst"), {.icmp = &icmp_});
    EXPECT_OK(reader);
    return reader.ok() ? reader.Take() : nullptr;
  }

  Entries ReadBack() {
    Entries entries;
    const std::unique_ptr<TableReader> reader = Open();
    if (reader == nullptr) return entries;
    const std::unique_ptr<InternalIterator> it(reader->NewIterator(ReadOptions(), nullptr));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      entries.emplace_back(it->key().ToString(), it->value().ToString());
    }
    EXPECT_OK(it->status());
    EXPECT_OK(reader->VerifyChecksums(ReadOptions()));
    return entries;
  }

  InternalKeyComparator icmp_;
  BlockBasedTableOptions table_;
  TableBuilderOptions options_;
  std::string contents_;
  std::unique_ptr<FileWriter> writer_;
  std::unique_ptr<TableBuilder> builder_;
};

struct Format {
  uint32_t version;
  ChecksumType checksum;
  CompressionType compression;
};

std::vector<Format> AllFormats() {
  std::vector<Format> formats;
  for (uint32_t version = 2; version <= 7; ++version) {
    for (const ChecksumType checksum : {kNoChecksum, kCRC32c, kxxHash, kxxHash64, kXXH3}) {
      formats.push_back({version, checksum, kNoCompression});
    }
    for (const CompressionType compression :
         {kSnappyCompression, kZlibCompression, kBZip2Compression, kLZ4Compression,
          kLZ4HCCompression, kZSTD}) {
      formats.push_back({version, kXXH3, compression});
    }
  }
  return formats;
}

class TableFormats : public TableBuilderTest, public testing::WithParamInterface<Format> {};

TEST_P(TableFormats, ReadBackEveryEntry) {
  if (!IsCompressionSupported(GetParam().compression)) return SkipAsMissing("compression");
  table_.format_version = GetParam().version;
  table_.checksum = GetParam().checksum;
  table_.filter_policy.reset(NewBloomFilterPolicy(10));
  table_.verify_compression = true;
  table_.detect_filter_construct_corruption = true;
  options_.compression = GetParam().compression;
  const Entries entries = NumberedEntries(700);
  ASSERT_OK(Build(entries));
  EXPECT_EQ(builder_->FileSize(), contents_.size());
  EXPECT_EQ(ReadBack(), entries);
}

INSTANTIATE_TEST_SUITE_P(All, TableFormats, testing::ValuesIn(AllFormats()), [](const auto& info) {
  return "fv" + std::to_string(info.param.version) + "_sum" + std::to_string(info.param.checksum) +
         "_" + std::string(CompressionPropertyName(info.param.compression));
});

TEST_F(TableBuilderTest, LayoutOptionsReadBack) {
  const Entries entries = NumberedEntries(700);
  for (const uint64_t block_bytes : {1, 100, 5000, 1 << 20}) {
    for (const int interval : {1, 3, 16}) {
      table_.block_size = block_bytes;
      table_.block_restart_interval = interval;
      table_.index_block_restart_interval = interval;
      table_.use_delta_encoding = interval != 3;
      table_.data_block_index_type = interval == 16
                                         ? BlockBasedTableOptions::kDataBlockBinaryAndHash
                                         : BlockBasedTableOptions::kDataBlockBinarySearch;
      ASSERT_OK(Build(entries));
      EXPECT_EQ(ReadBack(), entries) << block_bytes << ", " << interval;
    }
  }
}

TEST_F(TableBuilderTest, VersionsOfOneKeyAcrossBlocksGiveInternalIndexKeys) {
  Entries entries;
  for (uint64_t seqno = 200; seqno > 0; --seqno) {
    entries.emplace_back(MakeInternalKey("same", seqno, kTypeValue), std::string(100, 'v'));
  }
  ASSERT_OK(Build(entries));
  EXPECT_EQ(builder_->properties().index_key_is_user_key, 0u);
  EXPECT_EQ(ReadBack(), entries);
}

TEST_F(TableBuilderTest, EmptyTableOpens) {
  table_.filter_policy.reset(NewBloomFilterPolicy(10));
  ASSERT_OK(Build({}));
  EXPECT_EQ(ReadBack(), Entries());
  EXPECT_EQ(builder_->properties().num_data_blocks, 0u);
  EXPECT_FALSE(builder_->properties().HasKeyLargestSeqno());
}

TEST_F(TableBuilderTest, CountsWhatItWrote) {
  const Entries entries = {{MakeInternalKey("a", 9, kTypeValue), "12345"},
                           {MakeInternalKey("b", 8, kTypeDeletion), ""},
                           {MakeInternalKey("c", 7, kTypeSingleDeletion), ""},
                           {MakeInternalKey("d", 60, kTypeMerge), "1"},
                           {MakeInternalKey("e", 5, kTypeRangeDeletion), "f"}};
  ASSERT_OK(Build(entries));
  const TableProperties& p = builder_->properties();
  EXPECT_EQ(p.num_entries, 5u);
  EXPECT_EQ(p.num_deletions, 3u);
  EXPECT_EQ(p.num_merge_operands, 1u);
  EXPECT_EQ(p.num_range_deletions, 1u);
  EXPECT_EQ(p.raw_key_size, 45u);
  EXPECT_EQ(p.raw_value_size, 7u);
  EXPECT_EQ(p.key_smallest_seqno, 5u);
  EXPECT_EQ(p.key_largest_seqno, 60u);
  EXPECT_EQ(builder_->tail_size(), contents_.size() - p.tail_start_offset);
}

TEST_F(TableBuilderTest, BuilderAndReaderDescribeThemselves) {
  ASSERT_OK(Build(NumberedEntries(100)));
  const std::string built = builder_->DebugString();
  EXPECT_NE(
      built.find("closed\n  100 entries, 0 range tombstones, 2 data blocks, 0 entries in the"),
      std::string::npos)
      << built;
  EXPECT_NE(built.find("seqnos 991..1000\n  status OK\n"), std::string::npos) << built;
  const std::string read = Open()->DebugString();
  EXPECT_TRUE(read.starts_with("table memory.sst, ")) << read;
  EXPECT_NE(read.find("100 entries in 2 data blocks, index of 2 user keys, "), std::string::npos)
      << read;
  EXPECT_NE(read.find("\n  filter none, "), std::string::npos) << read;
}

TEST_F(TableBuilderTest, RefusesEntriesOutOfOrderForGood) {
  writer_ = WriterIntoString(&contents_);
  TableBuilder builder(options_, writer_.get());
  const std::string b = MakeInternalKey("b", 5, kTypeValue);
  ASSERT_OK(builder.Add(b, ""));
  EXPECT_TRUE(builder.Add(b, "").IsCorruption());
  EXPECT_TRUE(builder.Add(MakeInternalKey("c", 5, kTypeValue), "").IsCorruption());
  EXPECT_TRUE(builder.Finish().IsCorruption());
}

TEST_F(TableBuilderTest, RefusesNewerVersionsBehindOlderOnes) {
  EXPECT_TRUE(
      Build({{MakeInternalKey("a", 5, kTypeValue), ""}, {MakeInternalKey("a", 6, kTypeValue), ""}})
          .IsCorruption());
}

// The tombstone comes between keys and is in none of their blocks. If it ended a block, all keys up
// to it would be searched for in that block, even "b".
TEST_F(TableBuilderTest, AHugeRangeTombstoneEndsNoBlock) {
  if (!HasAmpleMemory(3)) return SkipAsImpossible("a tombstone of 1 GiB: 3 GiB of free memory");
  writer_ = WriterIntoString(&contents_);
  TableBuilder builder(options_, writer_.get());
  ASSERT_OK(builder.Add(MakeInternalKey("a", 9, kTypeValue), "first"));
  ASSERT_OK(
      builder.Add(MakeInternalKey("m", 8, kTypeRangeDeletion), std::string(size_t{1} << 30, 'n')));
  ASSERT_OK(builder.Add(MakeInternalKey("b", 7, kTypeValue), "second"));
  EXPECT_EQ(builder.properties().num_data_blocks, 0u);
  EXPECT_EQ(builder.properties().num_entries, 3u);
  builder.Abandon();  // the rest is written as with a small one
}

TEST_F(TableBuilderTest, EveryFailedWriteIsReported) {
  table_.filter_policy.reset(NewBloomFilterPolicy(10));
  table_.block_size = 256;
  const Entries entries = NumberedEntries(60);
  ASSERT_OK(Build(entries));
  const uint64_t whole = contents_.size();
  for (uint64_t capacity = 0; capacity < whole; capacity += 7) {
    EXPECT_TRUE(Build(entries, capacity).IsIOError()) << capacity;
  }
  EXPECT_OK(Build(entries, whole));
}

TEST_F(TableBuilderTest, FilesDifferInTheirChecksumContext) {
  const Entries entries = NumberedEntries(10);
  ASSERT_OK(Build(entries));
  const std::string first = contents_;
  options_.file_number = 13;
  ASSERT_OK(Build(entries));
  // The data block is the same, but its trailer is not.
  EXPECT_EQ(contents_.substr(0, 100), first.substr(0, 100));
  EXPECT_NE(contents_, first);
  EXPECT_NE(Open()->footer().checksum.base, 0u);
}

TEST_F(TableBuilderTest, IncompressibleBlocksAreStoredRaw) {
  options_.compression = kSnappyCompression;
  if (!IsCompressionSupported(options_.compression)) return SkipAsMissing("compression");
  table_.enable_index_compression = false;
  Random64 random(5);
  Entries entries = NumberedEntries(200);
  for (auto& [key, value] : entries) {
    value.clear();
    for (int i = 0; i < 200; ++i) value.push_back(static_cast<char>(random.Next()));
  }
  ASSERT_OK(Build(entries));
  const TableProperties& p = builder_->properties();
  EXPECT_EQ(p.num_data_blocks_compression_rejected, p.num_data_blocks);
  EXPECT_EQ(p.compression_name, "Snappy");
  EXPECT_EQ(ReadBack(), entries);
}

TEST_F(TableBuilderTest, ExternalFilesCarryTheirVersion) {
  options_.is_external_file = true;
  ASSERT_OK(Build({{MakeInternalKey("a", 0, kTypeValue), "v"}}));
  const std::unique_ptr<TableReader> reader = Open();
  const UserCollectedProperties& user = reader->properties().user_collected_properties;
  EXPECT_EQ(user.at(std::string(kExternalVersionProperty)), std::string("\2\0\0\0", 4));
  EXPECT_EQ(user.at(std::string(kGlobalSeqnoProperty)), std::string(8, '\0'));
}

TEST_F(TableBuilderTest, FileSizeCountsTheUnfinishedBlock) {
  writer_ = WriterIntoString(&contents_);
  TableBuilder builder(options_, writer_.get());
  EXPECT_EQ(builder.FileSize(), 0u);
  ASSERT_OK(builder.Add(MakeInternalKey("a", 1, kTypeValue), std::string(1000, 'v')));
  EXPECT_GT(builder.FileSize(), 1000u);
  EXPECT_GT(builder.EstimatedFileSize(), builder.FileSize());
  builder.Abandon();
}

// Counts its calls and stores the counts in a property.
class CountingCollector final : public TablePropertiesCollector {
 public:
  Status AddUserKey(const Slice& key, const Slice& value, EntryType type, SequenceNumber seqno,
                    uint64_t) override {
    log_ += key.ToString() + "=" + value.ToString() + "/" + std::to_string(type) + "@" +
            std::to_string(seqno) + " ";
    return Status::Corruption("collectors may fail");
  }
  void BlockAdd(uint64_t, uint64_t, uint64_t) override { ++block_count_; }
  Status Finish(UserCollectedProperties* properties) override {
    (*properties)["test.log"] = log_;
    (*properties)["test.blocks"] = std::to_string(block_count_);
    return Status::OK();
  }
  UserCollectedProperties GetReadableProperties() const override { return {{"test.log", log_}}; }
  const char* Name() const override { return "CountingCollector"; }
  bool NeedCompact() const override { return block_count_ > 0; }

 private:
  std::string log_;
  int block_count_ = 0;
};

class CountingFactory final : public TablePropertiesCollectorFactory {
 public:
  TablePropertiesCollector* CreateTablePropertiesCollector(Context context) override {
    return context.column_family_id == 3 ? new CountingCollector() : nullptr;
  }
  const char* Name() const override { return "CountingFactory"; }
};

TEST_F(TableBuilderTest, CollectorsSeeEveryEntry) {
  const TableCollectorFactories factories = {std::make_shared<CountingFactory>(),
                                             std::make_shared<CountingFactory>()};
  options_.collector_factories = &factories;
  options_.column_family_id = 3;
  ASSERT_OK(Build(
      {{MakeInternalKey("a", 9, kTypeValue), "x"}, {MakeInternalKey("b", 8, kTypeDeletion), ""}}));
  EXPECT_TRUE(builder_->NeedCompact());
  const std::unique_ptr<TableReader> reader = Open();
  const TableProperties& p = reader->properties();
  EXPECT_EQ(p.user_collected_properties.at("test.log"), "a=x/0@9 b=/1@8 ");
  EXPECT_EQ(p.user_collected_properties.at("test.blocks"), "1");
  EXPECT_EQ(p.property_collectors_names, "[CountingFactory,CountingFactory]");
}

TEST_F(TableBuilderTest, FactoriesMayDeclineToCollect) {
  const TableCollectorFactories factories = {std::make_shared<CountingFactory>()};
  options_.collector_factories = &factories;
  ASSERT_OK(Build({{MakeInternalKey("a", 9, kTypeValue), "x"}}));
  EXPECT_FALSE(builder_->NeedCompact());
}

struct Refusal {
  const char* option;
  void (*set)(BlockBasedTableOptions*);
};

TEST(TableOptionsWritable, RefusalsNameTheOption) {
  using Options = BlockBasedTableOptions;
  const Refusal kRefusals[] = {
      {"format_version", [](Options* o) { o->format_version = 1; }},
      {"format_version", [](Options* o) { o->format_version = 8; }},
      {"checksum", [](Options* o) { o->checksum = static_cast<ChecksumType>(9); }},
      {"block_size", [](Options* o) { o->block_size = uint64_t{4} << 30; }},
      {"index_type", [](Options* o) { o->index_type = static_cast<Options::IndexType>(4); }},
      {"block_align",
       [](Options* o) {
         o->block_align = true;
         o->block_size = 4000;
       }},
      {"super_block_alignment_size", [](Options* o) { o->super_block_alignment_size = 4095; }},
  };
  for (const Refusal& refusal : kRefusals) {
    Options options;
    EXPECT_OK(CheckTableOptionsWritable(options, kNoCompression));
    refusal.set(&options);
    const Status status = CheckTableOptionsWritable(options, kNoCompression);
    EXPECT_FALSE(status.ok()) << refusal.option;
    EXPECT_NE(status.ToString().find(refusal.option), std::string::npos) << status.ToString();
  }
  EXPECT_TRUE(CheckTableOptionsWritable({}, kXpressCompression).IsNotSupported());
  Options aligned;
  aligned.block_align = true;
  EXPECT_OK(CheckTableOptionsWritable(aligned, kNoCompression));
  EXPECT_TRUE(CheckTableOptionsWritable(aligned, kSnappyCompression).IsInvalidArgument());
}

}  // namespace
}  // namespace ashlar
