// SPDX-License-Identifier: Apache-2.0
//
// The tables of a database as text, for tests of the levels that compactions write to.
#pragma once

#include <string>

#include "ashlar/db.h"
#include "ashlar/metadata.h"
#include "util/text/str_cat.h"

namespace ashlar {

// The tables of each level of the default family by their bounds: "L0 a-c L2 d-e".
inline std::string TreeText(DB* db) {
  ColumnFamilyMetaData facts;
  db->GetColumnFamilyMetaData(&facts);
  std::string text;
  for (const LevelMetaData& level : facts.levels) {
    if (!level.files.empty()) StrAppend(&text, text.empty() ? "" : " ", "L", level.level);
    for (const SstFileMetaData& file : level.files) {
      StrAppend(&text, " ", file.smallestkey, "-", file.largestkey);
    }
  }
  return text;
}

}  // namespace ashlar
