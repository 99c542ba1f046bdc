// SPDX-License-Identifier: Apache-2.0
//
// Point reads in families with timestamps ask each sorted run once (StampedSearch), and use an
// iterator over all runs for what that cannot decide. While a block cache trace runs, they always
// use the iterator. Both must have the same answers.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/block_cache_trace_writer.h"
#include "ashlar/filter_policy.h"
#include "ashlar/merge_operator.h"
#include "ashlar/perf_context.h"
#include "ashlar/wide_columns.h"
#include "tests/db/stamps/stamped_db.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class ListingOperator : public AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             Logger*) const override {
    *result = (existing == nullptr ? "" : existing->ToString() + ",") + value.ToString();
    return true;
  }
  const char* Name() const override { return "Listing"; }
};

class NoWriter final : public BlockCacheTraceWriter {
 public:
  Status WriteBlockAccess(const BlockCacheTraceRecord&, const Slice&, const Slice&,
                          const Slice&) override {
    return Status::OK();
  }
  Status WriteHeader() override { return Status::OK(); }
};

struct HistoryCase {
  std::string name;
  bool is_reverse = false;
  bool has_filter = true;
  bool is_partitioned = false;
  bool is_cached = true;
};

// Two families: in the second one there are also merge operands and range tombstones.
class StampedHistoryTest : public StampedTest, public testing::WithParamInterface<HistoryCase> {
 protected:
  StampedHistoryTest() {
    const HistoryCase& param = GetParam();
    if (param.is_reverse) options_.comparator = ReverseBytewiseComparatorWithU64Ts();
    options_.merge_operator = std::make_shared<ListingOperator>();
    options_.statistics = CreateDBStatistics();
    options_.target_file_size_base = 3000;
    options_.max_bytes_for_level_base = 10'000;
    options_.level0_file_num_compaction_trigger = 4;
    options_.level_compaction_dynamic_level_bytes = false;
    options_.disable_auto_compactions = false;
    options_.compression = kNoCompression;
    BlockBasedTableOptions table;
    table.block_size = 150;
    table.no_block_cache = !param.is_cached;
    if (param.has_filter) table.filter_policy.reset(NewBloomFilterPolicy(10));
    if (param.is_partitioned) {
      table.partition_filters = param.has_filter;
      table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
      table.metadata_block_size = 100;
      table.cache_index_and_filter_blocks = param.is_cached;
    }
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    Open({kDefaultColumnFamilyName, "second"});
  }
  void TearDown() override {
    ReleaseAll();
    StampedTest::TearDown();
  }
  void ReleaseAll() {
    for (const Snapshot* snapshot : snapshots_) db_->ReleaseSnapshot(snapshot);
    snapshots_.clear();
  }

  static std::string KeyOf(uint64_t i) {
    if (i == 0) return "";
    return std::string(1 + i % 3, static_cast<char>('a' + i % 5)) + std::to_string(i / 3);
  }

  void WriteSomething() {
    ColumnFamilyHandle* const family = handles_[random_.Uniform(2)];
    const bool is_second = family == handles_[1];
    const std::string key = KeyOf(random_.Uniform(kKeys));
    const std::string stamp = Stamp(random_.Uniform(kStamps));
    const size_t bytes = random_.OneIn(20) ? 1500 : 10 + random_.Uniform(60);
    const std::string value = StrCat("v", ++writes_, std::string(bytes, '.'));
    const WriteOptions write;
    const uint64_t kind = random_.Uniform(40);
    if (kind == 0 && is_second) {
      std::string begin = key, end = KeyOf(random_.Uniform(kKeys));
      if (options_.comparator->CompareWithoutTimestamp(end, false, begin, false) < 0) {
        begin.swap(end);
      }
      ASSERT_OK(db_->DeleteRange(write, family, begin, end, stamp));
    } else if (kind < 4 && is_second) {
      ASSERT_OK(db_->Merge(write, family, key, stamp, value));
    } else if (kind < 12) {
      ASSERT_OK(db_->Delete(write, family, key, stamp));
    } else if (kind < 15) {
      ASSERT_OK(db_->SingleDelete(write, family, key, stamp));
    } else {
      ASSERT_OK(db_->Put(write, family, key, stamp, value));
    }
  }

  void DoSomething() {
    switch (random_.Uniform(9)) {
      case 0:
      case 1:
      case 2: Flush(handles_); break;
      case 3: Compact(handles_[random_.Uniform(2)]); break;
      case 4:
        ReleaseAll();
        Reopen();
        break;
      case 5: snapshots_.push_back(db_->GetSnapshot()); break;
      case 6:
        if (!random_.OneIn(4)) break;
        low_ += random_.Uniform(3);
        for (ColumnFamilyHandle* family : handles_) {
          ASSERT_OK(db_->IncreaseFullHistoryTsLow(family, Stamp(low_)));
        }
        break;
      default: break;
    }
    WaitForJobs();
  }

  static std::string Answer(const Status& status, const std::string& value,
                            const std::string& stamp) {
    return StrCat(status.ToString(), "|", value.substr(0, 8), "|", value.size(), "@",
                  stamp.empty() ? "-" : std::to_string(NumberOf(stamp)));
  }
  static std::string Answer(const Status& status, const PinnableWideColumns& columns) {
    std::string text = status.ToString();
    for (const WideColumn& column : columns.columns()) text += "|" + column.value().ToString();
    return text;
  }

  // Of all point reads of all keys in both families.
  std::vector<std::string> Answers(const ReadOptions& read) {
    std::vector<std::string> answers, keys;
    std::vector<ColumnFamilyHandle*> families;
    for (ColumnFamilyHandle* family : handles_) {
      for (uint64_t i = 0; i < kKeys; i++) {
        const std::string& key = keys.emplace_back(KeyOf(i));
        families.push_back(family);
        std::string value, stamp;
        const Status status = db_->Get(read, family, key, &value, &stamp);
        answers.push_back(Answer(status, value, stamp));
        PinnableWideColumns columns;
        const Status of_entity = db_->GetEntity(read, family, key, &columns);
        answers.push_back(Answer(of_entity, columns));
      }
    }
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<PinnableSlice> values(keys.size());
    std::vector<std::string> stamps(keys.size());
    std::vector<Status> statuses(keys.size());
    db_->MultiGet(read, keys.size(), families.data(), slices.data(), values.data(), stamps.data(),
                  statuses.data());
    for (size_t i = 0; i < keys.size(); i++) {
      answers.push_back(Answer(statuses[i], values[i].ToString(), stamps[i]));
    }
    std::vector<PinnableWideColumns> columns(keys.size());
    db_->MultiGetEntity(read, keys.size(), families.data(), slices.data(), columns.data(),
                        statuses.data());
    for (size_t i = 0; i < keys.size(); i++) answers.push_back(Answer(statuses[i], columns[i]));
    return answers;
  }

  void Check(const ReadOptions& read) {
    ASSERT_OK(db_->StartBlockCacheTrace(BlockCacheTraceOptions(), std::make_unique<NoWriter>()));
    const std::vector<std::string> expected = Answers(read);
    ASSERT_OK(db_->EndBlockCacheTrace());
    const uint64_t before = Ticks(MEMTABLE_HIT) + Ticks(MEMTABLE_MISS);
    const std::vector<std::string> found = Answers(read);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); i++) {
      ASSERT_EQ(found[i], expected[i]) << "read " << i << " at " << NumberOf(*read.timestamp);
    }
    // No iterator counts these.
    const uint64_t asked = Ticks(MEMTABLE_HIT) + Ticks(MEMTABLE_MISS) - before;
    if (NumberOf(*read.timestamp) >= low_) {
      EXPECT_GE(asked, 4 * kKeys) << "all reads of the first family";
    }
  }

  void CheckSomewhere() {
    for (int i = 0; i < 3; i++) {
      const Snapshot* const snapshot = !snapshots_.empty() && random_.OneIn(2)
                                           ? snapshots_[random_.Uniform(snapshots_.size())]
                                           : nullptr;
      ReadAt read(random_.Uniform(kStamps + 2), snapshot);
      if (random_.OneIn(8)) read.options.read_tier = kMemtableTier;
      if (random_.OneIn(8)) read.options.fill_cache = false;
      ASSERT_NO_FATAL_FAILURE(Check(read.options));
    }
  }

  static constexpr uint64_t kKeys = 30, kStamps = 25;
  Random64 random_{1721};
  uint64_t writes_ = 0, low_ = 0;
  std::vector<const Snapshot*> snapshots_;
};

TEST_P(StampedHistoryTest, AnswersAreThoseOfAnIterator) {
  for (int round = 0; round < 100; round++) {
    for (uint64_t n = random_.Uniform(40); n > 0; n--) {
      ASSERT_NO_FATAL_FAILURE(WriteSomething());
    }
    ASSERT_NO_FATAL_FAILURE(DoSomething());
    ASSERT_NO_FATAL_FAILURE(CheckSomewhere()) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(All, StampedHistoryTest,
                         testing::Values(HistoryCase{.name = "filters"},
                                         HistoryCase{.name = "reverse_without_filters",
                                                     .is_reverse = true,
                                                     .has_filter = false},
                                         HistoryCase{.name = "partitioned", .is_partitioned = true},
                                         HistoryCase{.name = "uncached", .is_cached = false},
                                         HistoryCase{.name = "partitioned_reverse_uncached",
                                                     .is_reverse = true,
                                                     .is_partitioned = true,
                                                     .is_cached = false}),
                         [](const auto& test) { return test.param.name; });

class StampedLookupTest : public StampedTest {
 protected:
  explicit StampedLookupTest(TestFiles files = TestFiles::kMemory) : StampedTest(files) {
    options_.statistics = CreateDBStatistics();
    table_.block_size = 1;  // one entry in a block
    table_.filter_policy.reset(NewBloomFilterPolicy(10));
  }
  void Open() {
    options_.table_factory.reset(NewBlockBasedTableFactory(table_));
    StampedTest::Open();
  }
  // Whether reads have asked runs, and not used an iterator.
  uint64_t TakeAsked() { return TakeTicks(MEMTABLE_HIT) + TakeTicks(MEMTABLE_MISS); }
  // "value@timestamp"; of a tombstone "-@timestamp".
  std::string FindAt(const std::string& key, uint64_t ts, const Snapshot* snapshot = nullptr) {
    const ReadAt read(ts, snapshot);
    std::string value, stamp;
    const Status status = db_->Get(read.options, key, &value, &stamp);
    if (!status.ok() && !status.IsNotFound()) return status.ToString();
    return (status.ok() ? value : "-") + "@" +
           (stamp.empty() ? "none" : std::to_string(NumberOf(stamp)));
  }

  BlockBasedTableOptions table_;
};

// The newest timestamp is on the last level, the oldest one in the memtable.
TEST_F(StampedLookupTest, TheNewestTimestampWinsWhereverItIs) {
  Open();
  PutAt("k", 9, "nine");
  PutAt("k", 2, "two");
  CompactAndRewrite();
  PutAt("k", 5, "five");
  PutAt("l", 5, "l5");
  Flush();
  PutAt("k", 7, "seven");
  Flush();
  DeleteAt("k", 3);
  EXPECT_EQ(FindAt("k", 20), "nine@9");
  EXPECT_EQ(FindAt("k", 8), "seven@7");
  EXPECT_EQ(FindAt("k", 6), "five@5");
  EXPECT_EQ(FindAt("k", 4), "-@3");
  EXPECT_EQ(FindAt("k", 2), "two@2");
  EXPECT_EQ(FindAt("k", 1), "-@none");
  EXPECT_EQ(FindAt("l", 20), "l5@5");
  EXPECT_EQ(FindAt("m", 20), "-@none");
  EXPECT_EQ(TakeAsked(), 8u);
}

// Of versions with equal timestamps the one written last wins, among those that the snapshot sees.
TEST_F(StampedLookupTest, OfEqualTimestampsTheLastWriteWins) {
  Open();
  PutAt("k", 5, "first");
  const Snapshot* const early = db_->GetSnapshot();
  Flush();
  PutAt("k", 5, "second");
  const Snapshot* const middle = db_->GetSnapshot();
  Flush();
  DeleteAt("k", 5);
  for (int compacted = 0; compacted < 3; compacted++) {
    EXPECT_EQ(FindAt("k", 9, early), "first@5");
    EXPECT_EQ(FindAt("k", 9, middle), "second@5");
    EXPECT_EQ(FindAt("k", 9), "-@5");
    compacted == 0 ? Flush() : CompactAndRewrite();
  }
  EXPECT_EQ(TakeAsked(), 9u);
  db_->ReleaseSnapshot(early);
  db_->ReleaseSnapshot(middle);
}

// The reader's version is many blocks behind the place to which its timestamp leads.
TEST_F(StampedLookupTest, ASnapshotSeesPastNewerWritesInOtherBlocks) {
  for (const bool is_partitioned : {false, true}) {
    if (is_partitioned) {
      table_.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
      table_.metadata_block_size = 50;
      table_.partition_filters = true;
      Close();
      dir_ = "/partitioned";
    }
    Open();
    PutAt("k", 1, "seen");
    const Snapshot* const snapshot = db_->GetSnapshot();
    for (uint64_t ts = 2; ts < 60; ts++) PutAt("k", ts, std::to_string(ts));
    EXPECT_EQ(FindAt("k", 99, snapshot), "seen@1");
    Flush();
    EXPECT_EQ(FindAt("k", 99, snapshot), "seen@1");
    for (uint64_t ts = 2; ts < 60; ts++) EXPECT_EQ(GetAt("k", ts), std::to_string(ts));
    CompactAndRewrite();
    EXPECT_EQ(FindAt("k", 99, snapshot), "seen@1");
    EXPECT_EQ(FindAt("k", 99), "59@59");
    EXPECT_EQ(TakeAsked(), 62u);
    db_->ReleaseSnapshot(snapshot);
  }
}

// Each key fills a table with its versions.
TEST_F(StampedLookupTest, AllVersionsOfKeysThatFillTablesAreFound) {
  options_.target_file_size_base = 4096;
  options_.level_compaction_dynamic_level_bytes = false;
  Open();
  constexpr uint64_t kVersions = 120;
  const std::string padding(200, 'p');
  for (uint64_t ts = 1; ts <= kVersions; ts++) {
    for (const char* key : {"a", "k", "z"}) PutAt(key, ts, std::to_string(ts) + padding);
    if (ts % 30 == 0) Flush();
  }
  const Snapshot* const snapshot = db_->GetSnapshot();
  for (uint64_t ts = kVersions; ts < 2 * kVersions; ts++) PutAt("k", ts, "new" + padding);
  CompactAndRewrite();
  ASSERT_EQ(TableCount(1), 3);
  for (uint64_t ts = 1; ts <= kVersions; ts++) {
    for (const char* key : {"a", "k", "z"}) {
      const std::string expected = StrCat(ts, padding, "@", ts);
      EXPECT_EQ(FindAt(key, ts, snapshot), expected) << key;
    }
  }
  EXPECT_EQ(FindAt("k", 900, snapshot), StrCat(kVersions, padding, "@", kVersions));
  EXPECT_EQ(FindAt("k", 900), StrCat("new", padding, "@", 2 * kVersions - 1));
  EXPECT_EQ(FindAt("l", 900), "-@none");
  EXPECT_EQ(FindAt("k", 0), "-@none");
  EXPECT_EQ(TakeAsked(), 3 * kVersions + 4);
  db_->ReleaseSnapshot(snapshot);
}

// The bounds of the timestamps of a table spare searches in it.
TEST_F(StampedLookupTest, TablesAreLeftOutByTheirTimestamps) {
  Open();
  PutAt("k", 10, "old");
  PutAt("m", 11, "m");
  Flush();
  PutAt("k", 20, "new");
  PutAt("n", 20, "n");
  Flush();
  const auto tables_asked = [&] {
    return TakeTicks(BLOOM_FILTER_FULL_POSITIVE) + TakeTicks(BLOOM_FILTER_USEFUL);
  };
  EXPECT_EQ(FindAt("k", 30), "new@20");
  EXPECT_EQ(tables_asked(), 1u) << "not the one with older versions only";
  EXPECT_EQ(FindAt("k", 20), "new@20");
  EXPECT_EQ(tables_asked(), 1u);
  EXPECT_EQ(FindAt("k", 19), "old@10");
  EXPECT_EQ(tables_asked(), 1u) << "not the one with newer versions only";
  EXPECT_EQ(FindAt("k", 10), "old@10");
  EXPECT_EQ(FindAt("k", 9), "-@none");
  EXPECT_EQ(tables_asked(), 1u);
  EXPECT_EQ(FindAt("m", 30), "m@11");
  EXPECT_EQ(tables_asked(), 2u);
}

// The tombstone of a newer run, and of an older one, whose number is greater because of its
// timestamp's place.
TEST_F(StampedLookupTest, RangeTombstonesHideWhatOtherRunsHave) {
  Open();
  PutAt("a", 10, "a10");
  PutAt("c", 10, "c10");
  Flush();
  DeleteRangeAt("a", "b", 5);  // older timestamp, later write
  PutAt("c", 5, "c5");
  for (int flushed = 0; flushed < 2; flushed++) {
    EXPECT_EQ(FindAt("a", 4), "-@none");
    EXPECT_EQ(FindAt("a", 20), "-@none");
    EXPECT_EQ(FindAt("c", 20), "c10@10");
    EXPECT_EQ(FindAt("c", 9), "c5@5");
    Flush();
  }
  PutAt("a", 3, "a3");
  EXPECT_EQ(FindAt("a", 20), "a3@3");
  EXPECT_EQ(FindAt("a", 2), "-@none");
}

TEST_F(StampedLookupTest, OperandsAreMergedIfTheyComeFirst) {
  options_.merge_operator = std::make_shared<ListingOperator>();
  Open();
  PutAt("k", 2, "base");
  Flush();
  ASSERT_OK(db_->Merge(WriteOptions(), db_->DefaultColumnFamily(), "k", Stamp(4), "x"));
  Flush();
  ASSERT_OK(db_->Merge(WriteOptions(), db_->DefaultColumnFamily(), "k", Stamp(6), "y"));
  PutAt("k", 8, "top");
  EXPECT_EQ(FindAt("k", 9), "top@8");
  EXPECT_EQ(TakeAsked(), 1u);
  EXPECT_EQ(FindAt("k", 7), "base,x,y@6");
  EXPECT_EQ(FindAt("k", 5), "base,x@4");
  EXPECT_EQ(FindAt("k", 3), "base@2");
}

// One batch with keys that need an iterator and keys that do not.
TEST_F(StampedLookupTest, ABatchMayNeedAnIteratorForSomeKeys) {
  options_.merge_operator = std::make_shared<ListingOperator>();
  Open();
  PutAt("a", 1, "a1");
  Flush();
  ASSERT_OK(db_->Merge(WriteOptions(), db_->DefaultColumnFamily(), "b", Stamp(2), "b2"));
  PutAt("c", 3, "c3");
  DeleteAt("d", 4);
  const std::vector<std::string> keys{"b", "a", "b", "c", "d", "e"};
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<PinnableSlice> values(keys.size());
  std::vector<std::string> stamps(keys.size());
  std::vector<Status> statuses(keys.size());
  const ReadAt read(9);
  db_->MultiGet(read.options, db_->DefaultColumnFamily(), keys.size(), slices.data(), values.data(),
                stamps.data(), statuses.data());
  std::string found;
  for (size_t i = 0; i < keys.size(); i++) {
    found += StrCat(statuses[i].ok() ? values[i].ToString() : "-", "@",
                    stamps[i].empty() ? "none" : std::to_string(NumberOf(stamps[i])), " ");
  }
  EXPECT_EQ(found, "b2@2 a1@1 b2@2 c3@3 -@4 -@none ");
}

// A pinned value stays after its table and its memtable are gone.
TEST_F(StampedLookupTest, LongKeysAndValuesStay) {
  Open();
  const std::string key(300, 'k'), value(100'000, 'v');
  PutAt(key, 5, value);
  const ReadAt read(9);
  PinnableSlice of_memtable, of_table;
  ASSERT_OK(db_->Get(read.options, db_->DefaultColumnFamily(), key, &of_memtable));
  Flush();
  ASSERT_OK(db_->Get(read.options, db_->DefaultColumnFamily(), key, &of_table));
  of_table.Reset();
  ASSERT_OK(db_->Get(read.options, db_->DefaultColumnFamily(), key, &of_table));
  DeleteAt(key, 7);
  RaiseLow(8);
  CompactAndRewrite();
  EXPECT_EQ(FindAt(key, 9).substr(0, 2), "-@");
  EXPECT_EQ(of_memtable, value);
  EXPECT_EQ(of_table, value);
  EXPECT_TRUE(of_table.IsPinned());
}

class StampedErrorsTest : public StampedLookupTest {
 protected:
  StampedErrorsTest() : StampedLookupTest(TestFiles::kSim) { table_.no_block_cache = true; }
};

// A table that cannot be read might have the newest version.
TEST_F(StampedErrorsTest, AReadErrorIsNoOlderVersion) {
  Open();
  PutAt("k", 9, "newest");
  Flush();
  PutAt("k", 5, "older");
  Flush();
  PutAt("k", 3, "oldest");
  EXPECT_EQ(FindAt("k", 20), "newest@9");
  uint64_t injected = 1;
  int failed = 0;
  for (uint64_t skipped = 0; injected > 0; ++skipped) {
    const uint64_t injected_before = sim_->Stats().TotalInjected();
    sim_->AddFault({.first_call = sim_->CallCount() + skipped,
                    .kinds = KindBit(CallKind::kRead),
                    .path_part = ".sst"});
    const std::string found = FindAt("k", 20);
    injected = sim_->Stats().TotalInjected() - injected_before;
    sim_->ClearFaults();
    if (injected == 0) {
      EXPECT_EQ(found, "newest@9");
    } else if (found != "newest@9") {
      EXPECT_NE(found.find("IO error"), std::string::npos) << found;
      ++failed;
    }
  }
  EXPECT_GE(failed, 2);
}

}  // namespace
}  // namespace ashlar
