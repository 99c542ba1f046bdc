// SPDX-License-Identifier: Apache-2.0
//
// A point lookup in one table, as the database does it.
#pragma once

#include "table/sst/table_reader.h"
#include "util/epoch.h"

namespace ashlar {

// From memory inside an epoch, and if that does not suffice, once more outside. An error that is
// met in memory is in the lookup, as always one of its offers.
inline Status LookUp(const TableReader& table, const ReadOptions& options, PointLookup* lookup) {
  {
    const EpochGuard guard;
    if (table.GetInEpoch(lookup)) return Status::OK();
  }
  return table.Get(options, lookup);
}

}  // namespace ashlar
