// SPDX-License-Identifier: Apache-2.0
//
// BlockStore gives a table's readers its blocks: from the pointer slot of the block, else from the
// cache, else from the file, after which they are in the cache. Without a cache, or if the cache
// has no room, the block belongs to the operation that read it.
//
// Inside an EpochGuard of the caller a hit counts no reference, and there are only hits: whoever
// meets a block that is not in memory leaves the epoch and asks again. Threads: const functions
// from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "ashlar/env.h"
#include "ashlar/slice.h"
#include "cache/block_cache.h"
#include "env/io_deadline.h"
#include "table/block/block_cursor.h"
#include "table/index/flat_index.h"
#include "table/iterator/read_trace.h"
#include "table/sst/read/block_fetcher.h"
#include "table/sst/read/held_partitions.h"
#include "table/sst/read/table_objects.h"
#include "util/result.h"
#include "util/threads/mutex.h"

namespace ashlar {

// How one operation reads blocks, and what it met.
struct BlockRead {
  // Inside the caller's EpochGuard: blocks are borrowed, and null if they are not in memory. Else
  // outside of any: blocks come with a reference, from the file if need be.
  bool in_epoch = false;
  bool fill_cache = true;
  bool is_lookup = false;   // of keys, one by one; else of entries in their order
  bool cache_only = false;  // a block that is not in memory is Incomplete
  Env::IOActivity activity = Env::IOActivity::kUnknown;  // that reads are a part of
  Readahead* readahead = nullptr;
  const IoDeadline* deadline = nullptr;  // null: there is time
  ReadTrace* trace = nullptr;            // null: nobody is told
  const HeldPartitions* held = nullptr;  // partitions that were read for this operation; null: none
  uint32_t hits = 0;                     // data blocks
  uint32_t misses = 0;
  uint64_t hit_bytes = 0;  // of the data blocks in memory
};

// The answer of a search inside an epoch that needs what is not in memory. Nobody sees it but the
// one who then searches outside of it.
inline Status NotInMemory() { return Status::Incomplete(); }

class BlockStore {
 public:
  struct Options {
    const RandomReader* file = nullptr;  // outlives the store
    ChecksumContext checksum;
    uint64_t limit = 0;               // no block may reach beyond
    BlockCacheView* cache = nullptr;  // null: nothing is cached; outlives the store
    // Of indexes, filters and dictionaries in the cache.
    Cache::Priority metadata_priority = Cache::Priority::HIGH;
    bool charges_kept_blocks = true;   // those that a table keeps while it is open
    Statistics* statistics = nullptr;  // null: none; outlives the store
  };
  explicit BlockStore(const Options& options)
      : fetcher_(options.file, options.checksum, options.limit, options.statistics),
        cache_(options.cache),
        statistics_(options.statistics),
        rereads_are_cheap_(options.file->IsCachedBySystem()),
        open_id_(cache_ == nullptr ? 0 : cache_->NewFileId()),
        charges_kept_blocks_(options.charges_kept_blocks && cache_ != nullptr),
        metadata_priority_(options.metadata_priority) {}

  BlockFetcher& fetcher() { return fetcher_; }
  const BlockFetcher& fetcher() const { return fetcher_; }
  BlockCacheView* cache() const { return cache_; }

  // To be set while the table is opened. `file_id` is the same at every open of the same file, so
  // that its blocks are found again; 0 if the file has no identity. Then they get a name that no
  // other open has, of any process, for a second tier may outlive this one.
  void SetFileId(uint64_t file_id);
  void SetIndexSource(const FlatIndex::Source& source) { index_source_ = source; }
  // See BlockFetcher.
  void ProtectEntries(uint8_t checksum_bytes) { fetcher_.ProtectEntries(checksum_bytes); }
  // Only for tables whose keys have sequence numbers of their own.
  // With a second tier blocks stay as they were read, so that they can be saved.
  void DecodeHotBlocks() {
    decodes_hot_blocks_ = cache_ != nullptr && cache_->UsesSlots() && !cache_->HasSecondTier();
  }
  const FlatIndex::Source& index_source() const { return index_source_; }

  // The data block of entry `i` of an index.
  Result<ObjectRef<DataBlock>> Data(const IndexBlock& index, size_t i, BlockRead* read) const {
    return Load<DataBlock>(index, i, read);
  }
  // The same in steps, for those who read several blocks at once (block_batch.h), outside of
  // epochs: the block with a reference if it is in memory, else null; what a read that may not go
  // to the file answers then; and the block from its stored bytes, verified and given to the cache.
  ObjectRef<DataBlock> FindData(const IndexBlock& index, size_t i, BlockRead* read) const;
  Status NotInCache(const BlockHandle& handle) const;
  Result<ObjectRef<DataBlock>> AdmitData(const IndexBlock& index, size_t i, const char* stored,
                                         const BlockRead& how) const;
  // Partitions of the index (kIndex) or the filter (kFilter), for those who read several at once:
  // whether it is missing, and making it of its stored bytes, for them and perhaps for the cache.
  bool WantsPartition(TableObjectKind kind, const IndexBlock& top, size_t i) const;
  Status AdmitPartition(TableObjectKind kind, const IndexBlock& top, size_t i, const char* stored,
                        bool fill_cache, HeldPartitions* held) const;
  // Each starts loading what the next reads: the slot, and the block if the slot knows it. The
  // second inside an EpochGuard.
  void PrefetchSlot(const IndexBlock& index, size_t i) const {
    if (index.slots != nullptr) index.slots->Prefetch(i);
  }
  void PrefetchData(const IndexBlock& index, size_t i) const {
    const CachedObject* const object = index.slots == nullptr ? nullptr : index.slots->Load(i);
    if (object != nullptr) static_cast<const DataBlock*>(object)->Prefetch();
  }
  // The same with what lies first in the block: entries for one who will pass them in order, of a
  // decoded block the heads for one who searches it.
  void PrefetchStart(const IndexBlock& index, size_t i) const {
    const CachedObject* const object = index.slots == nullptr ? nullptr : index.slots->Load(i);
    if (object != nullptr) static_cast<const DataBlock*>(object)->PrefetchStart();
  }
  // The block if its slot knows it, else null. Inside an EpochGuard.
  // Hot: a hit is one load, and one more of the object's touched byte.
  DataBlock* Peek(const IndexBlock& index, size_t i) const {
    if (index.slots == nullptr) return nullptr;
    auto* object = static_cast<TableObject*>(index.slots->Load(i));
    if (object == nullptr || object->kind != TableObjectKind::kData) return nullptr;
    object->Touch();
    return static_cast<DataBlock*>(object);
  }

  // To be called for each hit on a data block, outside of epochs. When that makes a block hot, it
  // is decoded and takes the place of the one that came from the file: the caller gets it, else
  // null.
  ObjectRef<DataBlock> DecodeIfHot(const IndexBlock& index, size_t i, DataBlock* block) const {
    if (block->is_decoded || !decodes_hot_blocks_ || !block->IsHotNow()) [[likely]]
      return {};
    return Decode(index, i, block);
  }
  // The same inside of one, where nothing is decoded. True: this hit makes the block hot, and
  // whoever asks again outside should decode it.
  bool ShouldDecode(DataBlock* block) const {
    return !block->is_decoded && decodes_hot_blocks_ && block->IsAlmostHot();
  }

  // A partition of the index, or of the filter, by its entry in the top level.
  Result<ObjectRef<IndexBlock>> IndexPartition(const IndexBlock& top, size_t i,
                                               BlockRead* read) const {
    return Load<IndexBlock>(top, i, read);
  }
  Result<ObjectRef<FilterBlock>> FilterPartition(const IndexBlock& top, size_t i,
                                                 BlockRead* read) const {
    return Load<FilterBlock>(top, i, read);
  }

  // A block of which a table has one, and that it does not keep: the place is an index with that
  // one entry, so that the block is asked for, found in its slot, and evicted like a partition.
  ObjectRef<IndexBlock> PlaceOf(const BlockHandle& handle) const;
  // The same of the dictionary, without which data blocks are not read from the file.
  Status SetDictionaryPlace(const BlockHandle& handle);
  // The data block of an index entry, past the cache.
  Result<ObjectRef<DataBlock>> ReadUncached(const BlockHandle& handle, BlockRead* read) const;

  // The blocks that a table keeps as long as it is open: owned, and charged to the cache.
  Result<ObjectRef<IndexBlock>> PinIndex(const BlockHandle& handle, const IndexFormat& format,
                                         std::string_view kind) const;
  Result<ObjectRef<FilterBlock>> PinFilter(const BlockHandle& handle) const;
  // May be there already, from another table reader of the same file.
  Result<ObjectRef<DictionaryBlock>> PinDictionary(const BlockHandle& handle) const;
  // One that was never given to the cache, and so has no charge, has no key of its own either: it
  // is zero, as an entry of the program's may be.
  template <typename T>
  void Unpin(const ObjectRef<T>& object) const {
    if (cache_ == nullptr || !object) return;
    if (object->charge != 0) cache_->Erase(object->key);
  }
  // Takes the blocks that the index names and that sit in its slots out of the cache.
  template <typename T>
  void ForgetBlocks(const IndexBlock& index) const;
  // Data blocks: the same through the place of the index, and through the partitions of an index,
  // as far as these are in the cache.
  void ForgetDataBlocksAt(const IndexBlock& index_place) const;
  void ForgetDataBlocksOfPartitions(const IndexBlock& top) const;
  void ForgetDataBlocksOfPartitionsAt(const IndexBlock& top_place) const;
  // Takes the partitions of the index out of the cache. Their keys are of this open alone.
  void ForgetIndexPartitions(const IndexBlock& top) const;
  void ForgetIndexPartitionsAt(const IndexBlock& top_place) const;
  // Of a file without identity, else nothing: takes all blocks out of the cache, for no other open
  // finds them.
  void ForgetOwnBlocks() const;
  template <typename T>
  void ForgetAt(const IndexBlock& place) const {
    if (cache_ != nullptr) cache_->Erase(KeyOf<T>(place.index->handle(0)));
  }
  // One line: where blocks come from, and under what names the cache has them.
  std::string DebugString() const;

 private:
  // Slot, cache, what was read beforehand, file: each only where the step before found nothing.
  // LoadTraced() also times and reports it.
  template <typename T>
  Result<ObjectRef<T>> Load(const IndexBlock& parent, size_t i, BlockRead* read) const;
  template <typename T>
  Result<ObjectRef<T>> LoadTraced(const IndexBlock& parent, size_t i, BlockRead* read) const;
  // Of the caller's `read`, or of a partition at once.
  template <typename T>
  void CountHit(const T& object, BlockRead* read) const;
  template <typename T>
  ObjectRef<T> FindInMemory(const IndexBlock& parent, size_t i, BlockRead* read) const;
  template <typename T>
  Result<ObjectRef<T>> LoadHeld(const IndexBlock& parent, size_t i, BlockRead* read) const;
  template <typename T>
  ObjectRef<T> FindOwned(const IndexBlock& parent, size_t i) const;
  // Null without a second tier, or if it does not have the block.
  template <typename T>
  T* TakeFromSecondTier(const BlockHandle& handle) const;
  template <typename T>
  Result<ObjectRef<T>> LoadFromFile(const IndexBlock& parent, size_t i, BlockRead* read) const;
  template <typename T>
  Result<ObjectRef<T>> Admit(T* object, const IndexBlock& parent, size_t i, bool fill_cache) const;
  ObjectRef<DataBlock> Decode(const IndexBlock& index, size_t i, DataBlock* block) const;
  // Set for a block that had better come decoded: who looks up keys will come back to it, and a
  // cache that has room keeps it until then. To decode it then takes a second allocation and a
  // second insertion. Where blocks leave the cache for want of room, few are decoded in vain.
  std::optional<KeyOrder> OrderToDecodeIn(const BlockHandle& handle, const BlockRead& read) const;
  template <typename T>
  T* FindCached(const IndexBlock& parent, size_t i) const;
  ObjectRef<DictionaryBlock> FindDictionary(const BlockHandle& handle) const;
  // Null if the fetcher has it, or none.
  Result<ObjectRef<DictionaryBlock>> Dictionary(const BlockRead& read) const;
  template <typename T>
  Result<T*> Read(const BlockHandle& handle, BlockRead* read) const;
  template <typename T>
  BlockKey KeyOf(const BlockHandle& handle) const {
    const bool is_index = T::kKind == TableObjectKind::kIndex;
    return {.file_id = is_index ? open_id_ : file_id_, .offset = handle.offset};
  }
  // Hands an object that was just made to the cache, and to its slot. MemoryLimit: no room there;
  // the caller keeps the only reference.
  template <typename T>
  Status Publish(T* object, const BlockHandle& handle, const IndexBlock* parent, size_t i) const;
  template <typename T>
  BlockInsertion InsertionOf(T* object, const BlockHandle& handle, const IndexBlock* parent,
                             size_t i) const;
  // What Publish() does, without counting it, and whatever the cache remembers.
  template <typename T>
  Status Insert(T* object, const BlockInsertion& insertion) const;
  Result<IndexBlock*> MakeIndex(const LooseBlock& block, const BlockHandle& handle,
                                const FlatIndex::Source& source, std::string_view kind) const;
  Result<IndexBlock*> ReadIndex(const BlockHandle& handle, const FlatIndex::Source& source,
                                std::string_view kind, const IOOptions& io = IOOptions()) const;

  // The offsets of all that was given to the cache, for ForgetOwnBlocks(): an index whose slots
  // would say so leaves the cache before what it names, and a program's cache has no slots. Written
  // by whoever has read a block from the file.
  struct OwnBlocks {
    Mutex mutex{LockRank::kLeaf};
    std::unordered_set<uint64_t> offsets GUARDED_BY(mutex);
  };

  BlockFetcher fetcher_;
  BlockCacheView* const cache_;   // null: every read goes to the file
  Statistics* const statistics_;  // null: none
  const bool rereads_are_cheap_;  // so that a full cache need not take all that is read once
  const uint64_t open_id_;        // for indexes, which hold on to the comparator of this open
  uint64_t file_id_ = 0;          // of data and filter blocks in the cache; see SetFileId()
  std::unique_ptr<OwnBlocks> own_blocks_;  // null: the file has an identity, or there is no cache
  bool decodes_hot_blocks_ = false;        // see DecodeHotBlocks()
  const bool charges_kept_blocks_;
  const Cache::Priority metadata_priority_;
  FlatIndex::Source index_source_;          // how index blocks of this table are read
  ObjectRef<IndexBlock> dictionary_place_;  // null: the fetcher has the dictionary, or none
};

}  // namespace ashlar
