// SPDX-License-Identifier: Apache-2.0
//
// Tables of families with timestamps: their verification with filters of every kind, and how they
// are read without a database.
#include <map>

#include "ashlar/filter_policy.h"
#include "ashlar/perf_context.h"
#include "ashlar/slice_transform.h"
#include "ashlar/sst_file_reader.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/statistics.h"
#include "ashlar/table_properties.h"
#include "env/file_util.h"
#include "tests/db/stamps/stamped_db.h"
#include "util/result.h"

namespace ashlar {
namespace {

constexpr const char* kTable = "/table.sst";

struct FilterCase {
  const char* name;
  const FilterPolicy* (*make)(double bits);
  bool is_partitioned = false;
  bool has_whole_keys = true;
};

const FilterPolicy* Bloom(double bits) { return NewBloomFilterPolicy(bits); }
const FilterPolicy* Ribbon(double bits) { return NewRibbonFilterPolicy(bits); }

// Filters hold keys or prefixes without timestamps.
class StampedFilterTest : public StampedTest, public testing::WithParamInterface<FilterCase> {
 protected:
  StampedFilterTest() {
    table_.block_size = 200;
    table_.filter_policy.reset(GetParam().make(10));
    table_.whole_key_filtering = GetParam().has_whole_keys;
    if (!GetParam().has_whole_keys) options_.prefix_extractor.reset(NewFixedPrefixTransform(4));
    table_.partition_filters = GetParam().is_partitioned;
    if (GetParam().is_partitioned) {
      table_.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
      table_.metadata_block_size = 100;
    }
    options_.compression = kNoCompression;
    options_.verify_output_flags = VerifyOutputFlags::kVerifyAll;
    UseTableOptions();
  }
  void UseTableOptions() { options_.table_factory.reset(NewBlockBasedTableFactory(table_)); }

  // Some keys are outside of the domain of the prefixes.
  static std::string KeyOf(int i) {
    return i % 10 == 0 ? std::to_string(100 + i) : Key(100 * i).substr(3);
  }
  // Two versions of each key, ordered as a table must have them.
  ExternalSstFileInfo WriteTable() {
    std::map<std::string, int> keys;
    for (int i = 0; i < 300; i++) keys[KeyOf(i)] = i;
    SstFileWriter writer(EnvOptions(), options_);
    EXPECT_OK(writer.Open(kTable));
    for (const auto& [key, i] : keys) {
      EXPECT_OK(writer.Put(key, Stamp(7), std::to_string(i)));
      EXPECT_OK(writer.Put(key, Stamp(5), "older"));
    }
    ExternalSstFileInfo info;
    EXPECT_OK(writer.Finish(&info));
    return info;
  }
  Status Verify() const {
    SstFileReader reader(options_);
    RETURN_IF_ERROR(reader.Open(kTable));
    return reader.VerifyChecksum();
  }

  BlockBasedTableOptions table_;
};

TEST_P(StampedFilterTest, TablesOfADatabaseAreVerified) {
  Open();
  for (uint64_t ts = 1; ts <= 3; ts++) {
    for (int i = 0; i < 300; i++) PutAt(KeyOf(i), ts, "v");
    DeleteAt(KeyOf(7), ts);
    Flush();
  }
  EXPECT_OK(db_->VerifyChecksum());
  CompactAndRewrite();  // verifies what it writes
  EXPECT_OK(db_->VerifyChecksum());
  Reopen();
  EXPECT_OK(db_->VerifyChecksum());
  EXPECT_EQ(GetAt(KeyOf(8), 2), "v");
}

TEST_P(StampedFilterTest, TablesAreVerifiedBeforeTheyAreIngested) {
  WriteTable();
  EXPECT_OK(Verify());
  Open();
  IngestExternalFileOptions ingest;
  ingest.verify_checksums_before_ingest = true;
  ASSERT_OK(db_->IngestExternalFile({kTable}, ingest));
  EXPECT_OK(db_->VerifyChecksum());
  EXPECT_EQ(GetAt(KeyOf(8), 9), "8");
  EXPECT_EQ(GetAt(KeyOf(8), 6), "older");
}

// A filter block without a checksum rejects all keys.
TEST_P(StampedFilterTest, AFilterThatRejectsItsKeysIsFound) {
  table_.checksum = kNoChecksum;
  UseTableOptions();
  WriteTable();
  EXPECT_OK(Verify());
  uint64_t begin = 0;
  {
    SstFileReader reader(options_);
    ASSERT_OK(reader.Open(kTable));
    begin = reader.GetTableProperties()->data_size;
  }
  auto bytes = ReadWholeFile(env_->GetFileSystem().get(), kTable);
  ASSERT_OK(bytes);
  // The first bytes of the filter, or of its first partition, which follows the data blocks.
  for (uint64_t i = begin; i < begin + 60; i++) (*bytes)[i] = '\0';
  ASSERT_OK(WriteStringToFile(env_.get(), *bytes, kTable));
  const Status status = Verify();
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find("the filter rejects"), std::string::npos) << status.ToString();
}

// Each flush has other keys, in one range of keys.
TEST_P(StampedFilterTest, LookupsSpareTheTablesWithoutTheKey) {
  options_.statistics = CreateDBStatistics();
  Open();
  constexpr int kTables = 6, kKeys = 120;
  for (int table = 0; table < kTables; table++) {
    for (int i = table; i < kKeys; i += kTables) {
      PutAt(KeyOf(i), 10, "old" + std::to_string(i));
      PutAt(KeyOf(i), 20, "new" + std::to_string(i));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  for (int i = 0; i < kKeys; i++) {
    EXPECT_EQ(GetAt(KeyOf(i), 9), "-");
    EXPECT_EQ(GetAt(KeyOf(i), 19), "old" + std::to_string(i));
    EXPECT_EQ(GetAt(KeyOf(i), 20), "new" + std::to_string(i));
  }
  const auto count = [&](Tickers ticker) { return options_.statistics->getTickerCount(ticker); };
  if (!GetParam().has_whole_keys) {
    EXPECT_GT(count(BLOOM_FILTER_PREFIX_CHECKED), 0u);
    EXPECT_EQ(count(BLOOM_FILTER_FULL_POSITIVE) + count(BLOOM_FILTER_USEFUL), 0u);
    return;
  }
  EXPECT_GT(count(BLOOM_FILTER_USEFUL), 3 * count(BLOOM_FILTER_FULL_POSITIVE));
  EXPECT_EQ(count(BLOOM_FILTER_FULL_TRUE_POSITIVE), uint64_t{2 * kKeys}) << "of those found";
}

// What a newer table hides is not read.
TEST_P(StampedFilterTest, LookupsReadNothingUnderARangeTombstone) {
  if (GetParam().is_partitioned) return;  // reads partitions of filters and indexes besides
  table_.no_block_cache = true;
  UseTableOptions();
  Open();
  for (int i = 0; i < 100; i++) PutAt(KeyOf(i), 10, "old");
  ASSERT_OK(db_->Flush(FlushOptions()));
  DeleteRangeAt("", "~", 20);
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(GetAt(KeyOf(5), 30), "-");  // opens the tables
  SetPerfLevel(kEnableCount);
  get_perf_context()->Reset();
  for (int i = 0; i < 100; i++) EXPECT_EQ(GetAt(KeyOf(i), 30), "-");
  EXPECT_EQ(get_perf_context()->block_read_count, 0u);
  EXPECT_EQ(GetAt(KeyOf(5), 19), "old");
  EXPECT_GT(get_perf_context()->block_read_count, 0u);
  SetPerfLevel(kDisable);
}

// The tables of the last level end between versions, and at the ends of range tombstones.
TEST_P(StampedFilterTest, LookupsFindTheVersionsOfAKeyInSeveralTables) {
  options_.target_file_size_base = 4096;
  options_.level_compaction_dynamic_level_bytes = false;
  Open();
  const Snapshot* const all = db_->GetSnapshot();  // keeps the tombstones
  constexpr uint64_t kVersions = 100;
  const std::vector<std::string> keys{KeyOf(3), KeyOf(7), KeyOf(9), KeyOf(15)};
  std::string padding(100, 'p');
  for (uint64_t ts = 1; ts <= kVersions; ts++) {
    for (const std::string& key : keys) {
      if (ts % 7 == 0) {
        DeleteRangeAt(key, key + "~", ts);
      } else {
        PutAt(key, ts, std::to_string(ts) + padding);
      }
    }
    if (ts % 25 != 0) continue;
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  CompactRangeOptions compaction;
  compaction.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(compaction, nullptr, nullptr));
  EXPECT_GE(TableCount(1), 4);
  for (uint64_t ts = 1; ts <= kVersions; ts++) {
    for (const std::string& key : keys) {
      EXPECT_EQ(GetAt(key, ts), ts % 7 == 0 ? "-" : std::to_string(ts) + padding) << key << ts;
    }
    EXPECT_EQ(GetAt(KeyOf(8), ts), "-");
  }
  db_->ReleaseSnapshot(all);
}

INSTANTIATE_TEST_SUITE_P(Filters, StampedFilterTest,
                         testing::Values(FilterCase{"Bloom", &Bloom}, FilterCase{"Ribbon", &Ribbon},
                                         FilterCase{"PartitionedBloom", &Bloom, true},
                                         FilterCase{"PartitionedRibbon", &Ribbon, true},
                                         FilterCase{"Prefixes", &Bloom, false, false},
                                         FilterCase{"PartitionedPrefixes", &Bloom, true, false}),
                         [](const auto& test) { return std::string(test.param.name); });

class StampedTableReaderTest : public StampedTest {
 protected:
  void SetUp() override {
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_OK(writer.Open(kTable));
    ASSERT_OK(writer.Put("a", Stamp(3), "a3"));
    ASSERT_OK(writer.Put("a", Stamp(1), "a1"));
    ASSERT_OK(writer.Put("b", Stamp(2), "b2"));
    ASSERT_OK(writer.Delete("c", Stamp(4)));
    ASSERT_OK(writer.Put("c", Stamp(1), "c1"));
    ASSERT_OK(writer.Finish());
    ASSERT_OK(reader_.Open(kTable));
  }
  std::string ScanTable(const ReadOptions& read, bool is_forward = true) {
    const std::unique_ptr<Iterator> it(reader_.NewIterator(read));
    std::string text;
    for (is_forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
         is_forward ? it->Next() : it->Prev()) {
      text += (text.empty() ? "" : " ") + Shown(it.get());
    }
    EXPECT_OK(it->status());
    return text;
  }

  SstFileReader reader_{options_};
};

TEST_F(StampedTableReaderTest, ReadsFindTheNewestVersionUpToTheirTimestamp) {
  const ReadAt early(2), late(9);
  EXPECT_EQ(ScanTable(early.options), "a=a1@1 b=b2@2 c=c1@1");
  EXPECT_EQ(ScanTable(late.options), "a=a3@3 b=b2@2");
  EXPECT_EQ(ScanTable(late.options, /*is_forward=*/false), "b=b2@2 a=a3@3");
  std::string value;
  ASSERT_OK(reader_.Get(early.options, "a", &value));
  EXPECT_EQ(value, "a1");
  ASSERT_OK(reader_.Get(late.options, "a", &value));
  EXPECT_EQ(value, "a3");
  EXPECT_TRUE(reader_.Get(late.options, "c", &value).IsNotFound());
  EXPECT_TRUE(reader_.Get(late.options, "x", &value).IsNotFound());
  std::vector<std::string> values;
  const std::vector<Status> statuses = reader_.MultiGet(early.options, {"c", "x", "b"}, &values);
  ASSERT_OK(statuses[0]);
  EXPECT_TRUE(statuses[1].IsNotFound());
  ASSERT_OK(statuses[2]);
  EXPECT_EQ(values[0] + values[2], "c1b2");
}

TEST_F(StampedTableReaderTest, ReadsWithoutATimestampAreRefused) {
  std::string value;
  EXPECT_TRUE(reader_.Get(ReadOptions(), "a", &value).IsInvalidArgument());
  std::vector<std::string> values;
  EXPECT_TRUE(reader_.MultiGet(ReadOptions(), {"a"}, &values)[0].IsInvalidArgument());
  const std::unique_ptr<Iterator> it(reader_.NewIterator(ReadOptions()));
  EXPECT_TRUE(it->status().IsInvalidArgument()) << it->status().ToString();
}

TEST_F(StampedTableReaderTest, PinnedEntriesStay) {
  ReadAt read(9);
  read.options.pin_data = true;
  const std::unique_ptr<Iterator> it(reader_.NewIterator(read.options));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  std::string is_pinned;
  ASSERT_OK(it->GetProperty("rocksdb.iterator.is-key-pinned", &is_pinned));
  EXPECT_EQ(is_pinned, "1");
  const Slice key = it->key(), value = it->value(), timestamp = it->timestamp();
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(Shown(it.get()), "b=b2@2");
  EXPECT_EQ(key, "a");
  EXPECT_EQ(value, "a3");
  EXPECT_EQ(NumberOf(timestamp), 3u);
}

}  // namespace
}  // namespace ashlar
