// SPDX-License-Identifier: Apache-2.0
//
// How a flush or compaction treats the range tombstones of its inputs: which point entries they
// drop, which of the tombstones must be written, and which input tables they cover completely.
//
// Snapshots divide the sequence numbers into stripes, as for point entries (version_retention.h). A
// tombstone drops an older entry if no snapshot sees the entry without the tombstone. Of the
// tombstones of one stripe over a key, the newest is enough; a tombstone that every reader sees is
// dropped if nothing older is left below in its range.
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

// The oldest snapshot that sees `seqno`; kMaxSequenceNumber if none does. `snapshots` is ascending.
SequenceNumber OldestSnapshotThatSees(std::span<const SequenceNumber> snapshots,
                                      SequenceNumber seqno);

// Decides for entries with ascending user keys whether a range tombstone drops them.
class HidingTombstones {
 public:
  // The arguments outlive the object; `tombstones` may be null. In a stamped family only tombstones
  // below `full_history_ts_low` count, because every reader sees those; empty: none does.
  HidingTombstones(const FragmentedTombstones* tombstones,
                   std::span<const SequenceNumber> snapshots, const Slice& full_history_ts_low)
      : tombstones_(tombstones), snapshots_(snapshots), full_history_ts_low_(full_history_ts_low) {
    const bool is_stamped = tombstones != nullptr && tombstones->comparator().stamp_bytes() != 0;
    if (is_stamped && full_history_ts_low.empty()) tombstones_ = nullptr;
  }

  // Hot where there are tombstones: one comparison for most entries.
  bool Hides(const Slice& user_key, SequenceNumber seqno) {
    return tombstones_ != nullptr && HidesSlowly(user_key, seqno);
  }

 private:
  bool HidesSlowly(const Slice& user_key, SequenceNumber seqno);

  const FragmentedTombstones* tombstones_;  // null: no later entry is covered
  std::span<const SequenceNumber> snapshots_;
  Slice full_history_ts_low_;
  size_t position_ = 0;  // fragments before it end at or before the last key
};

struct TombstonesToKeepOptions {
  std::span<const SequenceNumber> snapshots;
  // Of a stamped family: tombstones at or above it are kept; empty: all of them.
  Slice full_history_ts_low;
  DeeperLevels* below = nullptr;    // null: deeper levels may hold any key
  bool is_bottommost = false;       // no deeper level holds a key of the range
  std::optional<Slice> begin, end;  // user keys; the end is exclusive
  uint64_t* dropped = nullptr;      // the number of tombstones left out is added; null: not counted
};

// The tombstones of `all` that a job over [begin, end) must write; empty if there are none. The
// result points to the keys of `all` and to the bounds.
std::unique_ptr<const FragmentedTombstones> TombstonesToKeep(
    const FragmentedTombstones& all, const TombstonesToKeepOptions& options);

// The tombstones of a job that divides its entries by age (YoungOutputs).
struct DividedTombstones {
  std::unique_ptr<const FragmentedTombstones> old, young;
};
// Divides tombstones as entries are divided: those from `first_young` on inside the range are
// young. nullopt: the range has a part of a young tombstone only, whose other part would hide
// entries of the level above its own. The result points to the keys of `all`.
std::optional<DividedTombstones> DivideTombstones(const FragmentedTombstones& all,
                                                  SequenceNumber first_young,
                                                  const FragmentedTombstones::Border& range);

// Whether every entry and tombstone of the table is hidden by a newer tombstone for every reader
// that sees any of them. Then the job need not read the table.
bool CoversTable(const FragmentedTombstones& all, const FileMetadata& table,
                 std::span<const SequenceNumber> snapshots);

}  // namespace ashlar
