// SPDX-License-Identifier: Apache-2.0
//
// The part of the statistics texts about the database as a whole: writes, logs, stalls. The formats
// are RocksDB's, as in family_report.h.
#pragma once

#include <string>

#include "db/report/family_report.h"
#include "db/report/report_baselines.h"
#include "db/state/db_core.h"
#include "db/state/write_control.h"

namespace ashlar {

// The totals since `baselines`.
WriteTotals TotalsOfWrites(const DbCore& core, const WriteControl& writes,
                           const ReportBaselines& baselines) REQUIRES(db_mutex);
// Restarts the counts of writes. The texts of families count from the same moment, so the caller
// resets them as well.
void ResetWriteTotals(const DbCore& core, const WriteControl& writes, ReportBaselines* baselines)
    REQUIRES(db_mutex);
// `reported`: the totals at the time of the previous text.
std::string WriteStatsText(const WriteTotals& now, const WriteTotals& reported);
PropertyMap WriteStatsMap(const WriteTotals& now);
// The stalls of all families together. `memory_stops`: those by the WriteBufferManager.
PropertyMap DatabaseStallsMap(uint64_t memory_stops);

}  // namespace ashlar
