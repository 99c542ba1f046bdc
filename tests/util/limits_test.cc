// SPDX-License-Identifier: Apache-2.0
//
// Limits that databases may share: of tasks and of the space of tables.
#include <gtest/gtest.h>

#include "util/concurrent_task_limiter.h"
#include "util/sst_file_manager_impl.h"

namespace ashlar {
namespace {

TEST(TaskLimiter, GivesOutNoMoreThanTheLimit) {
  TaskLimiter limiter("compactions", 1);
  auto first = limiter.Take(/*force=*/false);
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(limiter.Take(/*force=*/false), nullptr);
  auto forced = limiter.Take(/*force=*/true);
  EXPECT_EQ(limiter.GetOutstandingTask(), 2);
  forced.reset();
  first.reset();
  EXPECT_NE(limiter.Take(/*force=*/false), nullptr);
}

TEST(TaskLimiter, NegativeMeansNoLimit) {
  TaskLimiter limiter("compactions", 0);
  EXPECT_EQ(limiter.Take(/*force=*/false), nullptr);
  limiter.ResetMaxOutstandingTask();
  EXPECT_NE(limiter.Take(/*force=*/false), nullptr);
}

TEST(SstFileTracker, SumsFilesAndKnowsTheLimit) {
  SstFileTracker tracker(0, 0.25);
  tracker.OnAddFile("a", 10);
  tracker.OnAddFile("b", 20);
  tracker.OnAddFile("a", 15);
  EXPECT_EQ(tracker.GetTotalSize(), 35u);
  EXPECT_FALSE(tracker.IsMaxAllowedSpaceReached());
  tracker.SetMaxAllowedSpaceUsage(40);
  EXPECT_FALSE(tracker.IsMaxAllowedSpaceReached());
  tracker.OnCompactionStart(5);
  EXPECT_TRUE(tracker.IsMaxAllowedSpaceReachedIncludingCompactions());
  tracker.OnCompactionEnd(5);
  tracker.OnDeleteFile("b");
  tracker.OnDeleteFile("never seen");
  EXPECT_EQ(tracker.GetTotalSize(), 15u);
}

}  // namespace
}  // namespace ashlar
