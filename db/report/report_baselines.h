// SPDX-License-Identifier: Apache-2.0
//
// ReportBaselines stores the moments from which the statistics texts count. The counters of the
// engine only grow. A text shows their gain since the database was opened or since the last
// ResetStats(), and in its "Interval" lines the gain since the previous text.
//
// Plain values, guarded by the DB mutex. The facade owns them; only this room changes them.
#pragma once

#include <cstdint>
#include <map>

#include "cache/cache_entry_stats.h"
#include "db/column_family/family_work.h"
#include "db/write/commit_pipeline.h"

namespace ashlar {

// The sums over all writes of a database.
struct WriteTotals {
  uint64_t micros = 0;  // the time in which they were done
  CommitTotals commits;
  uint64_t log_syncs = 0;
  uint64_t stall_micros = 0;  // summed over all writers
};

// One per database.
struct ReportBaselines {
  struct OfFamily {
    WorkTotals reported_work;       // at the time of the last text
    CacheEntryStats cache_entries;  // of its block cache, when it was last counted
  };

  // DbEnvironment::NowMicros() at the opening or the last ResetStats(). The counts of that moment
  // are subtracted; FamilyWork is cleared instead.
  uint64_t since_micros = 0;
  WriteTotals writes_before;  // without the time
  uint64_t errors_before = 0;
  WriteTotals reported_writes;            // since since_micros, at the time of the last text
  std::map<uint32_t, OfFamily> families;  // by id; entries of dropped families are removed at times
};

}  // namespace ashlar
