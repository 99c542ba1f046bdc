// SPDX-License-Identifier: Apache-2.0
//
// Indexed batches over a DBWithTTL: their operands have no times yet.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/utilities/write_batch_with_index.h"
#include "db/options/stock_merge_operators.h"
#include "tests/db/utilities/ttl/ttl_fixture.h"

namespace ashlar {
namespace {

class TtlIndexedBatch : public TtlTest {
 protected:
  TtlIndexedBatch() { options_.merge_operator = NewStringAppendOperator(","); }

  static std::string Told(const Status& status, const std::string& value) {
    return status.ok() ? value : status.IsNotFound() ? "(none)" : status.ToString();
  }
  std::string ByIterator(DB* db, const Slice& key, bool unprepared) {
    ReadOptions read;
    read.allow_unprepared_value = unprepared;
    ColumnFamilyHandle* const family = db->DefaultColumnFamily();
    const std::unique_ptr<Iterator> it(
        batch_.NewIteratorWithBase(family, db->NewIterator(read, family)));
    it->Seek(key);
    if (!it->Valid() || it->key() != key) return Told(it->status(), "(none)");
    if (!it->PrepareValue()) return Told(it->status(), "?");
    return it->value().ToString();
  }
  // What each kind of read of the batch over the database shows for a key.
  std::vector<std::string> ByAll(DB* db, const Slice& key) {
    ColumnFamilyHandle* const family = db->DefaultColumnFamily();
    std::vector<std::string> told;
    std::string value;
    Status status = batch_.GetFromBatchAndDB(db, {}, key, &value);
    told.push_back(Told(status, value));
    PinnableSlice pinned;
    batch_.MultiGetFromBatchAndDB(db, {}, family, 1, &key, &pinned, &status, false);
    told.push_back(Told(status, pinned.ToString()));
    PinnableWideColumns columns;
    status = batch_.GetEntityFromBatchAndDB(db, {}, family, key, &columns);
    const auto text = [&] { return status.ok() ? columns.columns()[0].value().ToString() : ""; };
    told.push_back(Told(status, text()));
    batch_.MultiGetEntityFromBatchAndDB(db, {}, family, 1, &key, &columns, &status, false);
    told.push_back(Told(status, text()));
    for (const bool unprepared : {false, true}) told.push_back(ByIterator(db, key, unprepared));
    return told;
  }
  static std::vector<std::string> Six(const std::string& text) {
    return std::vector<std::string>(6, text);
  }

  WriteBatchWithIndex batch_{BytewiseComparator(), 0, true};
};

TEST_F(TtlIndexedBatch, OperandsAreMergedAsTheyWillBeByTheDatabase) {
  OpenTtl(100);
  Put("both", "1");
  Put("database", "2");
  ASSERT_OK(batch_.Merge("both", "3"));
  ASSERT_OK(batch_.Merge("both", "4"));
  ASSERT_OK(batch_.Put("batch", "5"));
  ASSERT_OK(batch_.Merge("batch", "6"));
  ASSERT_OK(batch_.Merge("nothing", "7"));
  const auto check = [&] {
    EXPECT_EQ(ByAll(db_.get(), "both"), Six("1,3,4"));
    EXPECT_EQ(ByAll(db_.get(), "database"), Six("2"));
    EXPECT_EQ(ByAll(db_.get(), "batch"), Six("5,6"));
    EXPECT_EQ(ByAll(db_.get(), "nothing"), Six("7"));
    EXPECT_EQ(ByAll(db_.get(), "none"), Six("(none)"));
  };
  check();
  Flush();
  check();
  std::string value;
  ASSERT_OK(batch_.GetFromBatch(db_->DefaultColumnFamily(), options_, "batch", &value));
  EXPECT_EQ(value, "5,6");
  Write(batch_.GetWriteBatch());
  EXPECT_EQ(Scan(), "batch=5,6 both=1,3,4 database=2 nothing=7");
}

TEST_F(TtlIndexedBatch, OperandsAreNotMergedIntoHiddenValues) {
  OpenTtl(100, {.hide_expired = true});
  Put("k", "old");
  ASSERT_OK(batch_.Merge("k", "new"));
  EXPECT_EQ(ByAll(db_.get(), "k"), Six("old,new"));
  Pass(200);
  EXPECT_EQ(ByAll(db_.get(), "k"), Six("new"));
}

TEST_F(TtlIndexedBatch, AMergeOverTheDatabaseBelowIsRefused) {
  OpenTtl(100);
  Put("k", "1");
  Put("other", "1");
  ASSERT_OK(batch_.Merge("k", "2"));
  ASSERT_OK(batch_.Put("batch", "5"));
  ASSERT_OK(batch_.Merge("batch", "6"));
  for (const std::string& told : ByAll(db_->GetRootDB(), "k")) {
    EXPECT_NE(told.find("Not implemented"), std::string::npos) << told;
  }
  // A value of the database itself is shown as it is stored.
  for (const std::string& told : ByAll(db_->GetRootDB(), "other")) EXPECT_EQ(told.size(), 5u);
  EXPECT_EQ(ByAll(db_->GetRootDB(), "batch"), Six("5,6"));
}

TEST_F(TtlIndexedBatch, ThePropertyIsTheTtlOfTheFamily) {
  OpenTtl({"default", "two"}, {100, -1});
  uint64_t ttl = 7;
  ASSERT_TRUE(db_->GetIntProperty("ashlar.ttl", &ttl));
  EXPECT_EQ(ttl, 100u);
  ASSERT_TRUE(db_->GetIntProperty(handles_[1], "ashlar.ttl", &ttl));
  EXPECT_EQ(ttl, 0u);
  std::string text;
  ASSERT_TRUE(db_->GetProperty("ashlar.ttl", &text));
  EXPECT_EQ(text, "100");
  EXPECT_TRUE(db_->GetIntProperty("rocksdb.estimate-num-keys", &ttl));
  EXPECT_FALSE(db_->GetRootDB()->GetIntProperty("ashlar.ttl", &ttl));
}

}  // namespace
}  // namespace ashlar
