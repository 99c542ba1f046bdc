// SPDX-License-Identifier: Apache-2.0
//
// Crash test: operations run on SimFS; the images that crashes may leave are opened and checked
// (image_check.h). Random traces: short ones are cut before and after every call that changes
// something, long ones before some of them, with all policies.
//
//   crash_test [--seconds=S] [--seed=N]
//
// With --seed alone it runs that one trace, at all its crash points.
// Without --seconds the amount of work is fixed; $ASHLAR_SUITE_SCALE multiplies it.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tests/crash/crash_suite.h"
#include "tests/crash/image_check.h"
#include "tests/crash/recorder.h"

namespace ashlar {

CrashSuite crash_suite;

namespace {

// Distinct images of random traces, each opened at least twice.
constexpr uint64_t kDistinctImages = 16000;
constexpr uint64_t kLongTraceStride = 9;

// Policies that draw by seed are used more often.
constexpr std::pair<CrashPolicy, int> kDraws[] = {
    {CrashPolicy::kStrict, 1},  {CrashPolicy::kAll, 1},       {CrashPolicy::kTorn, 3},
    {CrashPolicy::kReorder, 3}, {CrashPolicy::kEntryLoss, 2}, {CrashPolicy::kSizeFirst, 1}};

std::string CheckPoint(ImageCheck* check, uint64_t index) {
  for (const auto& [policy, draws] : kDraws) {
    for (int draw = 0; draw < draws; ++draw) {
      const uint64_t seed =
          index * 31 + static_cast<uint64_t>(policy) * 7 + static_cast<uint64_t>(draw);
      const std::string name = "crash before call " + std::to_string(index) + ", policy " +
                               NameOf(policy) + ", draw " + std::to_string(draw);
      BeginCase(name);
      const std::string wrong = check->Check(index, policy, seed);
      if (!wrong.empty()) return name + ": " + wrong;
    }
  }
  return "";
}

std::string Record(Recorder* recorder, uint64_t seed, int count) {
  TraceGenerator generator(seed, CrashProfile(seed));
  std::string wrong = recorder->Open();
  for (int i = 0; i < count && wrong.empty(); ++i) wrong = recorder->Apply(generator.Next());
  const std::string closed = recorder->Close();
  return wrong.empty() ? closed : wrong;
}

// False after an error.
bool RunTrace(uint64_t seed) {
  const bool is_long = seed % 3 == 2;
  Recorder recorder("seed " + std::to_string(seed), seed, /*has_own_threads=*/seed % 4 == 1,
                    /*maps_logs=*/seed % 7 < 3, CrashOptions(seed));
  std::string wrong = Record(&recorder, seed, is_long ? 250 : 70);
  const Recording& recording = recorder.recording();
  CrashFigures& figures = crash_suite.figures;
  figures.Count(recording, &figures.traces);
  ImageCheck check(recording, ImageEffort(), &figures);
  const std::vector<FileCall> calls = recording.sim->MutatingCalls();
  const uint64_t step = is_long && !crash_suite.is_single() ? kLongTraceStride : 1;
  for (size_t i = seed % step; i < calls.size() && wrong.empty(); i += step) {
    ++figures.points;
    wrong = CheckPoint(&check, calls[i].index);
    if (wrong.empty() && !is_long) wrong = CheckPoint(&check, calls[i].index + 1);
    if (wrong.empty()) continue;
    wrong += "\ncalls:" + LastCalls(*recording.sim, calls[i].index + 1);
  }
  EXPECT_EQ(wrong, "") << recording.name << ", options " << recording.options.ToString();
  return wrong.empty();
}

TEST(CrashTest, EveryImageOfARandomTraceHasAPrefixOfTheWrites) {
  uint64_t seed = crash_suite.arguments.seed;
  if (crash_suite.is_single()) {
    RunTrace(seed);
  } else {
    while (crash_suite.HasMoreTime(0.7, kDistinctImages, crash_suite.figures.opened) &&
           RunTrace(seed++)) {
    }
  }
  EndCases();
  // Each kind of log must have been tested at least this often.
  const CrashFigures& figures = crash_suite.figures;
  EXPECT_GE(figures.stores, figures.mapped * 10);
  if (figures.traces >= 7) {
    EXPECT_GT(figures.mapped, 0u);
    EXPECT_GT(figures.reused, 0u);
  }
}

}  // namespace
}  // namespace ashlar

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ashlar::CrashSuite& suite = ashlar::crash_suite;
  suite.arguments = ashlar::ParseSuiteArguments(argc, argv, 0);
  std::printf("crash: seed %llu\n", static_cast<unsigned long long>(suite.arguments.seed));
  const int result = RUN_ALL_TESTS();
  std::printf("crash: %s, seed %llu\n", suite.figures.ToString().c_str(),
              static_cast<unsigned long long>(suite.arguments.seed));
  return result;
}
