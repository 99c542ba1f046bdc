// SPDX-License-Identifier: Apache-2.0
//
// BlockStore finds the blocks of one table for its readers: first in the pointer slot of the block,
// then in the cache, then in the file. A block from the file is put into the cache. Without a
// cache, or if the cache has no room, the block belongs to the operation that read it.
//
// Inside an EpochGuard of the caller a hit takes no reference and nothing is read from files: if a
// block is not in memory, the caller leaves the epoch and asks again. Threads: const functions from
// any thread.
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

// How one operation reads blocks, and the counters of what it found.
struct BlockRead {
  // True: inside the caller's EpochGuard; blocks are borrowed, and null if they are not in memory.
  // False: outside of any EpochGuard; blocks come with a reference, from the file if necessary.
  bool in_epoch = false;
  bool fill_cache = true;
  bool is_lookup = false;   // of single keys; false: entries are read in order
  bool cache_only = false;  // a block that is not in memory gives Incomplete
  Env::IOActivity activity = Env::IOActivity::kUnknown;  // the operation for which files are read
  Readahead* readahead = nullptr;
  const IoDeadline* deadline = nullptr;  // null: no deadline
  ReadTrace* trace = nullptr;            // null: no trace
  const HeldPartitions* held = nullptr;  // partitions read for this operation; null: none
  uint32_t hits = 0;                     // data blocks found in memory
  uint32_t misses = 0;                   // data blocks not found in memory
  uint64_t hit_bytes = 0;                // memory of the data blocks found
};

// The status of a search inside an epoch that needs a block which is not in memory. It never
// reaches the user: the caller searches again outside of the epoch.
inline Status NotInMemory() { return Status::Incomplete(); }

class BlockStore {
 public:
  // Where the blocks of a table come from.
  struct Options {
    const RandomReader* file = nullptr;  // outlives the store
    ChecksumContext checksum;
    uint64_t limit = 0;               // no block may reach beyond this offset
    BlockCacheView* cache = nullptr;  // null: nothing is cached; outlives the store
    // The priority in the cache of indexes, filters and dictionaries.
    Cache::Priority metadata_priority = Cache::Priority::HIGH;
    // Blocks that the table keeps while it is open are charged to the cache.
    bool charges_kept_blocks = true;
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

  // Called while the table is opened. `file_id` is the first part of the cache keys. It must be the
  // same at every open of the same file, so that cached blocks are found again. 0: the file has no
  // identity; its blocks then get an id that no other open of any process has, because the second
  // tier may outlive this process.
  void SetFileId(uint64_t file_id);
  uint64_t file_id() const { return file_id_; }
  // The source for parsing index blocks; set while the table is opened.
  void SetIndexSource(const FlatIndex::Source& source) { index_source_ = source; }
  // See BlockFetcher::ProtectEntries().
  void ProtectEntries(uint8_t checksum_bytes) { fetcher_.ProtectEntries(checksum_bytes); }
  // Data blocks that are used often are decoded from now on. Only for tables whose keys have
  // sequence numbers of their own. With a second tier blocks are not decoded, because only blocks
  // in their stored form can be saved there.
  void DecodeHotBlocks() {
    decodes_hot_blocks_ = cache_ != nullptr && cache_->UsesSlots() && !cache_->HasSecondTier();
  }
  const FlatIndex::Source& index_source() const { return index_source_; }

  // Finds or reads the data block of entry `i` of an index. Inside an epoch null if it is not in
  // memory.
  Result<ObjectRef<DataBlock>> Data(const IndexBlock& index, size_t i, BlockRead* read) const {
    return Load<DataBlock>(index, i, read);
  }
  // The same in steps, outside of epochs, for callers that read several blocks together
  // (block_batch.h). FindData() returns the block with a reference if it is in memory, else null.
  // NotInCache() is the error of a read that may not go to the file. AdmitData() makes the block
  // from its stored bytes, verifies it and gives it to the cache.
  ObjectRef<DataBlock> FindData(const IndexBlock& index, size_t i, BlockRead* read) const;
  Status NotInCache(const BlockHandle& handle) const;
  Result<ObjectRef<DataBlock>> AdmitData(const IndexBlock& index, size_t i, const char* stored,
                                         const BlockRead& how) const;
  // For callers that read several partitions of the index (kIndex) or the filter (kFilter)
  // together. WantsPartition(): true if the partition is not in memory. AdmitPartition() makes it
  // from its stored bytes, adds it to `held` and, if `fill_cache` is set, to the cache.
  bool WantsPartition(TableObjectKind kind, const IndexBlock& top, size_t i) const;
  Status AdmitPartition(TableObjectKind kind, const IndexBlock& top, size_t i, const char* stored,
                        bool fill_cache, HeldPartitions* held) const;
  // Each of these two starts loading the memory that the next step reads: the slot of the block,
  // then the block if the slot has it. PrefetchData() must be called inside an EpochGuard.
  void PrefetchSlot(const IndexBlock& index, size_t i) const {
    if (index.slots != nullptr) index.slots->Prefetch(i);
  }
  void PrefetchData(const IndexBlock& index, size_t i) const {
    const CachedObject* const object = index.slots == nullptr ? nullptr : index.slots->Load(i);
    if (object != nullptr) static_cast<const DataBlock*>(object)->Prefetch();
  }
  // Like PrefetchData(), and also loads the begin of the block: the first entries for a scan, or
  // the key heads for a search in a decoded block.
  void PrefetchStart(const IndexBlock& index, size_t i) const {
    const CachedObject* const object = index.slots == nullptr ? nullptr : index.slots->Load(i);
    if (object != nullptr) static_cast<const DataBlock*>(object)->PrefetchStart();
  }
  // The data block if its slot has it, else null. Inside an EpochGuard.
  // Hot: a hit is one load, and one more of the object's touched byte.
  DataBlock* Peek(const IndexBlock& index, size_t i) const {
    if (index.slots == nullptr) return nullptr;
    auto* object = static_cast<TableObject*>(index.slots->Load(i));
    if (object == nullptr || object->kind != TableObjectKind::kData) return nullptr;
    object->Touch();
    return static_cast<DataBlock*>(object);
  }

  // Called for each hit on a data block, outside of epochs. If this hit makes the block hot, the
  // block is decoded, and the decoded form replaces the other one in the cache. Returns the decoded
  // block in that case, else null.
  ObjectRef<DataBlock> DecodeIfHot(const IndexBlock& index, size_t i, DataBlock* block) const {
    if (block->is_decoded || !decodes_hot_blocks_ || !block->IsHotNow()) [[likely]]
      return {};
    return Decode(index, i, block);
  }
  // Counts a hit inside an epoch, where nothing can be decoded. True if this hit makes the block
  // hot: the caller should leave the epoch, ask again, and decode it.
  bool ShouldDecode(DataBlock* block) const {
    return !block->is_decoded && decodes_hot_blocks_ && block->IsAlmostHot();
  }

  // Finds or reads a partition of the index or of the filter, by its entry in the top level.
  Result<ObjectRef<IndexBlock>> IndexPartition(const IndexBlock& top, size_t i,
                                               BlockRead* read) const {
    return Load<IndexBlock>(top, i, read);
  }
  Result<ObjectRef<FilterBlock>> FilterPartition(const IndexBlock& top, size_t i,
                                                 BlockRead* read) const {
    return Load<FilterBlock>(top, i, read);
  }

  // For a block that exists once per table and that the table does not keep in memory (an index, a
  // filter, a dictionary). Returns an index with one entry, the handle of the block. The block then
  // has a slot, and is found, loaded and evicted like a partition.
  ObjectRef<IndexBlock> PlaceOf(const BlockHandle& handle) const;
  // Sets the place of a dictionary that the table does not keep, and loads it once. Data blocks
  // from the file need it.
  Status SetDictionaryPlace(const BlockHandle& handle);
  // Reads a data block from the file, past the cache.
  Result<ObjectRef<DataBlock>> ReadUncached(const BlockHandle& handle, BlockRead* read) const;

  // Read the blocks that a table keeps while it is open. They are owned by the table, and charged
  // to the cache.
  Result<ObjectRef<IndexBlock>> PinIndex(const BlockHandle& handle, const IndexFormat& format,
                                         std::string_view kind) const;
  Result<ObjectRef<FilterBlock>> PinFilter(const BlockHandle& handle) const;
  // Another reader of the same file may have put the dictionary into the cache already.
  Result<ObjectRef<DictionaryBlock>> PinDictionary(const BlockHandle& handle) const;
  // Takes a kept block out of the cache. A block that was never given to the cache has no charge,
  // and its key is zero. Zero may be the key of an entry of the program, so it must not be erased.
  template <typename T>
  void Unpin(const ObjectRef<T>& object) const {
    if (cache_ == nullptr || !object) return;
    if (object->charge != 0) cache_->Erase(object->key);
  }
  // Takes the blocks that are in the slots of `index` out of the cache.
  template <typename T>
  void ForgetBlocks(const IndexBlock& index) const;
  // The same for the data blocks of all index partitions that are in the cache.
  void ForgetDataBlocksOfPartitions(const IndexBlock& top) const;
  // Takes the index partitions out of the cache. Their keys are used by this open of the table
  // only.
  void ForgetIndexPartitions(const IndexBlock& top) const;
  // The index whose place (see PlaceOf()) this is; null if it is not in the cache.
  ObjectRef<IndexBlock> IndexAt(const IndexBlock& place) const {
    return FindOwned<IndexBlock>(place, 0);
  }
  // Takes all blocks of a file without identity out of the cache, because no other open can find
  // them. Does nothing for other files.
  void ForgetOwnBlocks() const;
  // Takes the block whose place (see PlaceOf()) this is out of the cache.
  template <typename T>
  void ForgetAt(const IndexBlock& place) const {
    if (cache_ != nullptr) cache_->Erase(KeyOf<T>(place.index->handle(0)));
  }
  // One line: the sources of blocks, and their cache keys.
  std::string DebugString() const;

 private:
  // Looks in the slot, the cache, the blocks read beforehand, and the file, in this order.
  // LoadTraced() also times the step and reports it to the trace.
  template <typename T>
  Result<ObjectRef<T>> Load(const IndexBlock& parent, size_t i, BlockRead* read) const;
  template <typename T>
  Result<ObjectRef<T>> LoadTraced(const IndexBlock& parent, size_t i, BlockRead* read) const;
  // Counts a data block in `read`, and a partition in the statistics at once.
  template <typename T>
  void CountHit(const T& object, BlockRead* read) const;
  // The slot and the cache; borrowed inside an epoch, else with a reference. Null if the block is
  // not there.
  template <typename T>
  ObjectRef<T> FindInMemory(const IndexBlock& parent, size_t i, BlockRead* read) const;
  // Looks among the blocks that were read beforehand, then reads the file.
  template <typename T>
  Result<ObjectRef<T>> LoadHeld(const IndexBlock& parent, size_t i, BlockRead* read) const;
  // The block in the cache with a reference of the caller's own; null if it is not there.
  template <typename T>
  ObjectRef<T> FindOwned(const IndexBlock& parent, size_t i) const;
  // Null without a second tier, or if the second tier does not have the block. It is cheaper to get
  // than a read of the file. A block that will not enter the first tier stays in the second.
  template <typename T>
  T* TakeFromSecondTier(const BlockHandle& handle, bool fill_cache) const;
  // Admit() for a block from the second tier. A block that a full first tier with a strict limit
  // refuses goes back there.
  template <typename T>
  Result<ObjectRef<T>> AdmitSaved(T* saved, const IndexBlock& parent, size_t i,
                                  bool fill_cache) const;
  // Looks for the block in the second tier of the cache, then reads the block from the file. Gives
  // the block to the cache.
  template <typename T>
  Result<ObjectRef<T>> LoadFromFile(const IndexBlock& parent, size_t i, BlockRead* read) const;
  template <typename T>
  Result<ObjectRef<T>> Admit(T* object, const IndexBlock& parent, size_t i, bool fill_cache) const;
  ObjectRef<DataBlock> Decode(const IndexBlock& index, size_t i, DataBlock* block) const;
  // The order in which a block from the file should be decoded at once; empty: it should not be
  // decoded. A lookup of single keys is likely to come back to the block, and a cache with room
  // keeps it until then; decoding it later would need a second allocation and a second insertion.
  // If the cache has no room, blocks often leave it before they are used again.
  std::optional<KeyOrder> OrderToDecodeIn(const BlockHandle& handle, const BlockRead& read) const;
  // The block from the slot or the cache, without a reference. Inside an EpochGuard.
  template <typename T>
  T* FindCached(const IndexBlock& parent, size_t i) const;
  ObjectRef<DictionaryBlock> FindDictionary(const BlockHandle& handle) const;
  // The dictionary that is not kept. Null if the fetcher has the dictionary, or the table has none.
  Result<ObjectRef<DictionaryBlock>> Dictionary(const BlockRead& read) const;
  // Reads a block from the file, without the cache.
  template <typename T>
  Result<T*> Read(const BlockHandle& handle, BlockRead* read) const;
  // The key of a block in the cache; that of an index contains open_id_.
  template <typename T>
  BlockKey KeyOf(const BlockHandle& handle) const {
    const bool is_index = T::kKind == TableObjectKind::kIndex;
    return {.file_id = is_index ? open_id_ : file_id_, .offset = handle.offset};
  }
  // Puts a new object into the cache and its slot. MemoryLimit: the cache has no room, and the
  // caller has the only reference.
  template <typename T>
  Status Publish(T* object, const BlockHandle& handle, const IndexBlock* parent, size_t i) const;
  template <typename T>
  BlockInsertion InsertionOf(T* object, const BlockHandle& handle, const IndexBlock* parent,
                             size_t i) const;
  // Like Publish(), but without counting, and the cache may not refuse the block because of its
  // admission history.
  template <typename T>
  Status Insert(T* object, const BlockInsertion& insertion) const;
  Result<IndexBlock*> MakeIndex(const LooseBlock& block, const BlockHandle& handle,
                                const FlatIndex::Source& source, std::string_view kind) const;
  Result<IndexBlock*> ReadIndex(const BlockHandle& handle, const FlatIndex::Source& source,
                                std::string_view kind, const IOOptions& io = IOOptions()) const;

  // The offsets of all blocks that were put into the cache, for ForgetOwnBlocks(). Slots cannot
  // tell these: an index may leave the cache before the blocks that it names, and a cache of the
  // program has no slots. Updated by each thread that has read a block from the file.
  struct OwnBlocks {
    Mutex mutex{LockRank::kLeaf};
    std::unordered_set<uint64_t> offsets GUARDED_BY(mutex);
  };

  BlockFetcher fetcher_;
  BlockCacheView* const cache_;   // null: every read goes to the file
  Statistics* const statistics_;  // null: none
  const bool rereads_are_cheap_;  // true: a full cache need not admit every block that is read once
  // Part of the keys of indexes, which point to the comparator of this open.
  const uint64_t open_id_;
  uint64_t file_id_ = 0;  // part of the keys of data and filter blocks; see SetFileId()
  std::unique_ptr<OwnBlocks> own_blocks_;  // null: the file has an identity, or there is no cache
  bool decodes_hot_blocks_ = false;        // see DecodeHotBlocks()
  const bool charges_kept_blocks_;
  const Cache::Priority metadata_priority_;
  FlatIndex::Source index_source_;  // how index blocks of this table are parsed
  // Null: the fetcher has the dictionary, or the table has none.
  ObjectRef<IndexBlock> dictionary_place_;
};

}  // namespace ashlar
