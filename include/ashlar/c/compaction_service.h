// SPDX-License-Identifier: Apache-2.0
//
// The C API: compactions in other processes.
//
// A database with a compaction service gives the program a text for each compaction. The program
// carries it to another process, which calls ashlar_open_and_compact(), and brings the result back.
// A status is one of ashlar_compactionservice_jobstatus_...
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

typedef ashlar_compactionservice_scheduleresponse_t* (*ashlar_compaction_service_schedule_cb)(
    void*, const ashlar_compactionservice_jobinfo_t*, const char* input, size_t input_length);
typedef int (*ashlar_compaction_service_wait_cb)(void*, const char* scheduled_job_id, char** result,
                                                 size_t* result_length);
typedef void (*ashlar_compaction_service_cancel_awaiting_jobs_cb)(void*);
typedef void (*ashlar_compaction_service_on_installation_cb)(void*, const char* scheduled_job_id,
                                                             int status);

// `schedule` hands a job over and returns a response, which is destroyed by the caller. `wait`
// returns when the job has ended and sets the result, which is freed by the caller. The last two
// functions may be null. Options take the service over.
ashlar_compactionservice_t* ashlar_compactionservice_create(
    void* state, void (*destructor)(void*), ashlar_compaction_service_schedule_cb schedule,
    const char* name, ashlar_compaction_service_wait_cb wait,
    ashlar_compaction_service_cancel_awaiting_jobs_cb cancel_awaiting_jobs,
    ashlar_compaction_service_on_installation_cb on_installation);
void ashlar_options_set_compaction_service(ashlar_options_t* options,
                                           ashlar_compactionservice_t* service);

// Null after an error: a number that is no status.
ashlar_compactionservice_scheduleresponse_t* ashlar_compactionservice_scheduleresponse_create(
    const char* scheduled_job_id, int status, char** errptr);
ashlar_compactionservice_scheduleresponse_t*
ashlar_compactionservice_scheduleresponse_create_with_status(int status, char** errptr);
int ashlar_compactionservice_scheduleresponse_getstatus(
    const ashlar_compactionservice_scheduleresponse_t* response);
const char* ashlar_compactionservice_scheduleresponse_get_scheduled_job_id(
    const ashlar_compactionservice_scheduleresponse_t* response, size_t* len);
void ashlar_compactionservice_scheduleresponse_t_destroy(
    ashlar_compactionservice_scheduleresponse_t* response);

// Facts about a job, which live until `schedule` returns.
const char* ashlar_compactionservice_jobinfo_t_get_db_name(
    const ashlar_compactionservice_jobinfo_t* info, size_t* len);
int ashlar_compactionservice_jobinfo_t_get_base_input_level(
    const ashlar_compactionservice_jobinfo_t* info);
uint32_t ashlar_compactionservice_jobinfo_t_get_cf_id(
    const ashlar_compactionservice_jobinfo_t* info);
const char* ashlar_compactionservice_jobinfo_t_get_cf_name(
    const ashlar_compactionservice_jobinfo_t* info, size_t* len);
int ashlar_compactionservice_jobinfo_t_get_compaction_reason(
    const ashlar_compactionservice_jobinfo_t* info);
const char* ashlar_compactionservice_jobinfo_t_get_db_id(
    const ashlar_compactionservice_jobinfo_t* info, size_t* len);
const char* ashlar_compactionservice_jobinfo_t_get_db_session_id(
    const ashlar_compactionservice_jobinfo_t* info, size_t* len);
uint64_t ashlar_compactionservice_jobinfo_t_get_job_id(
    const ashlar_compactionservice_jobinfo_t* info);
int ashlar_compactionservice_jobinfo_t_get_output_level(
    const ashlar_compactionservice_jobinfo_t* info);
int ashlar_compactionservice_jobinfo_t_get_priority(const ashlar_compactionservice_jobinfo_t* info);
unsigned char ashlar_compactionservice_jobinfo_t_is_bottommost_level(
    const ashlar_compactionservice_jobinfo_t* info);
unsigned char ashlar_compactionservice_jobinfo_t_is_full_compaction(
    const ashlar_compactionservice_jobinfo_t* info);
unsigned char ashlar_compactionservice_jobinfo_t_is_manual_compaction(
    const ashlar_compactionservice_jobinfo_t* info);

// Runs a job in a process that is not the one of the database, and writes its tables to
// `output_directory`. The result is freed.
char* ashlar_open_and_compact(const char* db_path, const char* output_directory, const char* input,
                              size_t input_len, size_t* output_len,
                              const ashlar_compaction_service_options_override_t* override_options,
                              char** errptr);
char* ashlar_open_and_compact_with_options(
    const ashlar_open_and_compact_options_t* options, const char* db_path,
    const char* output_directory, const char* input, size_t input_len, size_t* output_len,
    const ashlar_compaction_service_options_override_t* override_options, char** errptr);

// The options that the text of a job cannot hold. Objects are shared, taken over or not owned as by
// the functions of options.
ashlar_compaction_service_options_override_t* ashlar_compaction_service_options_override_create(
    void);
ashlar_compaction_service_options_override_t*
ashlar_compaction_service_options_override_create_from_options(ashlar_options_t* option);
void ashlar_compaction_service_options_override_destroy(
    ashlar_compaction_service_options_override_t* override_options);
void ashlar_compaction_service_options_override_set_env(
    ashlar_compaction_service_options_override_t* override_options, ashlar_env_t* env);
void ashlar_compaction_service_options_override_set_comparator(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_comparator_t* comparator);
void ashlar_compaction_service_options_override_set_merge_operator(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_mergeoperator_t* merge_operator);
void ashlar_compaction_service_options_override_set_compaction_filter(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_compactionfilter_t* compaction_filter);
void ashlar_compaction_service_options_override_set_compaction_filter_factory(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_compactionfilterfactory_t* compaction_filter_factory);
void ashlar_compaction_service_options_override_set_prefix_extractor(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_slicetransform_t* prefix_extractor);
void ashlar_compaction_service_options_override_set_block_based_table_factory(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_block_based_table_options_t* table_options);
void ashlar_compaction_service_options_override_set_cuckoo_table_factory(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_cuckoo_table_options_t* table_options);
void ashlar_compaction_service_options_override_set_statistics(
    ashlar_compaction_service_options_override_t* override_options, ashlar_options_t* options);
void ashlar_compaction_service_options_override_set_info_log(
    ashlar_compaction_service_options_override_t* override_options, ashlar_logger_t* logger);
void ashlar_compaction_service_options_override_set_option(
    ashlar_compaction_service_options_override_t* override_options, const char* key,
    const char* value);
void ashlar_compaction_service_options_override_set_file_checksum_gen_factory(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_file_checksum_gen_factory_t* factory);
void ashlar_compaction_service_options_override_set_sst_partitioner_factory(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_sst_partitioner_factory_t* factory);
void ashlar_compaction_service_options_override_add_event_listener(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_eventlistener_t* event_listener);
void ashlar_compaction_service_options_override_add_table_properties_collector_factory(
    ashlar_compaction_service_options_override_t* override_options,
    ashlar_table_properties_collector_factory_t* factory);

// Collectors of table properties cannot be made in C; these functions are here for programs that
// get a handle from C++.
void ashlar_options_add_table_properties_collector_factory(
    ashlar_options_t* options, ashlar_table_properties_collector_factory_t* factory);
void ashlar_table_properties_collector_factory_destroy(
    ashlar_table_properties_collector_factory_t* factory);

ASHLAR_C_END
