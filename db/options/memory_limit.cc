// SPDX-License-Identifier: Apache-2.0
//
// The shares of the limit: a quarter for memtables, and all but an eighth or less for the cache, to
// which the memtables are charged too.
#include "db/options/memory_limit.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <unordered_set>

#include "ashlar/cache.h"
#include "ashlar/table.h"
#include "ashlar/write_buffer_manager.h"
#include "db/options/bare_factories.h"
#include "db/options/table_factory.h"
#include "util/result.h"
#include "util/text/str_cat.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

constexpr size_t kLeastLimit = size_t{8} << 20;

// The rest of the limit is for what is not charged: buffers of jobs, the objects of files, versions
// and threads, and the holes in the heap of cached blocks, which grow with it. With it, a process
// with a limit of 128 MiB has used 91 % on average and 103 % at most
// (benchmarks/clients/memory_limit).
size_t CacheCapacity(size_t limit) {
  constexpr size_t kMostForObjects = size_t{16} << 20;
  return limit - limit / 16 - std::min(limit / 16, kMostForObjects);
}

size_t MemtableBytes(size_t limit) { return limit / 4; }

// All managers that a limit has made. A manager of the program looks like them, but its cache is
// not the one of the families, and its sizes do not follow from the limit.
struct MadeManagers {
  Mutex mutex{LockRank::kLeaf};
  std::unordered_set<const WriteBufferManager*> managers GUARDED_BY(mutex);
};
// Never destroyed, because a manager may be destroyed after static objects.
MadeManagers& TheMadeManagers() {
  static MadeManagers& made = *new MadeManagers;
  return made;
}

std::shared_ptr<WriteBufferManager> MakeManager(size_t limit) {
  auto manager = std::make_unique<WriteBufferManager>(
      MemtableBytes(limit), HyperClockCacheOptions(CacheCapacity(limit)).MakeSharedCache(),
      /*allow_stall=*/true);
  MadeManagers& made = TheMadeManagers();
  {
    MutexLock lock(&made.mutex);
    made.managers.insert(manager.get());
  }
  const auto forget = [&made](WriteBufferManager* ending) {
    {
      MutexLock lock(&made.mutex);
      made.managers.erase(ending);
    }
    delete ending;
  };
  return {manager.release(), forget};
}

bool IsMade(const WriteBufferManager* manager) {
  MadeManagers& made = TheMadeManagers();
  MutexLock lock(&made.mutex);
  return made.managers.contains(manager);
}

Status Excluded(const char* option, const char* why) {
  return Status::InvalidArgument(StrCat("option memory_limit: ", option, " ", why));
}

}  // namespace

Status CheckMemoryLimit(const DBOptions& options) {
  assert(options.memory_limit != 0);
  if (options.memory_limit < kLeastLimit) {
    return Status::InvalidArgument(StrCat("option memory_limit: expected 0 or at least ",
                                          kLeastLimit, " bytes, found ", options.memory_limit));
  }
  if (options.db_write_buffer_size != 0) {
    return Excluded("db_write_buffer_size", "is a limit of its own; leave it 0");
  }
  if (options.row_cache != nullptr) {
    return Excluded("row_cache", "has a capacity of its own; leave it out");
  }
  const WriteBufferManager* const manager = options.write_buffer_manager.get();
  if (manager != nullptr && !IsMade(manager)) {
    return Excluded("write_buffer_manager",
                    "is not one of a database with a memory_limit; leave it out, or take it from "
                    "GetOptions() of the database that shares the limit");
  }
  return Status::OK();
}

// Bare tables are translated as a whole, in memory that no cache limits; an adaptive factory may
// read them.
Status CheckMemoryOfFamily(const DBOptions& db_options, const ColumnFamilyOptions& options) {
  assert(db_options.memory_limit != 0);
  const auto& manager = db_options.write_buffer_manager;
  const std::shared_ptr<Cache> shared = manager != nullptr ? manager->cache() : nullptr;
  if (options.blob_cache != nullptr && options.blob_cache != shared) {
    return Excluded("blob_cache", "has a capacity of its own; leave it out");
  }
  const TableFactory* const factory = options.table_factory.get();
  if (factory == nullptr) return Status::OK();
  if (BareFormatOfFactory(factory).is_bare() || WriterOf(*factory) != factory) {
    return Excluded("table_factory", "must be block-based");
  }
  const std::shared_ptr<Cache> given = GivenBlockCache(*factory);
  if (given == nullptr || given == shared) return Status::OK();
  return Excluded("block_cache", "has a capacity of its own; leave it out");
}

void ApplyMemoryLimit(DBOptions* options) {
  assert(options != nullptr && options->memory_limit != 0);
  if (options->write_buffer_manager != nullptr) return;
  options->write_buffer_manager = MakeManager(options->memory_limit);
}

// Indexes and filters are evicted like blocks, because those of all tables may be larger than the
// limit.
void UseMemoryOfDatabase(const DBOptions& db_options, ColumnFamilyOptions* options) {
  assert(options != nullptr && db_options.memory_limit != 0);
  const auto& manager = db_options.write_buffer_manager;
  const std::shared_ptr<Cache> cache = manager != nullptr ? manager->cache() : nullptr;
  if (cache == nullptr) return;
  if (options->blob_cache == nullptr) options->blob_cache = cache;
  const BlockBasedTableOptions* const given = BlockBasedOptionsOf(options->table_factory.get());
  if (given == nullptr || given->no_block_cache) return;
  BlockBasedTableOptions table = *given;
  table.block_cache = cache;
  table.cache_index_and_filter_blocks = true;
  for (CacheEntryRole role :
       {CacheEntryRole::kFilterConstruction, CacheEntryRole::kBlockBasedTableReader,
        CacheEntryRole::kFileMetadata, CacheEntryRole::kCompressionDictionaryBuildingBuffer}) {
    table.cache_usage_options.options_overrides[role].charged =
        CacheEntryRoleOptions::Decision::kEnabled;
  }
  options->table_factory.reset(NewBlockBasedTableFactory(table));
}

// Half of the memory of all memtables, so that one can be filled while another is flushed.
uint64_t MostWriteBufferBytes(const DBOptions& db_options) {
  constexpr uint64_t kMostBytes = uint64_t{64} << 30;
  if (db_options.memory_limit == 0) return kMostBytes;
  return std::max(MemtableBytes(db_options.memory_limit) / 2, size_t{64} << 10);
}

void SetMemoryLimit(const DBOptions& options) {
  assert(options.memory_limit >= kLeastLimit && options.write_buffer_manager != nullptr);
  options.write_buffer_manager->cache()->SetCapacity(CacheCapacity(options.memory_limit));
  options.write_buffer_manager->SetBufferSize(MemtableBytes(options.memory_limit));
}

}  // namespace ashlar
