// SPDX-License-Identifier: Apache-2.0
//
// The C API: transactions, pessimistic and optimistic. They must be destroyed before their database
// is closed. A null column family is the default family. Functions named as those of plain
// databases do the same, within the transaction.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// Begins one, in the memory of an old one unless that is null; the result is then `old_txn` itself.
ashlar_transaction_t* ashlar_transaction_begin(ashlar_transactiondb_t* txn_db,
                                               const ashlar_writeoptions_t* write_options,
                                               const ashlar_transaction_options_t* txn_options,
                                               ashlar_transaction_t* old_txn);
ashlar_transaction_t* ashlar_optimistictransaction_begin(
    ashlar_optimistictransactiondb_t* otxn_db, const ashlar_writeoptions_t* write_options,
    const ashlar_optimistictransaction_options_t* otxn_options, ashlar_transaction_t* old_txn);
void ashlar_transaction_destroy(ashlar_transaction_t* txn);

// A conflict is an error: "Resource busy: ..." (also "Operation timed out: ..." where locks are
// waited for).
void ashlar_transaction_commit(ashlar_transaction_t* txn, char** errptr);
void ashlar_transaction_rollback(ashlar_transaction_t* txn, char** errptr);
void ashlar_transaction_set_savepoint(ashlar_transaction_t* txn);
void ashlar_transaction_rollback_to_savepoint(ashlar_transaction_t* txn, char** errptr);

// Two-phase commit; a transaction needs a name for it. A returned name is freed.
void ashlar_transaction_set_name(ashlar_transaction_t* txn, const char* name, size_t name_len,
                                 char** errptr);
char* ashlar_transaction_get_name(ashlar_transaction_t* txn, size_t* name_len);
void ashlar_transaction_prepare(ashlar_transaction_t* txn, char** errptr);

// The snapshot, or a handle without one; and what has been written so far. The handles are freed
// with ashlar_free(), the objects belong to the transaction.
const ashlar_snapshot_t* ashlar_transaction_get_snapshot(ashlar_transaction_t* txn);
ashlar_writebatch_wi_t* ashlar_transaction_get_writebatch_wi(ashlar_transaction_t* txn);

// Adds the entries of a batch.
void ashlar_transaction_rebuild_from_writebatch(ashlar_transaction_t* txn,
                                                ashlar_writebatch_t* writebatch, char** errptr);
void ashlar_transaction_rebuild_from_writebatch_wi(ashlar_transaction_t* txn,
                                                   ashlar_writebatch_wi_t* wi, char** errptr);

// Only for families with timestamps.
void ashlar_transaction_set_commit_timestamp(ashlar_transaction_t* txn, uint64_t commit_timestamp);
void ashlar_transaction_set_read_timestamp_for_validation(ashlar_transaction_t* txn,
                                                          uint64_t read_timestamp);

void ashlar_transaction_put(ashlar_transaction_t* txn, const char* key, size_t klen,
                            const char* val, size_t vlen, char** errptr);
void ashlar_transaction_put_cf(ashlar_transaction_t* txn,
                               ashlar_column_family_handle_t* column_family, const char* key,
                               size_t klen, const char* val, size_t vlen, char** errptr);
void ashlar_transaction_merge(ashlar_transaction_t* txn, const char* key, size_t klen,
                              const char* val, size_t vlen, char** errptr);
void ashlar_transaction_merge_cf(ashlar_transaction_t* txn,
                                 ashlar_column_family_handle_t* column_family, const char* key,
                                 size_t klen, const char* val, size_t vlen, char** errptr);
void ashlar_transaction_delete(ashlar_transaction_t* txn, const char* key, size_t klen,
                               char** errptr);
void ashlar_transaction_delete_cf(ashlar_transaction_t* txn,
                                  ashlar_column_family_handle_t* column_family, const char* key,
                                  size_t klen, char** errptr);
void ashlar_transaction_put_log_data(ashlar_transaction_t* txn, const char* blob, size_t len);

char* ashlar_transaction_get(ashlar_transaction_t* txn, const ashlar_readoptions_t* options,
                             const char* key, size_t klen, size_t* vlen, char** errptr);
char* ashlar_transaction_get_cf(ashlar_transaction_t* txn, const ashlar_readoptions_t* options,
                                ashlar_column_family_handle_t* column_family, const char* key,
                                size_t klen, size_t* vlen, char** errptr);
ashlar_pinnableslice_t* ashlar_transaction_get_pinned(ashlar_transaction_t* txn,
                                                      const ashlar_readoptions_t* options,
                                                      const char* key, size_t klen, char** errptr);
ashlar_pinnableslice_t* ashlar_transaction_get_pinned_cf(
    ashlar_transaction_t* txn, const ashlar_readoptions_t* options,
    ashlar_column_family_handle_t* column_family, const char* key, size_t klen, char** errptr);
void ashlar_transaction_multi_get(ashlar_transaction_t* txn, const ashlar_readoptions_t* options,
                                  size_t num_keys, const char* const* keys_list,
                                  const size_t* keys_list_sizes, char** values_list,
                                  size_t* values_list_sizes, char** errs);
void ashlar_transaction_multi_get_cf(ashlar_transaction_t* txn, const ashlar_readoptions_t* options,
                                     const ashlar_column_family_handle_t* const* column_families,
                                     size_t num_keys, const char* const* keys_list,
                                     const size_t* keys_list_sizes, char** values_list,
                                     size_t* values_list_sizes, char** errs);
ashlar_iterator_t* ashlar_transaction_create_iterator(ashlar_transaction_t* txn,
                                                      const ashlar_readoptions_t* options);
ashlar_iterator_t* ashlar_transaction_create_iterator_cf(
    ashlar_transaction_t* txn, const ashlar_readoptions_t* options,
    ashlar_column_family_handle_t* column_family);

// Reads and locks (or, optimistic, checks at the commit) the keys; `exclusive` 0: other
// transactions may do the same.
char* ashlar_transaction_get_for_update(ashlar_transaction_t* txn,
                                        const ashlar_readoptions_t* options, const char* key,
                                        size_t klen, size_t* vlen, unsigned char exclusive,
                                        char** errptr);
char* ashlar_transaction_get_for_update_cf(ashlar_transaction_t* txn,
                                           const ashlar_readoptions_t* options,
                                           ashlar_column_family_handle_t* column_family,
                                           const char* key, size_t klen, size_t* vlen,
                                           unsigned char exclusive, char** errptr);
ashlar_pinnableslice_t* ashlar_transaction_get_pinned_for_update(
    ashlar_transaction_t* txn, const ashlar_readoptions_t* options, const char* key, size_t klen,
    unsigned char exclusive, char** errptr);
ashlar_pinnableslice_t* ashlar_transaction_get_pinned_for_update_cf(
    ashlar_transaction_t* txn, const ashlar_readoptions_t* options,
    ashlar_column_family_handle_t* column_family, const char* key, size_t klen,
    unsigned char exclusive, char** errptr);
void ashlar_transaction_multi_get_for_update(ashlar_transaction_t* txn,
                                             const ashlar_readoptions_t* options, size_t num_keys,
                                             const char* const* keys_list,
                                             const size_t* keys_list_sizes, char** values_list,
                                             size_t* values_list_sizes, char** errs);
void ashlar_transaction_multi_get_for_update_cf(
    ashlar_transaction_t* txn, const ashlar_readoptions_t* options,
    const ashlar_column_family_handle_t* const* column_families, size_t num_keys,
    const char* const* keys_list, const size_t* keys_list_sizes, char** values_list,
    size_t* values_list_sizes, char** errs);

ASHLAR_C_END
