// SPDX-License-Identifier: Apache-2.0
//
// Databases with other memtables than the default tree: hash skip list, hash linked list, vector,
// and a representation of the program.
#include <atomic>
#include <semaphore>
#include <thread>

#include "ashlar/comparator.h"
#include "ashlar/memtablerep.h"
#include "ashlar/slice_transform.h"
#include "tests/support/set_rep.h"
#include "tests/support/test_db.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::shared_ptr<MemTableRepFactory> Factory(const std::string& name) {
  if (name == "HashSkipList") {
    return std::shared_ptr<MemTableRepFactory>(NewHashSkipListRepFactory(16));
  }
  if (name == "HashLinkList") {
    return std::shared_ptr<MemTableRepFactory>(NewHashLinkListRepFactory(3, 0, 4096, true, 4));
  }
  return std::make_shared<SetRepFactory>();
}

class MemtableRepsTest : public DbTestWith<std::string> {
 protected:
  MemtableRepsTest() {
    options_.memtable_factory = Factory(GetParam());
    options_.prefix_extractor.reset(NewFixedPrefixTransform(2));
    Open();
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, MemtableRepsTest,
                         testing::Values("HashSkipList", "HashLinkList", "OfTheProgram"),
                         [](const auto& info) { return info.param; });

TEST_P(MemtableRepsTest, ReadsFindWhatWasWrittenInWholeOrder) {
  for (const char* key : {"bb2", "aa1", "bb1", "b", "cc", "aa2"}) Put(key, "1");
  const Snapshot* const before = db_->GetSnapshot();
  Put("bb1", "2");
  Delete("aa2");
  DeleteRange("cc", "cd");
  EXPECT_EQ(Get("bb1"), "2");
  EXPECT_EQ(Get("aa2"), "(none)");
  EXPECT_EQ(Get("cc"), "(none)");
  EXPECT_EQ(Get("b"), "1");
  EXPECT_EQ(Get("bb3"), "(none)");
  EXPECT_EQ(Get("bb1", AsOf(before)), "1");
  EXPECT_EQ(Get("cc", AsOf(before)), "1");
  EXPECT_EQ(Scan(), "aa1=1 b=1 bb1=2 bb2=1");
  EXPECT_EQ(ScanBackwards(), "bb2=1 bb1=2 b=1 aa1=1");
  db_->ReleaseSnapshot(before);
  Flush();
  EXPECT_EQ(Scan(), "aa1=1 b=1 bb1=2 bb2=1");
}

TEST_P(MemtableRepsTest, SeeksStandWhereTheOrderSaysInsideAPrefixAndBeyond) {
  for (const char* key : {"aa1", "aa3", "bb1", "bb3", "dd1"}) Put(key, "v");
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  const auto at = [&it] { return it->Valid() ? it->key().ToString() : "(end)"; };
  it->Seek("aa2");
  EXPECT_EQ(at(), "aa3");
  it->Next();
  EXPECT_EQ(at(), "bb1");
  it->Next();
  it->Next();
  EXPECT_EQ(at(), "dd1");
  it->Prev();
  EXPECT_EQ(at(), "bb3");
  it->Seek("aa4");
  EXPECT_EQ(at(), "bb1");
  it->Prev();
  EXPECT_EQ(at(), "aa3");
  it->Seek("cc");
  EXPECT_EQ(at(), "dd1");
  it->Next();
  EXPECT_EQ(at(), "(end)");
  it->SeekForPrev("cc");
  EXPECT_EQ(at(), "bb3");
  it->Seek("bb1");
  it->Prev();
  EXPECT_EQ(at(), "aa3");
  EXPECT_OK(it->status());
}

// Iterators over one prefix of a memtable and a table: from a seek to the end of the prefix, with
// one step back anywhere.
TEST_P(MemtableRepsTest, AWalkOfOnePrefixEndsThereAndTurnsBack) {
  Random64 random(7);
  std::map<std::string, std::string> expected;
  const auto draw = [&random] {
    const auto letter = [&random] { return static_cast<char>('a' + random.Uniform(4)); };
    const std::string number = std::to_string(random.Uniform(30));
    return std::string{letter(), letter()} + number;
  };
  for (int i = 0; i < 300; ++i) {
    const std::string key = draw();
    expected[key] = std::to_string(i);
    Put(key, expected[key]);
    if (i == 150) Flush();
  }
  ReadOptions read;
  read.prefix_same_as_start = true;
  const std::unique_ptr<Iterator> it(db_->NewIterator(read));
  size_t shown = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string target = draw();
    auto wanted = expected.lower_bound(target);
    it->Seek(target);
    for (uint64_t left = random.Uniform(40);; ++wanted, it->Next()) {
      const bool is_there =
          wanted != expected.end() && wanted->first.substr(0, 2) == target.substr(0, 2);
      ASSERT_EQ(it->Valid(), is_there) << target;
      if (!is_there) break;
      ASSERT_EQ(it->key().ToString() + it->value().ToString(), wanted->first + wanted->second);
      ++shown;
      if (left-- != 0) continue;
      it->Prev();
      const bool has_before = wanted != expected.begin() &&
                              std::prev(wanted)->first.substr(0, 2) == target.substr(0, 2);
      ASSERT_EQ(it->Valid(), has_before) << target;
      if (has_before) {
        ASSERT_EQ(it->key().ToString(), std::prev(wanted)->first);
      }
      break;
    }
    ASSERT_OK(it->status());
  }
  EXPECT_GT(shown, 500u);
}

TEST_P(MemtableRepsTest, WhatManyThreadsWriteIsThereAndComesBackFromTheLog) {
  constexpr int kThreads = 4, kKeys = 300;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < kKeys; ++i) {
        Put(StrCat(i % 7, t, "/", i));
        if (i % 50 == 0) {
          const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
          std::string last;
          for (it->Seek(std::to_string(i % 7)); it->Valid(); it->Next()) {
            EXPECT_LT(last, it->key().ToString());
            last = it->key().ToString();
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const bool is_reopened : {false, true}) {
    if (is_reopened) Reopen();
    EXPECT_EQ(ReadRows().size(), size_t{kThreads * kKeys});
    EXPECT_EQ(Get("31/3"), "v");
  }
}

TEST_P(MemtableRepsTest, EntriesHaveChecksumsWhereAskedFor) {
  options_.memtable_protection_bytes_per_key = 8;
  Open();
  Put("aa", std::string(3000, 'v'));
  PinnableSlice value;
  ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "aa", &value));
  ASSERT_TRUE(value.IsPinned());
  const_cast<char*>(value.data())[7] ^= 1;
  EXPECT_NE(Get("aa").find("Corruption"), std::string::npos);
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsCorruption());
}

TEST(OwnRep, IsMadeSealedAndGivenHintsByPrefix) {
  const auto factory = std::make_shared<SetRepFactory>();
  TestDb test;
  test.options().memtable_factory = factory;
  test.options().memtable_insert_with_hint_prefix_extractor.reset(NewFixedPrefixTransform(1));
  test.Open();
  for (const char* key : {"a1", "b1", "a2", "b2", "a3"}) test.Put(key);
  EXPECT_EQ(factory->calls().inserted, 5);
  EXPECT_EQ(factory->calls().with_hint, 5);
  EXPECT_EQ(factory->calls().new_hints, 2);
  EXPECT_EQ(factory->calls().sealed, 0);
  test.Flush();
  EXPECT_EQ(factory->calls().sealed, 1);
  EXPECT_EQ(factory->calls().made, 2);
}

// The memory that it reports fills the write buffer.
TEST(OwnRep, IsFullByWhatItSays) {
  TestDb test;
  test.options().write_buffer_size = 64 << 10;
  test.options().memtable_factory = std::make_shared<SetRepFactory>();
  test.Open();
  for (int i = 0; i < 1100; ++i) test.Put(std::to_string(i), "");
  test.WaitForJobs();
  EXPECT_NE(test.Property("rocksdb.num-files-at-level0"), "0");
}

TEST(HashReps, NeedAPrefixExtractor) {
  TestDb test;
  test.options().memtable_factory.reset(NewHashSkipListRepFactory());
  test.Open();
  EXPECT_STREQ(test.db()->GetOptions().memtable_factory->Name(), "SkipListFactory");
  test.Put("k");
}

// One family of each kind, and one with in-place updates, in the same batches.
class MixedFamiliesTest : public DbTest {
 protected:
  static constexpr size_t kFamilies = 6;

  MixedFamiliesTest() {
    options_.allow_concurrent_memtable_write = false;
    for (size_t i = 0; i < kFamilies; ++i) {
      ColumnFamilyOptions family;
      family.write_buffer_size = 64 << 10;
      family.prefix_extractor.reset(NewFixedPrefixTransform(1));
      if (i == 1 || i == 2)
        family.memtable_factory = Factory(i == 1 ? "HashSkipList" : "HashLinkList");
      if (i == 3) family.memtable_factory = Factory("OfTheProgram");
      if (i == 4) family.memtable_factory = std::make_shared<VectorRepFactory>();
      family.inplace_update_support = i == 5;
      families_.emplace_back(i == 0 ? kDefaultColumnFamilyName : std::to_string(i), family);
    }
    OpenWith(families_);
  }
  void Update(Random64* random, size_t family, WriteBatch* batch) {
    const std::string key = std::to_string(random->Next() % 200);
    Rows* const rows = &expected_[family];
    if (random->Next() % 10 != 0) {
      const std::string value(random->Next() % 300, static_cast<char>('a' + random->Next() % 26));
      EXPECT_OK(batch->Put(handles_[family], key, value));
      (*rows)[key] = value;
    } else if (random->Next() % 2 == 0) {
      EXPECT_OK(batch->Delete(handles_[family], key));
      rows->erase(key);
    } else {
      EXPECT_OK(batch->DeleteRange(handles_[family], key, key + "5"));
      rows->erase(rows->lower_bound(key), rows->lower_bound(key + "5"));
    }
  }
  void Compare() {
    for (size_t i = 0; i < kFamilies; ++i) {
      EXPECT_EQ(ReadRows({}, handles_[i]), expected_[i]) << i;
      for (const auto& [key, value] : expected_[i]) EXPECT_EQ(Get(handles_[i], key), value);
    }
  }

  std::vector<ColumnFamilyDescriptor> families_;
  Rows expected_[kFamilies];
};

TEST_F(MixedFamiliesTest, HoldWhatWasWrittenThroughFlushesAndReopenings) {
  Random64 random(20251125);
  for (int round = 0; round < 1200; ++round) {
    WriteBatch batch;
    for (uint64_t n = random.Next() % 12; n > 0; --n) {
      Update(&random, random.Next() % kFamilies, &batch);
    }
    Write(&batch);
    if (round % 90 == 89) Flush(handles_[random.Next() % kFamilies]);
    if (round % 150 == 149) Compare();
    if (round % 200 != 199) continue;
    options_.avoid_flush_during_recovery = round % 400 == 199;
    OpenWith(families_);
    Compare();
  }
}

// Stops the first comparison of a thread until Open().
class GatedComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Gated"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (std::this_thread::get_id() == reader_.load()) {
      arrived_.release();
      opens_.acquire();
      reader_.store(std::thread::id());
    }
    return BytewiseComparator()->Compare(a, b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  void StopThisThread() const { reader_.store(std::this_thread::get_id()); }
  void AwaitReader() const { arrived_.acquire(); }
  void Open() const { opens_.release(); }

 private:
  mutable std::atomic<std::thread::id> reader_{};
  mutable std::binary_semaphore arrived_{0}, opens_{0};
};

TEST(VectorMemtableTest, WritersDoNotWaitForAReaderWhoSorts) {
  const GatedComparator comparator;
  TestDb test;
  test.options().comparator = &comparator;
  test.options().memtable_factory = std::make_shared<VectorRepFactory>();
  test.Open();
  for (const char* key : {"b", "a", "d", "c"}) test.Put(key);
  std::thread reader([&] {
    comparator.StopThisThread();
    EXPECT_EQ(test.Get("c"), "v");
  });
  comparator.AwaitReader();
  test.Put("e");  // would hang if it waited for the reader
  comparator.Open();
  reader.join();
  EXPECT_EQ(test.Keys(), "abcde");
}

}  // namespace
}  // namespace ashlar
