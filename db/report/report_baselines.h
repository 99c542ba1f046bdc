// SPDX-License-Identifier: Apache-2.0
//
// ReportBaselines: the moments from which the statistics texts count. Counters of the engine only
// grow; a text shows what they gained since the database was opened or since the last ResetStats(),
// and for its "Interval" lines since the text before it.
//
// Plain values, guarded by the DB mutex. The facade owns them; only this room changes them.
#pragma once

#include <cstdint>
#include <map>

#include "cache/cache_entry_stats.h"
#include "db/column_family/family_work.h"
#include "db/write/commit_pipeline.h"

namespace ashlar {

// What all writes of a database together have done.
struct WriteTotals {
  uint64_t micros = 0;  // in which they did it
  CommitTotals commits;
  uint64_t log_syncs = 0;
  uint64_t stall_micros = 0;  // of all writers together
};

struct ReportBaselines {
  struct OfFamily {
    WorkTotals reported_work;       // as of the last text
    CacheEntryStats cache_entries;  // of its block cache, as last counted
  };

  // Of DbCore::NowMicros(), at the opening or the last ResetStats(). What was counted until then is
  // subtracted; FamilyWork is cleared instead.
  uint64_t since_micros = 0;
  WriteTotals writes_before;  // without the time
  uint64_t errors_before = 0;
  WriteTotals reported_writes;            // since then, as of the last text
  std::map<uint32_t, OfFamily> families;  // by id; dropped ones are forgotten at times
};

}  // namespace ashlar
