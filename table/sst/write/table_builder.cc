// SPDX-License-Identifier: Apache-2.0
//
// A data block is cut when the next entry would make it too large. Its separator needs the first
// key behind it, so the block and its index entry are written together when that key arrives.
// Blocks that wait for a dictionary or for the compression threads are written later, in the same
// order. Everything else is collected and written by Finish(): see table_builder_tail.cc.
#include "table/sst/write/table_builder.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "env/file_writer.h"
#include "table/block/block_cursor.h"
#include "table/format/compression_dictionary.h"
#include "table/sst/write/builder_settings.h"
#include "table/sst/write/cache_filler.h"
#include "table/sst/write/table_builder_rep.h"
#include "util/keys/entry_limits.h"
#include "util/keys/internal_key.h"
#include "util/result.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// An entry of at least this size gets a block of its own.
constexpr size_t kLargeEntryBytes = size_t{1} << 30;

std::optional<PrefixBlocksBuilder> MakePrefixBlocks(const TableBuilderOptions& options) {
  // Only this type of index needs to know which blocks a prefix is in.
  if (WrittenIndexType(options) != BlockBasedTableOptions::kHashSearch) return std::nullopt;
  assert(options.prefix_extractor != nullptr);
  return PrefixBlocksBuilder(options.prefix_extractor);
}

std::unique_ptr<FlushBlockPolicy> MakeFlushPolicy(const BlockBasedTableOptions& table,
                                                  const BlockBuilder& data_block) {
  const FlushBlockPolicyFactory* const factory = table.flush_block_policy_factory.get();
  if (factory == nullptr) return nullptr;
  return std::unique_ptr<FlushBlockPolicy>(factory->NewFlushBlockPolicy(table, data_block));
}

std::unique_ptr<BareTableWriter> MakeBareWriter(const TableBuilderOptions& options) {
  if (options.bare == nullptr || !CheckBareFormat(*options.bare).ok()) return nullptr;
  return options.bare->is_bare() ? BareTableWriter::Make(*options.bare) : nullptr;
}

Status CheckBuilderOptions(const TableBuilderOptions& options) {
  RETURN_IF_ERROR(CheckTableOptionsWritable(*options.table, options.compression));
  if (options.bare == nullptr || !options.bare->is_bare()) return Status::OK();
  if (options.icmp->stamp_bytes() != 0) {
    return Status::NotSupported(StrCat(options.bare->name(), " has no keys with timestamps"));
  }
  return CheckBareFormat(*options.bare);
}

std::unique_ptr<BufferedBlocks> MakeBuffer(const TableBuilderOptions& options) {
  // 0: no dictionary is wanted, so blocks are written as soon as they are cut.
  const size_t bytes = DictionaryBufferBytes(options);
  if (bytes == 0) return nullptr;
  return std::make_unique<BufferedBlocks>(
      bytes, CacheToCharge(*options.table, CacheEntryRole::kCompressionDictionaryBuildingBuffer));
}

#if ASHLAR_INVARIANTS
// Reads a new block as a reader will, before it is written to the file.
Status CheckDataBlock(const Slice& contents, const BlockBuilder& builder,
                      const InternalKeyComparator& icmp) {
  Block block;
  RETURN_IF_ERROR(Block::Parse(contents, &block));
  BlockCursor cursor;
  cursor.Attach(&block, BlockKeyFormat{});
  Slice key, value;
  std::string previous;
  size_t entry_count = 0;
  for (bool more = cursor.First(&key, &value); more; more = cursor.Next(&key, &value)) {
    if (entry_count++ > 0 && icmp.Compare(previous, key) >= 0) break;
    previous = key.ToString();
  }
  if (cursor.error() == nullptr && entry_count == builder.entry_count() &&
      builder.last_key() == Slice(previous)) {
    return Status::OK();
  }
  return Status::Corruption(StrCat("new data block: entry ", entry_count, " of ",
                                   builder.entry_count(), " does not read back; check the memory"));
}
#endif

}  // namespace

[[gnu::cold]] TableBuilder::Rep::Rep(const TableBuilderOptions& builder_options, FileWriter* target)
    : options(builder_options),
      file(target),
      block_bytes(options.table->block_size),
      nearly_full_bytes(NearlyFull(block_bytes, options.table->block_size_deviation)),
      aligned_trailer_bytes(options.table->block_align ? kBlockTrailerBytes : 0),
      writer(WriterOptions(options), target),
      data_block(DataBlockOptions(options)),
      index(IndexOptions(options)),
      filter(options, &index),
      range_tombstones({.restart_interval = 1}),
      buffered(MakeBuffer(options)),
      sampler(options.sample_for_compression),
      flush_policy(MakeFlushPolicy(*options.table, data_block)),
      collectors(options.collector_factories,
                 TablePropertiesCollectorFactory::Context(options.column_family_id, options.level,
                                                          options.level_count, kMaxSequenceNumber)),
      prefix_blocks(MakePrefixBlocks(options)),
      cache_filler(CacheFiller::MakeFor(options, WriterOptions(options).checksum.base)),
      has_listeners(!collectors.empty() || prefix_blocks.has_value() ||
                    options.icmp->stamp_bytes() != 0),
      has_pipeline(options.compression != kNoCompression &&
                   options.compression_opts.parallel_threads > 1),
      replays_keys(buffered != nullptr || ReplaysInPipeline()),
      bare(MakeBareWriter(options)),
      cut_bytes(block_bytes),
      spare_bytes(block_bytes) {
  assert(file->size() == 0);
  assert(options.icmp != nullptr);
  assert(nearly_full_bytes <= block_bytes);
  assert(bare == nullptr || options.compression == kNoCompression);
  status = CheckBuilderOptions(options);
  if (!status.ok()) return;
  status = writer.Open();
}

// Hot: once per entry of every flush and compaction. No allocation, and no virtual call except the
// user's own comparator, prefix extractor and collectors.
Status TableBuilder::Rep::Add(const Slice& key, const Slice& value) {
  // After an error the builder refuses everything, so callers may look at the status at the end.
  if (!status.ok()) [[unlikely]]
    return status;
  assert(!is_closed);
  const uint64_t trailer = ExtractTrailer(key);
  if (TrailerType(trailer) == kTypeRangeDeletion) [[unlikely]]
    return AddRangeTombstone(key, value);
  if (key.size() + value.size() >= kLargeEntryBytes) [[unlikely]]
    RETURN_IF_ERROR(PrepareForLarge(key, value));
  if (!data_block.empty()) [[likely]] {
    if (!IsInOrder(key)) [[unlikely]]
      return RefuseOrder(data_block.last_key(), key);
    if (MustCutBefore(key, value)) [[unlikely]] {
      status = CutBlock(&key);
      if (!status.ok()) return status;
    }
  } else {
    if (bare != nullptr) return AddBare(key, value, trailer);
    StartBlock(key, value);
  }
  data_block.Add(key, value);
  // With a buffer the keys are added when their blocks are written, in the order of the index.
  if (!replays_keys) [[likely]]
    filter.AddKey(options.icmp->WithoutStamp(ExtractUserKey(key)));
  Count(key, value, trailer);
  if (has_listeners) [[unlikely]]
    TellListeners(key, value);
  return Status::OK();
}

// A flush policy needs every entry, also the first one of a block that did not begin with a cut.
// The index needs the first key of each block; CutBlock() passes it for all blocks but the first
// one of the table.
void TableBuilder::Rep::StartBlock(const Slice& key, const Slice& value) {
  assert(data_block.empty());
  assert(!is_closed);
  if (!has_cut) index.StartBlock(key);
  if (flush_policy != nullptr) flush_policy->Update(key, value);
}

// Everything that only some tables need: collectors of properties, the prefixes of a hash index,
// timestamps.
void TableBuilder::Rep::TellListeners(const Slice& key, const Slice& value) {
  assert(has_listeners);
  if (options.icmp->stamp_bytes() != 0) NoteStamp(key);
  collectors.AddEntry(key, value, FileSize());
  if (prefix_blocks.has_value() && !replays_keys) {
    prefix_blocks->AddKey(ExtractUserKey(key), index.block_count());
  }
}

void TableBuilder::Rep::NoteStamp(const Slice& internal_key) {
  assert(options.icmp->stamp_bytes() != 0);
  const InternalKeyComparator& order = *options.icmp;
  const Slice stamp = order.StampOf(ExtractUserKey(internal_key));
  const bool is_first = min_stamp.empty();
  if (is_first || order.OrderOfStamps(stamp, min_stamp) < 0) min_stamp = stamp.ToString();
  if (is_first || order.OrderOfStamps(stamp, max_stamp) > 0) max_stamp = stamp.ToString();
}

bool TableBuilder::Rep::IsInOrder(const Slice& key) const {
  // The first key of a block was ordered when the separator before it was made.
  assert(!data_block.empty());
  return options.icmp->Compare(data_block.last_key(), key) < 0;
}

// Whether the current block ends before this entry.
bool TableBuilder::Rep::MustCutBefore(const Slice& key, const Slice& value) const {
  assert(!data_block.empty());
  const size_t bytes = data_block.CurrentBytes();
  if (flush_policy != nullptr) [[unlikely]] {
    const bool wants_cut = flush_policy->Update(key, value);
    return wants_cut || bytes >= kLargeEntryBytes;  // a block must stay below 4 GiB
  }
  // Between the two limits the exact size decides, which costs a computation.
  if (bytes >= cut_bytes) return true;
  if (bytes <= nearly_full_bytes) return false;
  return data_block.EstimateBytesWith(key, value) + aligned_trailer_bytes > block_bytes;
}

// Ends the data block. `next_key` is the key that will begin the next block, null at the end of the
// table; the index key is chosen between both. A block that equals one of an input may be stored as
// it was stored there.
Status TableBuilder::Rep::CutBlock(const Slice* next_key) {
  assert(!data_block.empty());
  const Slice contents = data_block.Finish();
#if ASHLAR_INVARIANTS
  RETURN_IF_ERROR(CheckDataBlock(contents, data_block, *options.icmp));
#endif
  if (buffered != nullptr) {
    // A copy: the builder's memory is used again for the next block.
    buffered->Add(contents, data_block.last_key(), next_key);
    if (buffered->IsFull()) RETURN_IF_ERROR(WriteBuffered());
  } else {
    StoredBlock stored;
    const bool is_passed = open_offer.is_set && IsPassed(contents, &stored);
    RETURN_IF_ERROR(
        SendBlock(contents, data_block.last_key(), next_key, is_passed ? &stored : nullptr));
    EndPassed(contents.size());
  }
  has_cut = true;
  data_block.Reset();
  return Status::OK();
}

Status TableBuilder::Rep::SendBlock(const Slice& contents, const Slice& last_key,
                                    const Slice* next_key, const StoredBlock* stored) {
  assert(!contents.empty());
  if (!has_pipeline) [[likely]] {
    BlockHandle handle;
    RETURN_IF_ERROR(stored == nullptr ? writer.Write(contents, Packing::kData, &handle)
                                      : writer.WriteData(*stored, &handle));
    NoteBlock(contents, last_key, next_key, handle);
    return Status::OK();
  }
  if (pipeline == nullptr) {
    // Created with the first block, so that small tables start no threads.
    ASSIGN_OR_RETURN(pipeline,
                     CompressionPipeline::Create(writer.compression(), dictionary,
                                                 options.compression_opts.parallel_threads));
  }
  // The order of blocks in the file is that of their keys, so the oldest one must go first.
  while (pipeline->IsFull()) RETURN_IF_ERROR(WriteOldestInPipeline());
  pipeline->Add(contents, last_key, next_key, stored);
  return Status::OK();
}

// Blocks are compressed by other threads but written in their order by this one. Waits if the
// oldest block is not compressed yet.
Status TableBuilder::Rep::WriteOldestInPipeline() {
  assert(has_pipeline);
  assert(pipeline != nullptr);
  assert(!pipeline->empty());
  const CompressionPipeline::Block& block = pipeline->TakeOldest();
  const RawDataBlock& raw = block.raw;
  // The keys are known from the block itself, because the builder has moved on since.
  if (replays_keys) RETURN_IF_ERROR(ReplayKeys(raw.contents));
  BlockHandle handle;
  RETURN_IF_ERROR(writer.WriteData(block.stored, &handle));
  const Slice next_key(raw.next_key);
  NoteBlock(raw.contents, raw.last_key, raw.is_last ? nullptr : &next_key, handle);
  return Status::OK();
}

Status TableBuilder::Rep::DrainPipeline() {
  if (pipeline == nullptr) return Status::OK();
  while (!pipeline->empty()) RETURN_IF_ERROR(WriteOldestInPipeline());
  pipeline.reset();
  return Status::OK();
}

// The block has its place in the file now, so the index, the filter and the counts learn about it.
void TableBuilder::Rep::NoteBlock(const Slice& contents, const Slice& last_key,
                                  const Slice* next_key, const BlockHandle& handle) {
  index.AddBlock(last_key, next_key, handle);
  filter.Charge();
  if (cache_filler != nullptr) cache_filler->Add(handle, contents);
  ++properties.num_data_blocks;
  properties.uncompressed_data_size += contents.size();
  // Two reasons for a block that is not compressed: the options, or that it did not become smaller.
  if (!writer.compresses()) ++properties.num_data_blocks_compression_bypassed;
  if (writer.was_rejected()) ++properties.num_data_blocks_compression_rejected;
  const SampledBytes sampled = sampler.AddBlock(contents);
  if (!collectors.empty()) collectors.AddBlock(contents.size(), sampled);
  assert(properties.num_data_blocks == index.block_count());
}

// Trains the dictionary, then does for each buffered block what is otherwise done when it is cut.
Status TableBuilder::Rep::WriteBuffered() {
  assert(buffered != nullptr);
  assert(replays_keys);
  std::vector<Slice> samples;
  for (const RawDataBlock& block : buffered->blocks()) samples.emplace_back(block.contents);
  dictionary = MakeCompressionDictionary(samples, options.compression_opts);
  if (!dictionary.empty()) RETURN_IF_ERROR(writer.SetDictionary(dictionary));
  // From here on blocks are no longer held back for the dictionary, only for the pipeline.
  replays_keys = ReplaysInPipeline();
  for (const RawDataBlock& block : buffered->blocks()) {
    if (!replays_keys) RETURN_IF_ERROR(ReplayKeys(block.contents));
    const Slice next_key(block.next_key);
    RETURN_IF_ERROR(SendBlock(block.contents, block.last_key, block.is_last ? nullptr : &next_key));
  }
  buffered.reset();
  return Status::OK();
}

// True if coupled filter partitions or prefix blocks need to know how many blocks precede a key.
bool TableBuilder::Rep::ReplaysInPipeline() const {
  return has_pipeline && (filter.follows_index() || prefix_blocks.has_value());
}

// Passes the keys of a block that is about to be written to the filter and the prefix blocks.
Status TableBuilder::Rep::ReplayKeys(const Slice& contents) {
  Block block;
  RETURN_IF_ERROR(Block::Parse(contents, &block));
  BlockCursor cursor;
  cursor.Attach(&block, BlockKeyFormat{});
  Slice key, value;
  for (bool more = cursor.First(&key, &value); more; more = cursor.Next(&key, &value)) {
    const Slice user_key = ExtractUserKey(key);
    filter.AddKey(options.icmp->WithoutStamp(user_key));
    if (prefix_blocks.has_value()) prefix_blocks->AddKey(user_key, index.block_count());
  }
  if (cursor.error() == nullptr) return Status::OK();
  // The block was made a moment ago, so an error here means that memory was damaged.
  return Status::Corruption(StrCat("new data block: ", cursor.error(), "; check the memory"));
}

[[gnu::cold]] Status TableBuilder::Rep::RefuseOrder(const Slice& last_key, const Slice& key) {
  assert(status.ok());
  assert(options.icmp->Compare(last_key, key) >= 0);
  status = Status::Corruption(
      StrCat("table builder: ", file->path(), ", entry ", properties.num_entries, ": ",
             InternalKeyInError(key), " does not sort behind ", InternalKeyInError(last_key),
             "; check that the comparator is the one the data was written with"));
  return status;
}

Status TableBuilder::Rep::PrepareForLarge(const Slice& key, const Slice& value) {
  assert(status.ok());
  assert(key.size() + value.size() >= kLargeEntryBytes);
  if (key.size() + value.size() > kMaxEntryBytes) return RefuseSize(key, value);
  // Checked before the order, because the cut removes the last key of the block, which the order
  // check needs.
  if (data_block.empty() || !IsInOrder(key)) return Status::OK();
  status = CutBlock(&key);
  return status;
}

[[gnu::cold]] Status TableBuilder::Rep::RefuseSize(const Slice& key, const Slice& value) {
  assert(status.ok());  // the first error stays
  status = Status::InvalidArgument(StrCat("table builder: ", file->path(), ": an entry of ",
                                          key.size(), " + ", value.size(), " bytes, but at most ",
                                          kMaxEntryBytes, " fit into a table"));
  return status;
}

Status TableBuilder::Rep::AddRangeTombstone(const Slice& key, const Slice& value) {
  assert(!is_closed);
  const uint64_t trailer = ExtractTrailer(key);
  assert(TrailerType(trailer) == kTypeRangeDeletion);
  if (bare != nullptr) {
    status = InBareTable(CheckBareEntry(*options.bare, kTypeRangeDeletion, key.size()));
    status =
        Status::CopyAppendMessage(status, "; ", "a block-based table_factory can compact them");
    return status;
  }
  if (key.size() + value.size() > kMaxEntryBytes) return RefuseSize(key, value);
  Count(key, value, trailer);
  if (options.icmp->stamp_bytes() != 0) NoteStamp(key);
  // Tombstones may come in any order with respect to points, and are written behind all blocks.
  range_tombstones.Add(key, value);
  ++properties.num_range_deletions;
  if (!collectors.empty()) collectors.AddEntry(key, value, FileSize());
  return Status::OK();
}

void TableBuilder::Rep::Count(const Slice& key, const Slice& value, uint64_t trailer) {
  ++properties.num_entries;
  properties.raw_key_size += key.size();
  properties.raw_value_size += value.size();
  const SequenceNumber seqno = TrailerSeqno(trailer);
  smallest_seqno = std::min(smallest_seqno, seqno);
  largest_seqno = std::max(largest_seqno, seqno);
  assert(smallest_seqno <= largest_seqno);
  const ValueType type = TrailerType(trailer);
  if (type == kTypeValue) [[likely]]
    return;
  properties.num_deletions += IsTombstone(type);
  properties.num_merge_operands += type == kTypeMerge;
}

uint64_t TableBuilder::Rep::FileSize() const {
  // What is not in the file yet counts too, so that callers cut their tables in time.
  uint64_t waiting_bytes = buffered != nullptr ? buffered->bytes() : 0;
  if (pipeline != nullptr) waiting_bytes += EstimateInPipeline();
  if (!data_block.empty()) return writer.offset() + waiting_bytes + data_block.CurrentBytes();
  if (bare != nullptr && !is_closed) return writer.offset() + bare->held_bytes();
  return writer.offset() + waiting_bytes;
}

// Assumes that the waiting blocks will shrink like the blocks before them.
uint64_t TableBuilder::Rep::EstimateInPipeline() const {
  assert(pipeline != nullptr);
  const auto raw_bytes = static_cast<double>(pipeline->raw_bytes());
  // Before the first block is written there is no ratio to go by.
  const uint64_t written_raw_bytes = properties.uncompressed_data_size;
  if (written_raw_bytes == 0) return pipeline->raw_bytes();
  return static_cast<uint64_t>(raw_bytes * static_cast<double>(writer.offset()) /
                               static_cast<double>(written_raw_bytes));
}

Status TableBuilder::Rep::Finish() {
  assert(!is_closed);
  // Closed even after an error: the file is not a table and gets no further entries.
  is_closed = true;
  if (!status.ok()) return status;
  if (!data_block.empty()) status = CutBlock(nullptr);
  if (status.ok() && buffered != nullptr) status = WriteBuffered();
  if (status.ok()) status = DrainPipeline();
  if (status.ok()) status = bare != nullptr ? WriteBareTail() : WriteTail();
  return status;
}

TableBuilder::TableBuilder(const TableBuilderOptions& options, FileWriter* file)
    : rep_(new Rep(options, file)) {}
TableBuilder::~TableBuilder() = default;

Status TableBuilder::Add(const Slice& internal_key, const Slice& value) {
  return rep_->Add(internal_key, value);
}
void TableBuilder::OfferBlock(PassedBlock* block) { rep_->OfferBlock(block); }
Status TableBuilder::Finish() {
  Status status = rep_->Finish();
  assert(rep_->is_closed);
  return status;
}
void TableBuilder::SetSeqnoTimes(std::string encoded) {
  assert(!rep_->is_closed);
  if (rep_->bare == nullptr) rep_->properties.seqno_to_time_mapping = std::move(encoded);
}

// The file is left as it is; its owner deletes it.
void TableBuilder::Abandon() { rep_->is_closed = true; }

[[gnu::cold]] std::string TableBuilder::DebugString() const {
  const TableProperties& p = rep_->properties;
  return StrCat("table builder ", rep_->file->path(), rep_->is_closed ? ", closed" : "", "\n  ",
                p.num_entries, " entries, ", p.num_range_deletions, " range tombstones, ",
                p.num_data_blocks, " data blocks, ", rep_->data_block.entry_count(),
                " entries in the open one\n  ", FileSize(), " bytes, seqnos ", rep_->smallest_seqno,
                "..", rep_->largest_seqno, "\n  status ", rep_->status.ToString(), "\n  ",
                rep_->index.DebugString(), "\n  ", rep_->filter.DebugString(), "\n  ",
                rep_->writer.DebugString(), "\n");
}

const Status& TableBuilder::status() const { return rep_->status; }
uint64_t TableBuilder::passed_blocks() const { return rep_->passed_blocks; }
uint64_t TableBuilder::num_entries() const { return rep_->properties.num_entries; }
uint64_t TableBuilder::FileSize() const { return rep_->FileSize(); }
uint64_t TableBuilder::EstimatedFileSize() const {
  if (rep_->is_closed) return rep_->FileSize();
  return rep_->FileSize() + rep_->index.EstimateBytes() + rep_->filter.EstimateBytes();
}
uint64_t TableBuilder::tail_size() const {
  if (rep_->bare != nullptr) return 0;
  assert(rep_->writer.offset() >= rep_->properties.tail_start_offset);
  return rep_->writer.offset() - rep_->properties.tail_start_offset;
}
SequenceNumber TableBuilder::smallest_seqno() const { return rep_->smallest_seqno; }
SequenceNumber TableBuilder::largest_seqno() const { return rep_->largest_seqno; }
const std::string& TableBuilder::min_stamp() const { return rep_->min_stamp; }
const std::string& TableBuilder::max_stamp() const { return rep_->max_stamp; }
bool TableBuilder::NeedCompact() const { return rep_->collectors.NeedCompact(); }
const TableProperties& TableBuilder::properties() const { return rep_->properties; }

}  // namespace ashlar
