// SPDX-License-Identifier: Apache-2.0
//
// The C API: write batches with an index, in which their own entries can be read. The functions
// that are named as those of plain batches do the same (ashlar/c/batch.h).
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// `overwrite_keys`: an entry takes the place of an older one with its key. The comparator is that
// of entries whose family is not known (null: by bytes). From the bytes of another batch: its
// entries are in the order of bytes, and the result is null if they are damaged or have entries
// that batches with an index do not take.
ashlar_writebatch_wi_t* ashlar_writebatch_wi_create(size_t reserved_bytes,
                                                    unsigned char overwrite_keys);
ashlar_writebatch_wi_t* ashlar_writebatch_wi_create_from(const char* rep, size_t size);
ashlar_writebatch_wi_t* ashlar_writebatch_wi_create_with_params(
    ashlar_comparator_t* backup_index_comparator, size_t reserved_bytes,
    unsigned char overwrite_key, size_t max_bytes, size_t protection_bytes_per_key);
void ashlar_writebatch_wi_destroy(ashlar_writebatch_wi_t*);

void ashlar_writebatch_wi_clear(ashlar_writebatch_wi_t*);
int ashlar_writebatch_wi_count(ashlar_writebatch_wi_t* b);
const char* ashlar_writebatch_wi_data(ashlar_writebatch_wi_t* b, size_t* size);

void ashlar_writebatch_wi_put(ashlar_writebatch_wi_t*, const char* key, size_t klen,
                              const char* val, size_t vlen);
void ashlar_writebatch_wi_put_cf(ashlar_writebatch_wi_t*,
                                 ashlar_column_family_handle_t* column_family, const char* key,
                                 size_t klen, const char* val, size_t vlen);
void ashlar_writebatch_wi_merge(ashlar_writebatch_wi_t*, const char* key, size_t klen,
                                const char* val, size_t vlen);
void ashlar_writebatch_wi_merge_cf(ashlar_writebatch_wi_t*,
                                   ashlar_column_family_handle_t* column_family, const char* key,
                                   size_t klen, const char* val, size_t vlen);
void ashlar_writebatch_wi_delete(ashlar_writebatch_wi_t*, const char* key, size_t klen);
void ashlar_writebatch_wi_delete_cf(ashlar_writebatch_wi_t*,
                                    ashlar_column_family_handle_t* column_family, const char* key,
                                    size_t klen);
void ashlar_writebatch_wi_singledelete(ashlar_writebatch_wi_t*, const char* key, size_t klen);
void ashlar_writebatch_wi_singledelete_cf(ashlar_writebatch_wi_t*,
                                          ashlar_column_family_handle_t* column_family,
                                          const char* key, size_t klen);

// Not supported by batches with an index: they add nothing.
void ashlar_writebatch_wi_delete_range(ashlar_writebatch_wi_t* b, const char* start_key,
                                       size_t start_key_len, const char* end_key,
                                       size_t end_key_len);
void ashlar_writebatch_wi_delete_range_cf(ashlar_writebatch_wi_t* b,
                                          ashlar_column_family_handle_t* column_family,
                                          const char* start_key, size_t start_key_len,
                                          const char* end_key, size_t end_key_len);
void ashlar_writebatch_wi_delete_rangev(ashlar_writebatch_wi_t* b, int num_keys,
                                        const char* const* start_keys_list,
                                        const size_t* start_keys_list_sizes,
                                        const char* const* end_keys_list,
                                        const size_t* end_keys_list_sizes);
void ashlar_writebatch_wi_delete_rangev_cf(ashlar_writebatch_wi_t* b,
                                           ashlar_column_family_handle_t* column_family,
                                           int num_keys, const char* const* start_keys_list,
                                           const size_t* start_keys_list_sizes,
                                           const char* const* end_keys_list,
                                           const size_t* end_keys_list_sizes);

void ashlar_writebatch_wi_put_log_data(ashlar_writebatch_wi_t*, const char* blob, size_t len);
void ashlar_writebatch_wi_putv(ashlar_writebatch_wi_t* b, int num_keys,
                               const char* const* keys_list, const size_t* keys_list_sizes,
                               int num_values, const char* const* values_list,
                               const size_t* values_list_sizes);
void ashlar_writebatch_wi_putv_cf(ashlar_writebatch_wi_t* b,
                                  ashlar_column_family_handle_t* column_family, int num_keys,
                                  const char* const* keys_list, const size_t* keys_list_sizes,
                                  int num_values, const char* const* values_list,
                                  const size_t* values_list_sizes);
void ashlar_writebatch_wi_mergev(ashlar_writebatch_wi_t* b, int num_keys,
                                 const char* const* keys_list, const size_t* keys_list_sizes,
                                 int num_values, const char* const* values_list,
                                 const size_t* values_list_sizes);
void ashlar_writebatch_wi_mergev_cf(ashlar_writebatch_wi_t* b,
                                    ashlar_column_family_handle_t* column_family, int num_keys,
                                    const char* const* keys_list, const size_t* keys_list_sizes,
                                    int num_values, const char* const* values_list,
                                    const size_t* values_list_sizes);
void ashlar_writebatch_wi_deletev(ashlar_writebatch_wi_t* b, int num_keys,
                                  const char* const* keys_list, const size_t* keys_list_sizes);
void ashlar_writebatch_wi_deletev_cf(ashlar_writebatch_wi_t* b,
                                     ashlar_column_family_handle_t* column_family, int num_keys,
                                     const char* const* keys_list, const size_t* keys_list_sizes);

void ashlar_writebatch_wi_set_save_point(ashlar_writebatch_wi_t*);
void ashlar_writebatch_wi_rollback_to_save_point(ashlar_writebatch_wi_t*, char** errptr);
void ashlar_writebatch_wi_iterate(ashlar_writebatch_wi_t* b, void* state,
                                  void (*put)(void*, const char* k, size_t klen, const char* v,
                                              size_t vlen),
                                  void (*deleted)(void*, const char* k, size_t klen));
void ashlar_writebatch_wi_update_timestamps(ashlar_writebatch_wi_t* wbwi, const char* ts,
                                            size_t tslen, void* state,
                                            size_t (*get_ts_size)(void*, uint32_t), char** errptr);

// The value in the batch alone, to be freed; null if it is missing or deleted.
char* ashlar_writebatch_wi_get_from_batch(ashlar_writebatch_wi_t* wbwi,
                                          const ashlar_options_t* options, const char* key,
                                          size_t keylen, size_t* vallen, char** errptr);
char* ashlar_writebatch_wi_get_from_batch_cf(ashlar_writebatch_wi_t* wbwi,
                                             const ashlar_options_t* options,
                                             ashlar_column_family_handle_t* column_family,
                                             const char* key, size_t keylen, size_t* vallen,
                                             char** errptr);

// The value that a read would find after the batch was written.
char* ashlar_writebatch_wi_get_from_batch_and_db(ashlar_writebatch_wi_t* wbwi, ashlar_t* db,
                                                 const ashlar_readoptions_t* options,
                                                 const char* key, size_t keylen, size_t* vallen,
                                                 char** errptr);
char* ashlar_writebatch_wi_get_from_batch_and_db_cf(ashlar_writebatch_wi_t* wbwi, ashlar_t* db,
                                                    const ashlar_readoptions_t* options,
                                                    ashlar_column_family_handle_t* column_family,
                                                    const char* key, size_t keylen, size_t* vallen,
                                                    char** errptr);
ashlar_pinnableslice_t* ashlar_writebatch_wi_get_pinned_from_batch_and_db(
    ashlar_writebatch_wi_t* wbwi, ashlar_t* db, const ashlar_readoptions_t* options,
    const char* key, size_t keylen, char** errptr);
ashlar_pinnableslice_t* ashlar_writebatch_wi_get_pinned_from_batch_and_db_cf(
    ashlar_writebatch_wi_t* wbwi, ashlar_t* db, const ashlar_readoptions_t* options,
    ashlar_column_family_handle_t* column_family, const char* key, size_t keylen, char** errptr);

// An iterator over the batch and the database. It takes the base iterator over, which must not be
// used or destroyed afterwards.
ashlar_iterator_t* ashlar_writebatch_wi_create_iterator_with_base(ashlar_writebatch_wi_t* wbwi,
                                                                  ashlar_iterator_t* base_iterator);
ashlar_iterator_t* ashlar_writebatch_wi_create_iterator_with_base_readopts(
    ashlar_writebatch_wi_t* wbwi, ashlar_iterator_t* base_iterator,
    const ashlar_readoptions_t* options);
ashlar_iterator_t* ashlar_writebatch_wi_create_iterator_with_base_cf(
    ashlar_writebatch_wi_t* wbwi, ashlar_iterator_t* base_iterator,
    ashlar_column_family_handle_t* cf);
ashlar_iterator_t* ashlar_writebatch_wi_create_iterator_with_base_cf_readopts(
    ashlar_writebatch_wi_t* wbwi, ashlar_iterator_t* base_iterator,
    ashlar_column_family_handle_t* cf, const ashlar_readoptions_t* options);

// Writes its entries to the database.
void ashlar_write_writebatch_wi(ashlar_t* db, const ashlar_writeoptions_t* options,
                                ashlar_writebatch_wi_t* wbwi, char** errptr);

ASHLAR_C_END
