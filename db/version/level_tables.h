// SPDX-License-Identifier: Apache-2.0
//
// LevelTables is one level of a version: its tables in order, a search index over their largest
// keys, and their sums. Immutable; shared by all versions in which the level is the same.
//
// LevelTables does not own the tables: LiveVersions decides how long they live.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "db/manifest/file_metadata.h"
#include "util/keys/file_number.h"
#include "util/keys/internal_key.h"
#include "util/keys/key_head_index.h"
#include "util/keys/level.h"
#include "util/splice.h"

namespace ashlar {

struct LevelTables {
  std::vector<TableFile*> files;
  // Numbers of `files`, in the same order; searched without reading the TableFile objects.
  std::vector<FileNumber> numbers;
  KeyHeadIndex largest;  // largest user key of each file; empty for level 0
  uint64_t bytes = 0;
  size_t marked_count = 0;  // number of files that are marked for compaction
  // The minimum over the files whose time is known, in seconds since 1970; 0 if no time is known.
  uint64_t oldest_ancestor_time = 0;
  uint64_t oldest_creation_time = 0;

  // Makes a level from `base` and the tables that leave and enter it. Copies about 40 bytes for
  // each table that stays, and does not read the table's object.
  static std::shared_ptr<const LevelTables> Spliced(const InternalKeyComparator& comparator,
                                                    Level level, const LevelTables& base,
                                                    const Splice<TableFile*>& splice);

  void SetOldestTimes(const LevelTables& base, const Splice<TableFile*>& splice);
  // Index of the file with this number.
  std::optional<size_t> Find(FileNumber number) const;
};

// Whether the order of the level allows `a` before `b`: on level 0 `a` must be newer; on deeper
// levels all keys of `a` must be smaller than those of `b`.
bool IsBefore(const InternalKeyComparator& comparator, Level level, const FileMetadata& a,
              const FileMetadata& b);

// Level-0 order, newest first: epoch, then largest and smallest seqno, then number, descending.
bool IsNewer(const FileMetadata& a, const FileMetadata& b);

}  // namespace ashlar
