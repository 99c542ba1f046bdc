// SPDX-License-Identifier: Apache-2.0
//
// The simulated machine: jobs run when the thread would sleep, in an order that the seed
// determines.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "env/memory/memory_file_system.h"
#include "env/sim/sim_env.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

class SimEnvTest : public testing::Test {
 protected:
  std::unique_ptr<Env> NewEnv(SimExecutor* executor) {
    return NewSimEnv(std::make_shared<MemoryFileSystem>(executor->clock()), executor);
  }
};

TEST_F(SimEnvTest, AWaitRunsTheJobThatEndsIt) {
  SimExecutor executor(1);
  const std::unique_ptr<Env> env = NewEnv(&executor);
  bool is_done = false;
  env->Schedule([](void* arg) { *static_cast<bool*>(arg) = true; }, &is_done);
  Mutex mutex(LockRank::kLeaf);
  CondVar changed(&mutex);
  MutexLock lock(&mutex);
  while (!is_done) changed.Wait();
  EXPECT_EQ(executor.queued(), 0u);
}

TEST_F(SimEnvTest, AJobThatWaitsRunsItsThreadsButNoOtherJob) {
  SimExecutor executor(1);
  const std::unique_ptr<Env> env = NewEnv(&executor);
  struct State {
    Env* env;
    int threads = 0, jobs = 0, jobs_seen = -1;
  } state{env.get()};
  for (int i = 0; i < 2; ++i) {
    env->Schedule(
        [](void* arg) {
          auto* shared = static_cast<State*>(arg);
          shared->jobs++;
          const int jobs_before = shared->jobs;
          shared->env->StartThread([](void* a) { static_cast<State*>(a)->threads++; }, shared);
          Mutex mutex(LockRank::kLeaf);
          CondVar changed(&mutex);
          MutexLock lock(&mutex);
          while (shared->threads < jobs_before) changed.Wait();
          EXPECT_EQ(shared->jobs, jobs_before);
        },
        &state);
  }
  executor.RunAll();
  EXPECT_EQ(state.jobs, 2);
  EXPECT_EQ(state.threads, 2);
}

TEST_F(SimEnvTest, TimedWaitsAndSleepsMoveTheClock) {
  SimExecutor executor(1);
  const std::unique_ptr<Env> env = NewEnv(&executor);
  const uint64_t start = env->NowMicros();
  env->SleepForMicroseconds(5000);
  Mutex mutex(LockRank::kLeaf);
  CondVar changed(&mutex);
  {
    MutexLock lock(&mutex);
    EXPECT_TRUE(changed.WaitFor(1000000));
  }
  const uint64_t passed = env->NowMicros() - start;
  EXPECT_GE(passed, 1005000u);
  EXPECT_LT(passed, 1005100u);
}

TEST_F(SimEnvTest, AJumpChangesTheTimeOfDayButNoInterval) {
  SimExecutor executor(1);
  const std::unique_ptr<Env> env = NewEnv(&executor);
  const uint64_t day = env->NowMicros(), nanos = env->NowNanos();
  executor.clock()->Jump(-3600 * int64_t{1000000});
  EXPECT_LT(env->NowMicros(), day - 3599 * uint64_t{1000000});
  EXPECT_GT(env->NowNanos(), nanos);
}

TEST_F(SimEnvTest, JobsThatWereTakenBackNeverRun) {
  SimExecutor executor(1);
  const std::unique_ptr<Env> env = NewEnv(&executor);
  int runs = 0, taken = 0;
  struct Counts {
    int* runs;
    int* taken;
  } counts{&runs, &taken};
  for (int i = 0; i < 3; ++i) {
    env->Schedule([](void* arg) { ++*static_cast<Counts*>(arg)->runs; }, &counts, Env::LOW, &runs,
                  [](void* arg) { ++*static_cast<Counts*>(arg)->taken; });
  }
  EXPECT_EQ(env->UnSchedule(&runs, Env::HIGH), 0);
  EXPECT_EQ(env->UnSchedule(&runs, Env::LOW), 3);
  executor.RunAll();
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(taken, 3);
}

std::string OrderOf(uint64_t seed) {
  SimExecutor executor(seed);
  struct Job {
    std::string* order;
    char name;
  };
  std::string order;
  std::vector<Job> jobs;
  for (char name = 'a'; name < 'k'; ++name) jobs.push_back({&order, name});
  for (Job& job : jobs) {
    executor.Schedule(
        {[](void* arg) { *static_cast<Job*>(arg)->order += static_cast<Job*>(arg)->name; }, &job});
  }
  executor.RunAll();
  return order + " " + std::to_string(executor.NextRandom());
}

TEST_F(SimEnvTest, TheSeedDecidesTheOrderOfJobs) {
  EXPECT_EQ(OrderOf(7), OrderOf(7));
  EXPECT_NE(OrderOf(7), OrderOf(8));
}

using SimEnvDeathTest = SimEnvTest;

TEST_F(SimEnvDeathTest, AWaitThatNothingCanEndAborts) {
  SimExecutor executor(1);
  Mutex mutex(LockRank::kLeaf);
  CondVar changed(&mutex);
  EXPECT_DEATH(
      {
        MutexLock lock(&mutex);
        changed.Wait();
      },
      "a wait that nothing can end");
}

}  // namespace
}  // namespace ashlar
