// SPDX-License-Identifier: Apache-2.0
//
// Point lookups. The index leads to the first block whose separator is not before the key. The
// versions of one user key continue in the next block only if index keys carry sequence numbers.
//
// The first attempt is inside an epoch, where hits cost nothing and nothing may be read from files.
// If a block or a partition is missing, or a block became hot and should be decoded, the lookup
// leaves the epoch and is repeated with counted references.
#include "table/sst/read/table_reader.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/options.h"
#include "ashlar/slice_transform.h"
#include "table/sst/read/bare_translation.h"
#include "table/sst/read/index_cursor.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

void TraceSlot(uint64_t file_id, const BlockHandle& handle, ReadTrace* trace) {
  assert(trace != nullptr);
  trace->OnBlock({.kind = ReadTrace::BlockKind::kData,
                  .origin = ReadTrace::Origin::kSlot,
                  .file_id = file_id,
                  .offset = handle.offset,
                  .bytes = handle.size});
}

}  // namespace

// Hot: no lock, no reference count and no allocation. False if the search needs the file; the
// caller then repeats it with Get() outside of the epoch.
bool TableReader::GetInEpoch(PointLookup* lookup) const {
  assert(lookup != nullptr);
  assert(InEpoch());
  assert(!lookup->decided());
  BlockRead read;
  read.in_epoch = true;
  read.trace = lookup->trace();
  Status status = GetFiltered(lookup, &read);
  if (status.ok()) [[likely]]
    return true;
  if (status.IsIncomplete()) return false;
  lookup->Fail(std::move(status));
  return true;
}

Status TableReader::Get(const ReadOptions& options, PointLookup* lookup) const {
  assert(lookup != nullptr);
  assert(!InEpoch());
  assert(!lookup->decided());
  const IoDeadline deadline(options, options_.clock);
  BlockRead read;
  read.fill_cache = options.fill_cache;
  read.is_lookup = true;
  read.cache_only = options.read_tier == kBlockCacheTier;
  read.deadline = &deadline;
  read.trace = lookup->trace();
  read.activity = Env::IOActivity::kGet;
  return GetFiltered(lookup, &read);
}

// Range tombstones come before the filter, because the filter contains point entries only.
Result<bool> TableReader::MayContain(PointLookup* lookup, BlockRead* read) const {
  if (tombstones_ != nullptr) [[unlikely]] {
    lookup->CoverByNewest([&](SequenceNumber upper_seqno) {
      return tombstones_->MaxCoveringSeqno(lookup->key().user_key, upper_seqno);
    });
    if (lookup->trace() != nullptr) {
      TraceCover(tombstones_.get(), lookup->key(), lookup->trace());
    }
  }
  if (!filter_.CanReject()) return true;
  Result<bool> may_contain = filter_.MayContain(lookup, read);
  if (may_contain.ok() && !*may_contain) {
    ++lookup->counters.tables_probed;
    filter_.CountUseful(lookup);
  }
  return may_contain;
}

void TableReader::CountSearch(const BlockRead& read, const PointLookup::Mark& before,
                              PointLookup* lookup) const {
  assert(lookup != nullptr);
  ++lookup->counters.tables_probed;
  lookup->counters.block_hits += read.hits;
  lookup->counters.block_misses += read.misses;
  lookup->counters.block_hit_bytes += read.hit_bytes;
  if (!filter_.CanReject()) return;
  filter_.CountPositive(lookup, lookup->decided() || lookup->seqno() != before.seqno);
}

Status TableReader::GetFiltered(PointLookup* lookup, BlockRead* read) const {
  Result<bool> may_contain = MayContain(lookup, read);
  if (!may_contain.ok()) return may_contain.status();
  if (!*may_contain) return Status::OK();
  const PointLookup::Mark before = lookup->mark();
  const bool has_slots = read->in_epoch && !is_partitioned_;
  const IndexBlock* const index = has_slots ? IndexInEpoch(read) : nullptr;
  Status status =
      index != nullptr
          ? GetFromSlots(*index, index->index->Find(lookup->key().user_key, lookup->key().trailer),
                         lookup, read)
          : GetFromBlocks(lookup, read);
  if (!status.ok() && read->in_epoch && status.IsIncomplete()) {
    // The table will be searched again from its beginning, so the lookup gives back what it took
    // from it.
    lookup->GoBackTo(before);
    return status;
  }
  CountSearch(*read, before, lookup);
  return status;
}

// The filter's error is reported by the read of the table itself.
FilterAnswer TableReader::AskForKey(const ReadOptions& options, const Slice& user_key,
                                    const Slice& stored) const {
  assert(!InEpoch());
  if (!filter_.CanRejectKey(user_key)) return FilterAnswer::kUnknown;
  const IoDeadline deadline(options, options_.clock);
  BlockRead read;
  read.fill_cache = options.fill_cache;
  read.cache_only = options.read_tier == kBlockCacheTier;
  read.deadline = &deadline;
  const LookupKey key(stored, kMaxSequenceNumber, icmp_.order());
  Result<bool> may_contain = filter_.MayContainWithoutTimestamp(user_key, key, &read);
  if (!may_contain.ok()) return FilterAnswer::kUnknown;
  AddPerfCount(*may_contain ? &PerfContextBase::bloom_sst_hit_count
                            : &PerfContextBase::bloom_sst_miss_count);
  if (!filter_.has_whole_keys()) {
    RecordTick(options_.statistics, BLOOM_FILTER_PREFIX_CHECKED);
    if (!*may_contain) RecordTick(options_.statistics, BLOOM_FILTER_PREFIX_USEFUL);
  } else {
    RecordTick(options_.statistics,
               *may_contain ? BLOOM_FILTER_FULL_POSITIVE : BLOOM_FILTER_USEFUL);
  }
  return *may_contain ? FilterAnswer::kPerhaps : FilterAnswer::kAbsent;
}

void TableReader::CountKeyFound() const {
  assert(filter_.CanReject());
  RecordTick(options_.statistics, filter_.has_whole_keys() ? BLOOM_FILTER_FULL_TRUE_POSITIVE
                                                           : BLOOM_FILTER_PREFIX_TRUE_POSITIVE);
}

// A backward seek also needs earlier partitions, which are not asked, so they may hold entries with
// the prefix.
FilterAnswer TableReader::AskForPrefix(const ReadOptions& options, const PrefixSeek& seek) const {
  assert(!InEpoch());
  if (!filter_.HoldsPrefixesOf(*seek.extractor)) return FilterAnswer::kUnknown;
  if (filter_.IsPartitioned() && !seek.is_forward) return FilterAnswer::kUnknown;
  const IoDeadline deadline(options, options_.clock);
  BlockRead read;
  read.fill_cache = options.fill_cache;
  read.cache_only = options.read_tier == kBlockCacheTier;
  read.deadline = &deadline;
  const LookupKey key(ExtractUserKey(seek.internal_key),
                      TrailerSeqno(ExtractTrailer(seek.internal_key)), icmp_.order());
  Result<bool> may_contain = filter_.MayContainPrefix(seek.prefix, key, &read);
  // The read of the table itself will report the error.
  if (!may_contain.ok()) return FilterAnswer::kUnknown;
  AddPerfCount(*may_contain ? &PerfContextBase::bloom_sst_hit_count
                            : &PerfContextBase::bloom_sst_miss_count);
  RecordTick(options_.statistics, BLOOM_FILTER_PREFIX_CHECKED);
  if (*may_contain) return FilterAnswer::kPerhaps;
  RecordTick(options_.statistics, BLOOM_FILTER_PREFIX_USEFUL);
  return FilterAnswer::kAbsent;
}

void TableReader::CountPrefixFound() const {
  assert(filter_.CanReject());
  RecordTick(options_.statistics, BLOOM_FILTER_PREFIX_TRUE_POSITIVE);
}

const IndexBlock* TableReader::FindIndex(BlockRead* read) const {
  assert(InEpoch());
  assert(index_place_);
  auto found = store_.IndexPartition(*index_place_, 0, read);
  assert(found.ok());  // nothing was read, so nothing can have failed
  return found->get();
}

// Inside an epoch, with the whole index in memory. Hot: the usual end of a lookup from memory.
Status TableReader::GetFromSlots(const IndexBlock& index_block, size_t i, PointLookup* lookup,
                                 BlockRead* read) const {
  assert(lookup != nullptr);
  const FlatIndex& index = *index_block.index;
  const LookupKey& key = lookup->key();
  for (; i < index.size(); ++i) {
    store_.PrefetchStart(index_block, i);  // the heads that are searched next are there
    DataBlock* block = store_.Peek(index_block, i);
    if (block != nullptr) [[likely]] {
      ++read->hits;
      read->hit_bytes += block->MemoryBytes();
      if (read->trace != nullptr) [[unlikely]]
        TraceSlot(store_.file_id(), index.handle(i), read->trace);
    } else {
      ASSIGN_OR_RETURN(const ObjectRef<DataBlock> cached, store_.Data(index_block, i, read));
      block = cached.get();
    }
    if (block == nullptr || store_.ShouldDecode(block)) return NotInMemory();
    ObjectRef<DataBlock> held;
    Status status;
    const Search search = SearchBlock(block, index.handle(i), &held, lookup, &status);
    if (search == Search::kDamaged) return status;
    if (search == Search::kDone || !index.ContinuesBehind(i, key.user_key)) break;
  }
  return Status::OK();
}

// Through partitions, or outside of epochs. `read` says how each block is held.
Status TableReader::GetFromBlocks(PointLookup* lookup, BlockRead* read) const {
  assert(lookup != nullptr);
  const LookupKey& key = lookup->key();
  IndexCursor index(IndexSource());
  RETURN_IF_ERROR(index.Seek(SeekTarget(key.user_key, key.trailer), read));
  return GetFromCursor(&index, ObjectRef<DataBlock>(), lookup, read);
}

Status TableReader::GetFromCursor(IndexCursor* index, ObjectRef<DataBlock> held,
                                  PointLookup* lookup, BlockRead* read) const {
  assert(index != nullptr);
  assert(lookup != nullptr);
  const Slice& user_key = lookup->key().user_key;
  while (index->Valid()) {
    if (!held) {
      const uint32_t hits_before = read->hits;
      ASSIGN_OR_RETURN(held, store_.Data(index->leaf(), index->entry(), read));
      if (read->in_epoch) {
        if (!held || store_.ShouldDecode(held.get())) return NotInMemory();
      } else if (read->hits != hits_before) {
        auto decoded = store_.DecodeIfHot(index->leaf(), index->entry(), held.get());
        if (decoded) held = std::move(decoded);
      }
    }
    Status status;
    const Search search = SearchBlock(held.get(), index->handle(), &held, lookup, &status);
    if (search == Search::kDamaged) return status;
    if (search == Search::kDone || !index->ContinuesBehind(user_key)) break;
    held = ObjectRef<DataBlock>();
    RETURN_IF_ERROR(index->Next(read));
  }
  return Status::OK();
}

// How the lookup can keep an offered value alive. Short values are copied. For a long value `held`,
// the caller's reference to the block, becomes an owned one.
ValuePin TableReader::PinFor(const Slice& value, DataBlock* block, ObjectRef<DataBlock>* held) {
  assert(block != nullptr);
  if (value.size() <= PointLookup::kCopyBytes) return {};
  if (!*held) *held = ObjectRef<DataBlock>::Borrow(block);
  if (!held->Pin()) return {};
  return PinOfBlock(block);
}

TableReader::Search TableReader::SearchDecoded(DataBlock* block, ObjectRef<DataBlock>* held,
                                               PointLookup* lookup) const {
  assert(block != nullptr);
  assert(lookup != nullptr);
  assert(block->is_decoded);
  const DecodedBlock& decoded = block->decoded;
  decoded.Prefetch();
  const LookupKey& key = lookup->key();
  return OfferDecoded(decoded.LowerBound(icmp_, SeekTarget(key.user_key, key.trailer)), block, held,
                      lookup);
}

// Only with an order of the program, equal keys may have different bytes. Decoded blocks share no
// prefix then, so the rest of a key is the whole key.
void TableReader::NoteKeyOfBlob(const Slice& user_key, PointLookup* lookup) const {
  assert(lookup->decided());
  if (lookup->is_blob_index() && icmp_.order() == KeyOrder::kCustom) [[unlikely]]
    lookup->NoteStoredKey(user_key);
}

// Offers the versions of the key from entry `i` on.
TableReader::Search TableReader::OfferDecoded(size_t i, DataBlock* block,
                                              ObjectRef<DataBlock>* held,
                                              PointLookup* lookup) const {
  assert(block != nullptr);
  assert(lookup != nullptr);
  const DecodedBlock& decoded = block->decoded;
  const LookupKey& key = lookup->key();
  for (; i < decoded.count(); ++i) {
    if (!decoded.HoldsUserKey(icmp_, i, key.user_key)) return Search::kDone;
    const Slice value = decoded.Value(i);
    if (lookup->Offer(decoded.Trailer(i), value, PinFor(value, block, held))) {
      NoteKeyOfBlob(ExtractUserKey(decoded.Rest(i)), lookup);
      return Search::kDone;
    }
  }
  return Search::kAtEnd;
}

// Offers the versions of the key in this block.
TableReader::Search TableReader::SearchBlock(DataBlock* block, const BlockHandle& handle,
                                             ObjectRef<DataBlock>* held, PointLookup* lookup,
                                             Status* status) const {
  assert(block != nullptr);
  if (block->is_decoded) return SearchDecoded(block, held, lookup);
  const LookupKey& key = lookup->key();
  const SeekTarget target(key.user_key, key.trailer);
  BlockCursor cursor;
  cursor.Attach(&block->block, key_format_);
  Slice found_key, value;
  bool found = false;
  if (block->block.has_hash_index() && uses_hash_index_) {
    const uint8_t interval = block->block.HashLookup(key.user_key);
    if (interval == Block::kNoSuchKey) return Search::kAtEnd;
    found = interval == Block::kHashCollision
                ? cursor.Seek(icmp_, target, &found_key, &value)
                : cursor.SeekInInterval(icmp_, interval, target, &found_key, &value);
  } else {
    found = cursor.Seek(icmp_, target, &found_key, &value);
  }
  for (; found; found = cursor.Next(&found_key, &value)) {
    if (!icmp_.SameKey(ExtractUserKey(found_key), key.user_key)) return Search::kDone;
    const ValuePin pin = PinFor(value, block, held);
    if (lookup->Offer(ExtractTrailer(found_key), value, pin)) {
      NoteKeyOfBlob(ExtractUserKey(found_key), lookup);
      return Search::kDone;
    }
  }
  if (cursor.error() == nullptr) return Search::kAtEnd;
  *status = DamagedBlock(cursor, handle);
  return Search::kDamaged;
}

[[gnu::cold]] Status TableReader::DamagedBlock(const BlockCursor& cursor,
                                               const BlockHandle& handle) const {
  assert(cursor.error() != nullptr);
  return store_.fetcher().Describe(
      Status::Corruption(StrCat(cursor.error(), " at byte ", cursor.error_offset(),
                                "; the checksum is right, so it was written like this")),
      kDataKind, handle);
}

// The offset of the block that would contain the key. Behind the last key it is the end of the
// data.
uint64_t TableReader::ApproximateOffsetOf(const Slice& internal_key) const {
  BlockRead read;
  IndexCursor index(IndexSource());
  const Status status = index.Seek(SeekTarget(internal_key), &read);
  if (status.ok() && index.Valid()) return index.handle().offset;
  IgnoreError(status, "an estimate; a read of the index partition will report it");
  return facts_.data_size != 0 ? facts_.data_size : store_.fetcher().limit();
}

// Takes one separator of the index for about each `step` bytes of data. No data block is read.
[[gnu::cold]] Status TableReader::SampleKeys(size_t count, std::vector<KeyWeight>* weights) const {
  assert(weights != nullptr);
  assert(count > 0);
  assert(!InEpoch());
  const uint64_t step = std::max<uint64_t>(facts_.data_size / count, 1);
  BlockRead read;
  read.fill_cache = false;
  IndexCursor index(IndexSource());
  std::string buffer, key;
  uint64_t passed = 0;
  Status status = index.First(&read);
  while (status.ok() && index.Valid()) {
    passed += index.handle().size;
    const Slice separator = index.leaf().index->UserKey(index.entry(), &buffer);
    key.assign(separator.data(), separator.size());
    status = index.Next(&read);
    if (passed < step && index.Valid()) continue;
    weights->push_back({.user_key = key, .bytes = passed});
    passed = 0;
  }
  return status;
}

uint64_t TableReader::file_size() const {
  return translation_ != nullptr ? translation_->file_bytes : file_->size();
}

// ViewProperties() has checked the block at opening, so parsing it cannot fail.
[[gnu::cold]] TableProperties TableReader::properties() const {
  if (translation_ != nullptr) return translation_->properties;
  Result<TableProperties> properties =
      ParsePropertiesBlock(properties_block_.contents, properties_offset_, path());
  assert(properties.ok());
  return properties.Take();
}

[[gnu::cold]] std::string TableReader::DebugString() const {
  return StrCat("table ", path(), ", ", file_size(), " bytes, ", footer_.DebugString(), "\n  ",
                facts_.num_entries, " entries in ", facts_.num_data_blocks, " data blocks, ",
                is_partitioned_ ? "partitioned " : "",
                index_ ? index_->index->DebugString() : "index in the cache\n", "  filter ",
                filter_.DebugString(), ", ", tombstones_ == nullptr ? 0 : tombstones_->size(),
                " fragments of tombstones", ", ", MemoryUsage(), " bytes in memory\n  ",
                store_.DebugString());
}

size_t TableReader::MemoryUsage() const {
  size_t partitions = 0;
  for (const auto& partition : kept_partitions_) partitions += partition->charge;
  return BytesBesideBlocks() + (index_ ? index_->MemoryBytes() : 0) + filter_.MemoryBytes() +
         partitions + (dictionary_ ? dictionary_->MemoryBytes() : 0);
}

size_t TableReader::BytesBesideBlocks() const {
  return sizeof(*this) + properties_block_.contents.size() +
         (translation_ == nullptr ? 0 : file_->size()) +
         (tombstones_ == nullptr ? 0 : tombstones_->MemoryUsage() + tombstone_key_bytes_);
}

}  // namespace ashlar
