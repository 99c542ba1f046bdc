// SPDX-License-Identifier: Apache-2.0
//
// What the tombstones of a run report about themselves. Their effect is tested together with the
// merge, in merging_tombstones_test.cc.
#include "table/iterator/run_tombstones.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "ashlar/comparator.h"

namespace ashlar {
namespace {

TEST(RunTombstones, SayWhereTheirWalkStands) {
  const InternalKeyComparator order(BytewiseComparator());
  ListTombstones tombstones(
      std::make_shared<FragmentedTombstones>(
          order, std::vector<RangeTombstone>{{"b", "d", 5}, {"m", "p", 7}}, nullptr),
      kMaxSequenceNumber);
  EXPECT_EQ(tombstones.DebugString(), "not started\n");
  tombstones.StretchFrom({"a", false});
  EXPECT_EQ(tombstones.DebugString(), "[b, d) 5\n");
  tombstones.StretchFrom({"e", false});
  EXPECT_EQ(tombstones.DebugString(), "[m, p) 7\n");
  tombstones.StretchFrom({"z", false});
  EXPECT_EQ(tombstones.DebugString(), "at no tombstone\n");
}

}  // namespace
}  // namespace ashlar
