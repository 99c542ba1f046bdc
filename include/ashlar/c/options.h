// SPDX-License-Identifier: Apache-2.0
//
// The C API: options of databases and column families that are more than a number, a flag or a
// text; the others are in db_options.h and family_options.h. One handle holds the options of a
// database and of one column family.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// ---- the handle

// Default options: those of C++, but with Snappy as compression if it is linked in, as in RocksDB
// up to 11.1; bindings test for it. The copy shares the objects of `options` (caches, loggers,
// ...).
ashlar_options_t* ashlar_options_create(void);
ashlar_options_t* ashlar_options_create_copy(ashlar_options_t* options);
void ashlar_options_destroy(ashlar_options_t* options);

// Sets *new_options to the options of base_options, changed as the text "name=value;name=value"
// says. After an error *new_options is as before.
void ashlar_get_options_from_string(const ashlar_options_t* base_options, const char* opts_str,
                                    ashlar_options_t* new_options, char** errptr);

// Reads the newest OPTIONS file of the database in db_path. *db_options becomes a new handle;
// *column_family_names and *column_family_options become lists of *num_column_families elements.
// `cache`, if not null, becomes the block cache of all families.
// ashlar_load_latest_options_destroy() frees the results; after an error there are none.
void ashlar_load_latest_options(const char* db_path, ashlar_env_t* env, bool ignore_unknown_options,
                                ashlar_cache_t* cache, ashlar_options_t** db_options,
                                size_t* num_column_families, char*** column_family_names,
                                ashlar_options_t*** column_family_options, char** errptr);
void ashlar_load_latest_options_destroy(ashlar_options_t* db_options,
                                        char** list_column_family_names,
                                        ashlar_options_t** list_column_family_options, size_t len);

// ---- presets; Options in ashlar/options.h describes them

void ashlar_options_increase_parallelism(ashlar_options_t* opt, int total_threads);
void ashlar_options_optimize_for_point_lookup(ashlar_options_t* opt, uint64_t block_cache_size_mb);
void ashlar_options_optimize_level_style_compaction(ashlar_options_t* opt,
                                                    uint64_t memtable_memory_budget);
void ashlar_options_optimize_universal_style_compaction(ashlar_options_t* opt,
                                                        uint64_t memtable_memory_budget);
void ashlar_options_prepare_for_bulk_load(ashlar_options_t* opt);

// ---- objects: they are shared, and their handles may be destroyed; null = none

void ashlar_options_set_info_log(ashlar_options_t* opt, ashlar_logger_t* logger);
// A new handle of the logger that was set; null = none.
ashlar_logger_t* ashlar_options_get_info_log(ashlar_options_t* opt);
void ashlar_options_set_ratelimiter(ashlar_options_t* opt, ashlar_ratelimiter_t* limiter);
void ashlar_options_set_sst_file_manager(ashlar_options_t* opt, ashlar_sst_file_manager_t* sfm);
void ashlar_options_set_write_buffer_manager(ashlar_options_t* opt,
                                             ashlar_write_buffer_manager_t* wbm);
void ashlar_options_set_row_cache(ashlar_options_t* opt, ashlar_cache_t* cache);
void ashlar_options_set_blob_cache(ashlar_options_t* opt, ashlar_cache_t* blob_cache);
void ashlar_options_set_file_checksum_gen_factory(ashlar_options_t* opt,
                                                  ashlar_file_checksum_gen_factory_t* factory);
void ashlar_options_set_sst_partitioner_factory(ashlar_options_t* opt,
                                                ashlar_sst_partitioner_factory_t* factory);
// Not shared: the environment must outlive the database. Null = the default environment.
void ashlar_options_set_env(ashlar_options_t* opt, ashlar_env_t* env);
// The built-in operator that adds 64-bit numbers.
void ashlar_options_set_uint64add_merge_operator(ashlar_options_t* opt);

// ---- objects of the program (callbacks.h); null = none

// Not owned: they are destroyed after the databases that use them. A null comparator orders bytes.
void ashlar_options_set_comparator(ashlar_options_t* opt, ashlar_comparator_t* comparator);
void ashlar_options_set_compaction_filter(ashlar_options_t* opt, ashlar_compactionfilter_t* filter);
void ashlar_options_set_wal_filter(ashlar_options_t* opt, ashlar_walfilter_t* filter);
void ashlar_options_clear_wal_filter(ashlar_options_t* opt);
// Taken over: they are destroyed by the caller only if no options got them.
void ashlar_options_set_merge_operator(ashlar_options_t* opt,
                                       ashlar_mergeoperator_t* merge_operator);
void ashlar_options_set_prefix_extractor(ashlar_options_t* opt, ashlar_slicetransform_t* extractor);
void ashlar_options_set_compaction_filter_factory(ashlar_options_t* opt,
                                                  ashlar_compactionfilterfactory_t* factory);

// ---- compression

// CompressionOptions::window_bits, level, strategy and max_dict_bytes of compression_opts.
void ashlar_options_set_compression_options(ashlar_options_t* opt, int w_bits, int level,
                                            int strategy, int max_dict_bytes);
// The same of bottommost_compression_opts. `enabled`, here and below: whether they are used.
void ashlar_options_set_bottommost_compression_options(ashlar_options_t* opt, int w_bits, int level,
                                                       int strategy, int max_dict_bytes,
                                                       unsigned char enabled);
void ashlar_options_set_bottommost_compression_options_zstd_max_train_bytes(ashlar_options_t* opt,
                                                                            int v,
                                                                            unsigned char enabled);
void ashlar_options_set_bottommost_compression_options_use_zstd_dict_trainer(ashlar_options_t* opt,
                                                                             unsigned char v,
                                                                             unsigned char enabled);
unsigned char ashlar_options_get_bottommost_compression_options_use_zstd_dict_trainer(
    ashlar_options_t* opt);
void ashlar_options_set_bottommost_compression_options_max_dict_buffer_bytes(ashlar_options_t* opt,
                                                                             uint64_t v,
                                                                             unsigned char enabled);
// The compression of each level: ashlar_..._compression.
void ashlar_options_set_compression_per_level(ashlar_options_t* opt, const int* level_values,
                                              size_t num_levels);
// Sets compression_per_level: none above `level`, and the present compression from there on. A
// negative level changes nothing.
void ashlar_options_set_min_level_to_compress(ashlar_options_t* opt, int level);

// ---- lists and structs, which are copied

void ashlar_options_set_max_bytes_for_level_multiplier_additional(ashlar_options_t* opt,
                                                                  int* level_values,
                                                                  size_t num_levels);
void ashlar_options_set_db_paths(ashlar_options_t* opt, const ashlar_dbpath_t** path_values,
                                 size_t num_paths);
void ashlar_options_set_cf_paths(ashlar_options_t* opt, const ashlar_dbpath_t** path_values,
                                 size_t num_paths);
void ashlar_options_set_universal_compaction_options(
    ashlar_options_t* opt, ashlar_universal_compaction_options_t* universal);
void ashlar_options_set_fifo_compaction_options(ashlar_options_t* opt,
                                                ashlar_fifo_compaction_options_t* fifo);

// Sets of FileType and of CompactionStyle. A number that names none is in no set.
void ashlar_options_checksum_handoff_file_types_clear(ashlar_options_t* opt);
void ashlar_options_checksum_handoff_file_types_add(ashlar_options_t* opt, int file_type);
void ashlar_options_checksum_handoff_file_types_remove(ashlar_options_t* opt, int file_type);
unsigned char ashlar_options_checksum_handoff_file_types_contains(ashlar_options_t* opt,
                                                                  int file_type);
size_t ashlar_options_checksum_handoff_file_types_count(ashlar_options_t* opt);
void ashlar_options_calculate_sst_write_lifetime_hint_set_clear(ashlar_options_t* opt);
void ashlar_options_calculate_sst_write_lifetime_hint_set_add(ashlar_options_t* opt,
                                                              int compaction_style);
void ashlar_options_calculate_sst_write_lifetime_hint_set_remove(ashlar_options_t* opt,
                                                                 int compaction_style);
unsigned char ashlar_options_calculate_sst_write_lifetime_hint_set_contains(ashlar_options_t* opt,
                                                                            int compaction_style);
size_t ashlar_options_calculate_sst_write_lifetime_hint_set_count(ashlar_options_t* opt);

// ---- tables and memtables

void ashlar_options_set_block_based_table_factory(
    ashlar_options_t* opt, ashlar_block_based_table_options_t* table_options);
// Formats without blocks: see ashlar/table.h.
void ashlar_options_set_cuckoo_table_factory(ashlar_options_t* opt,
                                             ashlar_cuckoo_table_options_t* table_options);
void ashlar_options_set_plain_table_factory(ashlar_options_t* opt, uint32_t user_key_len,
                                            int bloom_bits_per_key, double hash_table_ratio,
                                            size_t index_sparseness, size_t huge_page_tlb_size,
                                            char encoding_type, unsigned char full_scan_mode,
                                            unsigned char store_index_in_file);
void ashlar_options_set_memtable_vector_rep(ashlar_options_t* opt);
void ashlar_options_set_hash_skip_list_rep(ashlar_options_t* opt, size_t bucket_count,
                                           int32_t skiplist_height,
                                           int32_t skiplist_branching_factor);
void ashlar_options_set_hash_link_list_rep(ashlar_options_t* opt, size_t bucket_count);

// Adds a collector that asks for a compaction of tables with many deletions: num_dels_trigger of
// window_size consecutive entries, or, if deletion_ratio is above 0, this part of all entries.
// Tables smaller than min_file_size bytes are left alone.
void ashlar_options_add_compact_on_deletion_collector_factory(ashlar_options_t* opt,
                                                              size_t window_size,
                                                              size_t num_dels_trigger);
void ashlar_options_add_compact_on_deletion_collector_factory_del_ratio(ashlar_options_t* opt,
                                                                        size_t window_size,
                                                                        size_t num_dels_trigger,
                                                                        double deletion_ratio);
void ashlar_options_add_compact_on_deletion_collector_factory_min_file_size(ashlar_options_t* opt,
                                                                            size_t window_size,
                                                                            size_t num_dels_trigger,
                                                                            double deletion_ratio,
                                                                            uint64_t min_file_size);

ASHLAR_C_END
