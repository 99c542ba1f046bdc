// SPDX-License-Identifier: Apache-2.0
//
// Which logs hold what no table holds yet.
#pragma once

#include <cstdint>

#include "db/state/db_core.h"
#include "util/keys/file_number.h"

namespace ashlar {

// The oldest log that may hold unflushed writes of any family but `except`.
FileNumber OldestLogNeeded(const DbCore& core, const ColumnFamilyData* except) REQUIRES(db_mutex);

}  // namespace ashlar
