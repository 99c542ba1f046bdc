// SPDX-License-Identifier: Apache-2.0
//
// A range of sequence numbers, both ends included.
#pragma once

#include <algorithm>
#include <vector>

#include "ashlar/types.h"

namespace ashlar {

struct SeqnoRange {
  SequenceNumber first = 0;
  SequenceNumber last = 0;
};

// Ascending; no two ranges overlap.
using SeqnoRanges = std::vector<SeqnoRange>;

inline bool Covers(const SeqnoRanges& ranges, SequenceNumber seqno) {
  const auto ends_before = [](const SeqnoRange& range, SequenceNumber number) {
    return range.last < number;
  };
  const auto found = std::lower_bound(ranges.begin(), ranges.end(), seqno, ends_before);
  return found != ranges.end() && found->first <= seqno;
}

}  // namespace ashlar
