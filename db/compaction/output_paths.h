// SPDX-License-Identifier: Apache-2.0
//
// In which of several directories (db_paths, cf_paths) a compaction puts its tables: newer data
// goes to the first directories, and older data to later ones when the target sizes of the first
// are exceeded. Pure.
#pragma once

#include <cstdint>

#include "ashlar/options.h"
#include "db/compaction/compaction_picker.h"
#include "util/keys/level.h"

namespace ashlar {

// For a level. Levels fill the directories in order, each level as a whole, by their target sizes;
// the last directory takes the rest. Returns an index in cf_paths, 0 if it is empty.
uint32_t PathOfLevel(const ColumnFamilyOptions& options, const CompactionNeeds& needs, Level level);

// For a run of about `bytes` bytes: the first directory that holds the run and has, together with
// the directories before it, room for as much again, because newer runs grow until they are merged
// into it.
uint32_t PathOfRun(const ColumnFamilyOptions& options, uint64_t bytes);

}  // namespace ashlar
