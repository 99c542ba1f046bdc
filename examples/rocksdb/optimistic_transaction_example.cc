// SPDX-License-Identifier: Apache-2.0
//
// Optimistic transactions take no locks: a commit fails if another writer has changed the same
// keys.
//
//   optimistic_transaction_example FOLDER
#include <memory>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/snapshot.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction.h"

#include "examples/rocksdb/example.h"

using rocksdb::DB;
using rocksdb::OptimisticTransactionDB;
using rocksdb::OptimisticTransactionOptions;
using rocksdb::ReadOptions;
using rocksdb::Snapshot;
using rocksdb::Transaction;
using rocksdb::WriteOptions;

namespace {

// A transaction sees its own writes; others see them after the commit.
void OwnWrites(OptimisticTransactionDB* txn_db, DB* db) {
  std::unique_ptr<Transaction> txn(txn_db->BeginTransaction(WriteOptions()));
  std::string value;
  Require(txn->Get(ReadOptions(), "arch", &value).IsNotFound(), "nothing yet");
  Require(txn->Put("arch", "keystone"), "put in the transaction");
  Require(txn->Get(ReadOptions(), "arch", &value), "own write");
  Require(db->Get(ReadOptions(), "arch", &value).IsNotFound(), "not committed");
  // A write to another key outside of the transaction is not a conflict.
  Require(db->Put(WriteOptions(), "wall", "header"), "put outside");
  Require(txn->Commit(), "commit");
  Require(db->Get(ReadOptions(), "arch", &value), "committed");
}

// If a key was read for update and then written by another writer, the commit fails.
void Conflict(OptimisticTransactionDB* txn_db, DB* db) {
  OptimisticTransactionOptions txn_options;
  txn_options.set_snapshot = true;
  std::unique_ptr<Transaction> txn(txn_db->BeginTransaction(WriteOptions(), txn_options));
  const Snapshot* snapshot = txn->GetSnapshot();
  Require(db->Put(WriteOptions(), "wall", "stretcher"), "put outside");

  ReadOptions at_snapshot;
  at_snapshot.snapshot = snapshot;
  std::string value;
  Require(txn->GetForUpdate(at_snapshot, "wall", &value), "get for update");
  Require(value == "header", "as of the snapshot");
  Require(txn->Commit().IsBusy(), "the commit sees the conflict");
  txn.reset();
}

// A transaction may take a new snapshot between its steps; each step is checked against its own
// snapshot.
void SeveralSnapshots(OptimisticTransactionDB* txn_db, DB* db) {
  OptimisticTransactionOptions txn_options;
  txn_options.set_snapshot = true;
  std::unique_ptr<Transaction> txn(txn_db->BeginTransaction(WriteOptions(), txn_options));
  ReadOptions read;
  read.snapshot = txn->GetSnapshot();
  std::string value;
  Require(txn->Get(read, "arch", &value), "get");
  Require(txn->Put("arch", "voussoir"), "put");

  Require(db->Put(WriteOptions(), "buttress", "outside"), "put outside");
  txn->SetSnapshot();
  read.snapshot = txn->GetSnapshot();
  Require(txn->GetForUpdate(read, "buttress", &value), "get for update");
  Require(txn->Put("buttress", "inside"), "put");
  Require(txn->Commit(), "commit");
  Require(db->Get(ReadOptions(), "buttress", &value), "get");
  Require(value == "inside", "the transaction came last");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = FolderFromArguments(argc, argv);
  rocksdb::Options options;
  options.create_if_missing = true;
  OptimisticTransactionDB* txn_db = nullptr;
  Require(OptimisticTransactionDB::Open(options, folder, &txn_db), "open for transactions");
  DB* db = txn_db->GetBaseDB();
  OwnWrites(txn_db, db);
  Conflict(txn_db, db);
  SeveralSnapshots(txn_db, db);
  delete txn_db;
  std::printf("optimistic_transaction_example: ok\n");
  return 0;
}
