// SPDX-License-Identifier: Apache-2.0
//
// The skip list against a sorted map, in every order, with and without a common prefix, and under
// concurrent insertion.
#include "memtable/skip_list.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/comparator.h"
#include "util/random.h"

namespace ashlar {
namespace {

// Orders by length, then bytewise: an order that no head can express.
class LengthFirstComparator : public Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : +1;
    return a.compare(b);
  }
  const char* Name() const override { return "test.LengthFirst"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};
const LengthFirstComparator kLengthFirst;

struct Setup {
  const char* name;
  const Comparator* comparator;
  const char* prefix_of_list;
  const char* prefix_of_keys;
  bool exclusive;
};

class SkipListModel : public testing::TestWithParam<Setup> {
 protected:
  struct Less {
    const InternalKeyComparator* comparator;
    bool operator()(const std::string& a, const std::string& b) const {
      return comparator->Compare(a, b) < 0;
    }
  };
  using Model = std::map<std::string, std::string, Less>;

  SkipListModel()
      : comparator_(GetParam().comparator),
        list_(comparator_, GetParam().prefix_of_list, &arena_),
        model_(Less{&comparator_}) {}

  // Short keys over three letters, zero bytes among them, so that heads and keys tie often.
  std::string RandomKey() {
    std::string key = random_.OneIn(8) ? "" : GetParam().prefix_of_keys;
    for (uint64_t n = random_.Uniform(12); n > 0; --n) key += "\0a\xff"[random_.Uniform(3)];
    return key;
  }
  void Insert(const std::string& user_key, SequenceNumber seqno, const std::string& value) {
    const uint64_t trailer = PackTrailer(seqno, kTypeValue);
    const std::string key = MakeInternalKey(user_key, seqno, kTypeValue);
    const bool is_new = model_.emplace(key, value).second;
    EXPECT_EQ(list_.Insert(list_.At(user_key, trailer), value, GetParam().exclusive), is_new);
  }
  void Fill(int count) {
    for (int i = 0; i < count; ++i) {
      Insert(RandomKey(), random_.Uniform(50), std::to_string(i));
    }
  }
  SkipList::Position At(const Slice& key) const {
    return list_.At(ExtractUserKey(key), ExtractTrailer(key));
  }
  static std::string KeyOf(const SkipList::Node* node) {
    return node == nullptr ? "(none)" : node->internal_key().ToString();
  }
  std::string KeyOf(Model::const_iterator it) const {
    return it == model_.end() ? "(none)" : it->first;
  }

  Random64 random_{301};
  const InternalKeyComparator comparator_;
  ConcurrentArena arena_;
  SkipList list_;
  Model model_;
};

TEST_P(SkipListModel, HoldsTheEntriesInOrder) {
  Fill(3000);
  const SkipList::Node* node = list_.First();
  for (const auto& [key, value] : model_) {
    ASSERT_NE(node, nullptr);
    ASSERT_EQ(node->internal_key().ToString(), key);
    ASSERT_EQ(node->value().ToString(), value);
    node = node->Next();
  }
  EXPECT_EQ(node, nullptr);
  list_.CheckInvariants();
  EXPECT_EQ(KeyOf(list_.Last()), model_.rbegin()->first);
}

TEST_P(SkipListModel, SeeksLikeTheModel) {
  Fill(1000);
  for (int i = 0; i < 3000; ++i) {
    const std::string target = MakeInternalKey(RandomKey(), random_.Uniform(60), kValueTypeForSeek);
    const auto at_or_after = model_.lower_bound(target);
    ASSERT_EQ(KeyOf(list_.Seek(At(target))), KeyOf(at_or_after));
    auto before = model_.upper_bound(target);
    before = before == model_.begin() ? model_.end() : std::prev(before);
    ASSERT_EQ(KeyOf(list_.SeekForPrev(At(target))), KeyOf(before));
    const SkipList::Node* found = list_.Find(At(target));
    if (at_or_after != model_.end() &&
        comparator_.SameKey(ExtractUserKey(at_or_after->first), ExtractUserKey(target))) {
      ASSERT_EQ(KeyOf(found), at_or_after->first);
    } else if (found != nullptr) {
      ASSERT_EQ(KeyOf(found), KeyOf(at_or_after));
    }
  }
}

TEST_P(SkipListModel, FindsManyKeysLikeOne) {
  Fill(1000);
  for (int round = 0; round < 100; ++round) {
    const size_t count = 1 + random_.Uniform(SkipList::kMaxBatch);
    std::vector<std::string> targets;
    std::vector<SkipList::Position> positions;
    for (size_t i = 0; i < count; ++i) {
      targets.push_back(MakeInternalKey(RandomKey(), random_.Uniform(60), kValueTypeForSeek));
    }
    for (const std::string& target : targets) positions.push_back(At(target));
    const SkipList::Node* found[SkipList::kMaxBatch];
    list_.FindMany(positions.data(), count, found);
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(found[i], list_.Find(positions[i]));
  }
}

TEST_P(SkipListModel, WalksBackwards) {
  Fill(1000);
  constexpr int kCapacity = 5;
  const SkipList::Node* window[kCapacity];
  const SkipList::Node* node = nullptr;
  auto expected = model_.end();
  while (const int count = list_.BackwardWindow(node, window, kCapacity)) {
    ASSERT_LE(count, kCapacity);
    for (int i = count; i-- > 0;) {
      ASSERT_NE(expected, model_.begin());
      ASSERT_EQ(KeyOf(window[i]), (--expected)->first);
    }
    node = window[0];
  }
  EXPECT_EQ(expected, model_.begin());
  EXPECT_EQ(list_.Before(list_.First()), nullptr);
}

TEST_P(SkipListModel, TakesKeysInAnyPattern) {
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
  const SkipList::Node* node = list_.First();
  for (const auto& entry : model_) {
    ASSERT_EQ(KeyOf(node), entry.first);
    node = node->Next();
  }
  EXPECT_EQ(node, nullptr);
}

TEST_P(SkipListModel, EstimatesRanks) {
  for (int i = 0; i < 20000; ++i) Insert(RandomKey() + std::to_string(i), 7, "");
  size_t rank = 0;
  for (const auto& entry : model_) {
    if (++rank % 4000 != 0) continue;
    const double estimate = static_cast<double>(list_.EstimateRank(At(entry.first)));
    EXPECT_GT(estimate, 0.5 * static_cast<double>(rank));
    EXPECT_LT(estimate, 2.0 * static_cast<double>(rank));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Orders, SkipListModel,
    testing::Values(
        Setup{"bytewise", BytewiseComparator(), "", "", true},
        Setup{"bytewise_concurrent", BytewiseComparator(), "", "", false},
        Setup{"reverse", ReverseBytewiseComparator(), "", "", true},
        Setup{"reverse_concurrent", ReverseBytewiseComparator(), "", "", false},
        Setup{"custom", &kLengthFirst, "", "", true},
        Setup{"custom_concurrent", &kLengthFirst, "", "", false},
        Setup{"prefix", BytewiseComparator(), "table/user/", "table/user/", true},
        Setup{"prefix_concurrent", BytewiseComparator(), "table/user/", "table/user/", false},
        Setup{"prefix_reverse", ReverseBytewiseComparator(), "table/user/", "table/user/", false},
        Setup{"prefix_not_guessed", BytewiseComparator(), "", "table/user/", false},
        Setup{"prefix_guessed_wrong", BytewiseComparator(), "table/zzz", "table/user/", false},
        Setup{"prefix_of_custom_order", &kLengthFirst, "table/", "table/user/", false}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(SkipList, LearnsTheCommonPrefix) {
  ConcurrentArena arena;
  SkipList list(InternalKeyComparator(BytewiseComparator()), "", &arena);
  EXPECT_EQ(list.CommonPrefix(), "");
  for (const char* key : {"user1", "user23", "us4"}) list.Insert(list.At(key, 256), "", true);
  EXPECT_EQ(list.CommonPrefix(), "us");
}

TEST(SkipList, DescribesItselfByLevels) {
  ConcurrentArena arena;
  SkipList list(InternalKeyComparator(BytewiseComparator()), "us", &arena);
  EXPECT_EQ(list.DebugString(), "skip list of height 1, prefix of 2 bytes; nodes 0");
  for (int i = 0; i < 100; ++i) {
    const std::string key = "us" + std::to_string(i);
    list.Insert(list.At(key, 256), "", true);
  }
  const std::string text = list.DebugString();
  EXPECT_TRUE(text.ends_with(" 100")) << text;  // level 0 holds all
}

// A node whose key is changed under the list's hands is found out.
TEST(SkipListDeathTest, StopsWhenANodeIsOutOfOrder) {
  ConcurrentArena arena;
  SkipList list(InternalKeyComparator(BytewiseComparator()), "", &arena);
  for (const char* key : {"a", "b", "c"}) list.Insert(list.At(key, 256), "", true);
  list.CheckInvariants();
  const_cast<char*>(list.First()->Next()->user_key().data())[0] = 'z';
  EXPECT_DEATH(list.CheckInvariants(), "");
}

// ---- Concurrency. Run these under the thread sanitizer.

// Key i of a thread: neighbours in order belong to different threads, so inserts meet in one gap.
std::string SharedKey(int i, int thread, const std::string& prefix) {
  char text[48];
  snprintf(text, sizeof(text), "%s%08d%02d", prefix.c_str(), i, thread);
  return text;
}

struct ConcurrentCase {
  const char* name;
  const Comparator* comparator;
  const char* list_prefix;
  const char* key_prefix;
  bool is_random;
};

class ConcurrentSkipList : public testing::TestWithParam<ConcurrentCase> {};

// Every key is looked for as soon as its insertion has returned, by another thread too.
TEST_P(ConcurrentSkipList, FindsEveryKeyWhoseInsertReturned) {
  constexpr int kThreads = 4, kKeys = 3000;
  const ConcurrentCase& setup = GetParam();
  ConcurrentArena arena;
  SkipList list(InternalKeyComparator(setup.comparator), setup.list_prefix, &arena);
  const uint64_t trailer = PackTrailer(5, kTypeValue);
  std::vector<int> order(kKeys);
  Random64 random(17);
  for (int i = 0; i < kKeys; ++i) {
    order[static_cast<size_t>(i)] = i;
    if (setup.is_random) {
      std::swap(order[static_cast<size_t>(i)], order[random.Uniform(static_cast<uint64_t>(i) + 1)]);
    }
  }
  std::atomic<int> done[kThreads] = {};
  std::atomic<int> missing{0};
  const auto expect_found = [&](const std::string& key) {
    const SkipList::Node* node = list.Find(list.At(key, trailer));
    if (node == nullptr || node->user_key() != key) missing.fetch_add(1);
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const int other = (t + 1) % kThreads;
      for (int i = 0; i < kKeys; ++i) {
        const std::string key = SharedKey(order[static_cast<size_t>(i)], t, setup.key_prefix);
        list.Insert(list.At(key, trailer), key, /*exclusive=*/false);
        expect_found(key);
        done[t].store(i + 1, std::memory_order_release);
        if (const int n = done[other].load(std::memory_order_acquire); n > 0) {
          expect_found(SharedKey(order[static_cast<size_t>(n - 1)], other, setup.key_prefix));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(missing.load(), 0);

  int count = 0;
  const InternalKeyComparator comparator(setup.comparator);
  const SkipList::Node* before = nullptr;
  for (const SkipList::Node* node = list.First(); node != nullptr; node = node->Next(), ++count) {
    if (before != nullptr) {
      ASSERT_LT(comparator.Compare(before->internal_key(), node->internal_key()), 0);
    }
    ASSERT_EQ(node->user_key(), node->value());
    before = node;
  }
  EXPECT_EQ(count, kThreads * kKeys);
  list.CheckInvariants();
}

INSTANTIATE_TEST_SUITE_P(
    Orders, ConcurrentSkipList,
    testing::Values(ConcurrentCase{"ascending", BytewiseComparator(), "", "", false},
                    ConcurrentCase{"random", BytewiseComparator(), "", "", true},
                    ConcurrentCase{"reverse", ReverseBytewiseComparator(), "", "", true},
                    ConcurrentCase{"custom", &kLengthFirst, "", "", true},
                    ConcurrentCase{"equal_heads", BytewiseComparator(), "", "12345678", true},
                    ConcurrentCase{"prefix", BytewiseComparator(), "user", "user", true}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ConcurrentSkipListReaders, SeeTheListInOrderDuringInserts) {
  ConcurrentArena arena;
  const InternalKeyComparator comparator(BytewiseComparator());
  SkipList list(comparator, "", &arena);
  std::atomic<bool> stop{false};
  std::atomic<int> disorder{0};
  std::thread reader([&] {
    Random64 random(5);
    while (!stop.load(std::memory_order_acquire)) {
      const std::string from = SharedKey(static_cast<int>(random.Uniform(5000)), 0, "");
      const SkipList::Node* node = list.Seek(list.At(from, ~uint64_t{0}));
      if (node != nullptr && node->user_key().compare(from) < 0) disorder.fetch_add(1);
      const SkipList::Node* back = list.SeekForPrev(list.At(from, 0));
      if (back != nullptr && back->user_key().compare(from) > 0) disorder.fetch_add(1);
      for (int i = 0; node != nullptr && node->Next() != nullptr && i < 50; ++i) {
        const SkipList::Node* next = node->Next();
        if (comparator.Compare(node->internal_key(), next->internal_key()) >= 0) {
          disorder.fetch_add(1);
        }
        node = next;
      }
    }
  });
  std::vector<std::thread> writers;
  for (int t = 0; t < 2; ++t) {
    writers.emplace_back([&, t] {
      Random64 random(static_cast<uint64_t>(t) + 1);
      for (int i = 0; i < 5000; ++i) {
        const std::string key = SharedKey(static_cast<int>(random.Uniform(5000)), t, "");
        list.Insert(list.At(key, PackTrailer(static_cast<uint64_t>(i), kTypeValue)), "v", false);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  stop.store(true, std::memory_order_release);
  reader.join();
  EXPECT_EQ(disorder.load(), 0);
}

}  // namespace
}  // namespace ashlar
