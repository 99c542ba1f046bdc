// SPDX-License-Identifier: Apache-2.0
//
// DeeperLevels answers whether the levels below a job's outputs may hold a key. If none does, a
// tombstone of the key hides nothing any more.
//
// Keys are asked about in ascending order, so one position per level suffices. Threads: one at a
// time.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "db/manifest/file_metadata.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class DeeperLevels {
 public:
  // The tables of one level, ascending and disjoint.
  using Tables = std::span<TableFile* const>;

  // Comparator and tables outlive it.
  DeeperLevels(const InternalKeyComparator& comparator, const std::vector<Tables>& levels)
      : comparator_(comparator) {
    for (const Tables& tables : levels) {
      if (!tables.empty()) levels_.push_back({tables, 0});
    }
  }

  // False only if no table's range contains the key.
  bool MayContain(const Slice& user_key) {
    for (Cursor& level : levels_) {
      PassTablesBefore(user_key, &level);
      if (level.position < level.tables.size() &&
          comparator_.OrderWithoutTimestamp(level.tables[level.position]->meta.smallest_user_key(),
                                            user_key) <= 0) {
        return true;
      }
    }
    return false;
  }

  // False only if no table's range contains a key in [begin, end). Successive calls pass ascending
  // begins.
  bool MayOverlap(const Slice& begin, const Slice& end) {
    for (Cursor& level : levels_) {
      PassTablesBefore(begin, &level);
      if (level.position < level.tables.size() &&
          comparator_.OrderWithoutTimestamp(level.tables[level.position]->meta.smallest_user_key(),
                                            end) < 0) {
        return true;
      }
    }
    return false;
  }

 private:
  struct Cursor {
    Tables tables;
    size_t position;  // the first table that does not end before the keys asked about so far
  };
  void PassTablesBefore(const Slice& user_key, Cursor* level) const {
    while (level->position < level->tables.size() &&
           EndsBefore(level->tables[level->position]->meta, user_key)) {
      level->position++;
    }
  }
  bool EndsBefore(const FileMetadata& table, const Slice& user_key) const {
    const int order = comparator_.OrderWithoutTimestamp(table.largest_user_key(), user_key);
    return order < 0 || (order == 0 && table.largest_is_exclusive());
  }

  const InternalKeyComparator& comparator_;
  std::vector<Cursor> levels_;  // only the levels with tables
};

}  // namespace ashlar
