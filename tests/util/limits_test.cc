// SPDX-License-Identifier: Apache-2.0
//
// Limits on tasks that databases may share.
#include <gtest/gtest.h>

#include "util/threads/concurrent_task_limiter.h"

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

}  // namespace
}  // namespace ashlar
