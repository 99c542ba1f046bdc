// SPDX-License-Identifier: Apache-2.0
//
// A point lookup in one table, as the database does it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "table/sst/read/table_reader.h"
#include "util/threads/epoch.h"

namespace ashlar {

// Reads from memory inside an epoch and, if that is not enough, once more outside. An error that
// occurs in memory is in the lookup, like an error of its offers.
inline Status LookUp(const TableReader& table, const ReadOptions& options, PointLookup* lookup) {
  {
    const EpochGuard guard;
    if (table.GetInEpoch(lookup)) return Status::OK();
  }
  return table.Get(options, lookup);
}

// Looks up all keys, outside of epochs and as many at once as a table supports. `visit` gets the
// number of each key, its lookup and its value.
template <typename Visit>
void LookUpTogether(TableReader* table, std::span<const LookupKey> keys, const Visit& visit) {
  for (size_t begin = 0; begin < keys.size(); begin += TableReader::kMaxProbes) {
    const size_t count = std::min(TableReader::kMaxProbes, keys.size() - begin);
    std::vector<PinnableSlice> values(count);
    std::vector<std::unique_ptr<PointLookup>> lookups;
    std::vector<TableProbe> probes(count);
    for (size_t i = 0; i < count; ++i) {
      lookups.push_back(std::make_unique<PointLookup>(keys[begin + i], &values[i]));
      probes[i] = {.table = table, .lookup = lookups[i].get(), .is_over = false};
    }
    TableReader::GetMany(ReadOptions(), probes.data(), count);
    for (size_t i = 0; i < count; ++i) visit(begin + i, *lookups[i], values[i]);
  }
}

}  // namespace ashlar
