// SPDX-License-Identifier: Apache-2.0
//
// DeleteFilesInRanges: removes whole files from a family without writing tombstones.
#pragma once

#include <span>

#include "ashlar/options.h"
#include "ashlar/status.h"
#include "db/column_family/column_family_data.h"
#include "db/state/db_core.h"
#include "db/state/write_control.h"

namespace ashlar {

// Removes the files below level 0 that are completely inside one of the ranges. Files that a
// compaction has claimed stay. Readers that began before keep their files. The caller holds a
// reference on the family. Crash: all the files are gone once the MANIFEST record is synced.
Status DropFilesInRanges(DbCore* core, WriteControl* writes, ColumnFamilyData* family,
                         std::span<const RangeOpt> ranges, bool include_end) EXCLUDES(db_mutex);

}  // namespace ashlar
