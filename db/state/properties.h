// SPDX-License-Identifier: Apache-2.0
//
// Database properties: one table from name to what computes the answer. Names are RocksDB's; our
// own begin with "ashlar.".
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "db/state/db_core.h"

namespace ashlar {

class WriteControl;

// What the rooms above can say of background work.
class BackgroundWork {
 public:
  virtual ~BackgroundWork() = default;
  // A line for each fact, stable.
  virtual std::string DebugStringLocked() const REQUIRES(db_mutex) = 0;
  // Sorted runs that the compactions which run now have for input.
  virtual uint64_t RunsUnderCompactionLocked() const REQUIRES(db_mutex) = 0;
  // Abort calls that hold for the family, without their Resume.
  virtual uint64_t AbortCountLocked(const ColumnFamilyData& family) const REQUIRES(db_mutex) = 0;
  // Families that want a compaction for which no thread has been asked yet.
  virtual uint64_t UnscheduledCompactionsLocked() const REQUIRES(db_mutex) = 0;
};

// What the properties are computed from. All outlive the object.
struct PropertySources {
  DbCore* core;
  const WriteControl* writes;
  const BackgroundWork* jobs;
};

// False for an unknown name, or where the family has no such thing. A dropped family answers as
// long as somebody holds it. Numbers are also available as text. What needs tables is computed from
// a view of the family: nothing is opened under the DB mutex.
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
