// SPDX-License-Identifier: Apache-2.0
//
// The C API: transactions.
//
// A transaction handle owns its transaction and refers to the database, which must be closed after
// it. The functions with _cf take a family; a null family stands for the default one. Memory that a
// function returns as char* was allocated with malloc(), and the program frees it. Threads: one at
// a time for each handle.
#include "ashlar/c/transaction.h"

#include <cassert>

#include "capi/multi_read.h"
#include "capi/option_handles.h"
#include "capi/transaction_handles.h"

using ashlar::ColumnFamilyHandle;
using ashlar::PinnableSlice;
using ashlar::Status;
using ashlar::Transaction;
using ashlar::capi::Copy;
using ashlar::capi::CopyOfRead;
using ashlar::capi::Failed;
using ashlar::capi::FamilyOf;
using ashlar::capi::MultiRead;
using ashlar::capi::OptionsIn;
using ashlar::capi::PinnedRead;
using ashlar::capi::Text;

// With `old_txn` the same object begins anew, which saves its allocations. The result is then
// `old_txn` itself.
ashlar_transaction_t* ashlar_transaction_begin(ashlar_transactiondb_t* txn_db,
                                               const ashlar_writeoptions_t* write_options,
                                               const ashlar_transaction_options_t* txn_options,
                                               ashlar_transaction_t* old_txn) {
  assert(txn_db != nullptr);
  Transaction* old = old_txn == nullptr ? nullptr : old_txn->rep;
  Transaction* rep =
      txn_db->rep->BeginTransaction(OptionsIn(write_options), OptionsIn(txn_options), old);
  if (old_txn == nullptr) return new ashlar_transaction_t{rep, txn_db->rep};
  old_txn->rep = rep;
  return old_txn;
}

ashlar_transaction_t* ashlar_optimistictransaction_begin(
    ashlar_optimistictransactiondb_t* otxn_db, const ashlar_writeoptions_t* write_options,
    const ashlar_optimistictransaction_options_t* otxn_options, ashlar_transaction_t* old_txn) {
  assert(otxn_db != nullptr);
  Transaction* old = old_txn == nullptr ? nullptr : old_txn->rep;
  Transaction* rep =
      otxn_db->rep->BeginTransaction(OptionsIn(write_options), OptionsIn(otxn_options), old);
  if (old_txn == nullptr) return new ashlar_transaction_t{rep, otxn_db->rep};
  old_txn->rep = rep;
  return old_txn;
}

// A transaction that is neither committed nor prepared is rolled back.
void ashlar_transaction_destroy(ashlar_transaction_t* txn) {
  if (txn == nullptr) return;
  delete txn->rep;
  delete txn;
}

void ashlar_transaction_set_name(ashlar_transaction_t* txn, const char* name, size_t name_len,
                                 char** errptr) {
  assert(txn != nullptr);
  Failed(errptr, txn->rep->SetName(Text(name, name_len).ToString()));
}

char* ashlar_transaction_get_name(ashlar_transaction_t* txn, size_t* name_len) {
  return Copy(txn->rep->GetName(), name_len);
}

void ashlar_transaction_prepare(ashlar_transaction_t* txn, char** errptr) {
  Failed(errptr, txn->rep->Prepare());
}

void ashlar_transaction_commit(ashlar_transaction_t* txn, char** errptr) {
  assert(txn != nullptr);
  Failed(errptr, txn->rep->Commit());
}

void ashlar_transaction_rollback(ashlar_transaction_t* txn, char** errptr) {
  Failed(errptr, txn->rep->Rollback());
}

void ashlar_transaction_set_savepoint(ashlar_transaction_t* txn) { txn->rep->SetSavePoint(); }

void ashlar_transaction_rollback_to_savepoint(ashlar_transaction_t* txn, char** errptr) {
  Failed(errptr, txn->rep->RollbackToSavePoint());
}

// The batch belongs to the transaction. The program frees only the handle, with ashlar_free().
ashlar_writebatch_wi_t* ashlar_transaction_get_writebatch_wi(ashlar_transaction_t* txn) {
  assert(txn != nullptr);
  return ashlar::capi::Borrowed<ashlar_writebatch_wi_t>(txn->rep->GetWriteBatch());
}

void ashlar_transaction_rebuild_from_writebatch(ashlar_transaction_t* txn,
                                                ashlar_writebatch_t* writebatch, char** errptr) {
  assert(txn != nullptr);
  assert(writebatch != nullptr);
  Failed(errptr, txn->rep->RebuildFromWriteBatch(&writebatch->rep));
}

void ashlar_transaction_rebuild_from_writebatch_wi(ashlar_transaction_t* txn,
                                                   ashlar_writebatch_wi_t* wi, char** errptr) {
  assert(txn != nullptr);
  assert(wi != nullptr);
  Failed(errptr, txn->rep->RebuildFromWriteBatch(wi->rep->GetWriteBatch()));
}

// Here, too, the transaction owns the snapshot, and the program owns only the handle.
const ashlar_snapshot_t* ashlar_transaction_get_snapshot(ashlar_transaction_t* txn) {
  assert(txn != nullptr);
  return ashlar::capi::Borrowed<ashlar_snapshot_t>(txn->rep->GetSnapshot());
}

// These two functions cannot report an error, as in RocksDB.
void ashlar_transaction_set_commit_timestamp(ashlar_transaction_t* txn, uint64_t commit_timestamp) {
  txn->rep->SetCommitTimestamp(commit_timestamp).PermitUncheckedError();
}

void ashlar_transaction_set_read_timestamp_for_validation(ashlar_transaction_t* txn,
                                                          uint64_t read_timestamp) {
  txn->rep->SetReadTimestampForValidation(read_timestamp).PermitUncheckedError();
}

// Updates go to the batch of the transaction, after the key has been locked.
void ashlar_transaction_put(ashlar_transaction_t* txn, const char* key, size_t klen,
                            const char* val, size_t vlen, char** errptr) {
  Failed(errptr, txn->rep->Put(Text(key, klen), Text(val, vlen)));
}

void ashlar_transaction_put_cf(ashlar_transaction_t* txn,
                               ashlar_column_family_handle_t* column_family, const char* key,
                               size_t klen, const char* val, size_t vlen, char** errptr) {
  Failed(errptr, txn->rep->Put(FamilyOf(txn->db, column_family), Text(key, klen), Text(val, vlen)));
}

void ashlar_transaction_merge(ashlar_transaction_t* txn, const char* key, size_t klen,
                              const char* val, size_t vlen, char** errptr) {
  Failed(errptr, txn->rep->Merge(Text(key, klen), Text(val, vlen)));
}

void ashlar_transaction_merge_cf(ashlar_transaction_t* txn,
                                 ashlar_column_family_handle_t* column_family, const char* key,
                                 size_t klen, const char* val, size_t vlen, char** errptr) {
  Failed(errptr,
         txn->rep->Merge(FamilyOf(txn->db, column_family), Text(key, klen), Text(val, vlen)));
}

void ashlar_transaction_delete(ashlar_transaction_t* txn, const char* key, size_t klen,
                               char** errptr) {
  Failed(errptr, txn->rep->Delete(Text(key, klen)));
}

void ashlar_transaction_delete_cf(ashlar_transaction_t* txn,
                                  ashlar_column_family_handle_t* column_family, const char* key,
                                  size_t klen, char** errptr) {
  Failed(errptr, txn->rep->Delete(FamilyOf(txn->db, column_family), Text(key, klen)));
}

void ashlar_transaction_put_log_data(ashlar_transaction_t* txn, const char* blob, size_t len) {
  txn->rep->PutLogData(Text(blob, len));
}

// Reads see the updates of the transaction above the data of the database. Null without an error
// means that the key does not exist.
char* ashlar_transaction_get(ashlar_transaction_t* txn, const ashlar_readoptions_t* options,
                             const char* key, size_t klen, size_t* vlen, char** errptr) {
  return ashlar_transaction_get_cf(txn, options, nullptr, key, klen, vlen, errptr);
}

char* ashlar_transaction_get_cf(ashlar_transaction_t* txn, const ashlar_readoptions_t* options,
                                ashlar_column_family_handle_t* column_family, const char* key,
                                size_t klen, size_t* vlen, char** errptr) {
  assert(txn != nullptr);
  PinnableSlice value;
  const Status s =
      txn->rep->Get(OptionsIn(options), FamilyOf(txn->db, column_family), Text(key, klen), &value);
  return CopyOfRead(s, value, vlen, errptr);
}

// Also locks the key: against all others if `exclusive`, otherwise only against writers.
char* ashlar_transaction_get_for_update(ashlar_transaction_t* txn,
                                        const ashlar_readoptions_t* options, const char* key,
                                        size_t klen, size_t* vlen, unsigned char exclusive,
                                        char** errptr) {
  return ashlar_transaction_get_for_update_cf(txn, options, nullptr, key, klen, vlen, exclusive,
                                              errptr);
}

char* ashlar_transaction_get_for_update_cf(ashlar_transaction_t* txn,
                                           const ashlar_readoptions_t* options,
                                           ashlar_column_family_handle_t* column_family,
                                           const char* key, size_t klen, size_t* vlen,
                                           unsigned char exclusive, char** errptr) {
  assert(txn != nullptr);
  PinnableSlice value;
  const Status s = txn->rep->GetForUpdate(OptionsIn(options), FamilyOf(txn->db, column_family),
                                          Text(key, klen), &value, exclusive != 0);
  return CopyOfRead(s, value, vlen, errptr);
}

// The value stays where it is, in a block of the cache for example, until the program destroys the
// slice.
ashlar_pinnableslice_t* ashlar_transaction_get_pinned(ashlar_transaction_t* txn,
                                                      const ashlar_readoptions_t* options,
                                                      const char* key, size_t klen, char** errptr) {
  return ashlar_transaction_get_pinned_cf(txn, options, nullptr, key, klen, errptr);
}

ashlar_pinnableslice_t* ashlar_transaction_get_pinned_cf(
    ashlar_transaction_t* txn, const ashlar_readoptions_t* options,
    ashlar_column_family_handle_t* column_family, const char* key, size_t klen, char** errptr) {
  auto value = std::make_unique<ashlar_pinnableslice_t>();
  const Status s = txn->rep->Get(OptionsIn(options), FamilyOf(txn->db, column_family),
                                 Text(key, klen), &value->rep);
  return PinnedRead(s, std::move(value), errptr);
}

ashlar_pinnableslice_t* ashlar_transaction_get_pinned_for_update(
    ashlar_transaction_t* txn, const ashlar_readoptions_t* options, const char* key, size_t klen,
    unsigned char exclusive, char** errptr) {
  return ashlar_transaction_get_pinned_for_update_cf(txn, options, nullptr, key, klen, exclusive,
                                                     errptr);
}

ashlar_pinnableslice_t* ashlar_transaction_get_pinned_for_update_cf(
    ashlar_transaction_t* txn, const ashlar_readoptions_t* options,
    ashlar_column_family_handle_t* column_family, const char* key, size_t klen,
    unsigned char exclusive, char** errptr) {
  auto value = std::make_unique<ashlar_pinnableslice_t>();
  const Status s = txn->rep->GetForUpdate(OptionsIn(options), FamilyOf(txn->db, column_family),
                                          Text(key, klen), &value->rep, exclusive != 0);
  return PinnedRead(s, std::move(value), errptr);
}

// The results are arrays of the program: values, their lengths and errors, one for each key.
void ashlar_transaction_multi_get(ashlar_transaction_t* txn, const ashlar_readoptions_t* options,
                                  size_t num_keys, const char* const* keys_list,
                                  const size_t* keys_list_sizes, char** values_list,
                                  size_t* values_list_sizes, char** errs) {
  ashlar_transaction_multi_get_cf(txn, options, nullptr, num_keys, keys_list, keys_list_sizes,
                                  values_list, values_list_sizes, errs);
}

void ashlar_transaction_multi_get_cf(ashlar_transaction_t* txn, const ashlar_readoptions_t* options,
                                     const ashlar_column_family_handle_t* const* column_families,
                                     size_t num_keys, const char* const* keys_list,
                                     const size_t* keys_list_sizes, char** values_list,
                                     size_t* values_list_sizes, char** errs) {
  assert(txn != nullptr);
  MultiRead read(txn->db, column_families, num_keys, keys_list, keys_list_sizes);
  std::vector<std::string> values;
  read.statuses = txn->rep->MultiGet(OptionsIn(options), read.families, read.keys, &values);
  read.TakeValues(values);
  read.CopyResults(values_list, values_list_sizes, errs);
}

void ashlar_transaction_multi_get_for_update(ashlar_transaction_t* txn,
                                             const ashlar_readoptions_t* options, size_t num_keys,
                                             const char* const* keys_list,
                                             const size_t* keys_list_sizes, char** values_list,
                                             size_t* values_list_sizes, char** errs) {
  ashlar_transaction_multi_get_for_update_cf(txn, options, nullptr, num_keys, keys_list,
                                             keys_list_sizes, values_list, values_list_sizes, errs);
}

void ashlar_transaction_multi_get_for_update_cf(
    ashlar_transaction_t* txn, const ashlar_readoptions_t* options,
    const ashlar_column_family_handle_t* const* column_families, size_t num_keys,
    const char* const* keys_list, const size_t* keys_list_sizes, char** values_list,
    size_t* values_list_sizes, char** errs) {
  assert(txn != nullptr);
  MultiRead read(txn->db, column_families, num_keys, keys_list, keys_list_sizes);
  std::vector<std::string> values;
  read.statuses =
      txn->rep->MultiGetForUpdate(OptionsIn(options), read.families, read.keys, &values);
  read.TakeValues(values);
  read.CopyResults(values_list, values_list_sizes, errs);
}

// The iterator must be destroyed before the transaction.
ashlar_iterator_t* ashlar_transaction_create_iterator(ashlar_transaction_t* txn,
                                                      const ashlar_readoptions_t* options) {
  return new ashlar_iterator_t{txn->rep->GetIterator(OptionsIn(options))};
}

ashlar_iterator_t* ashlar_transaction_create_iterator_cf(
    ashlar_transaction_t* txn, const ashlar_readoptions_t* options,
    ashlar_column_family_handle_t* column_family) {
  assert(txn != nullptr);
  return new ashlar_iterator_t{
      txn->rep->GetIterator(OptionsIn(options), FamilyOf(txn->db, column_family))};
}
