// SPDX-License-Identifier: Apache-2.0
//
// Shared by the tests of this folder: arguments, figures, and the amount of work. Threads: one.
#pragma once

#include <cstdint>

#include "tests/crash/image_check.h"
#include "tests/support/suite.h"

namespace ashlar {

struct CrashSuite {
  SuiteArguments arguments;  // seconds = 0: a fixed amount of work
  CrashFigures figures;
  double started = SuiteClock();

  bool is_single() const { return arguments.has_seed && arguments.seconds == 0; }

  // Whether a part that has done `done` of its fixed amount of work continues. With --seconds it
  // continues until this share of the time is over.
  bool HasMoreTime(double until_share, uint64_t fixed, uint64_t done) const {
    if (arguments.seconds > 0) return SuiteClock() - started < arguments.seconds * until_share;
    return static_cast<double>(done) < static_cast<double>(fixed) * SuiteScale();
  }
};
extern CrashSuite crash_suite;

}  // namespace ashlar
