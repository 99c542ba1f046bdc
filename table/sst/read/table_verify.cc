// SPDX-License-Identifier: Apache-2.0
//
// Verification of a whole table. Checksums detect damage by a disk. Errors of a writer, and changes
// with a matching checksum, show only as contradictions between parts of the table:
//
//   entries      ascend strictly, inside a block and from block to block
//   index        leads to the block for its first and its last entry
//   restarts     are entries
//   hash index   leads to the interval of the entry, or says that it cannot tell
//   filter       rejects no key of the table
//   properties   count the same blocks, entries and deletions
//   MANIFEST     the entries lie inside its bounds of keys and sequence numbers
#include <algorithm>
#include <cassert>
#include <string>

#include "ashlar/options.h"
#include "table/format/meta_block_names.h"
#include "table/sst/read/index_cursor.h"
#include "table/sst/read/readahead.h"
#include "table/sst/read/table_reader.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

Status Contradiction(std::string_view what) {
  return Status::Corruption(StrCat(what, "; the checksums are right, so it was written like this"));
}

}  // namespace

// The state of one verification.
class TableReader::Verification {
 public:
  Verification(const TableReader* table, const RecordedBounds* bounds)
      : table_(*table), bounds_(bounds), probe_(table->IndexSource()) {
    read_.fill_cache = false;
  }

  Status Run(const ReadOptions& options);

 private:
  // Checks the entries of one block against all other parts of the table.
  Status CheckBlock(DataBlock* block, const BlockHandle& handle);
  Status CheckEntry(const BlockCursor& cursor, const Block& block, const Slice& key);
  Status CheckRestart(uint32_t offset, const Block& block);
  Status CheckFilter(const Slice& key);
  // Neighbouring keys ask the same partition, and the cache need not have it.
  Status HoldFilterPartition(const LookupKey& key);
  Status CheckIndex(const Slice& key, const BlockHandle& handle);
  Status CheckTotals() const;
  Status CheckBounds() const;

  const TableReader& table_;
  const RecordedBounds* const bounds_;
  BlockRead read_;
  HeldPartitions held_;
  IndexCursor probe_;                 // finds the block of a key; keeps its partition of the index
  std::string first_key_, last_key_;  // of all entries so far
  uint32_t next_restart_ = 0;  // the restart point of the current block that is expected next
  uint64_t blocks_ = 0, entries_ = 0, deletions_ = 0;
  SequenceNumber smallest_seqno_ = kMaxSequenceNumber, largest_seqno_ = 0;
};

Status TableReader::VerifyChecksums(const ReadOptions& options,
                                    const RecordedBounds* bounds) const {
  RETURN_IF_ERROR(VerifyMetaBlocks());
  return Verification(this, bounds).Run(options);
}

// Reads the file once, from its begin to its end.
Status TableReader::Verification::Run(const ReadOptions& options) {
  assert(blocks_ == 0);
  assert(!InEpoch());
  const size_t readahead_bytes = options.readahead_size != 0
                                     ? options.readahead_size
                                     : table_.options_.max_auto_readahead_bytes;
  Readahead readahead({.fixed_bytes = readahead_bytes});
  const IoDeadline deadline(options, table_.options_.clock);
  read_.activity = Env::IOActivity::kVerifyDBChecksum;
  read_.deadline = &deadline;
  RETURN_IF_ERROR(table_.HoldMetadata(&read_, &held_));
  BlockRead of_data = read_;
  of_data.readahead = &readahead;
  IndexCursor index(table_.IndexSource());
  RETURN_IF_ERROR(index.First(&read_));
  while (index.Valid()) {
    const BlockHandle handle = index.handle();
    ASSIGN_OR_RETURN(const auto block, table_.store_.ReadUncached(handle, &of_data));
    RETURN_IF_ERROR(CheckBlock(block.get(), handle));
    RETURN_IF_ERROR(index.Next(&read_));
  }
  Status status = CheckTotals();
  if (status.ok() && bounds_ != nullptr && entries_ > 0) status = CheckBounds();
  if (status.ok()) return status;
  return Status::CopyAppendMessage(status, " in table ", table_.path());
}

// Checks each entry, that every restart point is the begin of an entry, and that the index leads to
// this block for its first and its last key. A checksum cannot find such errors: the block may have
// been wrong when it was written.
Status TableReader::Verification::CheckBlock(DataBlock* block, const BlockHandle& handle) {
  assert(block != nullptr);
  assert(handle.offset < table_.store_.fetcher().limit());
  const BlockFetcher& fetcher = table_.store_.fetcher();
  BlockCursor cursor;
  cursor.Attach(&block->block, table_.key_format_);
  next_restart_ = 0;
  ++blocks_;
  Slice key, value;
  bool is_first = true;
  for (bool more = cursor.First(&key, &value); more; more = cursor.Next(&key, &value)) {
    Status status = CheckEntry(cursor, block->block, key);
    if (status.ok() && is_first) status = CheckIndex(key, handle);
    if (!status.ok()) return fetcher.Describe(status, kDataKind, handle);
    is_first = false;
  }
  if (cursor.error() != nullptr) return table_.DamagedBlock(cursor, handle);
  Status status;
  if (is_first) {
    status = Contradiction("a block without entries");
  } else if (next_restart_ != block->block.restart_count()) {
    status = Contradiction("a restart point that is no entry");
  } else {
    status = CheckIndex(last_key_, handle);
  }
  return status.ok() ? status : fetcher.Describe(status, kDataKind, handle);
}

// Keys must ascend strictly in the whole table, across blocks as well.
Status TableReader::Verification::CheckEntry(const BlockCursor& cursor, const Block& block,
                                             const Slice& key) {
  if (entries_ > 0 && table_.icmp_.Compare(last_key_, key) >= 0) {
    return Contradiction(
        StrCat(InternalKeyInError(key), " does not sort behind ", InternalKeyInError(last_key_)));
  }
  assert(key.size() >= kTrailerBytes);  // the cursor refuses shorter keys
  const uint32_t offset = cursor.entry_offset();
  RETURN_IF_ERROR(CheckRestart(offset, block));
  if (block.has_hash_index() && table_.uses_hash_index_) {
    const uint8_t interval = block.HashLookup(ExtractUserKey(key));
    if (interval != Block::kHashCollision && interval != block.RestartAtOrBefore(offset)) {
      return Contradiction(StrCat("the hash index misses ", InternalKeyInError(key)));
    }
  }
  RETURN_IF_ERROR(CheckFilter(key));
  if (entries_ == 0) first_key_ = key.ToString();
  last_key_.assign(key.data(), key.size());
  ++entries_;
  const uint64_t trailer = ExtractTrailer(key);
  const ValueType type = TrailerType(trailer);
  deletions_ += IsTombstone(type) && type != kTypeRangeDeletion;
  smallest_seqno_ = std::min(smallest_seqno_, TrailerSeqno(trailer));
  largest_seqno_ = std::max(largest_seqno_, TrailerSeqno(trailer));
  return Status::OK();
}

// Every restart point must be the begin of an entry.
Status TableReader::Verification::CheckRestart(uint32_t offset, const Block& block) {
  assert(next_restart_ <= block.restart_count());
  if (next_restart_ == block.restart_count()) return Status::OK();
  const uint32_t restart = block.RestartOffset(next_restart_);
  if (offset < restart) return Status::OK();
  ++next_restart_;
  return offset == restart ? Status::OK() : Contradiction("a restart point inside an entry");
}

// A filter may let absent keys through, but must never reject a key of the table.
Status TableReader::Verification::CheckFilter(const Slice& key) {
  if (!table_.filter_.CanReject()) return Status::OK();
  const LookupKey target(ExtractUserKey(key), kMaxSequenceNumber, table_.icmp_.order());
  RETURN_IF_ERROR(HoldFilterPartition(target));
  ASSIGN_OR_RETURN(const bool may_contain,
                   table_.filter_.MayContainWithoutTimestamp(
                       table_.icmp_.WithoutStamp(target.user_key), target, &read_));
  if (may_contain) return Status::OK();
  return Contradiction(StrCat("the filter rejects ", InternalKeyInError(key)));
}

Status TableReader::Verification::HoldFilterPartition(const LookupKey& key) {
  if (!table_.filter_.IsPartitioned()) return Status::OK();
  const IndexBlock& top = *table_.filter_.top();
  const size_t i = table_.filter_.PartitionFor(key);
  if (held_.Find(top, i) != nullptr) return Status::OK();
  ASSIGN_OR_RETURN(const auto partition, table_.store_.FilterPartition(top, i, &read_));
  held_.Replace(top, i, partition.get());
  return Status::OK();
}

Status TableReader::Verification::CheckIndex(const Slice& key, const BlockHandle& handle) {
  RETURN_IF_ERROR(probe_.Seek(SeekTarget(key), &read_));
  if (probe_.Valid() && probe_.handle() == handle) return Status::OK();
  return Contradiction(StrCat("the index does not lead to ", InternalKeyInError(key)));
}

// Range tombstones count as entries and as deletions, but are in a block of their own.
Status TableReader::Verification::CheckTotals() const {
  assert(deletions_ <= entries_);
  const PropertiesView& facts = table_.facts();
  const auto check = [](std::string_view what, uint64_t found, uint64_t recorded) {
    return found == recorded ? Status::OK()
                             : Contradiction(StrCat("the properties promise ", recorded, " ", what,
                                                    ", but there are ", found));
  };
  RETURN_IF_ERROR(check("entries", entries_ + facts.num_range_deletions, facts.num_entries));
  // Some writers do not record these and leave them 0.
  if (facts.num_data_blocks != 0) {
    RETURN_IF_ERROR(check("data blocks", blocks_, facts.num_data_blocks));
  }
  if (facts.num_deletions == 0) return Status::OK();
  return check("deletions", deletions_ + facts.num_range_deletions, facts.num_deletions);
}

// No entry may lie outside of the bounds that the MANIFEST records, because searches rely on them.
Status TableReader::Verification::CheckBounds() const {
  assert(bounds_ != nullptr);
  assert(entries_ > 0);
  const InternalKeyComparator& icmp = table_.icmp_;
  const auto user_key = [](const Slice& key) { return ExtractUserKey(key); };
  if (icmp.OrderWithTimestamp(user_key(first_key_), user_key(bounds_->smallest)) < 0 ||
      icmp.OrderWithTimestamp(user_key(last_key_), user_key(bounds_->largest)) > 0) {
    return Contradiction(StrCat(
        "keys from ", InternalKeyInError(first_key_), " to ", InternalKeyInError(last_key_),
        " are not inside the bounds in the MANIFEST, ", InternalKeyInError(bounds_->smallest),
        " to ", InternalKeyInError(bounds_->largest)));
  }
  if (smallest_seqno_ >= bounds_->smallest_seqno && largest_seqno_ <= bounds_->largest_seqno) {
    return Status::OK();
  }
  return Contradiction(StrCat("sequence numbers ", smallest_seqno_, " to ", largest_seqno_,
                              " are not inside the bounds in the MANIFEST, ",
                              bounds_->smallest_seqno, " to ", bounds_->largest_seqno));
}

// Keeps index and filter in memory for the length of a verification, even if the cache drops them.
// `held` outlives `read`.
Status TableReader::HoldMetadata(BlockRead* read, HeldPartitions* held) const {
  assert(read != nullptr);
  assert(!read->in_epoch);
  assert(read->held == nullptr);
  if (!index_) {
    ASSIGN_OR_RETURN(const auto index, store_.IndexPartition(*index_place_, 0, read));
    held->Add(*index_place_, 0, index.get());
  }
  if (filter_.IsCached()) {
    ASSIGN_OR_RETURN(const auto filter, store_.FilterPartition(*filter_.top(), 0, read));
    held->Add(*filter_.top(), 0, filter.get());
  }
  read->held = held;
  return Status::OK();
}

// Verifies the blocks behind the data blocks.
Status TableReader::VerifyMetaBlocks() const {
  assert(!InEpoch());
  ASSIGN_OR_RETURN(const MetaBlocks blocks, LoadMetaindex());
  for (const auto& [name, handle] : blocks) {
    const Result<LooseBlock> block = name == kPropertiesBlockName
                                         ? store_.fetcher().ReadProperties(handle)
                                         : store_.fetcher().ReadLoose(handle, name);
    if (!block.ok()) return block.status();
  }
  if (!footer_.index.IsNull()) {
    const Result<LooseBlock> block = store_.fetcher().ReadLoose(footer_.index, "index");
    if (!block.ok()) return block.status();
  }
  if (filter_.IsPartitioned()) {
    const FlatIndex& partitions = *filter_.top()->index;
    for (size_t i = 0; i < partitions.size(); ++i) {
      ASSIGN_OR_RETURN(FilterBlock * filter, store_.fetcher().ReadFilter(partitions.handle(i)));
      filter->Unref();
    }
  }
  return Status::OK();
}

}  // namespace ashlar
