// SPDX-License-Identifier: Apache-2.0
//
// Which versions of a key stay, and what lies below them.
#include "db/output/version_retention.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/db/output/tables_of_keys.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// "a9 a5- b3": keys of one letter with sequence numbers, '-' for deletes. Answers what stays, with
// '0' for numbers that may become zero.
std::string Retain(const std::string& entries, std::vector<SequenceNumber> snapshots,
                   const char* deeper, bool is_bottommost = false) {
  const InternalKeyComparator comparator(BytewiseComparator());
  const TablesOfKeys tables(deeper == nullptr ? "" : deeper);
  DeeperLevels below(comparator, {tables.files()});
  VersionRetention retention(comparator, std::move(snapshots), deeper == nullptr ? nullptr : &below,
                             is_bottommost);
  std::istringstream in(entries);
  std::string kept;
  for (std::string entry; in >> entry;) {
    const bool is_delete = entry.back() == '-';
    const auto verdict = retention.Decide(entry.substr(0, 1), std::stoull(entry.substr(1)),
                                          is_delete ? kTypeDeletion : kTypeValue);
    if (verdict == VersionRetention::Verdict::kDrop) continue;
    StrAppend(&kept, kept.empty() ? "" : " ", entry);
    if (verdict == VersionRetention::Verdict::kKeepWithoutSeqno) kept += "=0";
  }
  return kept;
}

}  // namespace

TEST(VersionRetention, KeepsTheNewestVersionWithoutSnapshots) {
  EXPECT_EQ(Retain("a9 a5 a1 b3 b2-", {}, nullptr), "a9 b3");
}

TEST(VersionRetention, KeepsOneVersionForEverySnapshotThatSeesADifferentOne) {
  EXPECT_EQ(Retain("a9 a7 a5 a3 a1", {5}, nullptr), "a9 a5");
  EXPECT_EQ(Retain("a9 a7 a5 a3 a1", {4, 6, 7}, nullptr), "a9 a7 a5 a3");
  EXPECT_EQ(Retain("a9 a7 a5 a3 a1", {9}, nullptr), "a9");
  EXPECT_EQ(Retain("a9 a7", {8, 20}, nullptr), "a9 a7");
  EXPECT_EQ(Retain("a9 a7", {2, 3}, nullptr), "a9");
}

TEST(VersionRetention, KeepsDeleteWhileDeeperLevelMayHoldKey) {
  EXPECT_EQ(Retain("a9- a5", {}, "a"), "a9-");
  EXPECT_EQ(Retain("a9- a5", {}, "b"), "");
  EXPECT_EQ(Retain("a9- a5", {}, nullptr), "a9-");
  EXPECT_EQ(Retain("a9- a5", {}, "a", /*is_bottommost=*/true), "");
}

TEST(VersionRetention, KeepsDeleteThatASnapshotDoesNotSee) {
  EXPECT_EQ(Retain("a9- a5", {7}, "", /*is_bottommost=*/true), "a9- a5=0");
  EXPECT_EQ(Retain("a9- a5", {9}, "", /*is_bottommost=*/true), "");
  EXPECT_EQ(Retain("a9- a5- a3", {6}, "", /*is_bottommost=*/true), "a9-");
}

TEST(VersionRetention, ZeroesNumbersOnlyAtTheBottomAndBelowAllSnapshots) {
  EXPECT_EQ(Retain("a9 b3", {5}, "", /*is_bottommost=*/true), "a9 b3=0");
  EXPECT_EQ(Retain("a9 b3", {}, "", /*is_bottommost=*/true), "a9=0 b3=0");
  EXPECT_EQ(Retain("a9 b3", {}, ""), "a9 b3");
}

TEST(VersionRetention, SaysWhyAnEntryWasDropped) {
  VersionRetention retention(InternalKeyComparator(BytewiseComparator()), {}, nullptr, true);
  EXPECT_EQ(retention.Decide("a", 9, kTypeDeletion), VersionRetention::Verdict::kDrop);
  EXPECT_EQ(retention.drop_reason(), VersionRetention::DropReason::kObsoleteTombstone);
  EXPECT_EQ(retention.Decide("a", 5, kTypeValue), VersionRetention::Verdict::kDrop);
  EXPECT_EQ(retention.drop_reason(), VersionRetention::DropReason::kHidden);
}

TEST(VersionRetention, KnowsTheFirstEntryOfAKeyAlsoIfItIsDropped) {
  VersionRetention retention(InternalKeyComparator(BytewiseComparator()), {}, nullptr, true);
  EXPECT_EQ(retention.Decide("a", 9, kTypeDeletion), VersionRetention::Verdict::kDrop);
  EXPECT_TRUE(retention.is_new_key());
  EXPECT_EQ(retention.Decide("a", 5, kTypeValue), VersionRetention::Verdict::kDrop);
  EXPECT_FALSE(retention.is_new_key());
  EXPECT_EQ(retention.Decide("b", 5, kTypeValue), VersionRetention::Verdict::kKeepWithoutSeqno);
  EXPECT_TRUE(retention.is_new_key());
}

TEST(DeeperLevels, LooksAtEveryLevelAndNeverBack) {
  const InternalKeyComparator comparator(BytewiseComparator());
  const TablesOfKeys upper("bh"), lower("df");
  DeeperLevels below(comparator, {upper.files(), DeeperLevels::Tables(), lower.files()});
  std::string found;
  for (const char key : std::string("abcdefghij")) {
    if (below.MayContain(Slice(&key, 1))) found += key;
  }
  EXPECT_EQ(found, "bdfh");
}

}  // namespace ashlar
