// SPDX-License-Identifier: Apache-2.0
//
// The page that `ldb report` writes, from a survey. A pure function.
#pragma once

#include <cstdint>
#include <string>

#include "tools/ldb/tree_survey.h"

namespace ashlar {

// HTML with everything in it. `now_seconds`: since 1970, for ages.
std::string TreePage(const TreeSurvey& survey, uint64_t now_seconds);

// tree_map.cc: the tables of a family as rectangles, a row for each level and each file of level 0,
// along the keys; coloured by the share of tombstones.
std::string DrawTreeMap(const SurveyedFamily& family, uint64_t now_seconds);

// "3.2 hours".
std::string AgeText(uint64_t seconds);

}  // namespace ashlar
