// SPDX-License-Identifier: Apache-2.0
//
// Options of databases and column families that are more than a number, a flag or a text.
#include "tests/capi/check.h"

void capi_test_options(const char* directory);

// The handle, and its options as text.
static void test_copies_and_texts(void) {
  char* error = NULL;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_t* other = ashlar_options_create();
  ashlar_options_set_max_open_files(options, 17);
  ashlar_options_t* copy = ashlar_options_create_copy(options);
  ashlar_options_set_max_open_files(options, 18);
  CHECK(ashlar_options_get_max_open_files(copy) == 17);
  ashlar_get_options_from_string(copy, "write_buffer_size=1234567;create_if_missing=true", other,
                                 &error);
  CHECK_OK(error);
  CHECK(ashlar_options_get_max_open_files(other) == 17);
  CHECK(ashlar_options_get_write_buffer_size(other) == 1234567);
  CHECK(ashlar_options_get_create_if_missing(other) == 1);
  ashlar_get_options_from_string(copy, "no_such_option=1", other, &error);
  CHECK_ERROR(error, "no_such_option");
  CHECK(ashlar_options_get_write_buffer_size(other) == 1234567);
  ashlar_get_options_from_string(NULL, "max_open_files=19", other, &error);
  CHECK_OK(error);
  CHECK(ashlar_options_get_max_open_files(other) == 19);
  CHECK(ashlar_options_get_write_buffer_size(other) == 64 << 20);
  ashlar_options_destroy(copy);
  copy = ashlar_options_create_copy(NULL);
  CHECK(ashlar_options_get_write_buffer_size(copy) == 64 << 20);
  ashlar_options_destroy(options);
  ashlar_options_destroy(other);
  ashlar_options_destroy(copy);
  ashlar_options_destroy(NULL);
}

static void test_presets(void) {
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_increase_parallelism(options, 6);
  CHECK(ashlar_options_get_max_background_jobs(options) == 6);
  ashlar_options_optimize_level_style_compaction(options, 64 << 20);
  CHECK(ashlar_options_get_write_buffer_size(options) == 16 << 20);
  CHECK(ashlar_options_get_compaction_style(options) == ashlar_level_compaction);
  ashlar_options_optimize_universal_style_compaction(options, 32 << 20);
  CHECK(ashlar_options_get_write_buffer_size(options) == 8 << 20);
  CHECK(ashlar_options_get_compaction_style(options) == ashlar_universal_compaction);
  ashlar_options_optimize_for_point_lookup(options, 8);
  CHECK(ashlar_options_get_memtable_whole_key_filtering(options) == 1);
  ashlar_options_prepare_for_bulk_load(options);
  CHECK(ashlar_options_get_disable_auto_compactions(options) == 1);
  ashlar_options_destroy(options);
}

static void test_compression(void) {
  const int levels[] = {ashlar_no_compression, ashlar_lz4_compression};
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_compression_options(options, -13, 4, 2, 1000);
  ashlar_options_set_bottommost_compression_options(options, -12, 5, 1, 2000, 1);
  ashlar_options_set_bottommost_compression_options_zstd_max_train_bytes(options, 3000, 1);
  ashlar_options_set_bottommost_compression_options_use_zstd_dict_trainer(options, 0, 1);
  CHECK(ashlar_options_get_bottommost_compression_options_use_zstd_dict_trainer(options) == 0);
  ashlar_options_set_bottommost_compression_options_max_dict_buffer_bytes(options, 4000, 1);
  ashlar_options_set_compression_per_level(options, levels, 2);
  ashlar_options_set_compression(options, ashlar_zstd_compression);
  ashlar_options_set_num_levels(options, 3);
  ashlar_options_set_min_level_to_compress(options, 1);
  ashlar_options_set_min_level_to_compress(options, -1);
  ashlar_options_destroy(options);
}

static void test_lists(void) {
  ashlar_options_t* options = ashlar_options_create();
  int factors[] = {2, 3};
  ashlar_dbpath_t* paths[] = {ashlar_dbpath_create("/one", 1 << 20),
                              ashlar_dbpath_create("/two", 2 << 20)};
  ashlar_options_set_max_bytes_for_level_multiplier_additional(options, factors, 2);
  ashlar_options_set_db_paths(options, (const ashlar_dbpath_t**)paths, 2);
  ashlar_options_set_cf_paths(options, (const ashlar_dbpath_t**)paths, 1);
  ashlar_dbpath_destroy(paths[0]);
  ashlar_dbpath_destroy(paths[1]);

  ashlar_options_checksum_handoff_file_types_add(options, 2);
  ashlar_options_checksum_handoff_file_types_add(options, -1);
  ashlar_options_checksum_handoff_file_types_add(options, 1000);
  CHECK(ashlar_options_checksum_handoff_file_types_count(options) == 1);
  CHECK(ashlar_options_checksum_handoff_file_types_contains(options, 2) == 1);
  CHECK(ashlar_options_checksum_handoff_file_types_contains(options, 1000) == 0);
  ashlar_options_checksum_handoff_file_types_remove(options, 2);
  ashlar_options_checksum_handoff_file_types_remove(options, 1000);
  CHECK(ashlar_options_checksum_handoff_file_types_contains(options, 2) == 0);
  ashlar_options_checksum_handoff_file_types_add(options, 0);
  ashlar_options_checksum_handoff_file_types_clear(options);
  CHECK(ashlar_options_checksum_handoff_file_types_count(options) == 0);

  ashlar_options_calculate_sst_write_lifetime_hint_set_clear(options);
  CHECK(ashlar_options_calculate_sst_write_lifetime_hint_set_count(options) == 0);
  ashlar_options_calculate_sst_write_lifetime_hint_set_add(options, ashlar_universal_compaction);
  ashlar_options_calculate_sst_write_lifetime_hint_set_add(options, 77);
  CHECK(ashlar_options_calculate_sst_write_lifetime_hint_set_contains(
            options, ashlar_universal_compaction) == 1);
  CHECK(ashlar_options_calculate_sst_write_lifetime_hint_set_contains(options, 77) == 0);
  ashlar_options_calculate_sst_write_lifetime_hint_set_remove(options, ashlar_universal_compaction);
  ashlar_options_calculate_sst_write_lifetime_hint_set_remove(options, 77);
  CHECK(ashlar_options_calculate_sst_write_lifetime_hint_set_count(options) == 0);
  ashlar_options_destroy(options);
}

// A database can be opened with the options, written and flushed, and returns what was written.
static void check_usable(ashlar_options_t* options, const char* directory) {
  char* error = NULL;
  size_t length = 0;
  ashlar_options_set_create_if_missing(options, 1);
  ashlar_t* db = ashlar_open(options, directory, &error);
  CHECK_OK(error);
  if (db == NULL) return;
  ashlar_put(db, NULL, "key", 3, "value", 5, &error);
  CHECK_OK(error);
  CHECK_TEXT(ashlar_get(db, NULL, "key", 3, &length, &error), length, "value");
  ashlar_close(db);
  ashlar_destroy_db(options, directory, &error);
  CHECK_OK(error);
}

static void test_tables_and_memtables(const char* directory) {
  ashlar_options_t* options = ashlar_options_create();
  ashlar_block_based_table_options_t* tables = ashlar_block_based_options_create();
  ashlar_universal_compaction_options_t* universal = ashlar_universal_compaction_options_create();
  ashlar_fifo_compaction_options_t* fifo = ashlar_fifo_compaction_options_create();
  ashlar_block_based_options_set_block_size(tables, 8192);
  ashlar_options_set_block_based_table_factory(options, tables);
  ashlar_options_set_block_based_table_factory(options, NULL);
  ashlar_options_set_universal_compaction_options(options, universal);
  ashlar_options_set_fifo_compaction_options(options, fifo);
  ashlar_options_set_universal_compaction_options(options, NULL);
  ashlar_options_set_fifo_compaction_options(options, NULL);
  ashlar_block_based_options_destroy(tables);
  ashlar_universal_compaction_options_destroy(universal);
  ashlar_fifo_compaction_options_destroy(fifo);
  ashlar_options_add_compact_on_deletion_collector_factory(options, 100, 50);
  ashlar_options_add_compact_on_deletion_collector_factory_del_ratio(options, 100, 50, 0.5);
  ashlar_options_add_compact_on_deletion_collector_factory_min_file_size(options, 100, 50, 0.5,
                                                                         4096);
  check_usable(options, directory);

  ashlar_options_set_allow_concurrent_memtable_write(options, 0);
  ashlar_options_set_memtable_vector_rep(options);
  check_usable(options, directory);
  ashlar_options_set_prefix_extractor(options, ashlar_slicetransform_create_fixed_prefix(2));
  ashlar_options_set_hash_skip_list_rep(options, 1000, 4, 4);
  check_usable(options, directory);
  ashlar_options_set_hash_link_list_rep(options, 1000);
  check_usable(options, directory);

  ashlar_cuckoo_table_options_t* cuckoo = ashlar_cuckoo_options_create();
  ashlar_options_set_cuckoo_table_factory(options, cuckoo);
  ashlar_options_set_cuckoo_table_factory(options, NULL);
  ashlar_cuckoo_options_destroy(cuckoo);
  check_usable(options, directory);
  ashlar_options_set_plain_table_factory(options, 3, 10, 0.75, 16, 0, 0, 0, 1);
  check_usable(options, directory);
  ashlar_options_destroy(options);
}

// Objects are shared: their handles can be destroyed before the database is opened.
static void test_objects(const char* directory) {
  char* error = NULL;
  size_t length = 0;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_env_t* env = ashlar_create_default_env();
  ashlar_cache_t* cache = ashlar_cache_create_lru(1 << 20);
  ashlar_ratelimiter_t* limiter = ashlar_ratelimiter_create(100 << 20, 100000, 10);
  ashlar_sst_file_manager_t* files = ashlar_sst_file_manager_create(env);
  ashlar_write_buffer_manager_t* memory = ashlar_write_buffer_manager_create(64 << 20, false);
  ashlar_file_checksum_gen_factory_t* checksums = ashlar_file_checksum_gen_crc32c_factory_create();
  ashlar_sst_partitioner_factory_t* partitioner =
      ashlar_sst_partitioner_fixed_prefix_factory_create(1);
  CHECK(ashlar_options_get_info_log(options) == NULL);
  ashlar_options_set_info_log(options, NULL);
  ashlar_options_set_env(options, env);
  ashlar_options_set_ratelimiter(options, limiter);
  ashlar_options_set_sst_file_manager(options, files);
  ashlar_options_set_write_buffer_manager(options, memory);
  ashlar_options_set_row_cache(options, cache);
  ashlar_options_set_blob_cache(options, cache);
  ashlar_options_set_file_checksum_gen_factory(options, checksums);
  ashlar_options_set_sst_partitioner_factory(options, partitioner);
  ashlar_options_set_uint64add_merge_operator(options);
  ashlar_options_clear_wal_filter(options);
  ashlar_env_destroy(env);
  ashlar_cache_destroy(cache);
  ashlar_ratelimiter_destroy(limiter);
  ashlar_sst_file_manager_destroy(files);
  ashlar_write_buffer_manager_destroy(memory);
  ashlar_file_checksum_gen_factory_destroy(checksums);
  ashlar_sst_partitioner_factory_destroy(partitioner);
  check_usable(options, directory);

  ashlar_t* db = ashlar_open(options, directory, &error);
  CHECK_OK(error);
  ashlar_merge(db, NULL, "sum", 3, "\1\0\0\0\0\0\0\0", 8, &error);
  ashlar_merge(db, NULL, "sum", 3, "\2\0\0\0\0\0\0\0", 8, &error);
  CHECK_OK(error);
  char* sum = ashlar_get(db, NULL, "sum", 3, &length, &error);
  CHECK(sum != NULL && length == 8 && sum[0] == 3);
  ashlar_free(sum);
  ashlar_close(db);
  ashlar_destroy_db(options, directory, &error);
  CHECK_OK(error);

  // Null objects are none.
  ashlar_options_set_env(options, NULL);
  ashlar_options_set_ratelimiter(options, NULL);
  ashlar_options_set_sst_file_manager(options, NULL);
  ashlar_options_set_write_buffer_manager(options, NULL);
  ashlar_options_set_row_cache(options, NULL);
  ashlar_options_set_blob_cache(options, NULL);
  ashlar_options_set_file_checksum_gen_factory(options, NULL);
  ashlar_options_set_sst_partitioner_factory(options, NULL);
  ashlar_options_set_comparator(options, NULL);
  ashlar_options_set_merge_operator(options, NULL);
  ashlar_options_set_compaction_filter(options, NULL);
  ashlar_options_set_compaction_filter_factory(options, NULL);
  ashlar_options_set_prefix_extractor(options, NULL);
  ashlar_options_set_wal_filter(options, NULL);
  check_usable(options, directory);
  ashlar_options_destroy(options);
}

static void test_latest_options(const char* directory) {
  char* error = NULL;
  size_t count = 0;
  char** names = NULL;
  ashlar_options_t* loaded = NULL;
  ashlar_options_t** of_families = NULL;
  ashlar_env_t* env = ashlar_create_default_env();
  ashlar_cache_t* cache = ashlar_cache_create_lru(1 << 20);
  ashlar_load_latest_options(directory, env, false, cache, &loaded, &count, &names, &of_families,
                             &error);
  CHECK_ERROR(error, "");
  CHECK(loaded == NULL && names == NULL);

  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_create_if_missing(options, 1);
  ashlar_options_set_max_open_files(options, 1234);
  ashlar_options_set_write_buffer_size(options, 7654321);
  ashlar_t* db = ashlar_open(options, directory, &error);
  CHECK_OK(error);
  ashlar_column_family_handle_t* family =
      ashlar_create_column_family(db, options, "second", &error);
  CHECK_OK(error);
  ashlar_column_family_handle_destroy(family);
  ashlar_close(db);

  ashlar_load_latest_options(directory, env, false, cache, &loaded, &count, &names, &of_families,
                             &error);
  CHECK_OK(error);
  CHECK(count == 2);
  if (count == 2) {
    CHECK(strcmp(names[0], "default") == 0 && strcmp(names[1], "second") == 0);
    CHECK(ashlar_options_get_max_open_files(loaded) == 1234);
    CHECK(ashlar_options_get_write_buffer_size(of_families[1]) == 7654321);
  }
  ashlar_load_latest_options_destroy(loaded, names, of_families, count);
  ashlar_load_latest_options_destroy(NULL, NULL, NULL, 0);
  ashlar_cache_destroy(cache);
  ashlar_env_destroy(env);
  ashlar_destroy_db(options, directory, &error);
  CHECK_OK(error);
  ashlar_options_destroy(options);
}

void capi_test_options(const char* directory) {
  test_copies_and_texts();
  test_presets();
  test_compression();
  test_lists();
  test_tables_and_memtables(directory);
  test_objects(directory);
  test_latest_options(directory);
}
