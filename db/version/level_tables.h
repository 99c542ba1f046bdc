// SPDX-License-Identifier: Apache-2.0
//
// LevelTables is one level of a version: its tables in order, what finds a key among them, and
// their sums. Immutable; shared by all versions in which the level is the same.
//
// It does not keep the tables alive: see LiveVersions.
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
  std::vector<FileNumber> numbers;  // of the files, searched without touching them
  KeyHeadIndex largest;             // of user keys; empty for level 0
  uint64_t bytes = 0;
  size_t marked_count = 0;  // of files that are marked for compaction
  // Of any file, of which it is known, in seconds since 1970; 0: of none.
  uint64_t oldest_ancestor_time = 0;
  uint64_t oldest_creation_time = 0;

  // Costs 40 bytes copied for a table that stays, which itself is not touched.
  static std::shared_ptr<const LevelTables> Spliced(const InternalKeyComparator& comparator,
                                                    Level level, const LevelTables& base,
                                                    const Splice<TableFile*>& splice);

  void SetOldestTimes(const LevelTables& base, const Splice<TableFile*>& splice);
  // Index of the file with this number.
  std::optional<size_t> Find(FileNumber number) const;
};

// Whether `a` may stand before `b` on the level: newer on level 0, else with smaller keys only.
bool IsBefore(const InternalKeyComparator& comparator, Level level, const FileMetadata& a,
              const FileMetadata& b);

// Level-0 order, newest first: epoch, then largest and smallest seqno, then number, descending.
bool IsNewer(const FileMetadata& a, const FileMetadata& b);

}  // namespace ashlar
