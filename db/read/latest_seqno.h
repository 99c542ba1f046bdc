// SPDX-License-Identifier: Apache-2.0
//
// The newest sequence number of a key, for checks of conflicts: whether a key was written after a
// certain sequence number. Values and blobs are never read.
//
// Memtables and tables whose greatest number is not above that number are not searched, so a check
// against a recent number ends in the memtables. Numbers that are not visible yet count too.
#pragma once

#include <cstdint>
#include <span>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"
#include "db/transaction/visibility/undecided.h"

namespace ashlar {

class SuperVersion;
struct ReadOptions;

// A key, the question about it and the answer.
struct SeqnoQuery {
  Slice key;
  SequenceNumber above = 0;  // only numbers above it matter
  // Versions that do not count: what a transaction has written itself. Null: all count.
  const DecidedVersions::Own* own = nullptr;
  // The greatest number of a version of the key, or of a range tombstone over it, if that is above
  // `above`; else 0.
  SequenceNumber latest = 0;
  bool is_answered = false;
};

// Searches the memtables. Inside an EpochGuard. Answers the queries for which it finds a number,
// and the queries for which no table needs to be searched. Returns how many are not answered. Hot:
// no lock, no reference count, no allocation.
size_t FindLatestInMemory(const SuperVersion& super_version, std::span<SeqnoQuery> queries);

// Searches the tables for the queries that are not answered. Not inside an EpochGuard; the caller
// holds a reference on the super version. With read_tier kBlockCacheTier a query that needs a file
// is Incomplete.
Status FindLatestInTables(const SuperVersion& super_version, const ReadOptions& options,
                          std::span<SeqnoQuery> queries);

}  // namespace ashlar
