// SPDX-License-Identifier: Apache-2.0
//
// Compactions that copy compressed blocks unchanged ("passed blocks"), compared with the same
// compactions that do not: two databases that differ only in their flush block policy must have the
// same contents. Only the info log shows the difference.
#include <algorithm>
#include <functional>

#include "ashlar/cache.h"
#include "ashlar/compaction_filter.h"
#include "ashlar/filter_policy.h"
#include "ashlar/sst_partitioner.h"
#include "db/options/stock_merge_operators.h"
#include "table/format/compression.h"
#include "tests/support/test_db.h"
#include "tests/support/unknown_block_policy.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string PassedKey(int i) { return StrCat("key", 1000000 + i); }

// Compresses to a half or so.
std::string ValueOf(int i, int round) {
  Random64 random(static_cast<uint64_t>(i) * 1000 + static_cast<uint64_t>(round));
  std::string value(80, static_cast<char>('a' + round % 26));
  for (size_t k = 0; k < 30; ++k) value[k] = static_cast<char>('a' + random.Uniform(26));
  return value;
}

class PassedBlocksTest : public testing::Test {
 protected:
  struct Side : TestDb {
    std::vector<const Snapshot*> snapshots;
  };

  PassedBlocksTest() {
    options_.compression = kLZ4Compression;
    options_.disable_auto_compactions = true;
    options_.target_file_size_base = 1 << 20;
    options_.num_levels = 4;
    table_.no_block_cache = true;
    table_.filter_policy.reset(NewBloomFilterPolicy(10));
  }
  ~PassedBlocksTest() override {
    for (Side* side : {&passing_, &plain_}) Release(side);
  }

  void Open() {
    passed_before_ = 0;  // each opening begins a new info log
    for (Side* side : {&passing_, &plain_}) {
      Env* const env = side->env();
      side->options() = options_;
      side->options().env = env;
      side->options().create_if_missing = true;
      BlockBasedTableOptions table = table_;
      if (side == &plain_) {
        table.flush_block_policy_factory = std::make_shared<UnknownBlockPolicyFactory>();
      }
      side->options().table_factory.reset(NewBlockBasedTableFactory(table));
      side->Open();
    }
  }
  void Both(const std::function<Status(DB*)>& act) {
    for (Side* side : {&passing_, &plain_}) ASSERT_OK(act(side->db()));
  }
  void Put(int first, int count, int step, int round) {
    Both([&](DB* db) {
      for (int i = first; i < first + count * step; i += step) {
        const Status status = db->Put(WriteOptions(), PassedKey(i), ValueOf(i, round));
        if (!status.ok()) return status;
      }
      return db->Flush(FlushOptions());
    });
  }
  // A table of so many rows on the last level, and some of them written again above it.
  void WriteAgain(int rows, int first, int count) {
    Open();
    Put(0, rows, 1, 0);
    Compact();
    Put(first, count, 1, 1);
    Compact();
  }
  void TakeSnapshot() {
    for (Side* side : {&passing_, &plain_}) side->snapshots.push_back(side->db()->GetSnapshot());
  }
  static void Release(Side* side) {
    for (const Snapshot* snapshot : side->snapshots) side->db()->ReleaseSnapshot(snapshot);
    side->snapshots.clear();
  }
  void Compact() {
    for (Side* side : {&passing_, &plain_}) side->CompactAndRewrite();
    ExpectSame();
  }

  // The number of passed blocks in the info log since the last call.
  uint64_t PassedNow() {
    EXPECT_EQ(PassedBy(&plain_), 0u);
    const uint64_t all = PassedBy(&passing_);
    const uint64_t now = all - passed_before_;
    passed_before_ = all;
    return now;
  }
  static uint64_t PassedBy(Side* side) {
    std::string log;
    EXPECT_OK(ReadFileToString(side->env(), "/db/LOG", &log));
    const std::string name = "\"num_passed_blocks\": ";
    uint64_t sum = 0;
    for (size_t at = log.find(name); at != std::string::npos; at = log.find(name, at + 1)) {
      sum += std::stoull(log.substr(at + name.size(), 20));
    }
    return sum;
  }

  static Rows RowsOf(Side* side, const Snapshot* snapshot = nullptr) {
    ReadOptions read = TestDb::AsOf(snapshot);
    read.verify_checksums = true;
    return side->ReadRows(read);
  }
  // Of all tables together: the ends of tables and the number of their blocks may differ.
  static std::string Sums(DB* db) {
    TablePropertiesCollection tables;
    EXPECT_OK(db->GetPropertiesOfAllTables(&tables));
    uint64_t entries = 0, keys = 0, values = 0, deletions = 0, ranges = 0, filtered = 0;
    uint64_t smallest = UINT64_MAX, largest = 0;
    for (const auto& [name, table] : tables) {
      entries += table->num_entries - table->num_range_deletions;
      keys += table->raw_key_size;
      values += table->raw_value_size;
      deletions += table->num_deletions;
      ranges += table->num_range_deletions;
      filtered += table->num_filter_entries;
      smallest = std::min(smallest, table->key_smallest_seqno);
      largest = std::max(largest, table->key_largest_seqno);
    }
    return StrCat(entries, " entries, ", keys, " + ", values, " bytes, ", deletions, " deletions, ",
                  ranges, " ranges, ", filtered, " in filters, ", smallest, "..", largest);
  }
  void ExpectSame() {
    EXPECT_EQ(RowsOf(&passing_), RowsOf(&plain_));
    for (size_t i = 0; i < passing_.snapshots.size(); ++i) {
      EXPECT_EQ(RowsOf(&passing_, passing_.snapshots[i]), RowsOf(&plain_, plain_.snapshots[i]));
    }
    EXPECT_EQ(Sums(passing_.db()), Sums(plain_.db()));
    EXPECT_OK(passing_.db()->VerifyChecksum());
  }
  void ExpectFound(int first, int count, int step) {
    for (int i = first; i < first + count * step; i += step) {
      ASSERT_NE(passing_.Get(PassedKey(i)), "(none)") << i;
    }
  }
  uint64_t Blocks() {
    TablePropertiesCollection tables;
    EXPECT_OK(passing_.db()->GetPropertiesOfAllTables(&tables));
    uint64_t blocks = 0;
    for (const auto& [name, table] : tables) blocks += table->num_data_blocks;
    return blocks;
  }

  Options options_;
  BlockBasedTableOptions table_;
  Side passing_, plain_;
  uint64_t passed_before_ = 0;
};

// The last level has sequence numbers 0; the newer run covers a small range.
TEST_F(PassedBlocksTest, WhatANewerRunDoesNotTouchIsPassedOn) {
  for (const CompressionType type : {kLZ4Compression, kZSTD, kSnappyCompression}) {
    if (!IsCompressionSupported(type)) continue;
    options_.compression = type;
    Open();
    Put(0, 8000, 1, 0);
    Compact();
    EXPECT_EQ(PassedNow(), 0u) << "sequence numbers became 0";
    Put(3000, 300, 1, 1);
    Compact();
    EXPECT_GT(PassedNow(), Blocks() * 8 / 10) << type;
    ExpectFound(0, 8000, 1);
  }
}

// Also blocks of the newer run, while the last level holds data.
TEST_F(PassedBlocksTest, TimeSeriesArePassedOnWhole) {
  options_.num_levels = 7;
  options_.level_compaction_dynamic_level_bytes = false;
  Open();
  CompactRangeOptions to_level;
  to_level.change_level = true;
  to_level.target_level = 5;
  Put(0, 100, 1000, 0);
  Both([&](DB* db) { return db->CompactRange(to_level, nullptr, nullptr); });
  (void)PassedNow();
  for (int i = 0; i < 3; ++i) Put(2000 * i + 1, 1990, 1, i);
  // Into the empty level 1: they are not moved, because they are several runs.
  for (Side* side : {&passing_, &plain_}) {
    ASSERT_OK(side->db()->CompactFiles(CompactionOptions(), side->TableNames(0), 1));
  }
  ExpectSame();
  EXPECT_GT(PassedNow(), Blocks() * 8 / 10);
}

TEST_F(PassedBlocksTest, WithoutCompressionThereIsNothingToGain) {
  options_.compression = kNoCompression;
  WriteAgain(4000, 1000, 100);
  EXPECT_EQ(PassedNow(), 0u);
}

TEST_F(PassedBlocksTest, VersionsForSnapshotsStay) {
  Open();
  Put(0, 4000, 1, 0);
  Compact();
  TakeSnapshot();
  Put(1000, 1000, 1, 1);
  TakeSnapshot();
  Put(1500, 1000, 2, 2);
  Compact();
  (void)PassedNow();
  Put(100, 10, 1, 3);
  Compact();
  EXPECT_GT(PassedNow(), 0u) << "also blocks with several sequence numbers";
  for (Side* side : {&passing_, &plain_}) Release(side);
  Compact();
}

TEST_F(PassedBlocksTest, WhatTombstonesHideIsDropped) {
  Open();
  Put(0, 8000, 1, 0);
  Compact();
  Both([](DB* db) {
    return db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), PassedKey(2005),
                           PassedKey(4009));
  });
  Both([](DB* db) { return db->Delete(WriteOptions(), PassedKey(6000)); });
  Put(0, 1, 1, 1);
  TakeSnapshot();
  Put(7000, 1, 1, 1);
  Compact();
  EXPECT_GT(PassedNow(), 0u);
  for (Side* side : {&passing_, &plain_}) Release(side);
  Compact();
  EXPECT_EQ(passing_.Get(PassedKey(3000)), "(none)");
  EXPECT_EQ(passing_.Get(PassedKey(6000)), "(none)");
  ExpectFound(4009, 1000, 1);
}

TEST_F(PassedBlocksTest, OperandsAreMergedAndTheRestIsPassedOn) {
  options_.merge_operator = NewStockMergeOperator("stringappend");
  Open();
  Put(0, 4000, 1, 0);
  Compact();
  Both([](DB* db) {
    for (int i = 1000; i < 1020; i += 3) {
      const Status status = db->Merge(WriteOptions(), PassedKey(i), "more");
      if (!status.ok()) return status;
    }
    return db->Flush(FlushOptions());
  });
  Compact();
  EXPECT_GT(PassedNow(), Blocks() / 2);
}

class DropsNothing final : public CompactionFilter {
 public:
  const char* Name() const override { return "DropsNothing"; }
  bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override { return false; }
};

TEST_F(PassedBlocksTest, AFilterMayChangeAnyEntry) {
  const DropsNothing filter;
  options_.compaction_filter = &filter;
  WriteAgain(4000, 1000, 100);
  EXPECT_EQ(PassedNow(), 0u);
}

TEST_F(PassedBlocksTest, OutputsEndWhereTheyMust) {
  options_.target_file_size_base = 40000;
  options_.sst_partitioner_factory = NewSstPartitionerFixedPrefixFactory(7);  // thousands of keys
  WriteAgain(8000, 3000, 50);
  EXPECT_GT(PassedNow(), Blocks() / 2);
  for (const LiveFileMetaData& file : passing_.Tables()) {
    EXPECT_EQ(file.smallestkey.substr(0, 7), file.largestkey.substr(0, 7));
    EXPECT_LT(file.size, 60000u);
  }
}

TEST_F(PassedBlocksTest, PartsOfAJobPassThemOnToo) {
  options_.max_subcompactions = 4;
  options_.target_file_size_base = 50000;
  WriteAgain(10000, 5000, 50);
  EXPECT_GT(PassedNow(), Blocks() / 2);
  ExpectFound(0, 10000, 1);
}

// A compaction of more than a mebibyte has one more thread for reading and one for compression.
TEST_F(PassedBlocksTest, ThreadsHandThemOver) {
  for (const CompressionType type : {kLZ4Compression, kZSTD}) {
    if (!IsCompressionSupported(type)) continue;
    options_.compression = type;
    options_.max_background_jobs = 4;
    Open();
    Put(0, 40000, 1, 0);
    Compact();
    (void)PassedNow();
    Put(10000, 300, 1, 1);
    Put(30000, 300, 7, 2);
    Compact();
    EXPECT_GT(PassedNow(), Blocks() * 8 / 10);
    ExpectFound(0, 40000, 1);
  }
}

TEST_F(PassedBlocksTest, OtherOptionsMakeOtherBlocks) {
  Open();
  Put(0, 8000, 1, 0);
  Compact();
  table_.block_size = 16384;
  Open();
  Compact();
  EXPECT_EQ(PassedNow(), 0u);
  const uint64_t large_blocks = Blocks();
  table_.block_size = 1000;
  Open();
  Compact();
  EXPECT_GT(Blocks(), 10 * large_blocks);
  EXPECT_EQ(PassedNow(), 0u);
}

TEST_F(PassedBlocksTest, BlocksThatAreInTheCacheAreNotReadForIt) {
  table_.no_block_cache = false;
  table_.block_cache = NewLRUCache(64 << 20);
  Open();
  Put(0, 8000, 1, 0);
  Compact();
  ExpectFound(0, 8000, 1);
  Put(100, 1, 1, 1);
  (void)PassedNow();
  Compact();
  EXPECT_LT(PassedNow(), Blocks() / 2);
}

TEST_F(PassedBlocksTest, FamiliesHaveFormsOfTheirOwn) {
  Open();
  ColumnFamilyOptions other = options_;
  other.compression = kSnappyCompression;
  for (Side* side : {&passing_, &plain_}) {
    ColumnFamilyHandle* const family = side->CreateFamily("other", other);
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < (round == 0 ? 4000 : 10); ++i) {
        side->Put(family, PassedKey(i), ValueOf(i, round));
      }
      side->Flush(family);
      CompactRangeOptions force;
      force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
      ASSERT_OK(side->db()->CompactRange(force, family, nullptr, nullptr));
    }
    for (int i = 0; i < 4000; ++i) {
      EXPECT_EQ(side->Get(family, PassedKey(i)), ValueOf(i, i < 10 ? 1 : 0));
    }
  }
  EXPECT_GT(PassedBy(&passing_), 10u);
}

TEST_F(PassedBlocksTest, ADamagedBlockEndsTheCompaction) {
  Open();
  Put(0, 8000, 1, 0);
  Compact();
  const std::vector<LiveFileMetaData> files = passing_.Tables();
  ASSERT_EQ(files.size(), 1u);
  const std::string path = files[0].db_path + files[0].name;
  passing_.Close();
  std::string bytes;
  ASSERT_OK(ReadFileToString(passing_.env(), path, &bytes));
  bytes[100000] = static_cast<char>(bytes[100000] ^ 1);
  ASSERT_OK(WriteStringToFile(passing_.env(), bytes, path));
  Open();
  Put(100, 1, 1, 1);
  CompactRangeOptions force;
  force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  const Status status = passing_.db()->CompactRange(force, nullptr, nullptr);
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find(files[0].name), std::string::npos) << status.ToString();
  EXPECT_NE(status.ToString().find(", offset "), std::string::npos) << status.ToString();
}

}  // namespace
}  // namespace ashlar
