// SPDX-License-Identifier: Apache-2.0
//
// DBWithTTL lets values expire. It stores each value with the time of its write, in the last four
// bytes; compactions remove the value when its time to live (TTL) has passed. Until then it can be
// read. Such a database must always be opened as a DBWithTTL. Opening is NotSupported so far.
//
// Threads: as for DB.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/export.h"
#include "ashlar/utilities/stackable_db.h"

namespace ashlar {

// A database whose values expire.
class ASHLAR_EXPORT DBWithTTL : public StackableDB {
 public:
  // Creates a family whose values expire after `ttl` seconds.
  virtual Status CreateColumnFamilyWithTtl(const ColumnFamilyOptions& options,
                                           const std::string& column_family_name,
                                           ColumnFamilyHandle** handle, int ttl) = 0;

  // Opens a database. A TTL is given in seconds, in the second form one per family; 0 or less means
  // that values never expire. The caller deletes the result.
  static Status Open(const Options& options, const std::string& dbname, DBWithTTL** dbptr,
                     int32_t ttl = 0, bool read_only = false);
  static Status Open(const DBOptions& db_options, const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, DBWithTTL** dbptr,
                     const std::vector<int32_t>& ttls, bool read_only = false);

  // Set and return the TTL, in seconds, of the default family or of the given one.
  virtual void SetTtl(int32_t ttl) = 0;
  virtual void SetTtl(ColumnFamilyHandle* h, int32_t ttl) = 0;
  virtual Status GetTtl(ColumnFamilyHandle* h, int32_t* ttl) = 0;

 protected:
  explicit DBWithTTL(std::unique_ptr<DB>&& db) : StackableDB(std::move(db)) {}
};

}  // namespace ashlar
