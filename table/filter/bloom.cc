// SPDX-License-Identifier: Apache-2.0
//
// How bits per key become a number of probes. This table must be exact, because our filters have
// the same bytes as RocksDB's. Readers take the number of probes from the filter.
#include "table/filter/bloom.h"

#include <cassert>
#include <iterator>

namespace ashlar {

int cache_local_bloom::ProbesFor(uint32_t millibits_per_key) {
  // Entry i is the largest number of millibits for which i + 1 probes are best.
  constexpr uint32_t kLimits[] = {2080,  3580,  5100,  6640,  8300,  10070,
                                  11720, 14001, 16050, 18300, 22001, 25501};
  int probes = 1;
  for (const uint32_t limit : kLimits) {
    if (millibits_per_key <= limit) return probes;
    ++probes;
  }
  if (millibits_per_key > 50000) return 24;
  assert(millibits_per_key > kLimits[std::size(kLimits) - 1]);
  return static_cast<int>((millibits_per_key - 1) / 2000 - 1);
}

}  // namespace ashlar
