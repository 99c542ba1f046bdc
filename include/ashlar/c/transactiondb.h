// SPDX-License-Identifier: Apache-2.0
//
// The C API: databases with transactions that lock their keys. A null column family is the default
// family. Functions named as those of plain databases do the same; each write is a transaction of
// its own.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// Null after an error.
ashlar_transactiondb_t* ashlar_transactiondb_open(
    const ashlar_options_t* options, const ashlar_transactiondb_options_t* txn_db_options,
    const char* name, char** errptr);
ashlar_transactiondb_t* ashlar_transactiondb_open_column_families(
    const ashlar_options_t* options, const ashlar_transactiondb_options_t* txn_db_options,
    const char* name, int num_column_families, const char* const* column_family_names,
    const ashlar_options_t* const* column_family_options,
    ashlar_column_family_handle_t** column_family_handles, char** errptr);
void ashlar_transactiondb_close(ashlar_transactiondb_t* txn_db);

// The database underneath, for functions that need a plain one. What is written through it is
// locked by nobody. The handle is freed with `close_base_db`, which closes nothing.
ashlar_t* ashlar_transactiondb_get_base_db(ashlar_transactiondb_t* txn_db);
void ashlar_transactiondb_close_base_db(ashlar_t* base_db);

ashlar_column_family_handle_t* ashlar_transactiondb_create_column_family(
    ashlar_transactiondb_t* txn_db, const ashlar_options_t* column_family_options,
    const char* column_family_name, char** errptr);
ashlar_checkpoint_t* ashlar_transactiondb_checkpoint_object_create(ashlar_transactiondb_t* txn_db,
                                                                   char** errptr);

// The transactions that were prepared, but neither committed nor rolled back before the database
// was closed the last time. The array is freed, each transaction destroyed. Null if there are none.
ashlar_transaction_t** ashlar_transactiondb_get_prepared_transactions(
    ashlar_transactiondb_t* txn_db, size_t* cnt);

const ashlar_snapshot_t* ashlar_transactiondb_create_snapshot(ashlar_transactiondb_t* txn_db);
void ashlar_transactiondb_release_snapshot(ashlar_transactiondb_t* txn_db,
                                           const ashlar_snapshot_t* snapshot);
char* ashlar_transactiondb_property_value(ashlar_transactiondb_t* db, const char* propname);
int ashlar_transactiondb_property_int(ashlar_transactiondb_t* db, const char* propname,
                                      uint64_t* out_val);

void ashlar_transactiondb_put(ashlar_transactiondb_t* txn_db, const ashlar_writeoptions_t* options,
                              const char* key, size_t klen, const char* val, size_t vlen,
                              char** errptr);
void ashlar_transactiondb_put_cf(ashlar_transactiondb_t* txn_db,
                                 const ashlar_writeoptions_t* options,
                                 ashlar_column_family_handle_t* column_family, const char* key,
                                 size_t keylen, const char* val, size_t vallen, char** errptr);
void ashlar_transactiondb_merge(ashlar_transactiondb_t* txn_db,
                                const ashlar_writeoptions_t* options, const char* key, size_t klen,
                                const char* val, size_t vlen, char** errptr);
void ashlar_transactiondb_merge_cf(ashlar_transactiondb_t* txn_db,
                                   const ashlar_writeoptions_t* options,
                                   ashlar_column_family_handle_t* column_family, const char* key,
                                   size_t klen, const char* val, size_t vlen, char** errptr);
void ashlar_transactiondb_delete(ashlar_transactiondb_t* txn_db,
                                 const ashlar_writeoptions_t* options, const char* key, size_t klen,
                                 char** errptr);
void ashlar_transactiondb_delete_cf(ashlar_transactiondb_t* txn_db,
                                    const ashlar_writeoptions_t* options,
                                    ashlar_column_family_handle_t* column_family, const char* key,
                                    size_t keylen, char** errptr);
void ashlar_transactiondb_write(ashlar_transactiondb_t* db, const ashlar_writeoptions_t* options,
                                ashlar_writebatch_t* batch, char** errptr);

char* ashlar_transactiondb_get(ashlar_transactiondb_t* txn_db, const ashlar_readoptions_t* options,
                               const char* key, size_t klen, size_t* vlen, char** errptr);
char* ashlar_transactiondb_get_cf(ashlar_transactiondb_t* txn_db,
                                  const ashlar_readoptions_t* options,
                                  ashlar_column_family_handle_t* column_family, const char* key,
                                  size_t keylen, size_t* vallen, char** errptr);
ashlar_pinnableslice_t* ashlar_transactiondb_get_pinned(ashlar_transactiondb_t* txn_db,
                                                        const ashlar_readoptions_t* options,
                                                        const char* key, size_t klen,
                                                        char** errptr);
ashlar_pinnableslice_t* ashlar_transactiondb_get_pinned_cf(
    ashlar_transactiondb_t* txn_db, const ashlar_readoptions_t* options,
    ashlar_column_family_handle_t* column_family, const char* key, size_t keylen, char** errptr);
void ashlar_transactiondb_multi_get(ashlar_transactiondb_t* txn_db,
                                    const ashlar_readoptions_t* options, size_t num_keys,
                                    const char* const* keys_list, const size_t* keys_list_sizes,
                                    char** values_list, size_t* values_list_sizes, char** errs);
void ashlar_transactiondb_multi_get_cf(ashlar_transactiondb_t* txn_db,
                                       const ashlar_readoptions_t* options,
                                       const ashlar_column_family_handle_t* const* column_families,
                                       size_t num_keys, const char* const* keys_list,
                                       const size_t* keys_list_sizes, char** values_list,
                                       size_t* values_list_sizes, char** errs);
ashlar_iterator_t* ashlar_transactiondb_create_iterator(ashlar_transactiondb_t* txn_db,
                                                        const ashlar_readoptions_t* options);
ashlar_iterator_t* ashlar_transactiondb_create_iterator_cf(
    ashlar_transactiondb_t* txn_db, const ashlar_readoptions_t* options,
    ashlar_column_family_handle_t* column_family);

void ashlar_transactiondb_flush(ashlar_transactiondb_t* txn_db,
                                const ashlar_flushoptions_t* options, char** errptr);
void ashlar_transactiondb_flush_cf(ashlar_transactiondb_t* txn_db,
                                   const ashlar_flushoptions_t* options,
                                   ashlar_column_family_handle_t* column_family, char** errptr);
void ashlar_transactiondb_flush_cfs(ashlar_transactiondb_t* txn_db,
                                    const ashlar_flushoptions_t* options,
                                    ashlar_column_family_handle_t** column_families,
                                    int num_column_families, char** errptr);
void ashlar_transactiondb_flush_wal(ashlar_transactiondb_t* txn_db, unsigned char sync,
                                    char** errptr);
void ashlar_transactiondb_flush_wal_with_options(ashlar_transactiondb_t* txn_db,
                                                 const ashlar_flushwaloptions_t* options,
                                                 char** errptr);

ASHLAR_C_END
