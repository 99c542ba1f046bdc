// SPDX-License-Identifier: Apache-2.0
//
// How a block is found if its slot is empty: hash table of the cache, second tier, file.
//
// A block from the file is returned with an owned reference even if the cache has it now: compared
// with the read that reference costs nothing, and an iterator needs it anyway.
#include "table/sst/read/block_store.h"

#include <cassert>
#include <memory>
#include <type_traits>
#include <utility>

#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "env/file_util.h"
#include "table/sst/read/cache_counts.h"
#include "util/hash/hash.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

constexpr std::string_view kPartitionKind = "index partition";
constexpr const char* kKeptUncharged = "the table keeps it anyway, if uncharged";

// Null means that the dictionary of the fetcher is used.
const UncompressionDict* ContentsOf(const ObjectRef<DictionaryBlock>& dictionary) {
  return dictionary ? &dictionary->dictionary : nullptr;
}

ReadTrace::BlockKind KindInTrace(TableObjectKind kind) {
  switch (kind) {
    case TableObjectKind::kData:
    case TableObjectKind::kDictionary:  // part of reading a data block, which is traced already
      return ReadTrace::BlockKind::kData;
    case TableObjectKind::kIndex: return ReadTrace::BlockKind::kIndex;
    case TableObjectKind::kFilter: return ReadTrace::BlockKind::kFilter;
  }
  return ReadTrace::BlockKind::kData;
}

// True if `user_key` sorts before all keys that may be in the block of entry `i` of the index or in
// later blocks.
bool BelongsBefore(const IndexBlock& index, size_t i, const Slice& user_key,
                   const InternalKeyComparator& icmp) {
  assert(i < index.index->size());
  // The first block has no separator before it in this index, but perhaps one in the index above.
  if (i == 0) {
    return index.has_lower_bound && icmp.OrderWithTimestamp(user_key, index.lower_bound) < 0;
  }
  std::string separator;
  const int order = icmp.OrderWithTimestamp(user_key, index.index->UserKey(i - 1, &separator));
  return order < 0 || (order == 0 && !index.index->ContinuesBehind(i - 1, user_key));
}

// An intact block may still be another one than the one that entry `i` of the index means.
// Checksums from format_version 6 on include the offset; in older files, the first and last key of
// the block are compared with the separators around it.
Status CheckPlace(const DataBlock& block, const IndexBlock& index, size_t i,
                  const InternalKeyComparator& icmp) {
  assert(i < index.index->size());
  BlockCursor cursor;
  if (block.is_decoded) {
    cursor.Attach(&block.decoded);
  } else {
    cursor.Attach(&block.block, BlockKeyFormat());
  }
  Slice key, value;
  if (cursor.First(&key, &value) && BelongsBefore(index, i, ExtractUserKey(key), icmp)) {
    return Status::Corruption("its first key belongs into an earlier block");
  }
  std::string separator;
  if (cursor.Last(&key, &value) &&
      icmp.OrderWithTimestamp(ExtractUserKey(key), index.index->UserKey(i, &separator)) > 0) {
    return Status::Corruption("its last key belongs into a later block");
  }
  return Status::OK();  // the reader of the entries will report other damage
}

}  // namespace

// Looks into memory first. An empty reference without an error means that the block is not in
// memory and that the read may not use the file.
template <typename T>
Result<ObjectRef<T>> BlockStore::Load(const IndexBlock& parent, size_t i, BlockRead* read) const {
  assert(read != nullptr);
  if (read->trace != nullptr) [[unlikely]]
    return LoadTraced<T>(parent, i, read);
  // In an epoch nothing may be read from a file, so the caller must leave it and call again.
  ObjectRef<T> cached = FindInMemory<T>(parent, i, read);
  if (cached || read->in_epoch) return cached;
  return LoadHeld<T>(parent, i, read);
}

template <typename T>
Result<ObjectRef<T>> BlockStore::LoadHeld(const IndexBlock& parent, size_t i,
                                          BlockRead* read) const {
  assert(read != nullptr);
  assert(!read->in_epoch);
  TableObject* const held = read->held == nullptr ? nullptr : read->held->Find(parent, i);
  if (held == nullptr || held->kind != T::kKind) return LoadFromFile<T>(parent, i, read);
  // The partition is held by the batch of reads, which may end before the caller does.
  held->Ref();
  return ObjectRef<T>::Own(static_cast<T*>(held));
}

template <typename T>
[[gnu::cold]] Result<ObjectRef<T>> BlockStore::LoadTraced(const IndexBlock& parent, size_t i,
                                                          BlockRead* read) const {
  using Origin = ReadTrace::Origin;
  SystemClock* const clock = SystemClock::Default().get();
  const uint64_t start_nanos = clock->NowNanos();
  // Looked at before the search, which may fill the slot.
  const bool has_slot = parent.slots != nullptr && parent.slots->Load(i) != nullptr;
  ObjectRef<T> cached = FindInMemory<T>(parent, i, read);
  assert(read->trace != nullptr);
  const Origin origin = !cached ? Origin::kFile : has_slot ? Origin::kSlot : Origin::kCache;
  if (!cached) {
    if (read->in_epoch) return cached;
    ASSIGN_OR_RETURN(cached, LoadHeld<T>(parent, i, read));
  }
  const BlockHandle handle = parent.index->handle(i);
  read->trace->OnBlock({.kind = KindInTrace(T::kKind),
                        .origin = origin,
                        .file_id = KeyOf<T>(handle).file_id,
                        .offset = handle.offset,
                        .bytes = handle.size,
                        .nanos = clock->NowNanos() - start_nanos});
  return cached;
}

// Inside an epoch the object is borrowed, which costs no reference count. Outside of one the result
// owns a reference.
template <typename T>
ObjectRef<T> BlockStore::FindInMemory(const IndexBlock& parent, size_t i, BlockRead* read) const {
  assert(read != nullptr);
  auto cached =
      read->in_epoch ? ObjectRef<T>::Borrow(FindCached<T>(parent, i)) : FindOwned<T>(parent, i);
  if (cached) CountHit(*cached, read);
  return cached;
}

template <typename T>
void BlockStore::CountHit(const T& object, BlockRead* read) const {
  const size_t bytes = object.MemoryBytes();
  // Data blocks are counted in the operation; other blocks are rare and are counted at once.
  if constexpr (std::is_same_v<T, DataBlock>) {
    ++read->hits;
    read->hit_bytes += bytes;
  } else {
    CountMetadataHit<T::kKind>(bytes, statistics_);
  }
}

// The cached block with a reference of the caller's own, or null.
template <typename T>
ObjectRef<T> BlockStore::FindOwned(const IndexBlock& parent, size_t i) const {
  if (cache_ == nullptr) return {};
  if (!cache_->UsesSlots()) {
    // A foreign cache takes references; the built-in one protects readers by the epoch.
    CachedObject* const object = cache_->LookupRef(KeyOf<T>(parent.index->handle(i)), T::kRole);
    if (object == nullptr) return {};
    if (static_cast<TableObject*>(object)->kind == T::kKind) {
      return ObjectRef<T>::Own(static_cast<T*>(object));
    }
    object->Unref();
    return {};
  }
  const EpochGuard guard;
  auto cached = ObjectRef<T>::Borrow(FindCached<T>(parent, i));
  // The pin can fail if the object is being evicted; then it counts as not found.
  return cached && cached.Pin() ? std::move(cached) : ObjectRef<T>();
}

template <typename T>
Result<ObjectRef<T>> BlockStore::LoadFromFile(const IndexBlock& parent, size_t i,
                                              BlockRead* read) const {
  assert(!InEpoch());
  if constexpr (std::is_same_v<T, DataBlock>) {
    ++read->misses;
  } else {
    CountMiss(T::kKind, statistics_);
  }
  const BlockHandle handle = parent.index->handle(i);
  if (T* const saved = TakeFromSecondTier<T>(handle, read->fill_cache)) {
    return AdmitSaved(saved, parent, i, read->fill_cache);
  }
  if (read->cache_only) return NotInCache(handle);
  ASSIGN_OR_RETURN(T * object, Read<T>(handle, read));
  return Admit(object, parent, i, read->fill_cache);
}

// Null unless the block cache has a second tier, and that has the block.
template <typename T>
T* BlockStore::TakeFromSecondTier(const BlockHandle& handle, bool fill_cache) const {
  if (cache_ == nullptr || !cache_->HasSecondTier()) [[likely]]
    return nullptr;
  // A parsed index is not saved.
  if constexpr (std::is_same_v<T, IndexBlock>) return nullptr;
  CachedObject* const object =
      cache_->TakeFromSecondTier(KeyOf<T>(handle), T::kRole, statistics_, fill_cache);
  if (object == nullptr) return nullptr;
  if (static_cast<TableObject*>(object)->kind == T::kKind) return static_cast<T*>(object);
  object->Unref();
  return nullptr;
}

template <typename T>
Result<ObjectRef<T>> BlockStore::AdmitSaved(T* saved, const IndexBlock& parent, size_t i,
                                            bool fill_cache) const {
  saved->Ref();
  const auto kept = ObjectRef<T>::Own(saved);
  auto admitted = Admit(saved, parent, i, fill_cache);
  if (admitted.status().IsMemoryLimit()) {
    cache_->PutIntoSecondTier(KeyOf<T>(parent.index->handle(i)), saved, T::kRole);
  }
  return admitted;
}

Status BlockStore::NotInCache(const BlockHandle& handle) const {
  return Status::Incomplete(StrCat("block not in memory: ", fetcher_.path(), ", offset ",
                                   handle.offset, "; a read without kBlockCacheTier loads it"));
}

ObjectRef<DataBlock> BlockStore::FindData(const IndexBlock& index, size_t i,
                                          BlockRead* read) const {
  assert(read != nullptr);
  assert(!read->in_epoch);
  ObjectRef<DataBlock> found = FindOwned<DataBlock>(index, i);
  if (found) {
    CountHit(*found, read);
    return found;
  }
  ++read->misses;
  if (auto* const saved = TakeFromSecondTier<DataBlock>(index.index->handle(i), read->fill_cache)) {
    auto admitted = AdmitSaved(saved, index, i, read->fill_cache);
    // Otherwise the read from the file will meet the same error.
    if (admitted.ok()) found = admitted.Take();
  }
  return found;
}

Result<ObjectRef<DataBlock>> BlockStore::AdmitData(const IndexBlock& index, size_t i,
                                                   const char* stored, const BlockRead& how) const {
  assert(!InEpoch());
  const BlockHandle handle = index.index->handle(i);
  assert(stored != nullptr);
  ASSIGN_OR_RETURN(const auto dictionary, Dictionary(how));
  ASSIGN_OR_RETURN(DataBlock * block,
                   fetcher_.ParseData(handle, stored,
                                      {.dictionary = ContentsOf(dictionary),
                                       .decode_in = OrderToDecodeIn(handle, how)}));
  return Admit(block, index, i, how.fill_cache);
}

std::optional<KeyOrder> BlockStore::OrderToDecodeIn(const BlockHandle& handle,
                                                    const BlockRead& read) const {
  // Decoding costs time once and makes every later search of the block faster, so it is done only
  // for blocks that will stay in the cache.
  if (!read.is_lookup || !read.fill_cache || !decodes_hot_blocks_) return std::nullopt;
  if (!cache_->HasRoom(KeyOf<DataBlock>(handle))) return std::nullopt;
  return index_source_.comparator->order();
}

bool BlockStore::WantsPartition(TableObjectKind kind, const IndexBlock& top, size_t i) const {
  assert(kind != TableObjectKind::kData);
  return kind == TableObjectKind::kFilter ? !FindOwned<FilterBlock>(top, i)
                                          : !FindOwned<IndexBlock>(top, i);
}

Status BlockStore::AdmitPartition(TableObjectKind kind, const IndexBlock& top, size_t i,
                                  const char* stored, bool fill_cache, HeldPartitions* held) const {
  assert(!InEpoch());
  assert(i < top.index->size());
  assert(held != nullptr);
  assert(stored != nullptr);
  const BlockHandle handle = top.index->handle(i);
  if (kind == TableObjectKind::kFilter) {
    ASSIGN_OR_RETURN(FilterBlock * filter, fetcher_.ParseFilter(handle, stored));
    ASSIGN_OR_RETURN(const ObjectRef<FilterBlock> admitted, Admit(filter, top, i, fill_cache));
    held->Add(top, i, admitted.get());
    return Status::OK();
  }
  ASSIGN_OR_RETURN(const LooseBlock block, fetcher_.ParseLoose(handle, kPartitionKind, stored));
  ASSIGN_OR_RETURN(IndexBlock * index, MakeIndex(block, handle, index_source_, kPartitionKind));
  ASSIGN_OR_RETURN(const ObjectRef<IndexBlock> admitted, Admit(index, top, i, fill_cache));
  held->Add(top, i, admitted.get());
  return Status::OK();
}

// Every object that was just made goes through here. Takes over the caller's reference.
template <typename T>
Result<ObjectRef<T>> BlockStore::Admit(T* object, const IndexBlock& parent, size_t i,
                                       bool fill_cache) const {
  const BlockHandle handle = parent.index->handle(i);
  assert(object != nullptr);
  if constexpr (std::is_same_v<T, DataBlock>) {
    if (!fetcher_.KnowsPlaces()) {
      Status status = CheckPlace(*object, parent, i, *index_source_.comparator);
      if (!status.ok()) {
        object->Unref();
        return fetcher_.Describe(status, "data block", handle);
      }
    }
  }
  if constexpr (std::is_same_v<T, IndexBlock>) {
    // The index entries have a bound below only if a partition precedes them.
    object->has_lower_bound = i > 0;
    if (i > 0) (void)parent.index->UserKey(i - 1, &object->lower_bound);
  }
  auto admitted = ObjectRef<T>::Own(object);
  // With a strict capacity limit, the program wants an error if the cache is full.
  if (fill_cache && cache_ != nullptr) RETURN_IF_ERROR(Publish(object, handle, &parent, i));
  return admitted;
}

// Must be called inside an EpochGuard.
template <typename T>
T* BlockStore::FindCached(const IndexBlock& parent, size_t i) const {
  assert(i < parent.index->size());
  if (cache_ == nullptr) return nullptr;
  CachedObject* object = nullptr;
  if (parent.slots != nullptr) object = parent.slots->Load(i);
  if (object != nullptr) {
    // The entry is marked as used without a lock; the clock of the cache looks at the mark later.
    object->Touch();
  } else {
    // The lookup fills the slot, so the next read finds the block without the hash table.
    const BlockKey key = KeyOf<T>(parent.index->handle(i));
    object = parent.slots == nullptr ? cache_->Lookup(key)
                                     : cache_->Lookup(key, parent.slots, static_cast<uint32_t>(i));
  }
  if (object == nullptr || static_cast<TableObject*>(object)->kind != T::kKind) return nullptr;
  return static_cast<T*>(object);
}

// Reads and decodes a block of the kind T from the file. The caller gets the only reference. A data
// block may need the dictionary, which is found or read first.
template <typename T>
Result<T*> BlockStore::Read(const BlockHandle& handle, BlockRead* read) const {
  assert(read != nullptr);
  IOOptions io;
  io.io_activity = read->activity;
  // The time limit of the read becomes the one of this call.
  if (read->deadline != nullptr) RETURN_IF_ERROR(read->deadline->Prepare(&io));
  if constexpr (std::is_same_v<T, DataBlock>) {
    ASSIGN_OR_RETURN(const auto dictionary, Dictionary(*read));
    return fetcher_.ReadData(
        handle, read->readahead, io,
        {.dictionary = ContentsOf(dictionary), .decode_in = OrderToDecodeIn(handle, *read)});
  } else if constexpr (std::is_same_v<T, FilterBlock>) {
    return fetcher_.ReadFilter(handle, io);
  } else if constexpr (std::is_same_v<T, DictionaryBlock>) {
    ASSIGN_OR_RETURN(const LooseBlock block, fetcher_.ReadLoose(handle, kDictionaryKind, io));
    return new DictionaryBlock(block.contents);
  } else {
    return ReadIndex(handle, index_source_, kPartitionKind, io);
  }
}

// The block in stored form stays valid for its other users.
ObjectRef<DataBlock> BlockStore::Decode(const IndexBlock& index, size_t i, DataBlock* block) const {
  assert(block != nullptr);
  assert(!block->is_decoded);
  assert(decodes_hot_blocks_);
  auto decoded =
      ObjectRef<DataBlock>::Own(DataBlock::Decode(block->block, index_source_.comparator->order()));
  if (!decoded) return {};
  // Not counted, because statistics count only blocks that were read into the cache.
  const BlockInsertion insertion = InsertionOf(decoded.get(), index.index->handle(i), &index, i);
  // If the cache refuses the decoded block, the one in stored form is used further.
  if (!Insert(decoded.get(), insertion).ok()) return {};
  decoded->Touch();  // it is as hot as the block that it replaces
  return decoded;
}

// Inserts the object into the cache and, if there is one, into the slot of its parent. If blocks
// can be read again cheaply, the cache may decide not to take this one.
template <typename T>
Status BlockStore::Publish(T* object, const BlockHandle& handle, const IndexBlock* parent,
                           size_t i) const {
  const BlockInsertion insertion = InsertionOf(object, handle, parent, i);
  if (std::is_same_v<T, DataBlock> && rereads_are_cheap_ && cache_->PassBy(insertion)) {
    return Status::OK();
  }
  Status status = Insert(object, insertion);
  CountInsertion(object->kind, insertion.charge, status.ok(), statistics_);
  return status;
}

template <typename T>
BlockInsertion BlockStore::InsertionOf(T* object, const BlockHandle& handle,
                                       const IndexBlock* parent, size_t i) const {
  assert(object != nullptr);
  BlockInsertion insertion;
  assert(parent == nullptr || i < parent->index->size());
  insertion.key = KeyOf<T>(handle);
  insertion.object = object;
  insertion.charge = object->MemoryBytes();
  insertion.role = T::kRole;
  insertion.priority = std::is_same_v<T, DataBlock> ? Cache::Priority::LOW : metadata_priority_;
  insertion.table = parent == nullptr ? nullptr : parent->slots;
  insertion.slot_index = static_cast<uint32_t>(i);
  return insertion;
}

// Adds the cache's own reference. `parent` may be null: the object then has no slot.
template <typename T>
Status BlockStore::Insert(T* object, const BlockInsertion& insertion) const {
  assert(object != nullptr);
  assert(cache_ != nullptr);
  assert(object->shard == nullptr);  // not in any cache yet
  if (own_blocks_ != nullptr) [[unlikely]] {
    MutexLock lock(&own_blocks_->mutex);
    own_blocks_->offsets.insert(insertion.key.offset);
  }
  object->Ref();
  Status status = cache_->Insert(insertion);
  // The cache has not taken the block, so its reference is given back.
  if (!status.ok()) object->Unref();
  return status;
}

Result<IndexBlock*> BlockStore::ReadIndex(const BlockHandle& handle,
                                          const FlatIndex::Source& source, std::string_view kind,
                                          const IOOptions& io) const {
  ASSIGN_OR_RETURN(const LooseBlock block, fetcher_.ReadLoose(handle, kind, io));
  return MakeIndex(block, handle, source, kind);
}

// Slots are pointers to cached blocks, one for each entry of the index. Only the built-in cache
// maintains them.
Result<IndexBlock*> BlockStore::MakeIndex(const LooseBlock& block, const BlockHandle& handle,
                                          const FlatIndex::Source& source,
                                          std::string_view kind) const {
  Result<std::unique_ptr<FlatIndex>> index = FlatIndex::Parse(block.contents, source);
  if (!index.ok()) return fetcher_.Describe(index.status(), kind, handle);
  const bool with_slots = cache_ != nullptr && cache_->UsesSlots();
  return new IndexBlock(index.Take(), with_slots);
}

Result<ObjectRef<IndexBlock>> BlockStore::PinIndex(const BlockHandle& handle,
                                                   const IndexFormat& format,
                                                   std::string_view kind) const {
  FlatIndex::Source source = index_source_;
  source.format = format;
  ASSIGN_OR_RETURN(IndexBlock * index, ReadIndex(handle, source, kind));
  if (charges_kept_blocks_) {
    CountMiss(TableObjectKind::kIndex, statistics_);
    // A failure to charge the memory does not keep the table from being opened.
    IgnoreError(Publish(index, handle, nullptr, 0), kKeptUncharged);
  }
  return ObjectRef<IndexBlock>::Own(index);
}

Result<ObjectRef<FilterBlock>> BlockStore::PinFilter(const BlockHandle& handle) const {
  ASSIGN_OR_RETURN(FilterBlock * filter, fetcher_.ReadFilter(handle));
  if (charges_kept_blocks_) {
    CountMiss(TableObjectKind::kFilter, statistics_);
    IgnoreError(Publish(filter, handle, nullptr, 0), kKeptUncharged);
  }
  return ObjectRef<FilterBlock>::Own(filter);
}

ObjectRef<DictionaryBlock> BlockStore::FindDictionary(const BlockHandle& handle) const {
  if (cache_ == nullptr) return {};
  CachedObject* const object =
      cache_->LookupRef(KeyOf<DictionaryBlock>(handle), DictionaryBlock::kRole);
  if (object == nullptr) return {};
  // The kind is checked, because a damaged file may refer to the same offset as another kind of
  // block.
  if (static_cast<TableObject*>(object)->kind == TableObjectKind::kDictionary) {
    return ObjectRef<DictionaryBlock>::Own(static_cast<DictionaryBlock*>(object));
  }
  object->Unref();
  return {};
}

// The table keeps the dictionary while it is open. Publishing it in the cache only charges its
// memory, so that a failure of that is no reason to fail.
Result<ObjectRef<DictionaryBlock>> BlockStore::PinDictionary(const BlockHandle& handle) const {
  if (ObjectRef<DictionaryBlock> found = FindDictionary(handle)) {
    CountMetadataHit<TableObjectKind::kDictionary>(found->MemoryBytes(), statistics_);
    return found;
  }
  ASSIGN_OR_RETURN(const LooseBlock block, fetcher_.ReadLoose(handle, kDictionaryKind));
  auto dictionary = ObjectRef<DictionaryBlock>::Own(new DictionaryBlock(block.contents));
  if (charges_kept_blocks_) {
    CountMiss(TableObjectKind::kDictionary, statistics_);
    IgnoreError(Publish(dictionary.get(), handle, nullptr, 0), kKeptUncharged);
  }
  return dictionary;
}

ObjectRef<IndexBlock> BlockStore::PlaceOf(const BlockHandle& handle) const {
  // An index with one entry, so that blocks without an index above them have a slot too.
  assert(cache_ != nullptr);  // without a cache every use would read the block from the file
  return ObjectRef<IndexBlock>::Own(
      new IndexBlock(FlatIndex::OfOne(handle, index_source_), cache_->UsesSlots()));
}

Status BlockStore::SetDictionaryPlace(const BlockHandle& handle) {
  assert(!dictionary_place_);
  dictionary_place_ = PlaceOf(handle);
  return Dictionary(BlockRead()).status();
}

Result<ObjectRef<DictionaryBlock>> BlockStore::Dictionary(const BlockRead& read) const {
  if (!dictionary_place_) [[likely]]
    return ObjectRef<DictionaryBlock>();
  // The caller is about to read a data block from the file.
  assert(!read.in_epoch);
  assert(!read.cache_only);
  BlockRead own;
  own.fill_cache = read.fill_cache;
  own.activity = read.activity;
  own.deadline = read.deadline;
  assert(dictionary_place_->index->size() == 1);
  return Load<DictionaryBlock>(*dictionary_place_, 0, &own);
}

Result<ObjectRef<DataBlock>> BlockStore::ReadUncached(const BlockHandle& handle,
                                                      BlockRead* read) const {
  ASSIGN_OR_RETURN(DataBlock * block, Read<DataBlock>(handle, read));
  return ObjectRef<DataBlock>::Own(block);
}

void BlockStore::SetFileId(uint64_t file_id) {
  // Without an id of the file its blocks get an id of this opening, and are removed when it is
  // closed.
  file_id_ = file_id != 0 ? file_id : HashBytes(NewUniqueId());
  if (file_id == 0 && cache_ != nullptr) own_blocks_ = std::make_unique<OwnBlocks>();
}

// Removes the blocks from the cache whose keys no other open of the file can use.
void BlockStore::ForgetOwnBlocks() const {
  assert(cache_ != nullptr || own_blocks_ == nullptr);
  if (own_blocks_ == nullptr) return;
  std::unordered_set<uint64_t> offsets;
  {
    MutexLock lock(&own_blocks_->mutex);
    // Swapped out, because erasing takes the locks of the cache.
    offsets.swap(own_blocks_->offsets);
  }
  for (const uint64_t offset : offsets) {
    cache_->Erase({.file_id = file_id_, .offset = offset});
    cache_->Erase({.file_id = open_id_, .offset = offset});
  }
}

template <typename T>
void BlockStore::ForgetBlocks(const IndexBlock& index) const {
  if (cache_ == nullptr || index.slots == nullptr) return;
  for (size_t i = 0; i < index.index->size(); ++i) {
    // An empty slot means that the block is not in the cache.
    if ((*index.slots)[i].load(std::memory_order_acquire) == nullptr) continue;
    cache_->Erase(KeyOf<T>(index.index->handle(i)));
  }
}
template void BlockStore::ForgetBlocks<DataBlock>(const IndexBlock& index) const;
template void BlockStore::ForgetBlocks<FilterBlock>(const IndexBlock& index) const;

void BlockStore::ForgetDataBlocksOfPartitions(const IndexBlock& top) const {
  if (cache_ == nullptr || top.slots == nullptr) return;
  for (size_t i = 0; i < top.index->size(); ++i) {
    const ObjectRef<IndexBlock> partition = FindOwned<IndexBlock>(top, i);
    // A partition that is not in memory is not read for this: its blocks are most likely not cached
    // either.
    if (partition) ForgetBlocks<DataBlock>(*partition);
  }
}

// Without slots all partitions must be erased, because it is not known which of them are cached.
void BlockStore::ForgetIndexPartitions(const IndexBlock& top) const {
  if (cache_ == nullptr) return;
  for (size_t i = 0; i < top.index->size(); ++i) {
    const bool is_absent =
        top.slots != nullptr && (*top.slots)[i].load(std::memory_order_acquire) == nullptr;
    if (!is_absent) cache_->Erase(KeyOf<IndexBlock>(top.index->handle(i)));
  }
}

template Result<ObjectRef<DataBlock>> BlockStore::Load(const IndexBlock&, size_t, BlockRead*) const;
template Result<ObjectRef<IndexBlock>> BlockStore::Load(const IndexBlock&, size_t,
                                                        BlockRead*) const;
template Result<ObjectRef<FilterBlock>> BlockStore::Load(const IndexBlock&, size_t,
                                                         BlockRead*) const;

[[gnu::cold]] std::string BlockStore::DebugString() const {
  const std::string text = StrCat("blocks of ", fetcher_.path(), " before ", fetcher_.limit());
  if (cache_ == nullptr) return text + ", not cached\n";
  return StrCat(text, ", cached as ", Hex(file_id_), ", indexes as ", Hex(open_id_),
                decodes_hot_blocks_ ? ", hot ones decoded\n" : "\n");
}

}  // namespace ashlar
