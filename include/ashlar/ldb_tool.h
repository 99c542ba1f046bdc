// SPDX-License-Identifier: Apache-2.0
//
// The program `ldb` as a function, for programs that bring plug-ins of their own. Not built yet: it
// says so on stderr and returns 1; use the program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/export.h"
#include "ashlar/options.h"

namespace ashlar {

// How keys are printed.
class ASHLAR_EXPORT SliceFormatter {
 public:
  SliceFormatter() {}
  virtual ~SliceFormatter() {}
  virtual std::string Format(const Slice& s) const = 0;
};

struct ASHLAR_EXPORT LDBOptions {
  // Prints keys as they are, or in hexadecimal if asked to.
  LDBOptions();

  std::shared_ptr<SliceFormatter> key_formatter;
  // First line of the help.
  std::string print_help_header = "ldb - RocksDB Tool";
};

// Threads: one at a time.
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
