// SPDX-License-Identifier: Apache-2.0
//
// Databases of the universal and of the FIFO style, from flush to flush.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "ashlar/merge_operator.h"
#include "ashlar/statistics.h"
#include "env/env_adaptors.h"
#include "tests/support/moved_clock.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"

namespace ashlar {
namespace {

// Why compactions ran.
class Reasons final : public EventListener {
 public:
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    counts_[info.compaction_reason]++;
    if (info.compaction_reason == CompactionReason::kFIFOMaxSize) {
      EXPECT_TRUE(info.output_files.empty());
    }
  }
  int Of(CompactionReason reason) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counts_[reason];
  }

 private:
  std::mutex mutex_;
  std::map<CompactionReason, int> counts_;
};

class CompactionStyles : public testing::Test {
 protected:
  CompactionStyles() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.compression = kNoCompression;
    options_.level0_file_num_compaction_trigger = 3;
    options_.statistics = CreateDBStatistics();
    options_.listeners.push_back(reasons_);
    EXPECT_OK(
        MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options_.merge_operator));
  }
  void Open() {
    db_.reset();
    ASSERT_OK(DB::Open(options_, "/db", &db_));
  }
  void Reopen(CompactionStyle style, int num_levels) {
    options_.compaction_style = style;
    options_.num_levels = num_levels;
    Open();
  }
  void Flush() {
    ASSERT_OK(db_->Flush(FlushOptions()));
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  }
  void WriteTable(const std::string& key, size_t bytes = 1) {
    ASSERT_OK(db_->Put(WriteOptions(), key, std::string(bytes, 'v')));
    Flush();
  }
  // Puts, deletions of both kinds and operands, into the database and the map.
  void WriteAtRandom(int count) {
    for (int i = 0; i < count; i++) {
      const std::string key = Key(random_.Uniform(200));
      const std::string value = std::to_string(random_.Next() % 1000);
      const uint64_t kind = random_.Uniform(20);
      if (kind == 0) {
        const std::string end = key + "~";
        ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), key, end));
        expected_.erase(expected_.lower_bound(key), expected_.lower_bound(end));
      } else if (kind < 6) {
        ASSERT_OK(db_->Delete(WriteOptions(), key));
        expected_.erase(key);
      } else if (kind < 10) {
        ASSERT_OK(db_->Merge(WriteOptions(), key, value));
        std::string& merged = expected_[key];
        merged += merged.empty() ? value : "," + value;
      } else {
        ASSERT_OK(db_->Put(WriteOptions(), key, value));
        expected_[key] = value;
      }
    }
  }
  static std::string Key(uint64_t i) { return "key" + std::to_string(100 + i); }
  std::map<std::string, std::string> Contents(const Snapshot* snapshot = nullptr) {
    ReadOptions read;
    read.snapshot = snapshot;
    std::map<std::string, std::string> found;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      found[it->key().ToString()] = it->value().ToString();
      std::string value;
      EXPECT_OK(db_->Get(read, it->key(), &value));
      EXPECT_EQ(value, it->value());
    }
    EXPECT_OK(it->status());
    return found;
  }
  // Files by level, such as "3,0,1".
  std::string Shape() {
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    std::string text;
    for (const LevelMetaData& level : meta.levels) {
      text += (text.empty() ? "" : ",") + std::to_string(level.files.size());
    }
    return text;
  }
  uint64_t TickerOf(uint32_t ticker) { return options_.statistics->getTickerCount(ticker); }

  std::unique_ptr<Env> memory_{NewMemEnv(Env::Default())};
  std::shared_ptr<MovedClock> clock_ = std::make_shared<MovedClock>();
  std::unique_ptr<Env> env_ = NewCompositeEnvOver(Env::Default(), memory_->GetFileSystem(), clock_);
  const std::shared_ptr<Reasons> reasons_ = std::make_shared<Reasons>();
  Options options_;
  Random64 random_{7};
  std::map<std::string, std::string> expected_;
  std::unique_ptr<DB> db_;
};

}  // namespace

TEST_F(CompactionStyles, UniversalKeepsWhatWasWritten) {
  options_.compaction_options_universal.max_size_amplification_percent = 50;
  Reopen(kCompactionStyleUniversal, 7);
  const Snapshot* snapshot = nullptr;
  std::map<std::string, std::string> seen;
  for (int round = 0; round < 60; round++) {
    WriteAtRandom(static_cast<int>(10 + random_.Uniform(80)));
    if (round == 20) {
      snapshot = db_->GetSnapshot();
      seen = expected_;
    }
    Flush();
    ASSERT_EQ(Contents(), expected_) << Shape();
  }
  EXPECT_EQ(Contents(snapshot), seen);
  db_->ReleaseSnapshot(snapshot);
  EXPECT_GT(reasons_->Of(CompactionReason::kUniversalSizeRatio) +
                reasons_->Of(CompactionReason::kUniversalSortedRunNum),
            0);
  EXPECT_GT(reasons_->Of(CompactionReason::kUniversalSizeAmplification), 0);
  Open();
  EXPECT_EQ(Contents(), expected_);
}

TEST_F(CompactionStyles, UniversalOnOneLevelKeepsWhatWasWritten) {
  Reopen(kCompactionStyleUniversal, 1);
  for (int round = 0; round < 40; round++) {
    WriteAtRandom(40);
    Flush();
    ASSERT_EQ(Contents(), expected_) << Shape();
  }
  std::string files;
  ASSERT_TRUE(db_->GetProperty("rocksdb.num-files-at-level0", &files));
  EXPECT_LE(std::stoi(files), 3);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(Shape(), "1");
  EXPECT_EQ(Contents(), expected_);
}

TEST_F(CompactionStyles, AStyleTakesOverWhatAnotherOneLeft) {
  const std::pair<CompactionStyle, int> kStyles[] = {{kCompactionStyleLevel, 7},
                                                     {kCompactionStyleUniversal, 7},
                                                     {kCompactionStyleLevel, 7},
                                                     {kCompactionStyleNone, 7},
                                                     {kCompactionStyleUniversal, 7}};
  for (const auto& [style, levels] : kStyles) {
    Reopen(style, levels);
    for (int round = 0; round < 7; round++) {
      WriteAtRandom(50);
      Flush();
    }
    ASSERT_EQ(Contents(), expected_) << style;
  }
}

TEST_F(CompactionStyles, CompactRangeOfUniversalMakesOneRun) {
  Reopen(kCompactionStyleUniversal, 7);
  options_.disable_auto_compactions = true;
  Open();
  WriteTable("a");
  WriteTable("b");
  EXPECT_EQ(Shape(), "2,0,0,0,0,0,0");
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(Shape(), "0,0,0,0,0,0,1");
  const auto file_of = [this] {
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    return files.at(0).name;
  };
  const std::string before = file_of();
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(file_of(), before) << "nothing to do";
  CompactRangeOptions force;
  force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(force, nullptr, nullptr));
  EXPECT_NE(file_of(), before);
  EXPECT_EQ(Contents().size(), 2u);
}

TEST_F(CompactionStyles, UniversalRewritesWhatHasGrownOld) {
  Reopen(kCompactionStyleUniversal, 7);
  WriteTable("a");
  EXPECT_EQ(Shape(), "1,0,0,0,0,0,0");
  clock_->moved_by_seconds = 1000;
  ASSERT_OK(db_->SetOptions({{"periodic_compaction_seconds", "900"}}));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Shape(), "0,0,0,0,0,0,1");
  EXPECT_EQ(reasons_->Of(CompactionReason::kPeriodicCompaction), 1);
}

TEST_F(CompactionStyles, FifoDropsTheOldestTables) {
  options_.compaction_options_fifo.max_table_files_size = 200'000;
  Reopen(kCompactionStyleFIFO, 1);
  for (int i = 0; i < 9; i++) WriteTable(Key(i), 50'000);
  EXPECT_EQ(Shape(), "3");
  EXPECT_EQ(Contents().begin()->first, Key(6));
  EXPECT_EQ(reasons_->Of(CompactionReason::kFIFOMaxSize), 6);
  EXPECT_EQ(TickerOf(FIFO_MAX_SIZE_COMPACTIONS), 6u);
  EXPECT_EQ(TickerOf(COMPACT_WRITE_BYTES), 0u);
  ASSERT_OK(db_->SetOptions({{"compaction_options_fifo", "{max_table_files_size=60000}"}}));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(Shape(), "1");
  Open();
  EXPECT_EQ(Contents().begin()->first, Key(8));
}

TEST_F(CompactionStyles, FifoDropsWhatIsTooOld) {
  options_.ttl = 900;
  Reopen(kCompactionStyleFIFO, 1);
  WriteTable("a");
  WriteTable("b");
  clock_->moved_by_seconds = 1000;
  WriteTable("c");
  EXPECT_EQ(Shape(), "1");
  EXPECT_EQ(Contents().begin()->first, "c");
  EXPECT_EQ(reasons_->Of(CompactionReason::kFIFOTtl), 1);
  EXPECT_EQ(TickerOf(FIFO_TTL_COMPACTIONS), 1u);
}

// Levelled: what is too old goes down, until it is on the deepest level.
TEST_F(CompactionStyles, DataThatIsTooOldGoesDown) {
  options_.ttl = 900;
  options_.level_compaction_dynamic_level_bytes = false;
  Reopen(kCompactionStyleLevel, 4);
  WriteTable("a");
  WriteTable("z");
  CompactRangeOptions down;
  down.change_level = true;
  down.target_level = 3;
  ASSERT_OK(db_->CompactRange(down, nullptr, nullptr));
  ASSERT_OK(db_->Delete(WriteOptions(), "a"));
  Flush();
  EXPECT_EQ(Shape(), "1,0,0,1");
  clock_->moved_by_seconds = 1000;
  WriteTable("y");
  EXPECT_EQ(Shape(), "0,0,0,1");
  EXPECT_GT(reasons_->Of(CompactionReason::kTtl), 0);
  EXPECT_GT(TickerOf(COMPACT_WRITE_BYTES_TTL), 0u);
  EXPECT_EQ(Contents().size(), 2u);
  const int count = reasons_->Of(CompactionReason::kTtl);
  clock_->moved_by_seconds = 5000;
  Open();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(reasons_->Of(CompactionReason::kTtl), count) << "nothing is above the deepest level";
}

TEST_F(CompactionStyles, FifoMergesSmallTables) {
  options_.compaction_options_fifo.allow_compaction = true;
  Reopen(kCompactionStyleFIFO, 1);
  for (int round = 0; round < 10; round++) {
    WriteAtRandom(30);
    Flush();
    ASSERT_EQ(Contents(), expected_) << Shape();
  }
  EXPECT_GT(reasons_->Of(CompactionReason::kFIFOReduceNumFiles), 0);
}

// Readers of what is dropped finish what they have begun.
TEST_F(CompactionStyles, AnIteratorOutlivesTheTablesThatFifoDrops) {
  options_.compaction_options_fifo.max_table_files_size = 100'000;
  Reopen(kCompactionStyleFIFO, 1);
  WriteTable("a", 50'000);
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  for (int i = 0; i < 5; i++) WriteTable(Key(i), 50'000);
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid()) << it->status().ToString();
  EXPECT_EQ(it->key(), "a");
  EXPECT_EQ(it->value().size(), 50'000u);
}

}  // namespace ashlar
