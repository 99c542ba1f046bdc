// SPDX-License-Identifier: Apache-2.0
//
// The C API: point reads. A null column family is the default family.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// The value of a key, to be freed, and its length. A missing key is null with the length 0, and no
// error.
char* ashlar_get(ashlar_t* db, const ashlar_readoptions_t* options, const char* key, size_t keylen,
                 size_t* vallen, char** errptr);
char* ashlar_get_cf(ashlar_t* db, const ashlar_readoptions_t* options,
                    ashlar_column_family_handle_t* column_family, const char* key, size_t keylen,
                    size_t* vallen, char** errptr);

// The same with the timestamp of the value, which is freed too.
char* ashlar_get_with_ts(ashlar_t* db, const ashlar_readoptions_t* options, const char* key,
                         size_t keylen, size_t* vallen, char** ts, size_t* tslen, char** errptr);
char* ashlar_get_cf_with_ts(ashlar_t* db, const ashlar_readoptions_t* options,
                            ashlar_column_family_handle_t* column_family, const char* key,
                            size_t keylen, size_t* vallen, char** ts, size_t* tslen, char** errptr);

// The value where it is, without a copy. Null for a missing key. The bytes live as long as the
// handle.
ashlar_pinnableslice_t* ashlar_get_pinned(ashlar_t* db, const ashlar_readoptions_t* options,
                                          const char* key, size_t keylen, char** errptr);
ashlar_pinnableslice_t* ashlar_get_pinned_cf(ashlar_t* db, const ashlar_readoptions_t* options,
                                             ashlar_column_family_handle_t* column_family,
                                             const char* key, size_t keylen, char** errptr);
void ashlar_pinnableslice_destroy(ashlar_pinnableslice_t* v);
const char* ashlar_pinnableslice_value(const ashlar_pinnableslice_t* t, size_t* vlen);
ashlar_pinnable_handle_t* ashlar_get_pinned_v2(ashlar_t* db, const ashlar_readoptions_t* options,
                                               const char* key, size_t keylen, char** errptr);
ashlar_pinnable_handle_t* ashlar_get_pinned_cf_v2(ashlar_t* db, const ashlar_readoptions_t* options,
                                                  ashlar_column_family_handle_t* column_family,
                                                  const char* key, size_t keylen, char** errptr);
const char* ashlar_pinnable_handle_get_value(const ashlar_pinnable_handle_t* handle,
                                             size_t* vallen);
void ashlar_pinnable_handle_destroy(ashlar_pinnable_handle_t* handle);

// Copies the value into the buffer of the caller. `*found` is whether there is one, `*vallen` its
// length. The result is 1 if it has been copied, and 0 if it is longer than the buffer, is missing,
// or could not be read.
unsigned char ashlar_get_into_buffer(ashlar_t* db, const ashlar_readoptions_t* options,
                                     const char* key, size_t keylen, char* buffer,
                                     size_t buffer_size, size_t* vallen, unsigned char* found,
                                     char** errptr);
unsigned char ashlar_get_into_buffer_cf(ashlar_t* db, const ashlar_readoptions_t* options,
                                        ashlar_column_family_handle_t* column_family,
                                        const char* key, size_t keylen, char* buffer,
                                        size_t buffer_size, size_t* vallen, unsigned char* found,
                                        char** errptr);

// Whether the key may be there, without reading files. If the value is at hand, `*value_found` is 1
// and `*value` a copy of it, to be freed; also if the key does not exist: the value is empty then,
// and the result 0. `value` and `value_found` may be null.
unsigned char ashlar_key_may_exist(ashlar_t* db, const ashlar_readoptions_t* options,
                                   const char* key, size_t key_len, char** value, size_t* val_len,
                                   const char* timestamp, size_t timestamp_len,
                                   unsigned char* value_found);
unsigned char ashlar_key_may_exist_cf(ashlar_t* db, const ashlar_readoptions_t* options,
                                      ashlar_column_family_handle_t* column_family, const char* key,
                                      size_t key_len, char** value, size_t* val_len,
                                      const char* timestamp, size_t timestamp_len,
                                      unsigned char* value_found);

ASHLAR_C_END
