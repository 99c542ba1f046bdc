// SPDX-License-Identifier: Apache-2.0
//
// The properties that are statistics texts and maps: of levels, of writes, of the block cache.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "db/report/family_report.h"
#include "db/report/properties.h"

namespace ashlar {

// A table of properties: a name and the function that computes the answer.
template <typename Function>
struct PropertyRow {
  std::string_view name;
  Function compute;
};

// Null for a name that the table does not have.
template <typename Function, size_t kCount>
Function FindPropertyRow(const PropertyRow<Function> (&rows)[kCount], const Slice& name) {
  for (const PropertyRow<Function>& row : rows) {
    if (name == Slice(row.name)) return row.compute;
  }
  return nullptr;
}

// Nothing for a name that is none of these. False: the family has nothing of what is asked for. The
// caller holds a view of the family.
std::optional<bool> GetReportText(const PropertySources& sources, ColumnFamilyData* family,
                                  const Slice& name, std::string* text) EXCLUDES(db_mutex);
std::optional<bool> GetReportMap(const PropertySources& sources, ColumnFamilyData* family,
                                 const Slice& name, PropertyMap* map) EXCLUDES(db_mutex);

// All of them, and rocksdb.background-errors, count from now on. A job that runs counts as a whole
// when it ends.
void ResetReports(const PropertySources& sources) EXCLUDES(db_mutex);

}  // namespace ashlar
