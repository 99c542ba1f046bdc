// SPDX-License-Identifier: Apache-2.0
//
// The C API: reads of many keys at once. A null column family is the default family.
//
// Results are written to arrays of the caller, an element for each key: the value (null: missing or
// not read), its length, and the error (null: none). Values and errors are freed by the caller,
// pinned values destroyed. Old contents of the arrays are not freed.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

void ashlar_multi_get(ashlar_t* db, const ashlar_readoptions_t* options, size_t num_keys,
                      const char* const* keys_list, const size_t* keys_list_sizes,
                      char** values_list, size_t* values_list_sizes, char** errs);
void ashlar_multi_get_cf(ashlar_t* db, const ashlar_readoptions_t* options,
                         const ashlar_column_family_handle_t* const* column_families,
                         size_t num_keys, const char* const* keys_list,
                         const size_t* keys_list_sizes, char** values_list,
                         size_t* values_list_sizes, char** errs);

void ashlar_multi_get_with_ts(ashlar_t* db, const ashlar_readoptions_t* options, size_t num_keys,
                              const char* const* keys_list, const size_t* keys_list_sizes,
                              char** values_list, size_t* values_list_sizes, char** timestamp_list,
                              size_t* timestamp_list_sizes, char** errs);
void ashlar_multi_get_cf_with_ts(ashlar_t* db, const ashlar_readoptions_t* options,
                                 const ashlar_column_family_handle_t* const* column_families,
                                 size_t num_keys, const char* const* keys_list,
                                 const size_t* keys_list_sizes, char** values_list,
                                 size_t* values_list_sizes, char** timestamps_list,
                                 size_t* timestamps_list_sizes, char** errs);

// Of one family, without copies. `sorted_input`: the keys are in the order of its comparator.
void ashlar_batched_multi_get_cf(ashlar_t* db, const ashlar_readoptions_t* options,
                                 ashlar_column_family_handle_t* column_family, size_t num_keys,
                                 const char* const* keys_list, const size_t* keys_list_sizes,
                                 ashlar_pinnableslice_t** values, char** errs, bool sorted_input);
void ashlar_batched_multi_get_cf_slice(ashlar_t* db, const ashlar_readoptions_t* options,
                                       ashlar_column_family_handle_t* column_family,
                                       size_t num_keys, const ashlar_slice_t* keys_list,
                                       ashlar_pinnableslice_t** values, char** errs,
                                       bool sorted_input);

// The same with all results in one object. A result is a value, missing, or an error, whose text is
// not followed by a zero byte; both live as long as the object. The pointers that are not asked for
// may be null.
ashlar_pinnable_multi_get_t* ashlar_batched_multi_get_pinned_cf(
    ashlar_t* db, const ashlar_readoptions_t* options, ashlar_column_family_handle_t* column_family,
    size_t num_keys, const ashlar_slice_t* keys, unsigned char sorted_input);
size_t ashlar_pinnable_multi_get_count(const ashlar_pinnable_multi_get_t* multi_get);
int ashlar_pinnable_multi_get_result(const ashlar_pinnable_multi_get_t* multi_get, size_t index,
                                     const char** value, size_t* value_size, const char** error,
                                     size_t* error_size);
void ashlar_pinnable_multi_get_destroy(ashlar_pinnable_multi_get_t* multi_get);

ASHLAR_C_END
