// SPDX-License-Identifier: Apache-2.0
//
// The C API: options of reads, writes and other calls. Made by tools/make_c_options.py.
#include "ashlar/c/call_options.h"

#include "capi/members.h"
#include "capi/option_handles.h"

using ashlar::capi::Get;
using ashlar::capi::Set;

// One line for each function.
// clang-format off

// ---- ReadOptions

ashlar_readoptions_t* ashlar_readoptions_create() { return new ashlar_readoptions_t; }
void ashlar_readoptions_destroy(ashlar_readoptions_t* opt) { delete opt; }
void ashlar_readoptions_set_deadline(ashlar_readoptions_t* opt, uint64_t v) { Set(opt->rep.deadline, v); }
uint64_t ashlar_readoptions_get_deadline(ashlar_readoptions_t* opt) { return Get<uint64_t>(opt->rep.deadline); }
void ashlar_readoptions_set_io_timeout(ashlar_readoptions_t* opt, uint64_t v) { Set(opt->rep.io_timeout, v); }
uint64_t ashlar_readoptions_get_io_timeout(ashlar_readoptions_t* opt) { return Get<uint64_t>(opt->rep.io_timeout); }
void ashlar_readoptions_set_read_tier(ashlar_readoptions_t* opt, int v) { Set(opt->rep.read_tier, v); }
int ashlar_readoptions_get_read_tier(ashlar_readoptions_t* opt) { return Get<int>(opt->rep.read_tier); }
void ashlar_readoptions_set_rate_limiter_priority(ashlar_readoptions_t* opt, int v) { Set(opt->rep.rate_limiter_priority, v); }
int ashlar_readoptions_get_rate_limiter_priority(ashlar_readoptions_t* opt) { return Get<int>(opt->rep.rate_limiter_priority); }
void ashlar_readoptions_set_value_size_soft_limit(ashlar_readoptions_t* opt, uint64_t v) { Set(opt->rep.value_size_soft_limit, v); }
uint64_t ashlar_readoptions_get_value_size_soft_limit(ashlar_readoptions_t* opt) { return Get<uint64_t>(opt->rep.value_size_soft_limit); }
void ashlar_readoptions_set_verify_checksums(ashlar_readoptions_t* opt, unsigned char v) { Set(opt->rep.verify_checksums, v); }
unsigned char ashlar_readoptions_get_verify_checksums(ashlar_readoptions_t* opt) { return Get<unsigned char>(opt->rep.verify_checksums); }
void ashlar_readoptions_set_fill_cache(ashlar_readoptions_t* opt, unsigned char v) { Set(opt->rep.fill_cache, v); }
unsigned char ashlar_readoptions_get_fill_cache(ashlar_readoptions_t* opt) { return Get<unsigned char>(opt->rep.fill_cache); }
void ashlar_readoptions_set_ignore_range_deletions(ashlar_readoptions_t* opt, unsigned char v) { Set(opt->rep.ignore_range_deletions, v); }
unsigned char ashlar_readoptions_get_ignore_range_deletions(ashlar_readoptions_t* opt) { return Get<unsigned char>(opt->rep.ignore_range_deletions); }
void ashlar_readoptions_set_async_io(ashlar_readoptions_t* opt, unsigned char v) { Set(opt->rep.async_io, v); }
unsigned char ashlar_readoptions_get_async_io(ashlar_readoptions_t* opt) { return Get<unsigned char>(opt->rep.async_io); }
void ashlar_readoptions_set_optimize_multiget_for_io(ashlar_readoptions_t* opt, unsigned char v) { Set(opt->rep.optimize_multiget_for_io, v); }
unsigned char ashlar_readoptions_get_optimize_multiget_for_io(ashlar_readoptions_t* opt) { return Get<unsigned char>(opt->rep.optimize_multiget_for_io); }
void ashlar_readoptions_set_readahead_size(ashlar_readoptions_t* opt, size_t v) { Set(opt->rep.readahead_size, v); }
size_t ashlar_readoptions_get_readahead_size(ashlar_readoptions_t* opt) { return Get<size_t>(opt->rep.readahead_size); }
void ashlar_readoptions_set_max_skippable_internal_keys(ashlar_readoptions_t* opt, uint64_t v) { Set(opt->rep.max_skippable_internal_keys, v); }
uint64_t ashlar_readoptions_get_max_skippable_internal_keys(ashlar_readoptions_t* opt) { return Get<uint64_t>(opt->rep.max_skippable_internal_keys); }
void ashlar_readoptions_set_tailing(ashlar_readoptions_t* opt, unsigned char v) { Set(opt->rep.tailing, v); }
unsigned char ashlar_readoptions_get_tailing(ashlar_readoptions_t* opt) { return Get<unsigned char>(opt->rep.tailing); }
void ashlar_readoptions_set_total_order_seek(ashlar_readoptions_t* opt, unsigned char v) { Set(opt->rep.total_order_seek, v); }
unsigned char ashlar_readoptions_get_total_order_seek(ashlar_readoptions_t* opt) { return Get<unsigned char>(opt->rep.total_order_seek); }
void ashlar_readoptions_set_auto_prefix_mode(ashlar_readoptions_t* opt, unsigned char v) { Set(opt->rep.auto_prefix_mode, v); }
unsigned char ashlar_readoptions_get_auto_prefix_mode(ashlar_readoptions_t* opt) { return Get<unsigned char>(opt->rep.auto_prefix_mode); }
void ashlar_readoptions_set_prefix_same_as_start(ashlar_readoptions_t* opt, unsigned char v) { Set(opt->rep.prefix_same_as_start, v); }
unsigned char ashlar_readoptions_get_prefix_same_as_start(ashlar_readoptions_t* opt) { return Get<unsigned char>(opt->rep.prefix_same_as_start); }
void ashlar_readoptions_set_pin_data(ashlar_readoptions_t* opt, unsigned char v) { Set(opt->rep.pin_data, v); }
unsigned char ashlar_readoptions_get_pin_data(ashlar_readoptions_t* opt) { return Get<unsigned char>(opt->rep.pin_data); }
void ashlar_readoptions_set_adaptive_readahead(ashlar_readoptions_t* opt, unsigned char v) { Set(opt->rep.adaptive_readahead, v); }
unsigned char ashlar_readoptions_get_adaptive_readahead(ashlar_readoptions_t* opt) { return Get<unsigned char>(opt->rep.adaptive_readahead); }
void ashlar_readoptions_set_background_purge_on_iterator_cleanup(ashlar_readoptions_t* opt, unsigned char v) { Set(opt->rep.background_purge_on_iterator_cleanup, v); }
unsigned char ashlar_readoptions_get_background_purge_on_iterator_cleanup(ashlar_readoptions_t* opt) { return Get<unsigned char>(opt->rep.background_purge_on_iterator_cleanup); }
void ashlar_readoptions_set_auto_readahead_size(ashlar_readoptions_t* opt, unsigned char v) { Set(opt->rep.auto_readahead_size, v); }
unsigned char ashlar_readoptions_get_auto_readahead_size(ashlar_readoptions_t* opt) { return Get<unsigned char>(opt->rep.auto_readahead_size); }
void ashlar_readoptions_set_allow_unprepared_value(ashlar_readoptions_t* opt, unsigned char v) { Set(opt->rep.allow_unprepared_value, v); }
unsigned char ashlar_readoptions_get_allow_unprepared_value(ashlar_readoptions_t* opt) { return Get<unsigned char>(opt->rep.allow_unprepared_value); }
void ashlar_readoptions_set_auto_refresh_iterator_with_snapshot(ashlar_readoptions_t* opt, unsigned char v) { Set(opt->rep.auto_refresh_iterator_with_snapshot, v); }
unsigned char ashlar_readoptions_get_auto_refresh_iterator_with_snapshot(ashlar_readoptions_t* opt) { return Get<unsigned char>(opt->rep.auto_refresh_iterator_with_snapshot); }
void ashlar_readoptions_set_io_activity(ashlar_readoptions_t* opt, int v) { Set(opt->rep.io_activity, v); }
int ashlar_readoptions_get_io_activity(ashlar_readoptions_t* opt) { return Get<int>(opt->rep.io_activity); }
void ashlar_readoptions_set_managed(ashlar_readoptions_t* opt, unsigned char v) { Set(opt->rep.managed, v); }
unsigned char ashlar_readoptions_get_managed(ashlar_readoptions_t* opt) { return Get<unsigned char>(opt->rep.managed); }

// ---- WriteOptions

ashlar_writeoptions_t* ashlar_writeoptions_create() { return new ashlar_writeoptions_t; }
void ashlar_writeoptions_destroy(ashlar_writeoptions_t* opt) { delete opt; }
void ashlar_writeoptions_set_sync(ashlar_writeoptions_t* opt, unsigned char v) { Set(opt->rep.sync, v); }
unsigned char ashlar_writeoptions_get_sync(ashlar_writeoptions_t* opt) { return Get<unsigned char>(opt->rep.sync); }
void ashlar_writeoptions_disable_WAL(ashlar_writeoptions_t* opt, int v) { Set(opt->rep.disableWAL, v); }
unsigned char ashlar_writeoptions_get_disable_WAL(ashlar_writeoptions_t* opt) { return Get<unsigned char>(opt->rep.disableWAL); }
void ashlar_writeoptions_set_ignore_missing_column_families(ashlar_writeoptions_t* opt, unsigned char v) { Set(opt->rep.ignore_missing_column_families, v); }
unsigned char ashlar_writeoptions_get_ignore_missing_column_families(ashlar_writeoptions_t* opt) { return Get<unsigned char>(opt->rep.ignore_missing_column_families); }
void ashlar_writeoptions_set_no_slowdown(ashlar_writeoptions_t* opt, unsigned char v) { Set(opt->rep.no_slowdown, v); }
unsigned char ashlar_writeoptions_get_no_slowdown(ashlar_writeoptions_t* opt) { return Get<unsigned char>(opt->rep.no_slowdown); }
void ashlar_writeoptions_set_low_pri(ashlar_writeoptions_t* opt, unsigned char v) { Set(opt->rep.low_pri, v); }
unsigned char ashlar_writeoptions_get_low_pri(ashlar_writeoptions_t* opt) { return Get<unsigned char>(opt->rep.low_pri); }
void ashlar_writeoptions_set_memtable_insert_hint_per_batch(ashlar_writeoptions_t* opt, unsigned char v) { Set(opt->rep.memtable_insert_hint_per_batch, v); }
unsigned char ashlar_writeoptions_get_memtable_insert_hint_per_batch(ashlar_writeoptions_t* opt) { return Get<unsigned char>(opt->rep.memtable_insert_hint_per_batch); }
void ashlar_writeoptions_set_rate_limiter_priority(ashlar_writeoptions_t* opt, int v) { Set(opt->rep.rate_limiter_priority, v); }
int ashlar_writeoptions_get_rate_limiter_priority(ashlar_writeoptions_t* opt) { return Get<int>(opt->rep.rate_limiter_priority); }
void ashlar_writeoptions_set_protection_bytes_per_key(ashlar_writeoptions_t* opt, size_t v) { Set(opt->rep.protection_bytes_per_key, v); }
size_t ashlar_writeoptions_get_protection_bytes_per_key(ashlar_writeoptions_t* opt) { return Get<size_t>(opt->rep.protection_bytes_per_key); }
void ashlar_writeoptions_set_io_activity(ashlar_writeoptions_t* opt, int v) { Set(opt->rep.io_activity, v); }
int ashlar_writeoptions_get_io_activity(ashlar_writeoptions_t* opt) { return Get<int>(opt->rep.io_activity); }

// ---- FlushOptions

ashlar_flushoptions_t* ashlar_flushoptions_create() { return new ashlar_flushoptions_t; }
void ashlar_flushoptions_destroy(ashlar_flushoptions_t* opt) { delete opt; }
void ashlar_flushoptions_set_wait(ashlar_flushoptions_t* opt, unsigned char v) { Set(opt->rep.wait, v); }
unsigned char ashlar_flushoptions_get_wait(ashlar_flushoptions_t* opt) { return Get<unsigned char>(opt->rep.wait); }
void ashlar_flushoptions_set_allow_write_stall(ashlar_flushoptions_t* opt, unsigned char v) { Set(opt->rep.allow_write_stall, v); }
unsigned char ashlar_flushoptions_get_allow_write_stall(ashlar_flushoptions_t* opt) { return Get<unsigned char>(opt->rep.allow_write_stall); }
void ashlar_flushoptions_set_force_atomic_flush(ashlar_flushoptions_t* opt, unsigned char v) { Set(opt->rep.force_atomic_flush, v); }
unsigned char ashlar_flushoptions_get_force_atomic_flush(ashlar_flushoptions_t* opt) { return Get<unsigned char>(opt->rep.force_atomic_flush); }
void ashlar_flushoptions_set_listener_wait(ashlar_flushoptions_t* opt, unsigned char v) { Set(opt->rep.listener_wait, v); }
unsigned char ashlar_flushoptions_get_listener_wait(ashlar_flushoptions_t* opt) { return Get<unsigned char>(opt->rep.listener_wait); }

// ---- FlushWALOptions

ashlar_flushwaloptions_t* ashlar_flushwaloptions_create() { return new ashlar_flushwaloptions_t; }
void ashlar_flushwaloptions_destroy(ashlar_flushwaloptions_t* opt) { delete opt; }
void ashlar_flushwaloptions_set_sync(ashlar_flushwaloptions_t* opt, unsigned char v) { Set(opt->rep.sync, v); }
unsigned char ashlar_flushwaloptions_get_sync(ashlar_flushwaloptions_t* opt) { return Get<unsigned char>(opt->rep.sync); }
void ashlar_flushwaloptions_set_rate_limiter_priority(ashlar_flushwaloptions_t* opt, int v) { Set(opt->rep.rate_limiter_priority, v); }
int ashlar_flushwaloptions_get_rate_limiter_priority(ashlar_flushwaloptions_t* opt) { return Get<int>(opt->rep.rate_limiter_priority); }

// ---- CompactRangeOptions

ashlar_compactoptions_t* ashlar_compactoptions_create() { return new ashlar_compactoptions_t; }
void ashlar_compactoptions_destroy(ashlar_compactoptions_t* opt) { delete opt; }
void ashlar_compactoptions_set_exclusive_manual_compaction(ashlar_compactoptions_t* opt, unsigned char v) { Set(opt->rep.exclusive_manual_compaction, v); }
unsigned char ashlar_compactoptions_get_exclusive_manual_compaction(ashlar_compactoptions_t* opt) { return Get<unsigned char>(opt->rep.exclusive_manual_compaction); }
void ashlar_compactoptions_set_change_level(ashlar_compactoptions_t* opt, unsigned char v) { Set(opt->rep.change_level, v); }
unsigned char ashlar_compactoptions_get_change_level(ashlar_compactoptions_t* opt) { return Get<unsigned char>(opt->rep.change_level); }
void ashlar_compactoptions_set_target_level(ashlar_compactoptions_t* opt, int v) { Set(opt->rep.target_level, v); }
int ashlar_compactoptions_get_target_level(ashlar_compactoptions_t* opt) { return Get<int>(opt->rep.target_level); }
void ashlar_compactoptions_set_target_path_id(ashlar_compactoptions_t* opt, int v) { Set(opt->rep.target_path_id, v); }
int ashlar_compactoptions_get_target_path_id(ashlar_compactoptions_t* opt) { return Get<int>(opt->rep.target_path_id); }
void ashlar_compactoptions_set_bottommost_level_compaction(ashlar_compactoptions_t* opt, unsigned char v) { Set(opt->rep.bottommost_level_compaction, v); }
unsigned char ashlar_compactoptions_get_bottommost_level_compaction(ashlar_compactoptions_t* opt) { return Get<unsigned char>(opt->rep.bottommost_level_compaction); }
void ashlar_compactoptions_set_allow_write_stall(ashlar_compactoptions_t* opt, unsigned char v) { Set(opt->rep.allow_write_stall, v); }
unsigned char ashlar_compactoptions_get_allow_write_stall(ashlar_compactoptions_t* opt) { return Get<unsigned char>(opt->rep.allow_write_stall); }
void ashlar_compactoptions_set_max_subcompactions(ashlar_compactoptions_t* opt, int v) { Set(opt->rep.max_subcompactions, v); }
int ashlar_compactoptions_get_max_subcompactions(ashlar_compactoptions_t* opt) { return Get<int>(opt->rep.max_subcompactions); }
void ashlar_compactoptions_set_blob_garbage_collection_policy(ashlar_compactoptions_t* opt, int v) { Set(opt->rep.blob_garbage_collection_policy, v); }
int ashlar_compactoptions_get_blob_garbage_collection_policy(ashlar_compactoptions_t* opt) { return Get<int>(opt->rep.blob_garbage_collection_policy); }
void ashlar_compactoptions_set_blob_garbage_collection_age_cutoff(ashlar_compactoptions_t* opt, double v) { Set(opt->rep.blob_garbage_collection_age_cutoff, v); }
double ashlar_compactoptions_get_blob_garbage_collection_age_cutoff(ashlar_compactoptions_t* opt) { return Get<double>(opt->rep.blob_garbage_collection_age_cutoff); }

// ---- CompactionOptions

ashlar_compaction_options_t* ashlar_compaction_options_create() { return new ashlar_compaction_options_t; }
void ashlar_compaction_options_destroy(ashlar_compaction_options_t* opt) { delete opt; }
void ashlar_compaction_options_set_compression(ashlar_compaction_options_t* opt, int v) { Set(opt->rep.compression, v); }
int ashlar_compaction_options_get_compression(ashlar_compaction_options_t* opt) { return Get<int>(opt->rep.compression); }
void ashlar_compaction_options_set_output_file_size_limit(ashlar_compaction_options_t* opt, uint64_t v) { Set(opt->rep.output_file_size_limit, v); }
uint64_t ashlar_compaction_options_get_output_file_size_limit(ashlar_compaction_options_t* opt) { return Get<uint64_t>(opt->rep.output_file_size_limit); }
void ashlar_compaction_options_set_max_subcompactions(ashlar_compaction_options_t* opt, uint32_t v) { Set(opt->rep.max_subcompactions, v); }
uint32_t ashlar_compaction_options_get_max_subcompactions(ashlar_compaction_options_t* opt) { return Get<uint32_t>(opt->rep.max_subcompactions); }
void ashlar_compaction_options_set_output_temperature_override(ashlar_compaction_options_t* opt, int v) { Set(opt->rep.output_temperature_override, v); }
int ashlar_compaction_options_get_output_temperature_override(ashlar_compaction_options_t* opt) { return Get<int>(opt->rep.output_temperature_override); }
void ashlar_compaction_options_set_allow_trivial_move(ashlar_compaction_options_t* opt, unsigned char v) { Set(opt->rep.allow_trivial_move, v); }
unsigned char ashlar_compaction_options_get_allow_trivial_move(ashlar_compaction_options_t* opt) { return Get<unsigned char>(opt->rep.allow_trivial_move); }

// ---- WaitForCompactOptions

ashlar_wait_for_compact_options_t* ashlar_wait_for_compact_options_create() { return new ashlar_wait_for_compact_options_t; }
void ashlar_wait_for_compact_options_destroy(ashlar_wait_for_compact_options_t* opt) { delete opt; }
void ashlar_wait_for_compact_options_set_abort_on_pause(ashlar_wait_for_compact_options_t* opt, unsigned char v) { Set(opt->rep.abort_on_pause, v); }
unsigned char ashlar_wait_for_compact_options_get_abort_on_pause(ashlar_wait_for_compact_options_t* opt) { return Get<unsigned char>(opt->rep.abort_on_pause); }
void ashlar_wait_for_compact_options_set_flush(ashlar_wait_for_compact_options_t* opt, unsigned char v) { Set(opt->rep.flush, v); }
unsigned char ashlar_wait_for_compact_options_get_flush(ashlar_wait_for_compact_options_t* opt) { return Get<unsigned char>(opt->rep.flush); }
void ashlar_wait_for_compact_options_set_wait_for_purge(ashlar_wait_for_compact_options_t* opt, unsigned char v) { Set(opt->rep.wait_for_purge, v); }
unsigned char ashlar_wait_for_compact_options_get_wait_for_purge(ashlar_wait_for_compact_options_t* opt) { return Get<unsigned char>(opt->rep.wait_for_purge); }
void ashlar_wait_for_compact_options_set_close_db(ashlar_wait_for_compact_options_t* opt, unsigned char v) { Set(opt->rep.close_db, v); }
unsigned char ashlar_wait_for_compact_options_get_close_db(ashlar_wait_for_compact_options_t* opt) { return Get<unsigned char>(opt->rep.close_db); }
void ashlar_wait_for_compact_options_set_timeout(ashlar_wait_for_compact_options_t* opt, uint64_t v) { Set(opt->rep.timeout, v); }
uint64_t ashlar_wait_for_compact_options_get_timeout(ashlar_wait_for_compact_options_t* opt) { return Get<uint64_t>(opt->rep.timeout); }

// ---- IngestExternalFileOptions

ashlar_ingestexternalfileoptions_t* ashlar_ingestexternalfileoptions_create() { return new ashlar_ingestexternalfileoptions_t; }
void ashlar_ingestexternalfileoptions_destroy(ashlar_ingestexternalfileoptions_t* opt) { delete opt; }
void ashlar_ingestexternalfileoptions_set_move_files(ashlar_ingestexternalfileoptions_t* opt, unsigned char v) { Set(opt->rep.move_files, v); }
unsigned char ashlar_ingestexternalfileoptions_get_move_files(ashlar_ingestexternalfileoptions_t* opt) { return Get<unsigned char>(opt->rep.move_files); }
void ashlar_ingestexternalfileoptions_set_link_files(ashlar_ingestexternalfileoptions_t* opt, unsigned char v) { Set(opt->rep.link_files, v); }
unsigned char ashlar_ingestexternalfileoptions_get_link_files(ashlar_ingestexternalfileoptions_t* opt) { return Get<unsigned char>(opt->rep.link_files); }
void ashlar_ingestexternalfileoptions_set_failed_move_fall_back_to_copy(ashlar_ingestexternalfileoptions_t* opt, unsigned char v) { Set(opt->rep.failed_move_fall_back_to_copy, v); }
unsigned char ashlar_ingestexternalfileoptions_get_failed_move_fall_back_to_copy(ashlar_ingestexternalfileoptions_t* opt) { return Get<unsigned char>(opt->rep.failed_move_fall_back_to_copy); }
void ashlar_ingestexternalfileoptions_set_snapshot_consistency(ashlar_ingestexternalfileoptions_t* opt, unsigned char v) { Set(opt->rep.snapshot_consistency, v); }
unsigned char ashlar_ingestexternalfileoptions_get_snapshot_consistency(ashlar_ingestexternalfileoptions_t* opt) { return Get<unsigned char>(opt->rep.snapshot_consistency); }
void ashlar_ingestexternalfileoptions_set_allow_global_seqno(ashlar_ingestexternalfileoptions_t* opt, unsigned char v) { Set(opt->rep.allow_global_seqno, v); }
unsigned char ashlar_ingestexternalfileoptions_get_allow_global_seqno(ashlar_ingestexternalfileoptions_t* opt) { return Get<unsigned char>(opt->rep.allow_global_seqno); }
void ashlar_ingestexternalfileoptions_set_allow_blocking_flush(ashlar_ingestexternalfileoptions_t* opt, unsigned char v) { Set(opt->rep.allow_blocking_flush, v); }
unsigned char ashlar_ingestexternalfileoptions_get_allow_blocking_flush(ashlar_ingestexternalfileoptions_t* opt) { return Get<unsigned char>(opt->rep.allow_blocking_flush); }
void ashlar_ingestexternalfileoptions_set_ingest_behind(ashlar_ingestexternalfileoptions_t* opt, unsigned char v) { Set(opt->rep.ingest_behind, v); }
unsigned char ashlar_ingestexternalfileoptions_get_ingest_behind(ashlar_ingestexternalfileoptions_t* opt) { return Get<unsigned char>(opt->rep.ingest_behind); }
void ashlar_ingestexternalfileoptions_set_write_global_seqno(ashlar_ingestexternalfileoptions_t* opt, unsigned char v) { Set(opt->rep.write_global_seqno, v); }
unsigned char ashlar_ingestexternalfileoptions_get_write_global_seqno(ashlar_ingestexternalfileoptions_t* opt) { return Get<unsigned char>(opt->rep.write_global_seqno); }
void ashlar_ingestexternalfileoptions_set_verify_checksums_before_ingest(ashlar_ingestexternalfileoptions_t* opt, unsigned char v) { Set(opt->rep.verify_checksums_before_ingest, v); }
unsigned char ashlar_ingestexternalfileoptions_get_verify_checksums_before_ingest(ashlar_ingestexternalfileoptions_t* opt) { return Get<unsigned char>(opt->rep.verify_checksums_before_ingest); }
void ashlar_ingestexternalfileoptions_set_verify_checksums_readahead_size(ashlar_ingestexternalfileoptions_t* opt, size_t v) { Set(opt->rep.verify_checksums_readahead_size, v); }
size_t ashlar_ingestexternalfileoptions_get_verify_checksums_readahead_size(ashlar_ingestexternalfileoptions_t* opt) { return Get<size_t>(opt->rep.verify_checksums_readahead_size); }
void ashlar_ingestexternalfileoptions_set_verify_file_checksum(ashlar_ingestexternalfileoptions_t* opt, unsigned char v) { Set(opt->rep.verify_file_checksum, v); }
unsigned char ashlar_ingestexternalfileoptions_get_verify_file_checksum(ashlar_ingestexternalfileoptions_t* opt) { return Get<unsigned char>(opt->rep.verify_file_checksum); }
void ashlar_ingestexternalfileoptions_set_fail_if_not_bottommost_level(ashlar_ingestexternalfileoptions_t* opt, unsigned char v) { Set(opt->rep.fail_if_not_bottommost_level, v); }
unsigned char ashlar_ingestexternalfileoptions_get_fail_if_not_bottommost_level(ashlar_ingestexternalfileoptions_t* opt) { return Get<unsigned char>(opt->rep.fail_if_not_bottommost_level); }
void ashlar_ingestexternalfileoptions_set_allow_db_generated_files(ashlar_ingestexternalfileoptions_t* opt, unsigned char v) { Set(opt->rep.allow_db_generated_files, v); }
unsigned char ashlar_ingestexternalfileoptions_get_allow_db_generated_files(ashlar_ingestexternalfileoptions_t* opt) { return Get<unsigned char>(opt->rep.allow_db_generated_files); }
void ashlar_ingestexternalfileoptions_set_fill_cache(ashlar_ingestexternalfileoptions_t* opt, unsigned char v) { Set(opt->rep.fill_cache, v); }
unsigned char ashlar_ingestexternalfileoptions_get_fill_cache(ashlar_ingestexternalfileoptions_t* opt) { return Get<unsigned char>(opt->rep.fill_cache); }
void ashlar_ingestexternalfileoptions_set_prefetch_lmax_index_and_filter_blocks(ashlar_ingestexternalfileoptions_t* opt, unsigned char v) { Set(opt->rep.prefetch_lmax_index_and_filter_blocks, v); }
unsigned char ashlar_ingestexternalfileoptions_get_prefetch_lmax_index_and_filter_blocks(ashlar_ingestexternalfileoptions_t* opt) { return Get<unsigned char>(opt->rep.prefetch_lmax_index_and_filter_blocks); }
void ashlar_ingestexternalfileoptions_set_file_opening_threads(ashlar_ingestexternalfileoptions_t* opt, int v) { Set(opt->rep.file_opening_threads, v); }
int ashlar_ingestexternalfileoptions_get_file_opening_threads(ashlar_ingestexternalfileoptions_t* opt) { return Get<int>(opt->rep.file_opening_threads); }

// ---- ImportColumnFamilyOptions

ashlar_import_column_family_options_t* ashlar_import_column_family_options_create() { return new ashlar_import_column_family_options_t; }
void ashlar_import_column_family_options_destroy(ashlar_import_column_family_options_t* opt) { delete opt; }
void ashlar_import_column_family_options_set_move_files(ashlar_import_column_family_options_t* opt, unsigned char v) { Set(opt->rep.move_files, v); }
unsigned char ashlar_import_column_family_options_get_move_files(ashlar_import_column_family_options_t* opt) { return Get<unsigned char>(opt->rep.move_files); }

// ---- SizeApproximationOptions

ashlar_size_approximation_options_t* ashlar_size_approximation_options_create() { return new ashlar_size_approximation_options_t; }
void ashlar_size_approximation_options_destroy(ashlar_size_approximation_options_t* opt) { delete opt; }
void ashlar_size_approximation_options_set_include_memtables(ashlar_size_approximation_options_t* opt, unsigned char v) { Set(opt->rep.include_memtables, v); }
unsigned char ashlar_size_approximation_options_get_include_memtables(ashlar_size_approximation_options_t* opt) { return Get<unsigned char>(opt->rep.include_memtables); }
void ashlar_size_approximation_options_set_include_files(ashlar_size_approximation_options_t* opt, unsigned char v) { Set(opt->rep.include_files, v); }
unsigned char ashlar_size_approximation_options_get_include_files(ashlar_size_approximation_options_t* opt) { return Get<unsigned char>(opt->rep.include_files); }
void ashlar_size_approximation_options_set_include_blob_files(ashlar_size_approximation_options_t* opt, unsigned char v) { Set(opt->rep.include_blob_files, v); }
unsigned char ashlar_size_approximation_options_get_include_blob_files(ashlar_size_approximation_options_t* opt) { return Get<unsigned char>(opt->rep.include_blob_files); }
void ashlar_size_approximation_options_set_files_size_error_margin(ashlar_size_approximation_options_t* opt, double v) { Set(opt->rep.files_size_error_margin, v); }
double ashlar_size_approximation_options_get_files_size_error_margin(ashlar_size_approximation_options_t* opt) { return Get<double>(opt->rep.files_size_error_margin); }

// ---- LiveFilesStorageInfoOptions

ashlar_livefiles_storage_info_options_t* ashlar_livefiles_storage_info_options_create() { return new ashlar_livefiles_storage_info_options_t; }
void ashlar_livefiles_storage_info_options_destroy(ashlar_livefiles_storage_info_options_t* opt) { delete opt; }
void ashlar_livefiles_storage_info_options_set_include_checksum_info(ashlar_livefiles_storage_info_options_t* opt, unsigned char v) { Set(opt->rep.include_checksum_info, v); }
unsigned char ashlar_livefiles_storage_info_options_get_include_checksum_info(ashlar_livefiles_storage_info_options_t* opt) { return Get<unsigned char>(opt->rep.include_checksum_info); }
void ashlar_livefiles_storage_info_options_set_wal_size_for_flush(ashlar_livefiles_storage_info_options_t* opt, uint64_t v) { Set(opt->rep.wal_size_for_flush, v); }
uint64_t ashlar_livefiles_storage_info_options_get_wal_size_for_flush(ashlar_livefiles_storage_info_options_t* opt) { return Get<uint64_t>(opt->rep.wal_size_for_flush); }
void ashlar_livefiles_storage_info_options_set_atomic_flush(ashlar_livefiles_storage_info_options_t* opt, unsigned char v) { Set(opt->rep.atomic_flush, v); }
unsigned char ashlar_livefiles_storage_info_options_get_atomic_flush(ashlar_livefiles_storage_info_options_t* opt) { return Get<unsigned char>(opt->rep.atomic_flush); }

// ---- GetColumnFamilyMetaDataOptions

ashlar_column_family_metadata_options_t* ashlar_column_family_metadata_options_create() { return new ashlar_column_family_metadata_options_t; }
void ashlar_column_family_metadata_options_destroy(ashlar_column_family_metadata_options_t* opt) { delete opt; }
void ashlar_column_family_metadata_options_set_level(ashlar_column_family_metadata_options_t* opt, int v) { Set(opt->rep.level, v); }
int ashlar_column_family_metadata_options_get_level(ashlar_column_family_metadata_options_t* opt) { return Get<int>(opt->rep.level); }

// ---- OpenAndCompactOptions

ashlar_open_and_compact_options_t* ashlar_open_and_compact_options_create() { return new ashlar_open_and_compact_options_t; }
void ashlar_open_and_compact_options_destroy(ashlar_open_and_compact_options_t* opt) { delete opt; }
void ashlar_open_and_compact_options_set_allow_resumption(ashlar_open_and_compact_options_t* opt, unsigned char v) { Set(opt->rep.allow_resumption, v); }
unsigned char ashlar_open_and_compact_options_get_allow_resumption(ashlar_open_and_compact_options_t* opt) { return Get<unsigned char>(opt->rep.allow_resumption); }

// ---- TraceOptions

ashlar_trace_options_t* ashlar_trace_options_create() { return new ashlar_trace_options_t; }
void ashlar_trace_options_destroy(ashlar_trace_options_t* opt) { delete opt; }
void ashlar_trace_options_set_max_trace_file_size(ashlar_trace_options_t* opt, uint64_t v) { Set(opt->rep.max_trace_file_size, v); }
uint64_t ashlar_trace_options_get_max_trace_file_size(ashlar_trace_options_t* opt) { return Get<uint64_t>(opt->rep.max_trace_file_size); }
void ashlar_trace_options_set_sampling_frequency(ashlar_trace_options_t* opt, uint64_t v) { Set(opt->rep.sampling_frequency, v); }
uint64_t ashlar_trace_options_get_sampling_frequency(ashlar_trace_options_t* opt) { return Get<uint64_t>(opt->rep.sampling_frequency); }
void ashlar_trace_options_set_filter(ashlar_trace_options_t* opt, uint64_t v) { Set(opt->rep.filter, v); }
uint64_t ashlar_trace_options_get_filter(ashlar_trace_options_t* opt) { return Get<uint64_t>(opt->rep.filter); }
void ashlar_trace_options_set_preserve_write_order(ashlar_trace_options_t* opt, unsigned char v) { Set(opt->rep.preserve_write_order, v); }
unsigned char ashlar_trace_options_get_preserve_write_order(ashlar_trace_options_t* opt) { return Get<unsigned char>(opt->rep.preserve_write_order); }

// ---- BlockCacheTraceOptions

ashlar_block_cache_trace_options_t* ashlar_block_cache_trace_options_create() { return new ashlar_block_cache_trace_options_t; }
void ashlar_block_cache_trace_options_destroy(ashlar_block_cache_trace_options_t* opt) { delete opt; }
void ashlar_block_cache_trace_options_set_sampling_frequency(ashlar_block_cache_trace_options_t* opt, uint64_t v) { Set(opt->rep.sampling_frequency, v); }
uint64_t ashlar_block_cache_trace_options_get_sampling_frequency(ashlar_block_cache_trace_options_t* opt) { return Get<uint64_t>(opt->rep.sampling_frequency); }

// ---- BlockCacheTraceWriterOptions

ashlar_block_cache_trace_writer_options_t* ashlar_block_cache_trace_writer_options_create() { return new ashlar_block_cache_trace_writer_options_t; }
void ashlar_block_cache_trace_writer_options_destroy(ashlar_block_cache_trace_writer_options_t* opt) { delete opt; }
void ashlar_block_cache_trace_writer_options_set_max_trace_file_size(ashlar_block_cache_trace_writer_options_t* opt, uint64_t v) { Set(opt->rep.max_trace_file_size, v); }
uint64_t ashlar_block_cache_trace_writer_options_get_max_trace_file_size(ashlar_block_cache_trace_writer_options_t* opt) { return Get<uint64_t>(opt->rep.max_trace_file_size); }
