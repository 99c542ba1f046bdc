// SPDX-License-Identifier: Apache-2.0
//
// A database in memory with two families and a joining merge operator, and texts of columns, for
// the tests of wide columns. Threads: one at a time.
#pragma once

#include "ashlar/attribute_groups.h"
#include "ashlar/merge_operator.h"
#include "ashlar/wide_columns.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {

// Joins the value, or "-" if there is none, and the operands with dots.
class ColumnJoiner : public MergeOperator {
 public:
  const char* Name() const override { return "ColumnJoiner"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    std::string joined = in.existing_value == nullptr ? "-" : in.existing_value->ToString();
    for (const Slice& operand : in.operand_list) joined += "." + operand.ToString();
    out->new_value = joined;
    return true;
  }
};

// "=value name=value ", in the order of the columns.
inline std::string Text(const WideColumns& columns) {
  std::string text;
  for (const WideColumn& column : columns) {
    StrAppend(&text, column.name().ToString(), "=", column.value().ToString(), " ");
  }
  return text;
}

class ColumnsTest : public DbTest {
 protected:
  ColumnsTest() {
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.merge_operator = std::make_shared<ColumnJoiner>();
  }
  void SetUp() override { Open(); }

  void Open() { DbTest::Open({"default", "other"}); }
  void PutEntity(const std::string& key, const WideColumns& columns, size_t family = 0) {
    ASSERT_OK(db_->PutEntity(WriteOptions(), handles_[family], key, columns));
  }
  void Put(const std::string& key, const std::string& value, size_t family = 0) {
    DbTest::Put(handles_[family], key, value);
  }
  void Merge(const std::string& key, const std::string& operand, size_t family = 0) {
    DbTest::Merge(handles_[family], key, operand);
  }
  void Flush() { DbTest::Flush(handles_); }
  void Compact() {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    for (ColumnFamilyHandle* handle : handles_) {
      ASSERT_OK(db_->CompactRange(options, handle, nullptr, nullptr));
    }
  }
  std::string Get(const std::string& key, const Snapshot* snapshot = nullptr) {
    std::string value;
    const Status status = db_->Get(AsOf(snapshot), key, &value);
    return status.ok() ? value : status.ToString();
  }
  std::string GetEntity(const std::string& key, const Snapshot* snapshot = nullptr) {
    PinnableWideColumns columns;
    const Status status = db_->GetEntity(AsOf(snapshot), handles_[0], key, &columns);
    return status.ok() ? Text(columns.columns()) : status.ToString();
  }
  // The row of an iterator: the key, the value and the columns.
  static std::string Shown(const Iterator& it) {
    return StrCat(it.key().ToString(), ":", it.value().ToString(), "{", Text(it.columns()), "} ");
  }
  // All rows in both directions, which must agree.
  static std::string Scan(Iterator* it) {
    std::string forward, backward;
    for (it->SeekToFirst(); it->Valid(); it->Next()) forward += Shown(*it);
    EXPECT_OK(it->status());
    for (it->SeekToLast(); it->Valid(); it->Prev()) backward = Shown(*it) + backward;
    EXPECT_OK(it->status());
    EXPECT_EQ(forward, backward);
    return forward;
  }
  std::string Scan(const Snapshot* snapshot = nullptr) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(AsOf(snapshot), handles_[0]));
    return Scan(it.get());
  }
  // Runs the check with the memtable, with tables, after a compaction and after a reopening.
  template <typename Check>
  void Everywhere(Check&& check) {
    for (const char* where : {"memtable", "tables", "compacted", "reopened"}) {
      SCOPED_TRACE(where);
      if (*where == 't') Flush();
      if (*where == 'c') Compact();
      if (*where == 'r') Reopen();
      check();
    }
  }
};

}  // namespace ashlar
