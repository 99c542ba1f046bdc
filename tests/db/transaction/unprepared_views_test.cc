// SPDX-License-Identifier: Apache-2.0
//
// Snapshots and iterators that live while a transaction writes its data out.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/db/transaction/write_unprepared_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class UnpreparedViewsTest : public WriteUnpreparedTest {};

TEST_F(UnpreparedViewsTest, SnapshotsThatWereTakenInBetweenAreRepeatable) {
  ASSERT_OK(Put("a", "0"));
  std::vector<const Snapshot*> snapshots;
  const auto take = [&] { snapshots.push_back(db_->GetSnapshot()); };
  take();
  auto transaction = BeginNamed("x");
  for (int i = 1; i <= 6; i++) {
    ASSERT_OK(transaction->Put("a", std::to_string(i)));
    ASSERT_OK(transaction->Put(StrCat("n", i), "1"));
    ASSERT_OK(Put("o", std::to_string(i)));
    take();
    if (i == 2) Flush();
    if (i == 4) Compact();
  }
  const auto check = [&] {
    for (size_t i = 0; i < snapshots.size(); i++) {
      EXPECT_EQ(Scan(snapshots[i]), i == 0 ? "a=0 " : StrCat("a=0 o=", i, " ")) << i;
    }
  };
  check();
  ASSERT_OK(transaction->Commit());
  check();
  Compact();
  check();
  for (size_t i = 0; i < snapshots.size(); i += 2) db_->ReleaseSnapshot(snapshots[i]);
  Compact();
  for (size_t i = 1; i < snapshots.size(); i += 2) {
    EXPECT_EQ(Scan(snapshots[i]), StrCat("a=0 o=", i, " ")) << i;
    db_->ReleaseSnapshot(snapshots[i]);
  }
  EXPECT_EQ(ValueOf(db_.get(), "a"), "6");
}

// Also while the iterator is open its transaction writes out.
TEST_F(UnpreparedViewsTest, AnOpenIteratorGoesOnBehindItsKey) {
  for (const char* key : {"b", "d", "f", "h"}) ASSERT_OK(Put(key, "0"));
  auto transaction = BeginNamed("x");
  const std::unique_ptr<Iterator> it(transaction->GetIterator(ReadOptions()));
  ASSERT_OK(Put("c", "others"));
  it->SeekToFirst();
  std::string seen;
  for (; it->Valid(); it->Next()) {
    const std::string key = it->key().ToString();
    StrAppend(&seen, key, "=", it->value().ToString(), " ");
    if (key == "z") break;
    ASSERT_OK(transaction->Put(key, "seen"));
    ASSERT_OK(transaction->Put(StrCat(key, "1"), "new"));  // ahead
    ASSERT_OK(transaction->Put("a", key));                 // behind
    if (key == "d") {
      ASSERT_OK(transaction->Delete("f"));
      ASSERT_OK(transaction->Delete("d"));
    }
    EXPECT_EQ(it->key().ToString(), key) << "until it moves";
    EXPECT_EQ(it->value().ToString(), key == "b1" || key.size() > 1 ? "new" : "0");
    if (key.size() > 2) break;
    if (key == "d") Flush();
  }
  ASSERT_OK(it->status());
  EXPECT_EQ(seen, "b=0 b1=new b11=new ");
  it->Seek("b2");
  EXPECT_EQ(it->key().ToString(), "d");
  ASSERT_OK(transaction->Delete("d"));
  ASSERT_OK(transaction->Put("e", "new"));
  it->Next();
  EXPECT_EQ(it->key().ToString(), "e");
  ASSERT_OK(transaction->Put("f", "new"));
  ASSERT_OK(transaction->Put("z", "new"));
  it->Prev();
  EXPECT_EQ(it->key().ToString(), "b111") << "the committed c is newer than the iterator";
  it->Next();
  EXPECT_EQ(it->key().ToString(), "e");
  it->Next();
  EXPECT_EQ(it->key().ToString() + it->value().ToString(), "fnew");
  it->SeekForPrev("g");
  EXPECT_EQ(it->key().ToString(), "f");
  it->SeekToLast();
  EXPECT_EQ(it->key().ToString(), "z");
  it->Next();
  EXPECT_FALSE(it->Valid());
  ASSERT_OK(it->Refresh());
  EXPECT_EQ(ScanForward(it.get()),
            "a=b11 b=seen b1=seen b11=seen b111=new c=others e=new f=new h=0 z=new ");
  ASSERT_OK(transaction->Commit());
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsInvalidArgument());
  it->SeekToFirst();
  it->Next();
  EXPECT_FALSE(it->Valid());
}

TEST_F(UnpreparedViewsTest, IteratorsEndWhenUpdatesAreTakenBack) {
  auto transaction = BeginNamed("x");
  const auto open = [&] {
    std::unique_ptr<Iterator> it(transaction->GetIterator(ReadOptions()));
    it->SeekToFirst();
    EXPECT_OK(it->status());
    return it;
  };
  ASSERT_OK(transaction->Put("a", "1"));
  transaction->SetSavePoint();
  auto nothing = open();
  ASSERT_OK(transaction->RollbackToSavePoint());
  EXPECT_TRUE(nothing->Valid()) << "nothing was taken back";
  transaction->SetSavePoint();
  ASSERT_OK(transaction->Put("b", "1"));
  auto batch_only = open();
  ASSERT_OK(transaction->Put("c", "1"));
  ASSERT_OK(transaction->RollbackToSavePoint());
  EXPECT_TRUE(batch_only->status().IsInvalidArgument());
  auto prepared = open();
  ASSERT_OK(transaction->Prepare());
  EXPECT_EQ(ScanForward(prepared.get()), "a=1 ");
  transaction.reset();
  EXPECT_TRUE(prepared->status().IsInvalidArgument());
  const std::unique_ptr<Transaction> shell(db_->GetTransactionByName("x"));
  const std::unique_ptr<Iterator> of_shell(shell->GetIterator(ReadOptions()));
  EXPECT_EQ(ScanForward(of_shell.get()), "a=1 ");
  ASSERT_OK(shell->Rollback());
  EXPECT_TRUE(of_shell->status().IsInvalidArgument());
}

TEST_F(UnpreparedViewsTest, IteratorsOfAllKindsSeeOwnData) {
  ColumnFamilyHandle* second = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "second", &second));
  const std::vector<ColumnFamilyHandle*> families{db_->DefaultColumnFamily(), second};
  ASSERT_OK(Put("a", "0"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("b", "1"));
  ASSERT_OK(transaction->Put(second, "b", "2"));
  ASSERT_OK(transaction->Put(second, "c", "2"));
  {
    const auto coalescing = transaction->GetCoalescingIterator(ReadOptions(), families);
    EXPECT_EQ(ScanForward(coalescing.get()), "a=0 b=2 c=2 ");
    const auto groups = transaction->GetAttributeGroupIterator(ReadOptions(), families);
    groups->Seek("b");
    ASSERT_TRUE(groups->Valid());
    EXPECT_EQ(groups->attribute_groups().size(), 2u);
    ReadOptions upper;
    const Slice end("b1");
    upper.iterate_upper_bound = &end;
    upper.pin_data = true;
    const std::unique_ptr<Iterator> bounded(transaction->GetIterator(upper, second));
    EXPECT_EQ(ScanForward(bounded.get()), "b=2 ");
    ReadOptions tail;
    tail.tailing = true;
    const std::unique_ptr<Iterator> tailing(transaction->GetIterator(tail, second));
    tailing->SeekToFirst();
    ASSERT_OK(transaction->Put(second, "a", "2"));
    ASSERT_OK(transaction->Put(second, "aa", "2"));
    EXPECT_EQ(ScanForward(tailing.get()), "a=2 aa=2 b=2 c=2 ");
    EXPECT_EQ(ScanForward(coalescing.get()), "a=2 aa=2 b=2 c=2 ");
  }
  ASSERT_OK(transaction->Rollback());
  transaction.reset();
  ASSERT_OK(db_->DestroyColumnFamilyHandle(second));
}

}  // namespace
}  // namespace ashlar
