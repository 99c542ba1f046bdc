// SPDX-License-Identifier: Apache-2.0
//
// Database properties: one table maps each name to the function that computes it. Names are
// RocksDB's; our own begin with "ashlar.".
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "db/report/report_baselines.h"
#include "db/state/db_core.h"

namespace ashlar {

class CompactionRegistry;
class Scheduler;
class WriteControl;

// The objects from which properties are computed. All outlive this struct.
struct PropertySources {
  const DbCore* core;
  const WriteControl* writes;
  const Scheduler* scheduler;
  const CompactionRegistry* compactions;
  ReportBaselines* baselines;  // guarded by the DB mutex
};

// False for an unknown name, or if the family does not have the property. A dropped family answers
// as long as a handle or reader holds it. Numbers are also available as text. Properties that read
// tables are computed from a view of the family: no file is opened under the DB mutex.
bool GetIntProperty(const PropertySources& sources, ColumnFamilyData* family, const Slice& name,
                    uint64_t* value) EXCLUDES(db_mutex);
// The sum over all families.
bool GetAggregatedIntProperty(const PropertySources& sources, const Slice& name, uint64_t* value)
    EXCLUDES(db_mutex);
bool GetTextProperty(const PropertySources& sources, ColumnFamilyData* family, const Slice& name,
                     std::string* value) EXCLUDES(db_mutex);
bool GetMapProperty(const PropertySources& sources, ColumnFamilyData* family, const Slice& name,
                    std::map<std::string, std::string>* value) EXCLUDES(db_mutex);

}  // namespace ashlar
