// SPDX-License-Identifier: Apache-2.0
//
// Lookups in tables of families with timestamps. The index leads to the first block that may have
// the newest version that the reader sees. Blocks and index may end between two versions of a key.
//
// As in table_reader.cc, the first attempt is inside an epoch. A version that was offered but not
// taken leaves no trace in the lookup, so a search that lacks a block can simply be repeated.
#include <cassert>
#include <utility>

#include "ashlar/options.h"
#include "table/iterator/stamped_lookup.h"
#include "table/sst/read/index_cursor.h"
#include "table/sst/read/table_reader.h"

namespace ashlar {

// Hot: no lock, no reference count and no allocation. After any failure the table is searched again
// outside of the epoch, where errors are reported.
bool TableReader::GetStampedInEpoch(StampedLookup* lookup) const {
  assert(InEpoch());
  BlockRead read;
  read.in_epoch = true;
  return GetStampedFiltered(lookup, &read).ok();
}

Status TableReader::GetStamped(const ReadOptions& options, StampedLookup* lookup) const {
  assert(!InEpoch());
  const IoDeadline deadline(options, options_.clock);
  BlockRead read;
  read.fill_cache = options.fill_cache;
  read.is_lookup = true;
  read.cache_only = options.read_tier == kBlockCacheTier;
  read.deadline = &deadline;
  read.activity = Env::IOActivity::kGet;
  return GetStampedFiltered(lookup, &read);
}

Status TableReader::GetStampedFiltered(StampedLookup* lookup, BlockRead* read) const {
  assert(lookup != nullptr);
  assert(tombstones_ == nullptr);
  Result<bool> may_contain = MayContainStamped(lookup, read);
  if (!may_contain.ok() && read->in_epoch) return may_contain.status();
  PointLookup* const asked = lookup->asked();
  if (may_contain.ok() && !*may_contain) {
    ++asked->counters.tables_probed;
    filter_.CountUseful(asked);
    return Status::OK();
  }
  const uint32_t offered_before = lookup->offered_count();
  RETURN_IF_ERROR(GetStampedFromBlocks(lookup, read));
  ++asked->counters.tables_probed;
  asked->counters.block_hits += read->hits;
  asked->counters.block_misses += read->misses;
  asked->counters.block_hit_bytes += read->hit_bytes;
  if (filter_.CanReject() && may_contain.ok()) {
    filter_.CountPositive(asked, lookup->offered_count() != offered_before);
  }
  return Status::OK();
}

// Filters contain keys without timestamps, but a partition is found by the stored key. An error of
// the filter is not reported: the read of the table itself meets it too, or needs no filter.
Result<bool> TableReader::MayContainStamped(StampedLookup* lookup, BlockRead* read) const {
  if (!filter_.CanReject()) return true;
  if (!filter_.IsPartitioned()) [[likely]]
    return filter_.MayContain(lookup->asked(), read);
  return filter_.MayContainWithoutTimestamp(lookup->asked()->key().user_key, lookup->key(), read);
}

Status TableReader::GetStampedFromBlocks(StampedLookup* lookup, BlockRead* read) const {
  assert(lookup != nullptr);
  const LookupKey& key = lookup->key();
  IndexCursor index(IndexSource());
  RETURN_IF_ERROR(index.Seek(SeekTarget(key.user_key, key.trailer), read));
  while (index.Valid()) {
    ObjectRef<DataBlock> held;
    ASSIGN_OR_RETURN(DataBlock* const block, StampedBlock(index, read, &held));
    ASSIGN_OR_RETURN(const bool is_over, SearchStampedBlock(block, index.handle(), &held, lookup));
    if (is_over || !index.StampsContinueBehind(key.user_key)) break;
    RETURN_IF_ERROR(index.Next(read));
  }
  return Status::OK();
}

// The block of the cursor's entry. `held` gets a reference where one is needed.
Result<DataBlock*> TableReader::StampedBlock(const IndexCursor& index, BlockRead* read,
                                             ObjectRef<DataBlock>* held) const {
  if (!read->in_epoch) {
    const uint32_t hits_before = read->hits;
    ASSIGN_OR_RETURN(*held, store_.Data(index.leaf(), index.entry(), read));
    if (read->hits != hits_before) {
      auto decoded = store_.DecodeIfHot(index.leaf(), index.entry(), held->get());
      if (decoded) *held = std::move(decoded);
    }
    return held->get();
  }
  DataBlock* block = store_.Peek(index.leaf(), index.entry());
  if (block != nullptr) [[likely]] {
    ++read->hits;
    read->hit_bytes += block->MemoryBytes();
  } else {
    ASSIGN_OR_RETURN(*held, store_.Data(index.leaf(), index.entry(), read));
    block = held->get();
  }
  if (block == nullptr || store_.ShouldDecode(block)) return NotInMemory();
  return block;
}

// Offers the versions of the key in one block. False if the next block may have more of them.
Result<bool> TableReader::SearchStampedBlock(DataBlock* block, const BlockHandle& handle,
                                             ObjectRef<DataBlock>* held,
                                             StampedLookup* lookup) const {
  assert(block != nullptr);
  const LookupKey& key = lookup->key();
  BlockCursor cursor;
  if (block->is_decoded) {
    cursor.Attach(&block->decoded);
  } else {
    cursor.Attach(&block->block, key_format_);
  }
  Slice found_key, value;
  bool found = cursor.Seek(icmp_, SeekTarget(key.user_key, key.trailer), &found_key, &value);
  for (; found; found = cursor.Next(&found_key, &value)) {
    if (!icmp_.SameKey(ExtractUserKey(found_key), key.user_key)) return true;
    if (lookup->Offer(found_key, value, PinFor(value, block, held))) return true;
  }
  if (cursor.error() != nullptr) return DamagedBlock(cursor, handle);
  return false;
}

}  // namespace ashlar
