// SPDX-License-Identifier: Apache-2.0
//
// The options of a database that a call of ldb opens or repairs: from its MANIFEST, its newest
// OPTIONS file, and the program that calls (program_parts.h).
//
// The MANIFEST decides which families there are and how each is ordered, because a wrong comparator
// would misplace keys. What the OPTIONS file says goes before what the program says, except for
// objects and directories, which the file cannot have or only names. NotSupported if neither the
// program nor this library has the comparator of a family. Threads: one call at a time, as the
// parts of the program are those of the process.
#pragma once

#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "tools/ldb/command.h"
#include "tools/ldb/manifest_state.h"
#include "util/result.h"

namespace ashlar {

// The options of the database, and one descriptor for each family.
struct StoredOptions {
  DBOptions db;
  std::vector<ColumnFamilyDescriptor> families;
};

// For commands that read: the options of the program; from the OPTIONS file only the directory of
// the logs and the merge operators. A file that cannot be read counts as absent.
Result<StoredOptions> OptionsForReading(const Invocation& call, const ManifestState& state);
// For commands that write: all of the OPTIONS file, so that the database keeps the options that it
// had. An error if there is a file and it cannot be used.
Result<StoredOptions> OptionsForWriting(const Invocation& call, const ManifestState& state);
// For commands that work on the files of a database that need not be complete. Each part comes from
// wherever it can still be read: a MANIFEST or an OPTIONS file that is damaged or lost is replaced
// by the other one and the options of the program.
Result<StoredOptions> OptionsForRepair(const Invocation& call);

// The directory of the WALs, for commands that read files without opening the database: its own
// directory, unless the newest OPTIONS file or the program names another one. OpenForReading() uses
// the same rule.
Result<std::string> FindLogDirectory(const Invocation& call, const ManifestState& state);

// Corruption if a log that the MANIFEST tracks is missing, or shorter than its synced size.
Status CheckLogs(const Invocation& call, const ManifestState& state);

}  // namespace ashlar
