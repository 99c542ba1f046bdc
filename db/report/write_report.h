// SPDX-License-Identifier: Apache-2.0
//
// What the statistics texts say of a database as a whole: writes, their logs, stalls. The forms are
// RocksDB's, as in family_report.h.
#pragma once

#include <string>

#include "db/report/family_report.h"
#include "db/report/report_baselines.h"
#include "db/state/db_core.h"
#include "db/state/write_control.h"

namespace ashlar {

// Since `baselines`.
WriteTotals TotalsOfWrites(const DbCore& core, const WriteControl& writes,
                           const ReportBaselines& baselines) REQUIRES(db_mutex);
// From now on writes count anew. Families count from then too, so theirs are reset with them.
void ResetWriteTotals(const DbCore& core, const WriteControl& writes, ReportBaselines* baselines)
    REQUIRES(db_mutex);
// `reported`: the totals of the text before this one.
std::string WriteStatsText(const WriteTotals& now, const WriteTotals& reported);
PropertyMap WriteStatsMap(const WriteTotals& now);
// Stalls that hold all families up: `memory_stops` of the write buffer manager.
PropertyMap DatabaseStallsMap(uint64_t memory_stops);

}  // namespace ashlar
