// SPDX-License-Identifier: Apache-2.0
//
// The properties that are statistics texts and maps: about levels, writes, and the block cache.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "db/report/family_report.h"
#include "db/report/properties.h"

namespace ashlar {

// A row of a table of properties: a name and the function that computes the property. Tables are
// constants; a search compares the names one after the other.
template <typename Function>
struct PropertyRow {
  std::string_view name;
  Function compute;
};

// Null if the table has no such name.
template <typename Function, size_t kCount>
Function FindPropertyRow(const PropertyRow<Function> (&rows)[kCount], const Slice& name) {
  for (const PropertyRow<Function>& row : rows) {
    if (name == Slice(row.name)) return row.compute;
  }
  return nullptr;
}

// No value: the name is not one of these properties. False: the family has no such data. The caller
// holds a view of the family.
std::optional<bool> GetReportText(const PropertySources& sources, ColumnFamilyData* family,
                                  const Slice& name, std::string* text) EXCLUDES(db_mutex);
std::optional<bool> GetReportMap(const PropertySources& sources, ColumnFamilyData* family,
                                 const Slice& name, PropertyMap* map) EXCLUDES(db_mutex);

// Restarts the counts of all these properties and of rocksdb.background-errors. A running job is
// counted as a whole when it ends.
void ResetReports(const PropertySources& sources) EXCLUDES(db_mutex);

}  // namespace ashlar
