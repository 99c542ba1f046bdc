// SPDX-License-Identifier: Apache-2.0
//
// Opens tables, and closes tables that were not used recently when too many are open.
#include "db/table_cache/table_cache.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "env/filename.h"
#include "env/io_deadline.h"
#include "table/sst/read/block_forms.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// Options for the blob files of the family, which are all in its first directory.
BlobStoreOptions BlobOptionsFrom(const TableCacheOptions& options) {
  BlobStoreOptions blobs;
  blobs.fs = options.fs;
  blobs.file_options = options.blob_file_options;
  if (!options.paths.empty()) blobs.dir = options.paths.front();
  blobs.cache = options.blob_cache;
  blobs.statistics = options.statistics;
  blobs.clock = options.clock;
  if (options.budget != nullptr) blobs.most_open = &options.budget->max_open_blobs;
  return blobs;
}

}  // namespace

TableCache::TableCache(TableCacheOptions options)
    : options_(std::move(options)),
      blobs_(BlobOptionsFrom(options_)),
      read_times_(options_.statistics == nullptr
                      ? nullptr
                      : std::make_unique<LevelHistograms>(options_.level_count)) {
  if (options_.block_cache != nullptr) {
    block_cache_ = std::make_unique<BlockCacheView>(options_.block_cache, &TableBlockForms());
  }
  if (options_.row_cache != nullptr) {
    rows_ = std::make_unique<const TableRows>(options_.row_cache, options_.statistics);
  }
  SetReadahead(options_.table);
  SetBlockProtection(options_.block_protection_bytes);
  SetWriteBuffer(options_.write_buffer_bytes);
}

void TableCache::SetReadahead(const BlockBasedTableOptions& table) {
  initial_readahead_bytes_.store(table.initial_auto_readahead_size, std::memory_order_relaxed);
  max_readahead_bytes_.store(table.max_auto_readahead_size, std::memory_order_relaxed);
  reads_before_readahead_.store(table.num_file_reads_for_auto_readahead, std::memory_order_relaxed);
}

size_t TableFile::MemoryBytes() const {
  size_t bytes = sizeof(*this) + meta.smallest.capacity() + meta.largest.capacity() +
                 meta.file_checksum.capacity() + meta.file_checksum_function.capacity() +
                 meta.unique_id.capacity() + meta.min_timestamp.capacity() +
                 meta.max_timestamp.capacity();
  for (const auto& [tag, field] : meta.unknown_fields) bytes += sizeof(tag) + field.capacity();
  return bytes;
}

namespace {

// Decides which metadata blocks of a table are kept in memory: by the tiers of
// MetadataCacheOptions, or by the older boolean options for tiers that are set to fallback.
MetadataPlan PlanFor(const BlockBasedTableOptions& table, uint64_t max_flushed_bytes,
                     const TableFile& file) {
  const bool is_as_flushed =
      file.level.load(std::memory_order_relaxed) == 0 && file.meta.file_size <= max_flushed_bytes;
  const auto keeps = [&](PinningTier tier, PinningTier fallback) {
    if (tier == PinningTier::kFallback) tier = fallback;
    return tier == PinningTier::kAll || (tier == PinningTier::kFlushedAndSimilar && is_as_flushed);
  };
  const PinningTier l0_tier = table.pin_l0_filter_and_index_blocks_in_cache
                                  ? PinningTier::kFlushedAndSimilar
                                  : PinningTier::kNone;
  const PinningTier top_tier =
      table.pin_top_level_index_and_filter ? PinningTier::kAll : PinningTier::kNone;
  const MetadataCacheOptions& tiers = table.metadata_cache_options;
  const bool is_cached = table.cache_index_and_filter_blocks;
  MetadataPlan plan;
  plan.keeps_whole = !is_cached || keeps(tiers.unpartitioned_pinning, l0_tier);
  plan.keeps_tops = !is_cached || keeps(tiers.top_level_index_pinning, top_tier);
  plan.keeps_partitions = keeps(tiers.partition_pinning, l0_tier);
  // Kept blocks are charged only with this option. Otherwise the metadata of a large database would
  // leave no room for data in a small cache.
  plan.charges_kept = is_cached;
  plan.is_important = !is_cached || table.cache_index_and_filter_blocks_with_high_priority;
  return plan;
}

}  // namespace

// Closed readers are destroyed only when no thread can use them, and their destructors use
// block_cache_. So this destructor waits for them. A cache that never opened a table does not wait,
// and may be destroyed under the DB mutex.
TableCache::~TableCache() {
  if (!has_opened_) return;
  assert(!InEpoch());
  EpochDrain();
}

std::string TableCache::PathOf(const FileMetadata& meta) const {
  return TableFileName(DirOf(meta.path_id), meta.number);
}

// A path id beyond the list means the first path, because a database may have been copied into a
// single directory.
const std::string& TableCache::DirOf(uint32_t path_id) const {
  assert(!options_.paths.empty());
  return options_.paths[std::min<size_t>(path_id, options_.paths.size() - 1)];
}

// Keeps a table open for as long as the handle lives. The pin is counted before the reader is
// loaded. So an eviction either sees the pin, or it has unlinked the reader already and this call
// sees null. The flag `stays_open` of the table decides whether a pin is needed, not the present
// limit, which may change at any time.
Result<TableHandle> TableCache::Pin(TableFile* file, IfClosed if_closed, OpenFor open_for) {
  assert(file != nullptr);
  assert(!InEpoch());
  TableHandle handle;
  handle.reader_ = file->reader.load(std::memory_order_acquire);
  if (handle.reader_ != nullptr && file->stays_open.load(std::memory_order_relaxed)) {
    MarkUsed(file);
    return handle;
  }
  {
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
  ASSIGN_OR_RETURN(handle.reader_, OpenTable(file, open_for));
  return handle;
}

Result<TableHandle> TableCache::PinFor(const ReadOptions& options, TableFile* file,
                                       OpenFor open_for) {
  const PerfTimer timer(&PerfContextBase::find_table_nanos);
  Result<TableHandle> open = Pin(file, IfClosed::kFail);
  if (open.ok() || !open.status().IsIncomplete() || options.read_tier == kBlockCacheTier) {
    return open;
  }
  RETURN_IF_ERROR(IoDeadline(options, options_.clock).Check());
  return Pin(file, IfClosed::kOpen, open_for);
}

Result<std::unique_ptr<TableReader>> TableCache::TimeAndLoad(const TableFile& file,
                                                             OpenFor open_for) const {
  const StopWatch watch(SystemClock::Default().get(), options_.statistics, TABLE_OPEN_IO_MICROS);
  RecordTick(options_.statistics, NO_FILE_OPENS);
  Result<std::unique_ptr<TableReader>> table = LoadTable(file, open_for);
  if (!table.ok()) RecordTick(options_.statistics, NO_FILE_ERRORS);
  return table;
}

Result<std::unique_ptr<TableReader>> TableCache::LoadTable(const TableFile& file,
                                                           OpenFor open_for) const {
  const FileMetadata& meta = file.meta;
  assert(!InEpoch());  // the call does I/O
  const std::string path = PathOf(meta);
  FileOptions file_options =
      open_for == OpenFor::kReads ? options_.file_options : options_.compaction_file_options;
  const auto recorded = static_cast<Temperature>(meta.temperature);
  file_options.temperature =
      recorded != Temperature::kUnknown ? recorded : options_.default_temperature;
  auto opened = RandomReader::Open(options_.fs, path, file_options);
  if (!opened.ok() && !opened.status().IsCorruption()) {
    // Tables written by LevelDB have the extension "ldb".
    const std::string old_path = path.substr(0, path.size() - 3) + "ldb";
    if (options_.fs->FileExists(old_path, IOOptions(), nullptr).ok()) {
      opened = RandomReader::Open(options_.fs, old_path, file_options);
    }
  }
  if (!opened.ok()) return opened.status();
  std::unique_ptr<RandomReader> reader_file = opened.Take();
  // The option accepts a longer file, and the bytes behind the end in the MANIFEST are ignored.
  if (options_.bears_longer_files && reader_file->size() > meta.file_size) {
    reader_file->EndAt(meta.file_size);
  }
  if (reader_file->size() != meta.file_size) {
    return Status::Corruption(
        StrCat(path, ": ", reader_file->size(), " bytes, but the MANIFEST says ", meta.file_size));
  }
  TableReaderOptions reader_options;
  reader_options.icmp = &options_.comparator;
  reader_options.block_cache = block_cache_.get();
  reader_options.manifest_largest_seqno = meta.largest_seqno;
  reader_options.manifest_smallest_seqno = meta.smallest_seqno;
  reader_options.tail_bytes = meta.tail_bytes;
  reader_options.prefix_extractor = options_.prefix_extractor.get();
  reader_options.statistics = options_.statistics;
  // The pointer to the level stays valid, because every reader holds a reference to the file.
  reader_options.read_times = {.histograms = read_times_.get(), .level = &file.level};
  reader_options.clock = options_.clock;
  if (options_.verify_unique_ids) reader_options.expected_unique_id = meta.unique_id;
  reader_options.initial_auto_readahead_bytes =
      initial_readahead_bytes_.load(std::memory_order_relaxed);
  reader_options.max_auto_readahead_bytes = max_readahead_bytes_.load(std::memory_order_relaxed);
  reader_options.reads_before_auto_readahead =
      reads_before_readahead_.load(std::memory_order_relaxed);
  reader_options.block_protection_bytes = block_protection_bytes_.load(std::memory_order_relaxed);
  reader_options.metadata =
      PlanFor(options_.table, max_flushed_bytes_.load(std::memory_order_relaxed), file);
  reader_options.charges_reader =
      IsCharged(options_.table.cache_usage_options, CacheEntryRole::kBlockBasedTableReader);
  if (IsCharged(options_.table.cache_usage_options, CacheEntryRole::kFileMetadata)) {
    reader_options.charged_file_metadata_bytes = file.MemoryBytes();
  }
  const auto border = FragmentedTombstones::BorderOf(meta.smallest, meta.largest);
  reader_options.border = &border;
  return TableReader::Open(std::move(reader_file), reader_options);
}

// Opens a table and publishes its reader. If several threads open it at the same time, the first
// one wins, and the readers of the others are destroyed.
Result<const TableReader*> TableCache::OpenTable(TableFile* file, OpenFor open_for) {
  assert(file != nullptr);
  Result<std::unique_ptr<TableReader>> loaded = TimeAndLoad(*file, open_for);
  if (!loaded.ok()) return loaded.status();
  std::unique_ptr<TableReader> reader = loaded.Take();
  const TableReader* published = reader.get();
  EpochRetired* evicted = nullptr;
  {
    MutexLock lock(&mutex_);
    if (const TableReader* winner = file->reader.load(std::memory_order_acquire)) return winner;
    has_opened_ = true;
    open_.push_back(file);  // done first, because it may throw when memory runs out
    file->open_place = open_.size() - 1;
    file->recently_used.store(true, std::memory_order_relaxed);
    if (!IsLimited()) file->stays_open.store(true, std::memory_order_relaxed);
    file->NoteWeights(EntryWeights::Of(reader->properties(), file->meta.file_size));
    file->newest_key_time.store(reader->properties().newest_key_time, std::memory_order_relaxed);
    file->reader.store(reader.release(), std::memory_order_release);
    Count(*file, +1);
    evicted = EvictBeyondBudgetLocked();
  }
  // Readers are destroyed without the mutex, and after the epochs of the threads that may use them.
  while (evicted != nullptr) {
    TableReader* const victim = static_cast<TableReader*>(evicted);
    evicted = victim->next_retired;
    EpochRetireDelete(victim);
  }
  return published;
}

// Closes tables until the budget is met. The algorithm is CLOCK: a hand moves over the open tables,
// and a table that was used recently gets a second chance.
EpochRetired* TableCache::EvictBeyondBudgetLocked() {
  mutex_.AssertHeld();
  EpochRetired* evicted = nullptr;
  // The first turn of the hand takes the second chance from a table, and the second turn closes it.
  // So after two turns the tables that are still open are in use.
  size_t steps = 2 * open_.size();
  while (steps-- > 0 && open_.size() > 1 && IsOverBudget()) {
    if (hand_ >= open_.size()) hand_ = 0;
    TableFile* victim = open_[hand_];
    if (victim->stays_open.load(std::memory_order_relaxed) ||
        victim->pins.load(std::memory_order_acquire) > 0 ||
        victim->recently_used.exchange(false, std::memory_order_relaxed)) {
      hand_++;
      continue;
    }
    TableReader* const reader = TakeReaderLocked(victim);
    reader->next_retired = evicted;
    evicted = reader;
  }
  return evicted;
}

// Unlinks the reader of a table. Every change of the set of open tables happens under mutex_, so
// the count of the budget matches open_.
TableReader* TableCache::TakeReaderLocked(TableFile* file) {
  assert(file != nullptr);
  TableReader* const reader = file->reader.exchange(nullptr, std::memory_order_acq_rel);
  if (reader == nullptr) return nullptr;
  const size_t place = file->open_place;
  assert(place < open_.size());
  assert(open_[place] == file);  // every open table is in open_
  open_[place] = open_.back();
  open_[place]->open_place = place;
  open_.pop_back();
  Count(*file, -1);
  return reader;
}

// Gives up a pin. Pinned tables cannot be closed when other tables are opened, so the number of
// open tables may exceed the budget. In that case the release of the last pin closes the table.
void TableCache::Unpin(TableFile* file) {
  assert(file != nullptr);
  assert(file->pins.load(std::memory_order_relaxed) > 0);
  TableReader* excess = nullptr;
  if (!IsOverBudget()) [[likely]] {
    file->pins.fetch_sub(1, std::memory_order_release);
    return;
  }
  {
    MutexLock lock(&mutex_);
    const bool is_last = file->pins.fetch_sub(1, std::memory_order_acq_rel) == 1;
    const bool may_close = is_last && !file->stays_open.load(std::memory_order_relaxed);
    if (may_close && IsOverBudget()) excess = TakeReaderLocked(file);
  }
  if (excess != nullptr) EpochRetireDelete(excess);
}

void TableCache::Close(TableFile* file) {
  TableReader* reader;
  {
    MutexLock lock(&mutex_);
    reader = TakeReaderLocked(file);
  }
  if (reader == nullptr) return;
  assert(file->pins.load(std::memory_order_relaxed) == 0);  // no reader can reach the file any more
  if (!keeps_blocks_.load(std::memory_order_relaxed)) reader->ForgetCachedBlocks();
  EpochRetireDelete(reader);
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
              " of ", options_.budget->max_open.load(std::memory_order_relaxed));
  }
  return text + (rows_ != nullptr ? "; rows cached\n" : "\n");
}

}  // namespace ashlar
