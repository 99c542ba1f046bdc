// SPDX-License-Identifier: Apache-2.0
//
// The C API: environments and their threads, and objects that limit or count the use of disks.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// ---- environments

// The environment of the process, and a new one whose files are in memory. It must outlive the
// databases that use it.
ashlar_env_t* ashlar_create_default_env(void);
ashlar_env_t* ashlar_create_mem_env(void);
void ashlar_env_destroy(ashlar_env_t* env);

void ashlar_create_dir_if_missing(ashlar_env_t* env, const char* path, char** errptr);

// The number of threads of each pool. The first two functions are for the pool of low priority,
// which runs compactions; flushes run in the pool of high priority.
void ashlar_env_set_background_threads(ashlar_env_t* env, int n);
int ashlar_env_get_background_threads(ashlar_env_t* env);
void ashlar_env_set_low_priority_background_threads(ashlar_env_t* env, int n);
int ashlar_env_get_low_priority_background_threads(ashlar_env_t* env);
void ashlar_env_set_high_priority_background_threads(ashlar_env_t* env, int n);
int ashlar_env_get_high_priority_background_threads(ashlar_env_t* env);
void ashlar_env_set_bottom_priority_background_threads(ashlar_env_t* env, int n);
int ashlar_env_get_bottom_priority_background_threads(ashlar_env_t* env);

// Waits for the threads that Env::StartThread() has started.
void ashlar_env_join_all_threads(ashlar_env_t* env);
// Lower the priority of the threads of a pool: low, or high where the name says so.
void ashlar_env_lower_thread_pool_io_priority(ashlar_env_t* env);
void ashlar_env_lower_high_priority_thread_pool_io_priority(ashlar_env_t* env);
void ashlar_env_lower_thread_pool_cpu_priority(ashlar_env_t* env);
void ashlar_env_lower_high_priority_thread_pool_cpu_priority(ashlar_env_t* env);

// The limiter is shared; null = none.
void ashlar_envoptions_set_rate_limiter(ashlar_envoptions_t* opt,
                                        ashlar_ratelimiter_t* rate_limiter);

// ---- paths for options_set_db_paths and options_set_cf_paths

// target_size: bytes that may be stored there.
ashlar_dbpath_t* ashlar_dbpath_create(const char* path, uint64_t target_size);
void ashlar_dbpath_destroy(ashlar_dbpath_t* dbpath);

// ---- rate limiters; NewGenericRateLimiter() in ashlar/rate_limiter.h describes the parameters

ashlar_ratelimiter_t* ashlar_ratelimiter_create(int64_t rate_bytes_per_sec,
                                                int64_t refill_period_us, int32_t fairness);
ashlar_ratelimiter_t* ashlar_ratelimiter_create_auto_tuned(int64_t rate_bytes_per_sec,
                                                           int64_t refill_period_us,
                                                           int32_t fairness);
// mode: 0 = reads only, 1 = writes only, 2 = both.
ashlar_ratelimiter_t* ashlar_ratelimiter_create_with_mode(int64_t rate_bytes_per_sec,
                                                          int64_t refill_period_us,
                                                          int32_t fairness, int mode,
                                                          bool auto_tuned);
void ashlar_ratelimiter_destroy(ashlar_ratelimiter_t* limiter);

// ---- files of databases; SstFileManager in ashlar/sst_file_manager.h describes the functions

ashlar_sst_file_manager_t* ashlar_sst_file_manager_create(ashlar_env_t* env);
void ashlar_sst_file_manager_destroy(ashlar_sst_file_manager_t* sfm);
void ashlar_sst_file_manager_set_max_allowed_space_usage(ashlar_sst_file_manager_t* sfm,
                                                         uint64_t max_allowed_space);
void ashlar_sst_file_manager_set_compaction_buffer_size(ashlar_sst_file_manager_t* sfm,
                                                        uint64_t compaction_buffer_size);
bool ashlar_sst_file_manager_is_max_allowed_space_reached(ashlar_sst_file_manager_t* sfm);
bool ashlar_sst_file_manager_is_max_allowed_space_reached_including_compactions(
    ashlar_sst_file_manager_t* sfm);
uint64_t ashlar_sst_file_manager_get_total_size(ashlar_sst_file_manager_t* sfm);
int64_t ashlar_sst_file_manager_get_delete_rate_bytes_per_second(ashlar_sst_file_manager_t* sfm);
void ashlar_sst_file_manager_set_delete_rate_bytes_per_second(ashlar_sst_file_manager_t* sfm,
                                                              int64_t delete_rate);
double ashlar_sst_file_manager_get_max_trash_db_ratio(ashlar_sst_file_manager_t* sfm);
void ashlar_sst_file_manager_set_max_trash_db_ratio(ashlar_sst_file_manager_t* sfm, double ratio);
uint64_t ashlar_sst_file_manager_get_total_trash_size(ashlar_sst_file_manager_t* sfm);

// ---- checksums of whole files, and boundaries of tables

ashlar_file_checksum_gen_factory_t* ashlar_file_checksum_gen_crc32c_factory_create(void);
void ashlar_file_checksum_gen_factory_destroy(ashlar_file_checksum_gen_factory_t* factory);
// Ends a table wherever the first prefix_len bytes of the key change.
ashlar_sst_partitioner_factory_t* ashlar_sst_partitioner_fixed_prefix_factory_create(
    size_t prefix_len);
void ashlar_sst_partitioner_factory_destroy(ashlar_sst_partitioner_factory_t* factory);

ASHLAR_C_END
