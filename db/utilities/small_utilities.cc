// SPDX-License-Identifier: Apache-2.0
//
// Utilities of a few lines: adding up memory, LevelDB's options, names of entry types.
#include <memory>

#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "ashlar/env.h"
#include "ashlar/filter_policy.h"
#include "ashlar/table.h"
#include "ashlar/utilities/debug.h"
#include "ashlar/utilities/leveldb_options.h"
#include "ashlar/utilities/memory_util.h"
#include "util/keys/internal_key.h"

namespace ashlar {

Status MemoryUtil::AddUp(const std::vector<DB*>& dbs,
                         const std::unordered_set<const Cache*>& cache_set,
                         std::map<MemoryUtil::UsageType, uint64_t>* usage_by_type) {
  usage_by_type->clear();
  const auto add = [usage_by_type](DB* db, const std::string& property, UsageType type) {
    uint64_t bytes = 0;
    if (db->GetAggregatedIntProperty(property, &bytes)) (*usage_by_type)[type] += bytes;
  };
  for (DB* db : dbs) {
    add(db, DB::Properties::kSizeAllMemTables, kMemTableTotal);
    add(db, DB::Properties::kCurSizeAllMemTables, kMemTableUnFlushed);
    add(db, DB::Properties::kEstimateTableReadersMem, kTableReadersTotal);
  }
  for (const Cache* cache : cache_set) {
    if (cache != nullptr) (*usage_by_type)[kCacheTotal] += cache->GetUsage();
  }
  return Status::OK();
}

LevelDBOptions::LevelDBOptions()
    : comparator(BytewiseComparator()),
      create_if_missing(false),
      error_if_exists(false),
      paranoid_checks(false),
      env(Env::Default()),
      info_log(nullptr),
      write_buffer_size(4 << 20),
      max_open_files(1000),
      block_cache(nullptr),
      block_size(4096),
      block_restart_interval(16),
      compression(kSnappyCompression),
      filter_policy(nullptr) {}

namespace {

template <typename T>
void DeleteNothing(T*) {}

}  // namespace

Options ConvertOptions(const LevelDBOptions& leveldb_options) {
  Options options;
  options.comparator = leveldb_options.comparator;
  options.create_if_missing = leveldb_options.create_if_missing;
  options.error_if_exists = leveldb_options.error_if_exists;
  options.paranoid_checks = leveldb_options.paranoid_checks;
  options.env = leveldb_options.env;
  if (leveldb_options.info_log != nullptr) {
    options.info_log.reset(leveldb_options.info_log, DeleteNothing<Logger>);
  }
  options.write_buffer_size = leveldb_options.write_buffer_size;
  options.max_open_files = leveldb_options.max_open_files;
  options.compression = leveldb_options.compression;

  constexpr size_t kDefaultCacheBytes = 8 << 20;
  BlockBasedTableOptions table_options;
  if (leveldb_options.block_cache != nullptr) {
    table_options.block_cache.reset(leveldb_options.block_cache, DeleteNothing<Cache>);
  } else {
    table_options.block_cache = NewLRUCache(kDefaultCacheBytes);
  }
  table_options.block_size = leveldb_options.block_size;
  table_options.block_restart_interval = leveldb_options.block_restart_interval;
  table_options.filter_policy.reset(leveldb_options.filter_policy);
  options.table_factory.reset(NewBlockBasedTableFactory(table_options));
  return options;
}

std::string KeyVersion::GetTypeName() const {
  switch (type) {
    case kTypeDeletion: return "Deletion";
    case kTypeValue: return "Value";
    case kTypeMerge: return "Merge";
    case kTypeSingleDeletion: return "SingleDeletion";
    case kTypeRangeDeletion: return "RangeDeletion";
    case kTypeBlobIndex: return "BlobIndex";
    case kTypeDeletionWithTimestamp: return "DeletionWithTimestamp";
    case kTypeWideColumnEntity: return "WideColumnEntity";
    case kTypeValuePreferredSeqno: return "ValuePreferredSeqno";
    default: return "Unknown(" + std::to_string(type) + ")";
  }
}

}  // namespace ashlar
