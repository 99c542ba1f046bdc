// SPDX-License-Identifier: Apache-2.0
//
// The C API: properties and sizes of a database. A null column
// family is the default family.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// A property as text, to be freed; null if there is none of the name.
char* ashlar_property_value(ashlar_t* db, const char* propname);
char* ashlar_property_value_cf(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                               const char* propname);

// A property that is a number. The result is 0, or -1 if there is none of the name.
int ashlar_property_int(ashlar_t* db, const char* propname, uint64_t* out_val);
int ashlar_property_int_cf(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                           const char* propname, uint64_t* out_val);

// Estimates how many bytes each of `num_ranges` ranges of keys takes, and writes them to `sizes`:
// in files, or what options or flags (ashlar_size_approximation_flags_...) say.
void ashlar_approximate_sizes(ashlar_t* db, int num_ranges, const char* const* range_start_key,
                              const size_t* range_start_key_len, const char* const* range_limit_key,
                              const size_t* range_limit_key_len, uint64_t* sizes, char** errptr);
void ashlar_approximate_sizes_cf(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                                 int num_ranges, const char* const* range_start_key,
                                 const size_t* range_start_key_len,
                                 const char* const* range_limit_key,
                                 const size_t* range_limit_key_len, uint64_t* sizes, char** errptr);
void ashlar_approximate_sizes_with_options(ashlar_t* db,
                                           const ashlar_size_approximation_options_t* options,
                                           int num_ranges, const char* const* range_start_key,
                                           const size_t* range_start_key_len,
                                           const char* const* range_limit_key,
                                           const size_t* range_limit_key_len, uint64_t* sizes,
                                           char** errptr);
void ashlar_approximate_sizes_cf_with_options(ashlar_t* db,
                                              ashlar_column_family_handle_t* column_family,
                                              const ashlar_size_approximation_options_t* options,
                                              int num_ranges, const char* const* range_start_key,
                                              const size_t* range_start_key_len,
                                              const char* const* range_limit_key,
                                              const size_t* range_limit_key_len, uint64_t* sizes,
                                              char** errptr);
void ashlar_approximate_sizes_cf_with_flags(ashlar_t* db,
                                            ashlar_column_family_handle_t* column_family,
                                            int num_ranges, const char* const* range_start_key,
                                            const size_t* range_start_key_len,
                                            const char* const* range_limit_key,
                                            const size_t* range_limit_key_len,
                                            uint8_t include_flags, uint64_t* sizes, char** errptr);

ASHLAR_C_END
