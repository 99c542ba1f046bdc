// SPDX-License-Identifier: Apache-2.0
//
// Writing all keys and values of a database to one file, and reading them back. Not built yet: both
// return false.
#pragma once

#include <string>

#include "ashlar/db.h"
#include "ashlar/export.h"
#include "ashlar/options.h"

namespace ashlar {

struct DumpOptions {
  std::string db_path;
  std::string dump_location;
  // Leave the paths and the time out of the file.
  bool anonymous = false;
};

class ASHLAR_EXPORT DbDumpTool {
 public:
  // False after an error.
  bool Run(const DumpOptions& dump_options, Options options = Options());
};

struct UndumpOptions {
  std::string db_path;
  std::string dump_location;
  // Compact everything afterwards.
  bool compact_db = false;
};

class ASHLAR_EXPORT DbUndumpTool {
 public:
  // False after an error.
  bool Run(const UndumpOptions& undump_options, Options options = Options());
};

}  // namespace ashlar
