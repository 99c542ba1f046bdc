// SPDX-License-Identifier: Apache-2.0
//
// PointSearch looks one key up in the tables of a version, newest first.
//
// The search begins inside the caller's epoch and reads memory only. It stops at a table that is
// not open or a block that is not in memory. Then the caller takes a counted reference to the owner
// of the version, leaves the epoch, and calls Finish(), which continues from that table and pins
// the tables that it reads.
//
//   EpochGuard guard;
//   PointSearch search(*version, options, &lookup);
//   if (!search.RunInEpoch()) {
//     ... take a reference to the version ...
//     guard.Leave();
//     search.Finish();
//   }
//
// The object lives on the stack of one reader. Threads: one at a time.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "util/keys/level.h"

namespace ashlar {

class PointLookup;
class TableFile;
class Version;
struct ReadOptions;

class PointSearch {
 public:
  // The arguments outlive the search.
  PointSearch(const Version& version, const ReadOptions& options, PointLookup* lookup)
      : version_(version), options_(options), lookup_(lookup) {
    assert(lookup != nullptr);
  }
  PointSearch(const PointSearch&) = delete;
  PointSearch& operator=(const PointSearch&) = delete;

  // Inside an EpochGuard. Returns true if the lookup is decided or no table is left; false if a
  // file must be read. Hot: no lock, no reference count, no allocation.
  [[nodiscard]] bool RunInEpoch();
  // Completes the search. Not inside an EpochGuard; the caller holds a reference to the version. A
  // read error fails the lookup.
  void Finish();

 private:
  // Candidates are gathered in batches, so that the first cache line of every filter in a batch is
  // prefetched before the first filter is probed.
  static constexpr size_t kBatch = 16;
  static constexpr size_t kNotSearched = SIZE_MAX;

  // Fills the batch with the next candidates, newest first. Returns false if there are none.
  bool Gather();
  // Notes the level of the table at next_ if the lookup is decided; returns whether it is.
  bool NoteIfDecided();
  void TraceEntering() const;
  void GatherLevel0();
  // Appends a file to the batch. `continues_run`: it belongs to the run of the file before it.
  void Add(TableFile* file, bool continues_run);
  // Returns true, and decides the lookup, if a tombstone of a newer run covers the key. Then the
  // table at `index` and all later ones are irrelevant, unless this table belongs to the same run
  // as the table searched last.
  bool EndsBefore(size_t index);

  const Version& version_;
  const ReadOptions& options_;
  PointLookup* const lookup_;
  // The position at which gathering continues: a level, and the index of a file on it.
  Level level_ = 0;
  size_t file_ = 0;  // kNotSearched: not determined yet; FindFile() determines it
  // The current batch; the tables from index next_ on have not been searched.
  size_t next_ = 0;
  size_t count_ = 0;
  std::array<TableFile*, kBatch> batch_;
  std::array<uint8_t, kBatch> levels_;  // the level of each table of the batch
  static_assert(kBatch <= 32);
  uint32_t continues_ = 0;    // bit i: table i belongs to the same run as table i - 1
  bool was_covered_ = false;  // a tombstone of an already searched table covers the key
};

}  // namespace ashlar
