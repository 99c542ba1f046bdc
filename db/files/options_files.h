// SPDX-License-Identifier: Apache-2.0
//
// The OPTIONS files of an open database. A file is written after every change of options or
// families, and the two newest are kept, so that there is always a complete one.
#pragma once

#include <cstdint>
#include <vector>

#include "ashlar/status.h"
#include "db/state/db_core.h"
#include "util/keys/file_number.h"

namespace ashlar {

// Writes an OPTIONS file with the current options, then deletes obsolete files. After an error, or
// a crash, the previous file is the newest.
Status WriteOptionsFile(DbCore* core) EXCLUDES(db_mutex);

// Removes the obsolete OPTIONS files from the list of the database, and returns their numbers. Two
// files stay, so that a damaged newest one has a predecessor.
std::vector<FileNumber> TakeOldOptionsFiles(DbCore* core) REQUIRES(db_mutex);

}  // namespace ashlar
