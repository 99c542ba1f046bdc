// SPDX-License-Identifier: Apache-2.0
//
// OPTIONS files of an open database: one is written for every change of options or of families, and
// the two newest stay, so that there is always a whole one.
#pragma once

#include <cstdint>
#include <vector>

#include "ashlar/status.h"
#include "db/state/db_core.h"
#include "util/keys/file_number.h"

namespace ashlar {

// Writes an OPTIONS file of what is in force, then deletes what has become obsolete.
Status WriteOptionsFile(DbCore* core) EXCLUDES(db_mutex);

// Takes those that may go out of the list of OPTIONS files. Their numbers.
std::vector<FileNumber> TakeOldOptionsFiles(DbCore* core) REQUIRES(db_mutex);

}  // namespace ashlar
