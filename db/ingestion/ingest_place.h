// SPDX-License-Identifier: Apache-2.0
//
// Where in the tree an external file may lie: below nothing that is older than it and shares a key
// with it, and above all of that.
//
// What a file overlaps is found by its keys, for which tables may be read; the level is then picked
// by a pure function, under the DB mutex. A range is that of the file as a whole, tombstones
// included.
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

// Whether any of the memtables holds an entry or a range tombstone in the range. Without the DB
// mutex; what is written meanwhile may be missed.
bool OverlapsMemTables(const SuperVersion& super_version, const TableBounds& bounds);

// The first level that holds an entry or a range tombstone in the range; none if no level does.
// Reads tables: without locks, and outside of epochs.
Result<std::optional<Level>> FirstLevelWithKeys(const Version& version, const TableBounds& bounds);

struct IngestPlaceOptions {
  const Version* version = nullptr;
  const TableBounds* bounds = nullptr;
  std::optional<Level> first_with_keys;
  Level base_level = 1;   // levels between 0 and this one are not in use
  int levels_in_use = 0;  // the others are kept free
  const std::vector<const CompactionPlan*>* running = nullptr;
};
// The deepest level above `first_with_keys` on which the file fits between the tables that are
// there and those that running compactions may put there; level 0 fits always.
Level PickIngestLevel(const IngestPlaceOptions& options);

// Whether a file may lie on the last level, behind everything: nothing is, or may come to be, in
// its range there, and what is above has sequence numbers, so that it is newer. InvalidArgument
// says why not.
Status CheckFitsBehind(const IngestPlaceOptions& options);

// Whether a file's range ends before another one begins.
bool EndsBefore(const InternalKeyComparator& comparator, const TableBounds& a,
                const TableBounds& b);

}  // namespace ashlar
