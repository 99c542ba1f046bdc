// SPDX-License-Identifier: Apache-2.0
//
// Pure functions that make the HTML page of `ldb report` from a survey.
#pragma once

#include <cstdint>
#include <string>

#include "tools/ldb/tree_survey.h"

namespace ashlar {

// A complete page of HTML. Ages are relative to `now_seconds` since 1970.
std::string TreePage(const TreeSurvey& survey, uint64_t now_seconds);

// In tree_map.cc: the tables of a family as rectangles along the keys, a row for each level and for
// each file of level 0, coloured by the share of tombstones.
std::string DrawTreeMap(const SurveyedFamily& family, uint64_t now_seconds);

// "3.2 hours".
std::string AgeText(uint64_t seconds);

}  // namespace ashlar
