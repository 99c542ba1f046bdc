// SPDX-License-Identifier: Apache-2.0
//
// Writes the rows of a database to one file, and loads such a file into a database: the default
// family, in RocksDB's format (docs/formats/dump.md). A dump has no sequence numbers, options or
// other families; BackupEngine and Checkpoint copy a whole database.
//
// Both tools print the reason of a failure to stderr. Threads: any; each call opens the database.
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
  // Omit the path, the name of the host and the time from the file.
  bool anonymous = false;
};

// Writes a database to a file.
class ASHLAR_EXPORT DbDumpTool {
 public:
  // Opens the database for reading only and writes the file, which is replaced if it exists and is
  // durable at the end. `options`: those of the database; files are those of options.env. Returns
  // false after an error; the file is then incomplete.
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
  // Opens the database, creates it if it is missing, and puts all rows of the file. Returns false
  // after an error, and if the file is damaged or was cut; rows before the damage have been put.
  bool Run(const UndumpOptions& undump_options, Options options = Options());
};

}  // namespace ashlar
