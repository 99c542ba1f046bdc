// SPDX-License-Identifier: Apache-2.0
//
// Keys, callbacks and objects as options of single calls, transactions and backups.
#include "tests/capi/check.h"

void capi_test_option_values(const char* directory);

static unsigned char accept_tables(void* state, const ashlar_table_properties_t* properties) {
  CHECK(ashlar_table_properties_num_entries(properties) > 0);
  size_t length = 0;
  const char* name = ashlar_table_properties_column_family_name(properties, &length);
  CHECK(length == 7 && memcmp(name, "default", 7) == 0);
  return *(const unsigned char*)state;
}

static int destroyed = 0;
static void count_destroyed(void* state) {
  (void)state;
  ++destroyed;
}

// The keys that an iterator shows.
static void check_keys(ashlar_t* db, ashlar_readoptions_t* read, const char* expected) {
  char found[32] = "";
  ashlar_iterator_t* iterator = ashlar_create_iterator(db, read);
  for (ashlar_iter_seek_to_first(iterator); ashlar_iter_valid(iterator);
       ashlar_iter_next(iterator)) {
    size_t length = 0;
    const char* key = ashlar_iter_key(iterator, &length);
    if (strlen(found) + length < sizeof(found)) strncat(found, key, length);
  }
  if (strcmp(found, expected) != 0) fprintf(stderr, "keys '%s'\n", found);
  CHECK(strcmp(found, expected) == 0);
  ashlar_iter_destroy(iterator);
}

static void test_reads(const char* directory) {
  char* error = NULL;
  size_t length = 7;
  unsigned char accept = 0;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_create_if_missing(options, 1);
  ashlar_t* db = ashlar_open(options, directory, &error);
  CHECK_OK(error);
  for (char key = 'a'; key <= 'e'; ++key) ashlar_put(db, NULL, &key, 1, "v", 1, &error);
  ashlar_readoptions_t* read = ashlar_readoptions_create();

  char bound = 'b';
  ashlar_readoptions_set_iterate_lower_bound(read, &bound, 1);
  bound = 'd';
  ashlar_readoptions_set_iterate_upper_bound(read, &bound, 1);
  bound = 'x';  // the bounds were copied
  check_keys(db, read, "bc");
  ashlar_readoptions_set_iterate_lower_bound(read, NULL, 0);
  check_keys(db, read, "abc");
  ashlar_readoptions_set_iterate_upper_bound(read, NULL, 0);
  check_keys(db, read, "abcde");

  const ashlar_snapshot_t* snapshot = ashlar_create_snapshot(db);
  ashlar_put(db, NULL, "f", 1, "v", 1, &error);
  ashlar_readoptions_set_snapshot(read, snapshot);
  check_keys(db, read, "abcde");
  ashlar_readoptions_set_snapshot(read, NULL);
  check_keys(db, read, "abcdef");
  ashlar_release_snapshot(db, snapshot);

  ashlar_close(db);  // the next opening writes a table
  db = ashlar_open(options, directory, &error);
  CHECK_OK(error);
  CHECK(ashlar_readoptions_has_table_filter(read) == 0);
  ashlar_readoptions_set_table_filter(read, &accept, count_destroyed, accept_tables);
  CHECK(ashlar_readoptions_has_table_filter(read) == 1);
  check_keys(db, read, "");
  accept = 1;
  check_keys(db, read, "abcdef");
  ashlar_readoptions_set_table_filter(read, &accept, NULL, accept_tables);
  CHECK(destroyed == 1);
  ashlar_readoptions_set_table_filter(read, &accept, count_destroyed, accept_tables);
  ashlar_readoptions_clear_table_filter(read);
  CHECK(destroyed == 2 && ashlar_readoptions_has_table_filter(read) == 0);
  ashlar_readoptions_set_table_filter(read, &accept, count_destroyed, accept_tables);

  ashlar_readoptions_set_timestamp(read, "t", 1);
  CHECK(ashlar_get(db, read, "a", 1, &length, &error) == NULL);
  CHECK_ERROR(error, "timestamp");
  ashlar_readoptions_set_timestamp(read, NULL, 0);
  ashlar_readoptions_set_iter_start_ts(read, "t", 1);
  ashlar_readoptions_set_iter_start_ts(read, NULL, 0);
  CHECK_TEXT(ashlar_get(db, read, "a", 1, &length, &error), length, "v");
  ashlar_readoptions_destroy(read);
  CHECK(destroyed == 3);
  ashlar_close(db);
  ashlar_destroy_db(options, directory, &error);
  CHECK_OK(error);
  ashlar_options_destroy(options);
}

static void test_texts_and_thresholds(void) {
  char* error = NULL;
  size_t length = 7;
  ashlar_readoptions_t* read = ashlar_readoptions_create();
  CHECK(ashlar_readoptions_get_request_id(read, &length) == NULL && length == 0);
  ashlar_readoptions_set_request_id(read, "a\0b", 3);
  const char* id = ashlar_readoptions_get_request_id(read, &length);
  CHECK(length == 3 && memcmp(id, "a\0b", 3) == 0);
  ashlar_readoptions_clear_request_id(read);
  CHECK(ashlar_readoptions_get_request_id(read, NULL) == NULL);

  CHECK(ashlar_readoptions_has_merge_operand_count_threshold(read) == 0);
  CHECK(ashlar_readoptions_get_merge_operand_count_threshold(read) == 0);
  ashlar_readoptions_set_merge_operand_count_threshold(read, 9);
  CHECK(ashlar_readoptions_has_merge_operand_count_threshold(read) == 1);
  CHECK(ashlar_readoptions_get_merge_operand_count_threshold(read) == 9);
  ashlar_readoptions_clear_merge_operand_count_threshold(read);
  CHECK(ashlar_readoptions_has_merge_operand_count_threshold(read) == 0);

  ashlar_readoptions_set_table_index_factory_from_string(read, "trie", 4, &error);
  CHECK_ERROR(error, "Not implemented: user-defined indexes are not built: trie");
  ashlar_readoptions_clear_table_index_factory(read);
  CHECK(ashlar_readoptions_get_table_index_factory_name(read, &length) == NULL && length == 0);
  ashlar_readoptions_destroy(read);
}

static void test_compactions(void) {
  char timestamp[] = "t";
  ashlar_compactoptions_t* range = ashlar_compactoptions_create();
  ashlar_compactoptions_set_full_history_ts_low(range, timestamp, 1);
  ashlar_compactoptions_set_full_history_ts_low(range, NULL, 0);
  ashlar_compactoptions_destroy(range);

  unsigned char* canceled = ashlar_compaction_options_canceled_create();
  ashlar_compaction_options_t* files = ashlar_compaction_options_create();
  CHECK(*canceled == 0);
  ashlar_compaction_options_set_canceled(files, canceled);
  ashlar_compaction_options_canceled_set(canceled, 1);
  CHECK(*canceled == 1);
  ashlar_compaction_options_set_canceled(files, NULL);
  ashlar_compaction_options_destroy(files);
  ashlar_compaction_options_canceled_destroy(canceled);

  canceled = ashlar_open_and_compact_canceled_create();
  ashlar_open_and_compact_options_t* service = ashlar_open_and_compact_options_create();
  ashlar_open_and_compact_options_set_canceled(service, canceled);
  ashlar_open_and_compact_canceled_set(canceled, 7);
  CHECK(*canceled == 1);
  ashlar_open_and_compact_options_destroy(service);
  ashlar_open_and_compact_canceled_destroy(canceled);
}

static void test_metadata(void) {
  size_t length = 7;
  ashlar_column_family_metadata_options_t* options = ashlar_column_family_metadata_options_create();
  CHECK(ashlar_column_family_metadata_options_get_start_key(options, &length) == NULL &&
        length == 0);
  char key = 'a';
  ashlar_column_family_metadata_options_set_start_key(options, &key, 1);
  key = 'z';
  ashlar_column_family_metadata_options_set_end_key(options, &key, 1);
  key = 'x';
  CHECK(*ashlar_column_family_metadata_options_get_start_key(options, &length) == 'a' &&
        length == 1);
  CHECK(*ashlar_column_family_metadata_options_get_end_key(options, &length) == 'z' && length == 1);
  ashlar_column_family_metadata_options_set_end_key(options, NULL, 0);
  CHECK(ashlar_column_family_metadata_options_get_end_key(options, NULL) == NULL);
  ashlar_column_family_metadata_options_destroy(options);
}

static void ignore_progress(void* state) { (void)state; }
static unsigned char exclude_nothing(void* state, const char* path, size_t path_len) {
  (void)state, (void)path, (void)path_len;
  return 0;
}

static void test_transactions_and_backups(void) {
  ashlar_optimistictransactiondb_options_t* transactions =
      ashlar_optimistictransactiondb_options_create();
  ashlar_optimistictransactiondb_lock_buckets_t* locks =
      ashlar_optimistictransactiondb_lock_buckets_create(100, 1);
  CHECK(ashlar_optimistictransactiondb_lock_buckets_approximate_memory_usage(locks) >= 128 * 64);
  ashlar_optimistictransactiondb_options_set_shared_lock_buckets(transactions, locks);
  ashlar_optimistictransactiondb_lock_buckets_destroy(locks);
  ashlar_optimistictransactiondb_options_set_shared_lock_buckets(transactions, NULL);
  ashlar_optimistictransactiondb_options_destroy(transactions);

  size_t length = 0;
  ashlar_env_t* env = ashlar_create_default_env();
  ashlar_ratelimiter_t* limiter = ashlar_ratelimiter_create_auto_tuned(1 << 20, 100000, 10);
  ashlar_backup_engine_options_t* backup = ashlar_backup_engine_options_create("backups");
  CHECK(strcmp(ashlar_backup_engine_options_get_backup_dir(backup, &length), "backups") == 0 &&
        length == 7);
  ashlar_backup_engine_options_set_env(backup, env);
  ashlar_backup_engine_options_set_backup_rate_limiter(backup, limiter);
  ashlar_backup_engine_options_set_restore_rate_limiter(backup, limiter);
  ashlar_ratelimiter_destroy(limiter);
  ashlar_backup_engine_options_set_env(backup, NULL);
  ashlar_backup_engine_options_set_backup_rate_limiter(backup, NULL);
  ashlar_backup_engine_options_destroy(backup);
  ashlar_env_destroy(env);

  ashlar_create_backup_options_t* create = ashlar_create_backup_options_create();
  ashlar_create_backup_options_set_progress_callback(create, NULL, ignore_progress);
  ashlar_create_backup_options_set_exclude_files_callback(create, NULL, exclude_nothing);
  ashlar_create_backup_options_set_progress_callback(create, NULL, NULL);
  ashlar_create_backup_options_set_exclude_files_callback(create, NULL, NULL);
  ashlar_create_backup_options_destroy(create);
}

void capi_test_option_values(const char* directory) {
  destroyed = 0;
  test_reads(directory);
  test_texts_and_thresholds();
  test_compactions();
  test_metadata();
  test_transactions_and_backups();
}
