// SPDX-License-Identifier: Apache-2.0
//
// Words and rows of the page that --command=report writes. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/sst_dump/table_survey.h"

namespace ashlar {

// "ZSTD", "none".
std::string CompressionShown(CompressionType type);

// HTML: a table of the range tombstones, nothing if there are none; the section with the
// properties.
std::string TombstoneList(const TableSurvey& survey);
std::string PropertiesSection(const TableProperties& properties);

}  // namespace ashlar
