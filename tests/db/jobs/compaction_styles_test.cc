// SPDX-License-Identifier: Apache-2.0
//
// Databases with the universal and the FIFO compaction style, over many flushes.
#include <atomic>
#include <mutex>
#include <utility>

#include "ashlar/convenience.h"
#include "ashlar/listener.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/table_properties.h"
#include "db/options/stock_merge_operators.h"
#include "tests/support/moved_clock.h"
#include "tests/support/test_db.h"
#include "util/random.h"

namespace ashlar {
namespace {

// Counts the reasons of compactions.
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

class CompactionStyles : public DbTest {
 protected:
  CompactionStyles() {
    UseFiles(memory_, clock_);
    options_.compression = kNoCompression;
    options_.level0_file_num_compaction_trigger = 3;
    options_.statistics = CreateDBStatistics();
    options_.listeners.push_back(reasons_);
    options_.merge_operator = NewStringAppendOperator(",");
  }
  void Reopen(CompactionStyle style, int num_levels) {
    options_.compaction_style = style;
    options_.num_levels = num_levels;
    Open();
  }
  void Flush() {
    DbTest::Flush();
    WaitForJobs();
  }
  void WriteTable(const std::string& key, size_t bytes = 1) {
    Put(key, std::string(bytes, 'v'));
    Flush();
  }
  // Puts, deletions of both kinds and merge operands, in the database and in the map.
  void WriteAtRandom(int count) {
    for (int i = 0; i < count; i++) {
      const std::string key = Key(random_.Uniform(200));
      const std::string value = std::to_string(random_.Next() % 1000);
      const uint64_t kind = random_.Uniform(20);
      if (kind == 0) {
        const std::string end = key + "~";
        DeleteRange(key, end);
        expected_.erase(expected_.lower_bound(key), expected_.lower_bound(end));
      } else if (kind < 6) {
        Delete(key);
        expected_.erase(key);
      } else if (kind < 10) {
        Merge(key, value);
        std::string& merged = expected_[key];
        merged += merged.empty() ? value : "," + value;
      } else {
        Put(key, value);
        expected_[key] = value;
      }
    }
  }
  static std::string Key(uint64_t i) { return "key" + std::to_string(100 + i); }
  // Through an iterator, and each of these keys through Get().
  Rows ReadBoth(const Snapshot* snapshot = nullptr) {
    const Rows found = ReadRows(AsOf(snapshot));
    for (const auto& [key, value] : found) EXPECT_EQ(Get(key, AsOf(snapshot)), value);
    return found;
  }

  const std::shared_ptr<MovedClock> clock_ = std::make_shared<MovedClock>();
  const std::shared_ptr<Reasons> reasons_ = std::make_shared<Reasons>();
  Random64 random_{7};
  Rows expected_;
};

}  // namespace

TEST_F(CompactionStyles, UniversalKeepsWhatWasWritten) {
  options_.compaction_options_universal.max_size_amplification_percent = 50;
  Reopen(kCompactionStyleUniversal, 7);
  const Snapshot* snapshot = nullptr;
  Rows seen;
  for (int round = 0; round < 60; round++) {
    WriteAtRandom(static_cast<int>(10 + random_.Uniform(80)));
    if (round == 20) {
      snapshot = db_->GetSnapshot();
      seen = expected_;
    }
    Flush();
    ASSERT_EQ(ReadBoth(), expected_) << Levels();
  }
  EXPECT_EQ(ReadBoth(snapshot), seen);
  db_->ReleaseSnapshot(snapshot);
  EXPECT_GT(reasons_->Of(CompactionReason::kUniversalSizeRatio) +
                reasons_->Of(CompactionReason::kUniversalSortedRunNum),
            0);
  EXPECT_GT(reasons_->Of(CompactionReason::kUniversalSizeAmplification), 0);
  Open();
  EXPECT_EQ(ReadBoth(), expected_);
}

TEST_F(CompactionStyles, UniversalOnOneLevelKeepsWhatWasWritten) {
  Reopen(kCompactionStyleUniversal, 1);
  for (int round = 0; round < 40; round++) {
    WriteAtRandom(40);
    Flush();
    ASSERT_EQ(ReadBoth(), expected_) << Levels();
  }
  EXPECT_LE(TableCount(0), 3);
  Compact();
  EXPECT_EQ(Levels(), "1");
  EXPECT_EQ(ReadBoth(), expected_);
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
    ASSERT_EQ(ReadBoth(), expected_) << style;
  }
}

TEST_F(CompactionStyles, CompactRangeOfUniversalMakesOneRun) {
  Reopen(kCompactionStyleUniversal, 7);
  options_.disable_auto_compactions = true;
  Open();
  WriteTable("a");
  WriteTable("b");
  EXPECT_EQ(Levels(), "2,0,0,0,0,0,0");
  Compact();
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,1");
  const std::string before = Tables().at(0).name;
  Compact();
  EXPECT_EQ(Tables().at(0).name, before) << "nothing to do";
  CompactAndRewrite();
  EXPECT_NE(Tables().at(0).name, before);
  EXPECT_EQ(ReadBoth().size(), 2u);
}

TEST_F(CompactionStyles, UniversalRewritesWhatHasGrownOld) {
  Reopen(kCompactionStyleUniversal, 7);
  WriteTable("a");
  EXPECT_EQ(Levels(), "1,0,0,0,0,0,0");
  clock_->moved_by_seconds = 1000;
  ASSERT_OK(db_->SetOptions({{"periodic_compaction_seconds", "900"}}));
  WaitForJobs();
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,1");
  EXPECT_EQ(reasons_->Of(CompactionReason::kPeriodicCompaction), 1);
}

// A collector that asks for a compaction of every table.
class AlwaysAsks final : public TablePropertiesCollectorFactory {
 public:
  class Collector final : public TablePropertiesCollector {
   public:
    Status AddUserKey(const Slice&, const Slice&, EntryType, SequenceNumber, uint64_t) override {
      return Status::OK();
    }
    Status Finish(UserCollectedProperties*) override { return Status::OK(); }
    UserCollectedProperties GetReadableProperties() const override { return {}; }
    const char* Name() const override { return "AlwaysAsks"; }
    bool NeedCompact() const override { return true; }
  };
  TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return new Collector;
  }
  const char* Name() const override { return "AlwaysAsks"; }
};

// Ends the background work after some compactions, so that a wait for more of them ends, too.
class Breaker final : public EventListener {
 public:
  void OnCompactionBegin(DB* db, const CompactionJobInfo&) override {
    if (++count_ == 5) CancelAllBackgroundWork(db, /*wait=*/false);
  }

 private:
  std::atomic<int> count_{0};
};

TEST_F(CompactionStyles, UniversalRewritesTheLastRunOnceForACollector) {
  options_.listeners.push_back(std::make_shared<Breaker>());
  options_.table_properties_collector_factories.push_back(std::make_shared<AlwaysAsks>());
  Reopen(kCompactionStyleUniversal, 7);
  WriteTable("a");
  EXPECT_LE(reasons_->Of(CompactionReason::kFilesMarkedForCompaction), 1);
  EXPECT_EQ(Keys(), "a");
}

TEST_F(CompactionStyles, UniversalRewritesTheRunAboveIngestedDataOnceForACollector) {
  options_.listeners.push_back(std::make_shared<Breaker>());
  options_.cf_allow_ingest_behind = true;
  Reopen(kCompactionStyleUniversal, 7);
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/outside.sst"));
  ASSERT_OK(writer.Put("a", "v"));
  ASSERT_OK(writer.Put("z", "v"));
  ASSERT_OK(writer.Finish());
  IngestExternalFileOptions behind;
  behind.ingest_behind = true;
  ASSERT_OK(db_->IngestExternalFile({"/outside.sst"}, behind));
  Close();
  options_.table_properties_collector_factories.push_back(std::make_shared<AlwaysAsks>());
  Reopen(kCompactionStyleUniversal, 7);
  WriteTable("m");
  EXPECT_EQ(reasons_->Of(CompactionReason::kFilesMarkedForCompaction), 1);
  EXPECT_EQ(Number("rocksdb.compaction-pending"), 0u);
  EXPECT_EQ(Keys(), "amz");
}

// It would rewrite all other data again and again, and a wait for its compactions would not end.
TEST_F(CompactionStyles, UniversalRewritesNothingForWhatWasIngestedBehind) {
  options_.listeners.push_back(std::make_shared<Breaker>());
  options_.cf_allow_ingest_behind = true;
  options_.periodic_compaction_seconds = 900;
  Reopen(kCompactionStyleUniversal, 7);
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/outside.sst"));
  ASSERT_OK(writer.Put("outside", "v"));
  ASSERT_OK(writer.Finish());
  IngestExternalFileOptions behind;
  behind.ingest_behind = true;
  ASSERT_OK(db_->IngestExternalFile({"/outside.sst"}, behind));
  clock_->moved_by_seconds = 1000;
  WriteTable("young");
  EXPECT_EQ(Levels(), "1,0,0,0,0,0,1");
  EXPECT_EQ(Keys(), "outsideyoung");
}

TEST_F(CompactionStyles, UniversalMovesNoTablesWhenACallCompacts) {
  options_.compaction_options_universal.allow_trivial_move = true;
  options_.disable_auto_compactions = true;
  Reopen(kCompactionStyleUniversal, 7);
  Put("a", "1"), Delete("b");
  Flush();
  WriteTable("c");
  Compact();
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,1");
  WriteTable("d"), WriteTable("e");
  CompactAndRewrite();
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,1");
  EXPECT_EQ(Keys(), "acde");
}

TEST_F(CompactionStyles, FifoDropsTheOldestTables) {
  options_.compaction_options_fifo.max_table_files_size = 200'000;
  Reopen(kCompactionStyleFIFO, 1);
  for (int i = 0; i < 9; i++) WriteTable(Key(i), 50'000);
  EXPECT_EQ(Levels(), "3");
  EXPECT_EQ(ReadBoth().begin()->first, Key(6));
  EXPECT_EQ(reasons_->Of(CompactionReason::kFIFOMaxSize), 6);
  EXPECT_EQ(Ticks(FIFO_MAX_SIZE_COMPACTIONS), 6u);
  EXPECT_EQ(Ticks(COMPACT_WRITE_BYTES), 0u);
  ASSERT_OK(db_->SetOptions({{"compaction_options_fifo", "{max_table_files_size=60000}"}}));
  Compact();
  EXPECT_EQ(Levels(), "1");
  Open();
  EXPECT_EQ(ReadBoth().begin()->first, Key(8));
}

TEST_F(CompactionStyles, FifoDropsWhatIsTooOld) {
  options_.ttl = 900;
  Reopen(kCompactionStyleFIFO, 1);
  WriteTable("a");
  WriteTable("b");
  clock_->moved_by_seconds = 1000;
  WriteTable("c");
  EXPECT_EQ(Levels(), "1");
  EXPECT_EQ(ReadBoth().begin()->first, "c");
  EXPECT_EQ(reasons_->Of(CompactionReason::kFIFOTtl), 1);
  EXPECT_EQ(Ticks(FIFO_TTL_COMPACTIONS), 1u);
}

// A table that came from outside, or that holds little but tombstones, does not keep older ones.
TEST_F(CompactionStyles, FifoDropsIngestedTablesAndTombstonesThatAreTooOld) {
  options_.ttl = 900;
  Reopen(kCompactionStyleFIFO, 1);
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/outside.sst"));
  ASSERT_OK(writer.Put("outside", "v"));
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db_->IngestExternalFile({"/outside.sst"}, IngestExternalFileOptions()));
  for (uint64_t i = 0; i < 100; i++) ASSERT_OK(db_->Delete(WriteOptions(), Key(i)));
  WriteTable("a");
  clock_->moved_by_seconds = 1000;
  WriteTable("c");
  EXPECT_EQ(Levels(), "1");
  EXPECT_EQ(ReadBoth().size(), 1u);
}

// Deeper levels hold the older data, which goes first.
TEST_F(CompactionStyles, FifoTakesOverALevelledTree) {
  options_.target_file_size_base = 10'000;
  Reopen(kCompactionStyleLevel, 7);
  for (uint64_t i = 0; i < 30; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), Key(i), std::string(5'000, 'o')));
  }
  Flush();
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  Reopen(kCompactionStyleFIFO, 7);
  for (uint64_t i = 0; i < 5; i++) WriteTable(Key(100 + i), 5'000);
  EXPECT_EQ(ReadBoth().size(), 35u);
  ASSERT_OK(db_->SetOptions({{"compaction_options_fifo", "{max_table_files_size=60000}"}}));
  WriteTable(Key(200), 5'000);
  const auto left = ReadBoth();
  for (uint64_t i = 0; i < 5; i++) EXPECT_TRUE(left.contains(Key(100 + i))) << i;
  EXPECT_LT(left.size(), 20u);
}

// Levelled style: data that is too old moves down until it is on the deepest level.
TEST_F(CompactionStyles, DataThatIsTooOldGoesDown) {
  options_.ttl = 900;
  options_.level_compaction_dynamic_level_bytes = false;
  Reopen(kCompactionStyleLevel, 4);
  WriteTable("a");
  WriteTable("z");
  CompactRangeOptions down;
  down.change_level = true;
  down.target_level = 3;
  Compact(down);
  Delete("a");
  Flush();
  EXPECT_EQ(Levels(), "1,0,0,1");
  clock_->moved_by_seconds = 1000;
  WriteTable("y");
  EXPECT_EQ(Levels(), "0,0,0,1");
  EXPECT_GT(reasons_->Of(CompactionReason::kTtl), 0);
  EXPECT_GT(Ticks(COMPACT_WRITE_BYTES_TTL), 0u);
  EXPECT_EQ(ReadBoth().size(), 2u);
  const int count = reasons_->Of(CompactionReason::kTtl);
  clock_->moved_by_seconds = 5000;
  Open();
  WaitForJobs();
  EXPECT_EQ(reasons_->Of(CompactionReason::kTtl), count) << "nothing is above the deepest level";
}

TEST_F(CompactionStyles, FifoMergesSmallTables) {
  options_.compaction_options_fifo.allow_compaction = true;
  Reopen(kCompactionStyleFIFO, 1);
  for (int round = 0; round < 10; round++) {
    WriteAtRandom(30);
    Flush();
    ASSERT_EQ(ReadBoth(), expected_) << Levels();
  }
  EXPECT_GT(reasons_->Of(CompactionReason::kFIFOReduceNumFiles), 0);
}

// Iterators over dropped tables stay valid.
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
