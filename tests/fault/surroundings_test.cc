// SPDX-License-Identifier: Apache-2.0
//
// Faults outside of the disk: a clock that stands still or jumps, a background job that does not
// run until the database is closed, an allocation that fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/env.h"
#include "env/env_adaptors.h"
#include "tests/fault/allocation_hook.h"
#include "tests/fault/fault_run.h"

namespace ashlar {
namespace {

constexpr uint64_t kClockRuns = 300;
constexpr uint64_t kDelayRuns = 300;
constexpr uint64_t kAllocationRuns = 1000;

FaultCase CaseWithThreads(const std::string& name, uint64_t seed) {
  FaultCase test;
  test.name = name + ", seed " + std::to_string(seed);
  test.seed = seed;
  test.options = FaultOptions(seed);
  test.has_own_threads = true;
  test.maps_logs = seed % 7 < 3;
  return test;
}

// ---- F6: the wall clock

// Stands still, or jumps by up to a year in either direction at every reading.
class OddClock final : public SystemClockWrapper {
 public:
  OddClock(bool is_frozen, uint64_t seed)
      : SystemClockWrapper(SystemClock::Default()), is_frozen_(is_frozen), random_(seed) {}
  const char* Name() const override { return "OddClock"; }

  uint64_t NowMicros() override {
    constexpr uint64_t kStart = uint64_t{1700000000} * 1000000;
    constexpr uint64_t kYear = uint64_t{365} * 86400 * 1000000;
    if (is_frozen_) return kStart;
    std::lock_guard<std::mutex> lock(mutex_);
    return kStart - kYear + random_.Uniform(2 * kYear);
  }
  Status GetCurrentTime(int64_t* unix_time) override {
    *unix_time = static_cast<int64_t>(NowMicros() / 1000000);
    return Status::OK();
  }

 private:
  const bool is_frozen_;
  std::mutex mutex_;
  Random64 random_;
};

TEST(FaultTest, AClockThatStopsOrJumpsLosesNothing) {
  FaultFigures& figures = fault_suite.figures;
  uint64_t seed = fault_suite.arguments.seed;
  for (; fault_suite.HasMoreTime(0.87, kClockRuns, figures.clocks); ++seed) {
    FaultCase test = CaseWithThreads(seed % 2 == 0 ? "frozen clock" : "jumping clock", seed);
    test.new_env = [seed](const std::shared_ptr<SimFS>& sim) {
      return NewCompositeEnvOver(Env::Default(), sim,
                                 std::make_shared<OddClock>(seed % 2 == 0, seed));
    };
    ++figures.clocks;
    ASSERT_TRUE(RunFaultCase(test));
  }
  EndCases();
}

// ---- L1: a job that does not run

// Holds back the n-th job until it is unscheduled.
class HoldingEnv final : public EnvWrapper {
 public:
  HoldingEnv(const std::shared_ptr<SimFS>& sim, uint64_t which, const bool* has_ended)
      : EnvWrapper(NewCompositeEnv(sim)), left_(which), has_ended_(has_ended) {}

  void Schedule(void (*f)(void*), void* arg, Priority pri, void* tag, void (*u)(void*)) override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!*has_ended_ && left_-- == 0) {
        held_.push_back({f, arg, pri, tag, u});
        return;
      }
    }
    EnvWrapper::Schedule(f, arg, pri, tag, u);
  }

  int UnSchedule(void* tag, Priority pri) override {
    int count = 0;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      count = static_cast<int>(std::erase_if(held_, [&](const Job& job) {
        const bool is_meant = job.tag == tag && job.priority == pri;
        if (is_meant && job.unschedule != nullptr) job.unschedule(job.arg);
        return is_meant;
      }));
    }
    return count + EnvWrapper::UnSchedule(tag, pri);
  }

 private:
  struct Job {
    void (*function)(void*);
    void* arg;
    Priority priority;
    void* tag;
    void (*unschedule)(void*);
  };
  std::mutex mutex_;
  uint64_t left_;
  const bool* const has_ended_;  // written while no job is scheduled
  std::vector<Job> held_;
};

TEST(FaultTest, AJobThatNeverRunsStopsNeitherReadsNorClosing) {
  FaultFigures& figures = fault_suite.figures;
  uint64_t seed = fault_suite.arguments.seed;
  for (; fault_suite.HasMoreTime(0.93, kDelayRuns, figures.delays); ++seed) {
    FaultCase test = CaseWithThreads("held job " + std::to_string(seed % 12), seed);
    test.never_waits = true;
    test.ends_after_close = true;
    bool has_ended = false;
    test.end_fault = [&](SimFS*) { has_ended = true; };
    test.new_env = [&](const std::shared_ptr<SimFS>& sim) {
      return std::make_unique<HoldingEnv>(sim, seed % 12, &has_ended);
    };
    ++figures.delays;
    ASSERT_TRUE(RunFaultCase(test));
  }
  EndCases();
}

// ---- F5: allocations

TEST(FaultTest, AFailedAllocationInACallLeavesTheDatabaseUsable) {
  FaultFigures& figures = fault_suite.figures;
  uint64_t seed = fault_suite.arguments.seed;
  uint64_t which = 0;
  int failures = 0;
  for (; fault_suite.HasMoreTime(1, kAllocationRuns, figures.allocations); ++seed) {
    FaultCase test = CaseWithThreads("allocation " + std::to_string(which), seed % 8);
    uint64_t countdown = which;
    // Every other time only calls after the first one, which opens the database.
    bool is_passed_over = seed % 2 == 1;
    test.around = [&](const std::function<void()>& call) {
      if (std::exchange(is_passed_over, false)) return call();
      const AllocationFault armed(&countdown);
      call();
    };
    // The records of SimFS about a call are allocated within the call.
    test.begin_fault = [](SimFS* sim) {
      sim->SetHook([](const FileCall&, bool is_before) { AllocationFault::SetPaused(is_before); });
    };
    test.steps = 40;
    test.may_half_insert = true;
    ++figures.allocations;
    if (!RunFaultCase(test)) ++failures;
    ASSERT_LT(failures, 4);
    // At short distances first, when the database opens; then at growing ones.
    if (seed % 2 == 1) which = countdown == UINT64_MAX ? which + 1 + which / 40 : 0;
  }
  EndCases();
}

}  // namespace
}  // namespace ashlar
