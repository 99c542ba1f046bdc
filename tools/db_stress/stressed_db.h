// SPDX-License-Identifier: Apache-2.0
//
// StressedDb: the open database and its families. The last family, the volatile one, is dropped and
// created again while other threads work; a FamilyUse prevents that while a thread uses the family.
//
// Threads: any number, between Open() and Close().
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/utilities/optimistic_transaction_db.h"
#include "ashlar/utilities/transaction_db.h"
#include "tools/db_stress/option_draw.h"
#include "tools/db_stress/settings.h"
#include "util/result.h"

namespace ashlar::stress {

// A family's handle, which is valid as long as this object exists.
class FamilyUse {
 public:
  ColumnFamilyHandle* get() const { return handle_; }

 private:
  friend class StressedDb;
  FamilyUse(std::shared_lock<std::shared_mutex> lock, ColumnFamilyHandle* handle)
      : lock_(std::move(lock)), handle_(handle) {}

  std::shared_lock<std::shared_mutex> lock_;  // held for the volatile family only
  ColumnFamilyHandle* handle_;
};

class StressedDb {
 public:
  // Opens or creates the database and its families. Removes temporary files that a killed run has
  // left, and decides transactions that it has prepared: every second one is committed.
  static Result<std::unique_ptr<StressedDb>> Open(const std::string& path, DrawnOptions options,
                                                  Transactions transactions,
                                                  TxnDBWritePolicy policy);

  DB* operator->() const { return db_.get(); }
  DB* get() const { return db_.get(); }
  const std::string& path() const { return path_; }
  const DrawnOptions& options() const { return options_; }
  int families() const { return static_cast<int>(options_.families.size()); }
  int volatile_family() const { return families() - 1; }
  FamilyUse Use(int family);
  // Calls `before`, drops and creates the volatile family, and calls `after`. No thread uses the
  // family meanwhile.
  template <typename Before, typename After>
  Status Recreate(Before before, After after) {
    const std::unique_lock<std::shared_mutex> lock(volatile_mutex_);
    before();
    RETURN_IF_ERROR(DropAndCreate());
    after();
    return Status::OK();
  }
  Transactions transactions() const { return transactions_; }
  TxnDBWritePolicy write_policy() const { return policy_; }
  // Null: batches are written without transactions.
  std::unique_ptr<Transaction> BeginTransaction(const WriteOptions& options);
  // The path of a temporary file or directory next to the database; the next Open() removes it.
  std::string TemporaryPath(const std::string& name) const { return path_ + kTemporary + name; }
  // Descriptors of all families, for a copy of the database.
  std::vector<ColumnFamilyDescriptor> Descriptors() const;
  Status Close();

 private:
  static constexpr char kTemporary[] = ".temporary.";

  StressedDb(std::string path, DrawnOptions options, Transactions transactions,
             TxnDBWritePolicy policy)
      : path_(std::move(path)),
        transactions_(transactions),
        policy_(policy),
        options_(std::move(options)) {}
  Status RemoveTemporaryFiles() const;
  Status OpenDatabase();
  Status DecidePrepared();
  Status DropAndCreate();

  const std::string path_;
  const Transactions transactions_;
  const TxnDBWritePolicy policy_;
  const DrawnOptions options_;
  // Owns the database of whatever kind.
  std::unique_ptr<DB> db_;
  TransactionDB* locking_ = nullptr;  // it is db_, if that is one
  OptimisticTransactionDB* optimistic_ = nullptr;
  std::vector<ColumnFamilyHandle*> handles_;  // volatile_mutex_ guards the last one
  std::shared_mutex volatile_mutex_;
};

}  // namespace ashlar::stress
