// SPDX-License-Identifier: Apache-2.0
//
// The memtable's B-link tree in every order of two inserters and a reader: memtable/blink_tree.cc
// claims that a key whose Insert() has returned is found, and that iteration neither misses nor
// repeats a key. Nodes have three or four pairs, so that leaves and inner nodes split all the time.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "memtable/blink_tree.h"
#include "tests/interleave/interleave.h"
#include "util/keys/internal_key.h"

namespace ashlar::interleave {
namespace {

constexpr uint64_t kTrailer = 0x101;

struct Tree {
  explicit Tree(const std::vector<std::string>& present, uint32_t fanout = 3)
      : tree(InternalKeyComparator(BytewiseComparator()), "", &arena, fanout) {
    for (const std::string& key : present) Insert(key);
  }
  bool Insert(const std::string& key) {
    return tree.Insert(tree.At(key, kTrailer), "v", /*exclusive=*/false);
  }
  bool Has(const std::string& key) const {
    const MemTableEntry* entry = tree.Find(tree.At(key, kTrailer)).entry;
    return entry != nullptr && entry->user_key() == key;
  }
  void InsertAndFind(const std::string& key) {
    Require(Insert(key), "the key is new");
    Require(Has(key), "an inserted key is found");
  }
  static std::string KeyOf(const BlinkTree::Window& window) {
    return window.entries[window.index]->user_key().ToString();
  }
  std::string WalkUp() const {
    std::string keys;
    BlinkTree::Window window;
    for (tree.SeekToFirst(&window); window.IsValid(); tree.Next(&window)) keys += KeyOf(window);
    return keys;
  }
  std::string WalkDown() const {
    std::string keys;
    BlinkTree::Window window;
    for (tree.SeekToLast(&window); window.IsValid(); tree.Prev(&window)) {
      keys.insert(0, KeyOf(window));
    }
    return keys;
  }
  // Checks keys of one letter each: they must ascend, and contain all of `expected`.
  static void RequireInOrder(const std::string& keys, const std::string& expected) {
    for (size_t i = 1; i < keys.size(); ++i) Require(keys[i - 1] < keys[i], "keys ascend");
    for (const char key : expected) {
      Require(keys.find(key) != std::string::npos, "older keys are seen");
    }
  }
  void CheckAll(const std::string& expected) const {
    tree.CheckInvariants();
    Require(WalkUp() == expected, "a walk shows all");
    Require(WalkDown() == expected, "a walk back shows all");
    for (const char key : expected) Require(Has(std::string(1, key)), "all are found");
  }

  ConcurrentArena arena{4096};
  BlinkTree tree;
};

// The keys of the tree, and the keys that two threads insert.
struct Keys {
  std::vector<std::string> present;
  std::string first, second;
  std::string all;
};
const std::vector<Keys> kSets = {
    {{}, "m", "g", "gm"},
    {{"a", "z"}, "m", "g", "agmz"},        // the second insertion splits the only leaf
    {{"a", "b", "c"}, "d", "e", "abcde"},  // both append
    {{"c", "d", "e"}, "b", "a", "abcde"},  // both insert at the front
    {{"b", "d", "f"}, "c", "e", "bcdef"},  // both insert in the middle
    {{"a", "b", "c", "d", "e", "f"}, "g", "h", "abcdefgh"},  // with a root above
    {{"a", "c", "e", "g", "i", "k"}, "f", "h", "acefghik"},  // neighbours
    {{"b", "d", "f", "h", "j", "l"}, "e", "e1", ""},         // equal except for the second letter
};

TEST(BlinkTreeOrders, AnInserterFindsItsKey) {
  for (const Keys& keys : kSets) {
    ExpectAlways({.preemptions = 2}, [&keys] {
      auto tree = std::make_shared<Tree>(keys.present);
      return Scenario{.threads = {[tree, &keys] { tree->InsertAndFind(keys.first); },
                                  [tree, &keys] { tree->InsertAndFind(keys.second); }},
                      .check = [tree, &keys] {
                        if (!keys.all.empty()) tree->CheckAll(keys.all);
                        Require(tree->Has(keys.first) && tree->Has(keys.second), "both there");
                        tree->tree.CheckInvariants();
                      }};
    });
  }
}

// Two leaves split at once, and so does the root above them.
TEST(BlinkTreeOrders, TwoSplitsReachTheRootAtOnce) {
  ExpectAlways({.preemptions = 3}, [] {
    auto tree = std::make_shared<Tree>(std::vector<std::string>{"b", "d", "f"});
    return Scenario{.threads = {[tree] { tree->Insert("c"); }, [tree] { tree->Insert("e"); }},
                    .check = [tree] { tree->CheckAll("bcdef"); }};
  });
}

TEST(BlinkTreeOrders, AReaderSeesAllEarlierKeysInOrder) {
  for (const std::string key : {"e", "g", "m"}) {
    for (const bool up : {true, false}) {
      ExpectAlways({.preemptions = 2}, [key, up] {
        auto tree = std::make_shared<Tree>(std::vector<std::string>{"b", "d", "f", "h", "j", "l"});
        return Scenario{.threads = {[tree, key] { tree->InsertAndFind(key); },
                                    [tree, up] {
                                      const std::string seen =
                                          up ? tree->WalkUp() : tree->WalkDown();
                                      Tree::RequireInOrder(seen, "bdfhjl");
                                    }}};
      });
    }
  }
}

TEST(BlinkTreeOrders, AReaderFindsEarlierKeysWhileTheyMove) {
  for (const std::string key : {"a", "e", "g", "m"}) {
    ExpectAlways({.preemptions = 2}, [key] {
      auto tree = std::make_shared<Tree>(std::vector<std::string>{"b", "d", "f", "h", "j", "l"});
      return Scenario{.threads = {[tree, key] { tree->InsertAndFind(key); },
                                  [tree] {
                                    for (const char* old : {"f", "l"}) {
                                      Require(tree->Has(old), "an old key is found");
                                    }
                                  }}};
    });
  }
}

// Seeks to absent keys before and after the inserted one.
TEST(BlinkTreeOrders, SeeksAreRightDuringInsertions) {
  ExpectAlways({.preemptions = 2}, [] {
    auto tree = std::make_shared<Tree>(std::vector<std::string>{"b", "d", "f", "h"}, 4);
    return Scenario{.threads = {[tree] { tree->InsertAndFind("e"); },
                                [tree] {
                                  BlinkTree::Window window;
                                  tree->tree.Seek(tree->tree.At("e5", kTrailer), &window);
                                  Require(Tree::KeyOf(window) == "f", "the next key");
                                  tree->tree.Prev(&window);
                                  const std::string before = Tree::KeyOf(window);
                                  Require(before == "d" || before == "e", "the key before");
                                  tree->tree.SeekForPrev(tree->tree.At("g", kTrailer), &window);
                                  Require(Tree::KeyOf(window) == "f", "the last key before");
                                }}};
  });
}

// Appending changes no version, so an entry that was appended during a seek must not mislead it.
TEST(BlinkTreeOrders, SeeksAreRightDuringAppends) {
  ExpectAlways({.preemptions = 2}, [] {
    auto tree = std::make_shared<Tree>(std::vector<std::string>{"a"}, 4);
    return Scenario{
        .threads = {[tree] {
                      tree->Insert("c");
                      tree->Insert("e");
                    },
                    [tree] {
                      BlinkTree::Window window;
                      tree->tree.Seek(tree->tree.At("d", kTrailer), &window);
                      Require(!window.IsValid() || Tree::KeyOf(window) == "e",
                              "nothing before the key");
                      tree->tree.SeekForPrev(tree->tree.At("d", kTrailer), &window);
                      const std::string before = Tree::KeyOf(window);
                      Require(before == "a" || before == "c", "there is no later key");
                      for (const char* key : {"c", "e"}) {
                        const auto found = tree->tree.Find(tree->tree.At(key, kTrailer));
                        Require(found.entry == nullptr || found.entry->user_key() == key,
                                "found is what was looked for");
                      }
                    }}};
  });
}

// A newer version is appended to a leaf while the wanted version is the first one of the next leaf.
TEST(BlinkTreeOrders, AVersionInTheNextLeafIsFound) {
  ExpectAlways({.preemptions = 2}, [] {
    auto tree = std::make_shared<Tree>(std::vector<std::string>{}, 4);
    const auto at = [tree](SequenceNumber seqno) {
      return tree->tree.At("k", PackTrailer(seqno, kTypeValue));
    };
    for (const SequenceNumber seqno : {40, 38, 9, 8, 39}) {  // leaves with 40 39 38, and with 9 8
      tree->tree.Insert(at(seqno), "v", /*exclusive=*/false);
    }
    return Scenario{.threads = {[tree, at] { tree->tree.Insert(at(12), "v", false); },
                                [tree, at] {
                                  const MemTableEntry* found = tree->tree.Find(at(10)).entry;
                                  Require(found != nullptr, "an older version is there");
                                  Require(TrailerSeqno(found->trailer()) == 9,
                                          "the newest of them");
                                }}};
  });
}

// A cursor moves from version to version while its leaf splits.
TEST(BlinkTreeOrders, ACursorKeepsItsPosition) {
  ExpectAlways({.preemptions = 2}, [] {
    auto tree = std::make_shared<Tree>(std::vector<std::string>{"b", "d", "f"}, 4);
    tree->tree.Insert(tree->tree.At("d", kTrailer - 1), "older", false);
    return Scenario{.threads = {[tree] {
                                  tree->Insert("c");
                                  tree->Insert("e");
                                },
                                [tree] {
                                  auto cursor = tree->tree.Find(tree->tree.At("d", kTrailer));
                                  Require(cursor.entry != nullptr, "there");
                                  tree->tree.Next(&cursor);
                                  Require(cursor.entry != nullptr &&
                                              cursor.entry->trailer() == kTrailer - 1,
                                          "the older version");
                                  tree->tree.Next(&cursor);
                                  const Slice next = cursor.entry->user_key();
                                  Require(next == "e" || next == "f", "the next key");
                                }}};
  });
}

TEST(BlinkTreeOrders, OneOfTwoEqualKeysWins) {
  for (const std::vector<std::string>& present :
       {std::vector<std::string>{"a"}, std::vector<std::string>{"a", "n", "z"}}) {
    ExpectAlways({.preemptions = present.size() == 1 ? 3 : 2}, [&present] {
      auto tree = std::make_shared<Tree>(present);
      auto wins = std::make_shared<std::array<bool, 2>>();
      const size_t count = present.size() + 1;
      return Scenario{.threads = {[tree, wins] { (*wins)[0] = tree->Insert("m"); },
                                  [tree, wins] { (*wins)[1] = tree->Insert("m"); }},
                      .check = [tree, wins, count] {
                        Require((*wins)[0] != (*wins)[1], "exactly one inserts it");
                        Require(tree->WalkUp().size() == count, "it is there once");
                      }};
    });
  }
}

}  // namespace
}  // namespace ashlar::interleave
