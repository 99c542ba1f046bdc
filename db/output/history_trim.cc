// SPDX-License-Identifier: Apache-2.0
//
// A tombstone of which nothing is left hides nothing, and is dropped where tombstones are divided
// into fragments.
#include "db/output/history_trim.h"

#include <cassert>

namespace ashlar {

void HistoryTrim::Apply(const InternalKeyComparator& order,
                        std::vector<RangeTombstone>* tombstones) const {
  assert(tombstones != nullptr);
  if (empty()) return;
  for (RangeTombstone& tombstone : *tombstones) {
    // The cut changes the key of which the timestamp would be taken.
    if (tombstone.stamp.empty()) tombstone.stamp = order.StampOf(tombstone.begin);
    if (!kept_range.has_value()) continue;
    if (order.OrderWithoutTimestamp(tombstone.begin, kept_range->begin) < 0) {
      tombstone.begin = kept_range->begin;
    }
    if (order.OrderWithoutTimestamp(kept_range->end, tombstone.end) < 0) {
      tombstone.end = kept_range->end;
    }
  }
  std::erase_if(*tombstones, [&](const RangeTombstone& tombstone) {
    return DropsStamp(order, tombstone.stamp);
  });
}

}  // namespace ashlar
