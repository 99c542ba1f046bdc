// SPDX-License-Identifier: Apache-2.0
//
// The C API: write batches. A null column family is the default family. An entry that cannot be
// added is left out: one with a timestamp in a family without, and one beyond the size that was
// given to ashlar_writebatch_create_with_params().
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// Empty, with the bytes that ashlar_writebatch_data() returned of another one, or with limits (0:
// none) and bytes of protection for each key (0 or 8).
ashlar_writebatch_t* ashlar_writebatch_create(void);
ashlar_writebatch_t* ashlar_writebatch_create_from(const char* rep, size_t size);
ashlar_writebatch_t* ashlar_writebatch_create_with_params(size_t reserved_bytes, size_t max_bytes,
                                                          size_t protection_bytes_per_key,
                                                          size_t default_cf_ts_sz);
void ashlar_writebatch_destroy(ashlar_writebatch_t*);

void ashlar_writebatch_clear(ashlar_writebatch_t* b);
int ashlar_writebatch_count(ashlar_writebatch_t*);

// Its bytes, which live until it is changed.
const char* ashlar_writebatch_data(ashlar_writebatch_t*, size_t* size);

void ashlar_writebatch_put(ashlar_writebatch_t* b, const char* key, size_t klen, const char* val,
                           size_t vlen);
void ashlar_writebatch_put_cf(ashlar_writebatch_t* b, ashlar_column_family_handle_t* column_family,
                              const char* key, size_t klen, const char* val, size_t vlen);
void ashlar_writebatch_put_cf_with_ts(ashlar_writebatch_t*,
                                      ashlar_column_family_handle_t* column_family, const char* key,
                                      size_t klen, const char* ts, size_t tslen, const char* val,
                                      size_t vlen);
void ashlar_writebatch_merge(ashlar_writebatch_t*, const char* key, size_t klen, const char* val,
                             size_t vlen);
void ashlar_writebatch_merge_cf(ashlar_writebatch_t*, ashlar_column_family_handle_t* column_family,
                                const char* key, size_t klen, const char* val, size_t vlen);
void ashlar_writebatch_delete(ashlar_writebatch_t* b, const char* key, size_t klen);
void ashlar_writebatch_delete_cf(ashlar_writebatch_t*, ashlar_column_family_handle_t* column_family,
                                 const char* key, size_t klen);
void ashlar_writebatch_delete_cf_with_ts(ashlar_writebatch_t*,
                                         ashlar_column_family_handle_t* column_family,
                                         const char* key, size_t klen, const char* ts,
                                         size_t tslen);
void ashlar_writebatch_singledelete(ashlar_writebatch_t* b, const char* key, size_t klen);
void ashlar_writebatch_singledelete_cf(ashlar_writebatch_t* b,
                                       ashlar_column_family_handle_t* column_family,
                                       const char* key, size_t klen);
void ashlar_writebatch_singledelete_cf_with_ts(ashlar_writebatch_t* b,
                                               ashlar_column_family_handle_t* column_family,
                                               const char* key, size_t klen, const char* ts,
                                               size_t tslen);
void ashlar_writebatch_delete_range(ashlar_writebatch_t* b, const char* start_key,
                                    size_t start_key_len, const char* end_key, size_t end_key_len);
void ashlar_writebatch_delete_range_cf(ashlar_writebatch_t* b,
                                       ashlar_column_family_handle_t* column_family,
                                       const char* start_key, size_t start_key_len,
                                       const char* end_key, size_t end_key_len);

// Bytes that go to the log only.
void ashlar_writebatch_put_log_data(ashlar_writebatch_t* b, const char* blob, size_t len);

// Keys and values in pieces, which are joined. The arrays hold the pieces of one key and of one
// value.
void ashlar_writebatch_putv(ashlar_writebatch_t* b, int num_keys, const char* const* keys_list,
                            const size_t* keys_list_sizes, int num_values,
                            const char* const* values_list, const size_t* values_list_sizes);
void ashlar_writebatch_putv_cf(ashlar_writebatch_t* b, ashlar_column_family_handle_t* column_family,
                               int num_keys, const char* const* keys_list,
                               const size_t* keys_list_sizes, int num_values,
                               const char* const* values_list, const size_t* values_list_sizes);
void ashlar_writebatch_mergev(ashlar_writebatch_t* b, int num_keys, const char* const* keys_list,
                              const size_t* keys_list_sizes, int num_values,
                              const char* const* values_list, const size_t* values_list_sizes);
void ashlar_writebatch_mergev_cf(ashlar_writebatch_t* b,
                                 ashlar_column_family_handle_t* column_family, int num_keys,
                                 const char* const* keys_list, const size_t* keys_list_sizes,
                                 int num_values, const char* const* values_list,
                                 const size_t* values_list_sizes);
void ashlar_writebatch_deletev(ashlar_writebatch_t* b, int num_keys, const char* const* keys_list,
                               const size_t* keys_list_sizes);
void ashlar_writebatch_deletev_cf(ashlar_writebatch_t* b,
                                  ashlar_column_family_handle_t* column_family, int num_keys,
                                  const char* const* keys_list, const size_t* keys_list_sizes);
void ashlar_writebatch_delete_rangev(ashlar_writebatch_t* b, int num_keys,
                                     const char* const* start_keys_list,
                                     const size_t* start_keys_list_sizes,
                                     const char* const* end_keys_list,
                                     const size_t* end_keys_list_sizes);
void ashlar_writebatch_delete_rangev_cf(ashlar_writebatch_t* b,
                                        ashlar_column_family_handle_t* column_family, int num_keys,
                                        const char* const* start_keys_list,
                                        const size_t* start_keys_list_sizes,
                                        const char* const* end_keys_list,
                                        const size_t* end_keys_list_sizes);

// What is added after a save point can be taken back.
void ashlar_writebatch_set_save_point(ashlar_writebatch_t* b);
void ashlar_writebatch_rollback_to_save_point(ashlar_writebatch_t* b, char** errptr);
void ashlar_writebatch_pop_save_point(ashlar_writebatch_t* b, char** errptr);

// Calls the functions for each entry in its order. Those without `cf` see only the default family;
// entries without a function for them are left out.
void ashlar_writebatch_iterate(ashlar_writebatch_t*, void* state,
                               void (*put)(void*, const char* k, size_t klen, const char* v,
                                           size_t vlen),
                               void (*deleted)(void*, const char* k, size_t klen));
void ashlar_writebatch_iterate_ld(ashlar_writebatch_t*, void* state,
                                  void (*put)(void*, const char* k, size_t klen, const char* v,
                                              size_t vlen),
                                  void (*deleted)(void*, const char* k, size_t klen),
                                  void (*log_data)(void*, const char* blob, size_t blob_len));
void ashlar_writebatch_iterate_cf(
    ashlar_writebatch_t*, void* state,
    void (*put_cf)(void*, uint32_t cfid, const char* k, size_t klen, const char* v, size_t vlen),
    void (*deleted_cf)(void*, uint32_t cfid, const char* k, size_t klen),
    void (*merge_cf)(void*, uint32_t cfid, const char* k, size_t klen, const char* v, size_t vlen));
void ashlar_writebatch_iterate_cf_ld(
    ashlar_writebatch_t*, void* state,
    void (*put_cf)(void*, uint32_t cfid, const char* k, size_t klen, const char* v, size_t vlen),
    void (*deleted_cf)(void*, uint32_t cfid, const char* k, size_t klen),
    void (*merge_cf)(void*, uint32_t cfid, const char* k, size_t klen, const char* v, size_t vlen),
    void (*log_data)(void*, const char* blob, size_t blob_len));

// Compares the entries with their protection.
void ashlar_writebatch_verify_checksum(ashlar_writebatch_t* b, char** errptr);

// Sets the timestamp of all keys whose family has timestamps of the size `tslen`; `get_ts_size`
// tells that of a family (0: none).
void ashlar_writebatch_update_timestamps(ashlar_writebatch_t* wb, const char* ts, size_t tslen,
                                         void* state, size_t (*get_ts_size)(void*, uint32_t),
                                         char** errptr);

ASHLAR_C_END
