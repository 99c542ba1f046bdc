// SPDX-License-Identifier: Apache-2.0
//
// Decides on which level an external file may be placed: above all older data that shares a key
// with it, and below nothing that is older.
//
// What the file overlaps is found by searching its key range, for which tables may be read. The
// level is then chosen by a pure function, under the DB mutex. The range is that of the whole file,
// range tombstones included.
#pragma once

#include <optional>
#include <vector>

#include "db/compaction/compaction_picker.h"
#include "db/read/super_version.h"
#include "db/table_cache/table_bounds.h"
#include "db/version/version.h"
#include "util/keys/level.h"
#include "util/result.h"

namespace ashlar {

// Whether one of the memtables has an entry or a range tombstone in the range. Called without the
// DB mutex; concurrent writes may be missed.
bool OverlapsMemTables(const SuperVersion& super_version, const TableBounds& bounds);

// The first level that has an entry or a range tombstone in the range; none if no level has. Reads
// tables, so it is called without locks and outside of epochs.
Result<std::optional<Level>> FirstLevelWithKeys(const Version& version, const TableBounds& bounds);

struct IngestPlaceOptions {
  const Version* version = nullptr;
  const TableBounds* bounds = nullptr;
  std::optional<Level> first_with_keys;
  Level base_level = 1;   // levels between 0 and this one are not in use
  int levels_in_use = 0;  // deeper levels are kept free
  const std::vector<const CompactionPlan*>* running = nullptr;
};
// The deepest level above `first_with_keys` on which the file overlaps neither the tables there nor
// those that running compactions may put there. Level 0 is always possible.
Level PickIngestLevel(const IngestPlaceOptions& options);

// Whether a file may be placed on the last level, behind all other data: its range there must be
// empty and stay empty, and all data above must have sequence numbers above 0, so that it is newer.
// InvalidArgument states why not.
Status CheckFitsBehind(const IngestPlaceOptions& options);

// Whether the range of `a` ends before that of `b` begins.
bool EndsBefore(const InternalKeyComparator& comparator, const TableBounds& a,
                const TableBounds& b);

}  // namespace ashlar
