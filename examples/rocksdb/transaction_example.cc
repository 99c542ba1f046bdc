// SPDX-License-Identifier: Apache-2.0
//
// Transactions with locks: a write to a locked key waits and times out; save points; snapshots.
//
//   transaction_example FOLDER
#include <memory>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"

#include "examples/rocksdb/example.h"

using rocksdb::ReadOptions;
using rocksdb::Status;
using rocksdb::Transaction;
using rocksdb::TransactionDB;
using rocksdb::TransactionOptions;
using rocksdb::WriteOptions;

namespace {

void Locks(TransactionDB* db) {
  std::unique_ptr<Transaction> txn(db->BeginTransaction(WriteOptions()));
  std::string value;
  Require(txn->Get(ReadOptions(), "lintel", &value).IsNotFound(), "nothing yet");
  Require(txn->Put("lintel", "oak"), "put in the transaction");
  Require(db->Get(ReadOptions(), "lintel", &value).IsNotFound(), "not committed");
  Require(db->Put(WriteOptions(), "sill", "slate"), "another key is free");
  const Status blocked = db->Put(WriteOptions(), "lintel", "pine");
  Require(blocked.IsTimedOut() && blocked.subcode() == Status::kLockTimeout, "the key is locked");
  Require(txn->Commit(), "commit");
  Require(db->Get(ReadOptions(), "lintel", &value), "get");
  Require(value == "oak", "the transaction's value");
}

void SnapshotConflict(TransactionDB* db) {
  TransactionOptions txn_options;
  txn_options.set_snapshot = true;
  std::unique_ptr<Transaction> txn(db->BeginTransaction(WriteOptions(), txn_options));
  ReadOptions at_snapshot;
  at_snapshot.snapshot = txn->GetSnapshot();
  Require(db->Put(WriteOptions(), "sill", "sandstone"), "put outside");
  std::string value;
  Require(txn->GetForUpdate(at_snapshot, "sill", &value).IsBusy(), "written since the snapshot");
  Require(txn->Rollback(), "roll back");
}

void SavePoints(TransactionDB* db) {
  TransactionOptions txn_options;
  txn_options.set_snapshot = true;
  std::unique_ptr<Transaction> txn(db->BeginTransaction(WriteOptions(), txn_options));
  ReadOptions read;
  read.snapshot = txn->GetSnapshot();
  std::string value;
  Require(txn->Get(read, "lintel", &value), "get");
  Require(txn->Put("lintel", "steel"), "put");
  Require(db->Put(WriteOptions(), "quoin", "brick"), "put outside");
  txn->SetSnapshot();
  txn->SetSavePoint();
  read.snapshot = txn->GetSnapshot();
  Require(txn->GetForUpdate(read, "quoin", &value), "get for update");
  Require(txn->Put("quoin", "granite"), "put");
  Require(txn->RollbackToSavePoint(), "roll back to the savepoint");
  Require(txn->Commit(), "commit");
  Require(db->Get(ReadOptions(), "lintel", &value), "get");
  Require(value == "steel", "written before the savepoint");
  Require(db->Get(ReadOptions(), "quoin", &value), "get");
  Require(value == "brick", "written after it");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = FolderFromArguments(argc, argv);
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::TransactionDBOptions txn_db_options;
  txn_db_options.default_lock_timeout = 10;  // milliseconds; the lock is never released here
  TransactionDB* db = nullptr;
  Require(TransactionDB::Open(options, txn_db_options, folder, &db), "open for transactions");
  Locks(db);
  SnapshotConflict(db);
  SavePoints(db);
  delete db;
  std::printf("transaction_example: ok\n");
  return 0;
}
