// SPDX-License-Identifier: Apache-2.0
//
// The C API: keys, callbacks and objects as options of single calls, transactions and backups.
// Options that are a number, a flag or a text are in call_options.h and object_options.h.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

typedef unsigned char (*ashlar_readoptions_table_filter_cb)(void* state,
                                                            const ashlar_table_properties_t*);
typedef void (*ashlar_create_backup_options_progress_cb)(void* state);
typedef unsigned char (*ashlar_create_backup_options_exclude_files_cb)(void* state,
                                                                       const char* path,
                                                                       size_t path_len);

// ---- reads; ReadOptions in ashlar/options.h describes the options

// The snapshot must live as long as the reads and iterators that use it; null = the newest state.
void ashlar_readoptions_set_snapshot(ashlar_readoptions_t* opt, const ashlar_snapshot_t* snapshot);

// Keys and timestamps are copied; a null pointer = none. The handle must live as long as the
// iterators that use it.
void ashlar_readoptions_set_iterate_lower_bound(ashlar_readoptions_t* opt, const char* key,
                                                size_t keylen);
void ashlar_readoptions_set_iterate_upper_bound(ashlar_readoptions_t* opt, const char* key,
                                                size_t keylen);
void ashlar_readoptions_set_timestamp(ashlar_readoptions_t* opt, const char* ts, size_t tslen);
void ashlar_readoptions_set_iter_start_ts(ashlar_readoptions_t* opt, const char* ts, size_t tslen);

// A name for the request; returned as null if there is none.
void ashlar_readoptions_set_request_id(ashlar_readoptions_t* opt, const char* request_id,
                                       size_t request_id_len);
void ashlar_readoptions_clear_request_id(ashlar_readoptions_t* opt);
const char* ashlar_readoptions_get_request_id(ashlar_readoptions_t* opt, size_t* request_id_len);

// Returned as 0 if there is none.
void ashlar_readoptions_set_merge_operand_count_threshold(ashlar_readoptions_t* opt,
                                                          size_t threshold);
void ashlar_readoptions_clear_merge_operand_count_threshold(ashlar_readoptions_t* opt);
unsigned char ashlar_readoptions_has_merge_operand_count_threshold(ashlar_readoptions_t* opt);
size_t ashlar_readoptions_get_merge_operand_count_threshold(ashlar_readoptions_t* opt);

// Iterators skip the tables for which table_filter(state, properties) returns 0; it must be safe to
// call from several threads. `destructor`, if not null, is called with `state` when the filter is
// replaced or the handle is destroyed. So, unlike other options, the handle must outlive the
// iterators that were made with the filter.
void ashlar_readoptions_set_table_filter(ashlar_readoptions_t* opt, void* state,
                                         void (*destructor)(void*),
                                         ashlar_readoptions_table_filter_cb table_filter);
void ashlar_readoptions_clear_table_filter(ashlar_readoptions_t* opt);
unsigned char ashlar_readoptions_has_table_filter(const ashlar_readoptions_t* opt);

// User-defined indexes are not built: setting one fails with "Not implemented", and the name of the
// current one is null.
void ashlar_readoptions_set_table_index_factory_from_string(ashlar_readoptions_t* opt,
                                                            const char* value, size_t value_len,
                                                            char** errptr);
void ashlar_readoptions_clear_table_index_factory(ashlar_readoptions_t* opt);
const char* ashlar_readoptions_get_table_index_factory_name(const ashlar_readoptions_t* opt,
                                                            size_t* name_len);

// ---- compactions

// The timestamp is copied; a null pointer = none.
void ashlar_compactoptions_set_full_history_ts_low(ashlar_compactoptions_t* opt, char* ts,
                                                   size_t tslen);

// A flag that another thread may set to 1 to stop the compactions whose options refer to it. It
// must live as long as they run. Both kinds of functions make the same kind of flag.
unsigned char* ashlar_compaction_options_canceled_create(void);
void ashlar_compaction_options_canceled_destroy(unsigned char* canceled);
void ashlar_compaction_options_canceled_set(unsigned char* canceled, unsigned char value);
void ashlar_compaction_options_set_canceled(ashlar_compaction_options_t* options,
                                            unsigned char* canceled);
unsigned char* ashlar_open_and_compact_canceled_create(void);
void ashlar_open_and_compact_canceled_destroy(unsigned char* canceled);
void ashlar_open_and_compact_canceled_set(unsigned char* canceled, unsigned char value);
void ashlar_open_and_compact_options_set_canceled(ashlar_open_and_compact_options_t* options,
                                                  unsigned char* canceled);

// ---- metadata of a family

// The ends of the range whose files are returned: the start is inside, the end is not. Copied; a
// null pointer = no end there. Returned as null if there is none.
void ashlar_column_family_metadata_options_set_start_key(
    ashlar_column_family_metadata_options_t* options, const char* key, size_t key_len);
const char* ashlar_column_family_metadata_options_get_start_key(
    const ashlar_column_family_metadata_options_t* options, size_t* key_len);
void ashlar_column_family_metadata_options_set_end_key(
    ashlar_column_family_metadata_options_t* options, const char* key, size_t key_len);
const char* ashlar_column_family_metadata_options_get_end_key(
    const ashlar_column_family_metadata_options_t* options, size_t* key_len);

// ---- optimistic transactions

// Locks that several databases may share.
ashlar_optimistictransactiondb_lock_buckets_t* ashlar_optimistictransactiondb_lock_buckets_create(
    size_t bucket_count, unsigned char cache_aligned);
void ashlar_optimistictransactiondb_lock_buckets_destroy(
    ashlar_optimistictransactiondb_lock_buckets_t* lock_buckets);
// Bytes.
size_t ashlar_optimistictransactiondb_lock_buckets_approximate_memory_usage(
    ashlar_optimistictransactiondb_lock_buckets_t* lock_buckets);
void ashlar_optimistictransactiondb_options_set_shared_lock_buckets(
    ashlar_optimistictransactiondb_options_t* opt,
    ashlar_optimistictransactiondb_lock_buckets_t* lock_buckets);

// ---- backups

ashlar_backup_engine_options_t* ashlar_backup_engine_options_create(const char* backup_dir);
// The environment of the backup directory must outlive the engine; null = that of the database. The
// limiters are shared; null = none.
void ashlar_backup_engine_options_set_env(ashlar_backup_engine_options_t* options,
                                          ashlar_env_t* env);
void ashlar_backup_engine_options_set_backup_rate_limiter(ashlar_backup_engine_options_t* options,
                                                          ashlar_ratelimiter_t* limiter);
void ashlar_backup_engine_options_set_restore_rate_limiter(ashlar_backup_engine_options_t* options,
                                                           ashlar_ratelimiter_t* limiter);

// Called with `state` after each callback_trigger_interval_size bytes; null = none.
void ashlar_create_backup_options_set_progress_callback(
    ashlar_create_backup_options_t* options, void* state,
    ashlar_create_backup_options_progress_cb callback);
// Called with `state` for each file that would be copied, by its path relative to the backup
// directory; a file for which it returns 1 is not copied. Null = none.
void ashlar_create_backup_options_set_exclude_files_callback(
    ashlar_create_backup_options_t* options, void* state,
    ashlar_create_backup_options_exclude_files_cb callback);

ASHLAR_C_END
