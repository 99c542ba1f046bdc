// SPDX-License-Identifier: Apache-2.0
//
// PointSearch looks one key up in the tables of a version, newest first.
//
// It begins inside the caller's epoch and uses what is in memory. When it needs a table or a block
// that is not, it stops; the caller takes a counted reference on what holds the version, leaves the
// epoch, and lets the search go on from the table where it stopped, now with references of its own.
//
//   EpochGuard guard;
//   PointSearch search(*version, options, &lookup);
//   if (!search.RunInEpoch()) {
//     ... take a reference on the version ...
//     guard.Leave();
//     search.Finish();
//   }
//
// It lives on the stack of one reader. Threads: one at a time.
#pragma once

#include <array>
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
  // All of them outlive the search.
  PointSearch(const Version& version, const ReadOptions& options, PointLookup* lookup)
      : version_(version), options_(options), lookup_(lookup) {}
  PointSearch(const PointSearch&) = delete;
  PointSearch& operator=(const PointSearch&) = delete;

  // Inside an EpochGuard. True: the lookup is decided, or no table is left. False: something must
  // be read. Hot: no lock, no reference count, no allocation.
  [[nodiscard]] bool RunInEpoch();
  // The rest. Not inside an EpochGuard; the caller holds the version. A read error fails the
  // lookup.
  void Finish();

 private:
  // Candidates are gathered in batches, so that the first cache line of every filter in a batch is
  // on its way before the first of them is probed.
  static constexpr size_t kBatch = 16;
  static constexpr size_t kNotSearched = SIZE_MAX;

  bool Gather();
  bool NoteIfDecided();
  void TraceEntering() const;
  void GatherLevel0();
  void Add(TableFile* file, bool continues_run);
  // A tombstone of a newer run covers the key: the table at `index`, unless it belongs to the run
  // that was searched last, and all behind it hold nothing. Then the lookup is decided.
  bool EndsBefore(size_t index);

  const Version& version_;
  const ReadOptions& options_;
  PointLookup* const lookup_;
  // Where gathering goes on: a level, and a file of it.
  Level level_ = 0;
  size_t file_ = 0;  // kNotSearched: where the key leads
  // The batch: the tables from next_ on have not been searched.
  size_t next_ = 0;
  size_t count_ = 0;
  std::array<TableFile*, kBatch> batch_;
  std::array<uint8_t, kBatch> levels_;  // of the tables
  static_assert(kBatch <= 32);
  uint32_t continues_ = 0;    // by table: it goes on with the run of the table before it
  bool was_covered_ = false;  // by a tombstone of a table that has been searched
};

}  // namespace ashlar
