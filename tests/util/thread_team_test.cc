// SPDX-License-Identifier: Apache-2.0
//
// ThreadTeam: each member runs once, at the same time as the others, and none outlives the team.
#include "util/threads/thread_team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "util/threads/mutex.h"

namespace ashlar {
namespace {

TEST(ThreadTeam, EveryMemberRunsOnceAndBesideTheOthers) {
  constexpr size_t kMembers = 4;
  std::atomic<int> runs[kMembers] = {};
  std::latch all_run(kMembers);
  {
    ThreadTeam team;
    team.Start(kMembers, [&](size_t i) {
      ++runs[i];
      all_run.arrive_and_wait();
    });
    EXPECT_EQ(team.size(), kMembers);
  }
  for (const auto& count : runs) EXPECT_EQ(count, 1);
}

TEST(ThreadTeam, MayBeJoinedAndMayBeEmpty) {
  ThreadTeam team;
  team.Join();
  std::atomic<int> runs = 0;
  team.Start(2, [&](size_t) { ++runs; });
  team.Join();
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(team.size(), 0u);
}

TEST(ThreadTeam, InASimulationThereIsNone) {
  class NoSleep final : public SleepReplacement {
   public:
    bool RunInsteadOfSleep(uint64_t) override { return true; }
  } no_sleep;
  SleepReplacement* const before = SetSleepReplacement(&no_sleep);
  std::atomic<int> runs = 0;
  {
    ThreadTeam team;
    team.Start(3, [&](size_t) { ++runs; });
    EXPECT_EQ(team.size(), 0u);
  }
  SetSleepReplacement(before);
  EXPECT_EQ(runs, 0);
}

}  // namespace
}  // namespace ashlar
