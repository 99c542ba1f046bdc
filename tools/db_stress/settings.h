// SPDX-License-Identifier: Apache-2.0
//
// What db_stress is told: its command line, and the help that explains it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lib/command_line.h"
#include "util/result.h"

namespace ashlar::stress {

struct Settings {
  std::string db;
  std::string expected;    // file of the expected state
  int families = 4;        // the last one is dropped and made again now and then
  uint64_t keys = 10'000;  // of each family
  int threads = 8;
  double seconds = 10;
  uint64_t ops_per_thread = 0;  // 0: the seconds decide
  uint64_t seed = 0;            // of the operations
  uint64_t draw = 0;            // of the options; 0: defaults
  std::string db_options;       // over those that were drawn, in the options language
  std::string family_options;
  size_t value_bytes = 100;
  int sync_percent = 2;
  int watchdog_seconds = 60;
  bool destroys = false;
  bool verifies_only = false;
  std::map<std::string, int, std::less<>> weights;  // by operation; those that differ
};

// InvalidArgument says which flag is wrong, and how. `operations`: names that weights may have.
Result<Settings> ParseSettings(const CommandLine& line,
                               const std::vector<std::string_view>& operations);

// `operations`: a line for each, for the help.
std::string HelpText(const std::string& operations);

}  // namespace ashlar::stress
