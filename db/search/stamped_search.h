// SPDX-License-Identifier: Apache-2.0
//
// StampedSearch looks one key up in the tables of a version of a family with timestamps.
//
// Unlike PointSearch it cannot end at the first version that it finds: timestamps may be written in
// any order, so each run that may have the key is asked. Left out are tables that have only newer
// timestamps than the reader's, tables that have only older ones than the version found so far, and
// tables whose filter excludes the key. In a run of several tables the first visible version is the
// best one.
//
// The search begins inside the caller's epoch and continues outside, as in point_search.h. The
// object lives on the stack of one reader. Threads: one at a time.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "util/keys/level.h"

namespace ashlar {

class StampedLookup;
class TableFile;
class TableReader;
class Version;
struct ReadOptions;

class StampedSearch {
 public:
  // The arguments outlive the search.
  StampedSearch(const Version& version, const ReadOptions& options, StampedLookup* lookup)
      : version_(version), options_(options), lookup_(lookup) {
    assert(lookup != nullptr);
  }
  StampedSearch(const StampedSearch&) = delete;
  StampedSearch& operator=(const StampedSearch&) = delete;

  // Inside an EpochGuard. Returns true if all tables were asked, or the lookup has given up; false
  // if a file must be read. Hot: no lock, no reference count, no allocation.
  [[nodiscard]] bool RunInEpoch();
  // Completes the search. Not inside an EpochGuard; the caller holds a reference to the version. A
  // read error fails the lookup.
  void Finish();

 private:
  // As in PointSearch, filters are prefetched together.
  static constexpr size_t kBatch = 16;
  static constexpr size_t kNotSearched = SIZE_MAX;

  // Fills the batch with the next tables that may have a version for the reader. Returns false if
  // there are none.
  bool Gather();
  // Adds the tables of level_ from file_ on. Return false if the batch is full.
  bool GatherLevel0();
  bool GatherRun();
  bool Add(TableFile* file);
  // Whether an earlier table of the same run has answered: then the table at next_ has only older
  // versions.
  bool IsAnswered() const {
    assert(next_ < count_);
    return levels_[next_] != 0 && levels_[next_] == answered_level_;
  }
  // Whether the lookup must ask the table at next_. Gives up if it has range tombstones.
  bool BeginTable(const TableReader& table);
  // Called after the lookup has asked it.
  void EndTable();

  const Version& version_;
  const ReadOptions& options_;
  StampedLookup* const lookup_;
  // The position at which gathering continues: a level, and the index of a file on it.
  Level level_ = 0;
  size_t file_ = 0;              // kNotSearched: not determined yet; GatherRun() determines it
  uint8_t answered_level_ = 0;   // the level below 0 whose run has answered last; 0: none
  uint32_t visible_before_ = 0;  // of the lookup, when it began to ask a table
  // The current batch; the tables from index next_ on have not been asked.
  size_t next_ = 0;
  size_t count_ = 0;
  std::array<TableFile*, kBatch> batch_;
  std::array<uint8_t, kBatch> levels_;  // the level of each table of the batch
};

}  // namespace ashlar
