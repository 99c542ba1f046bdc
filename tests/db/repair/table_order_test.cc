// SPDX-License-Identifier: Apache-2.0
//
// Places of tables without a MANIFEST, and names of families without one.
#include "db/repair/table_order.h"

#include <gtest/gtest.h>

#include "ashlar/comparator.h"
#include "db/repair/family_names.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class TableOrderTest : public testing::Test {
 protected:
  void Add(const std::string& smallest, const std::string& largest, SequenceNumber from,
           SequenceNumber to, std::optional<Level> level = std::nullopt) {
    FileMetadata meta;
    meta.number = FileNumber{tables_.size() + 1};
    meta.smallest = MakeInternalKey(smallest, to, kTypeValue);
    meta.largest = MakeInternalKey(largest, from, kTypeValue);
    meta.smallest_seqno = from;
    meta.largest_seqno = to;
    tables_.push_back({.meta = meta, .level = level});
  }
  // "level of table 1, of table 2, ..."; on level 0 with "@" and the rank of its epoch.
  std::string Place(const std::map<std::pair<int, int>, NewerTable>& answers = {}) {
    const InternalKeyComparator order(BytewiseComparator());
    const PlacementOptions options{.comparator = &order,
                                   .num_levels = num_levels_,
                                   .reserves_last_level = reserves_last_level_};
    EXPECT_OK(PlaceTables(
        options,
        [&](const FileMetadata& a, const FileMetadata& b) -> Result<NewerTable> {
          const auto pair =
              std::pair(static_cast<int>(a.number.value()), static_cast<int>(b.number.value()));
          const auto found = answers.find(pair);
          if (found != answers.end()) return found->second;
          const auto reverse = answers.find({pair.second, pair.first});
          if (reverse == answers.end()) return NewerTable::kEqual;
          return reverse->second == NewerTable::kFirst ? NewerTable::kSecond : NewerTable::kFirst;
        },
        &tables_, &notes_));
    std::string text;
    for (const PlacedTable& table : tables_) {
      StrAppend(&text, text.empty() ? "" : " ", int{*table.level});
      if (*table.level != 0) continue;
      int rank = 1;
      for (const PlacedTable& other : tables_) {
        rank += *other.level == 0 && other.meta.epoch_number < table.meta.epoch_number;
      }
      StrAppend(&text, "@", rank);
    }
    return text;
  }

  std::vector<PlacedTable> tables_;
  std::vector<std::string> notes_;
  int num_levels_ = 7;
  bool reserves_last_level_ = false;
};

TEST_F(TableOrderTest, GivenLevelsStay) {
  Add("a", "m", 1, 5, Level{6});
  Add("n", "z", 1, 9, Level{6});
  Add("a", "z", 6, 9, Level{0});
  EXPECT_EQ(Place(), "6 6 0@1");
}

TEST_F(TableOrderTest, DisjointTablesShareTheLastLevel) {
  Add("a", "c", 1, 9);
  Add("d", "f", 2, 5);
  EXPECT_EQ(Place(), "6 6");
}

TEST_F(TableOrderTest, OnlyTheManifestPutsTablesOnAReservedLevel) {
  reserves_last_level_ = true;
  Add("a", "m", 1, 5, Level{6});
  Add("n", "z", 1, 9);
  Add("a", "m", 6, 9);
  EXPECT_EQ(Place(), "6 5 5");
}

TEST_F(TableOrderTest, NewerTablesLieAbove) {
  Add("a", "z", 10, 19);
  Add("a", "z", 1, 9);
  Add("c", "d", 20, 20);
  EXPECT_EQ(Place(), "5 6 4");
}

TEST_F(TableOrderTest, WhereSequenceNumbersOverlapTheEntriesDecide) {
  Add("a", "z", 1, 9);
  Add("a", "z", 2, 5);
  EXPECT_EQ(Place({{{1, 2}, NewerTable::kSecond}}), "6 5");
}

TEST_F(TableOrderTest, MoreTablesThanLevelsAreOnLevel0InTheirOrder) {
  num_levels_ = 3;
  for (SequenceNumber i = 5; i > 0; i--) Add("a", "b", i, i);
  EXPECT_EQ(Place(), "0@3 0@2 0@1 1 2");
}

TEST_F(TableOrderTest, AContradictionIsReported) {
  Add("a", "z", 1, 9);
  Add("a", "z", 2, 8);
  Add("a", "z", 3, 7);
  EXPECT_EQ(Place({{{1, 2}, NewerTable::kFirst},
                   {{2, 3}, NewerTable::kFirst},
                   {{3, 1}, NewerTable::kFirst}}),
            "4 5 6");
  EXPECT_FALSE(notes_.empty());
}

TEST_F(TableOrderTest, LevelsThatCannotBeAreNotUsed) {
  Add("a", "m", 1, 5, Level{6});
  Add("c", "z", 6, 9, Level{6});
  EXPECT_EQ(Place(), "6 5");
}

TEST_F(TableOrderTest, ATableWithoutALevelLiftsTheNewerOnes) {
  Add("a", "m", 1, 5, Level{6});
  Add("a", "m", 8, 9, Level{5});
  Add("a", "m", 6, 7);
  EXPECT_EQ(Place(), "6 4 5");
}

TEST_F(TableOrderTest, NeighboursWithACommonKeyStayOnTheirLevel) {
  Add("a", "m", 6, 9, Level{6});
  tables_[0].meta.largest = MakeInternalKey("m", 6, kTypeValue);
  Add("m", "z", 1, 5, Level{6});
  Add("y", "z", 10, 10);
  EXPECT_EQ(Place(), "6 6 5");
}

TEST(FamilyNamesTest, NamesAndIdsMatchInTheirOrder) {
  using Names = std::map<uint32_t, std::string>;
  const Names known{{0, "default"}};
  EXPECT_EQ(NameFamilies(known, {1, 2}, {"default", "a", "b"}),
            (Names{{0, "default"}, {1, "a"}, {2, "b"}}));
  // Ids with gaps: as many as names.
  EXPECT_EQ(NameFamilies(known, {3, 7}, {"default", "a", "b"}),
            (Names{{0, "default"}, {3, "a"}, {7, "b"}}));
  // A family that has written nothing lies between.
  EXPECT_EQ(NameFamilies(known, {2}, {"default", "a", "b"}),
            (Names{{0, "default"}, {1, "a"}, {2, "b"}}));
  // Known ones divide the list.
  EXPECT_EQ(NameFamilies({{0, "default"}, {4, "b"}}, {2}, {"default", "a", "b", "c"}),
            (Names{{0, "default"}, {2, "a"}, {4, "b"}, {5, "c"}}));
}

TEST(FamilyNamesTest, IdsOfDroppedFamiliesAreNotUsedAgain) {
  using Names = std::map<uint32_t, std::string>;
  EXPECT_EQ(NameFamilies({{0, "default"}}, {}, {"default", "a"}, 7),
            (Names{{0, "default"}, {7, "a"}}));
}

TEST(FamilyNamesTest, WhatCannotBeMatchedGetsANameOrAnId) {
  using Names = std::map<uint32_t, std::string>;
  EXPECT_EQ(NameFamilies({{0, "default"}}, {1, 5}, {"default", "a"}),
            (Names{{0, "default"}, {1, "repaired-family-1"}, {5, "repaired-family-5"}, {6, "a"}}));
  EXPECT_EQ(NameFamilies({{0, "default"}}, {1}, {}),
            (Names{{0, "default"}, {1, "repaired-family-1"}}));
}

}  // namespace
}  // namespace ashlar
