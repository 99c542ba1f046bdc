// SPDX-License-Identifier: Apache-2.0
//
// The pieces of the index alone, against sorted and unsorted containers of the standard library:
// growth, keys that go and come back, prefixes that turn out to be shorter or longer.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/write_batch.h"
#include "db/transaction/indexed_batch/key_table.h"
#include "db/transaction/indexed_batch/sorted_keys.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Keys of any comparator in a batch, where references find them.
class KeySpace {
 public:
  KeyRef Add(const std::string& key) {
    const size_t offset = batch_.GetDataSize();
    EXPECT_OK(batch_.Delete(key));
    return KeyRef::ToRecord(offset);
  }
  const BatchKeys& keys() const { return keys_; }

 private:
  WriteBatch batch_;
  UpdateChains chains_;
  BatchKeys keys_{&batch_, &chains_};
};

// The order of bytes, of which nobody knows.
class HiddenBytewise final : public Comparator {
 public:
  const char* Name() const override { return "test.HiddenBytewise"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

// Of several lengths, behind a prefix that most of them share.
std::string AnyKey(std::mt19937* random) {
  const uint32_t number = (*random)();
  std::string key = StrCat("a common prefix ", number % 5000);
  if (number % 50 == 0) key.resize(number / 50 % key.size());
  if (number % 51 == 0) key[0] = static_cast<char>(number >> 24);
  return key;
}

TEST(KeyTable, FindsWhatWasInsertedAndNotErased) {
  std::mt19937 random(17);
  KeySpace space;
  KeyTable table;
  std::map<std::string, uint64_t> expected;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20000; ++i) {
      const std::string key = AnyKey(&random);
      const uint64_t hash = KeyTable::HashOf(key);
      const KeyTable::Slot slot = table.Find(key, hash, space.keys());
      const auto found = expected.find(key);
      ASSERT_EQ(bool{slot}, found != expected.end());
      if (!slot) {
        const KeyRef ref = space.Add(key);
        table.Insert(hash, ref, space.keys());
        expected[key] = ref.bits();
      } else if (random() % 2 == 0) {
        ASSERT_EQ(slot.ref().bits(), found->second);
        table.Erase(slot);
        expected.erase(found);
      } else {
        const KeyRef other = space.Add(key);
        table.Replace(slot, other);
        found->second = other.bits();
      }
      ASSERT_EQ(table.count(), expected.size());
    }
    size_t visited = 0;
    table.ForEach([&](KeyRef ref) {
      ++visited;
      EXPECT_EQ(expected.at(space.keys().KeyOf(ref).ToString()), ref.bits());
    });
    EXPECT_EQ(visited, expected.size());
    table.Clear();
    expected.clear();
    EXPECT_FALSE(
        table.Find("a common prefix 1", KeyTable::HashOf("a common prefix 1"), space.keys()));
  }
}

TEST(KeyTable, KeysThatComeAndGoTakeNoMoreRoom) {
  KeySpace space;
  KeyTable table;
  table.Reserve(8, space.keys());
  for (int i = 0; i < 100000; ++i) {
    const std::string key = std::to_string(i);
    const uint64_t hash = KeyTable::HashOf(key);
    table.Insert(hash, space.Add(key), space.keys());
    const KeyTable::Slot slot = table.Find(key, hash, space.keys());
    ASSERT_TRUE(bool{slot});
    table.Erase(slot);
  }
  EXPECT_EQ(table.count(), 0u);
  EXPECT_LE(table.slot_count(), 32u);
}

class SortedKeysTest : public testing::TestWithParam<const Comparator*> {
 protected:
  SortedKeysTest() : comparator_(GetParam()), sorted_(&comparator_, &space_.keys()) {}

  struct Order {
    const Comparator* comparator;
    bool operator()(const std::string& a, const std::string& b) const {
      return comparator->Compare(a, b) < 0;
    }
  };
  using Expected = std::map<std::string, uint64_t, Order>;

  std::string KeyAt(const SortedKeys::Place& place) {
    return space_.keys().KeyOf(sorted_.At(place)).ToString();
  }
  void ExpectAll(const Expected& expected) {
    ASSERT_EQ(sorted_.count(), expected.size());
    SortedKeys::Place place = sorted_.First();
    for (const auto& [key, bits] : expected) {
      ASSERT_TRUE(sorted_.IsValid(place));
      ASSERT_EQ(KeyAt(place), key);
      ASSERT_EQ(sorted_.At(place).bits(), bits);
      sorted_.Next(&place);
    }
    EXPECT_FALSE(sorted_.IsValid(place));
    for (auto it = expected.rbegin(); it != expected.rend(); ++it) {
      sorted_.Before(&place);
      ASSERT_TRUE(sorted_.IsValid(place));
      ASSERT_EQ(KeyAt(place), it->first);
    }
    if (sorted_.IsValid(place)) sorted_.Prev(&place);
    EXPECT_FALSE(sorted_.IsValid(place));
  }
  void ExpectFound(const Expected& expected, const std::string& key) {
    SortedKeys::Place place;
    ASSERT_EQ(sorted_.Find(key, &place), expected.contains(key)) << key;
    place = sorted_.AtOrAfter(key);
    const auto after = expected.lower_bound(key);
    ASSERT_EQ(sorted_.IsValid(place), after != expected.end()) << key;
    ASSERT_EQ(after != expected.end() ? KeyAt(place) : "",
              after != expected.end() ? after->first : "");
  }

  const InternalKeyComparator comparator_;
  KeySpace space_;
  SortedKeys sorted_;
};

const HiddenBytewise hidden_bytewise;
INSTANTIATE_TEST_SUITE_P(Orders, SortedKeysTest,
                         testing::Values(BytewiseComparator(), ReverseBytewiseComparator(),
                                         &hidden_bytewise));

TEST_P(SortedKeysTest, AreInOrderAfterEveryChange) {
  std::mt19937 random(29);
  Expected expected(Order{GetParam()});
  for (const int built : {0, 1, 3000}) {
    expected.clear();
    KeyTable table;
    while (expected.size() < static_cast<size_t>(built)) {
      const std::string key = AnyKey(&random);
      if (expected.contains(key)) continue;
      const KeyRef ref = space_.Add(key);
      table.Insert(KeyTable::HashOf(key), ref, space_.keys());
      expected[key] = ref.bits();
    }
    sorted_.Build(table);
    ExpectAll(expected);
    for (int i = 0; i < 6000; ++i) {
      const std::string key = AnyKey(&random);
      ExpectFound(expected, key);
      const auto found = expected.find(key);
      if (found == expected.end()) {
        const KeyRef ref = space_.Add(key);
        sorted_.Insert(key, ref);
        expected[key] = ref.bits();
      } else if (random() % 3 != 0) {
        sorted_.Erase(key);
        expected.erase(found);
      } else {
        const KeyRef other = space_.Add(key);
        sorted_.Replace(key, other);
        found->second = other.bits();
      }
      if (i % 500 == 0) ExpectAll(expected);
    }
    while (!expected.empty()) {
      sorted_.Erase(expected.begin()->first);
      expected.erase(expected.begin());
    }
    ExpectAll(expected);
  }
}

TEST_P(SortedKeysTest, KeysThatAscendFillTheirBlocks) {
  constexpr int kKeys = 1280;
  Expected expected(Order{GetParam()});
  std::vector<std::string> keys;
  for (int i = 0; i < kKeys; ++i) keys.push_back(std::to_string(100000 + i));
  std::sort(keys.begin(), keys.end(), Order{GetParam()});
  for (const std::string& key : keys) {
    const KeyRef ref = space_.Add(key);
    sorted_.Insert(key, ref);
    expected[key] = ref.bits();
  }
  ExpectAll(expected);
  EXPECT_EQ(sorted_.block_count(), 10u);
}

}  // namespace
}  // namespace ashlar
