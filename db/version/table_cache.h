// SPDX-License-Identifier: Apache-2.0
//
// TableCache opens the tables of one column family on first use and keeps at most a given number of
// them open. A lookup of an open table is one atomic load.
//
// Two ways in: FindOpen() inside an epoch, whose reader lives until the epoch ends; and Pin()
// outside of any, which opens the table if need be and returns a handle that keeps it open.
// Threads: all functions from any thread.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/table.h"
#include "cache/block_cache.h"
#include "db/version/file_metadata.h"
#include "db/version/table_rows.h"
#include "env/random_reader.h"
#include "table/sst/table_reader.h"
#include "util/epoch.h"
#include "util/mutex.h"
#include "util/result.h"

namespace ashlar {

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
  std::shared_ptr<Cache> row_cache;    // null: point lookups keep no rows
  OpenTableBudget* budget = nullptr;   // outlives the cache
  Statistics* statistics = nullptr;
  SystemClock* clock = nullptr;  // of deadlines; null: the default one
  bool verify_unique_ids = true;
};

class TableCache;

// TableHandle keeps a table open. The caller's reference on the file, through a version say, must
// outlive it, as must the table cache. Movable; threads: one at a time.
class TableHandle {
 public:
  TableHandle() = default;
  ~TableHandle() { Reset(); }
  TableHandle(TableHandle&& other) noexcept
      : reader_(std::exchange(other.reader_, nullptr)),
        counted_(std::exchange(other.counted_, nullptr)),
        cache_(other.cache_) {}
  TableHandle& operator=(TableHandle&& other) noexcept {
    if (this != &other) {
      Reset();
      reader_ = std::exchange(other.reader_, nullptr);
      counted_ = std::exchange(other.counted_, nullptr);
      cache_ = other.cache_;
    }
    return *this;
  }

  const TableReader& operator*() const { return *reader_; }
  const TableReader* operator->() const { return reader_; }

  void Reset();

 private:
  friend class TableCache;

  const TableReader* reader_ = nullptr;
  TableFile* counted_ = nullptr;  // null where open tables are not limited: it stays open anyway
  TableCache* cache_ = nullptr;   // of counted_
};

class TableCache {
 public:
  // What may be done for a reader that is not open.
  enum class IfClosed : bool { kOpen, kFail };

  explicit TableCache(TableCacheOptions options);
  ~TableCache();
  TableCache(const TableCache&) = delete;
  TableCache& operator=(const TableCache&) = delete;

  // The reader of the file if it is open, else null. Inside an EpochGuard.
  const TableReader* FindOpen(TableFile* file) {
    assert(InEpoch());
    const TableReader* const reader = file->reader.load(std::memory_order_acquire);
    if (reader != nullptr) [[likely]]
      MarkUsed(file);
    return reader;
  }

  // Not inside an EpochGuard. With kFail, Incomplete if the table is not open.
  Result<TableHandle> Pin(TableFile* file, IfClosed if_closed = IfClosed::kOpen);
  // As a read with these options may: only if it is open (kBlockCacheTier), or if there is time to
  // open it.
  Result<TableHandle> PinFor(const ReadOptions& options, TableFile* file);

  // Called when nobody can reach the file any more, before it is deleted from disk: its blocks
  // leave the block cache, where they would only wait to be evicted.
  void Close(TableFile* file);
  // From now on files are closed because the database is, not because they are obsolete.
  void KeepBlocksOnClose() { keeps_blocks_.store(true, std::memory_order_relaxed); }

  // Null without a row cache.
  const TableRows* rows() const { return rows_.get(); }
  std::string PathOf(const FileMetadata& meta) const;
  const TableCacheOptions& options() const { return options_; }
  size_t MemoryBytes() const;
  // One line: tables open, of how many that may be, and their bytes.
  std::string DebugString() const;

 private:
  static void MarkUsed(TableFile* file) {
    if (!file->recently_used.load(std::memory_order_relaxed)) {
      file->recently_used.store(true, std::memory_order_relaxed);
    }
  }
  friend class TableHandle;
  // Ends one pin, and closes the table if that was the last one of one too many.
  void Unpin(TableFile* file);
  bool IsOverBudget() const {
    return options_.budget->open.load(std::memory_order_relaxed) > options_.budget->max_open;
  }
  // Out of use; the caller retires it after unlocking.
  TableReader* TakeReaderLocked(size_t index) REQUIRES(mutex_);
  bool IsLimited() const { return options_.budget != nullptr && options_.budget->max_open >= 0; }
  Result<const TableReader*> OpenTable(TableFile* file);
  Result<std::unique_ptr<TableReader>> LoadTable(const FileMetadata& meta) const;
  Result<std::unique_ptr<TableReader>> TimeAndLoad(const FileMetadata& meta) const;
  // The readers taken out of use; the caller retires them after unlocking.
  std::vector<TableReader*> EvictBeyondBudgetLocked() REQUIRES(mutex_);

  const TableCacheOptions options_;
  std::unique_ptr<BlockCacheView> block_cache_;
  std::unique_ptr<const TableRows> rows_;
  std::atomic<bool> keeps_blocks_{false};
  mutable Mutex mutex_{LockRank::kTableCache};
  std::vector<TableFile*> open_ GUARDED_BY(mutex_);  // in no order; the clock hand goes round
  bool has_opened_ = false;                          // written under mutex_
  size_t hand_ GUARDED_BY(mutex_) = 0;
};

inline void TableHandle::Reset() {
  reader_ = nullptr;
  if (counted_ != nullptr) cache_->Unpin(std::exchange(counted_, nullptr));
}

}  // namespace ashlar
