// SPDX-License-Identifier: Apache-2.0
//
// What is due by the clock.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "db/compaction/compaction_picker.h"
#include "tests/support/text_tree.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

ColumnFamilyOptions AgingOptions() {
  ColumnFamilyOptions options;
  options.level_compaction_dynamic_level_bytes = false;
  options.compression = kNoCompression;
  options.bottommost_compression = kNoCompression;
  options.ttl = 100;
  return options;
}

std::string PickAt(uint64_t now, const TextTree& tree, const ColumnFamilyOptions& options) {
  DbMutex mutex;
  MutexLock lock(&mutex);
  PickOptions pick{.options = &options, .claims = &tree.claims()};
  pick.now_seconds = now;
  const auto plan = PickByAge(tree.version(), pick, {});
  if (!plan.has_value()) return "none";
  return plan->DebugString() + (plan->reason == CompactionReason::kTtl ? " ttl" : " periodic");
}

TEST(CompactionByAge, DataThatIsTooOldGoesDownALevel) {
  const TextTree tree("L1: 1 a-b 10 kin=500, 2 c-d 10 kin=400\nL2: 3 c-c 10 kin=100");
  EXPECT_EQ(PickAt(500, tree, AgingOptions()), "none");
  EXPECT_EQ(PickAt(501, tree, AgingOptions()), "merge L1[2] L2[3] -> L2 bottommost ttl");
  ColumnFamilyOptions never = AgingOptions();
  never.ttl = 0;
  EXPECT_EQ(PickAt(100000, tree, never), "none");
}

TEST(CompactionByAge, TheDeepestLevelIsWhereItStays) {
  EXPECT_EQ(PickAt(9999, TextTree("L2: 3 c-c 10 kin=100"), AgingOptions()), "none");
  // Nothing is in the way: it is relinked, and goes on from there another time.
  EXPECT_EQ(PickAt(9999, TextTree("L1: 1 a-b 10 kin=100\nL2: 3 c-c 10 kin=100"), AgingOptions()),
            "move L1[1] -> L2 bottommost ttl");
}

TEST(CompactionByAge, Level0GoesAsAWhole) {
  EXPECT_EQ(PickAt(9999, TextTree("L0: 1 a-b 10 kin=100, 2 b-c 10 kin=9998\nL1: 3 c-c 10"),
                   AgingOptions()),
            "merge L0[2 1] L1[3] -> L1 bottommost ttl");
}

TEST(CompactionByAge, WhatIsTakenOrOfUnknownAgeIsLeft) {
  EXPECT_EQ(PickAt(9999, TextTree("L1: 1 a-b 10 kin=100!, 2 c-d 10\nL2: 3 c-c 10"), AgingOptions()),
            "none");
}

TEST(CompactionByAge, WhatWasWrittenTooLongAgoIsRewrittenWhereItIs) {
  ColumnFamilyOptions options = AgingOptions();
  options.ttl = 0;
  options.periodic_compaction_seconds = 100;
  const TextTree tree("L1: 1 a-b 10 born=500, 2 c-d 10 born=400\nL2: 3 c-c 10 born=450");
  EXPECT_EQ(PickAt(500, tree, options), "none");
  EXPECT_EQ(PickAt(501, tree, options), "merge L1[2] -> L1 periodic");
  EXPECT_EQ(PickAt(551, TextTree("L2: 3 c-c 10 born=450"), options),
            "merge L2[3] -> L2 bottommost periodic");
}

// No compaction takes its tables, so they would be due for ever.
TEST(CompactionByAge, WhatWasIngestedBehindIsNeverTooOld) {
  ColumnFamilyOptions options = AgingOptions();
  options.ttl = 0;
  options.periodic_compaction_seconds = 100;
  options.cf_allow_ingest_behind = true;
  const TextTree tree("L5: 2 a-b 10 born=450\nL6: 1 a-z 10 born=100");
  for (const CompactionStyle style : {kCompactionStyleUniversal, kCompactionStyleLevel}) {
    options.compaction_style = style;
    EXPECT_EQ(PickAt(550, tree, options), "none") << style;
    EXPECT_EQ(PickAt(551, tree, options), "merge L5[2] -> L5 periodic") << style;
  }
}

}  // namespace
}  // namespace ashlar
