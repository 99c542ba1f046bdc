// SPDX-License-Identifier: Apache-2.0
//
// DBWithTTL lets values expire: each is stored with the time of its writing, and compaction drops
// it some seconds later. Until then it can be read. Such a database must always be opened in this
// way: the stored values end with four bytes of time. Opening is NotSupported so far.
//
// Threads: as DB.
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

class ASHLAR_EXPORT DBWithTTL : public StackableDB {
 public:
  virtual Status CreateColumnFamilyWithTtl(const ColumnFamilyOptions& options,
                                           const std::string& column_family_name,
                                           ColumnFamilyHandle** handle, int ttl) = 0;

  // ttl in seconds, one per family in the second form; 0 and less: values never expire. The caller
  // deletes the result.
  static Status Open(const Options& options, const std::string& dbname, DBWithTTL** dbptr,
                     int32_t ttl = 0, bool read_only = false);
  static Status Open(const DBOptions& db_options, const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, DBWithTTL** dbptr,
                     const std::vector<int32_t>& ttls, bool read_only = false);

  virtual void SetTtl(int32_t ttl) = 0;
  virtual void SetTtl(ColumnFamilyHandle* h, int32_t ttl) = 0;
  virtual Status GetTtl(ColumnFamilyHandle* h, int32_t* ttl) = 0;

 protected:
  explicit DBWithTTL(std::unique_ptr<DB>&& db) : StackableDB(std::move(db)) {}
};

}  // namespace ashlar
