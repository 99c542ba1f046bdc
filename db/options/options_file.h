// SPDX-License-Identifier: Apache-2.0
//
// Writes and reads the text of an OPTIONS file. Format: docs/formats/options_file.md. Pure
// functions: a higher room chooses, reads and replaces the file.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/options.h"
#include "util/result.h"

namespace ashlar {

// The options of one family, as they are written to a file or were read from one.
struct FamilyOptionsInFile {
  std::string name;
  ColumnFamilyOptions options;
  // Set by parsing: the texts of the [CFOptions] section, by option name. They also contain objects
  // that cannot be created by name and so are missing in `options`.
  std::unordered_map<std::string, std::string> texts{};
  // The texts of [TableOptions]; empty if the table format is unknown.
  std::unordered_map<std::string, std::string> table_texts{};
};

// The content of one OPTIONS file.
struct OptionsFileContents {
  // rocksdb_version of the file, as ROCKSDB_MAKE_VERSION_INT; 0 if it has none.
  int version = 0;
  DBOptions db_options;
  std::unordered_map<std::string, std::string> db_texts{};  // like `texts`, of [DBOptions]
  // The default family first.
  std::vector<FamilyOptionsInFile> families;
};

// Returns the text of a file. With DBOptions::write_compatible_with = "7.8" only names that RocksDB
// 7.8 knows are written. That setting itself is written as a comment, which other readers skip.
std::string WriteOptionsText(const OptionsFileContents& contents);

// InvalidArgument names the line. With config.ignore_unknown_options, unknown names are skipped if
// the version of the file is newer than ours. Options that are missing in the file, and objects
// that cannot be created by name, keep their defaults.
Result<OptionsFileContents> ParseOptionsText(const ConfigOptions& config, std::string_view text);

// The text of an OPTIONS file for a copy of the database that has only the families for whose names
// has_family() is true, with all its files in one directory: without the sections of the other
// families, and without the directories of logs. The other lines are unchanged, so that names of
// objects that cannot be created here are kept.
std::string OptionsTextOfCopy(std::string_view text,
                              const std::function<bool(const std::string&)>& has_family);

// The rocksdb_version of the file, as ROCKSDB_MAKE_VERSION_INT; 0 if there is none. Nothing else is
// checked.
int VersionOfOptionsText(std::string_view text);

}  // namespace ashlar
