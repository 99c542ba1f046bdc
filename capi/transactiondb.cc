// SPDX-License-Identifier: Apache-2.0
//
// The C API: databases with transactions.
//
// A handle owns its database and the families that were opened with it. The functions that take no
// transaction behave as if each call were a transaction of its own: they lock the keys that they
// write.
#include "ashlar/c/transactiondb.h"

#include <cassert>

#include "capi/metadata_handles.h"
#include "capi/multi_read.h"
#include "capi/opening.h"
#include "capi/option_handles.h"
#include "capi/transaction_handles.h"

using ashlar::ColumnFamilyHandle;
using ashlar::DBOptions;
using ashlar::Status;
using ashlar::Transaction;
using ashlar::TransactionDB;
using ashlar::capi::Copy;
using ashlar::capi::CopyOfRead;
using ashlar::capi::Descriptors;
using ashlar::capi::Failed;
using ashlar::capi::FamilyOf;
using ashlar::capi::MultiRead;
using ashlar::capi::OptionsIn;
using ashlar::capi::PinnedRead;
using ashlar::capi::Text;
using ashlar::capi::Wrap;

ashlar_transactiondb_t* ashlar_transactiondb_open(
    const ashlar_options_t* options, const ashlar_transactiondb_options_t* txn_db_options,
    const char* name, char** errptr) {
  assert(name != nullptr);
  TransactionDB* db = nullptr;
  if (Failed(errptr, TransactionDB::Open(OptionsIn(options), OptionsIn(txn_db_options), name, &db)))
    return nullptr;
  return Wrap<ashlar_transactiondb_t>(db);
}

ashlar_transactiondb_t* ashlar_transactiondb_open_column_families(
    const ashlar_options_t* options, const ashlar_transactiondb_options_t* txn_db_options,
    const char* name, int num_column_families, const char* const* column_family_names,
    const ashlar_options_t* const* column_family_options,
    ashlar_column_family_handle_t** column_family_handles, char** errptr) {
  assert(name != nullptr);
  TransactionDB* db = nullptr;
  std::vector<ColumnFamilyHandle*> families;
  if (Failed(errptr,
             TransactionDB::Open(
                 DBOptions(OptionsIn(options)), OptionsIn(txn_db_options), name,
                 Descriptors(num_column_families, column_family_names, column_family_options),
                 &families, &db)))
    return nullptr;
  return Wrap<ashlar_transactiondb_t>(db, families, column_family_handles);
}

void ashlar_transactiondb_close(ashlar_transactiondb_t* txn_db) { ashlar::capi::Close(txn_db); }

// A second handle of the same database. It owns nothing, and is freed with
// ashlar_transactiondb_close_base_db().
ashlar_t* ashlar_transactiondb_get_base_db(ashlar_transactiondb_t* txn_db) {
  assert(txn_db != nullptr);
  return new ashlar_t{txn_db->rep->GetBaseDB(), txn_db->families};
}

void ashlar_transactiondb_close_base_db(ashlar_t* base_db) { delete base_db; }

ashlar_column_family_handle_t* ashlar_transactiondb_create_column_family(
    ashlar_transactiondb_t* txn_db, const ashlar_options_t* column_family_options,
    const char* column_family_name, char** errptr) {
  assert(txn_db != nullptr);
  assert(column_family_name != nullptr);
  ColumnFamilyHandle* family = nullptr;
  if (Failed(errptr, txn_db->rep->CreateColumnFamily(OptionsIn(column_family_options),
                                                     column_family_name, &family)))
    return nullptr;
  return txn_db->families->Add(family);
}

ashlar_checkpoint_t* ashlar_transactiondb_checkpoint_object_create(ashlar_transactiondb_t* txn_db,
                                                                   char** errptr) {
  assert(txn_db != nullptr);
  return ashlar::capi::NewCheckpoint(txn_db->rep, errptr);
}

// The program owns the array, which it frees with ashlar_free(), and each transaction in it.
ashlar_transaction_t** ashlar_transactiondb_get_prepared_transactions(
    ashlar_transactiondb_t* txn_db, size_t* cnt) {
  assert(txn_db != nullptr);
  assert(cnt != nullptr);
  std::vector<Transaction*> prepared;
  txn_db->rep->GetAllPreparedTransactions(&prepared);
  *cnt = prepared.size();
  if (prepared.empty()) return nullptr;
  auto** list = static_cast<ashlar_transaction_t**>(
      std::malloc(sizeof(ashlar_transaction_t*) * prepared.size()));
  for (size_t i = 0; i < prepared.size(); ++i)
    list[i] = new ashlar_transaction_t{prepared[i], txn_db->rep};
  return list;
}

const ashlar_snapshot_t* ashlar_transactiondb_create_snapshot(ashlar_transactiondb_t* txn_db) {
  return ashlar::capi::Borrowed<ashlar_snapshot_t>(txn_db->rep->GetSnapshot());
}

// Releases the snapshot and frees the handle.
void ashlar_transactiondb_release_snapshot(ashlar_transactiondb_t* txn_db,
                                           const ashlar_snapshot_t* snapshot) {
  if (snapshot == nullptr) return;
  txn_db->rep->ReleaseSnapshot(snapshot->rep);
  std::free(const_cast<ashlar_snapshot_t*>(snapshot));
}

// Null if there is no such property.
char* ashlar_transactiondb_property_value(ashlar_transactiondb_t* db, const char* propname) {
  assert(db != nullptr);
  assert(propname != nullptr);
  std::string value;
  if (!db->rep->GetProperty(propname, &value)) return nullptr;
  return Copy(value);
}

// 0 if the property exists, else -1.
int ashlar_transactiondb_property_int(ashlar_transactiondb_t* db, const char* propname,
                                      uint64_t* out_val) {
  assert(db != nullptr);
  assert(propname != nullptr);
  return db->rep->GetIntProperty(propname, out_val) ? 0 : -1;
}

void ashlar_transactiondb_put(ashlar_transactiondb_t* txn_db, const ashlar_writeoptions_t* options,
                              const char* key, size_t klen, const char* val, size_t vlen,
                              char** errptr) {
  Failed(errptr, txn_db->rep->Put(OptionsIn(options), Text(key, klen), Text(val, vlen)));
}

void ashlar_transactiondb_put_cf(ashlar_transactiondb_t* txn_db,
                                 const ashlar_writeoptions_t* options,
                                 ashlar_column_family_handle_t* column_family, const char* key,
                                 size_t keylen, const char* val, size_t vallen, char** errptr) {
  Failed(errptr, txn_db->rep->Put(OptionsIn(options), FamilyOf(txn_db->rep, column_family),
                                  Text(key, keylen), Text(val, vallen)));
}

void ashlar_transactiondb_merge(ashlar_transactiondb_t* txn_db,
                                const ashlar_writeoptions_t* options, const char* key, size_t klen,
                                const char* val, size_t vlen, char** errptr) {
  Failed(errptr, txn_db->rep->Merge(OptionsIn(options), Text(key, klen), Text(val, vlen)));
}

void ashlar_transactiondb_merge_cf(ashlar_transactiondb_t* txn_db,
                                   const ashlar_writeoptions_t* options,
                                   ashlar_column_family_handle_t* column_family, const char* key,
                                   size_t klen, const char* val, size_t vlen, char** errptr) {
  Failed(errptr, txn_db->rep->Merge(OptionsIn(options), FamilyOf(txn_db->rep, column_family),
                                    Text(key, klen), Text(val, vlen)));
}

void ashlar_transactiondb_delete(ashlar_transactiondb_t* txn_db,
                                 const ashlar_writeoptions_t* options, const char* key, size_t klen,
                                 char** errptr) {
  Failed(errptr, txn_db->rep->Delete(OptionsIn(options), Text(key, klen)));
}

void ashlar_transactiondb_delete_cf(ashlar_transactiondb_t* txn_db,
                                    const ashlar_writeoptions_t* options,
                                    ashlar_column_family_handle_t* column_family, const char* key,
                                    size_t keylen, char** errptr) {
  Failed(errptr, txn_db->rep->Delete(OptionsIn(options), FamilyOf(txn_db->rep, column_family),
                                     Text(key, keylen)));
}

// The keys of the batch are locked for the duration of the write.
void ashlar_transactiondb_write(ashlar_transactiondb_t* db, const ashlar_writeoptions_t* options,
                                ashlar_writebatch_t* batch, char** errptr) {
  assert(db != nullptr);
  Failed(errptr, db->rep->Write(OptionsIn(options), &batch->rep));
}

char* ashlar_transactiondb_get(ashlar_transactiondb_t* txn_db, const ashlar_readoptions_t* options,
                               const char* key, size_t klen, size_t* vlen, char** errptr) {
  return ashlar_transactiondb_get_cf(txn_db, options, nullptr, key, klen, vlen, errptr);
}

char* ashlar_transactiondb_get_cf(ashlar_transactiondb_t* txn_db,
                                  const ashlar_readoptions_t* options,
                                  ashlar_column_family_handle_t* column_family, const char* key,
                                  size_t keylen, size_t* vallen, char** errptr) {
  assert(txn_db != nullptr);
  ashlar::PinnableSlice value;
  const Status s = txn_db->rep->Get(OptionsIn(options), FamilyOf(txn_db->rep, column_family),
                                    Text(key, keylen), &value);
  return CopyOfRead(s, value, vallen, errptr);
}

ashlar_pinnableslice_t* ashlar_transactiondb_get_pinned(ashlar_transactiondb_t* txn_db,
                                                        const ashlar_readoptions_t* options,
                                                        const char* key, size_t klen,
                                                        char** errptr) {
  return ashlar_transactiondb_get_pinned_cf(txn_db, options, nullptr, key, klen, errptr);
}

ashlar_pinnableslice_t* ashlar_transactiondb_get_pinned_cf(
    ashlar_transactiondb_t* txn_db, const ashlar_readoptions_t* options,
    ashlar_column_family_handle_t* column_family, const char* key, size_t keylen, char** errptr) {
  auto value = std::make_unique<ashlar_pinnableslice_t>();
  const Status s = txn_db->rep->Get(OptionsIn(options), FamilyOf(txn_db->rep, column_family),
                                    Text(key, keylen), &value->rep);
  return PinnedRead(s, std::move(value), errptr);
}

void ashlar_transactiondb_multi_get(ashlar_transactiondb_t* txn_db,
                                    const ashlar_readoptions_t* options, size_t num_keys,
                                    const char* const* keys_list, const size_t* keys_list_sizes,
                                    char** values_list, size_t* values_list_sizes, char** errs) {
  ashlar_transactiondb_multi_get_cf(txn_db, options, nullptr, num_keys, keys_list, keys_list_sizes,
                                    values_list, values_list_sizes, errs);
}

void ashlar_transactiondb_multi_get_cf(ashlar_transactiondb_t* txn_db,
                                       const ashlar_readoptions_t* options,
                                       const ashlar_column_family_handle_t* const* column_families,
                                       size_t num_keys, const char* const* keys_list,
                                       const size_t* keys_list_sizes, char** values_list,
                                       size_t* values_list_sizes, char** errs) {
  assert(txn_db != nullptr);
  MultiRead read(txn_db->rep, column_families, num_keys, keys_list, keys_list_sizes);
  txn_db->rep->MultiGet(OptionsIn(options), num_keys, read.families.data(), read.keys.data(),
                        read.values.data(), read.statuses.data());
  read.CopyResults(values_list, values_list_sizes, errs);
}

ashlar_iterator_t* ashlar_transactiondb_create_iterator(ashlar_transactiondb_t* txn_db,
                                                        const ashlar_readoptions_t* options) {
  return ashlar_transactiondb_create_iterator_cf(txn_db, options, nullptr);
}

ashlar_iterator_t* ashlar_transactiondb_create_iterator_cf(
    ashlar_transactiondb_t* txn_db, const ashlar_readoptions_t* options,
    ashlar_column_family_handle_t* column_family) {
  return new ashlar_iterator_t{
      txn_db->rep->NewIterator(OptionsIn(options), FamilyOf(txn_db->rep, column_family))};
}

void ashlar_transactiondb_flush(ashlar_transactiondb_t* txn_db,
                                const ashlar_flushoptions_t* options, char** errptr) {
  Failed(errptr, txn_db->rep->Flush(OptionsIn(options)));
}

void ashlar_transactiondb_flush_cf(ashlar_transactiondb_t* txn_db,
                                   const ashlar_flushoptions_t* options,
                                   ashlar_column_family_handle_t* column_family, char** errptr) {
  Failed(errptr, txn_db->rep->Flush(OptionsIn(options), FamilyOf(txn_db->rep, column_family)));
}

void ashlar_transactiondb_flush_cfs(ashlar_transactiondb_t* txn_db,
                                    const ashlar_flushoptions_t* options,
                                    ashlar_column_family_handle_t** column_families,
                                    int num_column_families, char** errptr) {
  assert(txn_db != nullptr);
  std::vector<ColumnFamilyHandle*> families;
  for (int i = 0; i < num_column_families; ++i)
    families.push_back(FamilyOf(txn_db->rep, column_families[i]));
  Failed(errptr, txn_db->rep->Flush(OptionsIn(options), families));
}

void ashlar_transactiondb_flush_wal(ashlar_transactiondb_t* txn_db, unsigned char sync,
                                    char** errptr) {
  Failed(errptr, txn_db->rep->FlushWAL(sync != 0));
}

void ashlar_transactiondb_flush_wal_with_options(ashlar_transactiondb_t* txn_db,
                                                 const ashlar_flushwaloptions_t* options,
                                                 char** errptr) {
  Failed(errptr, txn_db->rep->FlushWAL(OptionsIn(options)));
}
