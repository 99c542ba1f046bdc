// SPDX-License-Identifier: Apache-2.0
//
// The records of a WAL as text, a write batch a line, in the form of RocksDB's ldb dump_wal.
#pragma once

#include <string>

#include "ashlar/file_system.h"
#include "ashlar/status.h"

namespace ashlar {

struct WalDump {
  bool has_header = false;     // a line of column names first
  bool prints_values = false;  // keys alone otherwise
};

// Prints the file to stdout. Damage does not end the dump: it is reported on stderr where it is
// found, and Corruption is returned at the end. An unfinished record at the end of the file is
// normal after a crash; it is mentioned on stderr.
Status DumpWal(FileSystem* fs, const std::string& path, const WalDump& dump);

}  // namespace ashlar
