// SPDX-License-Identifier: Apache-2.0
//
// The C API: environments and their threads, and objects that limit or count the use of disks.
//
// The default environment belongs to the process: its handle may be destroyed, the object stays. An
// environment in memory belongs to its handle, which must outlive the databases in it.
#include "ashlar/c/env.h"

#include <cassert>

#include "capi/option_handles.h"

using ashlar::Env;
using ashlar::RateLimiter;
using ashlar::capi::Failed;
using ashlar::capi::ObjectIn;

// ---- environments

ashlar_env_t* ashlar_create_default_env() { return new ashlar_env_t{Env::Default(), false}; }
ashlar_env_t* ashlar_create_mem_env() {
  return new ashlar_env_t{ashlar::NewMemEnv(Env::Default()), true};
}
void ashlar_env_destroy(ashlar_env_t* env) {
  if (env == nullptr) return;
  if (env->owned) delete env->rep;
  delete env;
}

void ashlar_create_dir_if_missing(ashlar_env_t* env, const char* path, char** errptr) {
  assert(env != nullptr);
  assert(path != nullptr);
  Failed(errptr, env->rep->CreateDirIfMissing(path));
}

void ashlar_env_set_background_threads(ashlar_env_t* env, int n) {
  assert(env != nullptr);
  env->rep->SetBackgroundThreads(n);
}
int ashlar_env_get_background_threads(ashlar_env_t* env) {
  assert(env != nullptr);
  return env->rep->GetBackgroundThreads();
}
void ashlar_env_set_low_priority_background_threads(ashlar_env_t* env, int n) {
  env->rep->SetBackgroundThreads(n, Env::LOW);
}
int ashlar_env_get_low_priority_background_threads(ashlar_env_t* env) {
  return env->rep->GetBackgroundThreads(Env::LOW);
}
void ashlar_env_set_high_priority_background_threads(ashlar_env_t* env, int n) {
  env->rep->SetBackgroundThreads(n, Env::HIGH);
}
int ashlar_env_get_high_priority_background_threads(ashlar_env_t* env) {
  return env->rep->GetBackgroundThreads(Env::HIGH);
}
void ashlar_env_set_bottom_priority_background_threads(ashlar_env_t* env, int n) {
  env->rep->SetBackgroundThreads(n, Env::BOTTOM);
}
int ashlar_env_get_bottom_priority_background_threads(ashlar_env_t* env) {
  return env->rep->GetBackgroundThreads(Env::BOTTOM);
}

void ashlar_env_join_all_threads(ashlar_env_t* env) { env->rep->WaitForJoin(); }
void ashlar_env_lower_thread_pool_io_priority(ashlar_env_t* env) {
  env->rep->LowerThreadPoolIOPriority();
}
void ashlar_env_lower_high_priority_thread_pool_io_priority(ashlar_env_t* env) {
  env->rep->LowerThreadPoolIOPriority(Env::HIGH);
}
void ashlar_env_lower_thread_pool_cpu_priority(ashlar_env_t* env) {
  env->rep->LowerThreadPoolCPUPriority();
}
void ashlar_env_lower_high_priority_thread_pool_cpu_priority(ashlar_env_t* env) {
  env->rep->LowerThreadPoolCPUPriority(Env::HIGH);
}

void ashlar_envoptions_set_rate_limiter(ashlar_envoptions_t* opt,
                                        ashlar_ratelimiter_t* rate_limiter) {
  assert(opt != nullptr);
  // The options of the engine have a plain pointer, so the handle of the options keeps the object.
  opt->rate_limiter = ObjectIn(rate_limiter);
  opt->rep.rate_limiter = opt->rate_limiter.get();
}

// ---- paths

ashlar_dbpath_t* ashlar_dbpath_create(const char* path, uint64_t target_size) {
  assert(path != nullptr);
  return new ashlar_dbpath_t{ashlar::DbPath(path, target_size)};
}
void ashlar_dbpath_destroy(ashlar_dbpath_t* dbpath) { delete dbpath; }

// ---- rate limiters

ashlar_ratelimiter_t* ashlar_ratelimiter_create(int64_t rate_bytes_per_sec,
                                                int64_t refill_period_us, int32_t fairness) {
  return ashlar_ratelimiter_create_with_mode(rate_bytes_per_sec, refill_period_us, fairness,
                                             static_cast<int>(RateLimiter::Mode::kWritesOnly),
                                             false);
}
ashlar_ratelimiter_t* ashlar_ratelimiter_create_auto_tuned(int64_t rate_bytes_per_sec,
                                                           int64_t refill_period_us,
                                                           int32_t fairness) {
  return ashlar_ratelimiter_create_with_mode(rate_bytes_per_sec, refill_period_us, fairness,
                                             static_cast<int>(RateLimiter::Mode::kWritesOnly),
                                             true);
}
ashlar_ratelimiter_t* ashlar_ratelimiter_create_with_mode(int64_t rate_bytes_per_sec,
                                                          int64_t refill_period_us,
                                                          int32_t fairness, int mode,
                                                          bool auto_tuned) {
  return new ashlar_ratelimiter_t{std::shared_ptr<RateLimiter>(
      ashlar::NewGenericRateLimiter(rate_bytes_per_sec, refill_period_us, fairness,
                                    static_cast<RateLimiter::Mode>(mode), auto_tuned))};
}
void ashlar_ratelimiter_destroy(ashlar_ratelimiter_t* limiter) { delete limiter; }

// ---- files of databases

ashlar_sst_file_manager_t* ashlar_sst_file_manager_create(ashlar_env_t* env) {
  Env* used = env == nullptr ? Env::Default() : env->rep;
  return new ashlar_sst_file_manager_t{
      std::shared_ptr<ashlar::SstFileManager>(ashlar::NewSstFileManager(used))};
}
void ashlar_sst_file_manager_destroy(ashlar_sst_file_manager_t* sfm) { delete sfm; }
void ashlar_sst_file_manager_set_max_allowed_space_usage(ashlar_sst_file_manager_t* sfm,
                                                         uint64_t max_allowed_space) {
  assert(sfm != nullptr);
  sfm->rep->SetMaxAllowedSpaceUsage(max_allowed_space);
}
void ashlar_sst_file_manager_set_compaction_buffer_size(ashlar_sst_file_manager_t* sfm,
                                                        uint64_t compaction_buffer_size) {
  assert(sfm != nullptr);
  sfm->rep->SetCompactionBufferSize(compaction_buffer_size);
}
bool ashlar_sst_file_manager_is_max_allowed_space_reached(ashlar_sst_file_manager_t* sfm) {
  return sfm->rep->IsMaxAllowedSpaceReached();
}
bool ashlar_sst_file_manager_is_max_allowed_space_reached_including_compactions(
    ashlar_sst_file_manager_t* sfm) {
  return sfm->rep->IsMaxAllowedSpaceReachedIncludingCompactions();
}
uint64_t ashlar_sst_file_manager_get_total_size(ashlar_sst_file_manager_t* sfm) {
  return sfm->rep->GetTotalSize();
}
int64_t ashlar_sst_file_manager_get_delete_rate_bytes_per_second(ashlar_sst_file_manager_t* sfm) {
  return sfm->rep->GetDeleteRateBytesPerSecond();
}
void ashlar_sst_file_manager_set_delete_rate_bytes_per_second(ashlar_sst_file_manager_t* sfm,
                                                              int64_t delete_rate) {
  assert(sfm != nullptr);
  sfm->rep->SetDeleteRateBytesPerSecond(delete_rate);
}
double ashlar_sst_file_manager_get_max_trash_db_ratio(ashlar_sst_file_manager_t* sfm) {
  return sfm->rep->GetMaxTrashDBRatio();
}
void ashlar_sst_file_manager_set_max_trash_db_ratio(ashlar_sst_file_manager_t* sfm, double ratio) {
  assert(sfm != nullptr);
  sfm->rep->SetMaxTrashDBRatio(ratio);
}
uint64_t ashlar_sst_file_manager_get_total_trash_size(ashlar_sst_file_manager_t* sfm) {
  return sfm->rep->GetTotalTrashSize();
}

// ---- checksums of whole files, and boundaries of tables

ashlar_file_checksum_gen_factory_t* ashlar_file_checksum_gen_crc32c_factory_create() {
  return new ashlar_file_checksum_gen_factory_t{ashlar::GetFileChecksumGenCrc32cFactory()};
}
void ashlar_file_checksum_gen_factory_destroy(ashlar_file_checksum_gen_factory_t* factory) {
  delete factory;
}
ashlar_sst_partitioner_factory_t* ashlar_sst_partitioner_fixed_prefix_factory_create(
    size_t prefix_len) {
  return new ashlar_sst_partitioner_factory_t{
      ashlar::NewSstPartitionerFixedPrefixFactory(prefix_len)};
}
void ashlar_sst_partitioner_factory_destroy(ashlar_sst_partitioner_factory_t* factory) {
  delete factory;
}
