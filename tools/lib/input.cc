// SPDX-License-Identifier: Apache-2.0
//
// std::cin takes its bytes from stdin, which remembers the error that std::cin does not tell of.
#include "tools/lib/input.h"

#include <cstdio>
#include <iostream>

namespace ashlar {

bool ReadInputLine(std::string* line) {
  return std::getline(std::cin, *line) && InputStatus().ok();
}

Status InputStatus() {
  if (!std::cin.bad() && std::ferror(stdin) == 0) return Status::OK();
  return Status::IOError("reading standard input failed");
}

}  // namespace ashlar
