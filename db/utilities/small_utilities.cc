// SPDX-License-Identifier: Apache-2.0
//
// Short utilities: sums of memory, LevelDB's options, names of entry types, public ids of tables,
// the list of info logs.
#include <algorithm>
#include <cassert>
#include <memory>

#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "ashlar/env.h"
#include "ashlar/filter_policy.h"
#include "ashlar/table.h"
#include "ashlar/unique_id.h"
#include "ashlar/utilities/debug.h"
#include "ashlar/utilities/info_log_finder.h"
#include "ashlar/utilities/leveldb_options.h"
#include "ashlar/utilities/memory_util.h"
#include "env/filename.h"
#include "table/format/unique_id.h"
#include "util/keys/internal_key.h"
#include "util/result.h"

namespace ashlar {

// Adds up the properties of all databases. A cache that several of them share is counted once,
// because the caller names the caches.
Status MemoryUtil::AddUp(const std::vector<DB*>& dbs,
                         const std::unordered_set<const Cache*>& cache_set,
                         std::map<MemoryUtil::UsageType, uint64_t>* usage_by_type) {
  assert(usage_by_type != nullptr);
  usage_by_type->clear();
  // A sum over the families of a database, because the properties are those of one family.
  const auto add = [usage_by_type](DB* db, const std::string& property, UsageType type) {
    assert(db != nullptr);
    uint64_t bytes = 0;
    // A database that does not know the property adds nothing.
    if (db->GetAggregatedIntProperty(property, &bytes)) (*usage_by_type)[type] += bytes;
  };
  for (DB* db : dbs) {
    // Flushed memtables that readers still hold are in the first sum only.
    add(db, DB::Properties::kSizeAllMemTables, kMemTableTotal);
    add(db, DB::Properties::kCurSizeAllMemTables, kMemTableUnFlushed);
    add(db, DB::Properties::kEstimateTableReadersMem, kTableReadersTotal);
  }
  for (const Cache* cache : cache_set) {
    if (cache != nullptr) (*usage_by_type)[kCacheTotal] += cache->GetUsage();
  }
  return Status::OK();
}

// The defaults are LevelDB's.
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

// An empty deleter.
// LevelDB's options do not own their objects.
template <typename T>
void DeleteNothing(T*) {}

}  // namespace

// Options without a counterpart in LevelDB keep their defaults.
Options ConvertOptions(const LevelDBOptions& leveldb_options) {
  // The pointers of LevelDB's options are borrowed, so the program must keep the objects while it
  // uses the result.
  Options options;
  options.comparator = leveldb_options.comparator;
  options.create_if_missing = leveldb_options.create_if_missing;
  options.error_if_exists = leveldb_options.error_if_exists;
  options.paranoid_checks = leveldb_options.paranoid_checks;
  options.env = leveldb_options.env;
  if (leveldb_options.info_log != nullptr) {
    // The log belongs to the program, so its shared pointer deletes nothing.
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
  // The options take ownership of the filter policy, but of no other object.
  // A null pointer means no filter, as in LevelDB.
  table_options.filter_policy.reset(leveldb_options.filter_policy);
  options.table_factory.reset(NewBlockBasedTableFactory(table_options));
  return options;
}

// The names that RocksDB prints.
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

namespace {

// NotSupported if the table's properties have no ids of a database and a session.
Status PublicIdOf(const TableProperties& properties, UniqueIdForm form, std::string* id) {
  assert(id != nullptr);
  id->clear();
  ASSIGN_OR_RETURN(const InternalUniqueId internal, MakeInternalUniqueId(properties));
  *id = PublicUniqueId(internal, form);
  return Status::OK();
}

}  // namespace

Status GetUniqueIdFromTableProperties(const TableProperties& props, std::string* out_id) {
  return PublicIdOf(props, UniqueIdForm::kStandard, out_id);
}
Status GetExtendedUniqueIdFromTableProperties(const TableProperties& props, std::string* out_id) {
  return PublicIdOf(props, UniqueIdForm::kExtended, out_id);
}

std::string UniqueIdToHumanString(const std::string& id) {
  std::string text = Slice(id).ToString(/*hex=*/true);
  // The position moves by 17: 16 digits and the hyphen that was inserted before.
  // A hyphen after each 16 digits, which are 8 bytes.
  for (size_t at = 16; at < text.size(); at += 17) text.insert(at, "-");
  return text;
}

// The names without directories. The newest log is among them.
Status GetInfoLogList(DB* db, std::vector<std::string>* info_log_list) {
  if (db == nullptr) return Status::InvalidArgument("GetInfoLogList: needs a database");
  assert(info_log_list != nullptr);
  info_log_list->clear();
  const DBOptions options = db->GetDBOptions();
  Env* const env = db->GetEnv();
  // The prefix is made from the absolute path, so that two databases with the same relative name
  // differ.
  std::string absolute_path;
  RETURN_IF_ERROR(env->GetAbsolutePath(db->GetName(), &absolute_path));
  const bool has_own_dir = !options.db_log_dir.empty();
  // In a directory of their own the logs of several databases differ by a prefix made of the path.
  const std::string prefix = has_own_dir ? InfoLogPrefix(options.db_log_dir, absolute_path) : "LOG";
  std::vector<std::string> names;
  RETURN_IF_ERROR(env->GetChildren(has_own_dir ? options.db_log_dir : db->GetName(), &names));
  for (std::string& name : names) {
    uint64_t number = 0;
    FileType type;
    if (ParseFileName(name, &number, prefix, &type) && type == kInfoLogFile) {
      info_log_list->push_back(std::move(name));
    }
  }
  // The order of names in a directory is not defined.
  std::sort(info_log_list->begin(), info_log_list->end());
  return Status::OK();
}

}  // namespace ashlar
