// SPDX-License-Identifier: Apache-2.0
//
// The table of undecided transactions against the definition: what a reader sees of the data of
// transactions that prepare, commit and roll back while snapshots come and go.
#include "db/transaction/visibility/undecided.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace ashlar {
namespace {

bool Sees(const UndecidedTable& table, SequenceNumber reader, SequenceNumber version,
          const DecidedVersions::Own* own = nullptr) {
  const EpochGuard guard;
  if (table.Load() == nullptr) return version <= reader;
  return DecidedVersions(table.Load(), reader, own).IsVisible(version);
}

TEST(UndecidedTable, IsUnusedUntilTheFirstEntry) {
  UndecidedTable table;
  EXPECT_FALSE(table.is_used());
  std::vector<SequenceNumber> snapshots{7};
  table.AddBoundaries(9, &snapshots);
  EXPECT_EQ(snapshots, std::vector<SequenceNumber>{7});
  table.Add(3, 4);
  EXPECT_TRUE(table.is_used());
}

TEST(UndecidedTable, DataIsVisibleFromItsDecisionOn) {
  UndecidedTable table;
  const UndecidedRef entry = table.Add(3, 4);
  EXPECT_TRUE(Sees(table, 9, 2));
  EXPECT_FALSE(Sees(table, 9, 3));
  EXPECT_FALSE(Sees(table, 9, 4));
  EXPECT_TRUE(Sees(table, 9, 5));
  UndecidedTable::Decide(entry.get(), 8);
  EXPECT_FALSE(Sees(table, 7, 3)) << "the reader is older than the decision";
  EXPECT_TRUE(Sees(table, 7, 7));
  EXPECT_TRUE(Sees(table, 8, 3));
  EXPECT_TRUE(Sees(table, 8, 4));
  EXPECT_FALSE(Sees(table, 8, 9));
}

TEST(UndecidedTable, ListsShareEntriesUntilTheyAreFull) {
  UndecidedTable table;
  size_t copies = 0;
  const EpochGuard guard;
  std::vector<const UndecidedList*> lists;
  for (SequenceNumber seqno = 1; seqno <= 1000; seqno++) {
    table.Add(seqno, seqno);
    lists.push_back(table.Load());
    if (seqno == 1) continue;
    const UndecidedRef* const before = lists[seqno - 2]->entries().data();
    copies += lists[seqno - 1]->entries().data() != before ? 1 : 0;
  }
  EXPECT_LE(copies, 10u);
  for (size_t i = 0; i < lists.size(); i++) {
    ASSERT_EQ(lists[i]->entries().size(), i + 1);
    EXPECT_EQ(lists[i]->entries().back()->first, i + 1);
    EXPECT_EQ(lists[i]->Find(i + 2), nullptr) << "added later";
  }
}

TEST(UndecidedTable, AnEntryBelowOthersLeavesOlderListsAsTheyAre) {
  UndecidedTable table;
  table.Add(3, 4);
  table.Add(9, 9);
  const EpochGuard guard;
  const UndecidedList* const before = table.Load();
  table.Add(6, 7);
  table.Add(10, 10);
  EXPECT_EQ(before->entries().size(), 2u);
  EXPECT_EQ(before->Find(6), nullptr);
  EXPECT_NE(before->Find(9), nullptr);
  EXPECT_EQ(before->Find(10), nullptr);
  for (const SequenceNumber seqno : {3, 6, 9, 10}) {
    ASSERT_NE(table.Load()->Find(seqno), nullptr) << seqno;
    EXPECT_EQ(table.Load()->Find(seqno)->first, seqno);
  }
}

TEST(UndecidedTable, AReaderKeepsItsAnswersWhenDecisionsCome) {
  UndecidedTable table;
  const UndecidedRef entry = table.Add(3, 3);
  const EpochGuard guard;
  const DecidedVersions reader(table.Load(), 5);
  EXPECT_FALSE(reader.IsVisible(3));
  UndecidedTable::Decide(entry.get(), 6);
  EXPECT_FALSE(reader.IsVisible(3));
}

TEST(UndecidedTable, AReaderSeesItsOwnData) {
  UndecidedTable table;
  const UndecidedRef other = table.Add(3, 3);
  const UndecidedRef mine = table.Add(4, 5), later = table.Add(9, 9);
  const DecidedVersions::Own own{mine, later};
  EXPECT_FALSE(Sees(table, 6, 3, &own));
  EXPECT_TRUE(Sees(table, 6, 4, &own));
  EXPECT_TRUE(Sees(table, 6, 6, &own));
  EXPECT_FALSE(Sees(table, 6, 7, &own)) << "of others, above the snapshot";
  EXPECT_TRUE(Sees(table, 6, 9, &own)) << "written after the snapshot";
  EXPECT_FALSE(Sees(table, 6, 10, &own));
}

TEST(UndecidedTable, AnEntryStaysWhileASnapshotIsBetweenItsDataAndItsDecision) {
  UndecidedTable table;
  const UndecidedRef entry = table.Add(3, 4);
  table.Trim(9, {});
  EXPECT_EQ(table.count(), 1u) << "undecided";
  UndecidedTable::Decide(entry.get(), 8);
  table.Trim(7, {});
  EXPECT_EQ(table.count(), 1u) << "the decision is not visible";
  for (const SequenceNumber snapshot : {4, 7}) {
    table.Trim(9, std::vector<SequenceNumber>{snapshot});
    EXPECT_EQ(table.count(), 1u) << snapshot;
  }
  table.Trim(9, std::vector<SequenceNumber>{2, 8});
  EXPECT_EQ(table.count(), 0u);
  const EpochGuard guard;
  EXPECT_EQ(table.Load()->forgotten_up_to(), 8u);
}

TEST(UndecidedTable, BoundariesEncloseWhatSomeReaderDoesNotSee) {
  UndecidedTable table;
  table.Add(3, 4);
  UndecidedTable::Decide(table.Add(6, 6).get(), 9);
  UndecidedTable::Decide(table.Add(12, 12).get(), 15);
  using Numbers = std::vector<SequenceNumber>;
  const auto with = [&](SequenceNumber visible, Numbers snapshots) {
    table.AddBoundaries(visible, &snapshots);
    return snapshots;
  };
  EXPECT_EQ(with(20, {}), (Numbers{2, 4}));
  EXPECT_EQ(with(20, {5, 9}), (Numbers{2, 4, 5, 9}));
  EXPECT_EQ(with(20, {7}), (Numbers{2, 4, 5, 6, 7}));
  EXPECT_EQ(with(14, {}), (Numbers{2, 4, 11, 12})) << "a decision that is not visible counts not";
}

// Numbers are given out one by one: to a plain write, the data of a transaction, or a decision.
class VisibilityModel {
 public:
  explicit VisibilityModel(uint32_t seed) : random_(seed) {}

  void Step() {
    const uint32_t choice = random_() % 10;
    if (choice < 3) {
      const SequenceNumber first = ++newest_;
      newest_ += random_() % 3;
      for (SequenceNumber seqno = first; seqno <= newest_; seqno++) sections_[seqno] = first;
      undecided_[first] = table_.Add(first, newest_);
    } else if (choice < 6 && !undecided_.empty()) {
      auto chosen = undecided_.begin();
      std::advance(chosen, random_() % undecided_.size());
      UndecidedTable::Decide(chosen->second.get(), ++newest_);
      decisions_[chosen->first] = newest_;
      undecided_.erase(chosen);
    } else if (choice == 6) {
      snapshots_.insert(newest_);
    } else if (choice == 7 && !snapshots_.empty()) {
      auto chosen = snapshots_.begin();
      std::advance(chosen, random_() % snapshots_.size());
      snapshots_.erase(chosen);
    } else if (choice == 8) {
      table_.Trim(newest_, Snapshots());
    } else {
      ++newest_;
    }
  }

  bool ShouldSee(SequenceNumber reader, SequenceNumber version) {
    if (version > reader) return false;
    const auto section = sections_.find(version);
    if (section == sections_.end()) return true;
    const auto decision = decisions_.find(section->second);
    return decision != decisions_.end() && decision->second <= reader;
  }

  void Check() {
    std::set<SequenceNumber> readers = snapshots_;
    readers.insert(newest_);
    std::vector<SequenceNumber> boundaries = Snapshots();
    table_.AddBoundaries(newest_, &boundaries);
    for (const SequenceNumber reader : readers) {
      for (SequenceNumber version = 1; version <= newest_; version++) {
        ASSERT_EQ(Sees(table_, reader, version), ShouldSee(reader, version))
            << "reader " << reader << ", version " << version;
        // Between two boundaries a reader sees all or nothing.
        const bool is_apart = std::binary_search(boundaries.begin(), boundaries.end(), version - 1);
        if (version == 1 || is_apart) continue;
        ASSERT_EQ(ShouldSee(reader, version), ShouldSee(reader, version - 1))
            << "reader " << reader << ", versions " << version - 1 << " and " << version;
      }
    }
  }

 private:
  std::vector<SequenceNumber> Snapshots() const { return {snapshots_.begin(), snapshots_.end()}; }

  std::mt19937 random_;
  UndecidedTable table_;
  SequenceNumber newest_ = 1;
  std::map<SequenceNumber, SequenceNumber> sections_;   // first number of the data, by number
  std::map<SequenceNumber, SequenceNumber> decisions_;  // by first number
  std::map<SequenceNumber, UndecidedRef> undecided_;    // likewise
  std::set<SequenceNumber> snapshots_;
};

TEST(UndecidedTable, RandomHistoriesAreSeenAsDefined) {
  for (uint32_t seed = 0; seed < 60; seed++) {
    VisibilityModel model(seed);
    for (int i = 0; i < 60; i++) {
      model.Step();
      if (i % 4 == 0) model.Check();
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace ashlar
