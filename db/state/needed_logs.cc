// SPDX-License-Identifier: Apache-2.0
//
// A family needs the logs from its oldest unflushed write on; the database, those of any family.
#include "db/state/needed_logs.h"

#include <algorithm>

namespace ashlar {

FileNumber OldestLogNeeded(const DbCore& core, const ColumnFamilyData* except) {
  const FileNumber current_log = core.wals->current_number();
  FileNumber oldest = current_log;
  for (const ColumnFamilyData* family : core.families.All()) {
    if (family == except || family->is_dropped()) continue;
    oldest = std::min(oldest, family->OldestLogNeeded(current_log));
  }
  return oldest;
}

}  // namespace ashlar
