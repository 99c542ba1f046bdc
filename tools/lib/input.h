// SPDX-License-Identifier: Apache-2.0
//
// Standard input, line by line. To std::cin a read that fails is the end of the input like any
// other, and a program that believes it says that it has done all when it has done half. Threads:
// one at a time.
#pragma once

#include <string>

#include "ashlar/status.h"

namespace ashlar {

// The next line, without its end. False if there is none, for the reason that InputStatus() gives;
// a line that a failed read has cut short is none.
bool ReadInputLine(std::string* line);
// IOError once a read has failed.
Status InputStatus();

}  // namespace ashlar
