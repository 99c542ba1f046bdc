// SPDX-License-Identifier: Apache-2.0
//
// The contents of MANIFEST and WAL files as text, in the forms of RocksDB's ldb. Several commands
// print them.
#pragma once

#include <optional>
#include <string>

#include "ashlar/file_system.h"
#include "ashlar/status.h"
#include "tools/ldb/manifest_state.h"

namespace ashlar {

// The state that the edits of a MANIFEST add up to: families, their files by level, and the
// counters; keys in hexadecimal if `hex`. In manifest_dump.cc.
std::string ManifestSummaryText(const ManifestState& state, bool hex);

struct WalDump {
  bool has_header = false;     // print a line of column names first
  bool prints_values = false;  // print values after the keys
  // If set, prepare sections of other write policies than write-committed (true), or of that policy
  // (false), are errors.
  std::optional<bool> is_write_committed;
};

// Prints the file to stdout, one write batch a line. Damage does not end the dump: it is reported
// on stderr where it is found, and Corruption is returned at the end. An unfinished record at the
// end of the file is normal after a crash; a note about it goes to stderr. In wal_dump.cc.
Status DumpWal(FileSystem* fs, const std::string& path, const WalDump& dump);

}  // namespace ashlar
