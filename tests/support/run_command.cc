// SPDX-License-Identifier: Apache-2.0
//
// popen, and reading until the program ends.
#include "tests/support/run_command.h"

#include <sys/wait.h>

#include <cstdio>

#include "util/text/str_cat.h"

namespace ashlar {

std::string RunCommand(const std::string& command, int* exit_code) {
  std::string output;
  FILE* pipe = popen(StrCat(command, " 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    if (exit_code != nullptr) *exit_code = -1;
    return "cannot run a shell";
  }
  char chunk[4096];
  while (const size_t n = fread(chunk, 1, sizeof(chunk), pipe)) output.append(chunk, n);
  const int status = pclose(pipe);
  if (exit_code != nullptr) *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

bool HasProgram(const std::string& name) {
  int exit_code = 0;
  RunCommand(StrCat("command -v '", name, "'"), &exit_code);
  return exit_code == 0;
}

}  // namespace ashlar
