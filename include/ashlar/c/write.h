// SPDX-License-Identifier: Apache-2.0
//
// The C API: single writes. A null column family is the default family.
//
// Functions with a timestamp (`..._with_ts`) fail with "Invalid argument" unless the comparator of
// the family has timestamps.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

void ashlar_put(ashlar_t* db, const ashlar_writeoptions_t* options, const char* key, size_t keylen,
                const char* val, size_t vallen, char** errptr);
void ashlar_put_cf(ashlar_t* db, const ashlar_writeoptions_t* options,
                   ashlar_column_family_handle_t* column_family, const char* key, size_t keylen,
                   const char* val, size_t vallen, char** errptr);
void ashlar_put_with_ts(ashlar_t* db, const ashlar_writeoptions_t* options, const char* key,
                        size_t keylen, const char* ts, size_t tslen, const char* val, size_t vallen,
                        char** errptr);
void ashlar_put_cf_with_ts(ashlar_t* db, const ashlar_writeoptions_t* options,
                           ashlar_column_family_handle_t* column_family, const char* key,
                           size_t keylen, const char* ts, size_t tslen, const char* val,
                           size_t vallen, char** errptr);

void ashlar_delete(ashlar_t* db, const ashlar_writeoptions_t* options, const char* key,
                   size_t keylen, char** errptr);
void ashlar_delete_cf(ashlar_t* db, const ashlar_writeoptions_t* options,
                      ashlar_column_family_handle_t* column_family, const char* key, size_t keylen,
                      char** errptr);
void ashlar_delete_with_ts(ashlar_t* db, const ashlar_writeoptions_t* options, const char* key,
                           size_t keylen, const char* ts, size_t tslen, char** errptr);
void ashlar_delete_cf_with_ts(ashlar_t* db, const ashlar_writeoptions_t* options,
                              ashlar_column_family_handle_t* column_family, const char* key,
                              size_t keylen, const char* ts, size_t tslen, char** errptr);

// Deletes a key that was put exactly once since it was last deleted.
void ashlar_singledelete(ashlar_t* db, const ashlar_writeoptions_t* options, const char* key,
                         size_t keylen, char** errptr);
void ashlar_singledelete_cf(ashlar_t* db, const ashlar_writeoptions_t* options,
                            ashlar_column_family_handle_t* column_family, const char* key,
                            size_t keylen, char** errptr);
void ashlar_singledelete_with_ts(ashlar_t* db, const ashlar_writeoptions_t* options,
                                 const char* key, size_t keylen, const char* ts, size_t tslen,
                                 char** errptr);
void ashlar_singledelete_cf_with_ts(ashlar_t* db, const ashlar_writeoptions_t* options,
                                    ashlar_column_family_handle_t* column_family, const char* key,
                                    size_t keylen, const char* ts, size_t tslen, char** errptr);

// Deletes the keys from `start_key` to `end_key`, which is not one of them.
void ashlar_delete_range_cf(ashlar_t* db, const ashlar_writeoptions_t* options,
                            ashlar_column_family_handle_t* column_family, const char* start_key,
                            size_t start_key_len, const char* end_key, size_t end_key_len,
                            char** errptr);

void ashlar_merge(ashlar_t* db, const ashlar_writeoptions_t* options, const char* key,
                  size_t keylen, const char* val, size_t vallen, char** errptr);
void ashlar_merge_cf(ashlar_t* db, const ashlar_writeoptions_t* options,
                     ashlar_column_family_handle_t* column_family, const char* key, size_t keylen,
                     const char* val, size_t vallen, char** errptr);

// Writes all entries of a batch, or after an error none. The batch can be used again.
void ashlar_write(ashlar_t* db, const ashlar_writeoptions_t* options, ashlar_writebatch_t* batch,
                  char** errptr);

ASHLAR_C_END
