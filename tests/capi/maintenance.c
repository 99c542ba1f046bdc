// SPDX-License-Identifier: Apache-2.0
//
// Flushes, compactions, changes of options, properties, sizes; facts about files.
#include "tests/capi/check.h"

void capi_test_maintenance(const char* directory);
void capi_test_metadata(const char* directory);

static ashlar_column_family_handle_t* family;

static uint64_t number(ashlar_t* db, ashlar_column_family_handle_t* of, const char* property) {
  uint64_t value = 0;
  CHECK(ashlar_property_int_cf(db, of, property, &value) == 0);
  return value;
}

static void test_flushes(ashlar_t* db) {
  char* error = NULL;
  ashlar_flushoptions_t* options = ashlar_flushoptions_create();
  put_text(db, "a", "1");
  ashlar_put_cf(db, NULL, family, "a", 1, "2", 1, &error);
  ashlar_flush(db, options, &error);
  CHECK_OK(error);
  CHECK(number(db, NULL, "rocksdb.num-entries-active-mem-table") == 0);
  CHECK(number(db, family, "rocksdb.num-entries-active-mem-table") == 1);
  ashlar_flush_cf(db, options, family, &error);
  CHECK_OK(error);
  CHECK(number(db, family, "rocksdb.num-entries-active-mem-table") == 0);
  put_text(db, "b", "1");
  ashlar_put_cf(db, NULL, family, "b", 1, "2", 1, &error);
  ashlar_column_family_handle_t* both[] = {NULL, family};
  ashlar_flush_cfs(db, options, both, 2, &error);
  CHECK_OK(error);
  CHECK(number(db, NULL, "rocksdb.num-entries-active-mem-table") == 0);
  CHECK(number(db, family, "rocksdb.num-entries-active-mem-table") == 0);
  ashlar_flushoptions_destroy(options);
  ashlar_flush_wal(db, 1, &error);
  CHECK_OK(error);
  ashlar_flushwaloptions_t* wal = ashlar_flushwaloptions_create();
  ashlar_flushwaloptions_set_sync(wal, 1);
  ashlar_flush_wal_with_options(db, wal, &error);
  CHECK_OK(error);
  ashlar_flushwaloptions_destroy(wal);
}

static char* text_of(ashlar_t* db, const char* property) {
  char* text = ashlar_property_value(db, property);
  CHECK(text != NULL);
  return text;
}

static void test_compactions(ashlar_t* db) {
  char* error = NULL;
  CHECK_TEXT(text_of(db, "rocksdb.num-files-at-level0"), 1, "2");
  ashlar_compact_range(db, "x", 1, "y", 1);  // holds nothing
  CHECK_TEXT(text_of(db, "rocksdb.num-files-at-level0"), 1, "2");
  ashlar_compact_range(db, NULL, 0, NULL, 0);
  CHECK_TEXT(text_of(db, "rocksdb.num-files-at-level0"), 1, "0");
  ashlar_compact_range_cf(db, family, NULL, 0, NULL, 0);
  CHECK_TEXT(ashlar_property_value_cf(db, family, "rocksdb.num-files-at-level0"), 1, "0");
  ashlar_compactoptions_t* compact = ashlar_compactoptions_create();
  ashlar_compactoptions_set_change_level(compact, 1);
  ashlar_compactoptions_set_target_level(compact, 3);
  ashlar_compact_range_opt(db, compact, NULL, 0, NULL, 0);
  ashlar_compact_range_cf_opt(db, family, compact, NULL, 0, NULL, 0);
  CHECK_TEXT(text_of(db, "rocksdb.num-files-at-level3"), 1, "1");
  CHECK_TEXT(ashlar_property_value_cf(db, family, "rocksdb.num-files-at-level3"), 1, "1");
  ashlar_compactoptions_destroy(compact);
  ashlar_suggest_compact_range(db, "a", 1, "b", 1, &error);
  ashlar_suggest_compact_range_cf(db, family, NULL, 0, NULL, 0, &error);
  CHECK_OK(error);
  ashlar_wait_for_compact_options_t* wait = ashlar_wait_for_compact_options_create();
  ashlar_wait_for_compact(db, wait, &error);
  CHECK_OK(error);
  CHECK(number(db, NULL, "rocksdb.num-running-compactions") == 0);
  ashlar_wait_for_compact_options_destroy(wait);

  // An enable without a disable before it cancels the next disable.
  ashlar_enable_manual_compaction(db);
  ashlar_disable_manual_compaction(db);
  put_text(db, "c", "1");
  flush_all(db);
  ashlar_compact_range(db, NULL, 0, NULL, 0);
  CHECK_TEXT(text_of(db, "rocksdb.num-files-at-level0"), 1, "0");
  put_text(db, "c", "2");
  flush_all(db);
  ashlar_disable_manual_compaction(db);
  ashlar_compact_range(db, NULL, 0, NULL, 0);
  CHECK_TEXT(text_of(db, "rocksdb.num-files-at-level0"), 1, "1");
  ashlar_enable_manual_compaction(db);
  ashlar_compact_range(db, NULL, 0, NULL, 0);
  CHECK_TEXT(text_of(db, "rocksdb.num-files-at-level0"), 1, "0");
  ashlar_pause_background_work(db, &error);
  ashlar_continue_background_work(db, &error);
  CHECK_OK(error);
}

static void test_changes(ashlar_t* db) {
  char* error = NULL;
  const char* const keys[] = {"write_buffer_size", "level0_file_num_compaction_trigger"};
  const char* const values[] = {"1048576", "8"};
  ashlar_set_options(db, 2, keys, values, &error);
  CHECK_OK(error);
  ashlar_set_options_cf(db, family, 1, keys, values, &error);
  CHECK_OK(error);
  ashlar_set_options_cf(db, family, 1, values, keys, &error);
  CHECK_ERROR(error, "Invalid argument: ");
  const char* const db_key[] = {"max_background_jobs"};
  const char* const db_value[] = {"3"};
  ashlar_set_db_options(db, 1, db_key, db_value, &error);
  CHECK_OK(error);
  ashlar_set_db_options(db, 1, keys, values, &error);
  CHECK_ERROR(error, "NotFound: ");
}

static void test_files(ashlar_t* db) {
  char* error = NULL;
  size_t length = 0;
  ashlar_disable_file_deletions(db, &error);
  CHECK(number(db, NULL, "rocksdb.is-file-deletions-enabled") == 0);
  ashlar_enable_file_deletions(db, &error);
  CHECK_OK(error);
  CHECK(number(db, NULL, "rocksdb.is-file-deletions-enabled") == 1);
  ashlar_verify_checksum(db, &error);
  ashlar_verify_checksum_with_options(db, NULL, &error);
  CHECK_OK(error);
  ashlar_verify_file_checksums(db, &error);
  CHECK_ERROR(error, "Invalid argument: ");  // there are none
  ashlar_verify_file_checksums_with_options(db, NULL, &error);
  CHECK_ERROR(error, "Invalid argument: ");
  ashlar_increase_full_history_ts_low(db, family, "12345678", 8, &error);
  CHECK_ERROR(error, "");
  CHECK(ashlar_get_full_history_ts_low(db, family, &length, &error) == NULL && length == 0);
  CHECK_ERROR(error, "");
  ashlar_delete_file_in_range(db, NULL, 0, NULL, 0, &error);
  ashlar_delete_file_in_range_cf(db, family, "a", 1, "b", 1, &error);
  CHECK_OK(error);
  CHECK(has_text(db, "a", NULL));
  CHECK(ashlar_get_cf(db, NULL, family, "a", 1, &length, &error) == NULL);
}

static void test_sizes(ashlar_t* db) {
  char* error = NULL;
  uint64_t sizes[2] = {7, 7};
  char value[4000];
  memset(value, 'v', sizeof(value));
  ashlar_put(db, NULL, "s1", 2, value, sizeof(value), &error);
  ashlar_put_cf(db, NULL, family, "s1", 2, value, sizeof(value), &error);
  flush_all(db);
  ashlar_flush_cf(db, NULL, family, &error);
  const char* starts[] = {"s", "x"};
  const char* limits[] = {"t", "y"};
  const size_t lengths[] = {1, 1};
  ashlar_approximate_sizes(db, 2, starts, lengths, limits, lengths, sizes, &error);
  CHECK(sizes[0] > 0 && sizes[1] == 0);
  ashlar_approximate_sizes_cf(db, family, 2, starts, lengths, limits, lengths, sizes, &error);
  CHECK(sizes[0] > 0 && sizes[1] == 0);
  ashlar_size_approximation_options_t* options = ashlar_size_approximation_options_create();
  ashlar_size_approximation_options_set_include_memtables(options, 1);
  ashlar_size_approximation_options_set_include_files(options, 0);
  ashlar_approximate_sizes_with_options(db, options, 2, starts, lengths, limits, lengths, sizes,
                                        &error);
  CHECK(sizes[0] == 0);
  ashlar_approximate_sizes_cf_with_options(db, family, options, 2, starts, lengths, limits, lengths,
                                           sizes, &error);
  CHECK(sizes[0] == 0);
  CHECK_OK(error);
  ashlar_size_approximation_options_set_include_memtables(options, 0);
  ashlar_approximate_sizes_with_options(db, options, 2, starts, lengths, limits, lengths, sizes,
                                        &error);
  CHECK_ERROR(error, "Invalid argument: ");
  ashlar_size_approximation_options_destroy(options);
  ashlar_approximate_sizes_cf_with_flags(db, family, 2, starts, lengths, limits, lengths,
                                         ashlar_size_approximation_flags_include_files, sizes,
                                         &error);
  CHECK_OK(error);
  CHECK(sizes[0] > 0);

  uint64_t value_of = 0;
  CHECK(ashlar_property_int(db, "rocksdb.num-immutable-mem-table", &value_of) == 0 &&
        value_of == 0);
  CHECK(ashlar_property_int(db, "rocksdb.none", &value_of) == -1);
  CHECK(ashlar_property_value(db, "rocksdb.none") == NULL);
}

void capi_test_maintenance(const char* directory) {
  char* error = NULL;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_disable_auto_compactions(options, 1);
  ashlar_t* db = open_database(directory, options);
  family = ashlar_create_column_family(db, options, "family", &error);
  CHECK_OK(error);
  test_flushes(db);
  test_compactions(db);
  test_changes(db);
  test_files(db);
  test_sizes(db);
  ashlar_column_family_handle_destroy(family);
  ashlar_close(db);
  ashlar_options_destroy(options);
}

static void test_live_files(ashlar_t* db, const char* directory) {
  size_t length = 0;
  const ashlar_livefiles_t* files = ashlar_livefiles(db);
  CHECK(ashlar_livefiles_count(files) == 2);
  int other = strcmp(ashlar_livefiles_column_family_name(files, 0), "family") == 0;
  CHECK(strcmp(ashlar_livefiles_column_family_name(files, other), "default") == 0);
  CHECK(strstr(ashlar_livefiles_name(files, other), ".sst") != NULL);
  CHECK(strcmp(ashlar_livefiles_directory(files, other), directory) == 0);
  CHECK(ashlar_livefiles_level(files, other) == 0);
  CHECK(ashlar_livefiles_size(files, other) > 100);
  CHECK(ashlar_livefiles_smallestkey(files, other, &length)[0] == 'a' && length == 1);
  CHECK(memcmp(ashlar_livefiles_largestkey(files, other, &length), "c\0d", 3) == 0 && length == 3);
  CHECK(ashlar_livefiles_smallest_seqno(files, other) == 1);
  CHECK(ashlar_livefiles_largest_seqno(files, other) == 3);
  CHECK(ashlar_livefiles_entries(files, other) == 3);
  CHECK(ashlar_livefiles_deletions(files, other) == 1);
  ashlar_livefiles_destroy(files);
}

static void test_made_files(void) {
  size_t length = 0;
  ashlar_livefile_t* file = ashlar_livefile_create();
  ashlar_livefile_set_column_family_name(file, "default");
  ashlar_livefile_set_name(file, "/000012.sst");
  ashlar_livefile_set_directory(file, "/somewhere");
  ashlar_livefile_set_level(file, 2);
  ashlar_livefile_set_size(file, 99);
  ashlar_livefile_set_smallest_key(file, "a", 1);
  ashlar_livefile_set_largest_key(file, "zz", 2);
  ashlar_livefile_set_smallest_seqno(file, 3);
  ashlar_livefile_set_largest_seqno(file, 8);
  ashlar_livefile_set_num_entries(file, 6);
  ashlar_livefile_set_num_deletions(file, 1);
  ashlar_livefiles_t* files = ashlar_livefiles_create();
  ashlar_livefiles_add(files, file);
  ashlar_livefile_destroy(file);
  CHECK(ashlar_livefiles_count(files) == 1);
  CHECK(strcmp(ashlar_livefiles_name(files, 0), "/000012.sst") == 0);
  CHECK(strcmp(ashlar_livefiles_directory(files, 0), "/somewhere") == 0);
  CHECK(ashlar_livefiles_level(files, 0) == 2 && ashlar_livefiles_size(files, 0) == 99);
  CHECK(ashlar_livefiles_largestkey(files, 0, &length)[1] == 'z' && length == 2);
  CHECK(ashlar_livefiles_entries(files, 0) == 6 && ashlar_livefiles_deletions(files, 0) == 1);
  CHECK(ashlar_livefiles_smallest_seqno(files, 0) == 3 &&
        ashlar_livefiles_largest_seqno(files, 0) == 8);
  ashlar_livefiles_destroy(files);
}

static void check_family(ashlar_column_family_metadata_t* metadata, const char* name,
                         size_t files) {
  char* text = ashlar_column_family_metadata_get_name(metadata);
  CHECK(strcmp(text, name) == 0);
  ashlar_free(text);
  CHECK(ashlar_column_family_metadata_get_file_count(metadata) == files);
  ashlar_column_family_metadata_destroy(metadata);
}

static void test_levels(ashlar_t* db, ashlar_column_family_handle_t* of, const char* directory) {
  size_t length = 0;
  ashlar_column_family_metadata_t* metadata = ashlar_get_column_family_metadata(db);
  CHECK(ashlar_column_family_metadata_get_size(metadata) > 100);
  CHECK(ashlar_column_family_metadata_get_level_count(metadata) == 7);
  CHECK(ashlar_column_family_metadata_get_level_metadata(metadata, 7) == NULL);
  ashlar_level_metadata_t* level = ashlar_column_family_metadata_get_level_metadata(metadata, 0);
  CHECK(ashlar_level_metadata_get_level(level) == 0);
  CHECK(ashlar_level_metadata_get_size(level) > 100);
  CHECK(ashlar_level_metadata_get_file_count(level) == 1);
  CHECK(ashlar_level_metadata_get_sst_file_metadata(level, 1) == NULL);
  ashlar_sst_file_metadata_t* file = ashlar_level_metadata_get_sst_file_metadata(level, 0);
  CHECK(ashlar_sst_file_metadata_get_size(file) > 100);
  char* name = ashlar_sst_file_metadata_get_relative_filename(file);
  CHECK(strstr(name, ".sst") != NULL && name[0] != '/');
  ashlar_free(name);
  char* in = ashlar_sst_file_metadata_get_directory(file);
  CHECK(strcmp(in, directory) == 0);
  ashlar_free(in);
  CHECK_TEXT(ashlar_sst_file_metadata_get_smallestkey(file, &length), length, "a");
  char* largest = ashlar_sst_file_metadata_get_largestkey(file, &length);
  CHECK(length == 3 && memcmp(largest, "c\0d", 3) == 0);
  ashlar_free(largest);
  ashlar_sst_file_metadata_destroy(file);
  ashlar_level_metadata_destroy(level);
  check_family(metadata, "default", 1);
  check_family(ashlar_get_column_family_metadata_cf(db, of), "family", 1);
  ashlar_column_family_metadata_options_t* options = ashlar_column_family_metadata_options_create();
  ashlar_column_family_metadata_options_set_start_key(options, "x", 1);
  check_family(ashlar_get_column_family_metadata_with_options(db, options), "default", 0);
  check_family(ashlar_get_column_family_metadata_cf_with_options(db, of, NULL), "family", 1);
  ashlar_column_family_metadata_options_destroy(options);
}

static void test_storage(ashlar_t* db, const char* directory) {
  char* error = NULL;
  size_t size = 0, currents = 0;
  ashlar_livefiles_storage_info_options_t* options = ashlar_livefiles_storage_info_options_create();
  ashlar_livefiles_storage_info_options_set_include_checksum_info(options, 1);
  ashlar_livefiles_storage_info_t* info = ashlar_get_livefiles_storage_info(db, options, &error);
  CHECK_OK(error);
  size_t count = ashlar_livefiles_storage_info_count(info);
  CHECK(count >= 5);
  for (size_t i = 0; i < count; ++i) {
    const char* name = ashlar_livefiles_storage_info_relative_filename(info, i);
    CHECK(strcmp(ashlar_livefiles_storage_info_directory(info, i), directory) == 0);
    CHECK(ashlar_livefiles_storage_info_temperature(info, i) == 0);
    const char* contents = ashlar_livefiles_storage_info_replacement_contents(info, i, &size);
    if (strcmp(name, "CURRENT") == 0) {
      ++currents;
      CHECK(size > 9 && memcmp(contents, "MANIFEST-", 9) == 0);
    } else {
      CHECK(size == 0);
      CHECK(ashlar_livefiles_storage_info_size(info, i) > 0);
    }
    if (strstr(name, ".sst") != NULL) {
      CHECK(ashlar_livefiles_storage_info_file_number(info, i) > 0);
      CHECK(ashlar_livefiles_storage_info_file_type(info, i) == 2);
      CHECK(ashlar_livefiles_storage_info_trim_to_size(info, i) == 0);
      CHECK(strcmp(ashlar_livefiles_storage_info_file_checksum_func_name(info, i), "Unknown") == 0);
      CHECK(strlen(ashlar_livefiles_storage_info_file_checksum(info, i)) == 0);
    }
    if (strstr(name, "MANIFEST") != NULL)
      CHECK(ashlar_livefiles_storage_info_trim_to_size(info, i) == 1);
  }
  CHECK(currents == 1);
  ashlar_livefiles_storage_info_destroy(info);
  ashlar_livefiles_storage_info_options_destroy(options);
}

void capi_test_metadata(const char* directory) {
  char* error = NULL;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_t* db = open_database(directory, options);
  ashlar_column_family_handle_t* of = ashlar_create_column_family(db, options, "family", &error);
  put_text(db, "a", "1");
  ashlar_delete(db, NULL, "b", 1, &error);
  ashlar_put(db, NULL, "c\0d", 3, "2", 1, &error);
  ashlar_put_cf(db, NULL, of, "k", 1, "v", 1, &error);
  flush_all(db);
  ashlar_flush_cf(db, NULL, of, &error);
  CHECK_OK(error);
  test_live_files(db, directory);
  test_made_files();
  test_levels(db, of, directory);
  test_storage(db, directory);
  ashlar_column_family_handle_destroy(of);
  ashlar_close(db);
  ashlar_options_destroy(options);
}
