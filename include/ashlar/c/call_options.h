// SPDX-License-Identifier: Apache-2.0
//
// The C API: options of reads, writes and other calls. Made by tools/make_c_options.py.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// The members of ReadOptions, which ashlar/options.h describes.
ashlar_readoptions_t* ashlar_readoptions_create(void);
void ashlar_readoptions_destroy(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_deadline(ashlar_readoptions_t* opt, uint64_t v);
uint64_t ashlar_readoptions_get_deadline(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_io_timeout(ashlar_readoptions_t* opt, uint64_t v);
uint64_t ashlar_readoptions_get_io_timeout(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_read_tier(ashlar_readoptions_t* opt, int v);
int ashlar_readoptions_get_read_tier(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_rate_limiter_priority(ashlar_readoptions_t* opt, int v);
int ashlar_readoptions_get_rate_limiter_priority(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_value_size_soft_limit(ashlar_readoptions_t* opt, uint64_t v);
uint64_t ashlar_readoptions_get_value_size_soft_limit(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_verify_checksums(ashlar_readoptions_t* opt, unsigned char v);
unsigned char ashlar_readoptions_get_verify_checksums(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_fill_cache(ashlar_readoptions_t* opt, unsigned char v);
unsigned char ashlar_readoptions_get_fill_cache(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_ignore_range_deletions(ashlar_readoptions_t* opt, unsigned char v);
unsigned char ashlar_readoptions_get_ignore_range_deletions(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_async_io(ashlar_readoptions_t* opt, unsigned char v);
unsigned char ashlar_readoptions_get_async_io(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_optimize_multiget_for_io(ashlar_readoptions_t* opt, unsigned char v);
unsigned char ashlar_readoptions_get_optimize_multiget_for_io(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_readahead_size(ashlar_readoptions_t* opt, size_t v);
size_t ashlar_readoptions_get_readahead_size(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_max_skippable_internal_keys(ashlar_readoptions_t* opt, uint64_t v);
uint64_t ashlar_readoptions_get_max_skippable_internal_keys(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_tailing(ashlar_readoptions_t* opt, unsigned char v);
unsigned char ashlar_readoptions_get_tailing(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_total_order_seek(ashlar_readoptions_t* opt, unsigned char v);
unsigned char ashlar_readoptions_get_total_order_seek(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_auto_prefix_mode(ashlar_readoptions_t* opt, unsigned char v);
unsigned char ashlar_readoptions_get_auto_prefix_mode(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_prefix_same_as_start(ashlar_readoptions_t* opt, unsigned char v);
unsigned char ashlar_readoptions_get_prefix_same_as_start(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_pin_data(ashlar_readoptions_t* opt, unsigned char v);
unsigned char ashlar_readoptions_get_pin_data(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_adaptive_readahead(ashlar_readoptions_t* opt, unsigned char v);
unsigned char ashlar_readoptions_get_adaptive_readahead(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_background_purge_on_iterator_cleanup(ashlar_readoptions_t* opt,
                                                                 unsigned char v);
unsigned char ashlar_readoptions_get_background_purge_on_iterator_cleanup(
    ashlar_readoptions_t* opt);
void ashlar_readoptions_set_auto_readahead_size(ashlar_readoptions_t* opt, unsigned char v);
unsigned char ashlar_readoptions_get_auto_readahead_size(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_allow_unprepared_value(ashlar_readoptions_t* opt, unsigned char v);
unsigned char ashlar_readoptions_get_allow_unprepared_value(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_auto_refresh_iterator_with_snapshot(ashlar_readoptions_t* opt,
                                                                unsigned char v);
unsigned char ashlar_readoptions_get_auto_refresh_iterator_with_snapshot(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_io_activity(ashlar_readoptions_t* opt, int v);
int ashlar_readoptions_get_io_activity(ashlar_readoptions_t* opt);
void ashlar_readoptions_set_managed(ashlar_readoptions_t* opt, unsigned char v);
unsigned char ashlar_readoptions_get_managed(ashlar_readoptions_t* opt);

// The members of WriteOptions, which ashlar/options.h describes.
ashlar_writeoptions_t* ashlar_writeoptions_create(void);
void ashlar_writeoptions_destroy(ashlar_writeoptions_t* opt);
void ashlar_writeoptions_set_sync(ashlar_writeoptions_t* opt, unsigned char v);
unsigned char ashlar_writeoptions_get_sync(ashlar_writeoptions_t* opt);
void ashlar_writeoptions_disable_WAL(ashlar_writeoptions_t* opt, int v);
unsigned char ashlar_writeoptions_get_disable_WAL(ashlar_writeoptions_t* opt);
void ashlar_writeoptions_set_ignore_missing_column_families(ashlar_writeoptions_t* opt,
                                                            unsigned char v);
unsigned char ashlar_writeoptions_get_ignore_missing_column_families(ashlar_writeoptions_t* opt);
void ashlar_writeoptions_set_no_slowdown(ashlar_writeoptions_t* opt, unsigned char v);
unsigned char ashlar_writeoptions_get_no_slowdown(ashlar_writeoptions_t* opt);
void ashlar_writeoptions_set_low_pri(ashlar_writeoptions_t* opt, unsigned char v);
unsigned char ashlar_writeoptions_get_low_pri(ashlar_writeoptions_t* opt);
void ashlar_writeoptions_set_memtable_insert_hint_per_batch(ashlar_writeoptions_t* opt,
                                                            unsigned char v);
unsigned char ashlar_writeoptions_get_memtable_insert_hint_per_batch(ashlar_writeoptions_t* opt);
void ashlar_writeoptions_set_rate_limiter_priority(ashlar_writeoptions_t* opt, int v);
int ashlar_writeoptions_get_rate_limiter_priority(ashlar_writeoptions_t* opt);
void ashlar_writeoptions_set_protection_bytes_per_key(ashlar_writeoptions_t* opt, size_t v);
size_t ashlar_writeoptions_get_protection_bytes_per_key(ashlar_writeoptions_t* opt);
void ashlar_writeoptions_set_io_activity(ashlar_writeoptions_t* opt, int v);
int ashlar_writeoptions_get_io_activity(ashlar_writeoptions_t* opt);

// The members of FlushOptions, which ashlar/options.h describes.
ashlar_flushoptions_t* ashlar_flushoptions_create(void);
void ashlar_flushoptions_destroy(ashlar_flushoptions_t* opt);
void ashlar_flushoptions_set_wait(ashlar_flushoptions_t* opt, unsigned char v);
unsigned char ashlar_flushoptions_get_wait(ashlar_flushoptions_t* opt);
void ashlar_flushoptions_set_allow_write_stall(ashlar_flushoptions_t* opt, unsigned char v);
unsigned char ashlar_flushoptions_get_allow_write_stall(ashlar_flushoptions_t* opt);
void ashlar_flushoptions_set_force_atomic_flush(ashlar_flushoptions_t* opt, unsigned char v);
unsigned char ashlar_flushoptions_get_force_atomic_flush(ashlar_flushoptions_t* opt);
void ashlar_flushoptions_set_listener_wait(ashlar_flushoptions_t* opt, unsigned char v);
unsigned char ashlar_flushoptions_get_listener_wait(ashlar_flushoptions_t* opt);

// The members of FlushWALOptions, which ashlar/options.h describes.
ashlar_flushwaloptions_t* ashlar_flushwaloptions_create(void);
void ashlar_flushwaloptions_destroy(ashlar_flushwaloptions_t* opt);
void ashlar_flushwaloptions_set_sync(ashlar_flushwaloptions_t* opt, unsigned char v);
unsigned char ashlar_flushwaloptions_get_sync(ashlar_flushwaloptions_t* opt);
void ashlar_flushwaloptions_set_rate_limiter_priority(ashlar_flushwaloptions_t* opt, int v);
int ashlar_flushwaloptions_get_rate_limiter_priority(ashlar_flushwaloptions_t* opt);

// The members of CompactRangeOptions, which ashlar/options.h describes.
ashlar_compactoptions_t* ashlar_compactoptions_create(void);
void ashlar_compactoptions_destroy(ashlar_compactoptions_t* opt);
void ashlar_compactoptions_set_exclusive_manual_compaction(ashlar_compactoptions_t* opt,
                                                           unsigned char v);
unsigned char ashlar_compactoptions_get_exclusive_manual_compaction(ashlar_compactoptions_t* opt);
void ashlar_compactoptions_set_change_level(ashlar_compactoptions_t* opt, unsigned char v);
unsigned char ashlar_compactoptions_get_change_level(ashlar_compactoptions_t* opt);
void ashlar_compactoptions_set_target_level(ashlar_compactoptions_t* opt, int v);
int ashlar_compactoptions_get_target_level(ashlar_compactoptions_t* opt);
void ashlar_compactoptions_set_target_path_id(ashlar_compactoptions_t* opt, int v);
int ashlar_compactoptions_get_target_path_id(ashlar_compactoptions_t* opt);
void ashlar_compactoptions_set_bottommost_level_compaction(ashlar_compactoptions_t* opt,
                                                           unsigned char v);
unsigned char ashlar_compactoptions_get_bottommost_level_compaction(ashlar_compactoptions_t* opt);
void ashlar_compactoptions_set_allow_write_stall(ashlar_compactoptions_t* opt, unsigned char v);
unsigned char ashlar_compactoptions_get_allow_write_stall(ashlar_compactoptions_t* opt);
void ashlar_compactoptions_set_max_subcompactions(ashlar_compactoptions_t* opt, int v);
int ashlar_compactoptions_get_max_subcompactions(ashlar_compactoptions_t* opt);
void ashlar_compactoptions_set_blob_garbage_collection_policy(ashlar_compactoptions_t* opt, int v);
int ashlar_compactoptions_get_blob_garbage_collection_policy(ashlar_compactoptions_t* opt);
void ashlar_compactoptions_set_blob_garbage_collection_age_cutoff(ashlar_compactoptions_t* opt,
                                                                  double v);
double ashlar_compactoptions_get_blob_garbage_collection_age_cutoff(ashlar_compactoptions_t* opt);

// The members of CompactionOptions, which ashlar/options.h describes.
ashlar_compaction_options_t* ashlar_compaction_options_create(void);
void ashlar_compaction_options_destroy(ashlar_compaction_options_t* opt);
void ashlar_compaction_options_set_compression(ashlar_compaction_options_t* opt, int v);
int ashlar_compaction_options_get_compression(ashlar_compaction_options_t* opt);
void ashlar_compaction_options_set_output_file_size_limit(ashlar_compaction_options_t* opt,
                                                          uint64_t v);
uint64_t ashlar_compaction_options_get_output_file_size_limit(ashlar_compaction_options_t* opt);
void ashlar_compaction_options_set_max_subcompactions(ashlar_compaction_options_t* opt, uint32_t v);
uint32_t ashlar_compaction_options_get_max_subcompactions(ashlar_compaction_options_t* opt);
void ashlar_compaction_options_set_output_temperature_override(ashlar_compaction_options_t* opt,
                                                               int v);
int ashlar_compaction_options_get_output_temperature_override(ashlar_compaction_options_t* opt);
void ashlar_compaction_options_set_allow_trivial_move(ashlar_compaction_options_t* opt,
                                                      unsigned char v);
unsigned char ashlar_compaction_options_get_allow_trivial_move(ashlar_compaction_options_t* opt);

// The members of WaitForCompactOptions, which ashlar/options.h describes.
ashlar_wait_for_compact_options_t* ashlar_wait_for_compact_options_create(void);
void ashlar_wait_for_compact_options_destroy(ashlar_wait_for_compact_options_t* opt);
void ashlar_wait_for_compact_options_set_abort_on_pause(ashlar_wait_for_compact_options_t* opt,
                                                        unsigned char v);
unsigned char ashlar_wait_for_compact_options_get_abort_on_pause(
    ashlar_wait_for_compact_options_t* opt);
void ashlar_wait_for_compact_options_set_flush(ashlar_wait_for_compact_options_t* opt,
                                               unsigned char v);
unsigned char ashlar_wait_for_compact_options_get_flush(ashlar_wait_for_compact_options_t* opt);
void ashlar_wait_for_compact_options_set_wait_for_purge(ashlar_wait_for_compact_options_t* opt,
                                                        unsigned char v);
unsigned char ashlar_wait_for_compact_options_get_wait_for_purge(
    ashlar_wait_for_compact_options_t* opt);
void ashlar_wait_for_compact_options_set_close_db(ashlar_wait_for_compact_options_t* opt,
                                                  unsigned char v);
unsigned char ashlar_wait_for_compact_options_get_close_db(ashlar_wait_for_compact_options_t* opt);
void ashlar_wait_for_compact_options_set_timeout(ashlar_wait_for_compact_options_t* opt,
                                                 uint64_t v);
uint64_t ashlar_wait_for_compact_options_get_timeout(ashlar_wait_for_compact_options_t* opt);

// The members of IngestExternalFileOptions, which ashlar/options.h describes.
ashlar_ingestexternalfileoptions_t* ashlar_ingestexternalfileoptions_create(void);
void ashlar_ingestexternalfileoptions_destroy(ashlar_ingestexternalfileoptions_t* opt);
void ashlar_ingestexternalfileoptions_set_move_files(ashlar_ingestexternalfileoptions_t* opt,
                                                     unsigned char v);
unsigned char ashlar_ingestexternalfileoptions_get_move_files(
    ashlar_ingestexternalfileoptions_t* opt);
void ashlar_ingestexternalfileoptions_set_link_files(ashlar_ingestexternalfileoptions_t* opt,
                                                     unsigned char v);
unsigned char ashlar_ingestexternalfileoptions_get_link_files(
    ashlar_ingestexternalfileoptions_t* opt);
void ashlar_ingestexternalfileoptions_set_failed_move_fall_back_to_copy(
    ashlar_ingestexternalfileoptions_t* opt, unsigned char v);
unsigned char ashlar_ingestexternalfileoptions_get_failed_move_fall_back_to_copy(
    ashlar_ingestexternalfileoptions_t* opt);
void ashlar_ingestexternalfileoptions_set_snapshot_consistency(
    ashlar_ingestexternalfileoptions_t* opt, unsigned char v);
unsigned char ashlar_ingestexternalfileoptions_get_snapshot_consistency(
    ashlar_ingestexternalfileoptions_t* opt);
void ashlar_ingestexternalfileoptions_set_allow_global_seqno(
    ashlar_ingestexternalfileoptions_t* opt, unsigned char v);
unsigned char ashlar_ingestexternalfileoptions_get_allow_global_seqno(
    ashlar_ingestexternalfileoptions_t* opt);
void ashlar_ingestexternalfileoptions_set_allow_blocking_flush(
    ashlar_ingestexternalfileoptions_t* opt, unsigned char v);
unsigned char ashlar_ingestexternalfileoptions_get_allow_blocking_flush(
    ashlar_ingestexternalfileoptions_t* opt);
void ashlar_ingestexternalfileoptions_set_ingest_behind(ashlar_ingestexternalfileoptions_t* opt,
                                                        unsigned char v);
unsigned char ashlar_ingestexternalfileoptions_get_ingest_behind(
    ashlar_ingestexternalfileoptions_t* opt);
void ashlar_ingestexternalfileoptions_set_write_global_seqno(
    ashlar_ingestexternalfileoptions_t* opt, unsigned char v);
unsigned char ashlar_ingestexternalfileoptions_get_write_global_seqno(
    ashlar_ingestexternalfileoptions_t* opt);
void ashlar_ingestexternalfileoptions_set_verify_checksums_before_ingest(
    ashlar_ingestexternalfileoptions_t* opt, unsigned char v);
unsigned char ashlar_ingestexternalfileoptions_get_verify_checksums_before_ingest(
    ashlar_ingestexternalfileoptions_t* opt);
void ashlar_ingestexternalfileoptions_set_verify_checksums_readahead_size(
    ashlar_ingestexternalfileoptions_t* opt, size_t v);
size_t ashlar_ingestexternalfileoptions_get_verify_checksums_readahead_size(
    ashlar_ingestexternalfileoptions_t* opt);
void ashlar_ingestexternalfileoptions_set_verify_file_checksum(
    ashlar_ingestexternalfileoptions_t* opt, unsigned char v);
unsigned char ashlar_ingestexternalfileoptions_get_verify_file_checksum(
    ashlar_ingestexternalfileoptions_t* opt);
void ashlar_ingestexternalfileoptions_set_fail_if_not_bottommost_level(
    ashlar_ingestexternalfileoptions_t* opt, unsigned char v);
unsigned char ashlar_ingestexternalfileoptions_get_fail_if_not_bottommost_level(
    ashlar_ingestexternalfileoptions_t* opt);
void ashlar_ingestexternalfileoptions_set_allow_db_generated_files(
    ashlar_ingestexternalfileoptions_t* opt, unsigned char v);
unsigned char ashlar_ingestexternalfileoptions_get_allow_db_generated_files(
    ashlar_ingestexternalfileoptions_t* opt);
void ashlar_ingestexternalfileoptions_set_fill_cache(ashlar_ingestexternalfileoptions_t* opt,
                                                     unsigned char v);
unsigned char ashlar_ingestexternalfileoptions_get_fill_cache(
    ashlar_ingestexternalfileoptions_t* opt);
void ashlar_ingestexternalfileoptions_set_prefetch_lmax_index_and_filter_blocks(
    ashlar_ingestexternalfileoptions_t* opt, unsigned char v);
unsigned char ashlar_ingestexternalfileoptions_get_prefetch_lmax_index_and_filter_blocks(
    ashlar_ingestexternalfileoptions_t* opt);
void ashlar_ingestexternalfileoptions_set_file_opening_threads(
    ashlar_ingestexternalfileoptions_t* opt, int v);
int ashlar_ingestexternalfileoptions_get_file_opening_threads(
    ashlar_ingestexternalfileoptions_t* opt);

// The members of ImportColumnFamilyOptions, which ashlar/options.h describes.
ashlar_import_column_family_options_t* ashlar_import_column_family_options_create(void);
void ashlar_import_column_family_options_destroy(ashlar_import_column_family_options_t* opt);
void ashlar_import_column_family_options_set_move_files(ashlar_import_column_family_options_t* opt,
                                                        unsigned char v);
unsigned char ashlar_import_column_family_options_get_move_files(
    ashlar_import_column_family_options_t* opt);

// The members of SizeApproximationOptions, which ashlar/options.h describes.
ashlar_size_approximation_options_t* ashlar_size_approximation_options_create(void);
void ashlar_size_approximation_options_destroy(ashlar_size_approximation_options_t* opt);
void ashlar_size_approximation_options_set_include_memtables(
    ashlar_size_approximation_options_t* opt, unsigned char v);
unsigned char ashlar_size_approximation_options_get_include_memtables(
    ashlar_size_approximation_options_t* opt);
void ashlar_size_approximation_options_set_include_files(ashlar_size_approximation_options_t* opt,
                                                         unsigned char v);
unsigned char ashlar_size_approximation_options_get_include_files(
    ashlar_size_approximation_options_t* opt);
void ashlar_size_approximation_options_set_include_blob_files(
    ashlar_size_approximation_options_t* opt, unsigned char v);
unsigned char ashlar_size_approximation_options_get_include_blob_files(
    ashlar_size_approximation_options_t* opt);
void ashlar_size_approximation_options_set_files_size_error_margin(
    ashlar_size_approximation_options_t* opt, double v);
double ashlar_size_approximation_options_get_files_size_error_margin(
    ashlar_size_approximation_options_t* opt);

// The members of LiveFilesStorageInfoOptions, which ashlar/options.h describes.
ashlar_livefiles_storage_info_options_t* ashlar_livefiles_storage_info_options_create(void);
void ashlar_livefiles_storage_info_options_destroy(ashlar_livefiles_storage_info_options_t* opt);
void ashlar_livefiles_storage_info_options_set_include_checksum_info(
    ashlar_livefiles_storage_info_options_t* opt, unsigned char v);
unsigned char ashlar_livefiles_storage_info_options_get_include_checksum_info(
    ashlar_livefiles_storage_info_options_t* opt);
void ashlar_livefiles_storage_info_options_set_wal_size_for_flush(
    ashlar_livefiles_storage_info_options_t* opt, uint64_t v);
uint64_t ashlar_livefiles_storage_info_options_get_wal_size_for_flush(
    ashlar_livefiles_storage_info_options_t* opt);
void ashlar_livefiles_storage_info_options_set_atomic_flush(
    ashlar_livefiles_storage_info_options_t* opt, unsigned char v);
unsigned char ashlar_livefiles_storage_info_options_get_atomic_flush(
    ashlar_livefiles_storage_info_options_t* opt);

// The members of GetColumnFamilyMetaDataOptions, which ashlar/metadata.h describes.
ashlar_column_family_metadata_options_t* ashlar_column_family_metadata_options_create(void);
void ashlar_column_family_metadata_options_destroy(ashlar_column_family_metadata_options_t* opt);
void ashlar_column_family_metadata_options_set_level(ashlar_column_family_metadata_options_t* opt,
                                                     int v);
int ashlar_column_family_metadata_options_get_level(ashlar_column_family_metadata_options_t* opt);

// The members of OpenAndCompactOptions, which ashlar/options.h describes.
ashlar_open_and_compact_options_t* ashlar_open_and_compact_options_create(void);
void ashlar_open_and_compact_options_destroy(ashlar_open_and_compact_options_t* opt);
void ashlar_open_and_compact_options_set_allow_resumption(ashlar_open_and_compact_options_t* opt,
                                                          unsigned char v);
unsigned char ashlar_open_and_compact_options_get_allow_resumption(
    ashlar_open_and_compact_options_t* opt);

// The members of TraceOptions, which ashlar/options.h describes.
ashlar_trace_options_t* ashlar_trace_options_create(void);
void ashlar_trace_options_destroy(ashlar_trace_options_t* opt);
void ashlar_trace_options_set_max_trace_file_size(ashlar_trace_options_t* opt, uint64_t v);
uint64_t ashlar_trace_options_get_max_trace_file_size(ashlar_trace_options_t* opt);
void ashlar_trace_options_set_sampling_frequency(ashlar_trace_options_t* opt, uint64_t v);
uint64_t ashlar_trace_options_get_sampling_frequency(ashlar_trace_options_t* opt);
void ashlar_trace_options_set_filter(ashlar_trace_options_t* opt, uint64_t v);
uint64_t ashlar_trace_options_get_filter(ashlar_trace_options_t* opt);
void ashlar_trace_options_set_preserve_write_order(ashlar_trace_options_t* opt, unsigned char v);
unsigned char ashlar_trace_options_get_preserve_write_order(ashlar_trace_options_t* opt);

// The members of BlockCacheTraceOptions, which ashlar/block_cache_trace_writer.h describes.
ashlar_block_cache_trace_options_t* ashlar_block_cache_trace_options_create(void);
void ashlar_block_cache_trace_options_destroy(ashlar_block_cache_trace_options_t* opt);
void ashlar_block_cache_trace_options_set_sampling_frequency(
    ashlar_block_cache_trace_options_t* opt, uint64_t v);
uint64_t ashlar_block_cache_trace_options_get_sampling_frequency(
    ashlar_block_cache_trace_options_t* opt);

// The members of BlockCacheTraceWriterOptions, which ashlar/block_cache_trace_writer.h describes.
ashlar_block_cache_trace_writer_options_t* ashlar_block_cache_trace_writer_options_create(void);
void ashlar_block_cache_trace_writer_options_destroy(
    ashlar_block_cache_trace_writer_options_t* opt);
void ashlar_block_cache_trace_writer_options_set_max_trace_file_size(
    ashlar_block_cache_trace_writer_options_t* opt, uint64_t v);
uint64_t ashlar_block_cache_trace_writer_options_get_max_trace_file_size(
    ashlar_block_cache_trace_writer_options_t* opt);

ASHLAR_C_END
