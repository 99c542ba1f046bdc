// SPDX-License-Identifier: Apache-2.0
//
// Other programs, by the shell: RocksDB's tools, tar, gzip. Threads: one at a time.
#pragma once

#include <string>

namespace ashlar {

// Both streams of a shell command. `exit_code` may be null; -1 if the command did not end by
// itself.
std::string RunCommand(const std::string& command, int* exit_code = nullptr);

// Whether the shell finds a program of this name.
bool HasProgram(const std::string& name);

}  // namespace ashlar
