// SPDX-License-Identifier: Apache-2.0
//
// The C API: options of tables that are more than a number or a flag, and filter policies. The
// other options of tables are in table_options.h.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// Filters with about 10 bits per key find 99 % of the tables that do not have a key. Both Bloom
// functions make the same filters; a Ribbon filter needs 30 % less memory and more time to be
// built; the hybrid kind has Bloom filters on the levels above bloom_before_level.
ashlar_filterpolicy_t* ashlar_filterpolicy_create_bloom(double bits_per_key);
ashlar_filterpolicy_t* ashlar_filterpolicy_create_bloom_full(double bits_per_key);
ashlar_filterpolicy_t* ashlar_filterpolicy_create_ribbon(double bloom_equivalent_bits_per_key);
ashlar_filterpolicy_t* ashlar_filterpolicy_create_ribbon_hybrid(
    double bloom_equivalent_bits_per_key, int bloom_before_level);
void ashlar_filterpolicy_destroy(ashlar_filterpolicy_t* policy);

// Takes the policy over: it is destroyed by the caller only if no options got it. Null = no
// filters.
void ashlar_block_based_options_set_filter_policy(ashlar_block_based_table_options_t* options,
                                                  ashlar_filterpolicy_t* filter_policy);
// The cache is shared; null = a cache of 32 MiB of each family's own.
void ashlar_block_based_options_set_block_cache(ashlar_block_based_table_options_t* options,
                                                ashlar_cache_t* block_cache);
// An option of older releases, without effect.
void ashlar_block_based_options_set_block_cache_compressed(
    ashlar_block_based_table_options_t* options, ashlar_cache_t* block_cache_compressed);
// Older names of ..._set_data_block_hash_table_util_ratio and
// ashlar_cuckoo_options_set_hash_table_ratio.
void ashlar_block_based_options_set_data_block_hash_ratio(
    ashlar_block_based_table_options_t* options, double v);
void ashlar_cuckoo_options_set_hash_ratio(ashlar_cuckoo_table_options_t* options, double v);

// User-defined indexes are not built: setting one fails with "Not implemented", and the name of the
// current one is null.
void ashlar_block_based_options_set_user_defined_index_factory_from_string(
    ashlar_block_based_table_options_t* options, const char* value, size_t value_len,
    char** errptr);
void ashlar_block_based_options_clear_user_defined_index_factory(
    ashlar_block_based_table_options_t* options);
const char* ashlar_block_based_options_get_user_defined_index_factory_name(
    const ashlar_block_based_table_options_t* options, size_t* name_len);

ASHLAR_C_END
