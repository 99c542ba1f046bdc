// SPDX-License-Identifier: Apache-2.0
//
// The program ldb: LDBTool without anything of a program.
#include "ashlar/ldb_tool.h"
#include "util/text/data_in_errors.h"

int main(int argc, char** argv) {
  ashlar::AllowDataInErrors();
  ashlar::LDBOptions options;
  options.print_help_header.clear();
  return ashlar::LDBTool().RunAndReturn(argc, argv, ashlar::Options(), options);
}
