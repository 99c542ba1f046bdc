// SPDX-License-Identifier: Apache-2.0
//
// The C API: keys, callbacks and objects as options of single calls, transactions and backups.
#include "ashlar/c/option_values.h"

#include <cassert>

#include "capi/job_info.h"
#include "capi/option_handles.h"

using ashlar::MaybeExcludeBackupFile;
using ashlar::OptSlice;
using ashlar::Status;
using ashlar::TableProperties;
using ashlar::capi::Failed;
using ashlar::capi::ObjectIn;

namespace {

// A flag by which one thread stops the work of another. C programs know it as a byte, and may only
// use it through the functions below.
std::atomic<bool>* FlagIn(unsigned char* canceled) {
  return reinterpret_cast<std::atomic<bool>*>(canceled);
}
unsigned char* NewFlag() { return reinterpret_cast<unsigned char*>(new std::atomic<bool>(false)); }
void SetFlag(unsigned char* canceled, unsigned char value) {
  assert(canceled != nullptr);
  FlagIn(canceled)->store(value != 0);
}

// One end of a range: copied to `*place`, to which the result refers.
OptSlice RangeEnd(const char* key, size_t length, std::string* place) {
  if (key == nullptr) return OptSlice();
  assert(place != nullptr);
  place->assign(key, length);
  return OptSlice(*place);
}
const char* BytesIn(const OptSlice& end, size_t* length) {
  if (length != nullptr) *length = end.has_value() ? end->size() : 0;
  return end.has_value() ? end->data() : nullptr;
}

}  // namespace

// ---- reads

void ashlar_readoptions_set_snapshot(ashlar_readoptions_t* opt, const ashlar_snapshot_t* snapshot) {
  assert(opt != nullptr);
  opt->rep.snapshot = snapshot == nullptr ? nullptr : snapshot->rep;
}
// The bounds are copied into the handle, so the memory of the program is free after the call.
void ashlar_readoptions_set_iterate_lower_bound(ashlar_readoptions_t* opt, const char* key,
                                                size_t keylen) {
  assert(opt != nullptr);
  opt->rep.iterate_lower_bound = opt->lower_bound.Keep(key, keylen);
}
void ashlar_readoptions_set_iterate_upper_bound(ashlar_readoptions_t* opt, const char* key,
                                                size_t keylen) {
  opt->rep.iterate_upper_bound = opt->upper_bound.Keep(key, keylen);
}
void ashlar_readoptions_set_timestamp(ashlar_readoptions_t* opt, const char* ts, size_t tslen) {
  opt->rep.timestamp = opt->timestamp.Keep(ts, tslen);
}
void ashlar_readoptions_set_iter_start_ts(ashlar_readoptions_t* opt, const char* ts, size_t tslen) {
  opt->rep.iter_start_ts = opt->iter_start_ts.Keep(ts, tslen);
}

void ashlar_readoptions_set_request_id(ashlar_readoptions_t* opt, const char* request_id,
                                       size_t request_id_len) {
  assert(opt != nullptr);
  opt->request_id = ashlar::capi::Text(request_id, request_id_len).ToString();
  opt->rep.request_id = &opt->request_id;
}
void ashlar_readoptions_clear_request_id(ashlar_readoptions_t* opt) {
  opt->rep.request_id = nullptr;
}
const char* ashlar_readoptions_get_request_id(ashlar_readoptions_t* opt, size_t* request_id_len) {
  const std::string* id = opt->rep.request_id;
  if (request_id_len != nullptr) *request_id_len = id == nullptr ? 0 : id->size();
  return id == nullptr ? nullptr : id->c_str();
}

void ashlar_readoptions_set_merge_operand_count_threshold(ashlar_readoptions_t* opt,
                                                          size_t threshold) {
  opt->rep.merge_operand_count_threshold = threshold;
}
void ashlar_readoptions_clear_merge_operand_count_threshold(ashlar_readoptions_t* opt) {
  opt->rep.merge_operand_count_threshold.reset();
}
unsigned char ashlar_readoptions_has_merge_operand_count_threshold(ashlar_readoptions_t* opt) {
  return opt->rep.merge_operand_count_threshold.has_value();
}
size_t ashlar_readoptions_get_merge_operand_count_threshold(ashlar_readoptions_t* opt) {
  return opt->rep.merge_operand_count_threshold.value_or(0);
}

void ashlar_readoptions_set_table_filter(ashlar_readoptions_t* opt, void* state,
                                         void (*destructor)(void*),
                                         ashlar_readoptions_table_filter_cb table_filter) {
  assert(opt != nullptr);
  // Called once, when the last copy of the filter is destroyed.
  std::shared_ptr<void> owner(state, [destructor](void* object) {
    if (destructor != nullptr) destructor(object);
  });
  // Copies of the filter share the state of the program.
  opt->table_filter = [owner, table_filter](const TableProperties& properties) {
    return table_filter(owner.get(), ashlar::capi::Handle(properties)) != 0;
  };
  opt->rep.table_filter = &opt->table_filter;
}
void ashlar_readoptions_clear_table_filter(ashlar_readoptions_t* opt) {
  opt->rep.table_filter = nullptr;
  opt->table_filter = nullptr;
}
unsigned char ashlar_readoptions_has_table_filter(const ashlar_readoptions_t* opt) {
  return opt->rep.table_filter != nullptr;
}

void ashlar_readoptions_set_table_index_factory_from_string(ashlar_readoptions_t* /*opt*/,
                                                            const char* value, size_t value_len,
                                                            char** errptr) {
  Failed(errptr, Status::NotSupported("user-defined indexes are not built",
                                      ashlar::capi::Text(value, value_len)));
}
void ashlar_readoptions_clear_table_index_factory(ashlar_readoptions_t* opt) {
  opt->rep.table_index_factory = nullptr;
}
const char* ashlar_readoptions_get_table_index_factory_name(const ashlar_readoptions_t* /*opt*/,
                                                            size_t* name_len) {
  if (name_len != nullptr) *name_len = 0;
  return nullptr;
}

// ---- compactions

void ashlar_compactoptions_set_full_history_ts_low(ashlar_compactoptions_t* opt, char* ts,
                                                   size_t tslen) {
  assert(opt != nullptr);
  opt->rep.full_history_ts_low = opt->full_history_ts_low.Keep(ts, tslen);
}

unsigned char* ashlar_compaction_options_canceled_create() { return NewFlag(); }
void ashlar_compaction_options_canceled_destroy(unsigned char* canceled) {
  delete FlagIn(canceled);
}
void ashlar_compaction_options_canceled_set(unsigned char* canceled, unsigned char value) {
  SetFlag(canceled, value);
}
void ashlar_compaction_options_set_canceled(ashlar_compaction_options_t* options,
                                            unsigned char* canceled) {
  options->rep.canceled = FlagIn(canceled);
}
unsigned char* ashlar_open_and_compact_canceled_create() { return NewFlag(); }
void ashlar_open_and_compact_canceled_destroy(unsigned char* canceled) { delete FlagIn(canceled); }
void ashlar_open_and_compact_canceled_set(unsigned char* canceled, unsigned char value) {
  SetFlag(canceled, value);
}
void ashlar_open_and_compact_options_set_canceled(ashlar_open_and_compact_options_t* options,
                                                  unsigned char* canceled) {
  options->rep.canceled = FlagIn(canceled);
}

// ---- metadata of families

void ashlar_column_family_metadata_options_set_start_key(
    ashlar_column_family_metadata_options_t* options, const char* key, size_t key_len) {
  assert(options != nullptr);
  options->rep.range.start = RangeEnd(key, key_len, &options->start_key);
}
const char* ashlar_column_family_metadata_options_get_start_key(
    const ashlar_column_family_metadata_options_t* options, size_t* key_len) {
  assert(options != nullptr);
  return BytesIn(options->rep.range.start, key_len);
}
void ashlar_column_family_metadata_options_set_end_key(
    ashlar_column_family_metadata_options_t* options, const char* key, size_t key_len) {
  options->rep.range.limit = RangeEnd(key, key_len, &options->end_key);
}
const char* ashlar_column_family_metadata_options_get_end_key(
    const ashlar_column_family_metadata_options_t* options, size_t* key_len) {
  return BytesIn(options->rep.range.limit, key_len);
}

// ---- optimistic transactions

ashlar_optimistictransactiondb_lock_buckets_t* ashlar_optimistictransactiondb_lock_buckets_create(
    size_t bucket_count, unsigned char cache_aligned) {
  return new ashlar_optimistictransactiondb_lock_buckets_t{
      ashlar::MakeSharedOccLockBuckets(bucket_count, cache_aligned != 0)};
}
void ashlar_optimistictransactiondb_lock_buckets_destroy(
    ashlar_optimistictransactiondb_lock_buckets_t* lock_buckets) {
  delete lock_buckets;
}
size_t ashlar_optimistictransactiondb_lock_buckets_approximate_memory_usage(
    ashlar_optimistictransactiondb_lock_buckets_t* lock_buckets) {
  return lock_buckets->rep->ApproximateMemoryUsage();
}
void ashlar_optimistictransactiondb_options_set_shared_lock_buckets(
    ashlar_optimistictransactiondb_options_t* opt,
    ashlar_optimistictransactiondb_lock_buckets_t* lock_buckets) {
  assert(opt != nullptr);
  opt->rep.shared_lock_buckets = ObjectIn(lock_buckets);
}

// ---- backups

ashlar_backup_engine_options_t* ashlar_backup_engine_options_create(const char* backup_dir) {
  assert(backup_dir != nullptr);
  return new ashlar_backup_engine_options_t{ashlar::BackupEngineOptions(backup_dir)};
}
void ashlar_backup_engine_options_set_env(ashlar_backup_engine_options_t* options,
                                          ashlar_env_t* env) {
  assert(options != nullptr);
  options->rep.backup_env = env == nullptr ? nullptr : env->rep;
}
void ashlar_backup_engine_options_set_backup_rate_limiter(ashlar_backup_engine_options_t* options,
                                                          ashlar_ratelimiter_t* limiter) {
  options->rep.backup_rate_limiter = ObjectIn(limiter);
}
void ashlar_backup_engine_options_set_restore_rate_limiter(ashlar_backup_engine_options_t* options,
                                                           ashlar_ratelimiter_t* limiter) {
  options->rep.restore_rate_limiter = ObjectIn(limiter);
}

void ashlar_create_backup_options_set_progress_callback(
    ashlar_create_backup_options_t* options, void* state,
    ashlar_create_backup_options_progress_cb callback) {
  assert(options != nullptr);
  options->rep.progress_callback = nullptr;
  if (callback != nullptr) options->rep.progress_callback = [=] { callback(state); };
}
void ashlar_create_backup_options_set_exclude_files_callback(
    ashlar_create_backup_options_t* options, void* state,
    ashlar_create_backup_options_exclude_files_cb callback) {
  assert(options != nullptr);
  options->rep.exclude_files_callback = nullptr;
  if (callback == nullptr) return;
  options->rep.exclude_files_callback = [=](MaybeExcludeBackupFile* begin,
                                            MaybeExcludeBackupFile* end) {
    for (MaybeExcludeBackupFile* file = begin; file != end; ++file) {
      const std::string& path = file->info.relative_file;
      file->exclude_decision = callback(state, path.data(), path.size()) != 0;
    }
  };
}
