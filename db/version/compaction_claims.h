// SPDX-License-Identifier: Apache-2.0
//
// CompactionClaims marks the tables of a family that running compactions have taken, and sums them
// up by level: so what is left on a level is known without looking at its tables.
//
// Between Take() and GiveBack() the tables are in the current version, for nobody else removes
// them; the claim ends under the same hold of the mutex that installs what replaces them.
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
    size_t marked = 0;  // for compaction
  };

  // None of the files is taken.
  void Take(const std::vector<LevelFiles>& inputs) REQUIRES(db_mutex);
  void GiveBack(const std::vector<LevelFiles>& inputs) REQUIRES(db_mutex);

  // What is not taken on a level of the current version.
  Sums IdleOn(const Version& current, Level level) const REQUIRES(db_mutex);
  // What is taken, a line for each level where anything is.
  std::string DebugString() const REQUIRES(db_mutex);

 private:
  void Change(const std::vector<LevelFiles>& inputs, bool is_taken) REQUIRES(db_mutex);

  std::vector<Sums> taken_ GUARDED_BY(db_mutex);  // by level
};

}  // namespace ashlar
