// SPDX-License-Identifier: Apache-2.0
//
// Opening a TransactionDB: options before, wrapping after.
//
// Steps of an opening: check the options; turn automatic compactions off; open the engine, which
// finds undecided prepare sections in its logs; make them transactions again, with their locks;
// turn compactions on. If a step fails, everything that was opened is closed again.
#include <cassert>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/system_clock.h"
#include "db/db_impl.h"
#include "db/transaction/locks/range_locks.h"
#include "db/transaction/pessimistic/pessimistic_db.h"
#include "db/transaction/validation/key_conflicts.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

Status PessimisticDb::CheckOptions(const TransactionDBOptions& options,
                                   const DBOptions& db_options) {
  const auto refuse = [](const char* option) {
    return Status::NotSupported(StrCat("TransactionDBOptions::", option, " is not built yet"));
  };
  if (options.lock_mgr_handle != nullptr && options.lock_mgr_handle->getLockManager() == nullptr) {
    return Status::InvalidArgument("TransactionDBOptions::lock_mgr_handle has no lock manager");
  }
  if (!options.secondary_indices.empty()) return refuse("secondary_indices");
  // As in RocksDB, unordered writes are allowed with this policy and two queues only.
  const bool is_unordered_fine =
      options.write_policy == WRITE_PREPARED && db_options.two_write_queues;
  if (db_options.unordered_write && !is_unordered_fine) {
    return Status::NotSupported(
        "TransactionDB: DBOptions::unordered_write goes only with WRITE_PREPARED and "
        "two_write_queues");
  }
  return Status::OK();
}

RangeLockManagerHandle* NewRangeLockManager(
    std::shared_ptr<TransactionDBMutexFactory> mutex_factory) {
  return new RangeLocks(NewLockClock(SystemClock::Default().get()), std::move(mutex_factory));
}

Status TransactionDB::Open(const Options& options, const TransactionDBOptions& txn_db_options,
                           const std::string& dbname, TransactionDB** dbptr) {
  std::vector<ColumnFamilyHandle*> handles;
  const std::vector<ColumnFamilyDescriptor> families{
      {kDefaultColumnFamilyName, ColumnFamilyOptions(options)}};
  RETURN_IF_ERROR(Open(DBOptions(options), txn_db_options, dbname, families, &handles, dbptr));
  for (ColumnFamilyHandle* handle : handles) delete handle;  // the database has one of its own
  return Status::OK();
}

Status TransactionDB::Open(const DBOptions& db_options, const TransactionDBOptions& txn_db_options,
                           const std::string& dbname,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, TransactionDB** dbptr) {
  assert(dbptr != nullptr && handles != nullptr);
  *dbptr = nullptr;
  handles->clear();
  RETURN_IF_ERROR(PessimisticDb::CheckOptions(txn_db_options, db_options));
  RETURN_IF_ERROR(CheckFamilies(column_families));
  // Copies, because the preparation changes options, which the caller may use again.
  DBOptions prepared_options = db_options;
  std::vector<ColumnFamilyDescriptor> prepared_families = column_families;
  std::vector<size_t> compacting;
  PrepareWrap(&prepared_options, &prepared_families, &compacting);
  std::unique_ptr<DB> db;
  RETURN_IF_ERROR(DB::Open(prepared_options, dbname, prepared_families, handles, &db));
  DB* const opened = db.release();
  const auto close_handles = [&] {
    for (ColumnFamilyHandle* handle : *handles) delete handle;
    handles->clear();
  };
  // On an error the database is closed by Wrap(), so the handles must go before.
  return PessimisticDb::Wrap(opened, txn_db_options, compacting, *handles, close_handles, dbptr);
}

// A compaction must not drop versions that belong to an undecided transaction. Until the sections
// of the log are transactions again the engine does not know them all, so no automatic compaction
// runs before that. *compaction_enabled_cf_indices are the families in which Wrap() turns
// compactions on again.
void TransactionDB::PrepareWrap(DBOptions* db_options,
                                std::vector<ColumnFamilyDescriptor>* column_families,
                                std::vector<size_t>* compaction_enabled_cf_indices) {
  assert(db_options != nullptr);
  assert(compaction_enabled_cf_indices != nullptr);
  compaction_enabled_cf_indices->clear();
  assert(column_families != nullptr);
  for (size_t i = 0; i < column_families->size(); ++i) {
    ColumnFamilyOptions& options = (*column_families)[i].options;
    if (options.disable_auto_compactions) continue;
    options.disable_auto_compactions = true;
    compaction_enabled_cf_indices->push_back(i);
  }
  // Without this option Prepare() is refused.
  db_options->allow_2pc = true;
}

Status TransactionDB::WrapDB(DB* db, const TransactionDBOptions& txn_db_options,
                             const std::vector<size_t>& compaction_enabled_cf_indices,
                             const std::vector<ColumnFamilyHandle*>& handles,
                             TransactionDB** dbptr) {
  return PessimisticDb::Wrap(
      db, txn_db_options, compaction_enabled_cf_indices, handles, [] {}, dbptr);
}

Status TransactionDB::WrapStackableDB(StackableDB* db, const TransactionDBOptions& txn_db_options,
                                      const std::vector<size_t>& compaction_enabled_cf_indices,
                                      const std::vector<ColumnFamilyHandle*>& handles,
                                      TransactionDB** dbptr) {
  return PessimisticDb::Wrap(
      db, txn_db_options, compaction_enabled_cf_indices, handles, [] {}, dbptr);
}

namespace {

// Like the check above, but for the families of a database that is open already.
Status CheckFamiliesOf(const std::vector<ColumnFamilyHandle*>& handles) {
  std::vector<ColumnFamilyDescriptor> families(handles.size());
  for (size_t i = 0; i < handles.size(); ++i) {
    RETURN_IF_ERROR(handles[i]->GetDescriptor(&families[i]));
  }
  return CheckFamilies(families);
}

}  // namespace

Status PessimisticDb::Wrap(DB* db, const TransactionDBOptions& options,
                           const std::vector<size_t>& compaction_enabled_cf_indices,
                           const std::vector<ColumnFamilyHandle*>& handles,
                           const std::function<void()>& close_handles, TransactionDB** dbptr) {
  assert(db != nullptr);
  assert(dbptr != nullptr);
  *dbptr = nullptr;
  auto* const impl = static_cast<DBImpl*>(db->GetRootDB());
  // `db` belongs to this function from here on, and to `wrapped` as soon as that exists.
  Status status = CheckOptions(options, impl->GetDBOptions());
  if (status.ok()) status = CheckFamiliesOf(handles);
  // The default family may not be among the handles, but transactions use it too.
  if (status.ok()) status = CheckFamiliesOf({impl->DefaultColumnFamily()});
  std::unique_ptr<PessimisticDb> wrapped;
  if (status.ok()) {
    wrapped = std::make_unique<PessimisticDb>(db, impl, options);
    // The families need locks before Recover(), which locks the keys of recovered transactions.
    wrapped->AddFamilies(handles);
    status = wrapped->Recover();
  }
  std::vector<ColumnFamilyHandle*> compacting;
  for (const size_t i : compaction_enabled_cf_indices) compacting.push_back(handles[i]);
  if (status.ok() && !compacting.empty()) status = impl->EnableAutoCompaction(compacting);
  if (!status.ok()) {
    // The handles refer to the engine, so they go before it; then the engine is closed by the
    // destructor of `wrapped`, or here.
    close_handles();
    if (wrapped == nullptr) delete db;
    return status;
  }
  *dbptr = wrapped.release();
  return status;
}

}  // namespace ashlar
