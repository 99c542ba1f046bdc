// SPDX-License-Identifier: Apache-2.0
//
// The B-link tree is compared with a sorted map: every order, with and without a common prefix,
// nodes of every size, and iteration while nodes split.
#include "memtable/blink_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "tests/memtable/length_first_comparator.h"
#include "util/random.h"

namespace ashlar {
namespace {

using Cursor = BlinkTree::Cursor;
using Window = BlinkTree::Window;

struct Setup {
  const char* name;
  const Comparator* comparator;
  const char* prefix_of_tree;
  const char* prefix_of_keys;
  bool exclusive;
  uint32_t fanout = BlinkTree::kMaxFanout;
};

class BlinkTreeModel : public testing::TestWithParam<Setup> {
 protected:
  struct Less {
    const InternalKeyComparator* comparator;
    bool operator()(const std::string& a, const std::string& b) const {
      return comparator->Compare(a, b) < 0;
    }
  };
  using Model = std::map<std::string, std::string, Less>;

  BlinkTreeModel()
      : comparator_(GetParam().comparator),
        tree_(comparator_, GetParam().prefix_of_tree, &arena_, GetParam().fanout),
        model_(Less{&comparator_}) {}

  // Short keys of three letters, including zero bytes, so that many keys and heads are equal.
  std::string RandomKey() {
    std::string key = random_.OneIn(8) ? "" : GetParam().prefix_of_keys;
    for (uint64_t n = random_.Uniform(12); n > 0; --n) key += "\0a\xff"[random_.Uniform(3)];
    return key;
  }
  void Insert(const std::string& user_key, SequenceNumber seqno, const std::string& value) {
    const uint64_t trailer = PackTrailer(seqno, kTypeValue);
    const std::string key = MakeInternalKey(user_key, seqno, kTypeValue);
    const bool is_new = model_.emplace(key, value).second;
    EXPECT_EQ(tree_.Insert(tree_.At(user_key, trailer), value, GetParam().exclusive), is_new);
  }
  void Fill(int count) {
    for (int i = 0; i < count; ++i) {
      Insert(RandomKey(), random_.Uniform(50), std::to_string(i));
    }
  }
  BlinkTree::Position At(const Slice& key) const {
    return tree_.At(ExtractUserKey(key), ExtractTrailer(key));
  }
  static std::string KeyOf(const MemTableEntry* entry) {
    return entry == nullptr ? "(none)" : entry->internal_key().ToString();
  }
  static std::string KeyOf(const Window& window) {
    return KeyOf(window.IsValid() ? window.entries[window.index] : nullptr);
  }
  std::string KeyOf(Model::const_iterator it) const {
    return it == model_.end() ? "(none)" : it->first;
  }

  Random64 random_{301};
  const InternalKeyComparator comparator_;
  ConcurrentArena arena_;
  BlinkTree tree_;
  Model model_;
};

TEST_P(BlinkTreeModel, IsEmptyUntilTheFirstInsertAndNeverAgain) {
  EXPECT_TRUE(tree_.IsEmpty());
  for (SequenceNumber seqno = 1; seqno < 500; ++seqno) {
    Insert(RandomKey(), seqno, "v");
    ASSERT_FALSE(tree_.IsEmpty()) << seqno;
  }
}

TEST_P(BlinkTreeModel, HoldsTheEntriesInOrder) {
  Fill(3000);
  Window window;
  tree_.SeekToFirst(&window);
  for (const auto& [key, value] : model_) {
    ASSERT_EQ(KeyOf(window), key);
    ASSERT_EQ(window.entries[window.index]->value().ToString(), value);
    tree_.Next(&window);
  }
  EXPECT_FALSE(window.IsValid());
  tree_.CheckInvariants();
  tree_.SeekToLast(&window);
  EXPECT_EQ(KeyOf(window), model_.rbegin()->first);
}

TEST_P(BlinkTreeModel, SeeksLikeTheModel) {
  Fill(1000);
  for (int i = 0; i < 3000; ++i) {
    const std::string target = MakeInternalKey(RandomKey(), random_.Uniform(60), kValueTypeForSeek);
    const auto at_or_after = model_.lower_bound(target);
    Window window;
    tree_.Seek(At(target), &window);
    ASSERT_EQ(KeyOf(window), KeyOf(at_or_after));
    auto before = model_.upper_bound(target);
    before = before == model_.begin() ? model_.end() : std::prev(before);
    tree_.SeekForPrev(At(target), &window);
    ASSERT_EQ(KeyOf(window), KeyOf(before));
    const bool is_there =
        at_or_after != model_.end() &&
        comparator_.SameKey(ExtractUserKey(at_or_after->first), ExtractUserKey(target));
    ASSERT_EQ(KeyOf(tree_.Find(At(target)).entry), KeyOf(is_there ? at_or_after : model_.end()));
  }
}

// A key with many versions, which begin in the middle of one leaf and end in another.
TEST_P(BlinkTreeModel, StepsFromVersionToVersion) {
  Fill(500);
  const std::string key = std::string(GetParam().prefix_of_keys) + "a";
  for (SequenceNumber seqno = 1000; seqno > 900; --seqno) Insert(key, seqno, "version");
  for (SequenceNumber newest = 1000; newest > 900; newest -= 9) {
    Cursor cursor = tree_.Find(tree_.At(key, PackTrailer(newest, kValueTypeForSeek)));
    for (SequenceNumber seqno = newest; seqno > 900; --seqno) {
      ASSERT_NE(cursor.entry, nullptr);
      ASSERT_EQ(cursor.entry->user_key(), key);
      ASSERT_EQ(TrailerSeqno(cursor.entry->trailer()), seqno);
      // An insertion makes the cursor search for its position again.
      if (seqno % 10 == 5) Insert(key, seqno + 2000, "newer");
      tree_.Next(&cursor);
    }
  }
  auto last = model_.end();
  Cursor cursor = tree_.Find(At((--last)->first));
  tree_.Next(&cursor);
  EXPECT_EQ(cursor.entry, nullptr);
}

TEST_P(BlinkTreeModel, FindsManyKeysLikeOne) {
  Fill(1000);
  for (int round = 0; round < 100; ++round) {
    const size_t count = 1 + random_.Uniform(BlinkTree::kMaxBatch);
    std::vector<std::string> targets;
    std::vector<BlinkTree::Position> positions;
    for (size_t i = 0; i < count; ++i) {
      targets.push_back(MakeInternalKey(RandomKey(), random_.Uniform(60), kValueTypeForSeek));
    }
    for (const std::string& target : targets) positions.push_back(At(target));
    Cursor found[BlinkTree::kMaxBatch];
    tree_.FindMany(positions.data(), count, found);
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(found[i].entry, tree_.Find(positions[i]).entry);
  }
}

TEST_P(BlinkTreeModel, WalksBackwards) {
  Fill(1000);
  Window window;
  tree_.SeekToLast(&window);
  for (auto expected = model_.end(); expected != model_.begin(); tree_.Prev(&window)) {
    ASSERT_EQ(KeyOf(window), (--expected)->first);
  }
  EXPECT_FALSE(window.IsValid());
}

// An iteration keeps its position while its leaf and the neighbours split: it returns all entries
// that existed when it began, each once, and other entries only in their order.
TEST_P(BlinkTreeModel, WalksWhileLeavesSplit) {
  for (const bool forward : {true, false}) {
    Fill(200);
    const Model before = model_;
    Window window;
    forward ? tree_.SeekToFirst(&window) : tree_.SeekToLast(&window);
    std::vector<std::string> seen;
    while (window.IsValid()) {
      seen.push_back(KeyOf(window));
      Fill(2);
      forward ? tree_.Next(&window) : tree_.Prev(&window);
    }
    if (!forward) std::reverse(seen.begin(), seen.end());
    for (size_t i = 1; i < seen.size(); ++i)
      ASSERT_LT(comparator_.Compare(seen[i - 1], seen[i]), 0);
    for (const std::string& key : seen) ASSERT_TRUE(model_.contains(key));
    size_t old_ones = 0;
    for (const std::string& key : seen) old_ones += before.count(key);
    ASSERT_EQ(old_ones, before.size());
  }
  tree_.CheckInvariants();
}

// The copy of a leaf in a window may be out of date in both directions. No step may skip an entry
// that existed when the iteration began.
TEST_P(BlinkTreeModel, TurnsAroundWhileLeavesSplit) {
  Fill(200);
  for (int round = 0; round < 60; ++round) {
    const Model old = model_;
    Window window;
    tree_.SeekForPrev(At(MakeInternalKey(RandomKey(), 0, kTypeDeletion)), &window);
    for (int steps = 0; steps < 30 && window.IsValid(); ++steps) {
      const std::string at = KeyOf(window);
      Fill(1);
      const bool forward = random_.OneIn(2);
      forward ? tree_.Next(&window) : tree_.Prev(&window);
      const auto neighbour = forward ? old.upper_bound(at) : old.lower_bound(at);
      const bool is_last = neighbour == (forward ? old.end() : old.begin());
      const std::string expected =
          is_last ? "" : (forward ? neighbour : std::prev(neighbour))->first;
      if (!window.IsValid()) {
        ASSERT_TRUE(is_last);
        break;
      }
      ASSERT_TRUE(model_.contains(KeyOf(window)));
      const int sign = forward ? 1 : -1;
      ASSERT_GT(sign * comparator_.Compare(KeyOf(window), at), 0);
      if (is_last) continue;
      ASSERT_LE(sign * comparator_.Compare(KeyOf(window), expected), 0);
    }
  }
}

TEST_P(BlinkTreeModel, TakesKeysInAnyPattern) {
  const auto key = [](int i) {
    char text[32];
    snprintf(text, sizeof(text), "%s%010d", GetParam().prefix_of_keys, i);
    return std::string(text);
  };
  for (int i = 0; i < 500; ++i) Insert(key(i), 1, "up");
  for (int i = 2000; i > 1500; --i) Insert(key(i), 1, "down");
  for (int i = 500; i < 1000; ++i) {
    Insert(key(i), 1, "left of two runs");
    Insert(key(i + 500), 1, "right of two runs");
  }
  Window window;
  tree_.SeekToFirst(&window);
  for (const auto& entry : model_) {
    ASSERT_EQ(KeyOf(window), entry.first);
    tree_.Next(&window);
  }
  EXPECT_FALSE(window.IsValid());
  tree_.CheckInvariants();
}

TEST_P(BlinkTreeModel, EstimatesFractions) {
  if (GetParam().fanout < BlinkTree::kMaxFanout) GTEST_SKIP() << "rests on nodes of many pairs";
  for (int i = 0; i < 20000; ++i) Insert(RandomKey() + std::to_string(i), 7, "");
  size_t rank = 0;
  for (const auto& entry : model_) {
    if (++rank % 4000 != 0) continue;
    const double fraction = static_cast<double>(rank) / static_cast<double>(model_.size());
    EXPECT_NEAR(tree_.FractionBefore(At(entry.first)), fraction, 0.1);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Orders, BlinkTreeModel,
    testing::Values(
        Setup{"bytewise", BytewiseComparator(), "", "", true},
        Setup{"bytewise_concurrent", BytewiseComparator(), "", "", false},
        Setup{"reverse", ReverseBytewiseComparator(), "", "", true},
        Setup{"reverse_concurrent", ReverseBytewiseComparator(), "", "", false},
        Setup{"custom", &kLengthFirst, "", "", true},
        Setup{"custom_concurrent", &kLengthFirst, "", "", false},
        Setup{"small_nodes", BytewiseComparator(), "", "", true, 3},
        Setup{"small_nodes_concurrent", BytewiseComparator(), "", "", false, 4},
        Setup{"small_nodes_custom", &kLengthFirst, "", "", false, 5},
        Setup{"prefix", BytewiseComparator(), "table/user/", "table/user/", true},
        Setup{"prefix_concurrent", BytewiseComparator(), "table/user/", "table/user/", false},
        Setup{"prefix_reverse", ReverseBytewiseComparator(), "table/user/", "table/user/", false},
        Setup{"prefix_not_guessed", BytewiseComparator(), "", "table/user/", false},
        Setup{"prefix_guessed_wrong", BytewiseComparator(), "table/zzz", "table/user/", false},
        Setup{"prefix_of_custom_order", &kLengthFirst, "table/", "table/user/", false}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(BlinkTree, IsEmptyAtFirst) {
  ConcurrentArena arena;
  BlinkTree tree(InternalKeyComparator(BytewiseComparator()), "", &arena);
  Window window;
  tree.SeekToFirst(&window);
  EXPECT_FALSE(window.IsValid());
  tree.SeekToLast(&window);
  EXPECT_FALSE(window.IsValid());
  tree.Seek(tree.At("", 0), &window);
  EXPECT_FALSE(window.IsValid());
  tree.SeekForPrev(tree.At("x", 0), &window);
  EXPECT_FALSE(window.IsValid());
  EXPECT_EQ(tree.Find(tree.At("x", 0)).entry, nullptr);
  EXPECT_EQ(tree.FractionBefore(tree.At("x", 0)), 0);
  tree.CheckInvariants();
}

// Keys with the greatest possible heads, which are also the heads of unused slots.
TEST(BlinkTree, KnowsTheGreatestHeadsFromFreeSlots) {
  ConcurrentArena arena;
  BlinkTree tree(InternalKeyComparator(BytewiseComparator()), "", &arena);
  std::string key(8, '\xff');
  Window window;
  for (int i = 0; i < 200; ++i, key += "\x01\xff"[i % 2]) {
    EXPECT_EQ(tree.Find(tree.At(key, ~uint64_t{0})).entry, nullptr);
    tree.Seek(tree.At(key, ~uint64_t{0}), &window);
    EXPECT_FALSE(window.IsValid());
    ASSERT_TRUE(tree.Insert(tree.At(key, 256), "", i % 3 == 0));
    ASSERT_FALSE(tree.Insert(tree.At(key, 256), "", i % 3 == 0));
    ASSERT_NE(tree.Find(tree.At(key, ~uint64_t{0})).entry, nullptr);
  }
  tree.CheckInvariants();
}

TEST(BlinkTree, LearnsTheCommonPrefixOfManyKeys) {
  ConcurrentArena arena;
  for (const bool ascends : {false, true}) {
    BlinkTree tree(InternalKeyComparator(BytewiseComparator()), "other", &arena);
    for (int i = 0; i < 2000; ++i) {
      const std::string key = "user" + std::to_string(10'000 + (ascends ? i : i * 997 % 2000));
      ASSERT_TRUE(tree.Insert(tree.At(key, 256), "", true));
    }
    EXPECT_EQ(tree.CommonPrefix(), "user1");
    tree.Insert(tree.At("us", 256), "", true);
    EXPECT_EQ(tree.CommonPrefix(), "us");
  }
}

TEST(BlinkTree, FewKeysOnlyShortenTheExpectedPrefix) {
  ConcurrentArena arena;
  const InternalKeyComparator bytewise(BytewiseComparator());
  BlinkTree first(bytewise, "", &arena);
  EXPECT_EQ(first.CommonPrefix(), "");
  for (int i = 10; i < 90; ++i) {
    first.Insert(first.At("user" + std::to_string(i), 256), "", true);
  }
  EXPECT_EQ(first.CommonPrefix(), "");
  BlinkTree later(bytewise, "user", &arena);
  EXPECT_EQ(later.CommonPrefix(), "user");
  later.Insert(later.At("user1", 256), "", true);
  EXPECT_EQ(later.CommonPrefix(), "user");
  later.Insert(later.At("use", 256), "", true);
  EXPECT_EQ(later.CommonPrefix(), "use");
  later.Insert(later.At("z", 256), "", true);
  EXPECT_EQ(later.CommonPrefix(), "");
}

// For example counters, which are overwritten again and again.
TEST(BlinkTree, ManyVersionsOfFewKeysAreFewKeys) {
  ConcurrentArena arena;
  BlinkTree tree(InternalKeyComparator(BytewiseComparator()), "", &arena);
  for (uint64_t seqno = 1; seqno <= 20'000; ++seqno) {
    const std::string key = "counter" + std::to_string(seqno % 3);
    ASSERT_TRUE(tree.Insert(tree.At(key, seqno << 8), "", true));
  }
  EXPECT_EQ(tree.CommonPrefix(), "");
}

// Most of the nodes, including the first ones, begin with versions of the same key.
TEST(BlinkTree, AHotKeyDoesNotHideTheOthers) {
  ConcurrentArena arena;
  BlinkTree tree(InternalKeyComparator(BytewiseComparator()), "", &arena);
  for (uint64_t seqno = 1; seqno <= 20'000; ++seqno) {
    const std::string key = seqno % 4 != 0 ? "key/!" : "key/" + std::to_string(seqno);
    ASSERT_TRUE(tree.Insert(tree.At(key, seqno << 8), "", true));
  }
  EXPECT_EQ(tree.CommonPrefix(), "key/");
}

TEST(BlinkTree, DescribesItselfByLevels) {
  ConcurrentArena arena;
  BlinkTree tree(InternalKeyComparator(BytewiseComparator()), "us", &arena);
  EXPECT_EQ(tree.DebugString(), "B-link tree of height 1, prefix of 2 bytes; entries 0; nodes 1");
  for (int i = 100; i < 200; ++i) tree.Insert(tree.At("us" + std::to_string(i), 256), "", true);
  EXPECT_EQ(tree.DebugString(),
            "B-link tree of height 2, prefix of 2 bytes; entries 100; nodes 1 4");
}

// Nodes do not stay half empty for ascending keys, for descending keys, and for several ascending
// runs.
TEST(BlinkTree, FillsItsNodesWhereKeysComeInOrder) {
  const auto leaves_after = [](const std::vector<std::string>& keys) {
    ConcurrentArena arena;
    BlinkTree tree(InternalKeyComparator(BytewiseComparator()), "", &arena);
    for (const std::string& key : keys) tree.Insert(tree.At(key, 256), "", false);
    const std::string text = tree.DebugString();
    return std::stoi(text.substr(text.rfind(' ')));
  };
  std::vector<std::string> up, runs;
  for (int i = 10000; i < 11024; ++i) up.push_back(std::to_string(i));
  const std::vector<std::string> down(up.rbegin(), up.rend());
  for (const char* run : {"b", "c", "a"}) {
    for (int i = 10000; i < 11024; ++i) runs.push_back(run + std::to_string(i));
  }
  EXPECT_EQ(leaves_after(up), 32);
  EXPECT_EQ(leaves_after(down), 32);
  EXPECT_LE(leaves_after(runs), 3 * 32 + 2);
}

// An entry whose key changes while it is in the tree is detected.
TEST(BlinkTreeDeathTest, StopsWhenAnEntryIsOutOfOrder) {
  ConcurrentArena arena;
  BlinkTree tree(InternalKeyComparator(BytewiseComparator()), "", &arena);
  for (const char* key : {"a", "b", "c"}) tree.Insert(tree.At(key, 256), "", true);
  tree.CheckInvariants();
  const MemTableEntry* entry = tree.Find(tree.At("b", 256)).entry;
  const_cast<char*>(entry->user_key().data())[0] = 'z';
  EXPECT_DEATH(tree.CheckInvariants(), "");
}

}  // namespace
}  // namespace ashlar
