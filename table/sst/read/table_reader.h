// SPDX-License-Identifier: Apache-2.0
//
// TableReader reads one block-based table: point lookups, iterators, and what the table says about
// itself. Format versions 2 to 7. docs/formats/block_based_table.md.
//
// Opening reads the footer, the properties, the index and the filter, never data. Every block is
// checked before it is parsed; damage is Corruption with file and offset, a feature that is not
// supported is NotSupported, and neither ever looks like an absent key.
//
// Range tombstones are read, cut to the file's boundary keys and fragmented on opening. Lookups are
// told what covers their key; iterators walk the point entries alone, and whoever merges them asks
// for tombstones().
// Threads: const functions from any thread. Iterators must not outlive the reader.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/table_properties.h"
#include "ashlar/types.h"
#include "cache/cache_charge.h"
#include "env/random_reader.h"
#include "table/block/block_cursor.h"
#include "table/format/compression.h"
#include "table/format/footer.h"
#include "table/format/properties.h"
#include "table/format/unique_id.h"
#include "table/iterator/internal_iterator.h"
#include "table/iterator/point_lookup.h"
#include "table/range_del/fragmented_tombstones.h"
#include "table/sst/read/block_store.h"
#include "table/sst/read/index_cursor.h"
#include "table/sst/read/key_weight.h"
#include "table/sst/read/table_filter.h"
#include "table/sst/read/table_objects.h"
#include "util/keys/internal_key.h"
#include "util/result.h"
#include "util/threads/epoch.h"

namespace ashlar {

class Arena;
class BlockCacheView;
class HeldBlocks;
class ScanBlocks;
class TableReader;
class SliceTransform;
class Statistics;
class SystemClock;
struct BlockBasedTableOptions;
struct ReadOptions;

// Which blocks beside those of data a table keeps while it is open. The others are in the block
// cache, and are read again when they have been evicted. Without a cache all but partitions are
// kept.
struct MetadataPlan {
  bool keeps_whole = true;  // index and filter without partitions, and the dictionary
  bool keeps_tops = true;   // the top levels of partitioned ones
  bool keeps_partitions = false;
  bool charges_kept = true;  // what is kept counts against the capacity of the cache
  bool is_important = true;  // they stay longer than data blocks that are used as often
};

// Pointers outlive the reader.
struct TableReaderOptions {
  const InternalKeyComparator* icmp = nullptr;
  BlockCacheView* block_cache = nullptr;  // null: nothing is cached
  // Largest sequence number the MANIFEST records for the file; decides that of ingested files.
  SequenceNumber manifest_largest_seqno = kMaxSequenceNumber;  // unknown
  SequenceNumber manifest_smallest_seqno = 0;                  // the same
  // That of the family. A table that was written with another one of the stock extractors makes
  // that one for itself.
  const SliceTransform* prefix_extractor = nullptr;
  Statistics* statistics = nullptr;
  // From the end of the data blocks to the end of the file, all of which opening reads; 0: unknown.
  uint64_t tail_bytes = 0;
  // Where the time that reads of the file take goes besides; counted with statistics only.
  LevelHistogramRef read_times;
  SystemClock* clock = nullptr;  // of deadlines; null: the default one
  // The file's boundary keys, to which its range tombstones are cut; null: they hold everywhere.
  // Needed while the table is opened.
  const FragmentedTombstones::Border* border = nullptr;
  std::string_view expected_unique_id{};  // 16 bytes as in the MANIFEST; empty: not checked
  size_t initial_auto_readahead_bytes = 8 * 1024;
  size_t max_auto_readahead_bytes = 256 * 1024;
  uint64_t reads_before_auto_readahead = 2;
  bool decode_hot_blocks = true;  // blocks that are used again; see table/block/decoded_block.h
  // Of checksums of entries of data blocks in memory: 0 (none), 1, 2, 4 or 8. No block is decoded
  // then.
  uint8_t block_protection_bytes = 0;
  MetadataPlan metadata;
  // Charged to the cache while the table is open: what the reader keeps beside blocks, and so many
  // bytes of the MANIFEST's facts about the file.
  bool charges_reader = false;
  size_t charged_file_metadata_bytes = 0;
};

// What the MANIFEST says about the entries of a table: internal keys and sequence numbers, all
// inclusive.
struct RecordedBounds {
  Slice smallest;
  Slice largest;
  SequenceNumber smallest_seqno = 0;
  SequenceNumber largest_seqno = kMaxSequenceNumber;
};

// The seek of a reader that wants entries of one prefix only, which the extractor made of the key.
struct PrefixSeek {
  const SliceTransform* extractor = nullptr;
  Slice prefix;
  Slice internal_key;
  bool is_forward = true;  // entries at or behind the key are wanted, else at or in front of it
};

enum class PrefixAnswer : uint8_t { kUnknown, kAbsent, kPerhaps };

// One key in one table, on its way through a batch of lookups.
// No member has a default, so that an array of them costs nothing.
struct TableProbe {
  const TableReader* table;
  PointLookup* lookup;  // not decided yet
  bool is_over;         // set by the batch: the table has no more to say about the key
};

// Retired by the table cache, which must be able to do so without memory.
class TableReader : public EpochRetired {
 public:
  static Result<std::unique_ptr<TableReader>> Open(std::unique_ptr<RandomReader> file,
                                                   const TableReaderOptions& options);
  ~TableReader();
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  // Offers the table's versions of the key to the lookup, newest first. Inside an EpochGuard, and
  // from memory alone: false if that does not suffice. Then the lookup is as it was, and Get() is
  // to be called outside of the guard. An error fails the lookup. Hot: filter line, index heads,
  // slot, block; no allocation, lock or shared counter.
  [[nodiscard]] bool GetInEpoch(PointLookup* lookup) const;
  // The same with whatever must be read. Not inside an EpochGuard; the caller keeps the table open.
  Status Get(const ReadOptions& options, PointLookup* lookup) const;

  static constexpr size_t kMaxProbes = 32;
  // GetInEpoch() for several lookups, in tables of any number: stage by stage, so that their cache
  // misses overlap. Equal keys and keys of one block should be neighbours. Those that are not over
  // afterwards are as they were. table_batch.cc.
  static void GetManyInEpoch(TableProbe* probes, size_t count);
  // Get() for several lookups: the blocks that are missing are read together. All are over
  // afterwards; an error fails those whom it concerns.
  static void GetMany(const ReadOptions& options, TableProbe* probes, size_t count);

  // kAbsent only if the table has no point entry that such a seek wants. Counts the answer. Not
  // inside an EpochGuard.
  PrefixAnswer AskForPrefix(const ReadOptions& options, const PrefixSeek& seek) const;
  // The answer was kPerhaps, and the table has such an entry.
  void CountPrefixFound() const;

  // For ScanBlocks, whose batch it is; scan_blocks.cc.
  Status NoteBlocks(const Slice& start, const Slice& limit, size_t max_bytes, HeldBlocks* home,
                    ScanBlocks* batch) const;

  // Starts loading what the filter probe of Get() will touch.
  void PrefetchFilter(PointLookup* lookup) const { filter_.Prefetch(lookup); }

  // In `arena`, or on the heap if that is null. `options` may go away, its bounds may not.
  InternalIterator* NewIterator(const ReadOptions& options, Arena* arena,
                                bool for_compaction = false) const;

  // Reads every block of the file, past the cache, and checks all entries against each other, the
  // index, the filter, the properties, and `bounds` unless that is null. table_verify.cc.
  Status VerifyChecksums(const ReadOptions& options, const RecordedBounds* bounds = nullptr) const;

  // About where in the file entries at or after the key begin.
  uint64_t ApproximateOffsetOf(const Slice& internal_key) const;
  // Adds about `count` keys, ascending, between which lie about equal parts of the table's data
  // blocks. Reads what there is of the index. Not inside an EpochGuard.
  Status SampleKeys(size_t count, std::vector<KeyWeight>* weights) const;

  // What it goes by itself of its properties, and all of them, which are made of their block then.
  const PropertiesView& facts() const { return facts_; }
  TableProperties properties() const;
  std::shared_ptr<const TableProperties> shared_properties() const {
    return std::make_shared<const TableProperties>(properties());
  }
  // NotSupported if the properties do not say who made the file.
  Result<InternalUniqueId> UniqueId() const {
    return MakeInternalUniqueId(
        {facts_.db_id, facts_.db_session_id, FileNumber{facts_.orig_file_number}});
  }
  // The range tombstones that hold inside the file's border; null if there are none.
  const std::shared_ptr<const FragmentedTombstones>& tombstones() const { return tombstones_; }
  // The one sequence number of all entries of an ingested file, or kNoGlobalSeqno.
  SequenceNumber global_seqno() const { return key_format_.global_seqno; }
  const Footer& footer() const { return footer_; }
  const std::string& path() const { return file_->path(); }
  uint64_t file_size() const { return file_->size(); }
  // The file is about to be deleted: its blocks leave the cache, as far as memory tells which are
  // there. Lookups may still run.
  void ForgetCachedBlocks() const;
  // Of what stays in memory while the table is open.
  size_t MemoryUsage() const;
  std::string DebugString() const;

 private:
  friend class TableIterator;  // the other half of this class, in table_iterator.*
  class Verification;
  class EpochBatch;  // the two of table_batch.cc
  class ReadBatch;

  using MetaBlocks = std::vector<std::pair<std::string, BlockHandle>>;  // a handful, by name
  enum class Search : uint8_t { kDone, kAtEnd, kDamaged };

  TableReader(std::unique_ptr<RandomReader> file, const Footer& footer,
              const TableReaderOptions& options);

  // Opening, in this order; table_open.cc.
  Status Load();
  Result<MetaBlocks> LoadMetaindex() const;
  Status LoadProperties(const MetaBlocks& blocks);
  Status CheckProperties() const;
  Status CheckUniqueId() const;
  Status LoadDictionary(const MetaBlocks& blocks);
  Status LoadIndex(const MetaBlocks& blocks);
  Status LoadFilter(const MetaBlocks& blocks);
  Status LoadTombstones(const MetaBlocks& blocks);
  Status KeepPartitions();
  Status Charge();
  size_t BytesBesideBlocks() const;
  TableFilter::Contents FilterContents();
  const SliceTransform* PrefixExtractor();
  uint64_t StableFileId() const;
  bool KeepsWhole() const { return options_.metadata.keeps_whole || store_.cache() == nullptr; }
  bool KeepsTops() const { return options_.metadata.keeps_tops || store_.cache() == nullptr; }

  IndexCursor::Source IndexSource() const {
    return {.store = &store_,
            .top = index_.get(),
            .place = index_place_.get(),
            .is_partitioned = is_partitioned_};
  }
  // The index for one operation inside an epoch: null if it is not in memory.
  const IndexBlock* IndexInEpoch(BlockRead* read) const {
    if (index_) [[likely]]
      return index_.get();
    return FindIndex(read);
  }
  const IndexBlock* FindIndex(BlockRead* read) const;

  Status GetFiltered(PointLookup* lookup, BlockRead* read) const;
  // Covers the lookup with what the range tombstones say. Then what the filter says, which it
  // counts. NotInMemory() as TableFilter.
  Result<bool> MayContain(PointLookup* lookup, BlockRead* read) const;
  // Adds what a search cost that began when the lookup was at `before`.
  void CountSearch(const BlockRead& read, const PointLookup::Mark& before,
                   PointLookup* lookup) const;
  // From entry `i` of the index on.
  Status GetFromSlots(const IndexBlock& index, size_t i, PointLookup* lookup,
                      BlockRead* read) const;
  Status GetFromBlocks(PointLookup* lookup, BlockRead* read) const;
  // From a block of the index on, which may be at hand already.
  Status GetFromCursor(IndexCursor* index, ObjectRef<DataBlock> held, PointLookup* lookup,
                       BlockRead* read) const;
  Search SearchBlock(DataBlock* block, const BlockHandle& handle, ObjectRef<DataBlock>* held,
                     PointLookup* lookup, Status* status) const;
  Search SearchDecoded(DataBlock* block, ObjectRef<DataBlock>* held, PointLookup* lookup) const;
  Search OfferDecoded(size_t i, DataBlock* block, ObjectRef<DataBlock>* held,
                      PointLookup* lookup) const;
  static ValuePin PinFor(const Slice& value, DataBlock* block, ObjectRef<DataBlock>* held);
  Status DamagedBlock(const BlockCursor& cursor, const BlockHandle& handle) const;
  Status VerifyMetaBlocks() const;
  // What the table does not keep, for an operation that needs all of it many times.
  Status HoldMetadata(BlockRead* read, HeldPartitions* held) const;

  const std::unique_ptr<RandomReader> file_;
  const Footer footer_;
  const TableReaderOptions options_;
  const InternalKeyComparator icmp_;
  BlockKeyFormat key_format_;     // with the global sequence number of an ingested file
  bool is_partitioned_ = false;   // a two-level index
  bool uses_hash_index_ = false;  // keys that are equal have equal bytes
  std::shared_ptr<const SliceTransform> own_extractor_;  // null: the family's is used, or none
  BlockStore store_;
  ObjectRef<DictionaryBlock> dictionary_;  // of the data blocks; null: none
  ObjectRef<IndexBlock> index_;            // top level if partitioned; null: see index_place_
  TableFilter filter_;
  std::shared_ptr<const FragmentedTombstones> tombstones_;  // null: none
  size_t tombstone_key_bytes_ = 0;
  // Behind what each Get() touches.
  LooseBlock properties_block_;
  uint64_t properties_offset_ = 0;
  PropertiesView facts_;               // of that block
  ObjectRef<IndexBlock> index_place_;  // of an index that is not kept, but in the cache
  std::vector<ObjectRef<TableObject>> kept_partitions_;  // of index and filter, in any order
  CacheCharge reader_charge_;
  CacheCharge file_metadata_charge_;
};

}  // namespace ashlar
