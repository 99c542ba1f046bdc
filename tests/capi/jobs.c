// SPDX-License-Identifier: Apache-2.0
//
// Event listeners and the facts that they get, info logs, properties of tables, compactions of
// files that are named.
#include "tests/capi/check.h"
#include "tests/capi/job_members.h"

void capi_test_listeners(const char* directory);
void capi_test_compacted_files(const char* directory);
void capi_test_loggers(const char* directory);

// Calls each function; tests/capi/job_facts_test.cc compares the values.
static uint64_t sum_of_numbers;
static size_t length_of_texts;
#define ADD_NUMBER(prefix, member) sum_of_numbers += (uint64_t)ashlar_##prefix##_##member(info);
#define ADD_TEXT(prefix, member) \
  if (ashlar_##prefix##_##member(info, &size) != NULL) length_of_texts += size;

typedef struct {
  int flushes_begun, flushes, compactions_begun, compactions, parts_begun, parts, ingestions,
      sealed, stalls, errors, destroyed;
} events_t;

static void destroy(void* state) { ++((events_t*)state)->destroyed; }

static void check_table(const ashlar_table_properties_t* info, uint64_t entries) {
  size_t size = 0;
  sum_of_numbers = length_of_texts = 0;
  TABLE_PROPERTIES_MEMBERS(ADD_NUMBER, ADD_TEXT)
  CHECK(sum_of_numbers > 0 && length_of_texts > 0);
  CHECK(ashlar_table_properties_num_entries(info) == entries);
  CHECK(strcmp(ashlar_table_properties_comparator_name(info, &size),
               "leveldb.BytewiseComparator") == 0);
  CHECK(ashlar_table_properties_has_key_largest_seqno(info) ==
        (ashlar_table_properties_key_largest_seqno(info) != UINT64_MAX));
  CHECK(ashlar_table_properties_has_key_smallest_seqno(info) ==
        (ashlar_table_properties_key_smallest_seqno(info) != UINT64_MAX));
  size_t collected = ashlar_table_properties_user_collected_properties_count(info);
  for (size_t i = 0; i < collected; ++i) {
    CHECK(ashlar_table_properties_user_collected_properties_key_at(info, i, &size) != NULL &&
          size > 0);
    CHECK(ashlar_table_properties_user_collected_properties_value_at(info, i, &size) != NULL);
  }
  size_t readable = ashlar_table_properties_readable_properties_count(info);
  for (size_t i = 0; i < readable; ++i) {
    CHECK(ashlar_table_properties_readable_properties_key_at(info, i, &size) != NULL && size > 0);
    CHECK(ashlar_table_properties_readable_properties_value_at(info, i, &size) != NULL);
  }
}

static void check_added_blobs(const ashlar_blob_file_addition_info_t* info) {
  size_t size = 0;
  sum_of_numbers = length_of_texts = 0;
  BLOB_FILE_ADDITION_INFO_MEMBERS(ADD_NUMBER, ADD_TEXT)
  CHECK(sum_of_numbers > 0 && length_of_texts > 0);
}

static void on_flush_begin(void* state, ashlar_t* db, const ashlar_flushjobinfo_t* info) {
  size_t size = 0;
  ++((events_t*)state)->flushes_begun;
  CHECK(db != NULL);
  CHECK(memcmp(ashlar_flushjobinfo_cf_name(info, &size), "default", 7) == 0 && size == 7);
}

static void on_flush_completed(void* state, ashlar_t* db, const ashlar_flushjobinfo_t* info) {
  size_t size = 0;
  uint64_t files = 0;
  ++((events_t*)state)->flushes;
  CHECK(ashlar_property_int(db, "rocksdb.num-running-flushes", &files) == 0);
  sum_of_numbers = length_of_texts = 0;
  FLUSHJOBINFO_MEMBERS(ADD_NUMBER, ADD_TEXT)
  CHECK(sum_of_numbers > 0 && length_of_texts > 7);
  check_table(
      ashlar_flushjobinfo_table_properties(info),
      ashlar_flushjobinfo_largest_seqno(info) - ashlar_flushjobinfo_smallest_seqno(info) + 1);
  size_t blobs = ashlar_flushjobinfo_blob_file_addition_infos_count(info);
  for (size_t i = 0; i < blobs; ++i)
    check_added_blobs(ashlar_flushjobinfo_blob_file_addition_info_at(info, i));
}

static void check_stats(const ashlar_compaction_job_stats_t* info) {
  size_t size = 0;
  sum_of_numbers = length_of_texts = 0;
  COMPACTION_JOB_STATS_MEMBERS(ADD_NUMBER, ADD_TEXT)
  CHECK(sum_of_numbers > 0);
}

static void check_file(const ashlar_compaction_file_info_t* info) {
  sum_of_numbers = 0;
  COMPACTION_FILE_INFO_MEMBERS(ADD_NUMBER, ADD_TEXT)
  CHECK(ashlar_compaction_file_info_file_number(info) > 0);
}

static void check_garbage(const ashlar_blob_file_garbage_info_t* info) {
  size_t size = 0;
  sum_of_numbers = length_of_texts = 0;
  BLOB_FILE_GARBAGE_INFO_MEMBERS(ADD_NUMBER, ADD_TEXT)
  CHECK(sum_of_numbers > 0 && length_of_texts > 0);
}

// A compaction that has ended; returns how many blob files it reports as garbage.
static size_t check_compaction(const ashlar_compactionjobinfo_t* info) {
  char* error = NULL;
  size_t size = 0;
  sum_of_numbers = length_of_texts = 0;
  COMPACTIONJOBINFO_MEMBERS(ADD_NUMBER, ADD_TEXT)
  CHECK(sum_of_numbers > 0 && length_of_texts == 7);
  ashlar_compactionjobinfo_status(info, &error);
  CHECK_OK(error);
  CHECK(ashlar_compactionjobinfo_num_input_files(info) ==
        ashlar_compactionjobinfo_input_files_count(info));
  CHECK(ashlar_compactionjobinfo_num_input_files_at_output_level(info) <=
        ashlar_compactionjobinfo_num_input_files(info));
  CHECK(ashlar_compactionjobinfo_input_records(info) >=
        ashlar_compactionjobinfo_output_records(info));
  CHECK(ashlar_compactionjobinfo_total_input_bytes(info) > 0 &&
        ashlar_compactionjobinfo_total_output_bytes(info) > 0);
  CHECK(ashlar_compactionjobinfo_num_corrupt_keys(info) == 0);
  CHECK(ashlar_compactionjobinfo_elapsed_micros(info) ==
        ashlar_compaction_job_stats_elapsed_micros(ashlar_compactionjobinfo_stats(info)));
  check_stats(ashlar_compactionjobinfo_stats(info));
  CHECK(ashlar_compactionjobinfo_input_file_infos_count(info) ==
        ashlar_compactionjobinfo_input_files_count(info));
  CHECK(ashlar_compactionjobinfo_output_file_infos_count(info) ==
        ashlar_compactionjobinfo_output_files_count(info));
  CHECK(strstr(ashlar_compactionjobinfo_input_file_at(info, 0, &size), ".sst") != NULL && size > 4);
  CHECK(strstr(ashlar_compactionjobinfo_output_file_at(info, 0, &size), ".sst") != NULL);
  check_file(ashlar_compactionjobinfo_input_file_info_at(info, 0));
  check_file(ashlar_compactionjobinfo_output_file_info_at(info, 0));
  CHECK(ashlar_compactionjobinfo_table_properties_count(info) >= 2);
  const char* name = ashlar_compactionjobinfo_table_properties_key_at(info, 0, &size);
  CHECK(ashlar_compactionjobinfo_table_properties_for_file(info, name, size) ==
        ashlar_compactionjobinfo_table_properties_value_at(info, 0));
  CHECK(ashlar_compactionjobinfo_table_properties_for_file(info, "none", 4) == NULL);
  size_t added = ashlar_compactionjobinfo_blob_file_addition_infos_count(info);
  for (size_t i = 0; i < added; ++i) {
    check_added_blobs(ashlar_compactionjobinfo_blob_file_addition_info_at(info, i));
  }
  size_t garbage = ashlar_compactionjobinfo_blob_file_garbage_infos_count(info);
  for (size_t i = 0; i < garbage; ++i)
    check_garbage(ashlar_compactionjobinfo_blob_file_garbage_info_at(info, i));
  return garbage;
}

static void on_compaction_begin(void* state, ashlar_t* db, const ashlar_compactionjobinfo_t* info) {
  ++((events_t*)state)->compactions_begun;
  CHECK(db != NULL && ashlar_compactionjobinfo_input_files_count(info) > 0);
}

static void on_compaction_completed(void* state, ashlar_t* db,
                                    const ashlar_compactionjobinfo_t* info) {
  (void)db;
  ++((events_t*)state)->compactions;
  check_compaction(info);
}

static void on_part_begin(void* state, const ashlar_subcompactionjobinfo_t* info) {
  (void)info;
  ++((events_t*)state)->parts_begun;
}

static void on_part_completed(void* state, const ashlar_subcompactionjobinfo_t* info) {
  char* error = NULL;
  size_t size = 0;
  ++((events_t*)state)->parts;
  sum_of_numbers = length_of_texts = 0;
  SUBCOMPACTIONJOBINFO_MEMBERS(ADD_NUMBER, ADD_TEXT)
  CHECK(sum_of_numbers > 0 && length_of_texts == 7);
  ashlar_subcompactionjobinfo_status(info, &error);
  CHECK_OK(error);
  CHECK(ashlar_subcompactionjobinfo_stats(info) != NULL);
}

static void on_ingested(void* state, ashlar_t* db, const ashlar_externalfileingestioninfo_t* info) {
  size_t size = 0;
  (void)db;
  ++((events_t*)state)->ingestions;
  sum_of_numbers = length_of_texts = 0;
  EXTERNALFILEINGESTIONINFO_MEMBERS(ADD_NUMBER, ADD_TEXT)
  CHECK(length_of_texts > 20);
  check_table(ashlar_externalfileingestioninfo_table_properties(info), 1);
}

static void on_background_error(void* state, uint32_t reason, ashlar_status_ptr_t* status) {
  char* error = NULL;
  (void)reason;
  ++((events_t*)state)->errors;
  ashlar_status_ptr_get_error(status, &error);
  CHECK_ERROR(error, "");
  ashlar_reset_status(status);
  ashlar_status_ptr_get_error(status, &error);
  CHECK_OK(error);
}

static void on_stall(void* state, const ashlar_writestallinfo_t* info) {
  size_t size = 0;
  ++((events_t*)state)->stalls;
  CHECK(memcmp(ashlar_writestallinfo_cf_name(info, &size), "default", 7) == 0 && size == 7);
  CHECK(*(const int*)ashlar_writestallinfo_cur(info) !=
        *(const int*)ashlar_writestallinfo_prev(info));
}

static void on_sealed(void* state, const ashlar_memtableinfo_t* info) {
  size_t size = 0;
  ++((events_t*)state)->sealed;
  sum_of_numbers = length_of_texts = 0;
  MEMTABLEINFO_MEMBERS(ADD_NUMBER, ADD_TEXT)
  CHECK(sum_of_numbers > 0 && length_of_texts == 7);
}

static void ingest_one(ashlar_t* db, const char* file) {
  char* error = NULL;
  ashlar_sstfilewriter_t* writer = ashlar_sstfilewriter_create(NULL, NULL);
  ashlar_sstfilewriter_open(writer, file, &error);
  ashlar_sstfilewriter_put(writer, "ingested", 8, "1", 1, &error);
  ashlar_sstfilewriter_finish(writer, &error);
  ashlar_sstfilewriter_destroy(writer);
  ashlar_ingest_external_file(db, &file, 1, NULL, &error);
  CHECK_OK(error);
}

// The second file of level 0 delays writes.
static void test_stalls(const char* directory) {
  events_t events = {0};
  ashlar_eventlistener_t* listener = ashlar_eventlistener_create(
      &events, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, on_stall, NULL);
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_add_eventlistener(options, listener);
  ashlar_eventlistener_destroy(listener);
  ashlar_options_set_level0_file_num_compaction_trigger(options, 2);
  ashlar_options_set_level0_slowdown_writes_trigger(options, 2);
  ashlar_t* db = open_database(directory, options);
  ashlar_options_destroy(options);
  for (int i = 0; i < 2; ++i) {
    put_text(db, "a", "1");
    flush_all(db);
  }
  ashlar_close(db);
  CHECK(events.stalls > 0);
}

void capi_test_listeners(const char* directory) {
  events_t events = {0};
  ashlar_eventlistener_t* listener = ashlar_eventlistener_create(
      &events, destroy, on_flush_begin, on_flush_completed, on_compaction_begin,
      on_compaction_completed, on_part_begin, on_part_completed, on_ingested, on_background_error,
      on_stall, on_sealed);
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_add_eventlistener(options, listener);
  ashlar_options_set_disable_auto_compactions(options, 1);
  ashlar_eventlistener_destroy(listener);
  CHECK(events.destroyed == 0);
  ashlar_t* db = open_database(directory, options);
  ashlar_options_destroy(options);
  for (int i = 0; i < 3; ++i) {
    put_text(db, "a", "1");
    put_text(db, "b", "2");
    flush_all(db);
  }
  ashlar_compact_range(db, NULL, 0, NULL, 0);
  ingest_one(db, beside(directory, ".sst"));
  ashlar_close(db);
  CHECK(events.flushes_begun == 3 && events.flushes == 3 && events.sealed == 3);
  CHECK(events.compactions_begun == 1 && events.compactions == 1);
  CHECK(events.parts_begun >= 1 && events.parts == events.parts_begun);
  CHECK(events.ingestions == 1);
  CHECK(events.errors == 0);
  CHECK(events.destroyed == 1);
  test_stalls(beside(directory, "-stalls"));
  // Without functions nothing is called.
  listener = ashlar_eventlistener_create(&events, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                         NULL, NULL, NULL);
  options = ashlar_options_create();
  ashlar_options_add_eventlistener(options, listener);
  ashlar_eventlistener_destroy(listener);
  db = open_database(directory, options);
  put_text(db, "a", "1");
  flush_all(db);
  ashlar_close(db);
  ashlar_options_destroy(options);
  CHECK(events.flushes == 3);
}

void capi_test_compacted_files(const char* directory) {
  char* error = NULL;
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_enable_blob_files(options, 1);
  ashlar_options_set_enable_blob_gc(options, 1);
  ashlar_options_set_blob_gc_age_cutoff(options, 1.0);
  ashlar_options_set_disable_auto_compactions(options, 1);
  ashlar_t* db = open_database(directory, options);
  ashlar_options_destroy(options);
  for (int i = 0; i < 2; ++i) {
    put_text(db, "a", "a value that goes to a blob file");
    put_text(db, "b", "another value that goes to a blob file");
    flush_all(db);
  }
  const ashlar_livefiles_t* files = ashlar_livefiles(db);
  const char* names[] = {ashlar_livefiles_name(files, 0), ashlar_livefiles_name(files, 1)};
  ashlar_compaction_options_t* how = ashlar_compaction_options_create();
  ashlar_compactionjobinfo_t* info = ashlar_compactionjobinfo_create();
  char** outputs = NULL;
  size_t count = 0;
  ashlar_compact_files(db, how, names, 2, 2, -1, &outputs, &count, info, &error);
  CHECK_OK(error);
  CHECK(count == 1 && strstr(outputs[0], ".sst") != NULL);
  CHECK(check_compaction(info) == 2);
  const char* again[] = {outputs[0]};
  ashlar_compact_files_cf(db, NULL, how, again, 1, 4, -1, NULL, NULL, NULL, &error);
  CHECK_OK(error);
  ashlar_compact_files_output_file_names_destroy(outputs, count);
  ashlar_compact_files_output_file_names_destroy(NULL, 0);
  ashlar_compact_files(db, how, names, 2, 2, -1, &outputs, &count, NULL, &error);
  CHECK_ERROR(error, "");  // these tables are gone
  CHECK(outputs == NULL && count == 0);
  ashlar_livefiles_destroy(files);
  ashlar_compactionjobinfo_destroy(info);
  ashlar_compaction_options_destroy(how);
  ashlar_close(db);
}

static void count_message(void* state, unsigned level, char* message, size_t length) {
  CHECK(level <= 5 && message[length] == '\0');
  ++*(int*)state;
}

void capi_test_loggers(const char* directory) {
  int messages = 0;
  ashlar_logger_t* logger = ashlar_logger_create_callback_logger(0, count_message, &messages);
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_info_log(options, logger);
  ashlar_logger_destroy(logger);
  ashlar_t* db = open_database(directory, options);
  ashlar_close(db);
  ashlar_options_destroy(options);
  CHECK(messages > 5);

  logger = ashlar_logger_create_stderr_logger(6, "my database:");  // no messages
  options = ashlar_options_create();
  ashlar_options_set_info_log(options, logger);
  db = open_database(directory, options);
  CHECK(has_text(db, "none", NULL));
  ashlar_close(db);
  ashlar_options_destroy(options);
  ashlar_logger_destroy(logger);
  ashlar_logger_destroy(NULL);
}
