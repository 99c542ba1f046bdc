// SPDX-License-Identifier: Apache-2.0
//
// The program `ldb` as a function, for programs with their own comparators, merge operators, files
// and so on. It is in the library `ashlar-tools` (`rocksdb-tools` of the drop-in), which a program
// links in addition to the static library.
//
//   int main(int argc, char** argv) {
//     Options options;
//     options.comparator = &my_comparator;
//     return LDBTool().RunAndReturn(argc, argv, options);
//   }
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/export.h"
#include "ashlar/options.h"

namespace ashlar {

// Decides how keys are printed.
class ASHLAR_EXPORT SliceFormatter {
 public:
  SliceFormatter() {}
  virtual ~SliceFormatter() {}
  virtual std::string Format(const Slice& s) const = 0;
};

// Options of LDBTool.
struct ASHLAR_EXPORT LDBOptions {
  // Default: keys are printed as they are, or in hexadecimal if the command asks for it.
  LDBOptions();

  std::shared_ptr<SliceFormatter> key_formatter;
  // First line of the help text.
  std::string print_help_header = "ldb - RocksDB Tool";
};

// Runs ldb commands. `db_options` has the environment, and the comparator, merge operator, filters
// and other options of all families; `column_families`, which may be null, those of single
// families. What the OPTIONS file of the database says goes before, except for objects that it only
// names or cannot have, and for db_paths and cf_paths. Results go to stdout, errors to stderr.
// Threads: one call at a time in the process.
class ASHLAR_EXPORT LDBTool {
 public:
  // Runs a command and ends the process with its exit code.
  void Run(int argc, char** argv, Options db_options = Options(),
           const LDBOptions& ldb_options = LDBOptions(),
           const std::vector<ColumnFamilyDescriptor>* column_families = nullptr);
  // Runs a command and returns its exit code.
  int RunAndReturn(int argc, char** argv, const Options& db_options = Options(),
                   const LDBOptions& ldb_options = LDBOptions(),
                   const std::vector<ColumnFamilyDescriptor>* column_families = nullptr);
};

}  // namespace ashlar
