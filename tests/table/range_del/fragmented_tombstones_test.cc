// SPDX-License-Identifier: Apache-2.0
//
// Fragmented range tombstones are compared with a search through the unsorted ones: coverage for
// all keys and bounds, borders of both kinds, three key orders, and iteration in both directions.
#include "table/range_del/fragmented_tombstones.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "table/range_del/tombstone_iterator.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"

namespace ashlar {
namespace {

// A bytewise order that is not recognized as one, so that it is handled like any comparator of a
// user.
class CustomOrder final : public Comparator {
 public:
  const char* Name() const override { return "test.custom"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

const InternalKeyComparator& Bytewise() {
  static const InternalKeyComparator order(BytewiseComparator());
  return order;
}

std::shared_ptr<const FragmentedTombstones> Fragmented(
    std::vector<RangeTombstone> tombstones, const FragmentedTombstones::Border* border = nullptr,
    const InternalKeyComparator& order = Bytewise()) {
  auto list = std::make_shared<FragmentedTombstones>(order, std::move(tombstones), border);
  EXPECT_OK(list->CheckInvariants());
  return list;
}

TEST(FragmentedTombstones, AreCutAtEachOthersBorders) {
  const auto list = Fragmented({{"c", "g", 9}, {"a", "e", 7}});
  EXPECT_EQ(list->DebugString(), "[a, c) 7\n[c, e) 9 7\n[e, g) 9\n");
  EXPECT_EQ(list->tombstone_count(), 4u);
  EXPECT_EQ(list->smallest_seqno(), 7u);
  EXPECT_EQ(list->largest_seqno(), 9u);
}

TEST(FragmentedTombstones, EmptyAndReversedOnesLeaveNoTrace) {
  EXPECT_TRUE(Fragmented({})->empty());
  EXPECT_TRUE(Fragmented({{"b", "b", 3}, {"d", "c", 4}})->empty());
  EXPECT_EQ(Fragmented({})->MaxCoveringSeqno("a", kMaxSequenceNumber), 0u);
  EXPECT_EQ(Fragmented({})->Find("a"), 0u);
}

TEST(FragmentedTombstones, RepeatedOnesCountOnce) {
  const auto list = Fragmented({{"a", "c", 5}, {"a", "c", 5}, {"a", "c", 8}});
  EXPECT_EQ(list->DebugString(), "[a, c) 8 5\n");
}

TEST(FragmentedTombstones, PiecesOfOneTombstoneAreJoined) {
  EXPECT_EQ(Fragmented({{"a", "c", 5}, {"c", "f", 5}})->DebugString(), "[a, f) 5\n");
  EXPECT_EQ(Fragmented({{"a", "c", 5}, {"c", "f", 6}})->DebugString(), "[a, c) 5\n[c, f) 6\n");
  EXPECT_EQ(Fragmented({{"a", "c", 5}, {"d", "f", 5}})->DebugString(), "[a, c) 5\n[d, f) 5\n");
}

TEST(FragmentedTombstones, FindOnlyWhatTheReaderSees) {
  const auto list = Fragmented({{"a", "e", 7}, {"a", "e", 4}, {"a", "e", 9}});
  EXPECT_EQ(list->MaxCoveringSeqno("c", kMaxSequenceNumber), 9u);
  EXPECT_EQ(list->MaxCoveringSeqno("c", 8), 7u);
  EXPECT_EQ(list->MaxCoveringSeqno("c", 4), 4u);
  EXPECT_EQ(list->MaxCoveringSeqno("c", 3), 0u);
}

TEST(FragmentedTombstones, AreCutToAnExclusiveBorder) {
  const FragmentedTombstones::Border border{"c", "f", /*largest_is_inclusive=*/false};
  const auto list =
      Fragmented({{"a", "d", 5}, {"e", "z", 6}, {"a", "b", 7}, {"f", "g", 8}}, &border);
  EXPECT_EQ(list->DebugString(), "[c, d) 5\n[e, f) 6\n");
}

// More versions of the border's last key are in the next file, and the tombstone hides them as
// well.
TEST(FragmentedTombstones, AnInclusiveBorderKeepsItsLastKeyCovered) {
  const FragmentedTombstones::Border border{"c", "f", /*largest_is_inclusive=*/true};
  const auto list = Fragmented({{"a", "z", 5}, {"e", "f", 6}, {"f", "g", 8}}, &border);
  EXPECT_EQ(list->DebugString(), "[c, e) 5\n[e, f) 6 5\n[f, f] 8 5\n");
  EXPECT_EQ(list->MaxCoveringSeqno("f", kMaxSequenceNumber), 8u);
  EXPECT_EQ(list->MaxCoveringSeqno(Slice("f\0", 2), kMaxSequenceNumber), 0u);
  const auto whole = Fragmented({{"a", "z", 5}}, &border);
  EXPECT_EQ(whole->DebugString(), "[c, f] 5\n");
  EXPECT_EQ(whole->MaxCoveringSeqno("f", kMaxSequenceNumber), 5u);
}

TEST(FragmentedTombstones, ABorderIsWhatTheBoundaryKeysSay) {
  const std::string smallest = MakeInternalKey("c", 9, kTypeValue);
  std::string largest = MakeInternalKey("f", 9, kTypeValue);
  EXPECT_TRUE(FragmentedTombstones::BorderOf(smallest, largest).largest_is_inclusive);
  largest = MakeInternalKey("f", kMaxSequenceNumber, kTypeRangeDeletion);
  const auto border = FragmentedTombstones::BorderOf(smallest, largest);
  EXPECT_FALSE(border.largest_is_inclusive);
  EXPECT_EQ(border.smallest, Slice("c"));
  EXPECT_EQ(border.largest, Slice("f"));
}

TEST(TombstoneIterator, OverNothing) {
  TombstoneIterator none;
  none.SeekToFirst();
  EXPECT_FALSE(none.Valid());
  none.Seek("a");
  EXPECT_FALSE(none.Valid());
  TombstoneIterator all_newer(Fragmented({{"a", "c", 5}}), 4);
  all_newer.SeekToLast();
  EXPECT_FALSE(all_newer.Valid());
  all_newer.SeekForPrev("b");
  EXPECT_FALSE(all_newer.Valid());
}

TEST(TombstoneIterator, StepsOverWhatTheReaderDoesNotSee) {
  TombstoneIterator it(Fragmented({{"a", "b", 5}, {"c", "d", 9}, {"e", "f", 7}}), 8);
  it.SeekToFirst();
  EXPECT_EQ(it.DebugString(), "[a, b) 5");
  it.Next();
  EXPECT_EQ(it.DebugString(), "[e, f) 7");
  it.Prev();
  EXPECT_EQ(it.DebugString(), "[a, b) 5");
  it.Seek("c");
  EXPECT_EQ(it.DebugString(), "[e, f) 7");
  it.SeekForPrev("d");
  EXPECT_EQ(it.DebugString(), "[a, b) 5");
}

TEST(TombstoneIterator, EndsAtItsLastKeyOrBehindIt) {
  TombstoneIterator exclusive(Fragmented({{"a", "c", 5}}), 9);
  exclusive.SeekToFirst();
  EXPECT_EQ(exclusive.end_trailer(), kRangeTombstoneSentinel);
  const FragmentedTombstones::Border border{"a", "c", /*largest_is_inclusive=*/true};
  TombstoneIterator inclusive(Fragmented({{"a", "z", 5}}, &border), 9);
  inclusive.Seek("c");
  ASSERT_TRUE(inclusive.Valid());
  EXPECT_TRUE(inclusive.end_is_inclusive());
  EXPECT_EQ(inclusive.end_trailer(), 0u);
}

// A random set of tombstones, and the answers of a search through it.
class RandomTombstones {
 public:
  RandomTombstones(uint32_t seed, const InternalKeyComparator& order)
      : order_(order), random_(seed) {
    // Keys whose heads differ, keys with equal heads, and short keys.
    for (const char* prefix : {"", "common/prefix/", "long"}) {
      for (int i = 0; i < 12; i++) keys_.push_back(prefix + std::string(1 + i / 6, char('a' + i)));
    }
    keys_.push_back("");
    if (random_.OneIn(2)) std::erase_if(keys_, [](const std::string& k) { return k.size() < 14; });
    const auto before = [&](const std::string& a, const std::string& b) {
      return order_.OrderWithoutTimestamp(a, b) < 0;
    };
    std::sort(keys_.begin(), keys_.end(), before);
    const size_t count = random_.Uniform(20);
    for (size_t i = 0; i < count; i++) {
      tombstones_.push_back({AnyKey(), AnyKey(), 1 + random_.Uniform(30)});
    }
    border_ = {AnyKey(), AnyKey(), random_.OneIn(2)};
    if (order_.OrderWithoutTimestamp(border_.largest, border_.smallest) < 0) {
      std::swap(border_.smallest, border_.largest);
    }
    has_border_ = random_.OneIn(2);
  }

  std::shared_ptr<const FragmentedTombstones> Fragment() const {
    return Fragmented(tombstones_, has_border_ ? &border_ : nullptr, order_);
  }
  const std::vector<std::string>& keys() const { return keys_; }
  SequenceNumber MaxCovering(const Slice& key, SequenceNumber upper) const {
    if (has_border_) {
      const int behind = order_.OrderWithoutTimestamp(key, border_.largest);
      if (order_.OrderWithoutTimestamp(key, border_.smallest) < 0 || behind > 0) return 0;
      if (behind == 0 && !border_.largest_is_inclusive) return 0;
    }
    SequenceNumber result = 0;
    for (const RangeTombstone& t : tombstones_) {
      const bool holds = order_.OrderWithoutTimestamp(t.begin, key) <= 0 &&
                         order_.OrderWithoutTimestamp(key, t.end) < 0;
      if (holds && t.seqno <= upper) result = std::max(result, t.seqno);
    }
    return result;
  }

 private:
  Slice AnyKey() { return keys_[random_.Uniform(keys_.size())]; }

  const InternalKeyComparator& order_;
  Random64 random_;
  std::vector<std::string> keys_;  // in order
  std::vector<RangeTombstone> tombstones_;
  FragmentedTombstones::Border border_;
  bool has_border_ = false;
};

void CompareLookups(const RandomTombstones& random) {
  const auto list = random.Fragment();
  for (const std::string& key : random.keys()) {
    for (const SequenceNumber upper : {SequenceNumber{0}, SequenceNumber{7}, SequenceNumber{15},
                                       SequenceNumber{30}, kMaxSequenceNumber}) {
      ASSERT_EQ(list->MaxCoveringSeqno(key, upper), random.MaxCovering(key, upper))
          << key << " at " << upper << "\n"
          << list->DebugString();
    }
  }
}

// Iterations from every key in both directions find the same fragments as an iteration from the
// end.
void CompareWalks(const RandomTombstones& random, const InternalKeyComparator& order,
                  SequenceNumber upper) {
  TombstoneIterator it(random.Fragment(), upper);
  std::vector<std::string> all;
  for (it.SeekToFirst(); it.Valid(); it.Next()) all.push_back(it.DebugString());
  std::vector<std::string> backward;
  for (it.SeekToLast(); it.Valid(); it.Prev()) backward.push_back(it.DebugString());
  std::reverse(backward.begin(), backward.end());
  ASSERT_EQ(all, backward);
  for (const std::string& key : random.keys()) {
    std::vector<std::string> joined;
    it.SeekForPrev(key);
    if (it.Valid()) {
      ASSERT_LE(order.OrderWithoutTimestamp(it.begin(), key), 0);
    }
    for (; it.Valid(); it.Prev()) joined.insert(joined.begin(), it.DebugString());
    it.Seek(key);
    const SequenceNumber covering = random.MaxCovering(key, upper);
    ASSERT_EQ(it.Valid() && order.OrderWithoutTimestamp(it.begin(), key) <= 0 ? it.seqno() : 0,
              covering)
        << key;
    if (covering != 0) joined.pop_back();  // holds the key: both directions gave it
    for (; it.Valid(); it.Next()) joined.push_back(it.DebugString());
    ASSERT_EQ(all, joined) << key;
  }
}

class RandomFragments : public testing::TestWithParam<const Comparator*> {};

TEST_P(RandomFragments, CoverWhatTheTombstonesCover) {
  const InternalKeyComparator order(GetParam());
  for (uint32_t seed = 1; seed <= 400; seed++) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomTombstones random(seed, order);
    CompareLookups(random);
    CompareWalks(random, order, kMaxSequenceNumber);
    CompareWalks(random, order, 12);
    if (HasFatalFailure()) return;
  }
}

const CustomOrder custom_order;
INSTANTIATE_TEST_SUITE_P(Orders, RandomFragments,
                         testing::Values(BytewiseComparator(), ReverseBytewiseComparator(),
                                         &custom_order));

}  // namespace
}  // namespace ashlar
