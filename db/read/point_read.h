// SPDX-License-Identifier: Apache-2.0
//
// The only implementation of point reads: memtables, newest first, then the version. Get, MultiGet
// and KeyMayExist all use it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ashlar/status.h"
#include "db/read/merge_resolution.h"
#include "db/search/point_search.h"
#include "table/iterator/point_lookup.h"

namespace ashlar {

class MemTable;
class Statistics;
class SuperVersion;
struct ReadOptions;

// The read of one key as of one super version. It begins inside the caller's epoch. If something
// must be read from a file, it ends outside of the epoch; see PointSearch. The result is in the
// lookup.
class PointRead {
 public:
  // The arguments outlive the read.
  PointRead(const SuperVersion& super_version, const ReadOptions& options, PointLookup* lookup);

  // Called inside an EpochGuard. True: the read has ended. False: the caller takes a reference on
  // the super version, leaves the epoch and calls Finish().
  // Hot: no lock, no reference count, no allocation.
  [[nodiscard]] bool RunInEpoch(bool skips_memtables);
  // Ends the search in the tables, reading files. Outside of epochs.
  void Finish() { tables_.Finish(); }

  const SuperVersion& super_version() const { return super_version_; }
  const ReadOptions& options() const { return options_; }
  PointLookup* lookup() const { return lookup_; }

 private:
  bool SearchMemTables();
  bool SearchMemTable(const MemTable& memtable, bool is_immutable);

  const SuperVersion& super_version_;
  const ReadOptions& options_;
  PointLookup* const lookup_;
  PointSearch tables_;
};

// Searches the memtables, newest first, for several lookups at once; skips lookups that are
// decided. Called inside an EpochGuard.
void SearchMemTables(const SuperVersion& super_version, std::span<PointLookup* const> lookups);

// Ends a read after the caller has left the epoch with a reference on the super version: searches
// the tables unless `is_over`, reads a value from a blob file, and folds the operands that were
// met. Returns the status for the user.
Status FinishPointRead(const MergeTools& tools, bool is_over, PointRead* read);
// Does the last part of the read, for a lookup whose search in memtables and tables has ended.
Status FinishLookup(const MergeTools& tools, const SuperVersion& super_version,
                    const ReadOptions& options, PointLookup* lookup);

// Reads the value of a key that a write builds on: one read from beginning to end, outside of
// epochs. The caller keeps the super version alive.
Status ReadWholly(const MergeTools& tools, const SuperVersion& super_version,
                  const ReadOptions& options, PointLookup* lookup);
// The same for the value that the key had just before `seqno` (for an entity, its default column);
// nullopt if it had none.
Status ReadValueBefore(const MergeTools& tools, const SuperVersion& super_version,
                       const Slice& user_key, SequenceNumber seqno,
                       std::optional<std::string>* value);

// The status for the user of a lookup that has run and is not is_unfinished().
Status StatusOf(const PointLookup& lookup);

// PointReadCounts sums up the counts of all lookups of one call, on the stack, and reports them
// once. The calls and the bytes that they return are counted by the functions of the API.
class PointReadCounts {
 public:
  void Add(const PointLookup& lookup);
  // To the thread's perf context if its level asks for counts, and to the statistics unless null.
  void Report(Statistics* statistics) const;
  // To the statistics alone, which are not null.
  void Tell(Statistics* statistics) const;

 private:
  uint64_t lookups_ = 0;
  uint64_t memtable_hits_ = 0;
  uint64_t hits_by_level_[3] = {};  // the last element: level 2 and deeper
  PointLookup::Counters sum_;
};
// The same for the single lookup of a Get, without the sums. `statistics` may be null.
void CountPointRead(const PointLookup& lookup, size_t value_bytes, Statistics* statistics);

}  // namespace ashlar
