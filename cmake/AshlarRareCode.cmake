# SPDX-License-Identifier: Apache-2.0
#
# How release builds optimize each file: -O2 with little inlining, unless it is listed here.
#
# Rare code is optimized for size (-Os), which halves it: opening and closing, options, versions and
# their edits, properties and texts, ingestion, the jobs around the loops of flushes and
# compactions, simulated and faulty file systems. Code that runs for each read, write, iterator
# step, or in the loops of flush, compaction or recovery must not be listed as rare, unless a system
# call takes most of its time.
#
# Hot code is optimized for speed regardless of size (-O3): code that single reads and writes,
# iterator steps and the loops of flush, compaction and recovery run for each entry or block. A
# function in such a file that is called rarely (a text, a refusal, a constructor for each table)
# is marked [[gnu::cold]], which makes it -Os.
#
# tests/install/library_sizes.sh limits the sizes of the libraries.
set(ashlar_rare
  # Places and files.
  db/blob/*.cc db/changes/*.cc db/files/*.cc db/following/*.cc db/ingestion/*.cc db/opening/*.cc db/options/*.cc
  db/repair/*.cc db/utilities/*.cc db/utilities/*/*.cc
  db/version/compaction_claims.cc db/version/followed_change.cc db/version/live_versions.cc db/manifest/*.cc
  db/version/family_versions.cc db/version/manifest_replay.cc db/version/version.cc db/version/version_builder.cc
  db/version/version_set.cc
  db/wal/log_archive.cc db/wal/log_beginning.cc db/wal/log_recycler.cc db/wal/log_source.cc db/wal/wal_set.cc db/wal/wal_sink.cc
  table/format/footer.cc table/format/plain_block.cc
  table/format/properties.cc table/format/unique_id.cc table/sst/write/property_collectors.cc
  table/sst/write/builder_settings.cc table/sst/write/compression_sampler.cc table/sst/write/table_origin.cc
  table/sst/read/table_identity.cc table/sst/read/table_open.cc table/sst/read/table_salvage.cc
  table/sst/read/table_verify.cc
  cache/cache_charge.cc cache/write_buffer_manager.cc
  # The C API, except reads, writes, batches, iterators and callbacks. Functions for transactions only pass on.
  capi/backup.cc capi/batch_parts.cc capi/cache.cc capi/call_options.cc capi/checkpoint.cc capi/co*.cc capi/d*.cc
  capi/env.cc capi/family_options.cc capi/handles.cc capi/job_info.cc capi/listener.cc capi/maintenance.cc
  capi/metadata.cc capi/multi_read.cc capi/o*.cc capi/properties.cc capi/s*.cc capi/ta*.cc capi/tracing.cc
  capi/transaction*.cc capi/ttl.cc capi/wal.cc capi/wbwi.cc
  # What waits for a disk, a compressor or the copy of a large value.
  db/output/blob_flow.cc db/read/blob_lookups.cc db/search/scanned_blocks.cc db/table_cache/table_cache.cc
  db/wal/wal_compression.cc env/file_writer.cc env/io_deadline.cc env/posix/posix_uring.cc
  env/random_reader.cc env/read_together.cc table/sst/write/block_compressor.cc
  table/sst/write/cache_filler.cc table/sst/write/compression_pipeline.cc util/memory/page_buffer.cc
  table/format/compress*.cc table/sst/read/block_forms.cc table/sst/read/cache_counts.cc
  table/sst/read/readahead.cc table/tier/*.cc env/encryption/encrypted_*.cc env/remap/*.cc
  # A call for each table, version or wide-column entity.
  db/read/entity_columns.cc db/version/level_tables.cc db/search/level_tombstones.cc db/manifest/listed_logs.cc
  db/version/table_ages.cc db/table_cache/table_bounds.cc db/table_cache/table_rows.cc
  table/range_del/range_del_block.cc table/sst/write/table_builder_tail.cc util/interfaces/sst_partitioner.cc
  db/options/stock_merge_operators.cc table/index/index_builder.cc util/interfaces/merge_operator.cc
  util/interfaces/table_properties_collectors.cc util/keys/wide_column*.cc
  memtable/memory_report.cc table/index/uniform_keys.cc table/sst/read/table_objects.cc
  util/interfaces/flush_block_policy.cc util/interfaces/iterator.cc
  # Traces, tables without blocks, and objects by name.
  db/db_impl_traces.cc db/read/block_accesses.cc db/trace/*.cc db/trace/*/*.cc env/trace/*.cc table/plain/*.cc
  table/sst/read/bare_translation.cc util/interfaces/object_registry.cc
  # What only some programs ask for.
  db/output/output_check.cc db/write/write_batch_handler.cc memtable/memtable_checks.cc
  memtable/vector_rep.cc
  # Errors and their texts.
  util/rare_sort.cc util/status.cc util/text/str_cat.cc
  # Memtables of an unusual kind.
  memtable/hash_rep.cc memtable/in_place.cc memtable/memtable_rep.cc memtable/other_rep.cc
  memtable/user_rep.cc
  # Background work: called once for each job or output.
  db/column_family/*.cc db/compaction/*.cc db/flush/flush_job.cc db/jobs/*.cc db/jobs/remote/*.cc
  db/output/entry_filter.cc db/output/entry_stream_filter.cc db/output/filter_bits.cc
  db/output/output_writer.cc db/report/*.cc db/state/*.cc
  # Calls of the database other than reads and writes; calls for each transaction, not for each key.
  db/api/explain.cc db/api/family_iterators.cc db/api/names.cc db/api/not_built.cc db/api/other_forms.cc
  db/api/unbuilt_calls.cc db/clip_family.cc db/db_impl.cc db/db_impl_background.cc
  db/db_impl_properties.cc db/db_impl_families.cc db/db_impl_files.cc db/open_and_compact.cc
  db/open_forms.cc db/read/db_iterator_counters.cc
  db/read/explanation_text.cc db/read/read_explainer.cc
  db/api/multi_scan.cc db/db_impl_views.cc
  db/transaction/indexed_batch/batch_iterators.cc db/transaction/optimistic/optimistic_db.cc
  db/transaction/pessimistic/compensations.cc db/transaction/pessimistic/pessimistic_db.cc
  db/transaction/pessimistic/pessimistic_open.cc db/transaction/pessimistic/pessimistic_state.cc
  db/transaction/pessimistic/timestamped_snapshots.cc db/transaction/pessimistic/transaction_registry.cc
  db/transaction/base/transaction_base.cc db/transaction/optimistic/optimistic_transaction.cc
  db/transaction/pessimistic/locked_write.cc db/transaction/pessimistic/pessimistic_transaction.cc
  db/transaction/pessimistic/transaction_ends.cc
  db/transaction/transaction_forms.cc db/transaction/locks/lock_families.cc
  db/transaction/locks/point_locks_deadlock.cc db/transaction/locks/range_*.cc db/transaction/locks/wait_cycle.cc
  db/write/next_log.cc db/write/stall_forecast.cc db/write/write_batch_base.cc db/write/write_stall.cc
  table/iterator/traced_run.cc cache/cache.cc cache/cache_entry_stats.cc cache/handle_entry.cc
  cache/sim_cache.cc
  # Information about the machine.
  env/fault/*.cc env/memory/*.cc env/sim/*.cc env/composite_env.cc env/env.cc
  env/env_from_string.cc env/event_log.cc env/file_system.cc env/file_system_over_env.cc
  env/file_util.cc env/filename.cc env/fork_hook.cc env/info_log.cc env/listened_file_system.cc env/logger.cc
  env/new_entries.cc
  env/options_of_files.cc env/rate_limiter.cc env/sequential_reader.cc env/thread_pool.cc
  env/periodic_timer.cc env/thread_list.cc env/thread_status.cc env/timed_env.cc
  env/space/*.cc env/system_clock.cc util/statistics/iostats_context.cc util/threads/thread_team.cc
  env/posix/posix_env.cc env/posix/posix_error.cc env/posix/posix_file_system.cc
  env/posix/posix_files.cc env/posix/posix_lock.cc env/posix/posix_mapped_log.cc env/posix/sigbus_guard.cc
  # Names and texts.
  util/interfaces/compaction_filter.cc util/statistics/compaction_job_stats.cc util/threads/concurrent_task_limiter.cc
  util/text/configurable.cc util/text/data_in_errors.cc util/text/family_names.cc util/hash/file_checksum.cc util/interfaces/filter_policy_impl.cc
  util/interfaces/listener.cc util/memory/memory_allocator.cc util/text/option_text.cc util/statistics/perf_context.cc
  util/statistics/statistics_names.cc util/interfaces/table_properties.cc
  util/interfaces/table_property_names.cc util/interfaces/version.cc)
set(ashlar_hot
  cache/block_cache.cc cache/cached_object.cc cache/clock_*.cc
  db/api/read_forms.cc db/api/write_forms.cc db/db_impl_read.cc db/db_impl_stamped.cc db/db_impl_transactions.cc
  db/db_impl_write.cc
  db/output/entry_stream.cc db/output/operand_fold.cc
  db/output/tombstone_retention.cc db/read/db_iterator.cc db/read/db_iterator_newest.cc db/read/db_iterator_dead.cc
  db/read/iterator_builder.cc db/read/merge_resolution.cc db/read/multi_get.cc db/read/perf_meter.cc
  db/read/pinned_iterator.cc db/read/point_read.cc db/read/read_sampler.cc db/read/snapshot_list.cc
  db/read/stamped_read.cc db/read/super_version.cc
  db/search/batch_search.cc db/search/level_iterator.cc db/search/point_search.cc db/search/stamped_search.cc
  db/wal/buffered_wal_sink.cc db/wal/log_blocks.cc db/wal/log_format.cc db/wal/staging_order.cc
  db/write/commit_*.cc db/write/write_batch*.cc
  memtable/blink_*.cc memtable/memtable.cc memtable/memtable_bloom.cc
  memtable/memtable_iterator.cc
  table/block/*.cc table/filter/bloom.cc table/filter/filter_view.cc
  table/filter/full_filter_builder.cc table/filter/ribbon_builder.cc table/format/checksum.cc
  table/index/flat_index.cc table/iterator/*.cc
  table/sst/read/block_batch.cc table/sst/read/block_fetcher.cc table/sst/read/block_store.cc
  table/sst/write/block_writer.cc table/sst/read/index_cursor.cc table/sst/read/scan_blocks.cc
  table/sst/read/table_batch.cc table/sst/write/table_builder.cc table/sst/read/table_filter.cc
  table/sst/read/table_iterator.cc table/sst/read/table_reader.cc table/sst/read/table_stamps.cc
  util/memory/arena.cc util/keys/coding.cc util/hash/crc32c*.cc util/threads/epoch.cc
  util/hash/filter_hash.cc util/hash/hash.cc util/keys/comparator.cc util/keys/internal_key.cc util/keys/key_order.cc util/memory/slab_heap.cc
  util/xxh3*.cc)
foreach(group rare hot)
  list(TRANSFORM ashlar_${group} PREPEND "${PROJECT_SOURCE_DIR}/")
  file(GLOB ashlar_${group} CONFIGURE_DEPENDS ${ashlar_${group}})
endforeach()
list(REMOVE_ITEM ashlar_hot ${ashlar_rare})
# The rare code of shared libraries may be optimized across files (ASHLAR_LTO). Hot code is
# excluded: functions inlined into it might be the version that a rare file compiles for size.
# Objects contain both forms; otherwise static libraries and tools would be optimized again with
# each program that is linked.
set(ashlar_plain_options "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A sixth smaller. In these files even small functions of the standard library may become calls,
  # so files whose functions run for each read or write belong to the hot ones.
  set(ashlar_plain_options --param=max-inline-insns-single=20 --param=max-inline-insns-auto=5
    --param=inline-unit-growth=10 -fno-reorder-blocks-and-partition -fno-align-loops -fno-align-jumps)
endif()
set(ashlar_rare_options -Os)
set(ashlar_hot_options -O3)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # For copies of a few bytes whose number is bounded but unknown, GCC emits `rep movs`, which takes
  # thirty cycles to start.
  list(APPEND ashlar_hot_options -mmemcpy-strategy=libcall:-1:noalign)
endif()
set(ashlar_lto_link "")
if(ASHLAR_LTO)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "ASHLAR_LTO needs GCC, whose objects hold both forms: leave it out")
  endif()
  list(APPEND ashlar_rare_options -flto=auto -ffat-lto-objects)
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-fno-lto>)
  set(ashlar_lto_link -flto=auto)
endif()
