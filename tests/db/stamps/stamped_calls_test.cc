// SPDX-License-Identifier: Apache-2.0
//
// Calls of a family with timestamps: what they return, and what they refuse.
#include <functional>

#include "ashlar/merge_operator.h"
#include "ashlar/table_properties.h"
#include "ashlar/utilities/write_batch_with_index.h"
#include "db/write/write_batch_internal.h"
#include "tests/db/stamps/stamped_db.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

class StampedCallsTest : public StampedTest {
 protected:
  StampedCallsTest() { Open({"default", "other"}); }
  void Open(const std::vector<std::string>& names) { DbTest::Open(names); }
};

TEST_F(StampedCallsTest, ReadsFindTheNewestVersionUpToTheirTimestamp) {
  PutAt("a", 1, "a1");
  PutAt("a", 3, "a3");
  PutAt("b", 2, "b2");
  for (int flushed = 0; flushed < 2; flushed++) {
    EXPECT_EQ(GetAt("a", 0), "-");
    EXPECT_EQ(GetAt("a", 1), "a1");
    EXPECT_EQ(GetAt("a", 2), "a1");
    EXPECT_EQ(GetAt("a", 3), "a3");
    EXPECT_EQ(GetAt("a", UINT64_MAX), "a3");
    EXPECT_EQ(ScanAt(1), "a=a1@1");
    EXPECT_EQ(ScanAt(2), "a=a1@1 b=b2@2");
    EXPECT_EQ(ScanAt(9), "a=a3@3 b=b2@2");
    EXPECT_EQ(ScanAt(9, /*is_forward=*/false), "b=b2@2 a=a3@3");
    Flush();
  }
}

TEST_F(StampedCallsTest, TimestampOfTheVersionFoundIsReturnedAlsoOfATombstone) {
  PutAt("a", 1, "a1");
  DeleteAt("a", 4);
  const ReadAt early(3), late(9);
  std::string value, ts;
  ASSERT_OK(db_->Get(early.options, "a", &value, &ts));
  EXPECT_EQ(NumberOf(ts), 1u);
  EXPECT_TRUE(db_->Get(late.options, "a", &value, &ts).IsNotFound());
  EXPECT_EQ(NumberOf(ts), 4u);
  EXPECT_TRUE(db_->Get(late.options, "b", &value, &ts).IsNotFound());
  EXPECT_EQ(ts, "");
}

TEST_F(StampedCallsTest, ReadsWithoutAValidTimestampAreRefused) {
  PutAt("a", 1, "a1");
  std::string value;
  EXPECT_TRUE(db_->Get(ReadOptions(), "a", &value).IsInvalidArgument());
  ReadOptions read;
  const Slice odd("1234");
  read.timestamp = &odd;
  EXPECT_TRUE(db_->Get(read, "a", &value).IsInvalidArgument());
  std::unique_ptr<Iterator> it(db_->NewIterator(read));
  EXPECT_TRUE(it->status().IsInvalidArgument());
  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), {"a", "b"}, &values);
  EXPECT_TRUE(statuses[0].IsInvalidArgument());
  EXPECT_TRUE(statuses[1].IsInvalidArgument());
}

TEST_F(StampedCallsTest, WritesWithoutATimestampOrOfAnotherSizeAreRefused) {
  const WriteOptions write;
  EXPECT_TRUE(db_->Put(write, "a", "v").IsInvalidArgument());
  EXPECT_TRUE(db_->Delete(write, "a").IsInvalidArgument());
  EXPECT_TRUE(db_->SingleDelete(write, "a").IsInvalidArgument());
  EXPECT_TRUE(db_->DeleteRange(write, db_->DefaultColumnFamily(), "a", "b").IsInvalidArgument());
  EXPECT_TRUE(db_->Put(write, "a", "odd", "v").IsInvalidArgument());
  EXPECT_TRUE(
      db_->PutEntity(write, db_->DefaultColumnFamily(), "a", {{"", "v"}}).IsInvalidArgument());
  EXPECT_EQ(ScanAt(9), "");
}

TEST_F(StampedCallsTest, TimestampsInAPlainFamilyAreRefused) {
  Options plain = options_;
  plain.comparator = BytewiseComparator();
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(plain, "plain", &handle));
  EXPECT_TRUE(db_->Put(WriteOptions(), handle, "a", Stamp(1), "v").IsInvalidArgument());
  ASSERT_OK(db_->Put(WriteOptions(), handle, "a", "v"));
  const ReadAt read(5);
  std::string value;
  EXPECT_TRUE(db_->Get(read.options, handle, "a", &value).IsInvalidArgument());
  ASSERT_OK(db_->Get(ReadOptions(), handle, "a", &value));
  EXPECT_TRUE(db_->IncreaseFullHistoryTsLow(handle, Stamp(1)).IsInvalidArgument());
  ASSERT_OK(db_->DestroyColumnFamilyHandle(handle));
}

TEST_F(StampedCallsTest, PlaceholdersMustBeReplacedBeforeTheWrite) {
  WriteBatch batch(0, 0, 0, 8);
  ASSERT_OK(batch.Put("a", "v"));
  ASSERT_OK(batch.DeleteRange("b", "c"));
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
  ASSERT_OK(batch.UpdateTimestamps(Stamp(7), [](uint32_t) { return size_t{8}; }));
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(GetAt("a", 6), "-");
  EXPECT_EQ(GetAt("a", 7), "v");
}

// A point from before they were replaced does not bring them back.
TEST_F(StampedCallsTest, PlaceholdersStayReplacedAfterARollback) {
  const auto ts_bytes = [](uint32_t) { return size_t{8}; };
  WriteBatch batch(0, 0, 0, 8);
  ASSERT_OK(batch.Put("a", "v"));
  batch.SetSavePoint();
  ASSERT_OK(batch.Put("b", "v"));
  ASSERT_OK(batch.UpdateTimestamps(Stamp(7), ts_bytes));
  ASSERT_OK(batch.RollbackToSavePoint());
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  WriteBatch marked(0, 0, 0, 8), logged(0, 0, 0, 8);
  ASSERT_OK(marked.Put("c", "v"));
  marked.MarkWalTerminationPoint();
  ASSERT_OK(marked.UpdateTimestamps(Stamp(8), ts_bytes));
  ASSERT_OK(WriteBatchInternal::Append(&logged, marked, /*wal_only=*/true));
  ASSERT_OK(db_->Write(WriteOptions(), &logged));
  EXPECT_EQ(ScanAt(9), "a=v@7 c=v@8");
}

// The batch is written without the record of the dropped family, as a copy.
TEST_F(StampedCallsTest, PlaceholdersAreSeenBesideRecordsOfAFamilyThatIsGone) {
  ASSERT_OK(db_->DropColumnFamily(handles_[1]));
  WriteBatch batch;
  ASSERT_OK(batch.Put(handles_[1], "dropped", Stamp(1), "v"));
  ASSERT_OK(batch.Put(db_->DefaultColumnFamily(), "a", "v"));
  WriteOptions ignoring;
  ignoring.ignore_missing_column_families = true;
  EXPECT_TRUE(db_->Write(ignoring, &batch).IsInvalidArgument());
  EXPECT_EQ(ScanAt(9), "");
  ASSERT_OK(batch.UpdateTimestamps(Stamp(7), [](uint32_t) { return size_t{8}; }));
  ASSERT_OK(db_->Write(ignoring, &batch));
  EXPECT_EQ(ScanAt(9), "a=v@7");
}

TEST_F(StampedCallsTest, BatchThatKnowsNoTimestampsIsRefusedAndLeavesNothing) {
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "v"));
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
  PutAt("b", 1, "b1");
  Reopen();
  EXPECT_EQ(ScanAt(9), "b=b1@1");
}

TEST_F(StampedCallsTest, RangeTombstoneHidesOlderWritesFromReadersThatSeeIt) {
  PutAt("a", 1, "a1");
  PutAt("b", 2, "b2");
  DeleteRangeAt("a", "c", 5);
  PutAt("b", 7, "b7");
  PutAt("c", 7, "c7");
  for (int flushed = 0; flushed < 2; flushed++) {
    EXPECT_EQ(ScanAt(4), "a=a1@1 b=b2@2");
    EXPECT_EQ(ScanAt(5), "");
    EXPECT_EQ(ScanAt(7), "b=b7@7 c=c7@7");
    EXPECT_EQ(GetAt("a", 4), "a1");
    EXPECT_EQ(GetAt("a", 5), "-");
    EXPECT_EQ(GetAt("b", 6), "-");
    EXPECT_EQ(ScanAt(7, /*is_forward=*/false), "c=c7@7 b=b7@7");
    Flush();
  }
}

TEST_F(StampedCallsTest, BoundsAndPrefixesAreKeysWithoutTimestamps) {
  for (const char* key : {"a", "b", "c", "d"}) PutAt(key, 1, key);
  ReadAt read(5);
  const Slice lower("b"), upper("d");
  read.options.iterate_lower_bound = &lower;
  read.options.iterate_upper_bound = &upper;
  EXPECT_EQ(ScanAt(read.options), "b=b@1 c=c@1");
  EXPECT_EQ(ScanAt(read.options, /*is_forward=*/false), "c=c@1 b=b@1");
  const std::unique_ptr<Iterator> it(db_->NewIterator(read.options));
  it->Seek("a");
  EXPECT_EQ(Shown(it.get()), "b=b@1");
  it->Prev();
  EXPECT_FALSE(it->Valid());
  it->SeekForPrev("z");
  EXPECT_EQ(Shown(it.get()), "c=c@1");
  it->Next();
  EXPECT_FALSE(it->Valid());
}

TEST_F(StampedCallsTest, PointReadsIgnoreBoundsAndStarts) {
  PutAt("c", 1, "c1");
  ReadAt read(1, 5);
  const Slice bound("b");
  read.options.iterate_upper_bound = &bound;
  std::string value;
  ASSERT_OK(db_->Get(read.options, "c", &value));
  EXPECT_EQ(value, "c1");
}

// As in families without timestamps.
TEST_F(StampedCallsTest, PointReadsIgnoreTheFilterOfTables) {
  PutAt("a", 1, "a1");
  Flush();
  ReadAt read(5);
  const std::function<bool(const TableProperties&)> none = [](const TableProperties&) {
    return false;
  };
  read.options.table_filter = &none;
  EXPECT_EQ(ScanAt(read.options), "");
  std::string value;
  ASSERT_OK(db_->Get(read.options, "a", &value));
  EXPECT_EQ(value, "a1");
  std::vector<std::string> values;
  ASSERT_OK(db_->MultiGet(read.options, {"a"}, &values)[0]);
  EXPECT_EQ(values[0], "a1");
}

TEST_F(StampedCallsTest, MovesMayChangeTheirDirectionAtEveryKey) {
  for (const char* key : {"a", "b", "c"}) {
    for (uint64_t ts = 1; ts < 20; ts++) PutAt(key, ts, std::to_string(ts));
  }
  const ReadAt read(7);
  const std::unique_ptr<Iterator> it(db_->NewIterator(read.options));
  it->Seek("b");
  EXPECT_EQ(Shown(it.get()), "b=7@7");
  it->Prev();
  EXPECT_EQ(Shown(it.get()), "a=7@7");
  it->Next();
  EXPECT_EQ(Shown(it.get()), "b=7@7");
  it->Next();
  EXPECT_EQ(Shown(it.get()), "c=7@7");
  it->Prev();
  EXPECT_EQ(Shown(it.get()), "b=7@7");
  it->SeekForPrev("bb");
  EXPECT_EQ(Shown(it.get()), "b=7@7");
}

// "key@timestamp/kind" of each version.
std::string Versions(Iterator* it, bool is_forward) {
  std::string text;
  is_forward ? it->SeekToFirst() : it->SeekToLast();
  for (; it->Valid(); is_forward ? it->Next() : it->Prev()) {
    const Slice stored = ExtractUserKey(it->key());
    text += (text.empty() ? "" : " ") + Slice(stored.data(), stored.size() - 8).ToString() + "@" +
            std::to_string(NumberOf(it->timestamp())) + "/" +
            std::to_string(TrailerType(ExtractTrailer(it->key()))) + "=" + it->value().ToString();
  }
  EXPECT_OK(it->status());
  return text;
}

TEST_F(StampedCallsTest, IteratorWithAStartShowsEveryVersionAndTombstone) {
  PutAt("a", 1, "a1");
  PutAt("a", 3, "a3");
  DeleteAt("a", 5);
  PutAt("b", 2, "b2");
  PutAt("b", 8, "b8");
  PutAt("a", 3, "a3again");
  for (int flushed = 0; flushed < 2; flushed++) {
    const ReadAt read(2, 7);
    const std::unique_ptr<Iterator> it(db_->NewIterator(read.options));
    EXPECT_EQ(Versions(it.get(), true), "a@5/20= a@3/1=a3again b@2/1=b2");
    EXPECT_EQ(Versions(it.get(), false), "b@2/1=b2 a@3/1=a3again a@5/20=");
    Flush();
  }
}

TEST_F(StampedCallsTest, VersionsUnderAVisibleRangeTombstoneDoNotComeEvenWithAStart) {
  PutAt("a", 1, "a1");
  PutAt("b", 3, "b3");
  DeleteRangeAt("a", "c", 8);
  PutAt("c", 9, "c9");
  const ReadAt before(1, 7), behind(1, 9);
  std::unique_ptr<Iterator> it(db_->NewIterator(before.options));
  EXPECT_EQ(Versions(it.get(), true), "a@1/1=a1 b@3/1=b3");
  it.reset(db_->NewIterator(behind.options));
  EXPECT_EQ(Versions(it.get(), true), "c@9/1=c9");
}

TEST_F(StampedCallsTest, TimestampsAndBoundsMayBeFreedWhenTheIteratorExists) {
  PutAt("a", 1, "a1");
  PutAt("b", 1, "b1");
  std::unique_ptr<Iterator> it;
  {
    auto bound = std::make_unique<std::string>("b");
    auto slice = std::make_unique<Slice>(*bound);
    auto read = std::make_unique<ReadAt>(5);
    read->options.iterate_upper_bound = slice.get();
    it.reset(db_->NewIterator(read->options));
    bound->assign("z");
  }
  it->SeekToFirst();
  EXPECT_EQ(Shown(it.get()), "a=a1@1");
  it->Next();
  EXPECT_FALSE(it->Valid());
  ASSERT_OK(it->Refresh());
  it->SeekToFirst();
  EXPECT_EQ(Shown(it.get()), "a=a1@1");
}

TEST_F(StampedCallsTest, PinnedSlicesOutliveTheMoves) {
  for (uint64_t ts = 1; ts <= 3; ts++) {
    for (const char* key : {"a", "b", "c", "d"}) PutAt(key, ts, key + std::to_string(ts));
    if (ts == 2) Flush();
  }
  ReadAt read(3), versions(1, 3);
  read.options.pin_data = versions.options.pin_data = true;
  std::vector<Iterator*> iterators;
  ASSERT_OK(db_->NewIterators(read.options, {db_->DefaultColumnFamily()}, &iterators));
  iterators.push_back(db_->NewIterator(read.options));
  iterators.push_back(db_->NewIterator(versions.options));
  for (Iterator* raw : iterators) {
    const std::unique_ptr<Iterator> it(raw);
    std::vector<Slice> slices;
    std::vector<std::string> copies;
    const auto note = [&] {
      std::string is_pinned;
      ASSERT_OK(it->GetProperty("rocksdb.iterator.is-key-pinned", &is_pinned));
      EXPECT_EQ(is_pinned, "1");
      for (const Slice& slice : {it->key(), it->value(), it->timestamp()}) {
        slices.push_back(slice);
        copies.push_back(slice.ToString());
      }
      EXPECT_GE(NumberOf(it->timestamp()), 1u);
      EXPECT_LE(NumberOf(it->timestamp()), 3u);
    };
    for (it->SeekToFirst(); it->Valid(); it->Next()) note();
    for (it->SeekToLast(); it->Valid(); it->Prev()) note();
    ASSERT_OK(it->status());
    EXPECT_GE(slices.size(), 2u * 4 * 3);
    for (size_t i = 0; i < slices.size(); i++) EXPECT_EQ(slices[i], copies[i]) << i;
  }
}

TEST_F(StampedCallsTest, MultiGetReturnsValuesAndTimestamps) {
  PutAt("a", 1, "a1");
  PutAt("b", 2, "b2");
  PutAt("b", 9, "b9");
  const ReadAt read(5);
  std::vector<std::string> values, stamps;
  const std::vector<Status> statuses =
      db_->MultiGet(read.options, {"b", "x", "a"}, &values, &stamps);
  ASSERT_OK(statuses[0]);
  EXPECT_TRUE(statuses[1].IsNotFound());
  ASSERT_OK(statuses[2]);
  EXPECT_EQ(values[0] + values[2], "b2a1");
  EXPECT_EQ(NumberOf(stamps[0]), 2u);
  EXPECT_EQ(NumberOf(stamps[2]), 1u);
}

TEST_F(StampedCallsTest, MultiGetEndsAtTheLimitOfItsValues) {
  for (const char* key : {"a", "b", "c", "d"}) PutAt(key, 1, std::string(100, 'v'));
  for (int flushed = 0; flushed < 2; flushed++) {
    ReadAt read(5);
    read.options.value_size_soft_limit = 150;
    std::vector<std::string> values;
    const std::vector<Status> statuses =
        db_->MultiGet(read.options, {"a", "x", "b", "c", "d"}, &values);
    EXPECT_OK(statuses[0]);
    EXPECT_TRUE(statuses[1].IsNotFound());
    EXPECT_OK(statuses[2]);
    EXPECT_TRUE(statuses[3].IsAborted()) << statuses[3].ToString();
    EXPECT_TRUE(statuses[4].IsAborted()) << statuses[4].ToString();
    EXPECT_EQ(values[3] + values[4], "");
    Flush();
  }
}

TEST_F(StampedCallsTest, LimitOfHistoryOnlyRisesAndSurvivesAReopening) {
  PutAt("a", 1, "a1");
  std::string low;
  ASSERT_OK(db_->GetFullHistoryTsLow(nullptr, &low));
  EXPECT_EQ(low, "");
  RaiseLow(5);
  RaiseLow(5);
  EXPECT_TRUE(db_->IncreaseFullHistoryTsLow(nullptr, Stamp(4)).IsInvalidArgument());
  EXPECT_TRUE(db_->IncreaseFullHistoryTsLow(nullptr, "odd").IsInvalidArgument());
  for (int reopened = 0; reopened < 2; reopened++) {
    ASSERT_OK(db_->GetFullHistoryTsLow(nullptr, &low));
    EXPECT_EQ(NumberOf(low), 5u);
    EXPECT_NE(GetAt("a", 4).find("Invalid argument"), std::string::npos);
    EXPECT_EQ(GetAt("a", 5), "a1");
    const ReadAt read(4);
    const std::unique_ptr<Iterator> it(db_->NewIterator(read.options));
    EXPECT_TRUE(it->status().IsInvalidArgument());
    Reopen();
  }
}

TEST_F(StampedCallsTest, CompactRangeRaisesTheLimitUnlessItHasARange) {
  PutAt("a", 1, "a1");
  const std::string low = Stamp(3);
  const Slice low_slice = low, begin = "a";
  CompactRangeOptions compact;
  compact.full_history_ts_low = &low_slice;
  EXPECT_TRUE(db_->CompactRange(compact, &begin, nullptr).IsInvalidArgument());
  ASSERT_OK(db_->CompactRange(compact, nullptr, nullptr));
  std::string found;
  ASSERT_OK(db_->GetFullHistoryTsLow(nullptr, &found));
  EXPECT_EQ(found, low);
}

TEST_F(StampedCallsTest, CallsThatAreNotBuiltSaySo) {
  std::string newest;
  EXPECT_TRUE(
      db_->GetNewestUserDefinedTimestamp(db_->DefaultColumnFamily(), &newest).IsNotSupported());
}

TEST(StampedOptions, ThatCannotBeCombinedWithTimestampsAreRefused) {
  TestDb db;
  db.options().comparator = BytewiseComparatorWithU64Ts();
  db.options().persist_user_defined_timestamps = false;
  EXPECT_TRUE(db.TryOpen().IsNotSupported());
  db.options().persist_user_defined_timestamps = true;
  db.options().inplace_update_support = true;
  db.options().allow_concurrent_memtable_write = false;
  EXPECT_TRUE(db.TryOpen().IsInvalidArgument());
}

}  // namespace
}  // namespace ashlar
