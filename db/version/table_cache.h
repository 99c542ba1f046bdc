// SPDX-License-Identifier: Apache-2.0
//
// TableCache opens the tables of one column family on first use and keeps at most a given number of
// them open. A lookup of an open table is one atomic load.
//
// Threads: all functions from any thread. Readers returned by Find() live until the caller leaves
// its epoch; iterators hold the table through a counted pin.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/table.h"
#include "cache/block_cache.h"
#include "db/version/file_metadata.h"
#include "env/random_reader.h"
#include "table/sst/table_reader.h"
#include "util/mutex.h"
#include "util/result.h"

namespace ashlar {

class Arena;
class InternalIterator;

// Counts the tables that all families of a database hold open, against `max_open_files`.
struct OpenTableBudget {
  explicit OpenTableBudget(int limit) : max_open(limit) {}
  const int max_open;  // negative: no limit
  std::atomic<int> open{0};
};

struct TableCacheOptions {
  explicit TableCacheOptions(const InternalKeyComparator& c) : comparator(c) {}

  FileSystem* fs = nullptr;  // outlives the cache
  FileOptions file_options;
  std::vector<std::string> paths;  // directories by path id
  InternalKeyComparator comparator;
  BlockBasedTableOptions table;
  std::shared_ptr<const SliceTransform> prefix_extractor;
  std::shared_ptr<Cache> block_cache;  // null: blocks are not cached
  OpenTableBudget* budget = nullptr;   // outlives the cache
  Statistics* statistics = nullptr;
  bool verify_unique_ids = true;
};

class TableCache {
 public:
  explicit TableCache(TableCacheOptions options);
  ~TableCache();
  TableCache(const TableCache&) = delete;
  TableCache& operator=(const TableCache&) = delete;

  // The open reader of the file, which is opened now if need be. Call within an epoch.
  Result<const TableReader*> Find(TableFile* file) {
    if (const TableReader* reader = file->reader.load(std::memory_order_acquire)) [[likely]] {
      if (!file->recently_used.load(std::memory_order_relaxed)) {
        file->recently_used.store(true, std::memory_order_relaxed);
      }
      return reader;
    }
    return OpenTable(file);
  }

  // Never null; a table that does not open gives an invalid iterator with that status. The iterator
  // must not outlive the caller's reference on the file.
  InternalIterator* NewIterator(const ReadOptions& options, TableFile* file, Arena* arena,
                                bool for_compaction);

  // Called when nobody can reach the file any more, before it is deleted from disk: its blocks
  // leave the block cache, where they would only wait to be evicted.
  void Close(TableFile* file);
  // From now on files are closed because the database is, not because they are obsolete.
  void KeepBlocksOnClose() { keeps_blocks_.store(true, std::memory_order_relaxed); }

  std::string PathOf(const FileMetadata& meta) const;
  const TableCacheOptions& options() const { return options_; }
  size_t MemoryBytes() const;

 private:
  Result<const TableReader*> OpenTable(TableFile* file);
  // The readers taken out of use; the caller retires them after unlocking.
  std::vector<TableReader*> EvictBeyondBudgetLocked() REQUIRES(mutex_);

  const TableCacheOptions options_;
  std::unique_ptr<BlockCacheView> block_cache_;
  std::atomic<bool> keeps_blocks_{false};
  mutable Mutex mutex_{LockRank::kTableCache};
  std::vector<TableFile*> open_ GUARDED_BY(mutex_);  // in no order; the clock hand goes round
  bool has_opened_ = false;                          // written under mutex_
  size_t hand_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ashlar
