// SPDX-License-Identifier: Apache-2.0
//
// The handles of options of single calls, and of the objects that options hold.
//
// Handles of options contain the C++ struct by value. If the struct points to something, the handle
// contains that as well, so options are valid as long as their handle.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "ashlar/block_cache_trace_writer.h"
#include "ashlar/file_checksum.h"
#include "ashlar/memory_allocator.h"
#include "ashlar/metadata.h"
#include "ashlar/sst_file_manager.h"
#include "ashlar/sst_partitioner.h"
#include "ashlar/statistics.h"
#include "ashlar/table_properties.h"
#include "ashlar/utilities/backup_engine.h"
#include "ashlar/utilities/memory_util.h"
#include "ashlar/utilities/optimistic_transaction_db.h"
#include "ashlar/utilities/transaction_db.h"
#include "capi/callbacks.h"
#include "capi/handles.h"

// ---- options

struct ashlar_flushwaloptions_t {
  ashlar::FlushWALOptions rep;
};
struct ashlar_compaction_options_t {
  ashlar::CompactionOptions rep;
};
struct ashlar_wait_for_compact_options_t {
  ashlar::WaitForCompactOptions rep;
};
struct ashlar_ingestexternalfileoptions_t {
  ashlar::IngestExternalFileOptions rep;
};
struct ashlar_import_column_family_options_t {
  ashlar::ImportColumnFamilyOptions rep;
};
struct ashlar_size_approximation_options_t {
  ashlar::SizeApproximationOptions rep;
};
struct ashlar_livefiles_storage_info_options_t {
  ashlar::LiveFilesStorageInfoOptions rep;
};
struct ashlar_column_family_metadata_options_t {
  ashlar::GetColumnFamilyMetaDataOptions rep;
  std::string start_key, end_key;  // the ends of rep.range
};
struct ashlar_open_and_compact_options_t {
  ashlar::OpenAndCompactOptions rep;
};
struct ashlar_trace_options_t {
  ashlar::TraceOptions rep;
};
struct ashlar_block_cache_trace_options_t {
  ashlar::BlockCacheTraceOptions rep;
};
struct ashlar_block_cache_trace_writer_options_t {
  ashlar::BlockCacheTraceWriterOptions rep;
};
struct ashlar_universal_compaction_options_t {
  ashlar::CompactionOptionsUniversal rep;
};
struct ashlar_fifo_compaction_options_t {
  ashlar::CompactionOptionsFIFO rep;
};
struct ashlar_cuckoo_table_options_t {
  ashlar::CuckooTableOptions rep;
};
struct ashlar_lru_cache_options_t {
  ashlar::LRUCacheOptions rep;
};
struct ashlar_hyper_clock_cache_options_t {
  ashlar::HyperClockCacheOptions rep;
};
struct ashlar_envoptions_t {
  ashlar::EnvOptions rep;
  std::shared_ptr<ashlar::RateLimiter> rate_limiter;  // owns rep.rate_limiter
};
struct ashlar_transactiondb_options_t {
  ashlar::TransactionDBOptions rep;
};
struct ashlar_transaction_options_t {
  ashlar::TransactionOptions rep;
};
struct ashlar_optimistictransactiondb_options_t {
  ashlar::OptimisticTransactionDBOptions rep;
};
struct ashlar_optimistictransaction_options_t {
  ashlar::OptimisticTransactionOptions rep;
};
struct ashlar_backup_engine_options_t {
  ashlar::BackupEngineOptions rep;
};
struct ashlar_create_backup_options_t {
  ashlar::CreateBackupOptions rep;
};
struct ashlar_restore_options_t {
  ashlar::RestoreOptions rep;
};

// ---- objects

struct ashlar_filterpolicy_t : public ashlar::capi::Shareable<ashlar_filterpolicy_t> {
  explicit ashlar_filterpolicy_t(const ashlar::FilterPolicy* policy) : rep(policy) {}

  const std::shared_ptr<const ashlar::FilterPolicy> rep;
};
struct ashlar_dbpath_t {
  ashlar::DbPath rep;
};
struct ashlar_memory_allocator_t {
  std::shared_ptr<ashlar::MemoryAllocator> rep;
};
struct ashlar_sst_file_manager_t {
  std::shared_ptr<ashlar::SstFileManager> rep;
};
struct ashlar_file_checksum_gen_factory_t {
  std::shared_ptr<ashlar::FileChecksumGenFactory> rep;
};
struct ashlar_table_properties_collector_factory_t {
  std::shared_ptr<ashlar::TablePropertiesCollectorFactory> rep;
};
struct ashlar_sst_partitioner_factory_t {
  std::shared_ptr<ashlar::SstPartitionerFactory> rep;
};
struct ashlar_optimistictransactiondb_lock_buckets_t {
  std::shared_ptr<ashlar::OccLockBuckets> rep;
};
struct ashlar_statistics_histogram_data_t {
  ashlar::HistogramData rep;
};

namespace ashlar::capi {

// The object in a handle; null for a null handle.
template <typename Handle>
auto ObjectIn(const Handle* handle) {
  return handle == nullptr ? decltype(handle->rep)() : handle->rep;
}

// The object that options take over together with its handle; null for a null handle. The result
// keeps the handle alive, so that options with the same handle share the object.
template <typename Handle>
auto TakenObjectOf(Handle* handle) {
  using Object = decltype(Handle::rep);
  if (handle == nullptr) return std::remove_const_t<Object>();
  const std::shared_ptr<Handle> owner = handle->TakeOver();
  return std::remove_const_t<Object>(owner, owner->rep.get());
}

}  // namespace ashlar::capi
