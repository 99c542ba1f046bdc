// SPDX-License-Identifier: Apache-2.0
//
// A pure function that makes the HTML page of --command=report from the surveys of a table.
#pragma once

#include <string>

#include "tools/sst_dump/table_survey.h"

namespace ashlar {

// A complete page of HTML: style, script, charts.
std::string ReportPage(const TableInspector& table, const TableSurvey& survey,
                       const FilterSurvey& filter);

}  // namespace ashlar
