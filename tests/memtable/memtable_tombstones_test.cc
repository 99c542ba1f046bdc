// SPDX-License-Identifier: Apache-2.0
//
// Range tombstones in a memtable: what they hide from which readers, while they are added in any
// order and by any thread.
#include "memtable/memtable_tombstones.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/comparator.h"
#include "memtable/memtable.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"

namespace ashlar {
namespace {

class TombstonesInMemTable : public testing::Test {
 protected:
  ~TombstonesInMemTable() override { table_->Unref(); }

  void Put(const Slice& key, SequenceNumber seqno, const Slice& value) {
    ASSERT_OK(table_->Add(seqno, kTypeValue, key, value));
  }
  std::string Get(const Slice& key, SequenceNumber snapshot) {
    PinnableSlice value;
    const LookupKey lookup_key(key, snapshot, table_->comparator().order());
    PointLookup lookup(lookup_key, &value), in_batch(lookup_key, nullptr);
    PointLookup* const batch[] = {&in_batch};
    table_->GetMany(batch, 1);
    table_->Get(lookup_key, &lookup);
    EXPECT_EQ(lookup.outcome(), in_batch.outcome());
    if (!lookup.decided()) return "(undecided)";
    return lookup.outcome() == PointLookup::Outcome::kFound ? value.ToString() : "(deleted)";
  }

  MemTable* const table_ = new MemTable(InternalKeyComparator(BytewiseComparator()), {}, 7);
};

TEST_F(TombstonesInMemTable, RangeTombstonesHideWhatIsOlder) {
  Put("b", 5, "old");
  ASSERT_OK(table_->Add(7, kTypeRangeDeletion, "a", "d"));
  Put("c", 8, "new");
  EXPECT_EQ(Get("b", 9), "(deleted)");
  EXPECT_EQ(Get("b", 6), "old");  // before the tombstone
  EXPECT_EQ(Get("c", 9), "new");
  EXPECT_EQ(Get("bb", 9), "(deleted)");  // older runs are not asked
  EXPECT_EQ(Get("d", 9), "(undecided)");
  EXPECT_EQ(table_->num_range_deletes(), 1u);
  EXPECT_EQ(table_->num_entries(), 3u);
  EXPECT_EQ(table_->num_deletes(), 0u);
}

TEST_F(TombstonesInMemTable, AMemtableOfOneTombstoneIsNotEmpty) {
  EXPECT_EQ(table_->Tombstones(), nullptr);
  ASSERT_OK(table_->Add(1, kTypeRangeDeletion, "b", "b"));
  ASSERT_OK(table_->Add(2, kTypeRangeDeletion, "b", "a"));
  EXPECT_TRUE(table_->IsEmpty());  // those hide nothing
  EXPECT_EQ(table_->num_entries(), 0u);
  const size_t bytes_before = table_->ApproximateMemoryUsage();
  ASSERT_OK(table_->Add(3, kTypeRangeDeletion, "a", "b"));
  EXPECT_FALSE(table_->IsEmpty());
  EXPECT_GT(table_->ApproximateMemoryUsage(), bytes_before);
  EXPECT_EQ(table_->Tombstones()->DebugString(), "[a, b) 3\n");
  EXPECT_EQ(table_->smallest_seqno(), 3u);
}

// Tombstones are added in random order. After each, the answers are compared with a search through
// all tombstones.
TEST_F(TombstonesInMemTable, RangeTombstonesOfAllSizesAreFound) {
  Random64 random(301);
  const auto key = [](uint64_t i) { return std::to_string(100 + i); };
  std::vector<std::array<uint64_t, 3>> all;  // begin, end, seqno
  for (SequenceNumber seqno = 1; seqno <= 300; seqno++) {
    const uint64_t begin = random.Uniform(100), end = begin + 1 + random.Uniform(20);
    ASSERT_OK(table_->Add(seqno, kTypeRangeDeletion, key(begin), key(end)));
    all.push_back({begin, end, seqno});
    if (random.OneIn(40)) {
      EXPECT_OK(table_->Tombstones()->CheckInvariants());
    }
    const uint64_t asked = random.Uniform(130);
    const SequenceNumber upper = 1 + random.Uniform(seqno);
    SequenceNumber expected = 0;
    for (const auto& [b, e, s] : all) {
      if (b <= asked && asked < e && s <= upper) expected = std::max(expected, s);
    }
    const std::string user_key = key(asked);
    const LookupKey lookup_key(user_key, upper, table_->comparator().order());
    PointLookup lookup(lookup_key, nullptr);
    EXPECT_EQ(table_->Get(lookup_key, &lookup), expected != 0) << user_key << " at " << upper;
    EXPECT_EQ(lookup.seqno(), expected);
    EXPECT_EQ(table_->Tombstones()->MaxCoveringSeqno(user_key, upper), expected);
  }
}

// Each tombstone encloses all earlier ones, so that the number of fragments is the square of the
// number of tombstones. Lists are counted and merged by the number of added tombstones.
TEST_F(TombstonesInMemTable, RangeTombstonesAroundEachOtherMakeFewLists) {
  constexpr uint64_t kCount = 500;
  for (uint64_t i = 1; i <= kCount; i++) {
    const std::string begin = std::to_string(2000 - i), end = std::to_string(2000 + i);
    ASSERT_OK(table_->Add(i, kTypeRangeDeletion, begin, end));
  }
  const std::string text = table_->DebugString();
  const size_t at = text.find("range tombstones");
  ASSERT_NE(at, std::string::npos);
  const std::string lists = text.substr(at, text.find('\n', at) - at);
  EXPECT_LE(std::count(lists.begin(), lists.end(), ' '), 11) << lists;  // two words, nine lists
  EXPECT_EQ(Get("2000", kCount), "(deleted)");
  for (const uint64_t seqno : {1, 77, 256, 499}) {
    const std::string first = std::to_string(2000 - seqno);
    const auto all = table_->Tombstones();
    EXPECT_EQ(all->MaxCoveringSeqno(first, kCount), kCount);
    EXPECT_EQ(all->MaxCoveringSeqno(first, seqno), seqno);
    EXPECT_EQ(all->MaxCoveringSeqno(first, seqno - 1), 0u);
  }
  EXPECT_EQ(table_->Tombstones()->size(), 2 * kCount - 1);
}

// No reader needs all of them at once, so that they stay in several lists.
TEST_F(TombstonesInMemTable, RangeTombstonesOfEveryListAreFound) {
  constexpr uint64_t kCount = 200;
  const auto key = [](uint64_t i) { return std::to_string(1000 + i); };
  for (uint64_t i = 1; i <= kCount; i++) {
    ASSERT_OK(table_->Add(i, kTypeRangeDeletion, key(i), key(i + 1)));
    for (uint64_t k = 1; k <= i; k++) ASSERT_EQ(Get(key(k), i), "(deleted)") << k << " of " << i;
    ASSERT_EQ(Get(key(i + 1), i), "(undecided)");
  }
}

// One thread adds tombstones. The others never miss a tombstone that existed before their read.
TEST_F(TombstonesInMemTable, RangeTombstonesAreReadWhileOthersAreAdded) {
  std::atomic<SequenceNumber> added{0};
  constexpr SequenceNumber kLast = 400;
  const auto key = [](uint64_t i) { return std::to_string(1000 + i); };
  const auto read = [&](uint64_t seed) {
    Random64 random(seed);
    for (SequenceNumber seen = 0; seen < kLast;) {
      seen = added.load(std::memory_order_acquire);
      if (seen == 0) continue;
      const std::string user_key = key(1 + random.Uniform(seen));
      const LookupKey lookup_key(user_key, seen, table_->comparator().order());
      PointLookup lookup(lookup_key, nullptr);
      EXPECT_TRUE(table_->Get(lookup_key, &lookup)) << user_key;
      if (seed == 2 && random.OneIn(8)) {
        EXPECT_GE(table_->Tombstones()->largest_seqno(), seen);
      }
    }
  };
  std::thread first(read, 1), second(read, 2);
  for (SequenceNumber seqno = 1; seqno <= kLast; seqno++) {
    EXPECT_OK(table_->Add(seqno, kTypeRangeDeletion, key(seqno), key(seqno + 5)));
    added.store(seqno, std::memory_order_release);
  }
  first.join();
  second.join();
  EXPECT_EQ(table_->Tombstones()->largest_seqno(), kLast);
}

TEST_F(TombstonesInMemTable, ReadersMayIgnoreThem) {
  Put("b", 5, "old");
  ASSERT_OK(table_->Add(7, kTypeRangeDeletion, "a", "d"));
  const LookupKey key("b", 9, KeyOrder::kBytewise);
  PinnableSlice value;
  PointLookup lookup(key, &value);
  lookup.IgnoreTombstones();
  EXPECT_TRUE(table_->Get(key, &lookup));
  EXPECT_EQ(value.ToString(), "old");
}

}  // namespace
}  // namespace ashlar
