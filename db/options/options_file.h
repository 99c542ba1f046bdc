// SPDX-License-Identifier: Apache-2.0
//
// The text of an OPTIONS file, written and read. Format: docs/formats/options_file.md. Pure
// functions: which file it is, and reading and replacing it, are one floor up.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/options.h"
#include "util/result.h"

namespace ashlar {

struct FamilyOptionsInFile {
  std::string name;
  ColumnFamilyOptions options;
  // After parsing: the texts of the [CFOptions] section as they stood there, by option. They tell
  // of objects that `options` cannot have, as no name makes them.
  std::unordered_map<std::string, std::string> texts{};
  // Those of [TableOptions], likewise; empty where the format of the tables is not known.
  std::unordered_map<std::string, std::string> table_texts{};
};

struct OptionsFileContents {
  // rocksdb_version of the file, as ROCKSDB_MAKE_VERSION_INT; 0 if it has none.
  int version = 0;
  DBOptions db_options;
  std::unordered_map<std::string, std::string> db_texts{};  // of [DBOptions], see there
  // The default family first.
  std::vector<FamilyOptionsInFile> families;
};

// With DBOptions::write_compatible_with = "7.8" only names that RocksDB 7.8 knows. That setting
// itself stands in a comment, which other readers skip.
std::string WriteOptionsText(const OptionsFileContents& contents);

// InvalidArgument names the line. With config.ignore_unknown_options, unknown names are skipped if
// the file's version is newer than ours. Options that the file does not have keep their defaults,
// as do objects that cannot be made by name.
Result<OptionsFileContents> ParseOptionsText(const ConfigOptions& config, std::string_view text);

// rocksdb_version of the file, as ROCKSDB_MAKE_VERSION_INT; 0 if none can be found. Looks at
// nothing else.
int VersionOfOptionsText(std::string_view text);

}  // namespace ashlar
