// SPDX-License-Identifier: Apache-2.0
//
// Draws, writes, reads and runs model cases.
#include "tests/model/model_case.h"

#include <cstdlib>
#include <memory>
#include <sstream>

#include "tests/support/sim_machine.h"
#include "tests/support/suite.h"
#include "tests/support/trace_runner.h"

namespace ashlar {
namespace {

constexpr const char* kMachineNames[] = {"sim", "eager", "crashing", "threads"};
constexpr char kDir[] = "/model";

void DrawOps(size_t count, const TraceProfile& profile, ModelCase* test) {
  TraceGenerator generator(test->seed, profile);
  for (size_t i = 0; i < count; ++i) test->ops.push_back(generator.Next());
  TraceOp end;
  end.kind = OpKind::kReopen;
  test->ops.push_back(end);
}

TraceProfile DrawProfile(Random64* random) {
  TraceProfile profile;
  profile.pool_keys = 20 + static_cast<unsigned>(random->Skewed(9));
  profile.max_value = random->OneIn(3) ? 100 : 40000;
  profile.has_copies = true;
  profile.has_merges = true;
  profile.has_big_ones = random->OneIn(4);
  return profile;
}

// `executor` is null if threads run the background jobs.
Outcome RunOps(TraceRunner* runner, const ModelCase& test, SimExecutor* executor) {
  // Some machines leave jobs queued over many operations, so that the next operations come before
  // the job has made data durable or has cleaned up.
  constexpr uint64_t kLaziness[] = {1, 5, 40};
  Random64 random(test.seed);
  const uint64_t laziness = kLaziness[random.Uniform(std::size(kLaziness))];
  Outcome outcome;
  outcome.what = runner->Open();
  while (outcome.ok() && outcome.op < test.ops.size()) {
    BeginStep(outcome.op);
    outcome.what = runner->Apply(test.ops[outcome.op]);
    if (outcome.ok()) ++outcome.op;
    if (executor == nullptr) continue;
    if (test.machine == Machine::kEager)
      executor->RunAll();
    else if (random.OneIn(laziness))
      executor->RunSome();
  }
  const std::string closed = runner->Close();
  if (outcome.ok()) outcome.what = closed;
  outcome.reopenings = runner->reopenings();
  outcome.crashes = runner->crashes();
  return outcome;
}

}  // namespace

const char* NameOf(Machine machine) { return kMachineNames[static_cast<size_t>(machine)]; }

std::string ModelCase::ToText() const {
  return "# seed " + std::to_string(seed) + "\n# machine " + NameOf(machine) + "\n# options " +
         options.ToString() + "\n" + TraceText(ops);
}

ModelCase ModelCase::Parse(const std::string& text, std::string* error) {
  ModelCase test;
  test.ops = ParseTrace(text, error);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("# seed ", 0) == 0) test.seed = std::strtoull(line.c_str() + 7, nullptr, 10);
    if (line.rfind("# options ", 0) == 0) test.options = OptionSet::Parse(line.substr(10));
    if (line.rfind("# machine ", 0) != 0) continue;
    for (size_t i = 0; i < std::size(kMachineNames); ++i) {
      if (line.substr(10) == kMachineNames[i]) test.machine = static_cast<Machine>(i);
    }
  }
  return test;
}

ModelCase DrawCase(uint64_t seed, size_t op_count) {
  Random64 random(seed ^ 0x6d6f64656c);
  ModelCase test;
  test.seed = seed;
  test.options = OptionSet::Draw(seed, /*also_risky=*/true);
  TraceProfile profile = DrawProfile(&random);
  switch (random.Uniform(8)) {
    case 0: test.machine = Machine::kThreads; break;
    case 1:
    case 2:
    case 3:
      test.machine = Machine::kCrashing;
      profile.has_crashes = true;
      break;
    default: break;
  }
  profile.has_failing_merges = !profile.has_crashes;
  profile.has_pauses = random.OneIn(2);
  if (!profile.has_crashes && random.OneIn(2)) profile.no_wal_percent = 10;
  // Unlogged writes are only kept by a close that flushes.
  if (profile.no_wal_percent > 0) test.options.Set("no_flush_at_close", 0);
  // And they are refused if logs are recycled.
  if (profile.no_wal_percent > 0) test.options.Set("recycled_logs", 0);
  DrawOps(op_count, profile, &test);
  return test;
}

bool IsMetamorphic(uint64_t seed) { return seed % 6 == 5; }

ModelCase DrawMetamorphicCase(uint64_t seed, size_t op_count) {
  Random64 random(seed ^ 0x6d657461);
  ModelCase test;
  test.seed = seed;
  TraceProfile profile = DrawProfile(&random);
  if (random.OneIn(3)) {
    test.machine = Machine::kCrashing;
    profile.has_crashes = true;
  }
  profile.has_failing_merges = !profile.has_crashes;
  test.options.Set("comparator", OptionSet::Draw(seed).Get("comparator"));
  DrawOps(op_count, profile, &test);
  return test;
}

OptionSet DrawOtherOptions(const ModelCase& test, uint64_t number) {
  OptionSet other = OptionSet::Draw(test.seed * 16 + number, /*also_risky=*/true);
  other.Set("comparator", test.options.Get("comparator"));
  other.Set("manual_wal_flush", 0);  // otherwise a crash loses more
  return other;
}

Outcome RunCase(const ModelCase& test, std::vector<std::string>* answers) {
  BeginCase("seed " + std::to_string(test.seed) + " on " + NameOf(test.machine) + ", options " +
                test.options.ToString(),
            120);
  if (test.machine == Machine::kThreads) {
    const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
    TraceRunner runner(env.get(), kDir, test.options);
    if (answers != nullptr) runner.KeepAnswers(answers);
    return RunOps(&runner, test, nullptr);
  }
  SimMachine machine(test.seed, test.machine == Machine::kCrashing ? SimMachine::Disk::kCrashing
                                                                   : SimMachine::Disk::kPlain);
  TraceRunner runner(&machine, kDir, test.options);
  if (answers != nullptr) runner.KeepAnswers(answers);
  Outcome outcome = RunOps(&runner, test, machine.executor());
  if (machine.sim_fs() != nullptr) outcome.call_hash = machine.sim_fs()->CallLogHash();
  return outcome;
}

Outcome RunBoth(const ModelCase& test, const OptionSet& other) {
  std::vector<std::string> answers, other_answers;
  Outcome outcome = RunCase(test, &answers);
  ModelCase changed = test;
  changed.options = other;
  Outcome other_outcome = RunCase(changed, &other_answers);
  other_outcome.reopenings += outcome.reopenings;
  other_outcome.crashes += outcome.crashes;
  if (!outcome.ok() || !other_outcome.ok()) return outcome.ok() ? other_outcome : outcome;
  for (size_t i = 0; i < answers.size(); ++i) {
    if (answers[i] == other_answers[i]) continue;
    other_outcome.op = i;
    other_outcome.what = "the answer is" + answers[i].substr(0, 500) +
                         " under the case's options, " + other_answers[i].substr(0, 500) +
                         " under: " + other.ToString();
    break;
  }
  return other_outcome;
}

}  // namespace ashlar
