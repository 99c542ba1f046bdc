// SPDX-License-Identifier: Apache-2.0
//
// The index of WriteBatchWithIndex, its statuses and its point reads, row by row.
#include "ashlar/utilities/write_batch_with_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ashlar/attribute_groups.h"
#include "ashlar/wide_columns.h"
#include "db/transaction/indexed_batch/indexed_batch.h"
#include "tests/db/transaction/indexed_batch/batch_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string ShowEntries(WBWIIterator* iterator) {
  std::string text;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    const WriteEntry entry = iterator->Entry();
    text += StrCat(entry.key.ToString(), ":", int{entry.type}, ":", entry.value.ToString(), " ");
  }
  return text;
}
std::string ShowEntries(WriteBatchWithIndex* batch, ColumnFamilyHandle* family = nullptr) {
  return ShowEntries(std::unique_ptr<WBWIIterator>(batch->NewIterator(family)).get());
}

class WriteBatchWithIndexTest : public BatchFixture {
 protected:
  WriteBatchWithIndex batch_{BytewiseComparator(), 0, /*overwrite_key=*/true};
};

TEST_F(WriteBatchWithIndexTest, PutReplacesTheNewestUpdateAndMergeAddsOne) {
  for (const bool overwrites : {false, true}) {
    WriteBatchWithIndex batch(BytewiseComparator(), 0, overwrites);
    ASSERT_OK(batch.Put("k", "1"));
    ASSERT_OK(batch.Put("k", "2"));
    ASSERT_OK(batch.Merge("k", "3"));
    ASSERT_OK(batch.Merge("k", "4"));
    ASSERT_OK(batch.Put("k", "5"));
    EXPECT_EQ(ShowEntries(&batch),
              overwrites ? "k:0:5 k:1:3 k:0:2 " : "k:0:5 k:1:4 k:1:3 k:0:2 k:0:1 ");
    EXPECT_EQ(batch.GetWriteBatch()->Count(), 5u);
    EXPECT_EQ(batch.GetWBWIOpCount(), 5u);
    EXPECT_EQ(batch.GetOverwriteKey(), overwrites);
  }
}

TEST_F(WriteBatchWithIndexTest, SeekFindsTheNewestUpdateAndSeekForPrevTheOldest) {
  ASSERT_OK(batch_.Put("k", "1"));
  ASSERT_OK(batch_.Merge("k", "2"));
  const std::unique_ptr<WBWIIterator> iterator(batch_.NewIterator());
  iterator->Seek("a");
  EXPECT_EQ(iterator->Entry().value, "2");
  iterator->SeekForPrev("z");
  EXPECT_EQ(iterator->Entry().value, "1");
  iterator->Prev();
  EXPECT_EQ(iterator->Entry().value, "2");
  iterator->Prev();
  EXPECT_FALSE(iterator->Valid());
}

TEST_F(WriteBatchWithIndexTest, CountsUpdatesAndReplacedSingleDeletes) {
  ASSERT_OK(batch_.SingleDelete("a"));
  ASSERT_OK(batch_.Put("a", "1"));
  ASSERT_OK(batch_.Put("a", "2"));
  ASSERT_OK(batch_.Merge("a", "3"));
  ASSERT_OK(batch_.Put(reverse_, "b", "1"));
  const std::unique_ptr<WBWIIterator> iterator(batch_.NewIterator());
  iterator->SeekToFirst();
  EXPECT_EQ(iterator->GetUpdateCount(), 4u);
  EXPECT_FALSE(iterator->HasOverWrittenSingleDel());
  iterator->Next();
  EXPECT_EQ(iterator->GetUpdateCount(), 3u);
  EXPECT_TRUE(iterator->HasOverWrittenSingleDel());
  const auto& stats = batch_.GetCFStats();
  EXPECT_EQ(stats.at(0).entry_count, 2u);
  EXPECT_EQ(stats.at(0).overwritten_sd_count, 1u);
  EXPECT_EQ(stats.at(reverse_->GetID()).entry_count, 1u);
  EXPECT_EQ(stats.at(reverse_->GetID()).overwritten_sd_count, 0u);
}

TEST_F(WriteBatchWithIndexTest, ASubBatchEndsBeforeAKeyThatItHas) {
  const auto count = [&] { return IndexedBatch::Of(&batch_).Indexed().sub_batch_count(); };
  EXPECT_EQ(count(), 1u);
  ASSERT_OK(batch_.Put("a", "1"));
  ASSERT_OK(batch_.Put("b", "1"));
  EXPECT_EQ(count(), 1u);
  batch_.SetSavePoint();
  ASSERT_OK(batch_.Put("a", "2"));
  EXPECT_EQ(count(), 2u);
  ASSERT_OK(batch_.Put("b", "2"));
  EXPECT_EQ(count(), 2u);
  ASSERT_OK(batch_.Delete("b"));
  EXPECT_EQ(count(), 3u);
  ASSERT_OK(batch_.RollbackToSavePoint());
  EXPECT_EQ(count(), 1u);
}

TEST_F(WriteBatchWithIndexTest, RefusesWhatAnIndexCannotHold) {
  EXPECT_TRUE(batch_.DeleteRange("a", "b").IsNotSupported());
  EXPECT_TRUE(batch_.DeleteRange(family_, "a", "b").IsNotSupported());
  EXPECT_TRUE(batch_.TimedPut(family_, "a", "b", 1).IsNotSupported());
  EXPECT_TRUE(batch_.Put(family_, "a", "ts", "b").IsNotSupported());
  EXPECT_TRUE(batch_.Merge(family_, "a", "ts", "b").IsNotSupported());
  EXPECT_TRUE(batch_.Delete(family_, "a", "ts").IsNotSupported());
  EXPECT_TRUE(batch_.SingleDelete(family_, "a", "ts").IsNotSupported());
  const AttributeGroups groups{AttributeGroup(family_, {{"x", "y"}})};
  EXPECT_TRUE(batch_.PutEntity("a", groups).IsNotSupported());
  EXPECT_TRUE(batch_.Put(nullptr, "a", "ts", "b").IsInvalidArgument());
  EXPECT_TRUE(batch_.Delete(nullptr, "a", "ts").IsInvalidArgument());
  EXPECT_TRUE(batch_.SingleDelete(nullptr, "a", "ts").IsInvalidArgument());
  EXPECT_TRUE(batch_.PutEntity(nullptr, "a", {{"x", "y"}}).IsInvalidArgument());
  EXPECT_TRUE(batch_.PutEntity("a", AttributeGroups()).IsInvalidArgument());
  EXPECT_EQ(batch_.GetWriteBatch()->Count(), 0u);
  WriteBatchWithIndex with_timestamps(BytewiseComparatorWithU64Ts());
  EXPECT_TRUE(with_timestamps.Put("a", "b").IsNotSupported());
}

TEST_F(WriteBatchWithIndexTest, AnUpdateBeyondMaxBytesChangesNothing) {
  ASSERT_OK(batch_.Put("a", "1"));
  const size_t bytes = batch_.GetDataSize();
  batch_.SetMaxBytes(bytes + 3);
  const Status status = batch_.Put("a", "22");
  EXPECT_TRUE(status.IsAborted());
  EXPECT_EQ(status.subcode(), Status::kMemoryLimit);
  EXPECT_EQ(batch_.GetDataSize(), bytes);
  EXPECT_EQ(ShowEntries(&batch_), "a:0:1 ");
  EXPECT_EQ(batch_.GetWBWIOpCount(), 1u);
}

TEST_F(WriteBatchWithIndexTest, SavePointsAreAStack) {
  EXPECT_TRUE(batch_.RollbackToSavePoint().IsNotFound());
  EXPECT_TRUE(batch_.PopSavePoint().IsNotFound());
  ASSERT_OK(batch_.Put("a", "1"));
  batch_.SetSavePoint();
  ASSERT_OK(batch_.Put("a", "2"));
  ASSERT_OK(batch_.Put("b", "1"));
  batch_.SetSavePoint();
  ASSERT_OK(batch_.Delete("a"));
  EXPECT_EQ(FromBatch(&batch_, family_, "a"), "NotFound: ");
  ASSERT_OK(batch_.RollbackToSavePoint());
  EXPECT_EQ(ShowEntries(&batch_), "a:0:2 b:0:1 ");
  batch_.SetSavePoint();
  ASSERT_OK(batch_.PopSavePoint());
  ASSERT_OK(batch_.RollbackToSavePoint());
  EXPECT_EQ(ShowEntries(&batch_), "a:0:1 ");
  EXPECT_TRUE(batch_.RollbackToSavePoint().IsNotFound());
}

TEST_F(WriteBatchWithIndexTest, WhatIsWrittenToTheBatchItselfIsNotIndexed) {
  ASSERT_OK(batch_.Put("a", "1"));
  ASSERT_OK(batch_.GetWriteBatch()->Put("b", "1"));
  ASSERT_OK(batch_.PutLogData("log"));
  ASSERT_OK(batch_.Put("c", "1"));
  ASSERT_OK(batch_.GetWriteBatch()->Delete("a"));
  EXPECT_EQ(ShowEntries(&batch_), "a:0:1 c:0:1 ");
  EXPECT_EQ(batch_.GetWBWIOpCount(), 2u);
  EXPECT_EQ(batch_.GetWriteBatch()->Count(), 4u);
}

TEST_F(WriteBatchWithIndexTest, FamiliesHaveTheirOwnKeysAndOrders) {
  ASSERT_OK(batch_.Put("b", "0"));
  ASSERT_OK(batch_.Put(family_, "a", "0"));
  ASSERT_OK(batch_.Put(reverse_, "a", "1"));
  ASSERT_OK(batch_.Put(reverse_, "b", "1"));
  EXPECT_EQ(ShowEntries(&batch_), "a:0:0 b:0:0 ");
  EXPECT_EQ(ShowEntries(&batch_, family_), "a:0:0 b:0:0 ");
  EXPECT_EQ(ShowEntries(&batch_, reverse_), "b:0:1 a:0:1 ");
  EXPECT_EQ(ShowEntries(&batch_, plain_), "");
}

TEST_F(WriteBatchWithIndexTest, AHandlesComparatorCountsAlsoForWhatCameWithoutIt) {
  WriteBatchWithIndex batch(ReverseBytewiseComparator());
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(batch.Put("b", "1"));
  EXPECT_EQ(ShowEntries(&batch), "b:0:1 a:0:1 ");
  ASSERT_OK(batch.Put(family_, "c", "1"));
  EXPECT_EQ(ShowEntries(&batch), "a:0:1 b:0:1 c:0:1 ");
}

TEST_F(WriteBatchWithIndexTest, AMovedBatchKeepsItsUpdates) {
  ASSERT_OK(batch_.Put("a", "1"));
  WriteBatchWithIndex moved(std::move(batch_));
  EXPECT_EQ(FromBatch(&moved, family_, "a"), "1");
  WriteBatchWithIndex assigned;
  ASSERT_OK(assigned.Put("b", "1"));
  assigned = std::move(moved);
  EXPECT_EQ(ShowEntries(&assigned), "a:0:1 ");
}

TEST_F(WriteBatchWithIndexTest, ReadsFromTheBatchAlone) {
  ASSERT_OK(batch_.Put(family_, "value", "v"));
  ASSERT_OK(batch_.Delete(family_, "deleted"));
  ASSERT_OK(batch_.SingleDelete(family_, "single"));
  ASSERT_OK(batch_.PutEntity(family_, "entity", {{"", "default"}, {"x", "y"}}));
  ASSERT_OK(batch_.PutEntity(family_, "no default", {{"x", "y"}}));
  ASSERT_OK(batch_.Put(family_, "on value", "v"));
  ASSERT_OK(batch_.Delete(family_, "on deleted"));
  ASSERT_OK(batch_.PutEntity(family_, "on entity", {{"", "default"}, {"x", "y"}}));
  for (const char* key : {"on value", "on deleted", "on entity", "alone"}) {
    ASSERT_OK(batch_.Merge(family_, key, "1"));
    ASSERT_OK(batch_.Merge(family_, key, "2"));
  }
  EXPECT_EQ(FromBatch(&batch_, family_, "value"), "v");
  EXPECT_EQ(FromBatch(&batch_, family_, "deleted"), "NotFound: ");
  EXPECT_EQ(FromBatch(&batch_, family_, "single"), "NotFound: ");
  EXPECT_EQ(FromBatch(&batch_, family_, "nothing"), "NotFound: ");
  EXPECT_EQ(FromBatch(&batch_, family_, "entity"), "default");
  EXPECT_EQ(FromBatch(&batch_, family_, "no default"), "");
  EXPECT_EQ(FromBatch(&batch_, family_, "on value"), "v,1,2");
  EXPECT_EQ(FromBatch(&batch_, family_, "on deleted"), "1,2");
  EXPECT_EQ(FromBatch(&batch_, family_, "on entity"), "default,1,2");
  std::string value;
  EXPECT_TRUE(batch_.GetFromBatch(family_, DBOptions(), "alone", &value).IsMergeInProgress());
  EXPECT_TRUE(batch_.GetFromBatch(DBOptions(), "alone", &value).IsMergeInProgress());
  EXPECT_TRUE(batch_.GetFromBatch(DBOptions(), "on value", &value).IsInvalidArgument());
  EXPECT_TRUE(batch_.GetFromBatch(DBOptions(), "on deleted", &value).IsInvalidArgument());
  ASSERT_OK(batch_.GetFromBatch(DBOptions(), "value", &value));
}

TEST_F(WriteBatchWithIndexTest, OperandsWithoutAnOperatorFailWhenTheyAreMerged) {
  ASSERT_OK(db_->Put(WriteOptions(), plain_, "in database", "v"));
  ASSERT_OK(batch_.Merge(plain_, "alone", "1"));
  ASSERT_OK(batch_.Merge(plain_, "in database", "1"));
  ASSERT_OK(batch_.Put(plain_, "on value", "v"));
  ASSERT_OK(batch_.Merge(plain_, "on value", "1"));
  std::string value;
  EXPECT_TRUE(batch_.GetFromBatch(plain_, DBOptions(), "alone", &value).IsMergeInProgress());
  EXPECT_TRUE(batch_.GetFromBatch(plain_, DBOptions(), "on value", &value).IsInvalidArgument());
  for (const char* key : {"alone", "in database", "on value"}) {
    const Status status = batch_.GetFromBatchAndDB(db_.get(), ReadOptions(), plain_, key, &value);
    EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  }
}

TEST_F(WriteBatchWithIndexTest, ReadsOverTheDatabase) {
  PutAll({"db", "deleted", "merged", "replaced"});
  ASSERT_OK(db_->PutEntity(WriteOptions(), family_, "entity", {{"", "e"}, {"x", "y"}}));
  ASSERT_OK(batch_.Delete("deleted"));
  ASSERT_OK(batch_.Put("replaced", "own"));
  for (const char* key : {"merged", "absent", "entity"}) ASSERT_OK(batch_.Merge(key, "1"));
  EXPECT_EQ(FromBoth(&batch_, family_, "db"), "db db");
  EXPECT_EQ(FromBoth(&batch_, family_, "nowhere"), "NotFound: ");
  EXPECT_EQ(FromBoth(&batch_, family_, "deleted"), "NotFound: ");
  EXPECT_EQ(FromBoth(&batch_, family_, "replaced"), "own");
  EXPECT_EQ(FromBoth(&batch_, family_, "merged"), "db merged,1");
  EXPECT_EQ(FromBoth(&batch_, family_, "absent"), "1");
  EXPECT_EQ(FromBoth(&batch_, family_, "entity"), "e,1");
  EXPECT_EQ(FromBoth(&batch_, nullptr, "merged"), "db merged,1");
  std::string value;
  ASSERT_OK(batch_.GetFromBatchAndDB(db_.get(), ReadOptions(), "merged", &value));
  EXPECT_EQ(value, "db merged,1");
  PinnableSlice pinned;
  ASSERT_OK(batch_.GetFromBatchAndDB(db_.get(), ReadOptions(), "db", &pinned));
  EXPECT_EQ(pinned, "db db");
}

TEST_F(WriteBatchWithIndexTest, ASnapshotIsOfTheDatabaseAlone) {
  PutAll({"a"});
  const Snapshot* const snapshot = db_->GetSnapshot();
  ReadOptions options;
  options.snapshot = snapshot;
  ASSERT_OK(db_->Put(WriteOptions(), "a", "later"));
  ASSERT_OK(batch_.Put("b", "own"));
  ASSERT_OK(batch_.Merge("a", "1"));
  EXPECT_EQ(FromBoth(&batch_, family_, "a", options), "db a,1");
  EXPECT_EQ(FromBoth(&batch_, family_, "b", options), "own");
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(WriteBatchWithIndexTest, AReturnedValueOutlivesTheBatch) {
  PinnableSlice value;
  {
    WriteBatchWithIndex batch;
    ASSERT_OK(batch.Put("a", std::string(1000, 'x')));
    ASSERT_OK(batch.GetFromBatchAndDB(db_.get(), ReadOptions(), "a", &value));
  }
  EXPECT_EQ(value, std::string(1000, 'x'));
}

TEST_F(WriteBatchWithIndexTest, EntityReadsShowColumns) {
  ASSERT_OK(batch_.Put(family_, "value", "v"));
  ASSERT_OK(batch_.PutEntity(family_, "entity", {{"x", "y"}, {"", "default"}}));
  ASSERT_OK(batch_.Merge(family_, "entity", "1"));
  ASSERT_OK(batch_.Merge(family_, "alone", "1"));
  ASSERT_OK(batch_.Delete(family_, "deleted"));
  ASSERT_OK(db_->PutEntity(WriteOptions(), family_, "alone", {{"a", "b"}}));
  PinnableWideColumns columns;
  ASSERT_OK(batch_.GetEntityFromBatch(family_, "value", &columns));
  EXPECT_EQ(columns.columns(), (WideColumns{{"", "v"}}));
  ASSERT_OK(batch_.GetEntityFromBatch(family_, "entity", &columns));
  EXPECT_EQ(columns.columns(), (WideColumns{{"", "default,1"}, {"x", "y"}}));
  EXPECT_TRUE(batch_.GetEntityFromBatch(family_, "alone", &columns).IsMergeInProgress());
  EXPECT_TRUE(batch_.GetEntityFromBatch(family_, "deleted", &columns).IsNotFound());
  ASSERT_OK(batch_.GetEntityFromBatchAndDB(db_.get(), ReadOptions(), family_, "alone", &columns));
  EXPECT_EQ(columns.columns(), (WideColumns{{"", "1"}, {"a", "b"}}));
}

TEST_F(WriteBatchWithIndexTest, EntityReadsNeedTheirArguments) {
  PinnableWideColumns columns;
  Status status;
  const Slice key("k");
  const ReadOptions options;
  EXPECT_TRUE(batch_.GetEntityFromBatch(nullptr, key, &columns).IsInvalidArgument());
  EXPECT_TRUE(batch_.GetEntityFromBatch(family_, key, nullptr).IsInvalidArgument());
  DB* const db = db_.get();
  EXPECT_TRUE(
      batch_.GetEntityFromBatchAndDB(nullptr, options, family_, key, &columns).IsInvalidArgument());
  EXPECT_TRUE(
      batch_.GetEntityFromBatchAndDB(db, options, nullptr, key, &columns).IsInvalidArgument());
  EXPECT_TRUE(
      batch_.GetEntityFromBatchAndDB(db, options, family_, key, nullptr).IsInvalidArgument());
  batch_.MultiGetEntityFromBatchAndDB(nullptr, options, family_, 1, &key, &columns, &status, true);
  EXPECT_TRUE(status.IsInvalidArgument());
  batch_.MultiGetEntityFromBatchAndDB(db, options, nullptr, 1, &key, &columns, &status, true);
  EXPECT_TRUE(status.IsInvalidArgument());
  batch_.MultiGetEntityFromBatchAndDB(db, options, family_, 1, nullptr, &columns, &status, true);
  EXPECT_TRUE(status.IsInvalidArgument());
  batch_.MultiGetEntityFromBatchAndDB(db, options, family_, 1, &key, nullptr, &status, true);
  EXPECT_TRUE(status.IsInvalidArgument());
}

TEST_F(WriteBatchWithIndexTest, ManyReadsAnswerWhatSingleOnesAnswer) {
  PutAll({"a", "c", "d", "e"});
  ASSERT_OK(batch_.Put("b", "own"));
  ASSERT_OK(batch_.Delete("c"));
  ASSERT_OK(batch_.Merge("d", "1"));
  ASSERT_OK(batch_.Merge("f", "1"));
  const std::vector<Slice> keys = {"a", "b", "c", "d", "e", "f", "g"};
  for (const size_t count : {keys.size(), size_t{1}}) {  // one key: all are the database's
    std::vector<PinnableSlice> values(count);
    std::vector<Status> statuses(count);
    batch_.MultiGetFromBatchAndDB(db_.get(), ReadOptions(), family_, count, keys.data(),
                                  values.data(), statuses.data(), /*sorted_input=*/true);
    for (size_t i = 0; i < count; ++i) {
      const std::string found = statuses[i].ok() ? values[i].ToString() : statuses[i].ToString();
      EXPECT_EQ(found, FromBoth(&batch_, family_, keys[i].ToString()));
    }
  }
}

TEST_F(WriteBatchWithIndexTest, AnActivityOfAnotherCallIsRefused) {
  std::string value;
  PinnableSlice pinned;
  PinnableWideColumns columns;
  Status status;
  const Slice key("k");
  DB* const db = db_.get();
  ReadOptions options(Env::IOActivity::kCompaction);
  EXPECT_TRUE(batch_.GetFromBatchAndDB(db, options, key, &value).IsInvalidArgument());
  EXPECT_TRUE(
      batch_.GetEntityFromBatchAndDB(db, options, family_, key, &columns).IsInvalidArgument());
  batch_.MultiGetFromBatchAndDB(db, options, family_, 1, &key, &pinned, &status, true);
  EXPECT_TRUE(status.IsInvalidArgument());
  batch_.MultiGetEntityFromBatchAndDB(db, options, family_, 1, &key, &columns, &status, true);
  EXPECT_TRUE(status.IsInvalidArgument());
  options.io_activity = Env::IOActivity::kGet;
  EXPECT_TRUE(batch_.GetFromBatchAndDB(db, options, key, &value).IsNotFound());
}

TEST_F(WriteBatchWithIndexTest, ItIsWrittenLikeAnyBatch) {
  ASSERT_OK(batch_.Put("a", "1"));
  ASSERT_OK(batch_.Put("a", "2"));
  ASSERT_OK(batch_.Merge("b", "1"));
  ASSERT_OK(batch_.Put(reverse_, "a", "3"));
  ASSERT_OK(db_->Write(WriteOptions(), batch_.GetWriteBatch()));
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), "a", &value));
  EXPECT_EQ(value, "2");
  ASSERT_OK(db_->Get(ReadOptions(), "b", &value));
  EXPECT_EQ(value, "1");
  ASSERT_OK(db_->Get(ReadOptions(), reverse_, "a", &value));
  EXPECT_EQ(value, "3");
}

TEST_F(WriteBatchWithIndexTest, IngestionWritesItWithoutTheLog) {
  auto batch = std::make_shared<WriteBatchWithIndex>(BytewiseComparator(), 0, true);
  ASSERT_OK(batch->SingleDelete("a"));
  ASSERT_OK(batch->Put("a", "1"));
  ASSERT_OK(batch->Put(reverse_, "a", "2"));
  ASSERT_OK(batch->Merge("b", "3"));
  WriteOptions options;
  EXPECT_TRUE(db_->IngestWriteBatchWithIndex(options, batch).IsNotSupported());
  options.disableWAL = true;
  EXPECT_TRUE(db_->IngestWriteBatchWithIndex(options, nullptr).IsInvalidArgument());
  const auto keeps_all = std::make_shared<WriteBatchWithIndex>();
  EXPECT_TRUE(db_->IngestWriteBatchWithIndex(options, keeps_all).IsNotSupported());
  const SequenceNumber before = db_->GetLatestSequenceNumber();
  ASSERT_OK(db_->IngestWriteBatchWithIndex(options, batch));
  EXPECT_EQ(db_->GetLatestSequenceNumber(), before + 4);
  EXPECT_EQ(FromBoth(&batch_, family_, "a"), "1");
  EXPECT_EQ(FromBoth(&batch_, family_, "b"), "3");
  EXPECT_EQ(FromBoth(&batch_, reverse_, "a"), "2");
  ASSERT_OK(batch->GetWriteBatch()->Put("c", "not indexed"));
  EXPECT_TRUE(db_->IngestWriteBatchWithIndex(options, batch).IsNotSupported());
}

TEST_F(WriteBatchWithIndexTest, ProtectionIsThatOfTheBatch) {
  WriteBatchWithIndex batch(BytewiseComparator(), 0, true, 0, /*protection_bytes_per_key=*/8);
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(batch.Merge("a", "2"));
  EXPECT_EQ(batch.GetWriteBatch()->GetProtectionBytesPerKey(), 8u);
  EXPECT_OK(batch.GetWriteBatch()->VerifyChecksum());
}

}  // namespace
}  // namespace ashlar
