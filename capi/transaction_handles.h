// SPDX-License-Identifier: Apache-2.0
//
// Handles of transactions and of their databases.
#pragma once

#include "ashlar/utilities/optimistic_transaction_db.h"
#include "ashlar/utilities/transaction_db.h"
#include "capi/handles.h"

// Both own their database. Base databases that a program asks for share the list of family handles.
struct ashlar_transactiondb_t {
  ashlar::TransactionDB* rep;
  std::shared_ptr<ashlar::capi::FamilyHandles> families;
};
struct ashlar_optimistictransactiondb_t {
  ashlar::OptimisticTransactionDB* rep;
  std::shared_ptr<ashlar::capi::FamilyHandles> families;
};
// Owned. `db` is the database of the transaction, for its default family.
struct ashlar_transaction_t {
  ashlar::Transaction* rep;
  ashlar::DB* db;
};
