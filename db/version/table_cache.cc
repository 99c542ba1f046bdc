// SPDX-License-Identifier: Apache-2.0
//
// Opening tables, and closing the least recently used of them when there are too many.
#include "db/version/table_cache.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "env/filename.h"
#include "env/io_deadline.h"
#include "util/epoch.h"
#include "util/perf_level_impl.h"
#include "util/statistics.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

void DeleteReader(void* reader) { delete static_cast<TableReader*>(reader); }

}  // namespace

TableCache::TableCache(TableCacheOptions options) : options_(std::move(options)) {
  if (options_.block_cache != nullptr) {
    block_cache_ = std::make_unique<BlockCacheView>(options_.block_cache);
  }
  if (options_.row_cache != nullptr) {
    rows_ = std::make_unique<const TableRows>(options_.row_cache, options_.statistics);
  }
}

// Closed readers wait in the epoch for those who may still use them, and their destructors go
// through block_cache_. One that never had any waits for nobody: it may go under the DB mutex.
TableCache::~TableCache() {
  if (!has_opened_) return;
  assert(!InEpoch());
  EpochDrain();
}

std::string TableCache::PathOf(const FileMetadata& meta) const {
  assert(!options_.paths.empty());
  const size_t path = std::min<size_t>(meta.path_id, options_.paths.size() - 1);
  return TableFileName(options_.paths[path], meta.number);
}

// The pin is counted before the reader is looked at, so an eviction sees either of the two.
Result<TableHandle> TableCache::Pin(TableFile* file, IfClosed if_closed) {
  assert(!InEpoch());
  TableHandle handle;
  if (IsLimited()) {
    MutexLock lock(&mutex_);
    file->pins.fetch_add(1, std::memory_order_relaxed);
    handle.counted_ = file;
    handle.cache_ = this;
  }
  handle.reader_ = file->reader.load(std::memory_order_acquire);
  if (handle.reader_ != nullptr) {
    MarkUsed(file);
    return handle;
  }
  if (if_closed == IfClosed::kFail) {
    return Status::Incomplete(StrCat("table not open: ", PathOf(file->meta),
                                     "; a read without kBlockCacheTier opens it"));
  }
  ASSIGN_OR_RETURN(handle.reader_, OpenTable(file));
  return handle;
}

Result<TableHandle> TableCache::PinFor(const ReadOptions& options, TableFile* file) {
  const PerfTimer timer(&PerfContextBase::find_table_nanos);
  Result<TableHandle> open = Pin(file, IfClosed::kFail);
  if (open.ok() || !open.status().IsIncomplete() || options.read_tier == kBlockCacheTier) {
    return open;
  }
  RETURN_IF_ERROR(IoDeadline(options, options_.clock).Check());
  return Pin(file);
}

Result<std::unique_ptr<TableReader>> TableCache::TimeAndLoad(const FileMetadata& meta) const {
  const StopWatch watch(SystemClock::Default().get(), options_.statistics, TABLE_OPEN_IO_MICROS);
  RecordTick(options_.statistics, NO_FILE_OPENS);
  Result<std::unique_ptr<TableReader>> table = LoadTable(meta);
  if (!table.ok()) RecordTick(options_.statistics, NO_FILE_ERRORS);
  return table;
}

Result<std::unique_ptr<TableReader>> TableCache::LoadTable(const FileMetadata& meta) const {
  assert(!InEpoch());  // it reads
  const std::string path = PathOf(meta);
  auto opened = RandomReader::Open(options_.fs, path, options_.file_options);
  if (!opened.ok() && !opened.status().IsCorruption()) {
    // Tables written by LevelDB keep their old extension.
    const std::string old_path = path.substr(0, path.size() - 3) + "ldb";
    if (options_.fs->FileExists(old_path, IOOptions(), nullptr).ok()) {
      opened = RandomReader::Open(options_.fs, old_path, options_.file_options);
    }
  }
  if (!opened.ok()) return opened.status();
  std::unique_ptr<RandomReader> reader_file = opened.Take();
  if (reader_file->size() != meta.file_size) {
    return Status::Corruption(
        StrCat(path, ": ", reader_file->size(), " bytes, but the MANIFEST says ", meta.file_size));
  }
  TableReaderOptions reader_options;
  reader_options.icmp = &options_.comparator;
  reader_options.block_cache = block_cache_.get();
  reader_options.manifest_largest_seqno = meta.largest_seqno;
  reader_options.manifest_smallest_seqno = meta.smallest_seqno;
  reader_options.prefix_extractor = options_.prefix_extractor.get();
  reader_options.statistics = options_.statistics;
  reader_options.clock = options_.clock;
  if (options_.verify_unique_ids) reader_options.expected_unique_id = meta.unique_id;
  reader_options.initial_auto_readahead_bytes = options_.table.initial_auto_readahead_size;
  reader_options.max_auto_readahead_bytes = options_.table.max_auto_readahead_size;
  reader_options.reads_before_auto_readahead = options_.table.num_file_reads_for_auto_readahead;
  const auto border = FragmentedTombstones::BorderOf(meta.smallest, meta.largest);
  reader_options.border = &border;
  return TableReader::Open(std::move(reader_file), reader_options);
}

Result<const TableReader*> TableCache::OpenTable(TableFile* file) {
  Result<std::unique_ptr<TableReader>> loaded = TimeAndLoad(file->meta);
  if (!loaded.ok()) return loaded.status();
  std::unique_ptr<TableReader> reader = loaded.Take();
  const TableReader* published = reader.get();
  std::vector<TableReader*> evicted;
  {
    MutexLock lock(&mutex_);
    if (const TableReader* winner = file->reader.load(std::memory_order_acquire)) return winner;
    has_opened_ = true;
    open_.push_back(file);  // first: it may fail for want of memory
    file->recently_used.store(true, std::memory_order_relaxed);
    file->reader.store(reader.release(), std::memory_order_release);
    if (options_.budget != nullptr) options_.budget->open.fetch_add(1, std::memory_order_relaxed);
    evicted = EvictBeyondBudgetLocked();
  }
  for (TableReader* victim : evicted) EpochRetire(victim, &DeleteReader);
  return published;
}

// Goes round the open tables: a recently used one gets a second chance.
std::vector<TableReader*> TableCache::EvictBeyondBudgetLocked() {
  mutex_.AssertHeld();
  std::vector<TableReader*> evicted;
  OpenTableBudget* budget = options_.budget;
  if (budget == nullptr || budget->max_open < 0) return evicted;
  size_t steps = 2 * open_.size();
  while (steps-- > 0 && open_.size() > 1 && IsOverBudget()) {
    if (hand_ >= open_.size()) hand_ = 0;
    TableFile* victim = open_[hand_];
    if (victim->pins.load(std::memory_order_acquire) > 0 ||
        victim->recently_used.exchange(false, std::memory_order_relaxed)) {
      hand_++;
      continue;
    }
    evicted.push_back(nullptr);
    evicted.back() = TakeReaderLocked(hand_);
  }
  return evicted;
}

TableReader* TableCache::TakeReaderLocked(size_t index) {
  assert(index < open_.size());
  TableReader* const reader = open_[index]->reader.exchange(nullptr, std::memory_order_acq_rel);
  assert(reader != nullptr);  // whoever is in open_ is open
  open_[index] = open_.back();
  open_.pop_back();
  options_.budget->open.fetch_sub(1, std::memory_order_relaxed);
  return reader;
}

// While many handles are held, tables cannot be closed when others are opened: so they are closed
// when their handles go.
void TableCache::Unpin(TableFile* file) {
  assert(file->pins.load(std::memory_order_relaxed) > 0);
  TableReader* excess = nullptr;
  if (!IsOverBudget()) [[likely]] {
    file->pins.fetch_sub(1, std::memory_order_release);
    return;
  }
  {
    MutexLock lock(&mutex_);
    const bool is_last = file->pins.fetch_sub(1, std::memory_order_acq_rel) == 1;
    const auto found = std::find(open_.begin(), open_.end(), file);
    if (is_last && found != open_.end() && IsOverBudget()) {
      excess = TakeReaderLocked(static_cast<size_t>(found - open_.begin()));
    }
  }
  if (excess != nullptr) EpochRetire(excess, &DeleteReader);
}

void TableCache::Close(TableFile* file) {
  TableReader* reader;
  {
    MutexLock lock(&mutex_);
    reader = file->reader.exchange(nullptr, std::memory_order_acq_rel);
    if (reader == nullptr) return;
    const auto found = std::find(open_.begin(), open_.end(), file);
    assert(found != open_.end());  // it has a reader
    open_.erase(found);
    if (options_.budget != nullptr) options_.budget->open.fetch_sub(1, std::memory_order_relaxed);
  }
  assert(file->pins.load(std::memory_order_relaxed) == 0);  // nobody can reach it any more
  if (!keeps_blocks_.load(std::memory_order_relaxed)) reader->ForgetCachedBlocks();
  EpochRetire(reader, &DeleteReader);
}

size_t TableCache::MemoryBytes() const {
  MutexLock lock(&mutex_);
  size_t bytes = 0;
  for (TableFile* file : open_) {
    const TableReader* reader = file->reader.load(std::memory_order_acquire);
    if (reader != nullptr) bytes += reader->MemoryUsage();
  }
  return bytes;
}

std::string TableCache::DebugString() const {
  const size_t bytes = MemoryBytes();
  MutexLock lock(&mutex_);
  std::string text = StrCat("tables open: ", open_.size(), ", ", bytes, " bytes");
  if (IsLimited()) {
    StrAppend(&text, "; of all families ", options_.budget->open.load(std::memory_order_relaxed),
              " of ", options_.budget->max_open);
  }
  return text + (rows_ != nullptr ? "; rows cached\n" : "\n");
}

}  // namespace ashlar
