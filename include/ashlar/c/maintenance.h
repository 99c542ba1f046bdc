// SPDX-License-Identifier: Apache-2.0
//
// The C API: flushes, compactions, changes of options and other work on an open database. A null
// column family is the default family; a null end of a range of keys means no bound.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// Writes the memtables to tables. `flush_cfs`: those of several families at one moment.
void ashlar_flush(ashlar_t* db, const ashlar_flushoptions_t* options, char** errptr);
void ashlar_flush_cf(ashlar_t* db, const ashlar_flushoptions_t* options,
                     ashlar_column_family_handle_t* column_family, char** errptr);
void ashlar_flush_cfs(ashlar_t* db, const ashlar_flushoptions_t* options,
                      ashlar_column_family_handle_t** column_family, int num_column_families,
                      char** errptr);

// Hands the log to the operating system, and with `sync` waits for the disk.
void ashlar_flush_wal(ashlar_t* db, unsigned char sync, char** errptr);
void ashlar_flush_wal_with_options(ashlar_t* db, const ashlar_flushwaloptions_t* options,
                                   char** errptr);

// Compacts a range of keys through all levels, and returns when this is done. Errors are not
// reported.
void ashlar_compact_range(ashlar_t* db, const char* start_key, size_t start_key_len,
                          const char* limit_key, size_t limit_key_len);
void ashlar_compact_range_cf(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                             const char* start_key, size_t start_key_len, const char* limit_key,
                             size_t limit_key_len);
void ashlar_compact_range_opt(ashlar_t* db, ashlar_compactoptions_t* opt, const char* start_key,
                              size_t start_key_len, const char* limit_key, size_t limit_key_len);
void ashlar_compact_range_cf_opt(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                                 ashlar_compactoptions_t* opt, const char* start_key,
                                 size_t start_key_len, const char* limit_key, size_t limit_key_len);

// Marks the tables of a range for compaction in the background.
void ashlar_suggest_compact_range(ashlar_t* db, const char* start_key, size_t start_key_len,
                                  const char* limit_key, size_t limit_key_len, char** errptr);
void ashlar_suggest_compact_range_cf(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                                     const char* start_key, size_t start_key_len,
                                     const char* limit_key, size_t limit_key_len, char** errptr);

// Compacts these tables into a level (path -1: the database chooses). The names of the new tables
// go to `*output_file_names`, an array that is destroyed with the function below; that pointer, the
// count and the facts of the job may be null.
void ashlar_compact_files(ashlar_t* db, const ashlar_compaction_options_t* options,
                          const char* const* input_file_names, size_t num_input_file_names,
                          int output_level, int output_path_id, char*** output_file_names,
                          size_t* num_output_file_names,
                          ashlar_compactionjobinfo_t* compaction_job_info, char** errptr);
void ashlar_compact_files_cf(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                             const ashlar_compaction_options_t* options,
                             const char* const* input_file_names, size_t num_input_file_names,
                             int output_level, int output_path_id, char*** output_file_names,
                             size_t* num_output_file_names,
                             ashlar_compactionjobinfo_t* compaction_job_info, char** errptr);
void ashlar_compact_files_output_file_names_destroy(char** output_file_names,
                                                    size_t num_output_file_names);

// Returns when no compaction is running or due.
void ashlar_wait_for_compact(ashlar_t* db, ashlar_wait_for_compact_options_t* options,
                             char** errptr);

// Removes the tables whose keys are all in the range, the ends included.
void ashlar_delete_file_in_range(ashlar_t* db, const char* start_key, size_t start_key_len,
                                 const char* limit_key, size_t limit_key_len, char** errptr);
void ashlar_delete_file_in_range_cf(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                                    const char* start_key, size_t start_key_len,
                                    const char* limit_key, size_t limit_key_len, char** errptr);

// Obsolete files are kept until they are enabled as often as they were disabled.
void ashlar_disable_file_deletions(ashlar_t* db, char** errptr);
void ashlar_enable_file_deletions(ashlar_t* db, char** errptr);

// Cancels compact_range and prevents it until it is enabled as often as it was disabled, before or
// after.
void ashlar_disable_manual_compaction(ashlar_t* db);
void ashlar_enable_manual_compaction(ashlar_t* db);

// Waits for flushes and compactions, and prevents new ones until they are continued.
void ashlar_pause_background_work(ashlar_t* db, char** errptr);
void ashlar_continue_background_work(ashlar_t* db, char** errptr);

// Changes options of the open database, `count` pairs of texts: all or none.
void ashlar_set_options(ashlar_t* db, int count, const char* const keys[],
                        const char* const values[], char** errptr);
void ashlar_set_options_cf(ashlar_t* db, ashlar_column_family_handle_t* handle, int count,
                           const char* const keys[], const char* const values[], char** errptr);
void ashlar_set_db_options(ashlar_t* db, int count, const char* const keys[],
                           const char* const values[], char** errptr);

// Reads all tables and compares their checksums: of each block, or of whole files.
void ashlar_verify_checksum(ashlar_t* db, char** errptr);
void ashlar_verify_checksum_with_options(ashlar_t* db, const ashlar_readoptions_t* options,
                                         char** errptr);
void ashlar_verify_file_checksums(ashlar_t* db, char** errptr);
void ashlar_verify_file_checksums_with_options(ashlar_t* db, const ashlar_readoptions_t* options,
                                               char** errptr);

// Only for families with timestamps. The lower bound of the history that is kept; a returned one is
// freed.
void ashlar_increase_full_history_ts_low(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                                         const char* ts_low, size_t ts_lowlen, char** errptr);
char* ashlar_get_full_history_ts_low(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                                     size_t* ts_lowlen, char** errptr);

ASHLAR_C_END
