// SPDX-License-Identifier: Apache-2.0
//
// The program `sst_dump` as a function, for programs with their own comparators, merge operators
// and so on. Not built yet: it prints this to stderr and returns 1. Use the program instead.
#pragma once

#include "ashlar/export.h"
#include "ashlar/options.h"

namespace ashlar {

// Runs sst_dump commands. Threads: one at a time.
class ASHLAR_EXPORT SSTDumpTool {
 public:
  // Runs a command and returns its exit code.
  int Run(int argc, char const* const* argv, Options options = Options());
};

}  // namespace ashlar
