// SPDX-License-Identifier: Apache-2.0
//
// The program `sst_dump` as a function, for programs with their own comparators and files. It is in
// the library `ashlar-tools` (`rocksdb-tools` of the drop-in), which a program links in addition to
// the static library.
#pragma once

#include "ashlar/export.h"
#include "ashlar/options.h"

namespace ashlar {

// Runs sst_dump commands. `options` has the environment and the comparator. Results go to stdout,
// errors to stderr. Threads: one call at a time in the process.
class ASHLAR_EXPORT SSTDumpTool {
 public:
  // Runs a command and returns its exit code.
  int Run(int argc, char const* const* argv, Options options = Options());
};

}  // namespace ashlar
