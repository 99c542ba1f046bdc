// SPDX-License-Identifier: Apache-2.0
//
// A family needs the logs from its oldest unflushed write on; the database, those of any family.
#include "db/state/needed_logs.h"

#include <algorithm>

namespace ashlar {

uint64_t OldestLogNeeded(const DbCore& core, const ColumnFamilyData* except) {
  const uint64_t current_log = core.wals->current_number();
  uint64_t oldest = current_log;
  for (const ColumnFamilyData* family : core.families.All()) {
    if (family == except || family->is_dropped()) continue;
    oldest = std::min(oldest, family->OldestLogNeeded(current_log));
  }
  return oldest;
}

}  // namespace ashlar
