// SPDX-License-Identifier: Apache-2.0
//
// TableCache opens the tables of one column family on first use and keeps at most a given number of
// them open. A lookup of an open table is one atomic load.
//
// Two ways in: FindOpen() inside an epoch, whose reader lives until the epoch ends; and Pin()
// outside of any, which opens the table if need be and returns a handle that keeps it open.
// Threads: all functions from any thread.
#pragma once

#include <algorithm>
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
#include "db/blob/blob_store.h"
#include "db/manifest/file_metadata.h"
#include "db/table_cache/table_rows.h"
#include "env/random_reader.h"
#include "table/sst/read/table_reader.h"
#include "util/result.h"
#include "util/threads/epoch.h"
#include "util/threads/mutex.h"

namespace ashlar {

// Counts the tables that all families of a database hold open, and could close, against
// `max_open_files`; and says how many blob files each family may hold open.
struct OpenTableBudget {
  explicit OpenTableBudget(int max_open_files) { SetMaxOpenFiles(max_open_files); }
  // Some files are not tables.
  static int LimitFor(int max_open_files) {
    constexpr int kOtherFiles = 10;
    return max_open_files < 0 ? -1 : std::max(20, max_open_files - kOtherFiles);
  }
  // A part of the files that may be open.
  static int BlobLimitFor(int max_open_files) {
    constexpr int kTablesToABlobFile = 10, kLeastOpen = 8;
    const int limit = LimitFor(max_open_files);
    return limit < 0 ? -1 : std::max(kLeastOpen, limit / kTablesToABlobFile);
  }
  void SetMaxOpenFiles(int max_open_files) {
    max_open.store(LimitFor(max_open_files), std::memory_order_relaxed);
    max_open_blobs.store(BlobLimitFor(max_open_files), std::memory_order_relaxed);
  }
  bool IsLimited() const { return max_open.load(std::memory_order_relaxed) >= 0; }
  bool IsExceeded() const {
    const int limit = max_open.load(std::memory_order_relaxed);
    return limit >= 0 && open.load(std::memory_order_relaxed) > limit;
  }

  // Negative: no limit. Written by SetDBOptions(), read by openers.
  std::atomic<int> max_open{-1}, max_open_blobs{-1};
  std::atomic<int> open{0};
};

struct TableCacheOptions {
  explicit TableCacheOptions(const InternalKeyComparator& c) : comparator(c) {}

  FileSystem* fs = nullptr;  // outlives the cache
  FileOptions file_options;
  FileOptions compaction_file_options;  // of a table that is not open when a compaction comes to it
  FileOptions blob_file_options;
  std::vector<std::string> paths;  // directories by path id
  InternalKeyComparator comparator;
  BlockBasedTableOptions table;
  std::shared_ptr<const SliceTransform> prefix_extractor;
  std::shared_ptr<Cache> block_cache;  // null: blocks are not cached
  std::shared_ptr<Cache> row_cache;    // null: point lookups keep no rows
  std::shared_ptr<Cache> blob_cache;   // null: values of blob files are not cached
  OpenTableBudget* budget = nullptr;   // outlives the cache
  Statistics* statistics = nullptr;
  SystemClock* clock = nullptr;  // of deadlines; null: the default one
  bool verify_unique_ids = true;
  bool bears_longer_files = false;     // than the MANIFEST says: what follows is not looked at
  uint8_t block_protection_bytes = 0;  // see TableReaderOptions
  int level_count = 7;                 // for histograms of reads
  // A file of level 0 above this was not flushed. For what stays in the block cache.
  uint64_t max_flushed_bytes = 0;
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
  TableFile* counted_ = nullptr;  // null for a table that stays open anyway
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

  // Whoever comes first decides how the file is opened for all.
  enum class OpenFor : bool { kReads, kCompaction };

  // Not inside an EpochGuard. With kFail, Incomplete if the table is not open.
  Result<TableHandle> Pin(TableFile* file, IfClosed if_closed = IfClosed::kOpen,
                          OpenFor open_for = OpenFor::kReads);
  // As a read with these options may: only if it is open (kBlockCacheTier), or if there is time to
  // open it.
  Result<TableHandle> PinFor(const ReadOptions& options, TableFile* file,
                             OpenFor open_for = OpenFor::kReads);

  Result<TableHandle> PinForCompaction(TableFile* file) {
    return Pin(file, IfClosed::kOpen, OpenFor::kCompaction);
  }

  // Whether a file that no version has is the table that these facts say: opens and closes it.
  Status TryOpen(const FileMetadata& meta) const {
    return LoadTable(TableFile(meta), OpenFor::kReads).status();
  }

  // Called when nobody can reach the file any more, before it is deleted from disk: its blocks
  // leave the block cache, where they would only wait to be evicted.
  void Close(TableFile* file);
  // From now on files are closed because the database is, not because they are obsolete.
  void KeepBlocksOnClose() { keeps_blocks_.store(true, std::memory_order_relaxed); }

  // The readahead of tables that are opened from now on.
  void SetReadahead(const BlockBasedTableOptions& table);

  // Likewise the checksums of their entries in memory: 0, 1, 2, 4 or 8 bytes.
  void SetBlockProtection(uint8_t bytes) {
    block_protection_bytes_.store(bytes, std::memory_order_relaxed);
  }

  // Null without a row cache.
  const TableRows* rows() const { return rows_.get(); }
  // Reads what the tables have in blob files.
  const BlobStore* blobs() const { return &blobs_; }
  std::string PathOf(const FileMetadata& meta) const;
  // Of tables with this path id; blob files and what is new lie in that of path id 0.
  const std::string& DirOf(uint32_t path_id) const;
  size_t path_count() const { return options_.paths.size(); }
  const TableCacheOptions& options() const { return options_; }
  size_t MemoryBytes() const;
  // How long reads of tables took, by level; null without statistics.
  const LevelHistograms* read_times() const { return read_times_.get(); }
  void ForgetReadTimes() {
    if (read_times_ != nullptr) read_times_->Clear();
  }
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
  bool IsOverBudget() const { return options_.budget != nullptr && options_.budget->IsExceeded(); }
  // Out of use, or null if it is not open; the caller retires it after unlocking.
  TableReader* TakeReaderLocked(TableFile* file) REQUIRES(mutex_);
  bool IsLimited() const { return options_.budget != nullptr && options_.budget->IsLimited(); }
  // One more or less of the open tables that could be closed.
  void Count(const TableFile& file, int change) {
    if (options_.budget == nullptr || file.stays_open.load(std::memory_order_relaxed)) return;
    options_.budget->open.fetch_add(change, std::memory_order_relaxed);
  }
  Result<const TableReader*> OpenTable(TableFile* file, OpenFor open_for);
  Result<std::unique_ptr<TableReader>> LoadTable(const TableFile& file, OpenFor open_for) const;
  Result<std::unique_ptr<TableReader>> TimeAndLoad(const TableFile& file, OpenFor open_for) const;
  // The readers taken out of use, chained by next_retired; the caller retires them after unlocking.
  EpochRetired* EvictBeyondBudgetLocked() REQUIRES(mutex_);

  const TableCacheOptions options_;
  std::unique_ptr<BlockCacheView> block_cache_;
  std::unique_ptr<const TableRows> rows_;
  const BlobStore blobs_;
  const std::unique_ptr<LevelHistograms> read_times_;
  std::atomic<bool> keeps_blocks_{false};
  // As options_.table has them, until SetOptions() changes them; each for itself.
  std::atomic<uint8_t> block_protection_bytes_{0};
  std::atomic<size_t> initial_readahead_bytes_{0};
  std::atomic<size_t> max_readahead_bytes_{0};
  std::atomic<uint64_t> reads_before_readahead_{0};
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
