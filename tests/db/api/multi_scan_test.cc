// SPDX-License-Identifier: Apache-2.0
//
// MultiScan shows the same entries of each range as an iterator, over levels, tombstones and
// memtables. It reads the blocks of several ranges together and ahead, and no others.
#include <algorithm>
#include <random>
#include <stdexcept>

#include "ashlar/cache.h"
#include "ashlar/multi_scan.h"
#include "tests/support/read_recorder.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

constexpr int kKeys = 1000;

class MultiScanTest : public DbTest {
 protected:
  MultiScanTest() {
    table_.block_size = 1000;
    table_.block_cache = NewLRUCache(8 << 20);
    UseFiles(std::make_shared<RecordingFileSystem>(memory_, &recorder_));
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.target_file_size_base = 64 << 10;
    options_.avoid_flush_during_shutdown = true;
  }
  void Open() {
    Close();
    options_.statistics = CreateDBStatistics();
    options_.table_factory.reset(NewBlockBasedTableFactory(table_));
    DbTest::Open();
    family_ = db_->DefaultColumnFamily();
  }
  void Put(int i, char c) { DbTest::Put(Key(i), Key(i) + std::string(200, c)); }
  // All keys are on the last level, newer versions of some and a range tombstone above, and a few
  // in memory. The tables are open, and the cache is empty.
  void Fill() {
    Open();
    for (int i = 0; i < kKeys; i++) Put(i, 'v');
    Compact();
    for (int i = 0; i < kKeys; i += 9) Put(i, 'w');
    DeleteRange(Key(500), Key(520));
    Flush();
    Open();
    for (int i = 0; i < kKeys; i += 70) Put(i, 'x');
    ReadOptions no_trace;
    no_trace.fill_cache = false;
    EXPECT_GT(Show(no_trace, "", "z").size(), 900u);
    recorder_.Take();
    ASSERT_OK(options_.statistics->Reset());
  }
  using Shown = std::vector<std::string>;
  Shown Show(const ReadOptions& options, const std::string& begin, const std::string& end) {
    Shown shown;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    for (it->Seek(begin); it->Valid() && it->key().compare(end) < 0; it->Next()) {
      shown.push_back(it->key().ToString() + it->value().ToString());
    }
    EXPECT_OK(it->status());
    return shown;
  }
  struct KeyRange {
    int begin, end;
  };
  // The entries that a MultiScan shows of each range, at most `most` of each.
  std::vector<Shown> ScanRanges(const ReadOptions& options, const std::vector<KeyRange>& ranges,
                                const MultiScanArgs& config = MultiScanArgs(),
                                size_t most = SIZE_MAX) {
    std::vector<std::string> names;
    for (const KeyRange& range : ranges) {
      names.push_back(Key(range.begin));
      names.push_back(Key(range.end));
    }
    MultiScanArgs args(options_.comparator);
    args.CopyConfigFrom(config);
    for (size_t i = 0; i < ranges.size(); i++) args.insert(names[2 * i], names[2 * i + 1]);
    const std::unique_ptr<MultiScan> scan = db_->NewMultiScan(options, family_, args);
    std::vector<Shown> result;
    for (; scan->Valid(); scan->NextRange()) {
      Shown& shown = result.emplace_back();
      for (Iterator* it = scan->iterator(); shown.size() < most && scan->InRange(); it->Next()) {
        shown.push_back(it->key().ToString() + it->value().ToString());
      }
    }
    scan_status_ = scan->status();
    return result;
  }

  ReadRecorder recorder_;
  BlockBasedTableOptions table_;
  ColumnFamilyHandle* family_ = nullptr;
  Status scan_status_;
};

TEST_F(MultiScanTest, ShowsWhatAnIteratorShows) {
  std::mt19937 random(5);
  for (const bool is_cached : {true, false}) {
    table_.no_block_cache = !is_cached;
    if (!is_cached) table_.block_cache = nullptr;
    ASSERT_NO_FATAL_FAILURE(Fill());
    for (int round = 0; round < 60; round++) {
      std::vector<KeyRange> ranges;
      for (int i = static_cast<int>(random() % 50); i < kKeys && ranges.size() < 8;) {
        const int end = i + static_cast<int>(random() % 100);
        ranges.push_back({i, end});
        i = end + static_cast<int>(random() % 150);
      }
      ReadOptions options;
      options.fill_cache = random() % 2 == 0;
      MultiScanArgs config;
      config.max_prefetch_size = std::vector<uint64_t>{0, 1, 3000, 20000}[random() % 4];
      config.io_coalesce_threshold = std::vector<uint64_t>{0, 2000, 16 << 10}[random() % 3];
      const auto shown = ScanRanges(options, ranges, config);
      ASSERT_OK(scan_status_);
      ASSERT_EQ(shown.size(), ranges.size());
      for (size_t i = 0; i < ranges.size(); i++) {
        ASSERT_EQ(shown[i], Show(ReadOptions(), Key(ranges[i].begin), Key(ranges[i].end)));
      }
    }
    Close();
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

TEST_F(MultiScanTest, BlocksOfAllRangesAreReadBeforeTheFirstEntryIsShown) {
  for (const bool is_cached : {true, false}) {
    table_.no_block_cache = !is_cached;
    if (!is_cached) table_.block_cache = nullptr;
    ASSERT_NO_FATAL_FAILURE(Fill());
    const std::string names[] = {Key(100), Key(110), Key(300), Key(310), Key(800), Key(830)};
    MultiScanArgs args(options_.comparator);
    args.io_coalesce_threshold = 0;
    for (int i = 0; i < 6; i += 2) args.insert(names[i], names[i + 1]);
    std::unique_ptr<MultiScan> scan = db_->NewMultiScan(ReadOptions(), family_, args);
    const auto reads = recorder_.Take();
    EXPECT_GE(reads.size(), 6u);  // each range in two tables
    EXPECT_LE(reads.size(), 9u);  // adjacent blocks are one read
    EXPECT_GT(std::max_element(reads.begin(), reads.end(),
                               [](const auto& a, const auto& b) { return a.n < b.n; })
                  ->n,
              4000u);
    int shown = 0;
    for (; scan->Valid(); scan->NextRange()) {
      for (; scan->InRange(); scan->iterator()->Next()) ++shown;
    }
    EXPECT_EQ(shown, 50);
    EXPECT_OK(scan->status());
    EXPECT_TRUE(recorder_.Take().empty());
    EXPECT_EQ(TakeTicks(MULTISCAN_PREPARE_CALLS), 1u);
    EXPECT_GT(TakeTicks(MULTISCAN_BLOCKS_PREFETCHED), 10u);
    EXPECT_GT(TakeTicks(MULTISCAN_PREFETCH_BYTES), 10000u);
    EXPECT_EQ(TakeTicks(MULTISCAN_BLOCKS_FROM_CACHE), 0u);
    scan.reset();
    if (is_cached) {
      ScanRanges(ReadOptions(), {{100, 110}});
      EXPECT_GT(TakeTicks(MULTISCAN_BLOCKS_FROM_CACHE), 2u);
      EXPECT_TRUE(recorder_.Take().empty());
    }
    Close();
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

TEST_F(MultiScanTest, NoMoreIsHeldAtATimeThanTheCallerSays) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  MultiScanArgs config;
  config.max_prefetch_size = 4000;
  const std::vector<KeyRange> ranges = {{0, 10}, {200, 210}, {400, 410}, {600, 610}, {800, 810}};
  const auto shown = ScanRanges(ReadOptions(), ranges, config);
  ASSERT_OK(scan_status_);
  EXPECT_EQ(shown[4].size(), 10u);
  EXPECT_GE(TakeTicks(MULTISCAN_PREPARE_CALLS), 3u);
}

TEST_F(MultiScanTest, ARangeThatIsLeftEarlyAndOneWithoutAnEnd) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  const auto shown = ScanRanges(ReadOptions(), {{10, 90}, {300, 310}}, MultiScanArgs(), 5);
  EXPECT_EQ(shown[0].size(), 5u);
  EXPECT_EQ(shown[1].size(), 5u);
  const std::string start = Key(990);
  MultiScanArgs args(options_.comparator);
  args.insert(start);
  const std::unique_ptr<MultiScan> scan = db_->NewMultiScan(ReadOptions(), family_, args);
  int count = 0;
  for (; scan->Valid(); scan->NextRange()) {
    for (; scan->InRange(); scan->iterator()->Next()) count++;
  }
  EXPECT_EQ(count, 10);
}

// Their first blocks are read with those of the other ranges, in the middle or at the end of the
// list.
TEST_F(MultiScanTest, RangesWithoutAnEndBeginWithWhatWasReadTogether) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  const std::string names[] = {Key(100), Key(110), Key(970), Key(980)};
  MultiScanArgs args(options_.comparator);
  args.insert(names[0], names[1]);
  args.insert(names[2]);
  args.insert(names[3]);
  const std::unique_ptr<MultiScan> scan = db_->NewMultiScan(ReadOptions(), family_, args);
  EXPECT_FALSE(recorder_.Take().empty());
  std::vector<Shown> shown;
  for (; scan->Valid(); scan->NextRange()) {
    Shown& range = shown.emplace_back();
    for (Iterator* it = scan->iterator(); scan->InRange(); it->Next()) {
      range.push_back(it->key().ToString() + it->value().ToString());
    }
  }
  EXPECT_OK(scan->status());
  EXPECT_TRUE(recorder_.Take().empty());
  EXPECT_EQ(TakeTicks(MULTISCAN_PREPARE_CALLS), 1u);
  ASSERT_EQ(shown.size(), 3u);
  EXPECT_EQ(shown[0], Show(ReadOptions(), names[0], names[1]));
  EXPECT_EQ(shown[1], Show(ReadOptions(), names[2], "z"));
  EXPECT_EQ(shown[2], Show(ReadOptions(), names[3], "z"));
}

// A range from the first key on, longer than the blocks that are read together.
TEST_F(MultiScanTest, ARangeOfEverythingShowsEverything) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  MultiScanArgs args(options_.comparator);
  args.insert("");
  const std::unique_ptr<MultiScan> scan = db_->NewMultiScan(ReadOptions(), family_, args);
  EXPECT_LE(TakeTicks(MULTISCAN_PREFETCH_BYTES), 140u << 10) << "a part of both runs";
  Shown shown;
  for (Iterator* it = scan->iterator(); scan->InRange(); it->Next()) {
    shown.push_back(it->key().ToString() + it->value().ToString());
  }
  EXPECT_OK(scan->status());
  EXPECT_EQ(shown, Show(ReadOptions(), "", "z"));
}

TEST_F(MultiScanTest, ABlockThatCannotBeReadIsToldByItsRange) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  recorder_.FailIf([](const ReadRecorder::Read& read) { return read.offset > 20000; });
  const auto shown = ScanRanges(ReadOptions(), {{0, 5}, {60, 70}, {150, 260}});
  EXPECT_TRUE(scan_status_.IsIOError()) << scan_status_.ToString();
  ASSERT_GE(shown.size(), 1u);
  recorder_.FailIf(nullptr);
  EXPECT_EQ(shown[0], Show(ReadOptions(), Key(0), Key(5)));
}

TEST_F(MultiScanTest, WhatMayNotBeReadIsNotRead) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  ReadOptions options;
  options.read_tier = kBlockCacheTier;
  ScanRanges(options, {{0, 5}, {60, 70}});
  EXPECT_TRUE(scan_status_.IsIncomplete());
  EXPECT_TRUE(recorder_.Take().empty());
}

// The range-based loops of programs for RocksDB.
TEST_F(MultiScanTest, IsARangeOfRanges) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  const std::string names[] = {Key(100), Key(140), Key(505), Key(510), Key(985)};
  MultiScanArgs args(options_.comparator);
  args.insert(names[0], names[1]);
  args.insert(names[2], names[3]);  // deleted
  args.insert(names[4]);
  const std::unique_ptr<MultiScan> scans = db_->NewMultiScan(ReadOptions(), family_, args);
  for (int round = 0; round < 2; round++) {
    std::vector<Shown> shown;
    for (auto scan : *scans) {
      Shown& range = shown.emplace_back();
      for (auto entry : scan) range.push_back(entry.first.ToString() + entry.second.ToString());
    }
    ASSERT_EQ(shown.size(), 3u);
    EXPECT_EQ(shown[0], Show(ReadOptions(), names[0], names[1]));
    EXPECT_TRUE(shown[1].empty());
    EXPECT_EQ(shown[2], Show(ReadOptions(), names[4], "z"));
    EXPECT_EQ(shown[2].size(), 15u);
  }
  EXPECT_OK(scans->status());
}

TEST_F(MultiScanTest, LoopsMayLeaveARangeAndTheRanges) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  const std::string names[] = {Key(100), Key(140), Key(300), Key(302)};
  MultiScanArgs args(options_.comparator);
  args.insert(names[0], names[1]);
  args.insert(names[2], names[3]);
  const std::unique_ptr<MultiScan> scans = db_->NewMultiScan(ReadOptions(), family_, args);
  std::string first;
  for (auto& scan : *scans) {
    for (auto& [key, value] : scan) {
      first += key.ToString() + " ";
      break;
    }
  }
  EXPECT_EQ(first, Key(100) + " " + Key(300) + " ");
  for (auto scan : *scans) {
    EXPECT_TRUE(scan.begin()->first == names[0]);
    break;
  }
  const auto begin = scans->begin();
  EXPECT_TRUE(begin != scans->end());
  EXPECT_TRUE(begin != MultiScan::MultiScanIterator());

  const std::unique_ptr<MultiScan> nothing =
      db_->NewMultiScan(ReadOptions(), family_, MultiScanArgs(options_.comparator));
  for (auto scan : *nothing) ADD_FAILURE() << (scan.begin() == scan.end());
}

TEST_F(MultiScanTest, TheEndOfALoopIsItsEnd) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  const std::string names[] = {Key(100), Key(101)};
  MultiScanArgs args(options_.comparator);
  args.insert(names[0], names[1]);
  const std::unique_ptr<MultiScan> scans = db_->NewMultiScan(ReadOptions(), family_, args);
  auto range = scans->begin();
  auto entry = range->begin();
  EXPECT_TRUE(entry->first == names[0]);
  EXPECT_TRUE(++entry == range->end());
  EXPECT_THROW(++entry, std::logic_error);
  EXPECT_TRUE(++range == scans->end());
  EXPECT_THROW(++range, std::logic_error);
}

// A read that fails in the middle of a range, and one that fails before the first key.
TEST_F(MultiScanTest, LoopsThrowWhatFails) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  recorder_.FailIf([](const ReadRecorder::Read& read) { return read.offset > 20000; });
  const std::string names[] = {Key(0), Key(300), Key(800)};
  size_t shown = 0;
  for (const bool is_first : {false, true}) {
    MultiScanArgs args(options_.comparator);
    args.max_prefetch_size = 4000;  // less than the first range has
    if (!is_first) args.insert(names[0], names[1]);
    args.insert(names[2]);
    const std::unique_ptr<MultiScan> scans = db_->NewMultiScan(ReadOptions(), family_, args);
    try {
      for (auto scan : *scans) {
        for (auto entry : scan) shown += entry.first.empty() ? 0 : 1;
      }
      ADD_FAILURE() << "no exception";
    } catch (const MultiScanException& error) {
      EXPECT_TRUE(error.status().IsIOError()) << error.what();
      EXPECT_EQ(error.what(), error.status().ToString());
      EXPECT_EQ(scans->status(), error.status());
    }
    EXPECT_GT(shown, 0u);
    EXPECT_LT(shown, 300u);
  }
}

// Prepare() of an iterator with a snapshot, while compactions replace all files.
TEST_F(MultiScanTest, BlocksOutliveTheirFiles) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  const Shown before = Show(ReadOptions(), Key(100), Key(140));
  recorder_.Take();
  const std::string names[] = {Key(100), Key(140)};
  MultiScanArgs args(options_.comparator);
  args.insert(names[0], names[1]);
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->Prepare(args);
  it->Seek(names[0]);
  for (int i = 100; i < 140; i++) Put(i, 'z');
  Flush();
  Compact();
  Shown shown;
  for (; it->Valid() && it->key().compare(names[1]) < 0; it->Next()) {
    shown.push_back(it->key().ToString() + it->value().ToString());
  }
  EXPECT_EQ(shown, before);
  ASSERT_OK(it->Refresh());
  it->Seek(names[0]);
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value(), Key(100) + std::string(200, 'z'));
}

}  // namespace
}  // namespace ashlar
