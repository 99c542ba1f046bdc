// SPDX-License-Identifier: Apache-2.0
//
// Fault test: a trace runs on SimFS while one call fails, once, for a while or permanently, with an
// error that fits the call, after doing none, half or all of its work; or while the disk has only
// some bytes of free space.
//
//   fault_test [--seconds=S] [--seed=N]
//
// Without --seconds the amount of work is fixed; $ASHLAR_SUITE_SCALE multiplies it.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tests/fault/fault_run.h"

namespace ashlar {

FaultSuite fault_suite;

namespace {

constexpr uint64_t kInjections = 15000;
constexpr uint64_t kQuotas = 700;
constexpr uint64_t kCallStride = 5;
constexpr uint64_t kBlockBytes = 512;
constexpr int kMaxFailures = 6;

constexpr uint64_t kOpens = (uint64_t{1} << static_cast<unsigned>(CallKind::kCreate)) |
                            (uint64_t{1} << static_cast<unsigned>(CallKind::kReopen)) |
                            (uint64_t{1} << static_cast<unsigned>(CallKind::kReuse)) |
                            (uint64_t{1} << static_cast<unsigned>(CallKind::kOpenRead)) |
                            (uint64_t{1} << static_cast<unsigned>(CallKind::kOpenReadWrite)) |
                            (uint64_t{1} << static_cast<unsigned>(CallKind::kOpenDirectory));
constexpr uint64_t kTransfers = (uint64_t{1} << static_cast<unsigned>(CallKind::kRead)) |
                                (uint64_t{1} << static_cast<unsigned>(CallKind::kAppend)) |
                                (uint64_t{1} << static_cast<unsigned>(CallKind::kPositionedWrite));
constexpr uint64_t kSyncs = (uint64_t{1} << static_cast<unsigned>(CallKind::kSync)) |
                            (uint64_t{1} << static_cast<unsigned>(CallKind::kRangeSync)) |
                            (uint64_t{1} << static_cast<unsigned>(CallKind::kSyncDirectory));
constexpr uint64_t kAll = ~uint64_t{0};

struct Injection {
  const char* name;
  FaultError error;
  FaultEffect effect;
  uint64_t kinds;  // bit mask of the calls that can fail like this
};
constexpr Injection kInjectionKinds[] = {
    {"EIO", FaultError::kIO, FaultEffect::kNone, kAll},
    // A full disk can still be read.
    {"ENOSPC", FaultError::kNoSpace, FaultEffect::kNone, kMutatingKinds},
    {"EIO torn", FaultError::kIO, FaultEffect::kPartial, kTransfers},
    {"EIO done", FaultError::kIO, FaultEffect::kFull, kMutatingKinds},
    {"ENOSPC torn", FaultError::kNoSpace, FaultEffect::kPartial, kTransfers& kMutatingKinds},
    {"EMFILE", FaultError::kTooManyFiles, FaultEffect::kNone, kOpens},
    {"EINTR", FaultError::kInterrupted, FaultEffect::kNone, kAll},
    {"short", FaultError::kShort, FaultEffect::kPartial, kTransfers},
    {"lying sync", FaultError::kLie, FaultEffect::kNone, kSyncs},
};
constexpr size_t kAlways = 2;  // the first ones are always used

struct Duration {
  const char* name;
  FaultMode mode;
  bool until_reopened;
};
constexpr Duration kDurations[] = {{"once", FaultMode::kOnce, false},
                                   {"sticky", FaultMode::kSticky, false},
                                   {"five times", FaultMode::kNextFive, false},
                                   {"until reopened", FaultMode::kSticky, true}};

FaultCase PlainCase(uint64_t seed) {
  FaultCase test;
  test.seed = seed;
  test.options = FaultOptions(seed);
  test.has_own_threads = seed % 12 == 3;
  test.maps_logs = seed % 7 < 3;
  return test;
}

bool InjectAt(const FileCall& call, const Injection& injection, const Duration& duration,
              uint64_t seed) {
  FaultCase test = PlainCase(seed);
  const std::string kind = std::string(injection.name) + " " + duration.name;
  test.name = "seed " + std::to_string(seed) + ", " + kind + " at call " +
              std::to_string(call.index) + " (" + NameOf(call.kind) + " " + call.path + ")";
  test.ends_after_close = duration.until_reopened;
  test.may_lose_synced = injection.error == FaultError::kLie;
  test.may_show_damage = injection.error == FaultError::kShort;
  test.begin_fault = [&](SimFS* sim) {
    FaultPlan plan;
    plan.first_call = call.index;
    plan.error = injection.error;
    plan.mode = duration.mode;
    plan.effect = injection.effect;
    plan.kinds = injection.kinds;
    sim->AddFault(plan);
  };
  test.end_fault = [](SimFS* sim) { sim->ClearFaults(); };
  ++fault_suite.figures.injections[kind];
  ++fault_suite.figures.calls[NameOf(call.kind)];
  return RunFaultCase(test);
}

// The calls of the run without a fault; empty if it goes wrong.
std::vector<FileCall> CallsWithoutFault(uint64_t seed, uint64_t* used_bytes) {
  FaultCase test = PlainCase(seed);
  test.name = "no fault, seed " + std::to_string(seed);
  test.must_succeed = true;
  std::vector<FileCall> calls;
  test.begin_fault = [](SimFS* sim) { sim->KeepCalls(true); };
  test.end_fault = [&](SimFS* sim) {
    calls = sim->Calls();
    *used_bytes = sim->UsedBytes();
  };
  if (!RunFaultCase(test)) calls.clear();
  return calls;
}

// EIO and ENOSPC, once and permanently, and two more that fit, in turns.
int InjectAllAt(const FileCall& call, uint64_t seed) {
  int failures = 0;
  for (size_t i = 0; i < kAlways; ++i) {
    for (size_t j = 0; j < 2; ++j) {
      if ((kInjectionKinds[i].kinds & KindBit(call.kind)) == 0) continue;
      if (!InjectAt(call, kInjectionKinds[i], kDurations[j], seed)) ++failures;
    }
  }
  Random64 random(seed * 1000003 + call.index);
  for (int left = 2; left > 0;) {
    const Injection& injection = kInjectionKinds[random.Uniform(std::size(kInjectionKinds))];
    const Duration& duration = kDurations[random.Uniform(std::size(kDurations))];
    if ((injection.kinds & KindBit(call.kind)) == 0) continue;
    --left;
    if (!InjectAt(call, injection, duration, seed)) ++failures;
  }
  return failures;
}

TEST(FaultTest, EveryCallIsRightOrReturnsAnError) {
  const FaultFigures& figures = fault_suite.figures;
  int failures = 0;
  for (uint64_t seed = fault_suite.arguments.seed;
       fault_suite.HasMoreTime(0.6, kInjections, figures.Injections()); ++seed) {
    uint64_t used_bytes = 0;
    const std::vector<FileCall> calls = CallsWithoutFault(seed, &used_bytes);
    ASSERT_FALSE(calls.empty());
    for (size_t i = seed % kCallStride; i < calls.size(); i += kCallStride) {
      if (calls[i].kind == CallKind::kStore) continue;  // cannot fail
      failures += InjectAllAt(calls[i], seed);
      ASSERT_LT(failures, kMaxFailures);
    }
  }
  EndCases();
  EXPECT_GT(figures.views, figures.Injections()) << "snapshots and iterators are hardly read";
}

// Writes are stopped before the compaction fails that would end the stop.
TEST(FaultTest, WritersContinueWhenAFailedCompactionSucceeds) {
  BeginCase("a failed compaction");
  const std::shared_ptr<SimFS> sim = SimFS::Create();
  const std::unique_ptr<Env> env = NewCompositeEnv(sim);
  Options options = OptionSet().Build(env.get());
  options.disable_auto_compactions = true;
  options.level0_file_num_compaction_trigger = 2;
  options.level0_slowdown_writes_trigger = options.level0_stop_writes_trigger = 2;
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, "/db", &db).ok());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(db->Put(WriteOptions(), "k", std::to_string(i)).ok());
    ASSERT_TRUE(db->Flush(FlushOptions()).ok());
  }
  FaultPlan plan;
  plan.path_part = ".sst";
  plan.kinds = KindBit(CallKind::kCreate);
  sim->AddFault(plan);
  ASSERT_TRUE(db->SetOptions({{"disable_auto_compactions", "false"}}).ok());
  EXPECT_TRUE(db->Put(WriteOptions(), "k", "last").ok());
  EXPECT_EQ(sim->Stats().TotalInjected(), 1u);
  EXPECT_TRUE(db->WaitForCompact(WaitForCompactOptions()).ok());
  EXPECT_TRUE(db->Close().ok());
  EndCases();
}

TEST(FaultTest, AFullDiskLosesNothingWhenItHasSpaceAgain) {
  FaultFigures& figures = fault_suite.figures;
  int failures = 0;
  for (uint64_t seed = fault_suite.arguments.seed + 1;
       fault_suite.HasMoreTime(0.8, kQuotas, figures.quotas); ++seed) {
    uint64_t used_bytes = 0;
    ASSERT_FALSE(CallsWithoutFault(seed, &used_bytes).empty());
    for (uint64_t quota = 0; quota < used_bytes; quota += kBlockBytes) {
      FaultCase test = PlainCase(seed);
      test.name = "seed " + std::to_string(seed) + ", quota of " + std::to_string(quota) + " bytes";
      test.begin_fault = [quota](SimFS* sim) { sim->SetByteQuota(quota); };
      test.end_fault = [](SimFS* sim) { sim->SetByteQuota(UINT64_MAX); };
      ++figures.quotas;
      if (!RunFaultCase(test)) ++failures;
      ASSERT_LT(failures, kMaxFailures);
    }
  }
  EndCases();
}

}  // namespace
}  // namespace ashlar

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ashlar::FaultSuite& suite = ashlar::fault_suite;
  suite.arguments = ashlar::ParseSuiteArguments(argc, argv, 0);
  std::printf("fault: seed %llu\n", static_cast<unsigned long long>(suite.arguments.seed));
  const int result = RUN_ALL_TESTS();
  std::printf("fault: %s, seed %llu\n", suite.figures.ToString().c_str(),
              static_cast<unsigned long long>(suite.arguments.seed));
  return result;
}
