// SPDX-License-Identifier: Apache-2.0
//
// What tests of transactions share: a database in memory of one of the two kinds, and short names.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/env.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options.h"
#include "ashlar/utilities/optimistic_transaction_db.h"
#include "ashlar/utilities/transaction_db.h"
#include "tests/support/status_matchers.h"

namespace ashlar {

inline Options TransactionTestOptions(Env* env) {
  Options options;
  options.env = env;
  options.create_if_missing = true;
  const Status status =
      MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options.merge_operator);
  EXPECT_OK(status);
  return options;
}

// The policies of pessimistic transactions for which a test runs.
inline auto WritePolicies() {
  return testing::Values(WRITE_COMMITTED, WRITE_PREPARED, WRITE_UNPREPARED);
}
inline std::string PolicyName(const testing::TestParamInfo<TxnDBWritePolicy>& info) {
  switch (info.param) {
    case WRITE_COMMITTED: return "Committed";
    case WRITE_PREPARED: return "Prepared";
    default: return "Unprepared";
  }
}

// The value of a key, or the status as text.
inline std::string ValueOf(DB* db, const std::string& key, const Snapshot* snapshot = nullptr) {
  ReadOptions options;
  options.snapshot = snapshot;
  std::string value;
  const Status status = db->Get(options, key, &value);
  return status.ok() ? value : status.ToString();
}
inline std::string ValueOf(Transaction* transaction, const std::string& key) {
  std::string value;
  const Status status = transaction->Get(ReadOptions(), key, &value);
  return status.ok() ? value : status.ToString();
}

class OptimisticFixture : public testing::Test {
 protected:
  explicit OptimisticFixture(OccValidationPolicy policy = OccValidationPolicy::kValidateParallel)
      : env_(NewMemEnv(Env::Default())), options_(TransactionTestOptions(env_.get())) {
    occ_options_.validate_policy = policy;
  }
  ~OptimisticFixture() override { Close(); }

  void Open() {
    OptimisticTransactionDB* opened = nullptr;
    ASSERT_OK(OptimisticTransactionDB::Open(DBOptions(options_), occ_options_, "/db",
                                            {{kDefaultColumnFamilyName, options_}}, &handles_,
                                            &opened));
    db_.reset(opened);
  }
  void Close() {
    for (ColumnFamilyHandle* handle : handles_) delete handle;
    handles_.clear();
    db_.reset();
  }
  std::unique_ptr<Transaction> Begin(bool set_snapshot = false) {
    OptimisticTransactionOptions options;
    options.set_snapshot = set_snapshot;
    return std::unique_ptr<Transaction>(db_->BeginTransaction(WriteOptions(), options));
  }
  Status Put(const std::string& key, const std::string& value) {
    return db_->Put(WriteOptions(), key, value);
  }

  std::unique_ptr<Env> env_;
  Options options_;
  OptimisticTransactionDBOptions occ_options_;
  std::vector<ColumnFamilyHandle*> handles_;
  std::unique_ptr<OptimisticTransactionDB> db_;
};

class PessimisticFixture : public testing::Test {
 protected:
  PessimisticFixture()
      : env_(NewMemEnv(Env::Default())), options_(TransactionTestOptions(env_.get())) {
    db_options_.transaction_lock_timeout = 0;  // nobody waits unless a test says so
    db_options_.default_lock_timeout = 0;
  }
  ~PessimisticFixture() override {
    ExpectNoLockIsLeft();
    db_.reset();
  }
  // All transactions are gone, or prepared and shells of the database.
  void ExpectNoLockIsLeft() {
    if (db_ == nullptr) return;
    std::vector<Transaction*> prepared;
    db_->GetAllPreparedTransactions(&prepared);
    if (!prepared.empty()) return;
    EXPECT_EQ(LockCount(), 0u) << "a lock without an owner";
  }

  void Open() {
    TransactionDB* opened = nullptr;
    ASSERT_OK(TransactionDB::Open(options_, db_options_, "/db", &opened));
    db_.reset(opened);
  }
  std::unique_ptr<Transaction> Begin(const TransactionOptions& options = {}) {
    return std::unique_ptr<Transaction>(db_->BeginTransaction(WriteOptions(), options));
  }
  std::unique_ptr<Transaction> BeginNamed(const std::string& name,
                                          const TransactionOptions& options = {}) {
    auto transaction = Begin(options);
    EXPECT_OK(transaction->SetName(name));
    return transaction;
  }
  void Reopen() {
    db_.reset();
    Open();
  }
  std::unique_ptr<Transaction> BeginWithSnapshot() {
    TransactionOptions options;
    options.set_snapshot = true;
    return Begin(options);
  }
  Status Put(const std::string& key, const std::string& value) {
    return db_->Put(WriteOptions(), key, value);
  }
  // Keys that are locked by anybody.
  size_t LockCount() { return db_->GetLockStatusData().size(); }

  std::unique_ptr<Env> env_;
  Options options_;
  TransactionDBOptions db_options_;
  std::unique_ptr<TransactionDB> db_;
};

}  // namespace ashlar
