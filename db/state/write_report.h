// SPDX-License-Identifier: Apache-2.0
//
// What the statistics texts say of a database as a whole: writes, their logs, stalls. The forms are
// RocksDB's, as in family_report.h.
#pragma once

#include <string>

#include "db/state/db_core.h"
#include "db/state/family_report.h"
#include "db/state/write_picture.h"

namespace ashlar {

// As of now.
WritePicture PictureOfWrites(const DbCore& core) REQUIRES(db_mutex);
// From now on. Families count from then too, so theirs are reset with them.
void ResetWritePicture(DbCore* core) REQUIRES(db_mutex);
// `told`: when a text was last made.
std::string WriteStatsText(const WritePicture& now, const WritePicture& told);
PropertyMap WriteStatsMap(const WritePicture& now);
// Stalls of all families together, for a reason that the database has; there is none.
PropertyMap DatabaseStallsMap(uint64_t memory_stops);

}  // namespace ashlar
