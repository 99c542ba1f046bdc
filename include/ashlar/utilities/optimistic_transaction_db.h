// SPDX-License-Identifier: Apache-2.0
//
// OptimisticTransactionDB is a database with transactions that lock nothing and look for conflicts
// when they commit. Opening one is NotSupported so far.
//
// Threads: as DB.
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

struct OptimisticTransactionOptions {
  // Take the snapshot for conflicts at the beginning.
  bool set_snapshot = false;
  // Order of keys that are written without a handle.
  const Comparator* cmp = BytewiseComparator();
};

enum class OccValidationPolicy {
  kValidateSerial = 0,    // inside the commit, one at a time
  kValidateParallel = 1,  // before the commit, under locks of the keys' buckets
};

// Locks that several databases may share.
class ASHLAR_EXPORT OccLockBuckets {
 public:
  virtual ~OccLockBuckets() {}
  virtual size_t ApproximateMemoryUsage() const = 0;
};
// cache_aligned: one cache line per lock. Null so far.
ASHLAR_EXPORT std::shared_ptr<OccLockBuckets> MakeSharedOccLockBuckets(size_t bucket_count,
                                                                       bool cache_aligned = false);

struct OptimisticTransactionDBOptions {
  OccValidationPolicy validate_policy = OccValidationPolicy::kValidateParallel;
  // Of the database's own locks, if none are shared.
  uint32_t occ_lock_buckets = (1 << 20);
  std::shared_ptr<OccLockBuckets> shared_lock_buckets;
};

class ASHLAR_EXPORT OptimisticTransactionDB : public StackableDB {
 public:
  // As DB::Open. The caller deletes the result.
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

  // A new transaction, or old_txn (which must have ended) begun anew.
  virtual Transaction* BeginTransaction(
      const WriteOptions& write_options,
      const OptimisticTransactionOptions& txn_options = OptimisticTransactionOptions(),
      Transaction* old_txn = nullptr) = 0;

 protected:
  explicit OptimisticTransactionDB(std::unique_ptr<DB>&& db) : StackableDB(std::move(db)) {}
};

}  // namespace ashlar
