// SPDX-License-Identifier: Apache-2.0
//
// PlaceTables finds a level, and on level 0 an epoch number, for each table of a family, so that of
// two tables with a common key the one that is searched first has the newer version.
//
// Levels that a MANIFEST gave stay, unless tables without a level force them upwards. Sequence
// numbers alone do not order tables: a table of a deep level may have a greater one than a table of
// a higher level, from another key. So where the sequence numbers of two overlapping tables overlap
// too, their entries are compared. Pure but for that question.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/manifest/file_metadata.h"
#include "db/repair/table_survey.h"
#include "util/keys/internal_key.h"
#include "util/keys/level.h"
#include "util/result.h"

namespace ashlar {

// A table and its place in the tree.
struct PlacedTable {
  FileMetadata meta;
  std::optional<Level> level;  // before: what a MANIFEST says, if it does; afterwards always set
};

struct PlacementOptions {
  const InternalKeyComparator* comparator = nullptr;
  int num_levels = 7;
  bool uses_level0_only = false;  // FIFO compaction
  // The last level is for ingestion behind: no compaction reads it, so only a MANIFEST puts a table
  // there.
  bool reserves_last_level = false;
};

// Which of two tables has newer entries.
using AgeQuestion = std::function<Result<NewerTable>(const FileMetadata&, const FileMetadata&)>;

// Adds a line to `notes` if tables contradict each other. That happens if an obsolete table is
// among them. Then the table with the greater sequence number counts as newer. Sets the level and,
// where it is unknown, the epoch number of each table.
Status PlaceTables(const PlacementOptions& options, const AgeQuestion& compare,
                   std::vector<PlacedTable>* tables, std::vector<std::string>* notes);

}  // namespace ashlar
