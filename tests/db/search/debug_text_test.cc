// SPDX-License-Identifier: Apache-2.0
//
// Debug texts of small parts of db/version and db/search. Those that need tables are in
// level_test.cc.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "db/search/level_tombstones.h"
#include "db/version/kept_for_snapshots.h"
#include "table/range_del/fragmented_tombstones.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

TEST(DebugText, OfKeptForSnapshots) {
  KeptForSnapshots kept;
  EXPECT_EQ(kept.DebugString(), "");
  kept.Add(FileNumber{7}, 12);
  kept.Add(FileNumber{9}, 20);
  EXPECT_EQ(kept.DebugString(), "#7 until @12, #9 until @20");
  kept.Remove(FileNumber{7});
  EXPECT_EQ(kept.DebugString(), "#9 until @20");
}

TEST(DebugText, OfTheTombstonesOfALevel) {
  const InternalKeyComparator order(BytewiseComparator());
  LevelTombstones tombstones(kMaxSequenceNumber);
  tombstones.NoteFile(1, nullptr);
  EXPECT_EQ(tombstones.DebugString(), "at file 1 of the run\n");
  tombstones.NoteFile(2, std::make_shared<FragmentedTombstones>(
                             order, std::vector<RangeTombstone>{{"c", "g", 9}}, nullptr));
  EXPECT_EQ(tombstones.DebugString(), "at file 2 of the run\nfile 2: not started\n");
  tombstones.StretchFrom({"d", false});
  EXPECT_EQ(tombstones.DebugString(), "at file 2 of the run\nfile 2: [c, g) 9\n");
}

}  // namespace
}  // namespace ashlar
