// SPDX-License-Identifier: Apache-2.0
//
// The C API: iterators. They must be destroyed before the database is closed.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// A new one, which is not valid yet. An error is that of the iterator.
ashlar_iterator_t* ashlar_create_iterator(ashlar_t* db, const ashlar_readoptions_t* options);
ashlar_iterator_t* ashlar_create_iterator_cf(ashlar_t* db, const ashlar_readoptions_t* options,
                                             ashlar_column_family_handle_t* column_family);

// One over each family; all see the same state. After an error the array is not changed.
void ashlar_create_iterators(ashlar_t* db, ashlar_readoptions_t* opts,
                             ashlar_column_family_handle_t** column_families,
                             ashlar_iterator_t** iterators, size_t size, char** errptr);

void ashlar_iter_destroy(ashlar_iterator_t*);
unsigned char ashlar_iter_valid(const ashlar_iterator_t*);
void ashlar_iter_seek_to_first(ashlar_iterator_t*);
void ashlar_iter_seek_to_last(ashlar_iterator_t*);

// To the first key at or after `k`, or the last one at or before it.
void ashlar_iter_seek(ashlar_iterator_t*, const char* k, size_t klen);
void ashlar_iter_seek_for_prev(ashlar_iterator_t*, const char* k, size_t klen);

// Only for a valid iterator. What key, value and timestamp point to lives until the iterator moves.
void ashlar_iter_next(ashlar_iterator_t*);
void ashlar_iter_prev(ashlar_iterator_t*);
const char* ashlar_iter_key(const ashlar_iterator_t*, size_t* klen);
const char* ashlar_iter_value(const ashlar_iterator_t*, size_t* vlen);
const char* ashlar_iter_timestamp(const ashlar_iterator_t*, size_t* tslen);
ashlar_slice_t ashlar_iter_key_slice(const ashlar_iterator_t* iter);
ashlar_slice_t ashlar_iter_value_slice(const ashlar_iterator_t* iter);
ashlar_slice_t ashlar_iter_timestamp_slice(const ashlar_iterator_t* iter);

// The error that made the iterator invalid, if one did.
void ashlar_iter_get_error(const ashlar_iterator_t*, char** errptr);

// Makes it see the present state; it is not valid then.
void ashlar_iter_refresh(const ashlar_iterator_t* iter, char** errptr);

ASHLAR_C_END
