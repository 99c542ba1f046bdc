// SPDX-License-Identifier: Apache-2.0
//
// Random programs over a batch with an index and a database below it, against BatchModel: writes of
// all kinds, savepoints, all reads, and iterators of both kinds that live while batch and database
// are written to.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "db/transaction/indexed_batch/indexed_batch.h"
#include "tests/db/transaction/indexed_batch/live_iterators.h"
#include "tests/support/suite.h"

namespace ashlar {
namespace {

class Program : public LiveIterators {
 public:
  explicit Program(uint64_t seed) : LiveIterators(seed) {
    trace_ = StrCat("seed ", seed, ", ", key_count_, " keys", overwrites_ ? ", overwrites" : "");
  }

  void Run(int steps) {
    Open();
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE(StrCat(trace_, ", step ", i));
      Step();
    }
  }

 private:
  Update AnyUpdate(bool for_database) {
    const size_t family = AnyFamily();
    Update update{.family = families_[family].handle->GetID(), .key = AnyKey(family)};
    const std::string text = std::to_string(++value_count_);
    const size_t kind = Below(10);
    if (kind < 4) {
      update.cell = Cell::Value(text);
    } else if (kind < 6) {
      update.type = kMergeRecord;
      update.cell = Cell::Value(text);
    } else if (kind < 7) {
      update.type = kPutEntityRecord;
      update.cell.is_entity = true;
      if (OneIn(2)) update.cell.columns[""] = text;
      if (OneIn(2)) update.cell.columns["a"] = text;
      update.cell.columns["b"] = text;
    } else {
      update.type = kind < 9 || for_database ? kDeleteRecord : kSingleDeleteRecord;
    }
    return update;
  }
  Status Write(const Update& update, WriteBatchBase* batch) {
    ColumnFamilyHandle* const handle = FamilyOf(update.family).handle;
    const std::string value = update.cell.DefaultColumn();
    WideColumns columns;
    switch (update.type) {
      case kPutRecord:
        if (update.family == 0 && OneIn(2)) return batch->Put(update.key, value);
        return batch->Put(handle, update.key, value);
      case kMergeRecord: return batch->Merge(handle, update.key, value);
      case kDeleteRecord: return batch->Delete(handle, update.key);
      case kSingleDeleteRecord: return batch->SingleDelete(handle, update.key);
      default:
        for (const auto& [name, text] : update.cell.columns) columns.emplace_back(name, text);
        return batch->PutEntity(handle, update.key, columns);
    }
  }

  void Step() {
    switch (Below(20)) {
      case 0: return WriteDatabase();
      case 1: return SavePoint();
      case 2: return OneIn(4) ? EndBatch() : CheckCounts();
      case 3: return CheckIndex();
      case 4:
      case 5: return CheckReads();
      case 6: return CheckManyReads();
      case 7: return OpenIterator();
      case 8:
      case 9:
      case 10: return WriteBatchOnce();
      case 11: return WriteUnindexed();
      default: return MoveIterator();
    }
  }

  void WriteBatchOnce() {
    for (size_t i = OneIn(10) ? key_count_ : 1 + Below(3); i > 0; --i) {
      const Update update = AnyUpdate(/*for_database=*/false);
      ASSERT_OK(Write(update, &batch_));
      model_.Add(update);
    }
  }
  // Neither is seen by any read.
  void WriteUnindexed() {
    const bool is_put = OneIn(2);
    has_unindexed_ = has_unindexed_ || is_put;
    ASSERT_OK(is_put ? batch_.GetWriteBatch()->Put(AnyKey(0), "unindexed")
                     : batch_.PutLogData("log data"));
  }

  void WriteDatabase() {
    for (size_t i = OneIn(5) ? key_count_ : 1 + Below(5); i > 0; --i) {
      const Update update = AnyUpdate(/*for_database=*/true);
      WriteBatch batch;
      ASSERT_OK(Write(update, &batch));
      ASSERT_OK(db_->Write(WriteOptions(), &batch));
      Apply(update, &FamilyOf(update.family).table);
    }
    if (OneIn(4)) DeleteRange();
    if (OneIn(4)) {
      for (const Family& family : families_) ASSERT_OK(db_->Flush(FlushOptions(), family.handle));
    }
    if (!OneIn(8)) return;
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  }
  void DeleteRange() {
    const size_t index = AnyFamily();
    Family& family = families_[index];
    std::string begin = AnyKey(index), end = AnyKey(index);
    if (family.comparator->Compare(begin, end) > 0) begin.swap(end);
    ASSERT_OK(db_->DeleteRange(WriteOptions(), family.handle, begin, end));
    family.table.erase(family.table.lower_bound(begin), family.table.lower_bound(end));
  }

  void SavePoint() {
    const size_t kind = Below(5);
    if (kind < 2) {
      batch_.SetSavePoint();
      model_.SetSavePoint();
    } else if (!model_.HasSavePoint()) {
      EXPECT_TRUE(batch_.RollbackToSavePoint().IsNotFound());
      EXPECT_TRUE(batch_.PopSavePoint().IsNotFound());
    } else if (kind < 4) {
      ASSERT_OK(batch_.RollbackToSavePoint());
      if (model_.Rollback()) ExpectCutOff();
    } else {
      ASSERT_OK(batch_.PopSavePoint());
      model_.PopSavePoint();
    }
  }
  // By Clear(), by writing it, or by another one in its place.
  void EndBatch() {
    bool has_single_delete = false;
    for (const Update& update : model_.updates()) {
      has_single_delete = has_single_delete || update.type == kSingleDeleteRecord;
    }
    if (!has_single_delete && !has_unindexed_ && OneIn(2)) {
      ASSERT_OK(db_->Write(WriteOptions(), batch_.GetWriteBatch()));
      for (const Update& update : model_.updates()) {
        Apply(update, &FamilyOf(update.family).table);
      }
    }
    if (OneIn(4)) {
      batch_ = WriteBatchWithIndex(BytewiseComparator(), 0, overwrites_);
      CloseIterators();
    } else {
      batch_.Clear();
      ExpectCutOff();
    }
    has_unindexed_ = false;
    model_.Clear();
  }
  void CheckCounts() {
    EXPECT_EQ(batch_.GetWBWIOpCount(), model_.updates().size());
    EXPECT_EQ(IndexedBatch::Of(&batch_).Indexed().sub_batch_count(),
              model_.SubBatches(comparators_));
    const auto& stats = batch_.GetCFStats();
    for (const Family& family : families_) {
      const uint32_t number = family.handle->GetID();
      const auto expected = model_.Indexed(number, family.comparator);
      uint32_t replaced = 0;
      for (const IndexedUpdate& update : expected) replaced += update.replaced_single_delete;
      const auto found = stats.find(number);
      EXPECT_EQ(found == stats.end() ? 0 : found->second.entry_count, expected.size());
      EXPECT_EQ(found == stats.end() ? 0 : found->second.overwritten_sd_count, replaced);
    }
  }

  static void ExpectUpdate(const IndexedUpdate& expected, const WBWIIterator& iterator) {
    ASSERT_TRUE(iterator.Valid());
    EXPECT_EQ(iterator.Entry().type, expected.update.type);
    EXPECT_EQ(iterator.Entry().key, expected.update.key);
    if (expected.update.type == kPutRecord || expected.update.type == kMergeRecord) {
      EXPECT_EQ(iterator.Entry().value, expected.update.cell.DefaultColumn());
    }
    EXPECT_EQ(iterator.GetUpdateCount(), expected.ordinal);
    EXPECT_EQ(iterator.HasOverWrittenSingleDel(), expected.replaced_single_delete);
  }
  void CheckIndex() {
    const size_t index = AnyFamily();
    const Family& family = families_[index];
    const auto expected = model_.Indexed(family.handle->GetID(), family.comparator);
    const std::unique_ptr<WBWIIterator> iterator(batch_.NewIterator(family.handle));
    iterator->SeekToFirst();
    for (const IndexedUpdate& update : expected) {
      ExpectUpdate(update, *iterator);
      iterator->Next();
    }
    EXPECT_FALSE(iterator->Valid());
    iterator->SeekToLast();
    for (size_t i = expected.size(); i-- > 0;) {
      ExpectUpdate(expected[i], *iterator);
      iterator->Prev();
    }
    EXPECT_FALSE(iterator->Valid());
    EXPECT_OK(iterator->status());
    const std::string target = AnyKey(index);
    size_t at = 0;
    while (at < expected.size() &&
           family.comparator->Compare(expected[at].update.key, target) < 0) {
      ++at;
    }
    iterator->Seek(target);
    EXPECT_EQ(iterator->Valid(), at < expected.size());
    if (iterator->Valid()) ExpectUpdate(expected[at], *iterator);
    while (at < expected.size() &&
           family.comparator->Compare(expected[at].update.key, target) == 0) {
      ++at;
    }
    iterator->SeekForPrev(target);
    EXPECT_EQ(iterator->Valid(), at > 0);
    if (iterator->Valid()) ExpectUpdate(expected[at - 1], *iterator);
  }

  Table Merged(const Family& family) const {
    return model_.Over(family.table, family.handle->GetID(), nullptr, nullptr);
  }
  static void ExpectCell(const Status& status, const std::string& found, const Table& table,
                         const std::string& key, bool as_columns) {
    const auto expected = table.find(key);
    ASSERT_EQ(status.ok(), expected != table.end()) << status.ToString();
    if (!status.ok()) {
      EXPECT_TRUE(status.IsNotFound()) << status.ToString();
      return;
    }
    EXPECT_EQ(found, as_columns ? expected->second.ToString() : expected->second.DefaultColumn());
  }
  void CheckReads() {
    const size_t index = AnyFamily();
    const Family& family = families_[index];
    const std::string key = AnyKey(index);
    std::string value;
    Cell cell;
    const Status expected = model_.Get(family.handle->GetID(), family.comparator, key, &cell);
    Status status = batch_.GetFromBatch(family.handle, DBOptions(), key, &value);
    EXPECT_EQ(status.code(), expected.code()) << status.ToString();
    EXPECT_EQ(expected.ok() ? value : "", cell.DefaultColumn());
    PinnableWideColumns columns;
    status = batch_.GetEntityFromBatch(family.handle, key, &columns);
    EXPECT_EQ(status.code(), expected.code()) << status.ToString();
    EXPECT_EQ(ShowColumns(columns.columns()), cell.ToString());

    const Table table = Merged(family);
    status = batch_.GetFromBatchAndDB(db_.get(), ReadOptions(), family.handle, key, &value);
    ExpectCell(status, value, table, key, /*as_columns=*/false);
    status = batch_.GetEntityFromBatchAndDB(db_.get(), ReadOptions(), family.handle, key, &columns);
    ExpectCell(status, ShowColumns(columns.columns()), table, key, /*as_columns=*/true);
  }
  void CheckManyReads() {
    const size_t index = AnyFamily();
    const Family& family = families_[index];
    const Table table = Merged(family);
    std::vector<std::string> keys;
    for (size_t i = Below(40); i > 0; --i) keys.push_back(AnyKey(index));
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<PinnableSlice> values(keys.size());
    std::vector<PinnableWideColumns> columns(keys.size());
    std::vector<Status> statuses(keys.size());
    batch_.MultiGetFromBatchAndDB(db_.get(), ReadOptions(), family.handle, keys.size(),
                                  slices.data(), values.data(), statuses.data(), false);
    for (size_t i = 0; i < keys.size(); ++i) {
      ExpectCell(statuses[i], values[i].ToString(), table, keys[i], /*as_columns=*/false);
    }
    batch_.MultiGetEntityFromBatchAndDB(db_.get(), ReadOptions(), family.handle, keys.size(),
                                        slices.data(), columns.data(), statuses.data(), false);
    for (size_t i = 0; i < keys.size(); ++i) {
      ExpectCell(statuses[i], ShowColumns(columns[i].columns()), table, keys[i],
                 /*as_columns=*/true);
    }
  }

  std::string trace_;
  bool has_unindexed_ = false;
  uint64_t value_count_ = 0;
};

TEST(BatchModel, RandomProgramsShowWhatTheModelSays) {
  const auto programs = static_cast<uint64_t>(400 * SuiteScale());
  for (uint64_t seed = 1; seed <= programs && !HasFailure(); ++seed) Program(seed).Run(200);
}

}  // namespace
}  // namespace ashlar
