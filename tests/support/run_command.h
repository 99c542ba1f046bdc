// SPDX-License-Identifier: Apache-2.0
//
// Runs other programs through the shell: RocksDB's tools, tar, gzip. Threads: one at a time.
#pragma once

#include <string>

namespace ashlar {

// The output, both streams, of a shell command. `exit_code` may be null; it is -1 if a signal ended
// the command.
std::string RunCommand(const std::string& command, int* exit_code = nullptr);

// Whether the shell finds a program of this name.
bool HasProgram(const std::string& name);

}  // namespace ashlar
