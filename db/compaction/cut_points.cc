// SPDX-License-Identifier: Apache-2.0
//
// Goes once over the sampled keys of all inputs, in key order, and cuts whenever a part has enough
// bytes.
#include "db/compaction/cut_points.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace ashlar {

std::vector<std::string> CutPoints(std::vector<KeyWeight> weights,
                                   const InternalKeyComparator& comparator, uint32_t parts,
                                   uint64_t least_bytes) {
  assert(parts > 0);
  std::sort(weights.begin(), weights.end(), [&](const KeyWeight& a, const KeyWeight& b) {
    return comparator.OrderWithoutTimestamp(a.user_key, b.user_key) < 0;
  });
  uint64_t total = 0;
  for (const KeyWeight& weight : weights) total += weight.bytes;
  const uint64_t part_bytes = std::max<uint64_t>({(total + parts - 1) / parts, least_bytes, 1});
  std::vector<std::string> cuts;
  uint64_t seen = 0, part_begin = 0;
  for (size_t i = 0; i < weights.size() && cuts.size() + 1 < parts; i++) {
    seen += weights[i].bytes;
    // Two parts must not share a user key, so a cut is possible only behind the last sample of a
    // key.
    const bool is_last_of_key =
        i + 1 == weights.size() ||
        comparator.OrderWithoutTimestamp(weights[i].user_key, weights[i + 1].user_key) != 0;
    if (!is_last_of_key || seen - part_begin < part_bytes) continue;
    // A small rest stays with the last part.
    if (total - seen < std::max<uint64_t>(part_bytes / 2, 1)) break;
    cuts.push_back(std::move(weights[i].user_key));
    part_begin = seen;
  }
  return cuts;
}

}  // namespace ashlar
