// SPDX-License-Identifier: Apache-2.0
//
// Model-based test: random traces under random option sets, every answer compared with the oracle.
//
//   model_test [--seconds=20] [--seed=N] [--trace=FILE]
//
// With --seed one trace is run, that of the seed. A failing trace is cut, thinned out and printed.
// --trace runs a printed trace; its line "# seed N" gives the options.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "tests/support/suite.h"
#include "tests/support/trace_generator.h"
#include "tests/support/trace_runner.h"

namespace ashlar {
namespace {

SuiteArguments arguments;

struct Figures {
  uint64_t operations = 0;
  uint64_t seeds = 0;
  uint64_t option_sets = 0;
  uint64_t reopenings = 0;
};
Figures figures;

struct Failure {
  size_t op = 0;  // index of the operation that failed
  std::string what;
};

TraceProfile ProfileOf(uint64_t seed) {
  TraceProfile profile;
  profile.pool_keys = 20 + static_cast<unsigned>(seed % 7) * 40;
  profile.no_wal_percent = seed % 3 == 0 ? 10 : 0;
  profile.max_value = seed % 4 == 0 ? 100 : 40000;
  return profile;
}

std::vector<TraceOp> Generate(uint64_t seed, size_t count) {
  TraceGenerator generator(seed, ProfileOf(seed));
  std::vector<TraceOp> ops;
  for (size_t i = 0; i < count; ++i) ops.push_back(generator.Next());
  TraceOp end;
  end.kind = OpKind::kReopen;
  ops.push_back(end);
  return ops;
}

Failure RunOps(uint64_t seed, const std::vector<TraceOp>& ops) {
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  const OptionSet options = OptionSet::Draw(seed);
  TraceRunner runner(env.get(), "/model", options);
  Failure failure;
  failure.what = runner.Open();
  while (failure.what.empty() && failure.op < ops.size()) {
    const TraceOp& op = ops[failure.op];
    BeginCase("seed " + std::to_string(seed) + " op " + std::to_string(failure.op) + ": " +
              op.ToString().substr(0, 500));
    failure.what = runner.Apply(op);
    if (failure.what.empty()) ++failure.op;
  }
  BeginCase("seed " + std::to_string(seed) + ", closing");
  const std::string closed = runner.Close();
  if (failure.what.empty()) failure.what = closed;
  figures.operations += failure.op;
  figures.reopenings += runner.reopenings();
  return failure;
}

// Takes operations out while the trace still fails, for a few seconds.
std::vector<TraceOp> Shrink(uint64_t seed, std::vector<TraceOp> ops, const Failure& failure) {
  ops.resize(std::min(ops.size(), failure.op + 1));
  const double deadline = SuiteClock() + 15;
  for (size_t chunk = ops.size() / 2; chunk > 0; chunk /= 2) {
    for (size_t begin = 0; begin < ops.size() && SuiteClock() < deadline;) {
      std::vector<TraceOp> fewer = ops;
      const size_t end = std::min(begin + chunk, ops.size());
      fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(begin),
                  fewer.begin() + static_cast<ptrdiff_t>(end));
      if (RunOps(seed, fewer).what.empty()) begin += chunk;
      else ops = std::move(fewer);
    }
  }
  return ops;
}

void RunSeed(uint64_t seed) {
  const size_t count = seed % 5 == 0 ? 6000 : 1500;
  const std::vector<TraceOp> ops = Generate(seed, count);
  const Failure failure = RunOps(seed, ops);
  ++figures.seeds;
  ++figures.option_sets;
  if (failure.what.empty()) return;
  const std::vector<TraceOp> shrunk = Shrink(seed, ops, failure);
  ADD_FAILURE() << "seed " << seed << ", operation " << failure.op << ": " << failure.what
                << "\noptions: " << OptionSet::Draw(seed).ToString() << "\nshrunk to "
                << shrunk.size() << " operations, which fail with: " << RunOps(seed, shrunk).what
                << "\n# seed " << seed << "\n" << TraceText(shrunk).substr(0, 6000);
}

TEST(ModelTest, TracesAgreeWithTheOracle) {
  if (!arguments.trace_file.empty()) GTEST_SKIP() << "one trace is replayed";
  std::printf("model: seed %llu\n", static_cast<unsigned long long>(arguments.seed));
  const double deadline = SuiteClock() + arguments.seconds;
  uint64_t seed = arguments.seed;
  do {
    RunSeed(seed++);
  } while (!arguments.has_seed && SuiteClock() < deadline && !HasFailure());
  EndCases();
}

TEST(ModelTest, ATraceIsTheSameAfterItsTextWasRead) {
  const std::vector<TraceOp> ops = Generate(5, 500);
  std::string error;
  const std::vector<TraceOp> again = ParseTrace(TraceText(ops), &error);
  EXPECT_EQ(error, "");
  EXPECT_EQ(TraceText(again), TraceText(ops));
}

TEST(ModelTest, ReplaysATraceFile) {
  if (arguments.trace_file.empty()) GTEST_SKIP() << "no --trace";
  std::ifstream file(arguments.trace_file);
  std::stringstream text;
  text << file.rdbuf();
  std::string error;
  const std::vector<TraceOp> ops = ParseTrace(text.str(), &error);
  ASSERT_EQ(error, "");
  const size_t at = text.str().find("# seed ");
  const uint64_t seed = at == std::string::npos
                            ? arguments.seed
                            : std::strtoull(text.str().c_str() + at + 7, nullptr, 10);
  const Failure failure = RunOps(seed, ops);
  EXPECT_EQ(failure.what, "") << "operation " << failure.op;
  EndCases();
}

}  // namespace
}  // namespace ashlar

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ashlar::arguments = ashlar::ParseSuiteArguments(argc, argv, 20);
  const int result = RUN_ALL_TESTS();
  std::printf("model: %llu operations, %llu seeds, %llu option sets, %llu reopenings, seed %llu\n",
              static_cast<unsigned long long>(ashlar::figures.operations),
              static_cast<unsigned long long>(ashlar::figures.seeds),
              static_cast<unsigned long long>(ashlar::figures.option_sets),
              static_cast<unsigned long long>(ashlar::figures.reopenings),
              static_cast<unsigned long long>(ashlar::arguments.seed));
  return result;
}
