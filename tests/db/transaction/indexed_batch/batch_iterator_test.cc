// SPDX-License-Identifier: Apache-2.0
//
// Iterators over a batch and a database, through one merge and through the merge of two: most tests
// run with both.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/slice_transform.h"
#include "ashlar/sst_file_reader.h"
#include "ashlar/sst_file_writer.h"
#include "db/transaction/indexed_batch/indexed_batch.h"
#include "db/transaction/indexed_batch/overlay_iterator.h"
#include "db/write/write_batch_internal.h"
#include "tests/db/transaction/indexed_batch/batch_fixture.h"
#include "tests/db/transaction/indexed_batch/passing_iterator.h"

namespace ashlar {
namespace {

class BatchIteratorTest : public BatchFixture, public testing::WithParamInterface<bool> {
 protected:
  bool is_foreign() const { return GetParam(); }
  std::unique_ptr<Iterator> Base(const ReadOptions& options, ColumnFamilyHandle* family) {
    std::unique_ptr<Iterator> base(db_->NewIterator(options, family));
    if (is_foreign()) base = std::make_unique<PassingIterator>(std::move(base));
    return base;
  }
  // Batch and base with the same options.
  std::unique_ptr<Iterator> New(const ReadOptions& options = ReadOptions(),
                                ColumnFamilyHandle* family = nullptr) {
    if (family == nullptr) family = family_;
    return std::unique_ptr<Iterator>(
        batch_.NewIteratorWithBase(family, Base(options, family).release(), &options));
  }
  std::string All(const ReadOptions& options = ReadOptions()) {
    const std::unique_ptr<Iterator> iterator = New(options);
    iterator->SeekToFirst();
    return Rest(iterator.get());
  }

  WriteBatchWithIndex batch_{BytewiseComparator(), 0, /*overwrite_key=*/true};
};

INSTANTIATE_TEST_SUITE_P(Bases, BatchIteratorTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Foreign" : "Ours"; });

TEST_P(BatchIteratorTest, OwnUpdatesHideReplaceAndMerge) {
  PutAll({"a", "b", "c", "d", "e"});
  ASSERT_OK(batch_.Put("b", "own"));
  ASSERT_OK(batch_.Delete("c"));
  ASSERT_OK(batch_.SingleDelete("e"));
  ASSERT_OK(batch_.Merge("d", "1"));
  ASSERT_OK(batch_.Merge("new", "1"));
  ASSERT_OK(batch_.Put("on own", "own"));
  ASSERT_OK(batch_.Merge("on own", "1"));
  ASSERT_OK(batch_.Delete("on none"));
  ASSERT_OK(batch_.Merge("on none", "1"));
  EXPECT_EQ(All(), "a=db a b=own d=db d,1 new=1 on none=1 on own=own,1 ");
  const std::unique_ptr<Iterator> iterator = New();
  iterator->SeekToLast();
  EXPECT_EQ(RestBackwards(iterator.get()), "on own=own,1 on none=1 new=1 d=db d,1 b=own a=db a ");
  iterator->SeekForPrev("c");
  EXPECT_EQ(Shown(*iterator), "b=own");
  iterator->Seek("c");
  EXPECT_EQ(Shown(*iterator), "d=db d,1");
}

TEST_P(BatchIteratorTest, AnEmptyBatchShowsTheDatabaseAndAnEmptyDatabaseTheBatch) {
  ASSERT_OK(batch_.Put("b", "own"));
  EXPECT_EQ(All(), "b=own ");
  batch_.Clear();
  PutAll({"a"});
  EXPECT_EQ(All(), "a=db a ");
}

TEST_P(BatchIteratorTest, SeesWhatIsWrittenAheadAndNotWhatIsBehind) {
  PutAll({"a", "c", "e", "g"});
  const std::unique_ptr<Iterator> iterator = New();
  iterator->Seek("c");
  ASSERT_OK(batch_.Put("b", "own"));
  ASSERT_OK(batch_.Put("d", "own"));
  ASSERT_OK(batch_.Delete("e"));
  iterator->Next();
  EXPECT_EQ(Shown(*iterator), "d=own");
  ASSERT_OK(batch_.Put("f", "own"));
  iterator->Next();
  EXPECT_EQ(Shown(*iterator), "f=own");
  ASSERT_OK(batch_.Delete("d"));
  ASSERT_OK(batch_.Put("e", "again"));
  iterator->Prev();
  EXPECT_EQ(Shown(*iterator), "e=again");
  iterator->Prev();
  EXPECT_EQ(Shown(*iterator), "c=db c");
  ASSERT_OK(batch_.Put("bb", "own"));
  EXPECT_EQ(RestBackwards(iterator.get()), "c=db c bb=own b=own a=db a ");
}

TEST_P(BatchIteratorTest, TheCurrentKeyKeepsWhatItShowedUntilTheIteratorMoves) {
  PutAll({"a", "b", "c"});
  ASSERT_OK(batch_.Put("b", "first"));
  for (const bool is_forward : {true, false}) {
    const std::unique_ptr<Iterator> iterator = New();
    is_forward ? iterator->Seek("b") : iterator->SeekForPrev("b");
    const std::string shown = Shown(*iterator);
    ASSERT_OK(batch_.Put("b", "second"));
    ASSERT_OK(batch_.Merge("b", "third"));
    EXPECT_EQ(Shown(*iterator), shown);
    iterator->Next();
    EXPECT_EQ(Shown(*iterator), "c=db c");
    iterator->Prev();
    EXPECT_EQ(Shown(*iterator), "b=second,third");
    ASSERT_OK(batch_.Delete("b"));
    EXPECT_EQ(Shown(*iterator), "b=second,third");
    iterator->Prev();
    EXPECT_EQ(Shown(*iterator), "a=db a");
    ASSERT_OK(batch_.Put("b", "first"));
  }
}

TEST_P(BatchIteratorTest, WhatIsShownStaysWhenTheBatchOutgrowsItsMemory) {
  ASSERT_OK(batch_.Put("a", "own"));
  ASSERT_OK(batch_.PutEntity(family_, "b", {{"", "default"}, {"x", "y"}}));
  const std::unique_ptr<Iterator> value = New();
  value->Seek("a");
  const std::unique_ptr<Iterator> entity = New();
  entity->Seek("b");
  const std::unique_ptr<WBWIIterator> entry(batch_.NewIterator());
  entry->SeekToFirst();
  const WriteEntry shown = entry->Entry();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_OK(batch_.Put("k" + std::to_string(i), std::string(100, 'v')));
    ASSERT_OK(batch_.GetWriteBatch()->Put("unindexed", std::string(100, 'v')));
  }
  EXPECT_EQ(Shown(*value), "a=own");
  EXPECT_EQ(Shown(*entity), "b=default");
  EXPECT_EQ(entity->columns(), (WideColumns{{"", "default"}, {"x", "y"}}));
  EXPECT_EQ(shown.key, "a");
  EXPECT_EQ(shown.value, "own");
}

TEST_P(BatchIteratorTest, ScanThatUpdatesEachRowVisitsEachOnce) {
  PutAll({"a", "b", "c", "d"});
  const std::unique_ptr<Iterator> iterator = New();
  std::string visited;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    visited += Shown(*iterator) + " ";
    ASSERT_OK(batch_.Put(iterator->key(), "own"));
  }
  EXPECT_EQ(visited, "a=db a b=db b c=db c d=db d ");
  EXPECT_EQ(All(), "a=own b=own c=own d=own ");
}

TEST_P(BatchIteratorTest, IsCutOffWhenUpdatesAreTakenBack) {
  PutAll({"a", "b"});
  for (const bool clears : {false, true}) {
    ASSERT_OK(batch_.Put("a", "own"));
    batch_.SetSavePoint();
    const std::unique_ptr<Iterator> untouched = New();
    untouched->SeekToFirst();
    ASSERT_OK(batch_.RollbackToSavePoint());  // of nothing
    EXPECT_EQ(Shown(*untouched), "a=own");
    batch_.SetSavePoint();
    ASSERT_OK(batch_.Put("b", "own"));
    const std::unique_ptr<Iterator> iterator = New();
    const std::unique_ptr<WBWIIterator> entry(batch_.NewIterator());
    iterator->SeekToFirst();
    entry->SeekToFirst();
    if (clears) {
      batch_.Clear();
    } else {
      ASSERT_OK(batch_.RollbackToSavePoint());
    }
    ASSERT_OK(batch_.Put("z", "own"));
    EXPECT_FALSE(iterator->Valid());
    EXPECT_TRUE(iterator->status().IsInvalidArgument());
    iterator->Next();
    iterator->Prev();
    iterator->SeekToLast();
    iterator->Seek("a");
    EXPECT_FALSE(iterator->Valid());
    EXPECT_TRUE(iterator->status().IsInvalidArgument());
    EXPECT_FALSE(entry->Valid());
    EXPECT_TRUE(entry->status().IsInvalidArgument());
    entry->SeekToFirst();
    entry->Next();
    EXPECT_FALSE(entry->Valid());
    batch_.Clear();
  }
}

TEST_P(BatchIteratorTest, OutlivesItsBatch) {
  PutAll({"a", "c"});
  auto batch = std::make_unique<WriteBatchWithIndex>();
  ASSERT_OK(batch->Put("b", "own"));
  const std::unique_ptr<Iterator> iterator(
      batch->NewIteratorWithBase(family_, Base(ReadOptions(), family_).release()));
  iterator->SeekToFirst();
  batch.reset();
  EXPECT_EQ(Rest(iterator.get()), "a=db a b=own c=db c ");
}

TEST_P(BatchIteratorTest, AStepFromNowhereIsNotSupportedUntilTheNextSeek) {
  PutAll({"a"});
  const std::unique_ptr<Iterator> iterator = New();
  iterator->Next();
  EXPECT_TRUE(iterator->status().IsNotSupported());
  iterator->SeekToFirst();
  EXPECT_OK(iterator->status());
  iterator->Next();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_OK(iterator->status());
  iterator->Prev();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_TRUE(iterator->status().IsNotSupported());
  iterator->Seek("a");
  EXPECT_EQ(Shown(*iterator), "a=db a");
}

TEST_P(BatchIteratorTest, BoundsGivenWithTheBaseAreOfTheBatch) {
  PutAll({"b", "d", "m", "z"});
  for (const char* key : {"a", "c", "n", "y"}) ASSERT_OK(batch_.Put(key, "own"));
  const Slice lower("b"), upper("n");
  ReadOptions bounded;
  bounded.iterate_lower_bound = &lower;
  bounded.iterate_upper_bound = &upper;
  const auto show = [&](const ReadOptions& base, const ReadOptions* own) {
    const std::unique_ptr<Iterator> iterator(
        batch_.NewIteratorWithBase(family_, Base(base, family_).release(), own));
    iterator->SeekToFirst();
    std::string text;
    for (; iterator->Valid(); iterator->Next()) text += iterator->key().ToString();
    iterator->SeekToLast();
    for (text += " "; iterator->Valid(); iterator->Prev()) text += iterator->key().ToString();
    iterator->Seek("a");
    text += " " + iterator->key().ToString();
    iterator->SeekForPrev("zz");
    return text + iterator->key().ToString();
  };
  EXPECT_EQ(show(bounded, &bounded), "bcdm mdcb bm");
  EXPECT_EQ(show(bounded, nullptr), "abcdmny ynmdcba ay");
  EXPECT_EQ(show(ReadOptions(), &bounded), "bcdmz zmdcb bz");
}

TEST_P(BatchIteratorTest, OperandsWithoutAnOperatorEndIt) {
  ASSERT_OK(db_->Put(WriteOptions(), plain_, "a", "v"));
  ASSERT_OK(batch_.Merge(plain_, "b", "1"));
  const std::unique_ptr<Iterator> iterator = New(ReadOptions(), plain_);
  iterator->SeekToFirst();
  EXPECT_EQ(Shown(*iterator), "a=v");
  iterator->Next();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_TRUE(iterator->status().IsInvalidArgument());
  iterator->Seek("a");
  EXPECT_EQ(Shown(*iterator), "a=v");
}

TEST_P(BatchIteratorTest, ShowsColumnsOfBothAndOfWhatIsMerged) {
  ASSERT_OK(db_->PutEntity(WriteOptions(), family_, "a", {{"", "d"}, {"x", "db"}}));
  ASSERT_OK(db_->PutEntity(WriteOptions(), family_, "b", {{"x", "db"}}));
  ASSERT_OK(batch_.Merge(family_, "b", "1"));
  ASSERT_OK(batch_.PutEntity(family_, "c", {{"x", "own"}}));
  ASSERT_OK(batch_.Merge(family_, "c", "1"));
  ASSERT_OK(batch_.PutEntity(family_, "d", {{"x", "own"}}));
  ASSERT_OK(batch_.Put("e", "own"));
  const std::vector<WideColumns> expected = {{{"", "d"}, {"x", "db"}},
                                             {{"", "1"}, {"x", "db"}},
                                             {{"", "1"}, {"x", "own"}},
                                             {{"x", "own"}},
                                             {{"", "own"}}};
  const std::unique_ptr<Iterator> iterator = New();
  iterator->SeekToFirst();
  for (const WideColumns& columns : expected) {
    ASSERT_TRUE(iterator->Valid());
    EXPECT_EQ(iterator->columns(), columns);
    iterator->Next();
  }
  EXPECT_FALSE(iterator->Valid());
}

TEST_P(BatchIteratorTest, AMalformedEntityIsCorruption) {
  ASSERT_OK(batch_.Put("a", "own"));
  IndexedBatch& indexed = IndexedBatch::Of(&batch_);
  ASSERT_OK(indexed.Add(family_, [&](uint32_t family) {
    return WriteBatchInternal::PutEntity(indexed.batch(), family, "b", "\1\5");
  }));
  const std::unique_ptr<Iterator> iterator = New();
  iterator->SeekToLast();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_TRUE(iterator->status().IsCorruption());
  iterator->SeekToFirst();
  EXPECT_EQ(Shown(*iterator), "a=own");
}

TEST_P(BatchIteratorTest, AnErrorOfTheBaseIsItsOwn) {
  const std::unique_ptr<Iterator> iterator(
      batch_.NewIteratorWithBase(family_, NewErrorIterator(Status::IOError("the base"))));
  ASSERT_OK(batch_.Put("a", "own"));
  iterator->SeekToFirst();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_TRUE(iterator->status().IsIOError());
}

TEST_P(BatchIteratorTest, OrderIsThatOfTheFamily) {
  for (const char* key : {"a", "c"}) ASSERT_OK(db_->Put(WriteOptions(), reverse_, key, "db"));
  ASSERT_OK(batch_.Put(reverse_, "b", "own"));
  const std::unique_ptr<Iterator> iterator = New(ReadOptions(), reverse_);
  iterator->SeekToFirst();
  EXPECT_EQ(Rest(iterator.get()), "c=db b=own a=db ");
}

bool IsOneMerge(const Iterator& iterator) {
  return dynamic_cast<const OverlayIterator*>(&iterator) != nullptr;
}

TEST_F(BatchFixture, OnlyIteratorsOfOurOwnThatFitAreOneMergeWithTheBatch) {
  WriteBatchWithIndex batch;
  const Slice bound("m"), other("m");
  const auto is_one = [&](const ReadOptions& base, const ReadOptions* own, bool passes = false,
                          ColumnFamilyHandle* family = nullptr) {
    std::unique_ptr<Iterator> iterator(db_->NewIterator(base, family_));
    if (passes) iterator = std::make_unique<PassingIterator>(std::move(iterator));
    iterator.reset(batch.NewIteratorWithBase(family, iterator.release(), own));
    return IsOneMerge(*iterator);
  };
  ReadOptions options;
  EXPECT_TRUE(is_one(options, nullptr));
  EXPECT_TRUE(is_one(options, &options));
  EXPECT_FALSE(is_one(options, nullptr, /*passes=*/true));
  EXPECT_FALSE(is_one(options, nullptr, /*passes=*/false, reverse_));
  options.iterate_upper_bound = &bound;
  EXPECT_TRUE(is_one(options, &options));
  EXPECT_FALSE(is_one(options, nullptr));
  ReadOptions different;
  different.iterate_upper_bound = &other;
  EXPECT_FALSE(is_one(options, &different));
  options = ReadOptions();
  options.prefix_same_as_start = true;
  EXPECT_TRUE(is_one(options, nullptr));
  EXPECT_TRUE(is_one(options, &options));
  EXPECT_FALSE(is_one(ReadOptions(), &options)) << "only the batch ends with the prefix";
  options = ReadOptions();
  options.max_skippable_internal_keys = 1;
  EXPECT_FALSE(is_one(options, nullptr));
  options = ReadOptions();
  options.pin_data = true;
  EXPECT_FALSE(is_one(options, nullptr));
}

// Merge operands of the batch behind the prefix would have no value of the database to merge with.
TEST_F(BatchFixture, RowsOfABatchEndWithThePrefixThatWasSought) {
  Options options = db_->GetOptions();
  options.prefix_extractor.reset(NewFixedPrefixTransform(1));
  ColumnFamilyHandle* prefixed = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options, "prefixed", &prefixed));
  for (const char* key : {"a1", "b1", "b3", "b5", "c1"}) {
    ASSERT_OK(db_->Put(WriteOptions(), prefixed, key, "db"));
  }
  ReadOptions read;
  read.prefix_same_as_start = true;
  // 0: one merge. The others are merged from outside: 1 an iterator of another class, 2 one that
  // does not end with the prefix itself, 3 one of ours that counts what it skips.
  for (const int base : {0, 1, 2, 3}) {
    SCOPED_TRACE(base);
    if (base == 3) {
      ASSERT_OK(db_->Flush(FlushOptions(), prefixed));
    }
    ReadOptions of_base = read;
    of_base.prefix_same_as_start = base != 2;
    of_base.max_skippable_internal_keys = base == 3 ? 100 : 0;
    std::unique_ptr<Iterator> rows(db_->NewIterator(of_base, prefixed));
    if (base == 1 || base == 2) rows = std::make_unique<PassingIterator>(std::move(rows));
    WriteBatchWithIndex batch;
    for (const char* key : {"a1", "b3", "b6", "c1"}) ASSERT_OK(batch.Merge(prefixed, key, "own"));
    for (const char* key : {"a2", "b2", "c0"}) ASSERT_OK(batch.Put(prefixed, key, "own"));
    ASSERT_OK(batch.Delete(prefixed, "b5"));
    const std::unique_ptr<Iterator> iterator(
        batch.NewIteratorWithBase(prefixed, rows.release(), base == 3 ? nullptr : &read));
    EXPECT_EQ(IsOneMerge(*iterator), base == 0);
    iterator->Seek("b");
    EXPECT_EQ(Rest(iterator.get()), "b1=db b2=own b3=db,own b6=own ");
    iterator->SeekForPrev("b9");
    EXPECT_EQ(RestBackwards(iterator.get()), "b6=own b3=db,own b2=own b1=db ");
    iterator->Seek("b3");
    ASSERT_TRUE(iterator->Valid());
    iterator->Prev();
    EXPECT_EQ(Shown(*iterator), "b2=own");
    ASSERT_OK(batch.Merge(prefixed, "b1", "own"));
    ASSERT_OK(batch.Put(prefixed, "b4", "own"));
    iterator->Prev();
    EXPECT_EQ(Shown(*iterator), "b1=db,own");
    EXPECT_EQ(Rest(iterator.get()), "b1=db,own b2=own b3=db,own b4=own b6=own ");
    iterator->SeekToFirst();
    EXPECT_EQ(Rest(iterator.get()), "a1=db,own a2=own ");
    iterator->SeekToLast();
    EXPECT_EQ(RestBackwards(iterator.get()), "c1=db,own c0=own ");
  }
  ASSERT_OK(db_->DestroyColumnFamilyHandle(prefixed));
}

TEST_F(BatchFixture, AFileOfRowsMayBeTheBase) {
  Options options = db_->GetOptions();
  SstFileWriter writer(EnvOptions(), options);
  ASSERT_OK(writer.Open("/rows.sst"));
  ASSERT_OK(writer.PutEntity("a", {{"", "d"}, {"x", "file"}}));
  ASSERT_OK(writer.Merge("b", "file"));
  ASSERT_OK(writer.Put("c", "file"));
  ASSERT_OK(writer.Put("d", "file"));
  ASSERT_OK(writer.Finish());
  SstFileReader reader(options);
  ASSERT_OK(reader.Open("/rows.sst"));
  WriteBatchWithIndex batch;
  ASSERT_OK(batch.Merge("a", "own"));
  ASSERT_OK(batch.Merge("b", "own"));
  ASSERT_OK(batch.Put("bb", "own"));
  ASSERT_OK(batch.Delete("c"));
  ASSERT_OK(batch.Merge("d", "own"));
  const std::unique_ptr<Iterator> iterator(
      batch.NewIteratorWithBase(family_, reader.NewIterator(ReadOptions())));
  EXPECT_TRUE(IsOneMerge(*iterator));
  iterator->SeekToFirst();
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(iterator->columns(), (WideColumns{{"", "d,own"}, {"x", "file"}}));
  EXPECT_EQ(Rest(iterator.get()), "a=d,own b=file,own bb=own d=file,own ");
  iterator->SeekToLast();
  EXPECT_EQ(RestBackwards(iterator.get()), "d=file,own bb=own b=file,own a=d,own ");
}

TEST_F(BatchFixture, ABaseOfNothingIsRefused) {
  WriteBatchWithIndex batch;
  const std::unique_ptr<Iterator> iterator(batch.NewIteratorWithBase(family_, nullptr));
  iterator->SeekToFirst();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_TRUE(iterator->status().IsInvalidArgument());
}

TEST_F(BatchFixture, RefreshShowsTheDatabaseOfNowUnderTheBatch) {
  PutAll({"a"});
  WriteBatchWithIndex batch;
  ASSERT_OK(batch.Put("b", "own"));
  std::unique_ptr<Iterator> iterator(
      batch.NewIteratorWithBase(family_, db_->NewIterator(ReadOptions())));
  PutAll({"c"});
  iterator->SeekToFirst();
  EXPECT_EQ(Rest(iterator.get()), "a=db a b=own ");
  ASSERT_OK(iterator->Refresh());
  EXPECT_FALSE(iterator->Valid());
  iterator->SeekToFirst();
  EXPECT_EQ(Rest(iterator.get()), "a=db a b=own c=db c ");
  iterator.reset(batch.NewIteratorWithBase(
      family_, new PassingIterator(std::unique_ptr<Iterator>(db_->NewIterator(ReadOptions())))));
  EXPECT_TRUE(iterator->Refresh().IsNotSupported());
}

TEST_F(BatchFixture, ATailingBaseShowsNewRowsAtEachSeek) {
  ReadOptions options;
  options.tailing = true;
  WriteBatchWithIndex batch;
  ASSERT_OK(batch.Put("b", "own"));
  const std::unique_ptr<Iterator> iterator(
      batch.NewIteratorWithBase(family_, db_->NewIterator(options)));
  for (const char* key : {"a", "c"}) {
    PutAll({key});
    iterator->SeekToFirst();
    EXPECT_EQ(Shown(*iterator), "a=db a");
  }
  EXPECT_EQ(Rest(iterator.get()), "a=db a b=own c=db c ");
}

TEST_F(BatchFixture, UpdatesOfABatchTeachNobodyThatRowsAreDead) {
  constexpr int kRows = 400;
  for (int i = 0; i < kRows; ++i)
    ASSERT_OK(db_->Put(WriteOptions(), std::to_string(1000 + i), "v"));
  WriteBatchWithIndex batch;
  for (int i = 0; i < kRows; ++i) ASSERT_OK(batch.Delete(std::to_string(1000 + i)));
  std::unique_ptr<Iterator> iterator(
      batch.NewIteratorWithBase(family_, db_->NewIterator(ReadOptions())));
  for (int i = 0; i < 3; ++i) {
    iterator->SeekToFirst();
    EXPECT_FALSE(iterator->Valid());
  }
  iterator.reset(db_->NewIterator(ReadOptions()));
  int rows = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++rows;
  EXPECT_EQ(rows, kRows);
}

TEST_F(BatchFixture, RowsOfABatchAreShownWhereTheDatabaseIsKnownToBeEmpty) {
  constexpr int kRows = 400;
  for (int i = 0; i < kRows; ++i) {
    ASSERT_OK(db_->Put(WriteOptions(), std::to_string(1000 + i), "v"));
    ASSERT_OK(db_->Delete(WriteOptions(), std::to_string(1000 + i)));
  }
  PutAll({"end"});
  for (int i = 0; i < 3; ++i) {  // learns it
    const std::unique_ptr<Iterator> iterator(db_->NewIterator(ReadOptions()));
    iterator->SeekToFirst();
    EXPECT_EQ(Shown(*iterator), "end=db end");
  }
  WriteBatchWithIndex batch;
  ASSERT_OK(batch.Put("1200", "own"));
  const std::unique_ptr<Iterator> iterator(
      batch.NewIteratorWithBase(family_, db_->NewIterator(ReadOptions())));
  iterator->SeekToFirst();
  EXPECT_EQ(Rest(iterator.get()), "1200=own end=db end ");
}

// The first of them make the index and put it in order.
TEST_F(BatchFixture, ReadersOfOneBatchGoSideBySide) {
  constexpr int kKeys = 2000;
  for (int round = 0; round < 10; ++round) {
    WriteBatchWithIndex batch;
    for (int i = 0; i < kKeys; ++i) {
      const std::string key = std::to_string(i * 7 % kKeys);
      ASSERT_OK(batch.Put(key, key));
      if (i % 10 != 0) continue;
      ASSERT_OK(batch.Put(reverse_, key, key));
    }
    const auto read = [&](int thread) {
      const std::string key = std::to_string(thread * 100);
      EXPECT_EQ(FromBatch(&batch, family_, key), key);
      ColumnFamilyHandle* const family = thread % 2 == 0 ? family_ : reverse_;
      const std::unique_ptr<WBWIIterator> iterator(batch.NewIterator(family));
      int count = 0;
      for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++count;
      EXPECT_EQ(count, thread % 2 == 0 ? kKeys : kKeys / 10);
      EXPECT_EQ(batch.GetWBWIOpCount(), kKeys + kKeys / 10);
    };
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) threads.emplace_back(read, thread);
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(BatchFixture, OnlyIteratorsPutKeysInOrder) {
  WriteBatchWithIndex batch;
  ASSERT_OK(batch.Put("a", "own"));
  EXPECT_EQ(FromBatch(&batch, family_, "a"), "own");
  IndexedBatch& indexed = IndexedBatch::Of(&batch);
  EXPECT_FALSE(indexed.IndexedFamily(0)->is_sorted());
  const std::unique_ptr<WBWIIterator> iterator(batch.NewIterator());
  EXPECT_FALSE(indexed.IndexedFamily(0)->is_sorted());
  iterator->SeekToFirst();
  EXPECT_TRUE(indexed.IndexedFamily(0)->is_sorted());
}

}  // namespace
}  // namespace ashlar
