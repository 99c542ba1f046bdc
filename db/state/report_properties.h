// SPDX-License-Identifier: Apache-2.0
//
// The properties that are statistics texts and maps: of levels, of writes, of the block cache.
#pragma once

#include <optional>
#include <string>

#include "db/state/family_report.h"
#include "db/state/properties.h"

namespace ashlar {

// Nothing for a name that is none of these. False: the family has nothing of what is asked for. The
// caller holds a view of the family.
std::optional<bool> GetReportText(const PropertySources& sources, ColumnFamilyData* family,
                                  const Slice& name, std::string* text) EXCLUDES(db_mutex);
std::optional<bool> GetReportMap(const PropertySources& sources, ColumnFamilyData* family,
                                 const Slice& name, PropertyMap* map) EXCLUDES(db_mutex);

// All of them, and rocksdb.background-errors, count from now on. Work that is under way counts when
// it ends.
void ResetReports(DbCore* core) EXCLUDES(db_mutex);

}  // namespace ashlar
