// SPDX-License-Identifier: Apache-2.0
//
// The page that --command=report writes, from what the surveys of a table found. A pure function.
#pragma once

#include <string>

#include "tools/sst_dump/filter_survey.h"
#include "tools/sst_dump/table_survey.h"

namespace ashlar {

// HTML with everything in it: style, script, charts.
std::string ReportPage(const TableInspector& table, const TableSurvey& survey,
                       const FilterSurvey& filter);

}  // namespace ashlar
