// SPDX-License-Identifier: Apache-2.0
//
// What a flush or compaction does with the range tombstones of its inputs: which point entries they
// take away, which of them must be written, and which input tables they cover whole.
//
// Snapshots cut the sequence numbers into stripes, as for points (version_retention.h). A tombstone
// takes an older entry away if no snapshot sees the entry and not the tombstone. Of the tombstones
// of one stripe over a key the newest suffices; one that every reader sees may go when nothing
// older is left below in its range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/types.h"
#include "db/manifest/file_metadata.h"
#include "db/output/deeper_levels.h"
#include "table/range_del/fragmented_tombstones.h"
#include "util/keys/internal_key.h"

namespace ashlar {

// The oldest snapshot that sees `seqno`; kMaxSequenceNumber if none does. `snapshots` ascend.
SequenceNumber OldestSnapshotThatSees(std::span<const SequenceNumber> snapshots,
                                      SequenceNumber seqno);

// Tells of entries whose user keys ascend whether a tombstone takes them away.
class HidingTombstones {
 public:
  // Both outlive it; `tombstones` may be null.
  HidingTombstones(const FragmentedTombstones* tombstones,
                   std::span<const SequenceNumber> snapshots)
      : tombstones_(tombstones), snapshots_(snapshots) {}

  // Hot where there are tombstones: one comparison for most entries.
  bool Hides(const Slice& user_key, SequenceNumber seqno) {
    return tombstones_ != nullptr && HidesSlowly(user_key, seqno);
  }

 private:
  bool HidesSlowly(const Slice& user_key, SequenceNumber seqno);

  const FragmentedTombstones* tombstones_;  // null: no more will hide anything
  std::span<const SequenceNumber> snapshots_;
  size_t position_ = 0;  // fragments before it end at or before the keys asked about
};

struct TombstonesToKeepOptions {
  std::span<const SequenceNumber> snapshots;
  DeeperLevels* below = nullptr;    // null: anything may lie below
  bool is_bottommost = false;       // no deeper level holds a key of the range
  std::optional<Slice> begin, end;  // user keys; the end is not part of it
  uint64_t* dropped = nullptr;      // how many are left out is added; null: nobody asks
};

// Those of `all` that a job over [begin, end) must write; empty if none. Borrows the keys of `all`
// and the bounds.
std::unique_ptr<const FragmentedTombstones> TombstonesToKeep(
    const FragmentedTombstones& all, const TombstonesToKeepOptions& options);

// Whether every entry and every tombstone of the table is older than a tombstone over it that all
// readers see who see any of them: then the table need not be read.
bool CoversTable(const FragmentedTombstones& all, const FileMetadata& table,
                 std::span<const SequenceNumber> snapshots);

}  // namespace ashlar
