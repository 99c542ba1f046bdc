// SPDX-License-Identifier: Apache-2.0
//
// Shared by the long suites: the arguments --seconds, --seed and --trace, a clock for the time
// limit, and a watchdog that ends the program with the name of the hanging case.
#pragma once

#include <cstdint>
#include <string>

namespace ashlar {

struct SuiteArguments {
  double seconds = 20;
  uint64_t seed = 0;  // 0: a fixed one
  bool has_seed = false;
  std::string trace_file;  // replay this trace instead
};

SuiteArguments ParseSuiteArguments(int argc, char** argv, double default_seconds);

// The share of its fixed work that a suite does: $ASHLAR_SUITE_SCALE, or 1. Sanitizer builds set
// 0.1.
double SuiteScale();

// Seconds since a fixed moment.
double SuiteClock();

// From now on the program aborts and prints `name` if this is not called again within `seconds`.
// The name is also printed if the program crashes.
void BeginCase(const std::string& name, unsigned seconds = 20);
// The position within the case, printed with its name. Very cheap.
void BeginStep(uint64_t step);
void EndCases();

}  // namespace ashlar
