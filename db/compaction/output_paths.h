// SPDX-License-Identifier: Apache-2.0
//
// In which of several directories (db_paths, cf_paths) a compaction puts its tables: newer data in
// the first ones, older data, as their target sizes do not hold it, in later ones. Pure.
#pragma once

#include <cstdint>

#include "ashlar/options.h"
#include "db/compaction/compaction_picker.h"
#include "util/keys/level.h"

namespace ashlar {

// Levels fill the directories in their order, each level whole, by its target size; the last
// directory takes the rest. An index of cf_paths, 0 without any.
uint32_t PathOfLevel(const ColumnFamilyOptions& options, const CompactionNeeds& needs, Level level);

// Of a run of about so many bytes: the first directory that holds it and, with those before it, as
// much again, for newer runs grow until they are merged into it.
uint32_t PathOfRun(const ColumnFamilyOptions& options, uint64_t bytes);

}  // namespace ashlar
