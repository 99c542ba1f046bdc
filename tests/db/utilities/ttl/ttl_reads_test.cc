// SPDX-License-Identifier: Apache-2.0
//
// Reads of a DBWithTTL: all of them show values without times, report values that have none, and
// hide expired values if asked.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/attribute_groups.h"
#include "db/options/stock_merge_operators.h"
#include "tests/db/utilities/ttl/ttl_fixture.h"

namespace ashlar {
namespace {

// What each kind of read says of a key: a value, "(none)" or the kind of error.
std::string Told(const Status& status, const std::string& value) {
  if (status.ok()) return value;
  return status.IsNotFound() ? "(none)" : status.IsCorruption() ? "corrupt" : status.ToString();
}

class TtlReads : public TtlTest {
 protected:
  std::string ByGet(const Slice& key) {
    std::string value;
    const Status status = db_->Get({}, key, &value);
    return Told(status, value);
  }
  std::string ByMultiGet(const Slice& key) {
    const Slice keys[] = {key};
    PinnableSlice value;
    Status status;
    db_->MultiGet({}, db_->DefaultColumnFamily(), 1, keys, &value, &status);
    return Told(status, value.ToString());
  }
  static std::string TextOf(const PinnableWideColumns& columns) {
    std::string text;
    for (const WideColumn& column : columns.columns()) {
      text += column.name().ToString() + column.value().ToString();
    }
    return text;
  }
  std::string ByGetEntity(const Slice& key) {
    PinnableWideColumns columns;
    const Status status = db_->GetEntity({}, db_->DefaultColumnFamily(), key, &columns);
    return Told(status, TextOf(columns));
  }
  std::string ByMultiGetEntity(const Slice& key) {
    PinnableWideColumns columns;
    Status status;
    db_->MultiGetEntity({}, db_->DefaultColumnFamily(), 1, &key, &columns, &status);
    return Told(status, TextOf(columns));
  }
  static std::string At(Iterator* it, const Slice& key) {
    it->Seek(key);
    if (!it->Valid() || it->key() != key) return Told(it->status(), "(none)");
    if (!it->PrepareValue()) return Told(it->status(), "?");
    EXPECT_EQ(it->columns().front().value(), it->value());
    return it->value().ToString();
  }
  std::string ByIterator(const Slice& key, bool unprepared) {
    ReadOptions read;
    read.allow_unprepared_value = unprepared;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    return At(it.get(), key);
  }
  std::string ByIterators(const Slice& key) {
    std::vector<Iterator*> its;
    EXPECT_OK(db_->NewIterators({}, {db_->DefaultColumnFamily()}, &its));
    const std::unique_ptr<Iterator> it(its.front());
    return At(it.get(), key);
  }
  std::string ByCoalescing(const Slice& key) {
    const auto it = db_->NewCoalescingIterator({}, {db_->DefaultColumnFamily()});
    return At(it.get(), key);
  }
  std::string ByGroups(const Slice& key) {
    const auto it = db_->NewAttributeGroupIterator({}, {db_->DefaultColumnFamily()});
    it->Seek(key);
    if (!it->Valid() || it->key() != key) return Told(it->status(), "(none)");
    return it->attribute_groups().front().columns().front().value().ToString();
  }
  std::vector<std::string> ByAll(const Slice& key) {
    return {ByGet(key),
            ByMultiGet(key),
            ByGetEntity(key),
            ByMultiGetEntity(key),
            ByIterator(key, false),
            ByIterator(key, true),
            ByIterators(key),
            ByCoalescing(key),
            ByGroups(key)};
  }
  static std::vector<std::string> Nine(const std::string& text) {
    return std::vector<std::string>(9, text);
  }
};

TEST_F(TtlReads, AllShowValuesWithoutTimes) {
  OpenTtl(100);
  Put("k", "value");
  Put("empty", "");
  EXPECT_EQ(ByAll("k"), Nine("value"));
  EXPECT_EQ(ByAll("empty"), Nine(""));
  Flush();
  EXPECT_EQ(ByAll("k"), Nine("value"));
  EXPECT_EQ(ByAll("none"), Nine("(none)"));
  EXPECT_EQ(ScanBackwards(), "k=value empty=");
}

TEST_F(TtlReads, AllReportValuesWithoutATime) {
  Open();
  Put("short", "abc");
  Put("long", "plain    ");
  OpenTtl(100);
  EXPECT_EQ(ByAll("short"), Nine("corrupt"));
  EXPECT_EQ(ByAll("long"), Nine("corrupt"));
  CompactAndRewrite();  // and nothing removes them
  EXPECT_EQ(ByAll("long"), Nine("corrupt"));
}

TEST_F(TtlReads, ExpiredValuesAreShownByDefault) {
  OpenTtl(100);
  Put("k", "value");
  Pass(1000);
  EXPECT_EQ(ByAll("k"), Nine("value"));
}

TEST_F(TtlReads, ExpiredValuesAreHiddenIfAsked) {
  OpenTtl(100, {.hide_expired = true});
  Put("a", "old");
  Put("b", "old");
  Pass(200);
  Put("c", "young");
  EXPECT_EQ(ByAll("a"), Nine("(none)"));
  EXPECT_EQ(ByAll("c"), Nine("young"));
  EXPECT_EQ(Scan(), "c=young");
  EXPECT_EQ(ScanBackwards(), "c=young");
  std::string value;
  bool is_found = true;
  EXPECT_FALSE(db_->KeyMayExist({}, "a", &value));
  EXPECT_FALSE(db_->KeyMayExist({}, "a", nullptr));
  EXPECT_TRUE(db_->KeyMayExist({}, "c", &value, &is_found));
  EXPECT_TRUE(is_found);
  EXPECT_EQ(value, "young");
  ttl_db_->SetTtl(1000);
  EXPECT_EQ(ByAll("a"), Nine("old"));
}

TEST_F(TtlReads, KeyMayExistLeavesValuesWithoutATimeToReads) {
  Open();
  Put("k", "plain    ");
  OpenTtl(100);
  std::string value;
  bool is_found = true;
  EXPECT_TRUE(db_->KeyMayExist({}, "k", &value, &is_found));
  EXPECT_FALSE(is_found);
  EXPECT_TRUE(db_->KeyMayExist({}, "k", nullptr));
}

TEST_F(TtlReads, EntitiesOfOthersAreShownAsTheyAre) {
  Open();
  ASSERT_OK(db_->PutEntity({}, db_->DefaultColumnFamily(), "k", {{"a", "1"}, {"b", "2"}}));
  OpenTtl(100);
  EXPECT_EQ(ByGetEntity("k"), "a1b2");
  EXPECT_EQ(ByMultiGetEntity("k"), "a1b2");
  CompactAndRewrite();
  EXPECT_EQ(ByGetEntity("k"), "a1b2");
}

TEST_F(TtlReads, MergeOperandsHaveNoTimes) {
  options_.merge_operator = NewStringAppendOperator(",");
  OpenTtl(100);
  Put("k", "one");
  Merge("k", "two");
  std::vector<PinnableSlice> operands(2);
  GetMergeOperandsOptions options;
  options.expected_max_number_of_operands = 2;
  std::string seen;
  options.continue_cb = [&](Slice operand) {
    seen += operand.ToString() + " ";
    return true;
  };
  int count = 0;
  ASSERT_OK(db_->GetMergeOperands({}, db_->DefaultColumnFamily(), "k", operands.data(), &options,
                                  &count));
  ASSERT_EQ(count, 2);
  EXPECT_EQ(operands[0], "one");
  EXPECT_EQ(operands[1], "two");
  EXPECT_NE(seen.find("two "), std::string::npos) << seen;
}

TEST_F(TtlReads, IteratorsTellTheTimeOfWrite) {
  OpenTtl(100);
  const int64_t before = Now();
  Put("k", "1");
  const std::unique_ptr<Iterator> it(db_->NewIterator({}));
  std::string time;
  EXPECT_TRUE(it->GetProperty("ashlar.ttl.write-time", &time).IsInvalidArgument());
  it->SeekToFirst();
  ASSERT_OK(it->GetProperty("ashlar.ttl.write-time", &time));
  EXPECT_GE(std::stoll(time), before);
  EXPECT_LE(std::stoll(time), Now());
  ASSERT_OK(it->GetProperty("rocksdb.iterator.super-version-number", &time));
  EXPECT_TRUE(it->GetProperty("ashlar.ttl.write-time", nullptr).IsInvalidArgument());
  EXPECT_TRUE(it->GetProperty("rocksdb.iterator.internal-key", nullptr).IsInvalidArgument());
}

TEST_F(TtlReads, ARefreshedIteratorSeesNewValues) {
  OpenTtl(100);
  Put("a", "1");
  const std::unique_ptr<Iterator> it(db_->NewIterator({}));
  it->SeekToFirst();
  Put("b", "2");
  ASSERT_OK(it->Refresh());
  EXPECT_FALSE(it->Valid());
  it->SeekToLast();
  EXPECT_EQ(RowAt(*it), "b=2");
  it->Prev();
  EXPECT_EQ(RowAt(*it), "a=1");
  it->SeekForPrev("az");
  EXPECT_EQ(RowAt(*it), "a=1");
}

TEST_F(TtlReads, ARefreshedIteratorHidesWhatHasExpiredMeanwhile) {
  OpenTtl(100, {.hide_expired = true});
  for (const bool with_snapshot : {false, true}) {
    Put("a", "1");
    const std::unique_ptr<Iterator> it(db_->NewIterator({}));
    Pass(200);
    it->SeekToFirst();
    EXPECT_EQ(RowAt(*it), "a=1");  // as of its begin
    const Snapshot* const snapshot = db_->GetSnapshot();
    ASSERT_OK(with_snapshot ? it->Refresh(snapshot) : it->Refresh());
    db_->ReleaseSnapshot(snapshot);
    it->SeekToFirst();
    EXPECT_FALSE(it->Valid());
    EXPECT_OK(it->status());
  }
}

}  // namespace
}  // namespace ashlar
