// SPDX-License-Identifier: Apache-2.0
//
// The tiny databases that the corruption test damages: what their files hold byte by byte, what
// must be read from them, and which earlier states the logs led through.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ashlar/options.h"
#include "tests/support/opened_db.h"
#include "tests/support/option_set.h"

namespace ashlar {

inline constexpr char kSampleDir[] = "/db";

using Files = std::map<std::string, std::string>;  // by path

using TableLevels = std::map<std::string, int>;  // by file name

struct Sample {
  std::string name;
  OptionSet options;
  Files files;   // as a killed process leaves them
  Files sister;  // the same names, written by the same steps with other values
  Contents expected;
  std::vector<Contents> earlier;  // states that a log cut short may lead to
  WALRecoveryMode recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
  // Bits of a main sample are flipped one by one; others only add their own kind of block.
  bool is_main = false;
  // Every row is one entry of the one table, and nothing is in the log: the table's properties say
  // how many rows there are, and the MANIFEST which is the first and which the last.
  bool is_one_table = false;
  bool has_range_tombstones = false;
  TableLevels levels;  // as the MANIFEST has them
};

std::vector<Sample> MakeSamples();

TableLevels LevelsOf(DB* db);

// Without background work the files stay as they are made.
Options OptionsOf(const Sample& sample, Env* env);

// "table", "log", "MANIFEST", "CURRENT", "OPTIONS", "IDENTITY" or "other".
std::string KindOf(const std::string& path);

// Logs and MANIFESTs may be followed by reserved room: the bytes in use, and a few more.
size_t UsedBytes(const std::string& bytes);

}  // namespace ashlar
