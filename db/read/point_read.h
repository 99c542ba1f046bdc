// SPDX-License-Identifier: Apache-2.0
//
// The one point read there is: memtables, newest first, then the version. Get, MultiGet and
// KeyMayExist all end here.
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

// The read of one key as of one super version. It begins inside the caller's epoch, and if
// something must be read from a file, ends outside of it; see PointSearch. The result is in the
// lookup.
class PointRead {
 public:
  // All of them outlive the read.
  PointRead(const SuperVersion& super_version, const ReadOptions& options, PointLookup* lookup);

  // Inside an EpochGuard. True: the read is over. False: the caller pins the super version, leaves
  // the epoch and calls Finish().
  // Hot: no lock, no reference count, no allocation.
  [[nodiscard]] bool RunInEpoch(bool skips_memtables);
  void Finish() { tables_.Finish(); }

  const SuperVersion& super_version() const { return super_version_; }
  const ReadOptions& options() const { return options_; }
  PointLookup* lookup() const { return lookup_; }

 private:
  bool SearchMemTables();
  bool SearchMemTable(const MemTable& memtable, bool is_sealed);

  const SuperVersion& super_version_;
  const ReadOptions& options_;
  PointLookup* const lookup_;
  PointSearch tables_;
};

// The memtables, newest first, for several lookups at once; those that are decided are left alone.
// Inside an EpochGuard.
void SearchMemTables(const SuperVersion& super_version, std::span<PointLookup* const> lookups);

// What is left of a read when the epoch is left and the super version pinned: the tables unless
// `is_over`, reading a value of a blob file, and folding what operands were met. Returns what the
// user is told.
Status FinishPointRead(const MergeTools& tools, bool is_over, PointRead* read);
// The same for a lookup that has run.
Status FinishLookup(const MergeTools& tools, const SuperVersion& super_version,
                    const ReadOptions& options, PointLookup* lookup);

// What a write that builds on the key's value finds: one read from beginning to end, outside of
// epochs. The super version does not go meanwhile.
Status ReadWholly(const MergeTools& tools, const SuperVersion& super_version,
                  const ReadOptions& options, PointLookup* lookup);
// The same for the value (of an entity its default column) that the key had just before `seqno`;
// nothing: none.
Status ReadValueBefore(const MergeTools& tools, const SuperVersion& super_version,
                       const Slice& user_key, SequenceNumber seqno,
                       std::optional<std::string>* value);

// What the user is told about a lookup that has run and is not is_unfinished().
Status StatusOf(const PointLookup& lookup);

// PointReadCounts sums up what the lookups of one call did, on the stack, and reports it once.
// Calls, and the bytes that they return, are counted by whoever was called.
class PointReadCounts {
 public:
  void Add(const PointLookup& lookup);
  // To the thread's perf context, as its level asks, and to the statistics unless they are null.
  void Report(Statistics* statistics) const;
  // To the statistics alone.
  void Tell(Statistics* statistics) const;

 private:
  uint64_t lookups_ = 0;
  uint64_t memtable_hits_ = 0;
  uint64_t hits_by_level_[3] = {};  // the last: and deeper ones
  PointLookup::Counters sum_;
};
// The same for the one lookup of a Get, without the sums. `statistics` may be null.
void CountPointRead(const PointLookup& lookup, size_t value_bytes, Statistics* statistics);

}  // namespace ashlar
