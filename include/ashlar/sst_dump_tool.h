// SPDX-License-Identifier: Apache-2.0
//
// The program `sst_dump` as a function, for programs that bring plug-ins of their own.
#pragma once

#include "ashlar/options.h"

namespace ashlar {

// Threads: one at a time.
class SSTDumpTool {
 public:
  // Returns the exit code.
  int Run(int argc, char const* const* argv, Options options = Options());
};

}  // namespace ashlar
