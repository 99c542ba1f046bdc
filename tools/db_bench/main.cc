// SPDX-License-Identifier: Apache-2.0
//
// The program db_bench: db_bench_tool() with the texts of --help and --version, which a program may
// set only once.
#include <gflags/gflags.h>

#include "ashlar/db_bench_tool.h"
#include "ashlar/version.h"

int main(int argc, char** argv) {
  gflags::SetUsageMessage(
      "measures the speed of the engine under the workloads of --benchmarks=...");
  gflags::SetVersionString(ashlar::GetRocksVersionAsString());
  return ashlar::db_bench_tool(argc, argv);
}
