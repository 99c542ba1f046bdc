// SPDX-License-Identifier: Apache-2.0
//
// inplace_update_support: puts that overwrite values in the memtable, with and without a callback
// of the program.
#include <atomic>
#include <thread>

#include "ashlar/convenience.h"
#include "ashlar/memtablerep.h"
#include "ashlar/merge_operator.h"
#include "ashlar/slice_transform.h"
#include "ashlar/utilities/transaction_db.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

// A callback for deltas: "+x" appends x to the value, "!x" replaces its first byte, "<" removes its
// last byte, and "-" is refused.
UpdateStatus Edit(char* existing, uint32_t* size, Slice delta, std::string* merged) {
  if ((existing == nullptr) != (size == nullptr)) std::abort();
  const Slice rest(delta.data() + 1, delta.size() - 1);
  switch (delta[0]) {
    case '+':
      *merged = (existing == nullptr ? "" : std::string(existing, *size)) + rest.ToString();
      return UPDATED;
    case '!':
      if (existing == nullptr || *size == 0) return UPDATE_FAILED;
      existing[0] = rest[0];
      return UPDATED_INPLACE;
    case '<':
      if (size != nullptr && *size > 0) --*size;
      return UPDATED_INPLACE;
    default: return UPDATE_FAILED;
  }
}

class InPlaceUpdateTest : public DbTest {
 protected:
  InPlaceUpdateTest() {
    options_.allow_concurrent_memtable_write = false;
    options_.inplace_update_support = true;
    options_.inplace_update_num_locks = 3;
  }
  uint64_t Entries() { return Number(DB::Properties::kNumEntriesActiveMemTable); }
};

TEST_F(InPlaceUpdateTest, AValueThatIsNotLongerTakesThePlaceOfTheNewest) {
  Open();
  Put("k", "12345");
  Put("k", "abcd");
  Put("k", "xy");
  EXPECT_EQ(Entries(), 1u);
  EXPECT_EQ(Get("k"), "xy");
  Put("k", "longer");
  EXPECT_EQ(Entries(), 2u);
  Put("k", "short");
  EXPECT_EQ(Entries(), 2u);
  EXPECT_EQ(Scan(), "k=short");
  Flush();
  EXPECT_EQ(Get("k"), "short");
  Put("k", "s");
  EXPECT_EQ(Entries(), 1u);
  EXPECT_EQ(Get("k"), "s");
}

TEST_F(InPlaceUpdateTest, EmptyValuesAreOverwrittenAndOverwrite) {
  Open();
  Put("k", "v");
  Put("k", "");
  Put("k", "");
  EXPECT_EQ(Entries(), 1u);
  EXPECT_EQ(Scan(), "k=");
}

// The tombstone would hide an entry that is overwritten below it.
TEST_F(InPlaceUpdateTest, NothingIsOverwrittenBelowATombstone) {
  Open();
  Put("a", "old");
  Put("b", "old");
  Delete("a");
  DeleteRange("b", "c");
  EXPECT_EQ(Scan(), "");
  Put("a", "new");
  Put("b", "new");
  EXPECT_EQ(Scan(), "a=new b=new");
  Put("b", "n");
  EXPECT_EQ(Get("b"), "n");
  Flush();
  EXPECT_EQ(Scan(), "a=new b=n");
}

TEST_F(InPlaceUpdateTest, OneBatchMayUpdateAKeyMoreThanOnce) {
  Open();
  WriteBatch batch;
  ASSERT_OK(batch.Put("k", "first"));
  ASSERT_OK(batch.Put("k", "2nd"));
  ASSERT_OK(batch.Delete("gone"));
  ASSERT_OK(batch.Put("k", "3"));
  Write(&batch);
  EXPECT_EQ(Scan(), "k=3");
  EXPECT_EQ(Entries(), 2u);
}

TEST_F(InPlaceUpdateTest, WhatWasOverwrittenComesBackFromTheLog) {
  options_.write_buffer_size = 64 << 10;
  Open();
  for (int i = 0; i < 5000; ++i) {
    Put("key" + std::to_string(i % 10),
        std::string(static_cast<size_t>(200 - i % 3), 'a') + std::to_string(i));
  }
  const std::string before = Scan();
  Open();
  EXPECT_EQ(Scan(), before);
  options_.avoid_flush_during_recovery = true;
  Put("key3", "x");
  Open();
  EXPECT_EQ(Get("key3"), "x");
}

TEST_F(InPlaceUpdateTest, MultiGetAndMergesSeeTheNewestValue) {
  ASSERT_OK(
      MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options_.merge_operator));
  Open();
  Put("a", "12345");
  Put("a", "1");
  Put("b", "54321");
  Put("b", "5");
  Merge("b", "6");
  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), {"a", "b", "c"}, &values);
  ASSERT_OK(statuses[0]);
  ASSERT_OK(statuses[1]);
  EXPECT_TRUE(statuses[2].IsNotFound());
  EXPECT_EQ(values[0], "1");
  EXPECT_EQ(values[1], "5,6");
  Put("b", "7");  // above an operand
  EXPECT_EQ(Get("b"), "7");
  EXPECT_EQ(Scan(), "a=1 b=7");
}

// Neither a pinned value nor the current value of an iterator changes.
TEST_F(InPlaceUpdateTest, WhatAReaderHoldsStaysWhatItWas) {
  Open();
  Put("k", std::string(5000, 'a'));
  PinnableSlice held;
  ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "k", &held));
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  Put("k", std::string(5000, 'b'));
  EXPECT_EQ(held, std::string(5000, 'a'));
  EXPECT_EQ(it->value(), std::string(5000, 'a'));
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(InPlaceUpdateTest, ThereAreNoSnapshotsWhileAFamilyHasIt) {
  options_.inplace_update_support = false;
  Open();
  const Snapshot* snapshot = db_->GetSnapshot();
  ASSERT_NE(snapshot, nullptr);
  db_->ReleaseSnapshot(snapshot);
  ColumnFamilyOptions in_place(options_);
  in_place.inplace_update_support = true;
  ColumnFamilyHandle* const family = CreateFamily("in_place", in_place);
  EXPECT_EQ(db_->GetSnapshot(), nullptr);
  Put(family, "k", "long");
  Put(family, "k", "v");
  Put("k", "long");
  Put("k", "v");
  EXPECT_EQ(Entries(), 2u);
  ASSERT_OK(db_->DropColumnFamily(family));
  DestroyHandles();
  snapshot = db_->GetSnapshot();
  EXPECT_NE(snapshot, nullptr);
  db_->ReleaseSnapshot(snapshot);
}

// A replay would put undecided values in the place of older ones, and show them.
TEST_F(InPlaceUpdateTest, OpeningIsRefusedWhileTransactionsAreUndecided) {
  options_.inplace_update_support = false;
  {
    TransactionDBOptions policy;
    policy.write_policy = WRITE_PREPARED;
    TransactionDB* opened = nullptr;
    ASSERT_OK(TransactionDB::Open(options_, policy, dir_, &opened));
    const std::unique_ptr<TransactionDB> db(opened);
    ASSERT_OK(db->Put(WriteOptions(), "k", "0"));
    const std::unique_ptr<Transaction> transaction(db->BeginTransaction(WriteOptions()));
    ASSERT_OK(transaction->SetName("x"));
    ASSERT_OK(transaction->Put("k", "1"));
    ASSERT_OK(transaction->Prepare());
  }
  options_.allow_2pc = true;
  options_.inplace_update_support = true;
  Status status = TryOpen();
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  status = TryOpenReadOnly();
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  options_.inplace_update_support = false;
  Open();
  EXPECT_EQ(Get("k"), "0");
}

// Such a read takes a snapshot of its own, for the decisions of transactions.
TEST_F(InPlaceUpdateTest, AFamilyOfALaterTimeKeepsNoReaderFromHidingUndecidedData) {
  options_.inplace_update_support = false;
  {
    TransactionDBOptions policy;
    policy.write_policy = WRITE_PREPARED;
    TransactionDB* opened = nullptr;
    ASSERT_OK(TransactionDB::Open(options_, policy, dir_, &opened));
    const std::unique_ptr<TransactionDB> db(opened);
    const std::unique_ptr<Transaction> transaction(db->BeginTransaction(WriteOptions()));
    ASSERT_OK(transaction->SetName("x"));
    ASSERT_OK(transaction->Put("k", "1"));
    ASSERT_OK(transaction->Prepare());
  }
  options_.allow_2pc = true;
  Open();
  ColumnFamilyOptions in_place(options_);
  in_place.inplace_update_support = true;
  ColumnFamilyHandle* const family = CreateFamily("in_place", in_place);
  Put(family, "f", "long");
  Put(family, "f", "v");
  ASSERT_EQ(db_->GetSnapshot(), nullptr);
  const auto it = db_->NewCoalescingIterator(ReadOptions(), {db_->DefaultColumnFamily(), family});
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid()) << it->status().ToString();
  EXPECT_EQ(it->key(), "f");
  EXPECT_EQ(it->value(), "v");
  it->Next();
  EXPECT_FALSE(it->Valid()) << "what is undecided is hidden";
  EXPECT_OK(it->status());
}

TEST_F(InPlaceUpdateTest, ConcurrentWritersMustBeRuledOut) {
  options_.allow_concurrent_memtable_write = true;
  Status status = TryOpen();
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  options_.inplace_update_support = false;
  Open();
  ColumnFamilyOptions in_place(options_);
  in_place.inplace_update_support = true;
  ColumnFamilyHandle* family = nullptr;
  status = db_->CreateColumnFamily(in_place, "in_place", &family);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
}

TEST_F(InPlaceUpdateTest, TheCallbackMakesTheValueOutOfWhatTheKeyHas) {
  options_.inplace_callback = Edit;
  Open();
  Put("k", "+abc");  // the key has no value
  EXPECT_EQ(Get("k"), "abc");
  Put("k", "!x");
  EXPECT_EQ(Get("k"), "xbc");
  Put("k", "-");
  EXPECT_EQ(Get("k"), "xbc");
  Put("k", "<");
  EXPECT_EQ(Get("k"), "xb");
  EXPECT_EQ(Entries(), 1u);
  Put("k", "+longer");
  EXPECT_EQ(Get("k"), "xblonger");
  EXPECT_EQ(Entries(), 2u);
  Flush();
  Put("k", "!y");  // the value is in a table
  EXPECT_EQ(Get("k"), "yblonger");
  Delete("k");
  Put("k", "!z");  // refused, because the key has no value
  EXPECT_EQ(Get("k"), "(none)");
  Put("k", "+z");
  EXPECT_EQ(Scan(), "k=z");
  Put("n", "-");
  EXPECT_EQ(Get("n"), "(none)");
  Put("e", "<");
  EXPECT_EQ(Get("e"), "");
}

// The log has the deltas, and recovery applies each of them once.
TEST_F(InPlaceUpdateTest, TheCallbackIsAppliedAgainByRecovery) {
  options_.inplace_callback = Edit;
  options_.write_buffer_size = 64 << 10;
  Open();
  Put("flushed", "+a");
  Flush();
  Put("flushed", "+b");
  Put("flushed", "!x");
  for (int i = 0; i < 300; ++i) Put("k" + std::to_string(i % 3), "+" + std::string(200, 'a'));
  const std::string before = Scan();
  for (const bool avoids_flush : {true, false}) {
    options_.avoid_flush_during_recovery = avoids_flush;
    Open();
    EXPECT_EQ(Get("flushed"), "xb");
    EXPECT_EQ(Scan(), before);
  }
}

TEST_F(InPlaceUpdateTest, OtherRepresentationsAddWhatIsPut) {
  options_.inplace_callback = Edit;
  options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
  options_.memtable_factory.reset(NewHashSkipListRepFactory(8));
  Open();
  Put("k", "+abc");
  Put("k", "!x");
  Put("k", "<");
  EXPECT_EQ(Get("k"), "xb");
  EXPECT_EQ(Entries(), 3u);
  EXPECT_EQ(db_->GetSnapshot(), nullptr);
}

TEST_F(InPlaceUpdateTest, ChecksumsFollowTheValue) {
  options_.memtable_protection_bytes_per_key = 8;
  options_.paranoid_memory_checks = true;
  for (const bool walks : {false, true}) {
    options_.paranoid_memory_checks = walks;
    Open();
    Put("k", "12345");
    Put("k", "abc");
    EXPECT_EQ(Get("k"), "abc");
    EXPECT_EQ(Scan(), "k=abc");
    Flush();
    EXPECT_EQ(Get("k"), "abc");
  }
}

// Every writer increments one counter: no increment is lost, and readers see whole values.
TEST_F(InPlaceUpdateTest, WritersComeOneAfterTheOtherAndReadersSeeWholeValues) {
  constexpr int kThreads = 4, kRounds = 400;
  constexpr size_t kBytes = 3000;
  options_.inplace_callback = [](char* existing, uint32_t* size, Slice, std::string* merged) {
    if (existing == nullptr) {
      merged->assign(kBytes, 1);
      return UPDATED;
    }
    for (uint32_t i = 0; i < *size; ++i) ++existing[i];
    return UPDATED_INPLACE;
  };
  Open();
  std::atomic<bool> is_over{false};
  std::thread reader([&] {
    const auto expect_whole = [&](const Slice& value) {
      ASSERT_EQ(value.size(), kBytes);
      EXPECT_EQ(value.ToString(), std::string(kBytes, value[0]));
    };
    while (!is_over) {
      PinnableSlice value;
      if (db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "k", &value).ok()) {
        expect_whole(value);
      }
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
      for (it->SeekToFirst(); it->Valid(); it->Next()) expect_whole(it->value());
    }
  });
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) Put("k", "+");
    });
  }
  for (std::thread& writer : writers) writer.join();
  is_over = true;
  reader.join();
  EXPECT_EQ(Get("k"), std::string(kBytes, static_cast<char>(kThreads * kRounds)));
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(InPlaceUpdateTest, ConcurrentPutsEndAsTheLogSays) {
  constexpr int kThreads = 4, kRounds = 500;
  Open();
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([this, t] {
      for (int i = 0; i < kRounds; ++i) {
        Put(std::to_string(i % 5), std::to_string(t * 1000 + i));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string before = Scan();
  Open();
  EXPECT_EQ(Scan(), before);
}

}  // namespace
}  // namespace ashlar
