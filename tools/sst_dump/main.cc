// SPDX-License-Identifier: Apache-2.0
//
// The program sst_dump: SSTDumpTool without anything of a program.
#include "ashlar/sst_dump_tool.h"
#include "util/text/data_in_errors.h"

int main(int argc, char** argv) {
  ashlar::AllowDataInErrors();
  return ashlar::SSTDumpTool().Run(argc, argv);
}
