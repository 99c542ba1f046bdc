// SPDX-License-Identifier: Apache-2.0
//
// Scans over deleted keys: the third scan skips them. Keys that are written, flushed, ingested or
// compacted meanwhile are seen, and so are the keys of older snapshots.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "ashlar/compaction_filter.h"
#include "ashlar/convenience.h"
#include "ashlar/perf_context.h"
#include "ashlar/slice_transform.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/table_properties.h"
#include "tests/support/status_matchers.h"
#include "tests/support/test_db.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kSparseKeys = 1000;
constexpr int kDeleted = 600;
// How many tombstones a scan may step over once the empty ranges are known.
constexpr uint64_t kFew = 2;

std::string SparseKey(int i) { return StrCat("key", 10000 + i); }

class EmptyRangesDbTest : public DbTestWith<bool> {
 protected:
  EmptyRangesDbTest() {
    options_.disable_auto_compactions = true;
    if (IsReversed()) options_.comparator = ReverseBytewiseComparator();
  }
  static bool IsReversed() { return GetParam(); }
  // The first 600 of 1000 keys are deleted, half of them in a table.
  void Open() {
    DbTest::Open();
    for (int i = 0; i < kSparseKeys; i++) Put(i);
    for (int i = 0; i < kDeleted / 2; i++) Delete(i);
    Flush();
    for (int i = kDeleted / 2; i < kDeleted; i++) Delete(i);
  }
  std::string Name(int i) const { return SparseKey(IsReversed() ? kSparseKeys - i : i); }
  void Put(int i) { DbTest::Put(Name(i), "v"); }
  void Delete(int i) { DbTest::Delete(Name(i)); }
  // The first key of a scan, and how many tombstones it stepped over.
  std::string First(uint64_t* steps, const ReadOptions& read = {}) {
    get_perf_context()->Reset();
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    it->SeekToFirst();
    EXPECT_OK(it->status());
    *steps = get_perf_context()->internal_delete_skipped_count;
    return it->Valid() ? it->key().ToString() : "";
  }
  void LearnAll() {
    for (int i = 0; i < 3; i++) {
      uint64_t steps;
      EXPECT_EQ(First(&steps), Name(kDeleted));
      if (i == 2) {
        EXPECT_LE(steps, kFew);
      }
    }
  }
  uint64_t steps_ = 0;
};

TEST_P(EmptyRangesDbTest, TheThirdScanGoesPastThem) {
  Open();
  for (int i = 0; i < 2; i++) {
    EXPECT_EQ(First(&steps_), Name(kDeleted));
    EXPECT_EQ(steps_, uint64_t{kDeleted}) << i;
  }
  LearnAll();
  Flush();
  EXPECT_EQ(First(&steps_), Name(kDeleted));
  EXPECT_LE(steps_, kFew) << "in tables too";
  int rows = 0;
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  for (it->Seek(Name(5)); it->Valid(); it->Next()) ++rows;
  EXPECT_EQ(rows, kSparseKeys - kDeleted);
  for (it->SeekToLast(); it->Valid(); it->Prev()) --rows;
  EXPECT_EQ(rows, 0);
}

TEST_P(EmptyRangesDbTest, AQueueGoesOn) {
  Open();
  LearnAll();
  for (int i = kDeleted; i < kSparseKeys - 1; i++) {
    Delete(i);
    EXPECT_EQ(First(&steps_), Name(i + 1));
    EXPECT_LE(steps_, 256u);
  }
}

// Entries that a range tombstone of the same memtable hides are stepped over one by one.
TEST_P(EmptyRangesDbTest, RangeTombstonesCountToo) {
  Open();
  const std::string end = Name(kDeleted + 300);
  DeleteRange(Name(kDeleted), end);
  for (int i = kDeleted; i < kDeleted + 300; i++) Put(i);
  DeleteRange(Name(kDeleted), end);
  const std::string from = Name(10);
  for (int round = 0; round < 4; round++) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->Seek(from);
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), Slice(end));
  }
  // Keys that are written into the range are seen.
  for (const int i : {kDeleted + 1, kDeleted + 299, 20}) {
    Put(i);
    for (int round = 0; round < 3; round++) {
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
      it->Seek(from);
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key(), Slice(Name(i)));
    }
    Delete(i);
  }
}

// A seek ends after the range that the iterator may show, having skipped only hidden entries. The
// earlier position of the iterator says nothing about the keys in between.
TEST_P(EmptyRangesDbTest, WhereAnIteratorWasBeforeTellsNothing) {
  if (IsReversed()) GTEST_SKIP() << "the keys are in the other order";
  options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
  DbTest::Open();
  const auto put = [this](char prefix) {
    for (int i = 0; i < 300; i++) DbTest::Put(prefix + SparseKey(i), "v");
  };
  put('a');
  DeleteRange("a", "b");
  put('b');
  put('z');
  for (int round = 0; round < 4; round++) {
    ReadOptions in_prefix;
    in_prefix.prefix_same_as_start = in_prefix.total_order_seek = true;
    const std::unique_ptr<Iterator> one(db_->NewIterator(in_prefix));
    one->Seek("z");
    one->Next();
    one->Seek("a");
    EXPECT_FALSE(one->Valid());
    Slice bound = "zz";
    ReadOptions bounded;
    bounded.iterate_upper_bound = &bound;
    const std::unique_ptr<Iterator> other(db_->NewIterator(bounded));
    other->Seek("z");
    other->Next();
    bound = "b";
    other->Seek("a");
    EXPECT_FALSE(other->Valid());
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->Seek("a");
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), Slice("b" + SparseKey(0)));
  }
}

class SkipsAll final : public CompactionFilter {
 public:
  const char* Name() const override { return "SkipsAll"; }
  Decision FilterV2(int /*level*/, const Slice& /*key*/, ValueType /*type*/, const Slice& /*value*/,
                    std::string* /*new_value*/, std::string* skip_until) const override {
    if (!is_on) return Decision::kKeep;
    *skip_until = "z";
    return Decision::kRemoveAndSkipUntil;
  }

  std::atomic<bool> is_on{false};
};

// Such a filter removes tombstones, so the entries that they hid are visible again.
TEST_P(EmptyRangesDbTest, WhatAFilterBringsBackIsSeen) {
  if (IsReversed()) GTEST_SKIP() << "the keys are in the other order";
  SkipsAll filter;
  options_.compaction_filter = &filter;
  options_.num_levels = 4;
  options_.level_compaction_dynamic_level_bytes = false;
  DbTest::Open();
  for (int i = 0; i < kSparseKeys; i++) Put(i);
  CompactRangeOptions move;
  move.change_level = true;
  move.target_level = 3;
  Compact(move);
  for (int i = 1; i < kSparseKeys; i++) Delete(i);
  Put(0);
  Flush();
  Put(kSparseKeys);
  const auto second = [this] {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->Seek(Name(1));
    return it->Valid() ? it->key().ToString() : "";
  };
  for (int i = 0; i < 4; i++) ASSERT_EQ(second(), Name(kSparseKeys));
  filter.is_on = true;
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), TableNames(0), 2));
  EXPECT_EQ(second(), Name(1));
}

TEST_P(EmptyRangesDbTest, WhatIsWrittenThereIsSeen) {
  Open();
  LearnAll();
  for (const int i : {0, 299, kDeleted - 1}) {
    Put(i);
    EXPECT_EQ(First(&steps_), Name(i));
    Delete(i);
    LearnAll();
  }
  ASSERT_OK(db_->PutEntity(WriteOptions(), db_->DefaultColumnFamily(), Name(7), {{"a", "b"}}));
  EXPECT_EQ(First(&steps_), Name(7));
}

TEST_P(EmptyRangesDbTest, ASnapshotSeesWhatItSaw) {
  Open();
  Delete(kDeleted);
  Put(kDeleted);
  Put(3);
  const Snapshot* const before = db_->GetSnapshot();
  Delete(3);
  LearnAll();
  EXPECT_EQ(First(&steps_, AsOf(before)), Name(3));
  db_->ReleaseSnapshot(before);
  const Snapshot* const after = db_->GetSnapshot();
  EXPECT_EQ(First(&steps_, AsOf(after)), Name(kDeleted));
  EXPECT_LE(steps_, kFew);
  db_->ReleaseSnapshot(after);
}

// Readers that leave out tables, or tombstones, see what is deleted for others: they neither tell
// nor are told.
TEST_P(EmptyRangesDbTest, PartialViewsAreNotTold) {
  Open();
  ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), Name(0), Name(2)));
  ASSERT_OK(db_->Flush(FlushOptions()));
  const std::function<bool(const TableProperties&)> no_deletions = [](const TableProperties& p) {
    return p.num_range_deletions == 0;
  };
  ReadOptions filtered;
  filtered.table_filter = &no_deletions;
  const std::string with_filter = First(&steps_, filtered);
  ASSERT_NE(with_filter, Name(kDeleted));
  LearnAll();
  EXPECT_EQ(First(&steps_, filtered), with_filter);
  ReadOptions ignoring;
  ignoring.ignore_range_deletions = true;
  EXPECT_EQ(First(&steps_, ignoring), Name(kDeleted)) << "the tombstones of the keys are there";
}

TEST_P(EmptyRangesDbTest, PartialViewsTellNothing) {
  Open();
  ASSERT_OK(db_->Flush(FlushOptions()));
  const std::function<bool(const TableProperties&)> no_rows = [](const TableProperties&) {
    return false;
  };
  std::vector<ReadOptions> views(4);
  views[0].table_filter = &no_rows;
  views[1].ignore_range_deletions = true;
  views[2].read_tier = kBlockCacheTier;
  views[3].read_tier = kMemtableTier;
  for (int i = 0; i < 200; i++) Delete(kDeleted + 200 + i);  // in the memtable
  for (const ReadOptions& view : views) {
    for (int round = 0; round < 4; round++) {
      const std::unique_ptr<Iterator> it(db_->NewIterator(view));
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
      }
    }
  }
  EXPECT_EQ(First(&steps_), Name(kDeleted));
  EXPECT_EQ(steps_, uint64_t{kDeleted}) << "nobody has told of these";
  int rows = 0;
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) ++rows;
  EXPECT_EQ(rows, kSparseKeys - kDeleted - 200);
}

TEST_P(EmptyRangesDbTest, FamiliesAreApart) {
  Open();
  ColumnFamilyHandle* const other = CreateFamily("other");
  DbTest::Put(other, Name(3), "v");
  LearnAll();
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), other));
  it->SeekToFirst();
  EXPECT_TRUE(it->Valid());
  DbTest::Delete(other, Name(3));
  EXPECT_EQ(First(&steps_), Name(kDeleted));
  EXPECT_LE(steps_, kFew);
}

TEST_P(EmptyRangesDbTest, IngestedFilesAreSeen) {
  Open();
  LearnAll();
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/outside.sst"));
  ASSERT_OK(writer.Put(Name(100), "from outside"));
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db_->IngestExternalFile({"/outside.sst"}, IngestExternalFileOptions()));
  EXPECT_EQ(First(&steps_), Name(100));
  EXPECT_EQ(First(&steps_), Name(100));
}

// Entries are visible again, as in RocksDB, when the files with their tombstones are deleted.
TEST_P(EmptyRangesDbTest, WhatDroppedFilesHidIsSeen) {
  if (IsReversed()) GTEST_SKIP() << "the order does not matter";
  options_.num_levels = 4;
  options_.level_compaction_dynamic_level_bytes = false;
  DbTest::Open();
  const auto move_to = [this](int level) {
    CompactRangeOptions move;
    move.change_level = true;
    move.target_level = level;
    Compact(move);
  };
  Put(0);
  for (int i = 2; i < kSparseKeys; i++) Put(i);
  move_to(3);
  for (int i = 2; i < kDeleted; i++) Delete(i);
  Flush();
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), TableNames(0), 2));
  Put(kSparseKeys);
  const auto second = [this] {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->SeekToFirst();
    it->Next();
    return it->Valid() ? it->key().ToString() : "";
  };
  for (int i = 0; i < 4; i++) ASSERT_EQ(second(), Name(kDeleted));
  const std::string begin = Name(1), end = Name(kDeleted);
  const Slice from(begin), to(end);
  ASSERT_OK(DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &from, &to));
  EXPECT_EQ(second(), Name(2));
}

// Readers use the empty ranges that other readers found, while each writer looks for the key that
// it has just written.
TEST_P(EmptyRangesDbTest, WhoWritesFindsIt) {
  options_.write_buffer_size = 64 << 10;
  options_.disable_auto_compactions = false;
  Open();
  std::atomic<int> missed{0};
  std::atomic<int> writers{3};
  const auto write = [&](size_t thread) {
    Random64 random(thread + 1);
    for (int i = 0; i < 500; i++) {
      const std::string key = StrCat(Name(static_cast<int>(random.Uniform(kDeleted))), ".", thread);
      DbTest::Put(key, std::string(100, 'x'));
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
      bool is_found = false;
      for (it->SeekToFirst(); it->Valid() && !is_found; it->Next()) {
        is_found = it->key() == Slice(key);
        if (it->key() == Slice(Name(kDeleted))) break;
      }
      if (!is_found) ++missed;
      DbTest::Delete(key);
    }
  };
  const auto scan = [&] {
    while (writers.load() != 0) {
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
      it->SeekToFirst();
      EXPECT_OK(it->status());
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 3; i++) {
    threads.emplace_back([&, i] {
      write(i);
      --writers;
    });
  }
  for (int i = 0; i < 2; i++) threads.emplace_back(scan);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(missed, 0);
}

INSTANTIATE_TEST_SUITE_P(Orders, EmptyRangesDbTest, testing::Bool());

}  // namespace
}  // namespace ashlar
