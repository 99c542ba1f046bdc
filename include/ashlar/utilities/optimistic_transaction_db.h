// SPDX-License-Identifier: Apache-2.0
//
// OptimisticTransactionDB is a database with transactions that take no locks and check for
// conflicts when they commit: Commit() is Busy if a key that the transaction wrote or read for
// update was written by others since then. No transaction waits for another, so it suits programs
// whose transactions rarely use the same keys.
//
// Conflicts are found in tables as well as in memory, for transactions of any duration.
// ColumnFamilyOptions::max_write_buffer_size_to_maintain need not be set for this.
//
// Writes of the database itself count as writes of others. DeleteRange(), and a batch that contains
// it, are NotSupported. Writes to the database below (GetBaseDB()) at the same time as a commit are
// noticed only with kValidateSerial.
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
  // No effect: each column family has its own order.
  const Comparator* cmp = BytewiseComparator();
};

// How a commit is kept apart from other writes while it is checked.
enum class OccValidationPolicy {
  // No other write of the database runs during the check and before the commit has its place.
  kValidateSerial = 0,
  // Commits run side by side, under locks that are chosen by the hashes of the keys.
  kValidateParallel = 1,
};

// The locks of kValidateParallel, which several databases can share. Thread-safe.
class ASHLAR_EXPORT OccLockBuckets {
 public:
  virtual ~OccLockBuckets() {}
  // Bytes. The system provides the memory when a lock is first used.
  virtual size_t ApproximateMemoryUsage() const = 0;
};
// Creates such locks. bucket_count is rounded up to a power of two, at least 16. Each lock has 4
// bytes, or a cache line if cache_aligned is true.
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
  // Opens a database, like DB::Open(). The caller deletes the result. NotSupported for column
  // families with ColumnFamilyOptions::inplace_update_support, also if they are created later: a
  // value that is overwritten in its place keeps its sequence number, so a check for conflicts
  // cannot see the write.
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

  // Begins a new transaction, or begins old_txn of the same database again, which reuses its
  // memory. The caller deletes the result before the database. write_options are used by its
  // commit.
  virtual Transaction* BeginTransaction(
      const WriteOptions& write_options,
      const OptimisticTransactionOptions& txn_options = OptimisticTransactionOptions(),
      Transaction* old_txn = nullptr) = 0;

 protected:
  explicit OptimisticTransactionDB(std::unique_ptr<DB>&& db) : StackableDB(std::move(db)) {}
};

}  // namespace ashlar
