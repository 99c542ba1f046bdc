// SPDX-License-Identifier: Apache-2.0
//
// The program `sst_dump` as a function, for programs that bring plug-ins of their own. Not built
// yet: it says so on stderr and returns 1; use the program.
#pragma once

#include "ashlar/export.h"
#include "ashlar/options.h"

namespace ashlar {

// Threads: one at a time.
class ASHLAR_EXPORT SSTDumpTool {
 public:
  // Returns the exit code.
  int Run(int argc, char const* const* argv, Options options = Options());
};

}  // namespace ashlar
