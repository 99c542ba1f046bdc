// SPDX-License-Identifier: Apache-2.0
//
// TableCache opens the tables of one column family on first use and limits the number of open
// tables. The lookup of an open table is one atomic load.
//
// There are two ways to get a reader: FindOpen() inside an epoch, whose result is valid until the
// epoch ends; and Pin() outside an epoch, which opens the table if necessary and returns a handle
// that keeps the table open. Threads: all functions from any thread.
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

// OpenTableBudget counts the open tables of all families of a database that could be closed, and
// compares the count with `max_open_files`. It also limits the number of open blob files of each
// family.
struct OpenTableBudget {
  explicit OpenTableBudget(int max_open_files) { SetMaxOpenFiles(max_open_files); }
  // Reserves a few open files for files other than tables.
  static int LimitFor(int max_open_files) {
    constexpr int kOtherFiles = 10;
    return max_open_files < 0 ? -1 : std::max(20, max_open_files - kOtherFiles);
  }
  // The limit of open blob files of a family is a fraction of the limit of tables.
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
  std::atomic<int> open{0};  // tables that could be closed; changed under the caches' mutexes
};

struct TableCacheOptions {
  explicit TableCacheOptions(const InternalKeyComparator& c) : comparator(c) {}

  FileSystem* fs = nullptr;  // outlives the cache
  FileOptions file_options;
  FileOptions compaction_file_options;  // for a table that a compaction opens
  FileOptions blob_file_options;
  Temperature default_temperature = Temperature::kUnknown;  // of tables that have none
  std::vector<std::string> paths;                           // directories, indexed by path id
  InternalKeyComparator comparator;
  BlockBasedTableOptions table;
  std::shared_ptr<const SliceTransform> prefix_extractor;
  std::shared_ptr<Cache> block_cache;  // null: blocks are not cached
  std::shared_ptr<Cache> row_cache;    // null: point lookups keep no rows
  std::shared_ptr<Cache> blob_cache;   // null: values of blob files are not cached
  OpenTableBudget* budget = nullptr;   // outlives the cache
  Statistics* statistics = nullptr;
  SystemClock* clock = nullptr;  // for deadlines; null: the default clock
  bool verify_unique_ids = true;
  // Accept a file longer than the MANIFEST says; its extra bytes are ignored.
  bool bears_longer_files = false;
  uint8_t block_protection_bytes = 0;  // see TableReaderOptions
  int level_count = 7;                 // for the histograms of read times
  uint64_t write_buffer_bytes = 0;     // see SetWriteBuffer()
};

class TableCache;

// TableHandle keeps a table open. The caller's reference to the file (e.g. through a version) and
// the table cache must outlive the handle. Movable. Threads: one at a time.
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

  const TableReader& operator*() const {
    assert(reader_ != nullptr);
    return *reader_;
  }
  const TableReader* operator->() const {
    assert(reader_ != nullptr);
    return reader_;
  }

  void Reset();

 private:
  friend class TableCache;

  const TableReader* reader_ = nullptr;
  TableFile* counted_ = nullptr;  // the pinned file; null for a table that always stays open
  TableCache* cache_ = nullptr;   // the cache that owns the pin on counted_
};

class TableCache {
 public:
  // The action if the table is not open: open it, or return Incomplete.
  enum class IfClosed : bool { kOpen, kFail };

  explicit TableCache(TableCacheOptions options);
  ~TableCache();
  TableCache(const TableCache&) = delete;
  TableCache& operator=(const TableCache&) = delete;

  // Returns the reader of the file if it is open, else null. Call it inside an EpochGuard.
  const TableReader* FindOpen(TableFile* file) {
    assert(InEpoch());
    const TableReader* const reader = file->reader.load(std::memory_order_acquire);
    if (reader != nullptr) [[likely]]
      MarkUsed(file);
    return reader;
  }

  // Selects the file options for opening. The first opener decides for all later users.
  enum class OpenFor : bool { kReads, kCompaction };

  // Not inside an EpochGuard. With kFail, Incomplete if the table is not open.
  Result<TableHandle> Pin(TableFile* file, IfClosed if_closed = IfClosed::kOpen,
                          OpenFor open_for = OpenFor::kReads);
  // Pins the table subject to the read options: with kBlockCacheTier, only if it is open; with a
  // deadline, only if it can be opened in time.
  Result<TableHandle> PinFor(const ReadOptions& options, TableFile* file,
                             OpenFor open_for = OpenFor::kReads);

  Result<TableHandle> PinForCompaction(TableFile* file) {
    return Pin(file, IfClosed::kOpen, OpenFor::kCompaction);
  }

  // Checks that a file which is in no version is the table that `meta` describes, by opening and
  // closing it.
  Status TryOpen(const FileMetadata& meta) const {
    return LoadTable(TableFile(meta), OpenFor::kReads).status();
  }

  // Closes the reader and removes the blocks of the table from the block cache, because no
  // reader needs them any more. Precondition: no reader can reach the file any more. Call it before
  // the file is deleted from disk.
  void Close(TableFile* file);
  // After this call Close() leaves the blocks in the block cache: files are closed because the
  // database is closed, not because they are obsolete.
  void KeepBlocksOnClose() { keeps_blocks_.store(true, std::memory_order_relaxed); }

  // Sets the readahead of tables that are opened after this call.
  void SetReadahead(const BlockBasedTableOptions& table);

  // Sets the size of in-memory checksums per entry (0, 1, 2, 4 or 8 bytes) of tables that are
  // opened after this call.
  void SetBlockProtection(uint8_t bytes) {
    block_protection_bytes_.store(bytes, std::memory_order_relaxed);
  }

  // A file of level 0 that is much larger than a memtable did not come from a flush, so its
  // metadata does not stay in the block cache. For tables that are opened after this call.
  void SetWriteBuffer(uint64_t bytes) {
    max_flushed_bytes_.store(bytes / 2 * 3, std::memory_order_relaxed);
  }

  // Null if there is no row cache.
  const TableRows* rows() const { return rows_.get(); }
  // Reads the values that tables store in blob files.
  const BlobStore* blobs() const { return &blobs_; }
  // The path of the table's file.
  std::string PathOf(const FileMetadata& meta) const;
  // The directory of tables with this path id. Blob files are in the directory of path id 0.
  const std::string& DirOf(uint32_t path_id) const;
  size_t path_count() const { return options_.paths.size(); }
  const TableCacheOptions& options() const { return options_; }
  // Memory of the open readers in bytes.
  size_t MemoryBytes() const;
  // Histograms of table read times by level; null without statistics.
  const LevelHistograms* read_times() const { return read_times_.get(); }
  void ForgetReadTimes() {
    if (read_times_ != nullptr) read_times_->Clear();
  }
  // One line: the number of open tables, its limit, and their bytes.
  std::string DebugString() const;

 private:
  // Writes the flag only when it is clear, so that hot tables cause no shared writes.
  static void MarkUsed(TableFile* file) {
    assert(file != nullptr);
    if (!file->recently_used.load(std::memory_order_relaxed)) {
      file->recently_used.store(true, std::memory_order_relaxed);
    }
  }
  friend class TableHandle;
  // Releases one pin. Closes the table if it was the last pin and the budget is exceeded.
  void Unpin(TableFile* file);
  bool IsOverBudget() const { return options_.budget != nullptr && options_.budget->IsExceeded(); }
  // Unlinks the reader from the file and returns it; null if the file is not open. The caller
  // retires the reader after unlocking mutex_.
  TableReader* TakeReaderLocked(TableFile* file) REQUIRES(mutex_);
  bool IsLimited() const { return options_.budget != nullptr && options_.budget->IsLimited(); }
  // Adds `change` to the budget's count of open tables, unless the table always stays open.
  void Count(const TableFile& file, int change) {
    if (options_.budget == nullptr || file.stays_open.load(std::memory_order_relaxed)) return;
    options_.budget->open.fetch_add(change, std::memory_order_relaxed);
  }
  // Opens the table and publishes its reader. If two threads open it at once, both get the reader
  // that was published first.
  Result<const TableReader*> OpenTable(TableFile* file, OpenFor open_for);
  Result<std::unique_ptr<TableReader>> LoadTable(const TableFile& file, OpenFor open_for) const;
  Result<std::unique_ptr<TableReader>> TimeAndLoad(const TableFile& file, OpenFor open_for) const;
  // Returns the unlinked readers, chained by next_retired; the caller retires them after unlocking
  // mutex_.
  EpochRetired* EvictBeyondBudgetLocked() REQUIRES(mutex_);

  const TableCacheOptions options_;
  std::unique_ptr<BlockCacheView> block_cache_;
  std::unique_ptr<const TableRows> rows_;
  const BlobStore blobs_;
  const std::unique_ptr<LevelHistograms> read_times_;
  std::atomic<bool> keeps_blocks_{false};
  // Initially from options_.table, changed by SetOptions(). Each is read independently of the
  // others.
  std::atomic<uint8_t> block_protection_bytes_{0};
  std::atomic<size_t> initial_readahead_bytes_{0};
  std::atomic<size_t> max_readahead_bytes_{0};
  std::atomic<uint64_t> reads_before_readahead_{0};
  std::atomic<uint64_t> max_flushed_bytes_{0};
  mutable Mutex mutex_{LockRank::kTableCache};
  // Unordered; the clock hand moves over it cyclically.
  std::vector<TableFile*> open_ GUARDED_BY(mutex_);
  bool has_opened_ = false;  // written under mutex_; read by the destructor
  size_t hand_ GUARDED_BY(mutex_) = 0;
};

inline void TableHandle::Reset() {
  reader_ = nullptr;
  if (counted_ != nullptr) cache_->Unpin(std::exchange(counted_, nullptr));
}

}  // namespace ashlar
