// SPDX-License-Identifier: Apache-2.0
//
// What the long suites share: their arguments --seconds, --seed and --trace, a clock for the time
// box, and a watchdog that ends the program with the name of the case that hangs.
#pragma once

#include <cstdint>
#include <string>

namespace ashlar {

struct SuiteArguments {
  double seconds = 20;
  uint64_t seed = 0;  // 0: a fixed one
  bool has_seed = false;
  std::string trace_file;  // replay this instead
};

SuiteArguments ParseSuiteArguments(int argc, char** argv, double default_seconds);

// How much of its fixed work a suite does: $ASHLAR_SUITE_SCALE, or 1. Sanitizer builds set 0.1.
double SuiteScale();

// Seconds since some moment.
double SuiteClock();

// From now on the program aborts if this is not called again within `seconds`, and says the name.
// Also said when the program crashes.
void BeginCase(const std::string& name, unsigned seconds = 20);
// How far the case has come; said with its name. Costs nothing.
void BeginStep(uint64_t step);
void EndCases();

}  // namespace ashlar
