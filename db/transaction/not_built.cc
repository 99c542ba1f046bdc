// SPDX-License-Identifier: Apache-2.0
//
// Databases with transactions are declared but not built yet: opening one returns NotSupported.
#include "ashlar/utilities/optimistic_transaction_db.h"
#include "ashlar/utilities/transaction_db.h"

namespace ashlar {

namespace {

Status NotBuilt(const char* call) { return Status::NotSupported(call, "not built yet"); }

}  // namespace

RangeLockManagerHandle* NewRangeLockManager(std::shared_ptr<TransactionDBMutexFactory>) {
  return nullptr;
}
std::shared_ptr<OccLockBuckets> MakeSharedOccLockBuckets(size_t, bool) { return nullptr; }

Status TransactionDB::Open(const Options&, const TransactionDBOptions&, const std::string&,
                           TransactionDB** dbptr) {
  *dbptr = nullptr;
  return NotBuilt("TransactionDB::Open");
}
Status TransactionDB::Open(const DBOptions&, const TransactionDBOptions&, const std::string&,
                           const std::vector<ColumnFamilyDescriptor>&,
                           std::vector<ColumnFamilyHandle*>*, TransactionDB** dbptr) {
  *dbptr = nullptr;
  return NotBuilt("TransactionDB::Open");
}
void TransactionDB::PrepareWrap(DBOptions*, std::vector<ColumnFamilyDescriptor>*,
                                std::vector<size_t>* compaction_enabled_cf_indices) {
  compaction_enabled_cf_indices->clear();
}
Status TransactionDB::WrapDB(DB*, const TransactionDBOptions&, const std::vector<size_t>&,
                             const std::vector<ColumnFamilyHandle*>&, TransactionDB** dbptr) {
  *dbptr = nullptr;
  return NotBuilt("TransactionDB::WrapDB");
}
Status TransactionDB::WrapStackableDB(StackableDB*, const TransactionDBOptions&,
                                      const std::vector<size_t>&,
                                      const std::vector<ColumnFamilyHandle*>&,
                                      TransactionDB** dbptr) {
  *dbptr = nullptr;
  return NotBuilt("TransactionDB::WrapStackableDB");
}

Status OptimisticTransactionDB::Open(const Options&, const std::string&,
                                     OptimisticTransactionDB** dbptr) {
  *dbptr = nullptr;
  return NotBuilt("OptimisticTransactionDB::Open");
}
Status OptimisticTransactionDB::Open(const DBOptions&, const std::string&,
                                     const std::vector<ColumnFamilyDescriptor>&,
                                     std::vector<ColumnFamilyHandle*>*,
                                     OptimisticTransactionDB** dbptr) {
  *dbptr = nullptr;
  return NotBuilt("OptimisticTransactionDB::Open");
}
Status OptimisticTransactionDB::Open(const DBOptions&, const OptimisticTransactionDBOptions&,
                                     const std::string&, const std::vector<ColumnFamilyDescriptor>&,
                                     std::vector<ColumnFamilyHandle*>*,
                                     OptimisticTransactionDB** dbptr) {
  *dbptr = nullptr;
  return NotBuilt("OptimisticTransactionDB::Open");
}

}  // namespace ashlar
