// SPDX-License-Identifier: Apache-2.0
//
// The base class steps inside a block. This file does the steps from block to block: it moves the
// index, exchanges the block, and stops at the upper bound instead of reading the blocks behind it.
#include "table/sst/read/table_iterator.h"

#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "table/sst/read/scan_blocks.h"
#include "table/sst/read/table_reader.h"
#include "table/sst/write/block_passing.h"
#include "util/memory/arena.h"
#include "util/statistics/perf_level_impl.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// A compaction reads its inputs completely, so large reads waste nothing, and a disk seeks less.
constexpr size_t kCompactionReadaheadBytes = size_t{2} << 20;

}  // namespace

// A fixed size, if the read or a compaction asks for one; otherwise readahead that grows with
// sequential reads.
Readahead::Options TableIterator::ReadaheadOptions(const ReadOptions& read,
                                                   bool for_compaction) const {
  const TableReaderOptions& table = table_->options_;
  Readahead::Options options;
  options.fixed_bytes = read.readahead_size;
  if (for_compaction && options.fixed_bytes == 0) options.fixed_bytes = kCompactionReadaheadBytes;
  options.initial_bytes = table.initial_auto_readahead_bytes;
  options.max_bytes = table.max_auto_readahead_bytes;
  options.is_async = read.async_io && !for_compaction;
  options.reads_before = table.reads_before_auto_readahead;
  if (read.auto_readahead_size && upper_bound_ != nullptr && !table_->is_partitioned_) {
    options.find_end = &EndOfWanted;
    options.context = this;
  }
  return options;
}

TableIterator::TableIterator(const TableReader* table, const ReadOptions& options,
                             bool for_compaction, const HeldBlocks* held)
    : table_(table),
      held_(held),
      upper_bound_(options.iterate_upper_bound),
      readahead_(ReadaheadOptions(options, for_compaction)),
      deadline_(options, table->options_.clock),
      index_(table->IndexSource()) {
  assert(table_ != nullptr);
  read_.fill_cache = options.fill_cache && !for_compaction;
  read_.cache_only = options.read_tier == kBlockCacheTier;
  read_.readahead = &readahead_;
  read_.deadline = &deadline_;
  read_.activity = for_compaction ? Env::IOActivity::kCompaction : Env::IOActivity::kDBIterator;
}

// The end of the block that contains the upper bound. readahead_ calls this.
uint64_t TableIterator::EndOfWanted(const void* iterator) {
  const auto* const self = static_cast<const TableIterator*>(iterator);
  const TableReader& table = *self->table_;
  // ReadaheadOptions() made sure of that.
  assert(self->upper_bound_ != nullptr);
  assert(!table.is_partitioned_);
  const FlatIndex& index = *self->index_.top().index;
  const size_t i = index.Find(*self->upper_bound_, PackTrailer(kMaxSequenceNumber, kMaxValue));
  if (i == index.size()) return table.file_->size();
  const BlockHandle handle = index.handle(i);
  return handle.offset + handle.size + kBlockTrailerBytes;
}

// Counters are added up in the iterator and reported once, because the shared counters would slow
// each step down.
TableIterator::~TableIterator() {
  AddPerfCount(&PerfContextBase::block_cache_hit_count, read_.hits);
  AddPerfCount(&PerfContextBase::block_cache_read_byte, read_.hit_bytes);
  if (this_thread_measures_reads) [[unlikely]]
    TellLevel();
  Statistics* const statistics = table_->options_.statistics;
  if (statistics == nullptr) return;
  statistics->recordTick(BLOCK_CACHE_HIT, read_.hits);
  statistics->recordTick(BLOCK_CACHE_DATA_HIT, read_.hits);
  statistics->recordTick(BLOCK_CACHE_MISS, read_.misses);
  statistics->recordTick(BLOCK_CACHE_DATA_MISS, read_.misses);
  statistics->recordTick(BLOCK_CACHE_BYTES_READ, read_.hit_bytes);
}

void TableIterator::TellLevel() const {
  if (!level_.has_value()) return;
  PerfContextByLevel* const sums = PerfOfLevel(*level_);
  if (sums == nullptr) return;
  sums->block_cache_hit_count += read_.hits;
  sums->block_cache_miss_count += read_.misses;
}

void TableIterator::SeekToFirst() {
  status_ = index_.First(&read_);
  FirstFrom();
}

void TableIterator::SeekToLast() {
  status_ = index_.Last(&read_);
  LastFrom();
}

void TableIterator::Seek(const Slice& internal_key) {
  BeginSeek(internal_key, SeekStep::kFindBlock);
  BeginSeek(internal_key, SeekStep::kEnterBlock);
  EndSeek(internal_key);
}

// The three steps of a seek. A merging iterator does each step for all children before the next
// one, so that the memory that a step has asked for arrives while the other children are served.
void TableIterator::BeginSeek(const Slice& internal_key, SeekStep step) {
  switch (step) {
    case SeekStep::kFindBlock:
      End();
      status_ = index_.Seek(SeekTarget(internal_key), &read_);
      if (index_.Valid()) table_->store_.PrefetchSlot(index_.leaf(), index_.entry());
      break;
    case SeekStep::kFetchBlock:
      if (index_.Valid()) FetchBlock();
      break;
    case SeekStep::kEnterBlock:
      if (index_.Valid() && EnterBlock() && !block_->is_decoded) block_->block.PrefetchTail();
      break;
  }
}

void TableIterator::FetchBlock() {
  assert(index_.Valid());
  const EpochGuard guard;
  table_->store_.PrefetchData(index_.leaf(), index_.entry());
}

// While the caller passes the entries of this block, the next one is loaded, so their cache misses
// overlap.
void TableIterator::FetchBlockBehind() {
  assert(index_.Valid());
  const size_t next = index_.entry() + 1;
  if (next == index_.leaf().index->size()) return;
  const EpochGuard guard;
  table_->store_.PrefetchStart(index_.leaf(), next);
}

void TableIterator::EndSeek(const Slice& internal_key) {
  if (cursor_ == nullptr) return;  // behind the last block, or failed
  const SeekTarget target(internal_key);
  {
    const PerfTimer timer(&PerfContextBase::block_seek_nanos);
    valid_ = block_cursor_.Seek(table_->icmp_, target, &key_, &value_);
  }
  if (!valid_) NextSlow();
}

void TableIterator::SeekForPrev(const Slice& internal_key) {
  const SeekTarget target(internal_key);
  status_ = index_.Seek(target, &read_);
  if (!status_.ok()) return End();
  if (!index_.Valid()) return SeekToLast();
  if (!EnterBlock()) return;
  valid_ = block_cursor_.Seek(table_->icmp_, target, &key_, &value_);
  if (valid_ && table_->icmp_.Compare(key_, internal_key) == 0) return;
  if (!IsIntact()) return;
  // Now at the first entry behind the target, or behind the last entry of the block.
  valid_ = valid_ ? block_cursor_.Prev(&key_, &value_) : block_cursor_.Last(&key_, &value_);
  if (!valid_) PrevSlow();
}

void TableIterator::NextSlow() {
  if (!IsIntact()) return;
  if (NextBlockIsBeyondBound()) return End();
  status_ = index_.Next(&read_);
  FirstFrom();
}

void TableIterator::PrevSlow() {
  if (!IsIntact()) return;
  status_ = index_.Prev(&read_);
  LastFrom();
}

// Goes to the first entry at or behind the begin of the current block of the index. A block without
// entries is damage that no checksum can detect; it is skipped.
void TableIterator::FirstFrom() {
  while (status_.ok() && index_.Valid()) {
    if (!EnterBlock(Visit::kPasses)) return;
    FetchBlockBehind();
    valid_ = block_cursor_.First(&key_, &value_);
    enters_block_ = output_ != nullptr;
    if (valid_ || !IsIntact()) return;
    status_ = index_.Next(&read_);
  }
  End();
}

// Goes to the last entry at or in front of the end of the current block of the index.
void TableIterator::LastFrom() {
  while (status_.ok() && index_.Valid()) {
    if (!EnterBlock()) return;
    valid_ = block_cursor_.Last(&key_, &value_);
    if (valid_ || !IsIntact()) return;
    status_ = index_.Prev(&read_);
  }
  End();
}

// Makes the current block of the index the block of the iterator. After an error it is not Valid().
bool TableIterator::EnterBlock(Visit visit) {
  assert(index_.Valid());
  const BlockHandle handle = index_.handle();
  if (!block_ || !(handle == block_handle_)) {
    const PerfTimer timer(&PerfContextBase::new_table_block_iter_nanos);
    Status status = LoadBlock(visit);
    if (!status.ok()) {
      Fail(status);
      return false;
    }
  }
  if (block_->is_decoded) {
    block_cursor_.Attach(&block_->decoded);
  } else {
    block_cursor_.Attach(&block_->block, table_->key_format_);
  }
  cursor_ = &block_cursor_;
  return true;
}

// If loading fails, the old block stays.
Status TableIterator::LoadBlock(Visit visit) {
  assert(index_.Valid());
  const BlockHandle handle = index_.handle();
  ObjectRef<DataBlock> held;
  if (held_ != nullptr) held = held_->Find(handle.offset);
  if (held) {
    block_ = std::move(held);
    block_handle_ = handle;
    return Status::OK();
  }
  const uint32_t hits_before = read_.hits;
  ASSIGN_OR_RETURN(block_, table_->store_.Data(index_.leaf(), index_.entry(), &read_));
  block_handle_ = handle;
  const bool was_hit = read_.hits != hits_before;
  if (visit == Visit::kCounts && !block_->is_decoded && read_.fill_cache && was_hit) {
    UseDecodedIfHot();
  }
  return Status::OK();
}

void TableIterator::UseDecodedIfHot() {
  assert(block_);
  ObjectRef<DataBlock> decoded =
      table_->store_.DecodeIfHot(index_.leaf(), index_.entry(), block_.get());
  if (decoded) block_ = std::move(decoded);
}

// If the cursor stopped because of damage, the iterator is not Valid() afterwards.
bool TableIterator::IsIntact() {
  assert(block_);
  if (block_cursor_.error() == nullptr) return true;
  Fail(table_->DamagedBlock(block_cursor_, block_handle_));
  return false;
}

bool TableIterator::NextBlockIsBeyondBound() {
  assert(index_.Valid());
  if (upper_bound_ == nullptr) return false;
  const Slice separator = index_.leaf().index->UserKey(index_.entry(), &separator_);
  return table_->icmp_.OrderWithoutTimestamp(separator, *upper_bound_) >= 0;
}

// If the table has a global sequence number, its entries differ from the stored ones, so its blocks
// cannot be offered.
[[gnu::cold]] void TableIterator::OfferBlocksTo(const BlockPassing* output) {
  const bool has_own_seqnos = table_->global_seqno() == BlockKeyFormat::kOwnSeqnos;
  const bool takes = output != nullptr && has_own_seqnos && output->TakesFrom(table_->properties());
  output_ = takes ? output : nullptr;
}

// The stored bytes are in the readahead buffer if the block was just read from the file. For a
// block from the cache they are not read, because a disk may be slower than compressing. Stored
// bytes whose checksum is wrong are not offered; reading the entries reports the error.
bool TableIterator::CopyBlock(const Slice* next_of_others, PassedBlock* block) {
  assert(valid_);
  assert(output_ != nullptr);
  if (block_->is_decoded || block_cursor_.entry_offset() != 0) return false;
  if (next_of_others != nullptr) {
    const Slice end = index_.leaf().index->UserKey(index_.entry(), &separator_);
    if (table_->icmp_.OrderWithoutTimestamp(end, *next_of_others) >= 0) return false;
  }
  const Block& raw = block_->block;
  if (!output_->Takes(raw)) return false;
  const auto stored_bytes = static_cast<size_t>(block_handle_.size);
  const char* const stored =
      readahead_.Find(block_handle_.offset, stored_bytes + kBlockTrailerBytes);
  if (stored == nullptr) return false;
  const CompressionType type = StoredCompressionType(stored, block_handle_.size);
  if (!output_->Takes(type) || !table_->store_.fetcher().IsIntact(block_handle_, stored)) {
    return false;
  }
  block->Reserve(raw.size(), stored_bytes);
  block->SetType(type);
  std::memcpy(block->raw_memory(), raw.data(), raw.size());
  std::memcpy(block->stored_memory(), stored, stored_bytes);
  return true;
}

void TableIterator::Fail(const Status& status) {
  assert(!status.ok());
  status_ = status;
  End();
}

// The block is kept, because the next seek may need it again.
void TableIterator::End() {
  valid_ = false;
  cursor_ = nullptr;
}

InternalIterator* TableReader::NewIterator(const ReadOptions& options, Arena* arena,
                                           bool for_compaction) const {
  if (arena == nullptr) return new TableIterator(this, options, for_compaction);
  void* const memory = arena->AllocateAligned(sizeof(TableIterator));
  return new (memory) TableIterator(this, options, for_compaction);
}

}  // namespace ashlar
