// SPDX-License-Identifier: Apache-2.0
//
// Objects that options hold: caches, environments, limiters, filter policies, statistics.
#include "tests/capi/check.h"

void capi_test_objects(const char* directory);

static void test_caches(void) {
  char* error = NULL;
  ashlar_cache_t* cache = ashlar_cache_create_lru(1 << 20);
  CHECK(ashlar_cache_get_capacity(cache) == 1 << 20);
  ashlar_cache_set_capacity(cache, 2 << 20);
  CHECK(ashlar_cache_get_capacity(cache) == 2 << 20);
  CHECK(ashlar_cache_get_pinned_usage(cache) == 0 && ashlar_cache_get_usage(cache) == 0);
  CHECK(ashlar_cache_get_occupancy_count(cache) == 0);
  (void)ashlar_cache_get_table_address_count(cache);
  ashlar_cache_disown_data(cache);
  ashlar_cache_destroy(cache);
  ashlar_cache_destroy(NULL);

  cache = ashlar_cache_create_lru_with_strict_capacity_limit(3 << 20);
  CHECK(ashlar_cache_get_capacity(cache) == 3 << 20);
  ashlar_cache_destroy(cache);

  CHECK(ashlar_jemalloc_nodump_allocator_create(&error) == NULL);
  CHECK_ERROR(error, "Not implemented: ");
  ashlar_memory_allocator_destroy(NULL);

  ashlar_lru_cache_options_t* lru = ashlar_lru_cache_options_create();
  ashlar_lru_cache_options_set_capacity(lru, 4 << 20);
  ashlar_lru_cache_options_set_num_shard_bits(lru, 2);
  ashlar_lru_cache_options_set_memory_allocator(lru, NULL);
  cache = ashlar_cache_create_lru_opts(lru);
  CHECK(ashlar_cache_get_capacity(cache) == 4 << 20);
  ashlar_cache_destroy(cache);
  ashlar_lru_cache_options_set_num_shard_bits(lru, 100);
  CHECK(ashlar_cache_create_lru_opts(lru) == NULL);
  ashlar_lru_cache_options_destroy(lru);

  cache = ashlar_cache_create_hyper_clock(5 << 20, 4096);
  CHECK(ashlar_cache_get_capacity(cache) == 5 << 20);
  ashlar_cache_destroy(cache);
  ashlar_hyper_clock_cache_options_t* clock = ashlar_hyper_clock_cache_options_create(1 << 20, 0);
  ashlar_hyper_clock_cache_options_set_capacity(clock, 6 << 20);
  ashlar_hyper_clock_cache_options_set_estimated_entry_charge(clock, 8192);
  ashlar_hyper_clock_cache_options_set_num_shard_bits(clock, 1);
  ashlar_hyper_clock_cache_options_set_memory_allocator(clock, NULL);
  cache = ashlar_cache_create_hyper_clock_opts(clock);
  CHECK(ashlar_cache_get_capacity(cache) == 6 << 20);
  ashlar_cache_destroy(cache);
  ashlar_hyper_clock_cache_options_destroy(clock);
}

static void test_memory_of_memtables(void) {
  ashlar_write_buffer_manager_t* manager = ashlar_write_buffer_manager_create(0, false);
  CHECK(!ashlar_write_buffer_manager_enabled(manager));
  CHECK(!ashlar_write_buffer_manager_cost_to_cache(manager));
  ashlar_write_buffer_manager_set_buffer_size(manager, 1 << 20);
  CHECK(ashlar_write_buffer_manager_enabled(manager));
  ashlar_write_buffer_manager_set_buffer_size(manager, 0);
  CHECK(ashlar_write_buffer_manager_buffer_size(manager) == 1 << 20);
  ashlar_write_buffer_manager_set_allow_stall(manager, true);
  ashlar_write_buffer_manager_destroy(manager);

  ashlar_cache_t* cache = ashlar_cache_create_lru(8 << 20);
  manager = ashlar_write_buffer_manager_create_with_cache(1 << 20, cache, false);
  ashlar_cache_destroy(cache);
  CHECK(ashlar_write_buffer_manager_cost_to_cache(manager));
  CHECK(ashlar_write_buffer_manager_memory_usage(manager) == 0);
  CHECK(ashlar_write_buffer_manager_mutable_memtable_memory_usage(manager) == 0);
  CHECK(ashlar_write_buffer_manager_dummy_entries_in_cache_usage(manager) == 0);
  ashlar_write_buffer_manager_destroy(manager);
}

static void test_environments(const char* directory) {
  char* error = NULL;
  ashlar_env_t* memory = ashlar_create_mem_env();
  ashlar_env_t* env = ashlar_create_default_env();
  ashlar_create_dir_if_missing(memory, directory, &error);
  ashlar_create_dir_if_missing(memory, directory, &error);
  CHECK_OK(error);
  ashlar_create_dir_if_missing(env, "/dev/null/no", &error);
  CHECK_ERROR(error, "/dev/null/no");
  ashlar_env_set_background_threads(env, 3);
  CHECK(ashlar_env_get_background_threads(env) == 3);
  CHECK(ashlar_env_get_low_priority_background_threads(env) == 3);
  ashlar_env_set_low_priority_background_threads(env, 4);
  CHECK(ashlar_env_get_background_threads(env) == 4);
  ashlar_env_set_high_priority_background_threads(env, 2);
  CHECK(ashlar_env_get_high_priority_background_threads(env) == 2);
  ashlar_env_set_bottom_priority_background_threads(env, 1);
  CHECK(ashlar_env_get_bottom_priority_background_threads(env) == 1);
  ashlar_env_join_all_threads(env);
  ashlar_env_lower_thread_pool_io_priority(memory);
  ashlar_env_lower_high_priority_thread_pool_io_priority(memory);
  ashlar_env_lower_thread_pool_cpu_priority(memory);
  ashlar_env_lower_high_priority_thread_pool_cpu_priority(memory);

  ashlar_ratelimiter_t* limiter = ashlar_ratelimiter_create_with_mode(1 << 20, 100000, 10, 2, true);
  ashlar_envoptions_t* files = ashlar_envoptions_create();
  ashlar_envoptions_set_rate_limiter(files, limiter);
  ashlar_ratelimiter_destroy(limiter);
  ashlar_envoptions_set_rate_limiter(files, NULL);
  ashlar_envoptions_destroy(files);

  ashlar_sst_file_manager_t* manager = ashlar_sst_file_manager_create(env);
  ashlar_sst_file_manager_set_max_allowed_space_usage(manager, 1 << 30);
  ashlar_sst_file_manager_set_compaction_buffer_size(manager, 1 << 20);
  CHECK(!ashlar_sst_file_manager_is_max_allowed_space_reached(manager));
  CHECK(!ashlar_sst_file_manager_is_max_allowed_space_reached_including_compactions(manager));
  CHECK(ashlar_sst_file_manager_get_total_size(manager) == 0);
  ashlar_sst_file_manager_set_delete_rate_bytes_per_second(manager, 12345);
  CHECK(ashlar_sst_file_manager_get_delete_rate_bytes_per_second(manager) == 12345);
  ashlar_sst_file_manager_set_max_trash_db_ratio(manager, 0.75);
  CHECK(ashlar_sst_file_manager_get_max_trash_db_ratio(manager) == 0.75);
  CHECK(ashlar_sst_file_manager_get_total_trash_size(manager) == 0);
  ashlar_sst_file_manager_destroy(manager);
  ashlar_sst_file_manager_destroy(ashlar_sst_file_manager_create(NULL));
  ashlar_env_destroy(memory);
  ashlar_env_destroy(env);
}

static void test_tables(void) {
  char* error = NULL;
  size_t length = 7;
  ashlar_cache_t* cache = ashlar_cache_create_lru(1 << 20);
  ashlar_block_based_table_options_t* tables = ashlar_block_based_options_create();
  ashlar_block_based_table_options_t* others = ashlar_block_based_options_create();
  ashlar_block_based_options_set_block_cache(tables, cache);
  ashlar_block_based_options_set_block_cache_compressed(tables, cache);
  ashlar_cache_destroy(cache);
  ashlar_block_based_options_set_filter_policy(tables, ashlar_filterpolicy_create_bloom(10));
  ashlar_block_based_options_set_filter_policy(tables, ashlar_filterpolicy_create_ribbon(10));
  ashlar_block_based_options_set_filter_policy(tables,
                                               ashlar_filterpolicy_create_ribbon_hybrid(10, 1));
  // Two options may get the same policy; destroying it too does no harm.
  ashlar_filterpolicy_t* policy = ashlar_filterpolicy_create_bloom_full(9.5);
  ashlar_block_based_options_set_filter_policy(tables, policy);
  ashlar_block_based_options_set_filter_policy(others, policy);
  ashlar_filterpolicy_destroy(policy);
  ashlar_block_based_options_set_filter_policy(tables, NULL);
  ashlar_filterpolicy_destroy(ashlar_filterpolicy_create_bloom(10));
  ashlar_filterpolicy_destroy(NULL);

  ashlar_block_based_options_set_data_block_hash_ratio(tables, 0.5);
  CHECK(ashlar_block_based_options_get_data_block_hash_table_util_ratio(tables) == 0.5);
  ashlar_block_based_options_set_user_defined_index_factory_from_string(tables, "trie", 4, &error);
  CHECK_ERROR(error, "Not implemented: user-defined indexes are not built: trie");
  ashlar_block_based_options_clear_user_defined_index_factory(tables);
  CHECK(ashlar_block_based_options_get_user_defined_index_factory_name(tables, &length) == NULL &&
        length == 0);
  ashlar_block_based_options_destroy(tables);
  ashlar_block_based_options_destroy(others);

  ashlar_cuckoo_table_options_t* cuckoo = ashlar_cuckoo_options_create();
  ashlar_cuckoo_options_set_hash_ratio(cuckoo, 0.5);
  CHECK(ashlar_cuckoo_options_get_hash_table_ratio(cuckoo) == 0.5);
  ashlar_cuckoo_options_destroy(cuckoo);
}

static void test_statistics(const char* directory) {
  enum { NUMBER_KEYS_WRITTEN = 58, BYTES_PER_WRITE = 32 };  // of Tickers and Histograms
  char* error = NULL;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_statistics_histogram_data_t* data = ashlar_statistics_histogram_data_create();
  CHECK(ashlar_options_statistics_get_string(options) == NULL);
  CHECK(ashlar_options_get_statistics_level(options) == ashlar_statistics_level_disable_all);
  CHECK(ashlar_options_statistics_get_ticker_count(options, 0) == 0);
  ashlar_options_statistics_get_histogram_data(options, 0, data);
  ashlar_options_set_statistics_level(options, ashlar_statistics_level_all);
  CHECK(ashlar_options_get_statistics_level(options) == ashlar_statistics_level_all);
  ashlar_options_set_statistics_level(options, -1);
  CHECK(ashlar_options_get_statistics_level(options) == ashlar_statistics_level_disable_all);
  ashlar_options_set_statistics_level(options, 1000);
  CHECK(ashlar_options_get_statistics_level(options) == ashlar_statistics_level_all);
  ashlar_options_enable_statistics(options);
  CHECK(ashlar_options_get_statistics_level(options) ==
        ashlar_statistics_level_except_detailed_timers);

  ashlar_options_set_create_if_missing(options, 1);
  ashlar_t* db = ashlar_open(options, directory, &error);
  CHECK_OK(error);
  ashlar_put(db, NULL, "key", 3, "value", 5, &error);
  ashlar_put(db, NULL, "key", 3, "value", 5, &error);
  CHECK_OK(error);
  CHECK(ashlar_options_statistics_get_ticker_count(options, NUMBER_KEYS_WRITTEN) == 2);
  CHECK(ashlar_options_statistics_get_ticker_count(options, 1000000) == 0);
  ashlar_options_statistics_get_histogram_data(options, BYTES_PER_WRITE, data);
  CHECK(ashlar_statistics_histogram_data_get_count(data) == 2);
  const double bytes = ashlar_statistics_histogram_data_get_min(data);
  CHECK(bytes > 8);
  CHECK(ashlar_statistics_histogram_data_get_max(data) == bytes);
  CHECK(ashlar_statistics_histogram_data_get_sum(data) == (uint64_t)(2 * bytes));
  CHECK(ashlar_statistics_histogram_data_get_median(data) == bytes);
  CHECK(ashlar_statistics_histogram_data_get_p95(data) == bytes);
  CHECK(ashlar_statistics_histogram_data_get_p99(data) == bytes);
  CHECK(ashlar_statistics_histogram_data_get_average(data) == bytes);
  CHECK(ashlar_statistics_histogram_data_get_std_dev(data) == 0);
  ashlar_options_statistics_get_histogram_data(options, 1000000, data);
  CHECK(ashlar_statistics_histogram_data_get_count(data) == 0);
  char* report = ashlar_options_statistics_get_string(options);
  CHECK(strstr(report, "rocksdb.number.keys.written COUNT : 2") != NULL);
  ashlar_free(report);
  ashlar_statistics_histogram_data_destroy(data);

  ashlar_memory_consumers_t* consumers = ashlar_memory_consumers_create();
  ashlar_cache_t* cache = ashlar_cache_create_lru(1 << 20);
  ashlar_memory_consumers_add_db(consumers, db);
  ashlar_memory_consumers_add_cache(consumers, cache);
  ashlar_memory_usage_t* usage = ashlar_approximate_memory_usage_create(consumers, &error);
  CHECK_OK(error);
  const uint64_t memtables = ashlar_approximate_memory_usage_get_mem_table_total(usage);
  CHECK(memtables > 0 &&
        ashlar_approximate_memory_usage_get_mem_table_unflushed(usage) == memtables);
  CHECK(ashlar_approximate_memory_usage_get_mem_table_readers_total(usage) == 0);
  CHECK(ashlar_approximate_memory_usage_get_cache_total(usage) == ashlar_cache_get_usage(cache));
  ashlar_approximate_memory_usage_destroy(usage);
  ashlar_memory_consumers_destroy(consumers);
  ashlar_cache_destroy(cache);
  ashlar_close(db);
  ashlar_destroy_db(options, directory, &error);
  CHECK_OK(error);
  ashlar_options_destroy(options);
}

static void test_perf_context(const char* directory) {
  char* error = NULL;
  size_t length = 0;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_perfcontext_t* context = ashlar_perfcontext_create();
  ashlar_options_set_create_if_missing(options, 1);
  ashlar_t* db = ashlar_open(options, directory, &error);
  CHECK_OK(error);
  ashlar_set_perf_level(ashlar_enable_count);
  ashlar_set_perf_level(-1);
  ashlar_set_perf_level(1000);
  ashlar_perfcontext_reset(context);
  CHECK_TEXT(ashlar_get(db, NULL, "key", 3, &length, &error), length, NULL);
  CHECK(ashlar_perfcontext_metric(context, ashlar_get_from_memtable_count) == 1);
  CHECK(ashlar_perfcontext_metric(context, ashlar_total_metric_count) == 0);
  CHECK(ashlar_perfcontext_metric(context, -1) == 0);
  char* report = ashlar_perfcontext_report(context, 1);
  CHECK(strstr(report, "get_from_memtable_count = 1") != NULL);
  CHECK(strstr(report, "block_read_count") == NULL);
  ashlar_free(report);
  ashlar_perfcontext_reset(context);
  CHECK(ashlar_perfcontext_metric(context, ashlar_get_from_memtable_count) == 0);
  ashlar_perfcontext_destroy(context);
  ashlar_close(db);
  ashlar_destroy_db(options, directory, &error);
  CHECK_OK(error);
  ashlar_options_destroy(options);
}

void capi_test_objects(const char* directory) {
  test_caches();
  test_memory_of_memtables();
  test_environments(directory);
  test_tables();
  test_statistics(directory);
  test_perf_context(directory);
}
