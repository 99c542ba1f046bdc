// SPDX-License-Identifier: Apache-2.0
//
// The C API: options of tables that are more than a number or a flag, and filter policies.
#include "ashlar/c/tables.h"

#include <cassert>

#include "capi/option_handles.h"

using ashlar::Status;
using ashlar::capi::Failed;
using ashlar::capi::ObjectIn;
using ashlar::capi::TakenObjectOf;

// The two names of RocksDB made different formats once; both make the one that is left.
ashlar_filterpolicy_t* ashlar_filterpolicy_create_bloom(double bits_per_key) {
  return new ashlar_filterpolicy_t(ashlar::NewBloomFilterPolicy(bits_per_key));
}
ashlar_filterpolicy_t* ashlar_filterpolicy_create_bloom_full(double bits_per_key) {
  return new ashlar_filterpolicy_t(ashlar::NewBloomFilterPolicy(bits_per_key));
}
ashlar_filterpolicy_t* ashlar_filterpolicy_create_ribbon(double bloom_equivalent_bits_per_key) {
  return new ashlar_filterpolicy_t(ashlar::NewRibbonFilterPolicy(bloom_equivalent_bits_per_key));
}
ashlar_filterpolicy_t* ashlar_filterpolicy_create_ribbon_hybrid(
    double bloom_equivalent_bits_per_key, int bloom_before_level) {
  return new ashlar_filterpolicy_t(
      ashlar::NewRibbonFilterPolicy(bloom_equivalent_bits_per_key, bloom_before_level));
}
void ashlar_filterpolicy_destroy(ashlar_filterpolicy_t* policy) {
  ashlar_filterpolicy_t::Destroy(policy);
}

void ashlar_block_based_options_set_filter_policy(ashlar_block_based_table_options_t* options,
                                                  ashlar_filterpolicy_t* filter_policy) {
  assert(options != nullptr);
  options->rep.filter_policy = TakenObjectOf(filter_policy);
}
void ashlar_block_based_options_set_block_cache(ashlar_block_based_table_options_t* options,
                                                ashlar_cache_t* block_cache) {
  assert(options != nullptr);
  options->rep.block_cache = ObjectIn(block_cache);
}
void ashlar_block_based_options_set_block_cache_compressed(
    ashlar_block_based_table_options_t* options, ashlar_cache_t* block_cache_compressed) {
  options->rep.block_cache_compressed = ObjectIn(block_cache_compressed);
}
void ashlar_block_based_options_set_data_block_hash_ratio(
    ashlar_block_based_table_options_t* options, double v) {
  options->rep.data_block_hash_table_util_ratio = v;
}
void ashlar_cuckoo_options_set_hash_ratio(ashlar_cuckoo_table_options_t* options, double v) {
  options->rep.hash_table_ratio = v;
}

void ashlar_block_based_options_set_user_defined_index_factory_from_string(
    ashlar_block_based_table_options_t* /*options*/, const char* value, size_t value_len,
    char** errptr) {
  Failed(errptr, Status::NotSupported("user-defined indexes are not built",
                                      ashlar::capi::Text(value, value_len)));
}
void ashlar_block_based_options_clear_user_defined_index_factory(
    ashlar_block_based_table_options_t* options) {
  options->rep.user_defined_index_factory = nullptr;
}
const char* ashlar_block_based_options_get_user_defined_index_factory_name(
    const ashlar_block_based_table_options_t* /*options*/, size_t* name_len) {
  if (name_len != nullptr) *name_len = 0;
  return nullptr;
}
