// SPDX-License-Identifier: Apache-2.0
//
// CompactionClaims marks the tables of a family that are inputs of running compactions or that
// DeleteFilesInRanges() is removing, and keeps their sums by level. With these sums the unclaimed
// rest of a level is known without a look at each table. It also knows which data must stay off the
// last level.
//
// Between Take() and GiveBack() all claimed tables are in the current version, because no other
// operation removes a claimed table. The claim ends under the same hold of the DB mutex that
// installs the replacements of the tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "db/version/version.h"
#include "util/keys/level.h"
#include "util/threads/mutex.h"

namespace ashlar {

class CompactionClaims {
 public:
  struct Sums {
    size_t files = 0;
    uint64_t bytes = 0;
    size_t marked = 0;  // tables that are marked for compaction
  };

  // Precondition: none of the files is claimed.
  void Take(const std::vector<LevelFiles>& inputs) REQUIRES(db_mutex);
  // Precondition: all of the files are claimed by the caller.
  void GiveBack(const std::vector<LevelFiles>& inputs) REQUIRES(db_mutex);

  // Whether some table is claimed: by a compaction or by a call that removes tables.
  bool AreAny() const REQUIRES(db_mutex);
  // Sums of the tables on a level of the current version that no compaction has claimed.
  Sums IdleOn(const Version& current, Level level) const REQUIRES(db_mutex);
  // Entries from this number on are too young for the last level (young_data.h). It lags behind the
  // clock, so a job may find more entries to be old.
  SequenceNumber first_young() const REQUIRES(db_mutex) { return first_young_; }
  void SetFirstYoung(SequenceNumber seqno) REQUIRES(db_mutex) { first_young_ = seqno; }
  // The sums of the claimed tables, one line for each level that has any.
  std::string DebugString() const REQUIRES(db_mutex);

 private:
  void Change(const std::vector<LevelFiles>& inputs, bool is_taken) REQUIRES(db_mutex);

  std::vector<Sums> taken_ GUARDED_BY(db_mutex);  // by level
  SequenceNumber first_young_ GUARDED_BY(db_mutex) = 1;
};

}  // namespace ashlar
