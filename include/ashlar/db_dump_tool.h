// SPDX-License-Identifier: Apache-2.0
//
// Writes all keys and values of a database to one file, and loads such a file. Not built yet: both
// tools return false.
#pragma once

#include <string>

#include "ashlar/db.h"
#include "ashlar/export.h"
#include "ashlar/options.h"

namespace ashlar {

// Options of DbDumpTool.
struct DumpOptions {
  // Directory of the database, and path of the file to write.
  std::string db_path;
  std::string dump_location;
  // Omit the paths and the time from the file.
  bool anonymous = false;
};

// Writes a database to a file.
class ASHLAR_EXPORT DbDumpTool {
 public:
  // Returns false after an error.
  bool Run(const DumpOptions& dump_options, Options options = Options());
};

// Options of DbUndumpTool.
struct UndumpOptions {
  // Directory of the database, and path of the file to read.
  std::string db_path;
  std::string dump_location;
  // Compact the whole database afterwards.
  bool compact_db = false;
};

// Loads a file into a database.
class ASHLAR_EXPORT DbUndumpTool {
 public:
  // Returns false after an error.
  bool Run(const UndumpOptions& undump_options, Options options = Options());
};

}  // namespace ashlar
