// SPDX-License-Identifier: Apache-2.0
//
// Opening, and writes under the buckets of their keys.
#include "db/transaction/optimistic/optimistic_db.h"

#include <cassert>
#include <utility>
#include <vector>

#include "db/transaction/optimistic/optimistic_transaction.h"
#include "db/transaction/validation/key_conflicts.h"
#include "db/write/write_batch_internal.h"
#include "db/write/write_batch_reader.h"
#include "util/result.h"

namespace ashlar {
std::shared_ptr<OccLockBuckets> MakeSharedOccLockBuckets(size_t bucket_count, bool cache_aligned) {
  return std::make_shared<LockBuckets>(bucket_count, cache_aligned);
}

OptimisticDb::OptimisticDb(std::unique_ptr<DB> db, const OptimisticTransactionDBOptions& options)
    : GuardedWrites(std::move(db)), impl_(static_cast<DBImpl*>(db_)) {
  assert(impl_ != nullptr);
  // Before the first transaction begins: from here on the engine keeps the evidence of conflicts,
  // and scans write no range tombstones of their own.
  impl_->conflict_floors()->ExpectTransactions();
  if (options.validate_policy == OccValidationPolicy::kValidateSerial) return;
  shared_buckets_ = options.shared_lock_buckets != nullptr
                        ? options.shared_lock_buckets
                        : MakeSharedOccLockBuckets(options.occ_lock_buckets);
  buckets_ = static_cast<LockBuckets*>(shared_buckets_.get());
}

Transaction* OptimisticDb::BeginTransaction(const WriteOptions& write_options,
                                            const OptimisticTransactionOptions& options,
                                            Transaction* old_txn) {
  // Only this class makes transactions of this database, so the cast is right.
  auto* transaction = static_cast<OptimisticTransaction*>(old_txn);
  if (transaction == nullptr) transaction = new OptimisticTransaction(impl_, buckets_);
  transaction->Begin(write_options, options);
  return transaction;
}

Status OptimisticDb::RefuseRange() {
  return Status::NotSupported(
      "OptimisticTransactionDB: DeleteRange is not supported, as commits check single keys");
}

// A commit holds the buckets of its keys from its check until it is visible. A write of the
// database that takes the same buckets therefore comes before the check, or after the commit.
Status OptimisticDb::HoldBucketsOf(const WriteBatch& batch, HeldBuckets* held) const {
  if (batch.HasDeleteRange()) return RefuseRange();
  // With the serial policy, commits are checked alone in the pipeline, so no write can be between.
  if (buckets_ == nullptr) return Status::OK();
  assert(held != nullptr);
  WriteBatchReader reader(WriteBatchInternal::Contents(batch));
  for (WriteBatchRecord record; reader.Next(&record);) {
    if (record.IsCounted()) held->Add(KeyLock::Hash(record.family, record.key));
  }
  held->Lock();
  return Status::OK();
}

Status OptimisticTransactionDB::Open(const Options& options, const std::string& dbname,
                                     OptimisticTransactionDB** dbptr) {
  assert(dbptr != nullptr);
  *dbptr = nullptr;
  std::vector<ColumnFamilyHandle*> handles;
  const std::vector<ColumnFamilyDescriptor> families{
      {kDefaultColumnFamilyName, ColumnFamilyOptions(options)}};
  RETURN_IF_ERROR(Open(DBOptions(options), dbname, families, &handles, dbptr));
  for (ColumnFamilyHandle* handle : handles) delete handle;  // the database has one of its own
  return Status::OK();
}

Status OptimisticTransactionDB::Open(const DBOptions& db_options, const std::string& dbname,
                                     const std::vector<ColumnFamilyDescriptor>& column_families,
                                     std::vector<ColumnFamilyHandle*>* handles,
                                     OptimisticTransactionDB** dbptr) {
  return Open(db_options, OptimisticTransactionDBOptions(), dbname, column_families, handles,
              dbptr);
}

Status OptimisticTransactionDB::Open(const DBOptions& db_options,
                                     const OptimisticTransactionDBOptions& occ_options,
                                     const std::string& dbname,
                                     const std::vector<ColumnFamilyDescriptor>& column_families,
                                     std::vector<ColumnFamilyHandle*>* handles,
                                     OptimisticTransactionDB** dbptr) {
  assert(dbptr != nullptr && handles != nullptr);
  *dbptr = nullptr;
  RETURN_IF_ERROR(CheckFamilies(column_families));
  std::unique_ptr<DB> db;
  RETURN_IF_ERROR(DB::Open(db_options, dbname, column_families, handles, &db));
  *dbptr = new OptimisticDb(std::move(db), occ_options);
  return Status::OK();
}

}  // namespace ashlar
