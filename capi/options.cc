// SPDX-License-Identifier: Apache-2.0
//
// The C API: options of databases and column families that are more than a number, a flag or a
// text.
#include "ashlar/c/options.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>

#include "ashlar/convenience.h"
#include "ashlar/memtablerep.h"
#include "ashlar/merge_operator.h"
#include "ashlar/utilities/options_util.h"
#include "ashlar/utilities/table_properties_collectors.h"
#include "capi/handles.h"
#include "capi/option_handles.h"

using ashlar::CompactionStyle;
using ashlar::CompressionOptions;
using ashlar::CompressionType;
using ashlar::ConfigOptions;
using ashlar::DbPath;
using ashlar::FileType;
using ashlar::Options;
using ashlar::capi::Copy;
using ashlar::capi::Failed;
using ashlar::capi::ObjectIn;
using ashlar::capi::OptionsIn;
using ashlar::capi::TakenObjectOf;

namespace {

void SetCompression(CompressionOptions* options, int window_bits, int level, int strategy,
                    int max_dict_bytes) {
  assert(options != nullptr);
  options->window_bits = window_bits;
  options->level = level;
  options->strategy = strategy;
  options->max_dict_bytes = static_cast<uint32_t>(max_dict_bytes);
}

void SetPaths(std::vector<DbPath>* paths, const ashlar_dbpath_t** values, size_t count) {
  assert(paths != nullptr);
  assert(count == 0 || values != nullptr);
  paths->clear();
  for (size_t i = 0; i < count; ++i) paths->push_back(values[i]->rep);
}

// Whether the number is one of the enumerators from 0 to `greatest`. The sets of enumerators below
// have a bit for each of them, so that a shift by any other number would be undefined behaviour.
template <typename Enum>
bool IsEnumerator(int value, Enum greatest) {
  return value >= 0 && value <= static_cast<int>(greatest);
}
bool IsFileType(int value) { return IsEnumerator(value, FileType::kBlobFile); }
bool IsStyle(int value) { return IsEnumerator(value, CompactionStyle::kCompactionStyleNone); }

void AddDeletionCollector(ashlar_options_t* opt, size_t window, size_t deletions, double ratio,
                          uint64_t least_bytes) {
  assert(opt != nullptr);
  opt->rep.table_properties_collector_factories.push_back(
      ashlar::NewCompactOnDeletionCollectorFactory(window, deletions, ratio, least_bytes));
}

}  // namespace

// ---- the handle

// C programs get Snappy as the default if it is linked, as in RocksDB's C API.
ashlar_options_t* ashlar_options_create() {
  auto* options = new ashlar_options_t;
  const auto& linked = ashlar::GetSupportedCompressions();
  if (std::find(linked.begin(), linked.end(), ashlar::kSnappyCompression) != linked.end()) {
    options->rep.compression = ashlar::kSnappyCompression;
  }
  options->rep.info_log_level = ashlar::INFO_LEVEL;  // also in builds with assertions
  return options;
}
ashlar_options_t* ashlar_options_create_copy(ashlar_options_t* options) {
  // Objects are shared by both, values are copied.
  return options == nullptr ? new ashlar_options_t() : new ashlar_options_t(*options);
}
void ashlar_options_destroy(ashlar_options_t* options) { delete options; }

void ashlar_get_options_from_string(const ashlar_options_t* base_options, const char* opts_str,
                                    ashlar_options_t* new_options, char** errptr) {
  assert(opts_str != nullptr);
  assert(new_options != nullptr);
  Options parsed;
  if (Failed(errptr, ashlar::GetOptionsFromString(ConfigOptions(), OptionsIn(base_options),
                                                  opts_str, &parsed)))
    return;
  new_options->rep = parsed;
}

void ashlar_load_latest_options(const char* db_path, ashlar_env_t* env, bool ignore_unknown_options,
                                ashlar_cache_t* cache, ashlar_options_t** db_options,
                                size_t* num_column_families, char*** column_family_names,
                                ashlar_options_t*** column_family_options, char** errptr) {
  assert(db_path != nullptr);
  ConfigOptions config;
  config.ignore_unknown_options = ignore_unknown_options;
  if (env != nullptr) config.env = env->rep;
  ashlar::DBOptions of_database;
  std::vector<ashlar::ColumnFamilyDescriptor> families;
  if (Failed(errptr, ashlar::LoadLatestOptions(config, db_path, &of_database, &families,
                                               cache == nullptr ? nullptr : &cache->rep))) {
    return;
  }
  // Written only after everything has succeeded; ashlar_load_latest_options_destroy() frees it all.
  *db_options = new ashlar_options_t{Options(of_database, ashlar::ColumnFamilyOptions())};
  *num_column_families = families.size();
  *column_family_names = static_cast<char**>(std::malloc(families.size() * sizeof(char*)));
  *column_family_options =
      static_cast<ashlar_options_t**>(std::malloc(families.size() * sizeof(ashlar_options_t*)));
  for (size_t i = 0; i < families.size(); ++i) {
    (*column_family_names)[i] = Copy(families[i].name);
    (*column_family_options)[i] = new ashlar_options_t{Options(of_database, families[i].options)};
  }
}

void ashlar_load_latest_options_destroy(ashlar_options_t* db_options,
                                        char** list_column_family_names,
                                        ashlar_options_t** list_column_family_options, size_t len) {
  delete db_options;
  for (size_t i = 0; list_column_family_names != nullptr && i < len; ++i)
    std::free(list_column_family_names[i]);
  for (size_t i = 0; list_column_family_options != nullptr && i < len; ++i)
    delete list_column_family_options[i];
  std::free(list_column_family_names);
  std::free(list_column_family_options);
}

// ---- presets

void ashlar_options_increase_parallelism(ashlar_options_t* opt, int total_threads) {
  opt->rep.IncreaseParallelism(total_threads);
}
void ashlar_options_optimize_for_point_lookup(ashlar_options_t* opt, uint64_t block_cache_size_mb) {
  opt->rep.OptimizeForPointLookup(block_cache_size_mb);
}
void ashlar_options_optimize_level_style_compaction(ashlar_options_t* opt,
                                                    uint64_t memtable_memory_budget) {
  opt->rep.OptimizeLevelStyleCompaction(memtable_memory_budget);
}
void ashlar_options_optimize_universal_style_compaction(ashlar_options_t* opt,
                                                        uint64_t memtable_memory_budget) {
  opt->rep.OptimizeUniversalStyleCompaction(memtable_memory_budget);
}
void ashlar_options_prepare_for_bulk_load(ashlar_options_t* opt) { opt->rep.PrepareForBulkLoad(); }

// ---- objects

void ashlar_options_set_info_log(ashlar_options_t* opt, ashlar_logger_t* logger) {
  assert(opt != nullptr);
  opt->rep.info_log = ObjectIn(logger);
}
ashlar_logger_t* ashlar_options_get_info_log(ashlar_options_t* opt) {
  return opt->rep.info_log == nullptr ? nullptr : new ashlar_logger_t{opt->rep.info_log};
}
void ashlar_options_set_ratelimiter(ashlar_options_t* opt, ashlar_ratelimiter_t* limiter) {
  opt->rep.rate_limiter = ObjectIn(limiter);
}
void ashlar_options_set_sst_file_manager(ashlar_options_t* opt, ashlar_sst_file_manager_t* sfm) {
  opt->rep.sst_file_manager = ObjectIn(sfm);
}
void ashlar_options_set_write_buffer_manager(ashlar_options_t* opt,
                                             ashlar_write_buffer_manager_t* wbm) {
  opt->rep.write_buffer_manager = ObjectIn(wbm);
}
void ashlar_options_set_row_cache(ashlar_options_t* opt, ashlar_cache_t* cache) {
  opt->rep.row_cache = ObjectIn(cache);
}
void ashlar_options_set_blob_cache(ashlar_options_t* opt, ashlar_cache_t* blob_cache) {
  opt->rep.blob_cache = ObjectIn(blob_cache);
}
void ashlar_options_set_file_checksum_gen_factory(ashlar_options_t* opt,
                                                  ashlar_file_checksum_gen_factory_t* factory) {
  opt->rep.file_checksum_gen_factory = ObjectIn(factory);
}
void ashlar_options_set_sst_partitioner_factory(ashlar_options_t* opt,
                                                ashlar_sst_partitioner_factory_t* factory) {
  opt->rep.sst_partitioner_factory = ObjectIn(factory);
}
void ashlar_options_set_env(ashlar_options_t* opt, ashlar_env_t* env) {
  assert(opt != nullptr);
  opt->rep.env = env == nullptr ? ashlar::Env::Default() : env->rep;
}
void ashlar_options_set_uint64add_merge_operator(ashlar_options_t* opt) {
  const ashlar::Status status = ashlar::MergeOperator::CreateFromString(
      ConfigOptions(), "uint64add", &opt->rep.merge_operator);
  assert(status.ok());  // it is built in
  status.PermitUncheckedError();
}

// ---- objects of the program

// Not taken over: the program destroys the object after the last database that uses it is closed.
void ashlar_options_set_comparator(ashlar_options_t* opt, ashlar_comparator_t* comparator) {
  assert(opt != nullptr);
  opt->rep.comparator = comparator == nullptr ? ashlar::BytewiseComparator() : comparator;
}
void ashlar_options_set_compaction_filter(ashlar_options_t* opt,
                                          ashlar_compactionfilter_t* filter) {
  opt->rep.compaction_filter = filter;
}
void ashlar_options_set_wal_filter(ashlar_options_t* opt, ashlar_walfilter_t* filter) {
  opt->rep.wal_filter = filter;
}
void ashlar_options_clear_wal_filter(ashlar_options_t* opt) { opt->rep.wal_filter = nullptr; }
// The next three functions take the handle over: the options become its owner, see Shareable.
void ashlar_options_set_merge_operator(ashlar_options_t* opt,
                                       ashlar_mergeoperator_t* merge_operator) {
  assert(opt != nullptr);
  opt->rep.merge_operator = merge_operator == nullptr ? nullptr : merge_operator->TakeOver();
}
void ashlar_options_set_prefix_extractor(ashlar_options_t* opt,
                                         ashlar_slicetransform_t* extractor) {
  assert(opt != nullptr);
  opt->rep.prefix_extractor = TakenObjectOf(extractor);
}
void ashlar_options_set_compaction_filter_factory(ashlar_options_t* opt,
                                                  ashlar_compactionfilterfactory_t* factory) {
  opt->rep.compaction_filter_factory = factory == nullptr ? nullptr : factory->TakeOver();
}

// ---- compression

void ashlar_options_set_compression_options(ashlar_options_t* opt, int w_bits, int level,
                                            int strategy, int max_dict_bytes) {
  SetCompression(&opt->rep.compression_opts, w_bits, level, strategy, max_dict_bytes);
}
void ashlar_options_set_bottommost_compression_options(ashlar_options_t* opt, int w_bits, int level,
                                                       int strategy, int max_dict_bytes,
                                                       unsigned char enabled) {
  SetCompression(&opt->rep.bottommost_compression_opts, w_bits, level, strategy, max_dict_bytes);
  opt->rep.bottommost_compression_opts.enabled = enabled != 0;
}
void ashlar_options_set_bottommost_compression_options_zstd_max_train_bytes(ashlar_options_t* opt,
                                                                            int v,
                                                                            unsigned char enabled) {
  opt->rep.bottommost_compression_opts.zstd_max_train_bytes = static_cast<uint32_t>(v);
  opt->rep.bottommost_compression_opts.enabled = enabled != 0;
}
void ashlar_options_set_bottommost_compression_options_use_zstd_dict_trainer(
    ashlar_options_t* opt, unsigned char v, unsigned char enabled) {
  opt->rep.bottommost_compression_opts.use_zstd_dict_trainer = v != 0;
  opt->rep.bottommost_compression_opts.enabled = enabled != 0;
}
unsigned char ashlar_options_get_bottommost_compression_options_use_zstd_dict_trainer(
    ashlar_options_t* opt) {
  return opt->rep.bottommost_compression_opts.use_zstd_dict_trainer;
}
void ashlar_options_set_bottommost_compression_options_max_dict_buffer_bytes(
    ashlar_options_t* opt, uint64_t v, unsigned char enabled) {
  opt->rep.bottommost_compression_opts.max_dict_buffer_bytes = v;
  opt->rep.bottommost_compression_opts.enabled = enabled != 0;
}
void ashlar_options_set_compression_per_level(ashlar_options_t* opt, const int* level_values,
                                              size_t num_levels) {
  assert(opt != nullptr);
  assert(num_levels == 0 || level_values != nullptr);
  opt->rep.compression_per_level.clear();
  for (size_t i = 0; i < num_levels; ++i) {
    opt->rep.compression_per_level.push_back(static_cast<CompressionType>(level_values[i]));
  }
}
void ashlar_options_set_min_level_to_compress(ashlar_options_t* opt, int level) {
  assert(opt != nullptr);
  if (level < 0) return;
  const int level_count = std::max(opt->rep.num_levels, 0);
  opt->rep.compression_per_level.assign(level_count, opt->rep.compression);
  std::fill_n(opt->rep.compression_per_level.begin(), std::min(level, level_count),
              ashlar::kNoCompression);
}

// ---- lists and structs

void ashlar_options_set_max_bytes_for_level_multiplier_additional(ashlar_options_t* opt,
                                                                  int* level_values,
                                                                  size_t num_levels) {
  assert(opt != nullptr);
  opt->rep.max_bytes_for_level_multiplier_additional.assign(level_values,
                                                            level_values + num_levels);
}
void ashlar_options_set_db_paths(ashlar_options_t* opt, const ashlar_dbpath_t** path_values,
                                 size_t num_paths) {
  assert(opt != nullptr);
  SetPaths(&opt->rep.db_paths, path_values, num_paths);
}
void ashlar_options_set_cf_paths(ashlar_options_t* opt, const ashlar_dbpath_t** path_values,
                                 size_t num_paths) {
  assert(opt != nullptr);
  SetPaths(&opt->rep.cf_paths, path_values, num_paths);
}
void ashlar_options_set_universal_compaction_options(
    ashlar_options_t* opt, ashlar_universal_compaction_options_t* universal) {
  if (universal != nullptr) opt->rep.compaction_options_universal = universal->rep;
}
void ashlar_options_set_fifo_compaction_options(ashlar_options_t* opt,
                                                ashlar_fifo_compaction_options_t* fifo) {
  if (fifo != nullptr) opt->rep.compaction_options_fifo = fifo->rep;
}

void ashlar_options_checksum_handoff_file_types_clear(ashlar_options_t* opt) {
  opt->rep.checksum_handoff_file_types = {};
}
void ashlar_options_checksum_handoff_file_types_add(ashlar_options_t* opt, int file_type) {
  if (IsFileType(file_type))
    opt->rep.checksum_handoff_file_types.Add(static_cast<FileType>(file_type));
}
void ashlar_options_checksum_handoff_file_types_remove(ashlar_options_t* opt, int file_type) {
  if (IsFileType(file_type))
    opt->rep.checksum_handoff_file_types.Remove(static_cast<FileType>(file_type));
}
unsigned char ashlar_options_checksum_handoff_file_types_contains(ashlar_options_t* opt,
                                                                  int file_type) {
  return IsFileType(file_type) &&
         opt->rep.checksum_handoff_file_types.Contains(static_cast<FileType>(file_type));
}
size_t ashlar_options_checksum_handoff_file_types_count(ashlar_options_t* opt) {
  return opt->rep.checksum_handoff_file_types.count();
}
void ashlar_options_calculate_sst_write_lifetime_hint_set_clear(ashlar_options_t* opt) {
  opt->rep.calculate_sst_write_lifetime_hint_set = {};
}
void ashlar_options_calculate_sst_write_lifetime_hint_set_add(ashlar_options_t* opt,
                                                              int compaction_style) {
  if (!IsStyle(compaction_style)) return;
  opt->rep.calculate_sst_write_lifetime_hint_set.Add(
      static_cast<CompactionStyle>(compaction_style));
}
void ashlar_options_calculate_sst_write_lifetime_hint_set_remove(ashlar_options_t* opt,
                                                                 int compaction_style) {
  if (!IsStyle(compaction_style)) return;
  opt->rep.calculate_sst_write_lifetime_hint_set.Remove(
      static_cast<CompactionStyle>(compaction_style));
}
unsigned char ashlar_options_calculate_sst_write_lifetime_hint_set_contains(ashlar_options_t* opt,
                                                                            int compaction_style) {
  if (!IsStyle(compaction_style)) return 0;
  return opt->rep.calculate_sst_write_lifetime_hint_set.Contains(
      static_cast<CompactionStyle>(compaction_style));
}
size_t ashlar_options_calculate_sst_write_lifetime_hint_set_count(ashlar_options_t* opt) {
  return opt->rep.calculate_sst_write_lifetime_hint_set.count();
}

// ---- tables and memtables

void ashlar_options_set_block_based_table_factory(
    ashlar_options_t* opt, ashlar_block_based_table_options_t* table_options) {
  if (table_options != nullptr)
    opt->rep.table_factory.reset(ashlar::NewBlockBasedTableFactory(table_options->rep));
}
void ashlar_options_set_cuckoo_table_factory(ashlar_options_t* opt,
                                             ashlar_cuckoo_table_options_t* table_options) {
  if (table_options != nullptr)
    opt->rep.table_factory.reset(ashlar::NewCuckooTableFactory(table_options->rep));
}
void ashlar_options_set_plain_table_factory(ashlar_options_t* opt, uint32_t user_key_len,
                                            int bloom_bits_per_key, double hash_table_ratio,
                                            size_t index_sparseness, size_t huge_page_tlb_size,
                                            char encoding_type, unsigned char full_scan_mode,
                                            unsigned char store_index_in_file) {
  assert(opt != nullptr);
  ashlar::PlainTableOptions plain;
  plain.user_key_len = user_key_len;
  plain.bloom_bits_per_key = bloom_bits_per_key;
  plain.hash_table_ratio = hash_table_ratio;
  plain.index_sparseness = index_sparseness;
  plain.huge_page_tlb_size = huge_page_tlb_size;
  plain.encoding_type = static_cast<ashlar::EncodingType>(encoding_type);
  plain.full_scan_mode = full_scan_mode != 0;
  plain.store_index_in_file = store_index_in_file != 0;
  opt->rep.table_factory.reset(ashlar::NewPlainTableFactory(plain));
}
void ashlar_options_set_memtable_vector_rep(ashlar_options_t* opt) {
  opt->rep.memtable_factory = std::make_shared<ashlar::VectorRepFactory>();
}
void ashlar_options_set_hash_skip_list_rep(ashlar_options_t* opt, size_t bucket_count,
                                           int32_t skiplist_height,
                                           int32_t skiplist_branching_factor) {
  assert(opt != nullptr);
  opt->rep.memtable_factory.reset(
      ashlar::NewHashSkipListRepFactory(bucket_count, skiplist_height, skiplist_branching_factor));
}
void ashlar_options_set_hash_link_list_rep(ashlar_options_t* opt, size_t bucket_count) {
  opt->rep.memtable_factory.reset(ashlar::NewHashLinkListRepFactory(bucket_count));
}

void ashlar_options_add_compact_on_deletion_collector_factory(ashlar_options_t* opt,
                                                              size_t window_size,
                                                              size_t num_dels_trigger) {
  AddDeletionCollector(opt, window_size, num_dels_trigger, 0, 0);
}
void ashlar_options_add_compact_on_deletion_collector_factory_del_ratio(ashlar_options_t* opt,
                                                                        size_t window_size,
                                                                        size_t num_dels_trigger,
                                                                        double deletion_ratio) {
  AddDeletionCollector(opt, window_size, num_dels_trigger, deletion_ratio, 0);
}
void ashlar_options_add_compact_on_deletion_collector_factory_min_file_size(
    ashlar_options_t* opt, size_t window_size, size_t num_dels_trigger, double deletion_ratio,
    uint64_t min_file_size) {
  AddDeletionCollector(opt, window_size, num_dels_trigger, deletion_ratio, min_file_size);
}
