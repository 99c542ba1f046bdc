// SPDX-License-Identifier: Apache-2.0
//
// DBWithTTL lets values expire. It stores each value and each merge operand with the time of its
// write, as the last four bytes; compactions remove a value when its time to live (TTL) has passed.
// Until then it can be read, unless TtlOptions::hide_expired is set. Nothing else marks such a
// database, so it must always be opened as a DBWithTTL: a value that another program wrote without
// a time is Corruption here, or loses its last four bytes.
//
// What differs from DB:
// - Wide columns have no place for a time: PutEntity() is NotSupported in every form.
//   GetEntity() and the other calls for columns show a plain value as its default column.
// - Values in files that are ingested must end in a time. GetUpdatesSince() returns batches as they
//   are stored, with times.
// - A result of a merge gets the time of the merge, so merging renews the life of a value, unless
//   TtlOptions::merge_keeps_time is set. Merge operands do not expire by themselves.
// - The updates of a WriteBatchWithIndex get their times when the batch is written. So its reads
// over
//   a DBWithTTL (GetFromBatchAndDB() and all others, and iterators that NewIteratorWithBase() makes
//   from an iterator of the DBWithTTL) merge with the user's operator. Over the database below
//   (GetRootDB()), whose values have times, a read that has to merge is NotSupported. So it is in a
//   transaction of a TransactionDB that wraps a DBWithTTL, because such transactions read and write
//   the database below.
// - Iterators have the property "ashlar.ttl.write-time": seconds since 1970, as decimal text.
//   GetProperty() and GetIntProperty() know "ashlar.ttl": the TTL of the family, 0 if values do not
//   expire.
// - CreateColumnFamily() and CreateColumnFamilyWithImport() create families whose values never
//   expire; CreateColumnFamilyWithTtl() takes a TTL.
//
// The user's compaction filter and merge operator see keys and values without the time. The clock
// is that of DBOptions::env.
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

// How an open DBWithTTL treats times. Not stored in files.
struct TtlOptions {
  // Get(), MultiGet(), KeyMayExist(), GetEntity() and iterators do not show values whose TTL has
  // passed. Costs a look at the clock and a short lock for each call. Default: false.
  bool hide_expired = false;

  // The result of a merge gets the time of the newest operand, not that of the merge. Default:
  // false.
  bool merge_keeps_time = false;
};

// A database whose values expire.
class ASHLAR_EXPORT DBWithTTL : public StackableDB {
 public:
  // Creates a family whose values expire after `ttl` seconds. The caller destroys *handle with
  // DestroyColumnFamilyHandle().
  virtual Status CreateColumnFamilyWithTtl(const ColumnFamilyOptions& options,
                                           const std::string& column_family_name,
                                           ColumnFamilyHandle** handle, int ttl) = 0;

  // Opens a database. A TTL is given in seconds, in the forms with families one per family
  // (InvalidArgument for another number); 0 or less means that values never expire. With
  // `read_only` all writes are NotSupported. Other errors are those of DB::Open(); *dbptr is then
  // nullptr. The caller deletes the result, after destroying the handles.
  static Status Open(const Options& options, const std::string& dbname, DBWithTTL** dbptr,
                     int32_t ttl = 0, bool read_only = false);
  static Status Open(const DBOptions& db_options, const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, DBWithTTL** dbptr,
                     const std::vector<int32_t>& ttls, bool read_only = false);
  static Status Open(const DBOptions& db_options, const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, DBWithTTL** dbptr,
                     const std::vector<int32_t>& ttls, bool read_only,
                     const TtlOptions& ttl_options);

  // Set and return the TTL, in seconds, of the default family or of the given one. A change is not
  // stored; it takes effect at once, also for running compactions. InvalidArgument, and nothing is
  // set: the handle is null or of another database.
  virtual void SetTtl(int32_t ttl) = 0;
  virtual void SetTtl(ColumnFamilyHandle* h, int32_t ttl) = 0;
  virtual Status GetTtl(ColumnFamilyHandle* h, int32_t* ttl) = 0;

 protected:
  explicit DBWithTTL(std::unique_ptr<DB>&& db) : StackableDB(std::move(db)) {}
};

}  // namespace ashlar
