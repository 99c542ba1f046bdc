// SPDX-License-Identifier: Apache-2.0
//
// Compaction services and traces.
#include "tests/capi/check.h"

void capi_test_compaction_service(const char* directory);
void capi_test_traces(const char* directory);

typedef struct {
  char directory[1024];
  char input[4096];
  size_t input_length;
  int scheduled, waits, installed, cancelled, destroyed;
} service_t;

static void destroy(void* state) { ++((service_t*)state)->destroyed; }

static ashlar_compactionservice_scheduleresponse_t* schedule(
    void* state, const ashlar_compactionservice_jobinfo_t* job, const char* input, size_t length) {
  service_t* service = state;
  char* error = NULL;
  size_t size = 0;
  CHECK(strcmp(ashlar_compactionservice_jobinfo_t_get_db_name(job, &size), service->directory) ==
        0);
  CHECK(ashlar_compactionservice_jobinfo_t_get_db_id(job, &size) != NULL && size > 0);
  CHECK(ashlar_compactionservice_jobinfo_t_get_db_session_id(job, &size) != NULL && size > 0);
  CHECK(strcmp(ashlar_compactionservice_jobinfo_t_get_cf_name(job, &size), "default") == 0 &&
        size == 7);
  CHECK(ashlar_compactionservice_jobinfo_t_get_cf_id(job) == 0);
  CHECK(ashlar_compactionservice_jobinfo_t_get_job_id(job) > 0);
  CHECK(ashlar_compactionservice_jobinfo_t_get_priority(job) == 1);           // low
  CHECK(ashlar_compactionservice_jobinfo_t_get_compaction_reason(job) == 9);  // manual
  CHECK(ashlar_compactionservice_jobinfo_t_get_base_input_level(job) == 0);
  CHECK(ashlar_compactionservice_jobinfo_t_get_output_level(job) > 0);
  // The second compaction leaves out the table of the first one.
  CHECK(ashlar_compactionservice_jobinfo_t_is_full_compaction(job) == (service->scheduled == 0));
  CHECK(ashlar_compactionservice_jobinfo_t_is_manual_compaction(job) == 1);
  CHECK(ashlar_compactionservice_jobinfo_t_is_bottommost_level(job) == 1);
  ++service->scheduled;
  CHECK(length <= sizeof(service->input));
  memcpy(service->input, input, service->input_length = length);
  ashlar_compactionservice_scheduleresponse_t* response =
      ashlar_compactionservice_scheduleresponse_create(
          "job", ashlar_compactionservice_jobstatus_success, &error);
  CHECK_OK(error);
  CHECK(strcmp(ashlar_compactionservice_scheduleresponse_get_scheduled_job_id(response, &size),
               "job") == 0);
  CHECK(ashlar_compactionservice_scheduleresponse_getstatus(response) == 0);
  return response;
}

// What the other process does.
static int run_job(void* state, const char* job, char** result, size_t* length) {
  service_t* service = state;
  char* error = NULL;
  char output[2048];
  ++service->waits;
  CHECK(strcmp(job, "job") == 0);
  snprintf(output, sizeof(output), "%s-output%d", service->directory, service->waits);
  ashlar_options_t* options = ashlar_options_create();
  ashlar_compaction_service_options_override_t* overrides =
      ashlar_compaction_service_options_override_create_from_options(options);
  ashlar_block_based_table_options_t* table = ashlar_block_based_options_create();
  ashlar_compaction_service_options_override_set_block_based_table_factory(overrides, table);
  ashlar_block_based_options_destroy(table);
  *result =
      service->waits == 1
          ? ashlar_open_and_compact(service->directory, output, service->input,
                                    service->input_length, length, overrides, &error)
          : ashlar_open_and_compact_with_options(NULL, service->directory, output, service->input,
                                                 service->input_length, length, overrides, &error);
  int failed = error != NULL;
  ashlar_free(error);
  ashlar_compaction_service_options_override_destroy(overrides);
  ashlar_options_destroy(options);
  return failed ? ashlar_compactionservice_jobstatus_use_local
                : ashlar_compactionservice_jobstatus_success;
}

static void cancel(void* state) { ++((service_t*)state)->cancelled; }
static void installed(void* state, const char* job, int status) {
  CHECK(strcmp(job, "job") == 0 && status == ashlar_compactionservice_jobstatus_success);
  ++((service_t*)state)->installed;
}

static const char* filter_name(void* state) {
  (void)state;
  return "filter";
}
static unsigned char keep(void* state, int level, const char* key, size_t key_length,
                          const char* value, size_t length, char** new_value, size_t* new_length,
                          unsigned char* changed) {
  (void)state, (void)level, (void)key, (void)key_length, (void)value, (void)length;
  (void)new_value, (void)new_length, (void)changed;
  return 0;
}
static ashlar_compactionfilter_t* make_filter(void* state,
                                              ashlar_compactionfiltercontext_t* context) {
  (void)context;
  return ashlar_compactionfilter_create(state, NULL, keep, filter_name);
}
static int compare(void* state, const char* a, size_t alen, const char* b, size_t blen) {
  (void)state;
  int order = memcmp(a, b, alen < blen ? alen : blen);
  return order != 0 ? order : (alen > blen) - (alen < blen);
}
static char* merge(void* state, const char* key, size_t key_length, const char* existing,
                   size_t existing_length, const char* const* operands, const size_t* lengths,
                   int count, unsigned char* success, size_t* new_length) {
  (void)state, (void)key, (void)key_length, (void)existing, (void)existing_length;
  (void)operands, (void)lengths, (void)count;
  *success = 0;
  *new_length = 0;
  return NULL;
}

static char* whole_key(void* state, const char* key, size_t length, size_t* prefix_length) {
  (void)state;
  *prefix_length = length;
  return (char*)key;
}
static unsigned char all_keys(void* state, const char* key, size_t length) {
  (void)state, (void)key, (void)length;
  return 1;
}

// Everything that can be overridden; objects are released with the handle.
static void test_overrides(void) {
  service_t state = {0};
  ashlar_compaction_service_options_override_t* all =
      ashlar_compaction_service_options_override_create();
  ashlar_env_t* env = ashlar_create_default_env();
  ashlar_compaction_service_options_override_set_env(all, env);
  ashlar_env_destroy(env);
  ashlar_comparator_t* order = ashlar_comparator_create(&state, NULL, compare, filter_name);
  ashlar_compaction_service_options_override_set_comparator(all, order);
  ashlar_compaction_service_options_override_set_merge_operator(
      all, ashlar_mergeoperator_create(&state, destroy, merge, NULL, NULL, filter_name));
  ashlar_compactionfilter_t* filter =
      ashlar_compactionfilter_create(&state, NULL, keep, filter_name);
  ashlar_compaction_service_options_override_set_compaction_filter(all, filter);
  ashlar_compaction_service_options_override_set_compaction_filter_factory(
      all, ashlar_compactionfilterfactory_create(&state, destroy, make_filter, filter_name));
  // Options share the extractor with the override.
  ashlar_slicetransform_t* extractor =
      ashlar_slicetransform_create(&state, destroy, whole_key, all_keys, filter_name);
  ashlar_compaction_service_options_override_set_prefix_extractor(all, extractor);
  ashlar_options_t* sharing = ashlar_options_create();
  ashlar_options_set_prefix_extractor(sharing, extractor);
  ashlar_cuckoo_table_options_t* cuckoo = ashlar_cuckoo_options_create();
  ashlar_compaction_service_options_override_set_cuckoo_table_factory(all, cuckoo);
  ashlar_cuckoo_options_destroy(cuckoo);
  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_enable_statistics(options);
  ashlar_compaction_service_options_override_set_statistics(all, options);
  ashlar_options_destroy(options);
  ashlar_logger_t* logger = ashlar_logger_create_stderr_logger(4, NULL);
  ashlar_compaction_service_options_override_set_info_log(all, logger);
  ashlar_logger_destroy(logger);
  ashlar_compaction_service_options_override_set_option(all, "write_buffer_size", "1048576");
  ashlar_file_checksum_gen_factory_t* sums = ashlar_file_checksum_gen_crc32c_factory_create();
  ashlar_compaction_service_options_override_set_file_checksum_gen_factory(all, sums);
  ashlar_file_checksum_gen_factory_destroy(sums);
  ashlar_sst_partitioner_factory_t* partitions =
      ashlar_sst_partitioner_fixed_prefix_factory_create(2);
  ashlar_compaction_service_options_override_set_sst_partitioner_factory(all, partitions);
  ashlar_sst_partitioner_factory_destroy(partitions);
  ashlar_eventlistener_t* listener = ashlar_eventlistener_create(
      &state, destroy, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
  ashlar_compaction_service_options_override_add_event_listener(all, listener);
  ashlar_eventlistener_destroy(listener);
  CHECK(state.destroyed == 0);
  ashlar_compaction_service_options_override_destroy(all);
  CHECK(state.destroyed == 3);
  ashlar_options_destroy(sharing);
  CHECK(state.destroyed == 4);
  ashlar_compactionfilter_destroy(filter);
  ashlar_comparator_destroy(order);
  // C has no collectors: without one, these do nothing.
  ashlar_compaction_service_options_override_add_table_properties_collector_factory(NULL, NULL);
  ashlar_options_add_table_properties_collector_factory(NULL, NULL);
  ashlar_table_properties_collector_factory_destroy(NULL);
}

void capi_test_compaction_service(const char* directory) {
  char* error = NULL;
  size_t size = 7;
  service_t state = {0};
  snprintf(state.directory, sizeof(state.directory), "%s", directory);
  CHECK(ashlar_compactionservice_scheduleresponse_create("job", 9, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument: ");
  ashlar_compactionservice_scheduleresponse_t* response =
      ashlar_compactionservice_scheduleresponse_create_with_status(
          ashlar_compactionservice_jobstatus_aborted, &error);
  CHECK_OK(error);
  CHECK(ashlar_compactionservice_scheduleresponse_getstatus(response) == 2);
  CHECK(ashlar_compactionservice_scheduleresponse_get_scheduled_job_id(response, &size) != NULL &&
        size == 0);
  ashlar_compactionservice_scheduleresponse_t_destroy(response);

  ashlar_options_t* options = ashlar_options_create();
  ashlar_options_set_compaction_service(
      options, ashlar_compactionservice_create(&state, destroy, schedule, "my service", run_job,
                                               cancel, installed));
  ashlar_t* db = open_database(directory, options);
  ashlar_options_destroy(options);
  for (int i = 0; i < 2; ++i) {
    put_text(db, "a", i ? "new" : "old");
    flush_all(db);
  }
  ashlar_compact_range(db, NULL, 0, NULL, 0);
  CHECK(state.scheduled > 0 && state.waits == state.scheduled && state.installed > 0);
  CHECK(has_text(db, "a", "new"));
  for (int i = 0; i < 2; ++i) {
    put_text(db, "b", i ? "new" : "old");
    flush_all(db);
  }
  ashlar_compact_range(db, NULL, 0, NULL, 0);
  CHECK(state.waits > 1 && has_text(db, "b", "new"));
  ashlar_close(db);
  CHECK(state.destroyed == 1);
  test_overrides();
}

static void test_replay(ashlar_t* db, const char* file) {
  char* error = NULL;
  ashlar_column_family_handle_t* families[] = {NULL};
  CHECK(ashlar_new_default_replayer(db, families, 1, NULL, NULL, "/nowhere/trace", &error) == NULL);
  CHECK_ERROR(error, "");
  ashlar_replayer_t* replayer =
      ashlar_new_default_replayer(db, families, 1, NULL, NULL, file, &error);
  CHECK_OK(error);
  ashlar_replayer_prepare(replayer, &error);
  CHECK_OK(error);
  CHECK(ashlar_replayer_get_header_timestamp(replayer) > 1600000000);
  ashlar_replay_options_t* how = ashlar_replay_options_create();
  ashlar_replay_options_set_num_threads(how, 3);
  ashlar_replay_options_set_fast_forward(how, 2.5);
  CHECK(ashlar_replay_options_get_num_threads(how) == 3);
  CHECK(ashlar_replay_options_get_fast_forward(how) > 2.4);
  ashlar_replayer_replay(replayer, how, &error);
  CHECK_OK(error);
  CHECK(has_text(db, "traced", "1"));
  ashlar_replay_options_destroy(how);
  ashlar_replayer_destroy(replayer);
  ashlar_replayer_destroy(NULL);
}

void capi_test_traces(const char* directory) {
  char* error = NULL;
  size_t size = 0;
  const char* file = beside(directory, ".trace");
  ashlar_env_t* env = ashlar_create_default_env();
  ashlar_envoptions_t* env_options = ashlar_envoptions_create();
  ashlar_trace_options_t* options = ashlar_trace_options_create();
  ashlar_t* db = open_database(directory, NULL);
  ashlar_start_trace(db, env, env_options, options, file, &error);
  CHECK_OK(error);
  put_text(db, "traced", "1");
  ashlar_end_trace(db, &error);
  CHECK_OK(error);
  put_text(db, "traced", "2");
  ashlar_trace_reader_t* reader = ashlar_trace_reader_create(env, env_options, file, &error);
  CHECK_OK(error);
  char* record = ashlar_trace_reader_read(reader, &size, &error);
  CHECK_OK(error);
  CHECK(record != NULL && size > 10);
  ashlar_free(record);
  ashlar_trace_reader_reset(reader, &error);
  CHECK_OK(error);
  int records = 0;
  while ((record = ashlar_trace_reader_read(reader, &size, &error)) != NULL) {
    ++records;
    ashlar_free(record);
  }
  CHECK_ERROR(error, "");  // the end
  CHECK(size == 0 && records >= 3);
  ashlar_trace_reader_close(reader, &error);
  CHECK_OK(error);
  ashlar_trace_reader_destroy(reader);
  test_replay(db, file);

  const char* other = beside(directory, ".other_trace");
  ashlar_start_io_trace(db, env, env_options, options, other, &error);
  CHECK_OK(error);
  ashlar_end_io_trace(db, &error);
  CHECK_OK(error);
  ashlar_start_block_cache_trace(db, env, env_options, options, other, &error);
  CHECK_OK(error);
  ashlar_start_block_cache_trace_with_options(db, env, env_options, NULL, NULL, other, &error);
  CHECK_ERROR(error, "Resource busy: ");
  ashlar_end_block_cache_trace(db, &error);
  CHECK_OK(error);
  ashlar_start_block_cache_trace_with_options(db, env, env_options, NULL, NULL, other, &error);
  CHECK_OK(error);
  ashlar_end_block_cache_trace(db, &error);
  CHECK_OK(error);
  ashlar_close(db);
  ashlar_trace_options_destroy(options);
  ashlar_envoptions_destroy(env_options);
  ashlar_env_destroy(env);
}
