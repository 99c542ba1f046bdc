// SPDX-License-Identifier: Apache-2.0
//
// inplace_update_support: puts that overwrite values in the memtable, with and without a callback
// of the program's.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/memtablerep.h"
#include "ashlar/merge_operator.h"
#include "ashlar/slice_transform.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// "+x" appends x to what there is; "!x" overwrites the first byte; "-" refuses; "<" drops the last.
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

class InPlaceUpdateTest : public testing::Test {
 protected:
  InPlaceUpdateTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.allow_concurrent_memtable_write = false;
    options_.inplace_update_support = true;
    options_.inplace_update_num_locks = 3;
  }
  void Open() {
    db_.reset();
    ASSERT_OK(DB::Open(options_, "/db", &db_));
  }
  void Put(const std::string& key, const std::string& value) {
    ASSERT_OK(db_->Put(WriteOptions(), key, value));
  }
  std::string Get(const std::string& key) {
    std::string value;
    const Status status = db_->Get(ReadOptions(), key, &value);
    return status.ok() ? value : status.IsNotFound() ? "(none)" : status.ToString();
  }
  std::string Scan() {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    std::string rows;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      rows += it->key().ToString() + "=" + it->value().ToString() + " ";
    }
    EXPECT_OK(it->status());
    return rows;
  }
  uint64_t Entries() {
    uint64_t entries = 0;
    EXPECT_TRUE(db_->GetIntProperty("rocksdb.num-entries-active-mem-table", &entries));
    return entries;
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  Options options_;
  std::unique_ptr<DB> db_;
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
  EXPECT_EQ(Scan(), "k=short ");
  ASSERT_OK(db_->Flush(FlushOptions()));
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
  EXPECT_EQ(Scan(), "k= ");
}

// What lies between would hide what is written below it.
TEST_F(InPlaceUpdateTest, NothingIsOverwrittenBelowATombstone) {
  Open();
  Put("a", "old");
  Put("b", "old");
  ASSERT_OK(db_->Delete(WriteOptions(), "a"));
  ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "b", "c"));
  EXPECT_EQ(Scan(), "");
  Put("a", "new");
  Put("b", "new");
  EXPECT_EQ(Scan(), "a=new b=new ");
  Put("b", "n");
  EXPECT_EQ(Get("b"), "n");
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(Scan(), "a=new b=n ");
}

TEST_F(InPlaceUpdateTest, OneBatchMayUpdateAKeyMoreThanOnce) {
  Open();
  WriteBatch batch;
  ASSERT_OK(batch.Put("k", "first"));
  ASSERT_OK(batch.Put("k", "2nd"));
  ASSERT_OK(batch.Delete("gone"));
  ASSERT_OK(batch.Put("k", "3"));
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(Scan(), "k=3 ");
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
  ASSERT_OK(db_->Merge(WriteOptions(), "b", "6"));
  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), {"a", "b", "c"}, &values);
  ASSERT_OK(statuses[0]);
  ASSERT_OK(statuses[1]);
  EXPECT_TRUE(statuses[2].IsNotFound());
  EXPECT_EQ(values[0], "1");
  EXPECT_EQ(values[1], "5,6");
  Put("b", "7");  // above an operand
  EXPECT_EQ(Get("b"), "7");
  EXPECT_EQ(Scan(), "a=1 b=7 ");
}

// A pinned value may not change under its reader, nor the one an iterator stands on.
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
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(in_place, "in_place", &family));
  EXPECT_EQ(db_->GetSnapshot(), nullptr);
  ASSERT_OK(db_->Put(WriteOptions(), family, "k", "long"));
  ASSERT_OK(db_->Put(WriteOptions(), family, "k", "v"));
  Put("k", "long");
  Put("k", "v");
  EXPECT_EQ(Entries(), 2u);
  ASSERT_OK(db_->DropColumnFamily(family));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  snapshot = db_->GetSnapshot();
  EXPECT_NE(snapshot, nullptr);
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(InPlaceUpdateTest, ConcurrentWritersMustBeRuledOut) {
  options_.allow_concurrent_memtable_write = true;
  Status status = DB::Open(options_, "/db", &db_);
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
  Put("k", "+abc");  // of nothing
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
  ASSERT_OK(db_->Flush(FlushOptions()));
  Put("k", "!y");  // of what a table has
  EXPECT_EQ(Get("k"), "yblonger");
  ASSERT_OK(db_->Delete(WriteOptions(), "k"));
  Put("k", "!z");  // of nothing: refused
  EXPECT_EQ(Get("k"), "(none)");
  Put("k", "+z");
  EXPECT_EQ(Scan(), "k=z ");
  Put("n", "-");
  EXPECT_EQ(Get("n"), "(none)");
  Put("e", "<");
  EXPECT_EQ(Get("e"), "");
}

// The log has the deltas: each is applied once, to what was there before.
TEST_F(InPlaceUpdateTest, TheCallbackIsAppliedAgainByRecovery) {
  options_.inplace_callback = Edit;
  options_.write_buffer_size = 64 << 10;
  Open();
  Put("flushed", "+a");
  ASSERT_OK(db_->Flush(FlushOptions()));
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
    EXPECT_EQ(Scan(), "k=abc ");
    ASSERT_OK(db_->Flush(FlushOptions()));
    EXPECT_EQ(Get("k"), "abc");
  }
}

// Every writer adds to one counter: none may get lost, and readers see whole values.
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
      for (int i = 0; i < kRounds; ++i) EXPECT_OK(db_->Put(WriteOptions(), "k", "+"));
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
        EXPECT_OK(db_->Put(WriteOptions(), std::to_string(i % 5), std::to_string(t * 1000 + i)));
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
