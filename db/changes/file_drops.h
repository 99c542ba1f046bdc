// SPDX-License-Identifier: Apache-2.0
//
// DeleteFilesInRanges: takes whole files out of a family without writing tombstones.
#pragma once

#include <span>

#include "ashlar/options.h"
#include "ashlar/status.h"
#include "db/column_family/column_family_data.h"
#include "db/state/db_core.h"
#include "db/state/write_control.h"

namespace ashlar {

// The files below level 0 that lie wholly inside one of the ranges; those that a compaction works
// on stay. Readers that began before keep them. The caller holds a reference on the family. Crash:
// the files are gone once the MANIFEST says so, all at once.
Status DropFilesInRanges(DbCore* core, WriteControl* writes, ColumnFamilyData* family,
                         std::span<const RangeOpt> ranges, bool include_end) EXCLUDES(db_mutex);

}  // namespace ashlar
