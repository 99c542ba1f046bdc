// SPDX-License-Identifier: Apache-2.0
//
// Families are "default", "family1", "family2" ... If a kill comes between dropping and creating
// the volatile family, it is missing, and opening the database creates it.
#include "tools/db_stress/stressed_db.h"

#include <filesystem>

#include "util/text/str_cat.h"

namespace ashlar::stress {
namespace {

std::string NameOfFamily(int family) {
  return family == 0 ? kDefaultColumnFamilyName : StrCat("family", family);
}

}  // namespace

std::vector<ColumnFamilyDescriptor> StressedDb::Descriptors() const {
  std::vector<ColumnFamilyDescriptor> result;
  for (int i = 0; i < families(); i++) {
    result.emplace_back(NameOfFamily(i), options_.families[static_cast<size_t>(i)]);
  }
  return result;
}

Result<std::unique_ptr<StressedDb>> StressedDb::Open(const std::string& path, DrawnOptions options,
                                                     Transactions transactions,
                                                     TxnDBWritePolicy policy) {
  std::unique_ptr<StressedDb> result(
      new StressedDb(path, std::move(options), transactions, policy));
  RETURN_IF_ERROR(result->RemoveTemporaryFiles());
  RETURN_IF_ERROR(result->OpenDatabase());
  return result;
}

Status StressedDb::OpenDatabase() {
  switch (transactions_) {
    case Transactions::kNone: return DB::Open(options_.db, path_, Descriptors(), &handles_, &db_);
    case Transactions::kLocking: {
      TransactionDBOptions locking;
      locking.write_policy = policy_;
      locking.default_write_batch_flush_threshold = 200;  // a few changes
      locking.rollback_merge_operands = true;             // else they stay under write-prepared
      RETURN_IF_ERROR(
          TransactionDB::Open(options_.db, locking, path_, Descriptors(), &handles_, &locking_));
      db_.reset(locking_);
      return DecidePrepared();
    }
    case Transactions::kOptimistic:
      RETURN_IF_ERROR(OptimisticTransactionDB::Open(options_.db, path_, Descriptors(), &handles_,
                                                    &optimistic_));
      db_.reset(optimistic_);
  }
  return Status::OK();
}

// Their changes are pending in the expected state, so both decisions are right.
Status StressedDb::DecidePrepared() {
  std::vector<Transaction*> prepared;
  locking_->GetAllPreparedTransactions(&prepared);
  bool commits = true;
  for (Transaction* found : prepared) {
    const std::unique_ptr<Transaction> transaction(found);
    RETURN_IF_ERROR(commits ? transaction->Commit() : transaction->Rollback());
    commits = !commits;
  }
  return Status::OK();
}

std::unique_ptr<Transaction> StressedDb::BeginTransaction(const WriteOptions& options) {
  Transaction* begun = nullptr;
  if (locking_ != nullptr) begun = locking_->BeginTransaction(options);
  if (optimistic_ != nullptr) begun = optimistic_->BeginTransaction(options);
  return std::unique_ptr<Transaction>(begun);
}

// Checkpoints and external files that a killed run has left beside the database.
Status StressedDb::RemoveTemporaryFiles() const {
  const std::filesystem::path whole(path_);
  const std::string start = whole.filename().string() + kTemporary;
  std::error_code error;
  const std::filesystem::path parent = whole.has_parent_path() ? whole.parent_path() : ".";
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
    if (entry.path().filename().string().starts_with(start)) found.push_back(entry.path());
  }
  for (const std::filesystem::path& file : found) {
    if (!error) std::filesystem::remove_all(file, error);
  }
  return error ? Status::IOError(StrCat(parent.string(), ": ", error.message())) : Status::OK();
}

// Other families are never dropped, so they need no lock.
FamilyUse StressedDb::Use(int family) {
  std::shared_lock<std::shared_mutex> lock;
  if (family == volatile_family()) lock = std::shared_lock<std::shared_mutex>(volatile_mutex_);
  return FamilyUse(std::move(lock), handles_[static_cast<size_t>(family)]);
}

// A kill between the two steps leaves the database without the family; the next opening creates it.
Status StressedDb::DropAndCreate() {
  ColumnFamilyHandle*& handle = handles_.back();
  RETURN_IF_ERROR(db_->DropColumnFamily(handle));
  RETURN_IF_ERROR(db_->DestroyColumnFamilyHandle(handle));
  handle = nullptr;
  return db_->CreateColumnFamily(options_.families.back(), NameOfFamily(volatile_family()),
                                 &handle);
}

Status StressedDb::Close() {
  for (ColumnFamilyHandle* handle : handles_) {
    RETURN_IF_ERROR(db_->DestroyColumnFamilyHandle(handle));
  }
  handles_.clear();
  const Status closed = db_->Close();
  db_.reset();
  return closed;
}

}  // namespace ashlar::stress
