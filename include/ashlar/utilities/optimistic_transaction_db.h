// SPDX-License-Identifier: Apache-2.0
//
// OptimisticTransactionDB is a database with transactions that take no locks and check for
// conflicts when they commit. Opening it is NotSupported so far.
//
// Threads: as for DB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "ashlar/export.h"
#include "ashlar/utilities/stackable_db.h"
#include "ashlar/utilities/transaction.h"

namespace ashlar {

// Options of one transaction.
struct OptimisticTransactionOptions {
  // Take the snapshot for conflict checks when the transaction begins.
  bool set_snapshot = false;
  // Order of keys that are written without a column family handle.
  const Comparator* cmp = BytewiseComparator();
};

// When a transaction is checked for conflicts.
enum class OccValidationPolicy {
  kValidateSerial = 0,    // during the commit, one transaction at a time
  kValidateParallel = 1,  // before the commit, under the locks of the hash buckets of its keys
};

// A table of locks that several databases can share.
class ASHLAR_EXPORT OccLockBuckets {
 public:
  virtual ~OccLockBuckets() {}
  virtual size_t ApproximateMemoryUsage() const = 0;
};
// Creates such a table. cache_aligned: each lock gets a cache line of its own. Null so far.
ASHLAR_EXPORT std::shared_ptr<OccLockBuckets> MakeSharedOccLockBuckets(size_t bucket_count,
                                                                       bool cache_aligned = false);

// Options of the database.
struct OptimisticTransactionDBOptions {
  OccValidationPolicy validate_policy = OccValidationPolicy::kValidateParallel;
  // Number of locks of this database; ignored if shared_lock_buckets is set.
  uint32_t occ_lock_buckets = (1 << 20);
  std::shared_ptr<OccLockBuckets> shared_lock_buckets;
};

// A database with transactions that check for conflicts at commit.
class ASHLAR_EXPORT OptimisticTransactionDB : public StackableDB {
 public:
  // Opens a database, like DB::Open(). The caller deletes the result.
  static Status Open(const Options& options, const std::string& dbname,
                     OptimisticTransactionDB** dbptr);
  static Status Open(const DBOptions& db_options, const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, OptimisticTransactionDB** dbptr);
  static Status Open(const DBOptions& db_options, const OptimisticTransactionDBOptions& occ_options,
                     const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, OptimisticTransactionDB** dbptr);
  ~OptimisticTransactionDB() override {}

  // Begins a new transaction, or uses old_txn again, which must have ended. The caller deletes the
  // result.
  virtual Transaction* BeginTransaction(
      const WriteOptions& write_options,
      const OptimisticTransactionOptions& txn_options = OptimisticTransactionOptions(),
      Transaction* old_txn = nullptr) = 0;

 protected:
  explicit OptimisticTransactionDB(std::unique_ptr<DB>&& db) : StackableDB(std::move(db)) {}
};

}  // namespace ashlar
