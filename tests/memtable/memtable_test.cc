// SPDX-License-Identifier: Apache-2.0
//
// What a memtable guarantees to the database: versions, snapshots, iterators, counters, estimates
// and pinning, in both representations.
#include "memtable/memtable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/comparator.h"
#include "table/iterator/internal_iterator.h"
#include "tests/support/moved_clock.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"

namespace ashlar {
namespace {

using Representation = MemTableOptions::Representation;

class MemTableTest : public testing::TestWithParam<Representation> {
 protected:
  ~MemTableTest() override {
    if (table_ != nullptr) table_->Unref();
  }

  void Open(MemTableOptions options = {}, const Comparator* comparator = BytewiseComparator()) {
    options.representation = GetParam();
    table_ = new MemTable(InternalKeyComparator(comparator), options, 7);
  }
  void Put(const Slice& key, SequenceNumber seqno, const Slice& value) {
    ASSERT_OK(table_->Add(seqno, kTypeValue, key, value));
  }
  void Delete(const Slice& key, SequenceNumber seqno) {
    ASSERT_OK(table_->Add(seqno, kTypeDeletion, key, Slice()));
  }
  std::string Get(const Slice& key, SequenceNumber snapshot) {
    PinnableSlice value;
    const LookupKey lookup_key(key, snapshot, table_->comparator().order());
    PointLookup lookup(lookup_key, &value);
    const bool decided = table_->Get(lookup_key, &lookup);
    EXPECT_EQ(decided, lookup.decided());
    switch (lookup.outcome()) {
      case PointLookup::Outcome::kUndecided: return "(undecided)";
      case PointLookup::Outcome::kFound: return value.ToString();
      case PointLookup::Outcome::kDeleted: return "(deleted)";
      case PointLookup::Outcome::kFailed: return lookup.status().ToString();
    }
    return "?";
  }
  std::unique_ptr<InternalIterator> Iterate() {
    return std::unique_ptr<InternalIterator>(table_->NewIterator(nullptr));
  }
  static std::string Show(const InternalIterator& it) {
    if (!it.Valid()) return "(end)";
    return ExtractUserKey(it.key()).ToString() + "@" +
           std::to_string(TrailerSeqno(ExtractTrailer(it.key()))) + "=" + it.value().ToString();
  }
  std::string Dump() {
    std::string result;
    const auto it = Iterate();
    for (it->SeekToFirst(); it->Valid(); it->Next()) result += Show(*it) + " ";
    return result;
  }

  MemTable* table_ = nullptr;
};

TEST_P(MemTableTest, ShowsEachSnapshotItsVersion) {
  Open();
  Put("k", 10, "ten");
  Put("k", 30, "thirty");
  Delete("k", 20);
  EXPECT_EQ(Get("k", 9), "(undecided)");
  EXPECT_EQ(Get("k", 10), "ten");
  EXPECT_EQ(Get("k", 19), "ten");
  EXPECT_EQ(Get("k", 20), "(deleted)");
  EXPECT_EQ(Get("k", kMaxSequenceNumber), "thirty");
  EXPECT_EQ(Get("j", 100), "(undecided)");
  EXPECT_EQ(Get("ka", 100), "(undecided)");
  EXPECT_EQ(Get("", 100), "(undecided)");
}

TEST_P(MemTableTest, HoldsEmptyKeysAndValues) {
  Open();
  EXPECT_TRUE(table_->IsEmpty());
  Put("", 1, "");
  Put(Slice("\0", 1), 2, "zero");
  EXPECT_FALSE(table_->IsEmpty());
  EXPECT_EQ(Get("", 5), "");
  EXPECT_EQ(Get(Slice("\0", 1), 5), "zero");
  EXPECT_EQ(Get(Slice("\0\0", 2), 5), "(undecided)");
}

TEST_P(MemTableTest, AnswersManyLookupsAtOnce) {
  Open();
  for (int i = 0; i < 100; i += 2) Put("key" + std::to_string(i), 5, std::to_string(i));
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("key" + std::to_string(i));
  std::deque<LookupKey> keys;
  std::deque<PinnableSlice> values(100);
  std::deque<PointLookup> lookups;
  std::vector<PointLookup*> pointers;
  for (size_t i = 0; i < 100; ++i) {
    keys.emplace_back(names[i], i == 50 ? 4 : 9, KeyOrder::kBytewise);
    lookups.emplace_back(keys.back(), &values[i]);
    pointers.push_back(&lookups.back());
  }
  lookups[0].Fail(Status::IOError("decided before"));
  table_->GetMany(pointers.data(), pointers.size());
  EXPECT_EQ(lookups[0].outcome(), PointLookup::Outcome::kFailed);
  for (size_t i = 1; i < 100; ++i) {
    const bool is_there = i % 2 == 0 && i != 50;
    ASSERT_EQ(lookups[i].decided(), is_there) << i;
    ASSERT_EQ(values[i].ToString(), is_there ? std::to_string(i) : "");
  }
}

TEST_P(MemTableTest, IteratesUserKeysUpAndVersionsDown) {
  Open();
  Put("b", 3, "b3");
  Put("a", 1, "a1");
  Put("b", 5, "b5");
  Put("c", 2, "c2");
  EXPECT_EQ(Dump(), "a@1=a1 b@5=b5 b@3=b3 c@2=c2 ");
}

TEST_P(MemTableTest, FollowsTheReverseOrder) {
  Open({}, ReverseBytewiseComparator());
  Put("a", 1, "1");
  Put("ab", 2, "2");
  Put("b", 3, "3");
  EXPECT_EQ(Dump(), "b@3=3 ab@2=2 a@1=1 ");
  EXPECT_EQ(Get("ab", 9), "2");
}

TEST_P(MemTableTest, SeeksBothWays) {
  Open();
  for (const char* key : {"b", "d", "f"}) Put(key, 5, key);
  const auto it = Iterate();
  const auto seek = [&](const char* key, SequenceNumber seqno) {
    it->Seek(MakeInternalKey(key, seqno, kValueTypeForSeek));
    return Show(*it);
  };
  const auto seek_for_prev = [&](const char* key, SequenceNumber seqno, ValueType type) {
    it->SeekForPrev(MakeInternalKey(key, seqno, type));
    return Show(*it);
  };
  EXPECT_EQ(seek("a", 9), "b@5=b");
  EXPECT_EQ(seek("d", 9), "d@5=d");
  EXPECT_EQ(seek("d", 4), "f@5=f");
  EXPECT_EQ(seek("g", 9), "(end)");
  EXPECT_EQ(seek_for_prev("a", 9, kTypeValue), "(end)");
  EXPECT_EQ(seek_for_prev("d", 5, kTypeValue), "d@5=d");
  EXPECT_EQ(seek_for_prev("d", 6, kTypeValue), "b@5=b");
  EXPECT_EQ(seek_for_prev("z", 0, kTypeDeletion), "f@5=f");
  it->SeekToLast();
  EXPECT_EQ(Show(*it), "f@5=f");
}

TEST_P(MemTableTest, TurnsAroundAnywhere) {
  Open();
  Random64 random(3);
  std::vector<std::string> keys;
  for (int i = 0; i < 400; ++i) keys.push_back(random.Letters(1 + random.Uniform(6)));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (size_t i = 0; i < keys.size(); ++i) Put(keys[(i * 7) % keys.size()], 1 + i, "");
  const auto it = Iterate();
  for (int round = 0; round < 200; ++round) {
    size_t at = random.Uniform(keys.size());
    it->Seek(MakeInternalKey(keys[at], kMaxSequenceNumber, kValueTypeForSeek));
    for (uint64_t steps = random.Uniform(100); steps > 0; --steps) {
      ASSERT_TRUE(it->Valid());
      ASSERT_EQ(ExtractUserKey(it->key()).ToString(), keys[at]);
      const bool forward = at == 0 || (at + 1 < keys.size() && random.OneIn(3));
      forward ? it->Next() : it->Prev();
      at += forward ? 1 : size_t(-1);
    }
  }
}

TEST_P(MemTableTest, IteratesBackwardsToTheFirstEntry) {
  Open();
  for (int i = 100; i < 300; ++i) Put(std::to_string(i), 1, "");
  const auto it = Iterate();
  int expected = 299;
  for (it->SeekToLast(); it->Valid(); it->Prev(), --expected) {
    ASSERT_EQ(ExtractUserKey(it->key()).ToString(), std::to_string(expected));
  }
  EXPECT_EQ(expected, 99);
}

TEST_P(MemTableTest, BuildsIteratorsInAnArena) {
  Open();
  Put("a", 1, "x");
  Arena arena;
  InternalIterator* it = table_->NewIterator(&arena);
  it->SeekToFirst();
  EXPECT_EQ(Show(*it), "a@1=x");
  DestroyIterator(it, IteratorHome::kArena);
}

TEST_P(MemTableTest, IsAsOldAsItsFirstEntry) {
  MovedClock clock;
  int64_t begin = 0;
  ASSERT_OK(clock.GetCurrentTime(&begin));
  MemTableOptions options;
  options.clock = &clock;
  Open(options);
  EXPECT_EQ(table_->oldest_entry_seconds(), 0u);
  clock.moved_by_seconds = 1000;
  Put("a", 1, "");
  const uint64_t seconds = table_->oldest_entry_seconds();
  EXPECT_GE(seconds, static_cast<uint64_t>(begin) + 1000);
  clock.moved_by_seconds = 2000;
  InsertHint hint;
  ASSERT_OK(table_->Add(2, kTypeValue, "b", "", &hint));
  table_->AddCounters(&hint);
  EXPECT_EQ(table_->oldest_entry_seconds(), seconds);
}

TEST_P(MemTableTest, CountsWhatWasAdded) {
  Open();
  EXPECT_EQ(table_->num_entries(), 0u);
  Put("abc", 12, "12345");
  Delete("abc", 11);
  const MemTableCounters counters = table_->counters();
  EXPECT_EQ(counters.entries, 2u);
  EXPECT_EQ(counters.deletes, 1u);
  EXPECT_EQ(counters.raw_bytes, (3 + 8 + 5) + (3 + 8u));
  EXPECT_EQ(counters.smallest_seqno, 11u);
  EXPECT_EQ(counters.largest_seqno, 12u);
  EXPECT_EQ(table_->id(), 7u);
  table_->CheckInvariants();
  const std::string text = table_->DebugString();
  EXPECT_TRUE(text.starts_with("memtable 7 ")) << text;
  EXPECT_NE(text.find("\n  entries 2\n  deletes 1\n  raw bytes 27\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  seqnos 11..12\n"), std::string::npos) << text;
  EXPECT_GE(table_->ApproximateMemoryUsage(), counters.raw_bytes);
}

TEST_P(MemTableTest, AddsTheCountersOfABatchAtItsEnd) {
  Open();
  for (const bool exclusive : {true, false}) {
    InsertHint hint;
    hint.exclusive = exclusive;
    const SequenceNumber first = exclusive ? 1 : 11;
    for (SequenceNumber seqno = first; seqno < first + 10; ++seqno) {
      ASSERT_OK(table_->Add(seqno, kTypeValue, "k" + std::to_string(seqno), "v", &hint));
    }
    EXPECT_EQ(table_->num_entries(), first - 1);
    table_->AddCounters(&hint);
    EXPECT_EQ(hint.pending.entries, 0u);
  }
  EXPECT_EQ(table_->num_entries(), 20u);
  EXPECT_EQ(table_->smallest_seqno(), 1u);
  EXPECT_EQ(table_->largest_seqno(), 20u);
}

TEST_P(MemTableTest, EstimatesRanges) {
  Open();
  for (int i = 10000; i < 20000; ++i) Put(std::to_string(i), 1, "0123456789");
  const MemTable::RangeEstimate all = table_->EstimateRange("0", "9");
  EXPECT_GT(all.entries, 5000u);
  EXPECT_LE(all.entries, 10000u);
  EXPECT_EQ(all.bytes, all.entries * (5 + 8 + 10));
  const MemTable::RangeEstimate quarter = table_->EstimateRange("12500", "15000");
  EXPECT_GT(quarter.entries, 1200u);
  EXPECT_LT(quarter.entries, 5000u);
  EXPECT_EQ(table_->EstimateRange("3", "1").entries, 0u);
}

TEST_P(MemTableTest, PinsLargeValuesBeyondItsLastOtherReference) {
  Open();
  const std::string large(PointLookup::kCopyBytes + 1, 'x');
  Put("k", 1, large);
  PinnableSlice value;
  const LookupKey key("k", 5, KeyOrder::kBytewise);
  PointLookup lookup(key, &value);
  ASSERT_TRUE(table_->Get(key, &lookup));
  table_->Unref();
  table_ = nullptr;
  EXPECT_TRUE(value.IsPinned());
  EXPECT_EQ(value.ToString(), large);
}

TEST_P(MemTableTest, NeverLosesAKeyToItsBloomFilter) {
  MemTableOptions options;
  options.bloom_bits = 10000;
  options.bloom_whole_keys = true;
  Open(options);
  for (int i = 0; i < 1000; ++i) Put("key" + std::to_string(i), 1, std::to_string(i));
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(Get("key" + std::to_string(i), 1), std::to_string(i));
  EXPECT_EQ(Get("other", 1), "(undecided)");
}

// Also if the lookups of a batch take different paths.
TEST_P(MemTableTest, CountsAnAnswerOfItsBloomFilterOnce) {
  for (const bool is_checked : {false, true}) {
    MemTableOptions options;
    options.bloom_bits = 10000;
    options.bloom_whole_keys = true;
    if (is_checked) options.checks.checksum_bytes = 8;
    Open(options);
    Put("k", 1, "v");
    std::deque<LookupKey> keys;
    std::deque<PinnableSlice> values(2);
    std::deque<PointLookup> lookups;
    for (const char* key : {"k", "absent"}) {
      keys.emplace_back(key, 9, KeyOrder::kBytewise);
      lookups.emplace_back(keys.back(), &values[lookups.size()]);
    }
    PointLookup* const pointers[] = {&lookups[0], &lookups[1]};
    table_->GetMany(pointers, 2);
    EXPECT_EQ(values[0].ToString(), "v");
    EXPECT_EQ(lookups[0].counters.memtable_filter_positive, 1u);
    EXPECT_EQ(lookups[0].counters.memtable_filter_useful, 0u);
    EXPECT_EQ(lookups[1].counters.memtable_filter_positive, 0u);
    EXPECT_EQ(lookups[1].counters.memtable_filter_useful, 1u);
    table_->Unref();
    table_ = nullptr;
  }
}

TEST_P(MemTableTest, NeverLosesAPrefixToItsBloomFilter) {
  MemTableOptions options;
  options.bloom_bits = 1000;
  options.bloom_prefixes.reset(NewFixedPrefixTransform(4));
  Open(options);
  Put("pre-fixed", 1, "1");
  Put("out", 1, "of domain");
  EXPECT_EQ(Get("pre-fixed", 1), "1");
  EXPECT_EQ(Get("out", 1), "of domain");
  EXPECT_EQ(Get("pre-", 1), "(undecided)");
}

TEST_P(MemTableTest, TakesManyWritersBesideReaders) {
  Open();
  constexpr int kWriters = 3, kKeys = 2000;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      InsertHint hint;
      for (int i = 0; i < kKeys; ++i) {
        const auto seqno = static_cast<SequenceNumber>(i * kWriters + w + 1);
        const std::string key = std::to_string((i * 7919) % kKeys) + "/" + std::to_string(w);
        EXPECT_OK(table_->Add(seqno, kTypeValue, key, key, &hint));
        if (i % 100 == 99) table_->AddCounters(&hint);
      }
      table_->AddCounters(&hint);
    });
  }
  std::thread reader([&] {
    while (GetParam() == Representation::kBlinkTree && !stop.load(std::memory_order_acquire)) {
      const auto it = Iterate();
      std::string last;
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        ASSERT_EQ(it->value(), ExtractUserKey(it->key()));
        ASSERT_LT(last, it->value().ToString());
        last = it->value().ToString();
      }
    }
  });
  for (std::thread& thread : threads) thread.join();
  stop.store(true, std::memory_order_release);
  reader.join();
  EXPECT_EQ(table_->num_entries(), static_cast<uint64_t>(kWriters * kKeys));
  for (int i = 0; i < kKeys; ++i) {
    const std::string key = std::to_string(i) + "/1";
    ASSERT_EQ(Get(key, kMaxSequenceNumber), key);
  }
}

INSTANTIATE_TEST_SUITE_P(Representations, MemTableTest,
                         testing::Values(Representation::kBlinkTree, Representation::kVector),
                         [](const auto& info) {
                           return info.param == Representation::kBlinkTree ? "blink_tree"
                                                                           : "vector";
                         });

TEST(MemTableBlinkTree, RefusesTheSameInternalKeyTwice) {
  auto* table = new MemTable(InternalKeyComparator(BytewiseComparator()), {}, 1);
  for (const bool exclusive : {true, false}) {
    InsertHint hint;
    hint.exclusive = exclusive;
    const std::string key = exclusive ? "a" : "b";
    EXPECT_OK(table->Add(1, kTypeValue, key, "first", &hint));
    EXPECT_TRUE(table->Add(1, kTypeValue, key, "second", &hint).IsTryAgain());
    EXPECT_OK(table->Add(1, kTypeDeletion, key, "", &hint));
  }
  table->Unref();
}

// Values that are copied ahead are the same: empty ones, short ones, and ones that are longer than
// the copied part.
TEST_P(MemTableTest, WhoCopiesAllValuesSeesTheSameEntries) {
  Open();
  for (uint64_t i = 0; i < 300; ++i) {
    const std::string value(i * i % 5000, static_cast<char>('a' + i % 26));
    Put("key" + std::to_string(i * 7919 % 300), i + 1, value);
  }
  const std::unique_ptr<InternalIterator> copied(
      table_->NewIterator(nullptr, nullptr, MemTable::ValueUse::kCopiesAll));
  std::string entries;
  for (copied->SeekToFirst(); copied->Valid(); copied->Next()) entries += Show(*copied) + " ";
  EXPECT_EQ(entries, Dump());
  copied->SeekToLast();
  EXPECT_EQ(ExtractUserKey(copied->key()), Slice("key99"));
}

TEST(MemTableVector, KeepsWhatWasSortedForAnEarlierReader) {
  MemTableOptions options;
  options.representation = Representation::kVector;
  auto* table = new MemTable(InternalKeyComparator(BytewiseComparator()), options, 1);
  EXPECT_OK(table->Add(1, kTypeValue, "m", ""));
  std::unique_ptr<InternalIterator> early(table->NewIterator(nullptr));
  EXPECT_OK(table->Add(2, kTypeValue, "z", ""));
  EXPECT_OK(table->Add(3, kTypeValue, "a", ""));
  std::unique_ptr<InternalIterator> late(table->NewIterator(nullptr));
  const auto keys_of = [](InternalIterator* it) {
    std::string keys;
    for (it->SeekToFirst(); it->Valid(); it->Next()) keys += ExtractUserKey(it->key()).ToString();
    return keys;
  };
  EXPECT_EQ(keys_of(early.get()), "m");
  EXPECT_EQ(keys_of(late.get()), "amz");
  table->Unref();
}

}  // namespace
}  // namespace ashlar
