// SPDX-License-Identifier: Apache-2.0
//
// The bounds of tables with range tombstones, when no MANIFEST has them.
//
// A compaction may write a range tombstone to several tables, whole; each of them applies only the
// part within its bounds, which the MANIFEST has. Beyond the point keys of its table, a tombstone
// still deleted all older entries when it was written. So it must not be ignored there, or keys
// reappear. But the table that had the next part of it may have been merged with younger tables
// since, and a table hides all entries of those below it that its tombstones cover, also newer ones
// (sequence numbers are compared within one table only). So before the first and behind the last
// point key of its table, a tombstone ends at a key of another table
//
//   that has the same tombstone for this key: it is the next part;
//   whose sequence number is 0 and whose table is younger: it may be newer;
//   that is newer than the tombstone, in a table that must lie below this one for other keys.
//
//     table 38   points  a d            tombstone [b, m)@50     its bounds are a .. f, exclusive
//     table 39   points      f@7 h@60   tombstone [b, m)@50     its bounds are f .. h
//
// Behind its points, a table is cut at the first such key; before them, behind the last such key:
// where the other part ends, or at the next key.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "db/repair/table_order.h"
#include "db/repair/table_survey.h"

namespace ashlar {

using PathOfTable = std::function<std::string(const FileMetadata&)>;

// Sets the bounds of the tables of one family that have no level, and therefore no bounds in a
// MANIFEST. Adds a line to `notes` for each table whose bounds may be too narrow, so that a row
// that its tombstone has deleted may come back. These are the tables whose bounds end at a key
// without a sequence number.
Status LimitTombstones(const TableReadContext& context, const PathOfTable& path_of,
                       std::vector<PlacedTable>* tables, std::vector<std::string>* notes);

}  // namespace ashlar
