// SPDX-License-Identifier: Apache-2.0
//
// The skip list's two-part links, in every order of two inserters and a reader: memtable/
// skip_list.cc claims that a key whose Insert() has returned is found, and that nothing found is
// out of order.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "memtable/skip_list.h"
#include "tests/interleave/interleave.h"
#include "util/internal_key.h"

namespace ashlar::interleave {
namespace {

constexpr uint64_t kTrailer = 0x101;

struct List {
  explicit List(const std::vector<std::string>& present) {
    for (const std::string& key : present) Insert(key);
  }
  bool Insert(const std::string& key) {
    return list.Insert(list.At(key, kTrailer), "v", /*exclusive=*/false);
  }
  bool Has(const std::string& key) const {
    const SkipList::Node* node = list.Find(list.At(key, kTrailer));
    return node != nullptr && node->user_key() == key;
  }
  void InsertAndFind(const std::string& key) {
    Require(Insert(key), "the key is new");
    Require(Has(key), "an inserted key is found");
    const SkipList::Node* node = list.Seek(list.At(key, kTrailer));
    Require(node != nullptr && node->user_key() == key, "an inserted key is sought");
  }
  // How many; in ascending order, each found.
  size_t CheckAll() const {
    size_t count = 0;
    std::string before;
    for (const SkipList::Node* node = list.First(); node != nullptr; node = node->Next()) {
      const std::string key = node->user_key().ToString();
      Require(count++ == 0 || before < key, "keys ascend");
      Require(Has(key), "a linked key is found when nobody inserts");
      before = key;
    }
    return count;
  }

  ConcurrentArena arena{4096};
  SkipList list{InternalKeyComparator(BytewiseComparator()), "", &arena};
};

// Of each set: what the list holds, and what two threads insert. The heights of nodes depend on the
// key alone, so different letters are different towers.
struct Keys {
  std::vector<std::string> present;
  std::string first, second;
};
const std::vector<Keys> kSets = {
    {{}, "m", "g"},
    {{}, "g", "m"},
    {{"a", "z"}, "m", "g"},
    {{"a", "z"}, "g", "m"},
    {{"c", "n", "t"}, "p", "o"},
    {{"h"}, "k", "same head!"},
    {{"prefix-0"}, "prefix-0b", "prefix-0a"},  // equal heads
};

TEST(SkipListOrders, WhoeverHasInsertedAKeyFindsIt) {
  for (const Keys& keys : kSets) {
    ExpectAlways({.preemptions = 2}, [&keys] {
      auto list = std::make_shared<List>(keys.present);
      const size_t count = keys.present.size() + 2;
      return Scenario{.threads = {[list, &keys] { list->InsertAndFind(keys.first); },
                                  [list, &keys] { list->InsertAndFind(keys.second); }},
                      .check = [list, count] { Require(list->CheckAll() == count, "all there"); }};
    });
  }
}

TEST(SkipListOrders, ThreePreemptionsOfTwoInserters) {
  ExpectAlways({.preemptions = 3}, [] {
    auto list = std::make_shared<List>(std::vector<std::string>{});
    return Scenario{.threads = {[list] { list->Insert("m"); }, [list] { list->Insert("g"); }},
                    .check = [list] { Require(list->CheckAll() == 2, "both"); }};
  });
}

TEST(SkipListOrders, AReaderSeesAscendingKeysAndAllThatWereThere) {
  ExpectAlways({.preemptions = 2}, [] {
    auto list = std::make_shared<List>(std::vector<std::string>{"a", "n"});
    return Scenario{
        .threads = {[list] { list->InsertAndFind("g"); }, [list] { list->InsertAndFind("k"); },
                    [list] {
                      std::string before;
                      size_t found = 0;
                      for (auto* node = list->list.First(); node != nullptr; node = node->Next()) {
                        const std::string key = node->user_key().ToString();
                        Require(before < key, "keys ascend");
                        found += key == "a" || key == "n";
                        before = key;
                      }
                      Require(found == 2, "older keys are seen");
                    }},
        .check = [list] { Require(list->CheckAll() == 4, "all there"); }};
  });
}

TEST(SkipListOrders, OneOfTwoEqualKeysWins) {
  ExpectAlways({.preemptions = 3}, [] {
    auto list = std::make_shared<List>(std::vector<std::string>{"a"});
    auto wins = std::make_shared<std::array<bool, 2>>();
    return Scenario{.threads = {[list, wins] { (*wins)[0] = list->Insert("m"); },
                                [list, wins] { (*wins)[1] = list->Insert("m"); }},
                    .check = [list, wins] {
                      Require((*wins)[0] != (*wins)[1], "exactly one inserts it");
                      Require(list->CheckAll() == 2, "it is there once");
                    }};
  });
}

}  // namespace
}  // namespace ashlar::interleave
