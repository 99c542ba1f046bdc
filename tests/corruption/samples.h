// SPDX-License-Identifier: Apache-2.0
//
// The tiny databases that the corruption test damages: the bytes of their files, the expected rows,
// and the earlier states to which shorter logs lead.
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
  std::vector<Contents> earlier;  // states to which a shorter log may lead
  WALRecoveryMode recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
  // Bits of a main sample are flipped one by one; others only add their own kind of block.
  bool is_main = false;
  // Every row is one entry of the only table, and the log is empty: the table's properties have the
  // number of rows, and the MANIFEST has the first and the last one.
  bool is_one_table = false;
  bool has_range_tombstones = false;
  TableLevels levels;  // as in the MANIFEST
};

std::vector<Sample> MakeSamples();

TableLevels LevelsOf(DB* db);

// Without background work, so that the files stay unchanged.
Options OptionsOf(const Sample& sample, Env* env);

// "table", "log", "MANIFEST", "CURRENT", "OPTIONS", "IDENTITY" or "other".
std::string KindOf(const std::string& path);

// Logs and MANIFESTs may have reserved space at their end: returns the number of bytes in use, and
// a few more.
size_t UsedBytes(const std::string& bytes);

}  // namespace ashlar
