// SPDX-License-Identifier: Apache-2.0
//
// The program `db_bench` as a function. It is in the library `ashlar-tools` (`rocksdb-tools` of the
// drop-in), if that was built with gflags. A program that calls it links gflags too.
#pragma once

#include "ashlar/export.h"

namespace ashlar {

// Runs the benchmarks that the flags name and returns the exit code of the program. Flags are those
// of the process: they keep their values for a second call. An error that no benchmark can work
// with ends the process. Results go to stdout, errors to stderr. Threads: one call at a time in the
// process.
ASHLAR_EXPORT int db_bench_tool(int argc, char** argv);

}  // namespace ashlar
