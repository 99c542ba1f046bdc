// SPDX-License-Identifier: Apache-2.0
//
// A model case: a trace with the options and the kind of machine it runs on. Written as text,
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
  kCrashing,  // as kSim; crashes are possible
  kThreads,   // real threads
};
const char* NameOf(Machine machine);

struct ModelCase {
  uint64_t seed = 0;
  Machine machine = Machine::kSim;
  OptionSet options;
  std::vector<TraceOp> ops;

  std::string ToText() const;
  // *error says what cannot be read.
  static ModelCase Parse(const std::string& text, std::string* error);
};

// What the seed stands for.
ModelCase DrawCase(uint64_t seed, size_t op_count);
// One seed in six.
bool IsMetamorphic(uint64_t seed);
// A case that runs under several option sets; they differ from its own in all that may differ.
ModelCase DrawMetamorphicCase(uint64_t seed, size_t op_count);
OptionSet DrawOtherOptions(const ModelCase& test, uint64_t number);

struct Outcome {
  size_t op = 0;     // index of the operation that failed
  std::string what;  // empty: all went well
  uint64_t reopenings = 0, crashes = 0;
  uint64_t call_hash = 0;  // of all file calls since the last crash; only on kCrashing

  bool ok() const { return what.empty(); }
};

// With `answers` they are kept and the oracle is not asked.
Outcome RunCase(const ModelCase& test, std::vector<std::string>* answers = nullptr);

// Runs the case under another option set as well: where do the answers differ?
Outcome RunBoth(const ModelCase& test, const OptionSet& other);

}  // namespace ashlar
