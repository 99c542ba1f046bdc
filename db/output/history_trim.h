// SPDX-License-Identifier: Apache-2.0
//
// HistoryTrim says what a compaction of a stamped family drops whatever readers and snapshots may
// see: for DB::OpenAndTrimHistory() and DB::ClipColumnFamily(). A plain value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "table/range_del/range_tombstone.h"
#include "util/keys/internal_key.h"

namespace ashlar {

struct HistoryTrim {
  // The keys before all versions of the bounds.
  struct Range {
    std::string begin, end;
  };

  std::string above;                // versions with a greater timestamp are dropped; empty: none
  std::optional<Range> kept_range;  // keys outside of [begin, end) are dropped; nullopt: none

  bool empty() const { return above.empty() && !kept_range.has_value(); }
  bool DropsStamp(const InternalKeyComparator& order, const Slice& stamp) const {
    return !above.empty() && order.OrderOfStamps(stamp, above) > 0;
  }
  bool DropsKey(const InternalKeyComparator& order, const Slice& stored) const {
    return kept_range.has_value() && (order.OrderWithoutTimestamp(stored, kept_range->begin) < 0 ||
                                      order.OrderWithoutTimestamp(stored, kept_range->end) >= 0);
  }
  bool Drops(const InternalKeyComparator& order, const Slice& stored) const {
    return DropsStamp(order, order.StampOf(stored)) || DropsKey(order, stored);
  }
  // Drops range tombstones, and cuts those that reach out of the range. The result points to the
  // keys of this object.
  void Apply(const InternalKeyComparator& order, std::vector<RangeTombstone>* tombstones) const;
};

}  // namespace ashlar
