// SPDX-License-Identifier: Apache-2.0
//
// A model case: a trace with the options and the kind of machine it runs on. As text,
//
//   # seed 17
//   # machine sim
//   # options block=64 levels=2
//   put cf=0 key=a val=1x5
//
// it can be kept in tests/traces/ and replayed. Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/option_set.h"
#include "tests/support/trace.h"
#include "tests/support/trace_generator.h"

namespace ashlar {

enum class Machine : uint8_t {
  kSim,       // one thread, background jobs at moments that the seed chooses
  kEager,     // one thread, background jobs at once
  kCrashing,  // like kSim; crashes are possible
  kThreads,   // real threads
};
const char* NameOf(Machine machine);

struct ModelCase {
  uint64_t seed = 0;
  Machine machine = Machine::kSim;
  OptionSet options;
  std::vector<TraceOp> ops;

  std::string ToText() const;
  // *error names the line that cannot be parsed.
  static ModelCase Parse(const std::string& text, std::string* error);
};

// The case of a seed.
ModelCase DrawCase(uint64_t seed, size_t op_count);
// Whether the seed is a metamorphic one: one in six is.
bool IsMetamorphic(uint64_t seed);
// Option sets for the same case, which differ from its own in everything that may differ.
ModelCase DrawMetamorphicCase(uint64_t seed, size_t op_count);
OptionSet DrawOtherOptions(const ModelCase& test, uint64_t number);

struct Outcome {
  size_t op = 0;     // index of the operation that failed
  std::string what;  // empty: no error
  uint64_t reopenings = 0, crashes = 0;
  uint64_t call_hash = 0;  // of all file calls since the last crash; only on kCrashing

  bool ok() const { return what.empty(); }
};

// With `answers` the answers are recorded and not compared with the oracle.
Outcome RunCase(const ModelCase& test, std::vector<std::string>* answers = nullptr);

// Runs the case under another option set, too. Returns the first difference between the answers.
Outcome RunBoth(const ModelCase& test, const OptionSet& other);

}  // namespace ashlar
