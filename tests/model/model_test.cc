// SPDX-License-Identifier: Apache-2.0
//
// Model-based test: random traces under random option sets. Five seeds in six compare every answer
// with the oracle; the sixth runs its trace under eight option sets, whose answers must be equal.
//
//   model_test [--seed=N] [--seconds=S] [--trace=FILE]
//
// Without arguments it runs a fixed number of seeds, scaled by ASHLAR_SUITE_SCALE; with --seconds
// as many as fit; with --seed alone that one, in a child process, so that it may crash. A failing
// trace is shrunk and printed; --trace replays one. The traces in tests/traces/ are always
// replayed.
#include <gtest/gtest.h>

#include <bitset>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/model/model_case.h"
#include "tests/model/shrink.h"
#include "tests/support/paths.h"
#include "tests/support/suite.h"

namespace ashlar {
namespace {

constexpr double kSeeds = 300;
constexpr size_t kOps = 2400;
constexpr size_t kMetamorphicOps = 1400;
constexpr uint64_t kOptionSets = 8;  // of a metamorphic seed
constexpr double kShrinkSeconds = 500;
constexpr auto kKinds = static_cast<size_t>(OpKind::kCount);

SuiteArguments arguments;

struct Figures {
  uint64_t operations = 0, seeds = 0, metamorphic = 0, option_sets = 0;
  uint64_t reopenings = 0, crashes = 0, shrunk = 0;
  std::bitset<kKinds * kKinds> pairs;  // of consecutive operations

  void Add(const ModelCase& test, const Outcome& outcome, uint64_t runs) {
    const size_t count = std::min(outcome.op + 1, test.ops.size());
    operations += count * runs;
    option_sets += runs;
    reopenings += outcome.reopenings;
    crashes += outcome.crashes;
    for (size_t i = 1; i < count; ++i) {
      pairs.set(static_cast<size_t>(test.ops[i - 1].kind) * kKinds +
                static_cast<size_t>(test.ops[i].kind));
    }
  }
};
Figures figures;

void Report(const ModelCase& test, const Outcome& outcome, const CaseRunner& run) {
  EndCases();
  std::string text = "seed " + std::to_string(test.seed) + ", operation " +
                     std::to_string(outcome.op) + ": " + outcome.what +
                     "\noptions: " + test.options.ToString();
  if (!RunForked(test, run).ok()) {
    const ModelCase small = Shrink(test, outcome.op, run, kShrinkSeconds);
    ++figures.shrunk;
    text += "\nshrunk to " + std::to_string(small.ops.size()) +
            " operations, which fail with: " + RunForked(small, run).what + "\n" +
            small.ToText().substr(0, 8000);
  } else {
    text += "\nnot seen again in a child process; rerun with --seed";
  }
  ADD_FAILURE() << text;
}

void RunSeed(uint64_t seed, bool is_forked) {
  ModelCase test = DrawCase(seed, kOps);
  // Real threads cannot run in a forked child; most failures do not need them.
  if (is_forked && test.machine == Machine::kThreads) test.machine = Machine::kSim;
  const CaseRunner run = [](const ModelCase& what) { return RunCase(what); };
  const Outcome outcome = is_forked ? RunForked(test, run) : RunCase(test);
  figures.Add(test, outcome, 1);
  if (test.machine == Machine::kThreads) test.machine = Machine::kSim;
  if (!outcome.ok()) Report(test, outcome, run);
}

// Compares each set with the first.
void RunMetamorphicSeed(uint64_t seed) {
  ModelCase test = DrawMetamorphicCase(seed, kMetamorphicOps);
  test.options = DrawOtherOptions(test, 0);
  std::vector<std::string> answers;
  const Outcome first = RunCase(test, &answers);
  figures.Add(test, first, 1);
  if (!first.ok()) {
    return Report(test, first, [](const ModelCase& what) {
      std::vector<std::string> ignored;
      return RunCase(what, &ignored);
    });
  }
  for (uint64_t n = 1; n < kOptionSets; ++n) {
    const OptionSet other = DrawOtherOptions(test, n);
    ModelCase changed = test;
    changed.options = other;
    std::vector<std::string> found;
    const Outcome outcome = RunCase(changed, &found);
    figures.Add(test, outcome, 1);
    if (outcome.ok() && found == answers) continue;
    const CaseRunner run = [other](const ModelCase& what) { return RunBoth(what, other); };
    return Report(test, run(test), run);
  }
}

void RunAnySeed(uint64_t seed) {
  ++figures.seeds;
  if (!IsMetamorphic(seed)) return RunSeed(seed, arguments.has_seed && arguments.seconds == 0);
  ++figures.metamorphic;
  RunMetamorphicSeed(seed);
}

TEST(ModelTest, TracesAgreeWithTheOracleAndWithEachOther) {
  if (!arguments.trace_file.empty()) GTEST_SKIP() << "one trace is replayed";
  std::printf("model: seed %llu\n", static_cast<unsigned long long>(arguments.seed));
  const double deadline = SuiteClock() + arguments.seconds;
  const auto count = arguments.has_seed ? 1 : static_cast<uint64_t>(kSeeds * SuiteScale()) + 1;
  for (uint64_t i = 0; !HasFailure(); ++i) {
    if (arguments.seconds > 0 ? SuiteClock() > deadline : i == count) break;
    RunAnySeed(arguments.seed + i);
  }
  EndCases();
}

TEST(ModelTest, TheSameSeedMakesTheSameFileCalls) {
  if (!arguments.trace_file.empty()) GTEST_SKIP() << "one trace is replayed";
  for (uint64_t seed = arguments.seed; seed < arguments.seed + 6; ++seed) {
    ModelCase test = DrawCase(seed, 500);
    test.machine = Machine::kCrashing;
    const Outcome first = RunCase(test), second = RunCase(test);
    EXPECT_EQ(first.what, "") << "seed " << seed;
    EXPECT_NE(first.call_hash, 0u);
    EXPECT_EQ(first.call_hash, second.call_hash) << "seed " << seed;
  }
  EndCases();
}

TEST(ModelTest, ATraceIsTheSameAfterWritingAndParsing) {
  const ModelCase test = DrawCase(5, 1500);
  std::string error;
  const ModelCase again = ModelCase::Parse(test.ToText(), &error);
  EXPECT_EQ(error, "");
  EXPECT_EQ(again.ToText(), test.ToText());
}

void Replay(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::string error;
  ModelCase test = ModelCase::Parse(text.str(), &error);
  ASSERT_EQ(error, "") << path;
  ASSERT_FALSE(test.ops.empty()) << path;
  Outcome outcome = RunCase(test);
  EXPECT_EQ(outcome.what, "") << path << ", operation " << outcome.op;
  test.machine = Machine::kThreads;
  outcome = RunCase(test);
  EXPECT_EQ(outcome.what, "") << path << " with threads, operation " << outcome.op;
  EndCases();
}

TEST(ModelTest, StoredTracesSucceed) {
  if (!arguments.trace_file.empty()) return Replay(arguments.trace_file);
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("tests/traces"))) {
    if (entry.path().extension() != ".trace") continue;
    Replay(entry.path().string());
    ++count;
  }
  EXPECT_GT(count, 0u);
}

// A wrong answer must be found and its trace shrunk. The fault is a flush that the test does not
// allow.
TEST(ModelTest, AFailingTraceIsShrunk) {
  ModelCase test = DrawCase(7, 400);
  test.machine = Machine::kSim;
  const CaseRunner run = [](const ModelCase& what) {
    Outcome outcome = RunCase(what);
    for (size_t i = 0; i < what.ops.size() && outcome.ok(); ++i) {
      if (what.ops[i].kind != OpKind::kFlush) continue;
      outcome.op = i;
      outcome.what = "planted";
    }
    return outcome;
  };
  const Outcome outcome = run(test);
  ASSERT_EQ(outcome.what, "planted");
  const ModelCase small = Shrink(test, outcome.op, run, 60);
  ASSERT_EQ(small.ops.size(), 1u) << small.ToText();
  EXPECT_EQ(small.ops[0].kind, OpKind::kFlush);
  EXPECT_EQ(small.options.ToString(), "");
  EXPECT_EQ(small.machine, Machine::kEager);
}

void PrintFigures() {
  const auto number = [](uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf(
      "model: %llu operations, %llu seeds (%llu metamorphic), %llu option sets, "
      "%llu reopenings (%llu crashes), %llu shrunk failures, %zu of %zu operation pairs, "
      "seed %llu\n",
      number(figures.operations), number(figures.seeds), number(figures.metamorphic),
      number(figures.option_sets), number(figures.reopenings), number(figures.crashes),
      number(figures.shrunk), figures.pairs.count(), figures.pairs.size(), number(arguments.seed));
}

}  // namespace
}  // namespace ashlar

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ashlar::arguments = ashlar::ParseSuiteArguments(argc, argv, 0);
  const int result = RUN_ALL_TESTS();
  ashlar::PrintFigures();
  return result;
}
