// SPDX-License-Identifier: Apache-2.0
//
// What tests share of policies that write data before it is decided.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/transaction_log.h"
#include "tests/db/transaction/transaction_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {

using Rows = std::map<std::string, std::string>;

inline std::string TextOf(const Rows& rows) {
  std::string text;
  for (const auto& [key, value] : rows) StrAppend(&text, key, "=", value, " ");
  return text;
}
inline std::string ScanForward(Iterator* it) {
  std::string text;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    StrAppend(&text, it->key().ToString(), "=", it->value().ToString(), " ");
  }
  EXPECT_OK(it->status());
  return text;
}
inline std::string ScanBackward(Iterator* it) {
  std::string text;
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    text = StrCat(it->key().ToString(), "=", it->value().ToString(), " ", text);
  }
  EXPECT_OK(it->status());
  return text;
}

// That the iterator shows these rows, in both directions and around `key`.
inline void CheckRows(Iterator* it, const Rows& rows, const std::string& key) {
  ASSERT_EQ(ScanForward(it), TextOf(rows));
  ASSERT_EQ(ScanBackward(it), TextOf(rows));
  it->Seek(key);
  auto expected = rows.lower_bound(key);
  ASSERT_EQ(it->Valid(), expected != rows.end());
  if (!it->Valid()) return;
  ASSERT_EQ(it->key().ToString(), expected->first);
  it->Prev();  // turns around
  ASSERT_EQ(it->Valid(), expected != rows.begin());
  if (!it->Valid()) return;
  --expected;
  ASSERT_EQ(it->key().ToString() + it->value().ToString(), expected->first + expected->second);
  it->Next();
  ++expected;
  ASSERT_EQ(it->Valid(), expected != rows.end());
  if (it->Valid()) {
    ASSERT_EQ(it->value().ToString(), expected->second);
  }
}

class HiddenDataTest : public PessimisticFixture {
 protected:
  explicit HiddenDataTest(TxnDBWritePolicy policy) {
    options_.disable_auto_compactions = true;
    db_options_.write_policy = policy;
  }
  void SetUp() override { Open(); }
  void Flush() { ASSERT_OK(db_->Flush(FlushOptions())); }
  void Compact() {
    CompactRangeOptions compact;
    compact.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
    ASSERT_OK(db_->CompactRange(compact, nullptr, nullptr));
  }
  std::string Scan(const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    const std::string forward = ScanForward(it.get());
    EXPECT_EQ(ScanBackward(it.get()), forward);
    return forward;
  }
  // Commits while a snapshot from before lives, which goes on to see the rows from before.
  void CommitBehindSnapshot(Transaction* transaction, const std::string& before,
                            const std::string& after) {
    const Snapshot* const snapshot = db_->GetSnapshot();
    ASSERT_OK(transaction->Commit());
    EXPECT_EQ(Scan(), after);
    Compact();
    EXPECT_EQ(Scan(snapshot), before);
    db_->ReleaseSnapshot(snapshot);
    Compact();
    EXPECT_EQ(Scan(), after);
  }

  // What a rollback has to bring back: a value, an operand, an entity, and keys that are not there,
  // of which "s" is removed by SingleDelete().
  void FillForRollback() {
    db_.reset();
    db_options_.rollback_merge_operands = true;
    db_options_.rollback_deletion_type_callback =
        [](TransactionDB*, ColumnFamilyHandle*, const Slice& key) { return key == Slice("s"); };
    Open();
    ASSERT_OK(Put("a", "0"));
    ASSERT_OK(db_->Merge(WriteOptions(), "m", "0"));
    ASSERT_OK(
        db_->PutEntity(WriteOptions(), db_->DefaultColumnFamily(), "e", {{"", "d"}, {"c", "0"}}));
  }
  void ChangeAll(Transaction* transaction) {
    ASSERT_OK(transaction->Put("a", "1"));
    ASSERT_OK(transaction->Delete("e"));
    ASSERT_OK(transaction->Merge("m", "1"));
    ASSERT_OK(transaction->Merge("m", "2"));
    ASSERT_OK(transaction->Put("n", "1"));
    ASSERT_OK(transaction->Put("s", "1"));
  }
  void ExpectRolledBack(const std::string& before) {
    EXPECT_EQ(LockCount(), 0u);
    EXPECT_EQ(Scan(), before);
    PinnableWideColumns columns;
    ASSERT_OK(db_->GetEntity(ReadOptions(), db_->DefaultColumnFamily(), "e", &columns));
    EXPECT_EQ(columns.columns(), (WideColumns{{"", "d"}, {"c", "0"}}));
    Reopen();
    EXPECT_EQ(Scan(), before);
  }

  // The batches in the log, "sequence,count hex".
  std::vector<std::string> LoggedBatches() {
    std::unique_ptr<WalIterator> it;
    EXPECT_OK(db_->GetUpdatesSince(1, &it));
    std::vector<std::string> batches;
    for (; it->Valid(); it->Next()) {
      const BatchResult batch = it->GetBatch();
      const Slice bytes(batch.writeBatchPtr->Data());
      const Slice records(bytes.data() + 12, bytes.size() - 12);
      batches.push_back(StrCat(batch.sequence, ",", batch.writeBatchPtr->Count(), " ",
                               records.ToString(/*hex=*/true)));
    }
    EXPECT_OK(it->status());
    return batches;
  }
};

}  // namespace ashlar
