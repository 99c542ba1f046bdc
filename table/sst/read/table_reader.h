// SPDX-License-Identifier: Apache-2.0
//
// TableReader reads one table, block-based or translated when it is opened (bare_translation.h):
// point lookups, iterators, and the properties of the table. Format versions 2 to 7.
// docs/formats/block_based_table.md.
//
// Opening reads the footer, the properties, the index and the filter, but no data blocks. Every
// block is verified before it is parsed. Damage gives Corruption with file and offset, an
// unsupported feature gives NotSupported; neither is ever reported as an absent key.
//
// Range tombstones are read when the table is opened, cut to the boundary keys of the file, and
// fragmented. Point lookups get the tombstones that cover their key. Iterators return point entries
// only; a merging iterator asks for tombstones().
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
struct BareTranslation;
class TableReader;
class SliceTransform;
class StampedLookup;
class Statistics;
class SystemClock;
struct BlockBasedTableOptions;
struct ReadOptions;

// Which blocks besides data blocks a table keeps in memory while it is open. Other blocks are in
// the block cache, and are read again after they have been evicted. Without a cache everything
// except partitions is kept.
struct MetadataPlan {
  bool keeps_whole = true;  // indexes and filters without partitions, and the dictionary
  bool keeps_tops = true;   // the top levels of partitioned indexes and filters
  bool keeps_partitions = false;
  bool charges_kept = true;  // kept blocks count against the capacity of the cache
  // They stay in the cache longer than data blocks that are used as often.
  bool is_important = true;
};

// Pointers must stay valid while the reader exists, except where a comment says otherwise.
struct TableReaderOptions {
  const InternalKeyComparator* icmp = nullptr;
  BlockCacheView* block_cache = nullptr;  // null: nothing is cached
  // The largest sequence number that the MANIFEST records for the file. It decides the sequence
  // number of ingested files.
  SequenceNumber manifest_largest_seqno = kMaxSequenceNumber;  // unknown
  SequenceNumber manifest_smallest_seqno = 0;                  // the smallest one; 0: unknown
  // The prefix extractor of the column family. A table that was written with another stock
  // extractor creates that one for itself.
  const SliceTransform* prefix_extractor = nullptr;
  Statistics* statistics = nullptr;
  // Bytes from the end of the data blocks to the end of the file. Opening reads all of them. 0:
  // unknown.
  uint64_t tail_bytes = 0;
  // An additional histogram of the time of file reads; used only with statistics.
  LevelHistogramRef read_times;
  SystemClock* clock = nullptr;  // for deadlines; null: the default clock
  // The boundary keys of the file, to which its range tombstones are cut; null: they are not cut.
  // Needed only while the table is opened.
  const FragmentedTombstones::Border* border = nullptr;
  std::string_view expected_unique_id{};  // 16 bytes as in the MANIFEST; empty: not checked
  size_t initial_auto_readahead_bytes = 8 * 1024;
  size_t max_auto_readahead_bytes = 256 * 1024;
  uint64_t reads_before_auto_readahead = 2;
  // Decode blocks that are used often; see table/block/decoded_block.h.
  bool decode_hot_blocks = true;
  // Checksum bytes per entry of data blocks in memory: 0 (none), 1, 2, 4 or 8. With checksums no
  // block is decoded.
  uint8_t block_protection_bytes = 0;
  MetadataPlan metadata;
  // If set, memory of the reader besides its blocks is charged to the cache while the table is
  // open. The next number of bytes, for the metadata of the file in the version, is charged in any
  // case.
  bool charges_reader = false;
  size_t charged_file_metadata_bytes = 0;
};

// The bounds of the entries of a table in the MANIFEST: internal keys and sequence numbers, all
// inclusive.
struct RecordedBounds {
  Slice smallest;
  Slice largest;
  SequenceNumber smallest_seqno = 0;
  SequenceNumber largest_seqno = kMaxSequenceNumber;
};

// A seek that only needs entries with one prefix, which `extractor` made from the key.
struct PrefixSeek {
  const SliceTransform* extractor = nullptr;
  Slice prefix;
  Slice internal_key;
  bool is_forward = true;  // entries at or behind the key are needed; false: at or in front of it
};

// kUnknown: the filter cannot answer.
enum class FilterAnswer : uint8_t { kUnknown, kAbsent, kPerhaps };

// One key in one table in a batch of lookups. Members have no defaults, so that an array of them
// costs nothing.
struct TableProbe {
  const TableReader* table;
  PointLookup* lookup;  // not decided yet
  bool is_over;         // set by the batch: the table has been searched completely
};

// The table cache retires readers through EpochRetired, which needs no memory for that.
class TableReader : public EpochRetired {
 public:
  // Opens a table. InvalidArgument if the comparator is another one; Corruption, NotSupported or
  // errors of the file.
  static Result<std::unique_ptr<TableReader>> Open(std::unique_ptr<RandomReader> file,
                                                   const TableReaderOptions& options);
  ~TableReader();
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  // Offers the versions of the key in the table to the lookup, newest first. Inside an EpochGuard,
  // and from memory only. False if that is not enough: the lookup is unchanged then, and the caller
  // must call Get() outside of the guard. An error fails the lookup. Hot: filter line, index heads,
  // slot, block; no allocation, lock or shared counter.
  [[nodiscard]] bool GetInEpoch(PointLookup* lookup) const;
  // The same with reads from the file. Not inside an EpochGuard; the caller keeps the table open.
  Status Get(const ReadOptions& options, PointLookup* lookup) const;

  // The same in families with timestamps: the versions of the key that are not in front of
  // lookup->key() are offered until one is taken. Precondition: the table has no range tombstones.
  // The second one returns an error of the table, which the caller tells the lookup.
  // table_stamps.cc.
  [[nodiscard]] bool GetStampedInEpoch(StampedLookup* lookup) const;
  Status GetStamped(const ReadOptions& options, StampedLookup* lookup) const;

  static constexpr size_t kMaxProbes = 32;
  // GetInEpoch() for several lookups in any number of tables: each stage runs for all of them, so
  // their cache misses overlap. Equal keys and keys of one block should be neighbours. A lookup
  // that is not over afterwards is unchanged. table_batch.cc.
  static void GetManyInEpoch(TableProbe* probes, size_t count);
  // Get() for several lookups; missing blocks are read together. All are over afterwards. An error
  // fails only the lookups that it concerns.
  static void GetMany(const ReadOptions& options, TableProbe* probes, size_t count);

  // kAbsent only if the table has no point entry that such a seek needs. Counts the answer. Not
  // inside an EpochGuard.
  FilterAnswer AskForPrefix(const ReadOptions& options, const PrefixSeek& seek) const;
  // The same for the versions of a user key, which is given without its timestamp. `stored` is the
  // key with any timestamp.
  FilterAnswer AskForKey(const ReadOptions& options, const Slice& user_key,
                         const Slice& stored) const;
  // Count that AskForPrefix(), or AskForKey(), had answered kPerhaps and the table did have such an
  // entry.
  void CountPrefixFound() const;
  void CountKeyFound() const;

  // Implements ScanBlocks::Note(); scan_blocks.cc.
  Status NoteBlocks(const Slice& start, const Slice& limit, size_t max_bytes, HeldBlocks* home,
                    ScanBlocks* batch) const;

  // Starts loading the memory of the filter that Get() will read.
  void PrefetchFilter(PointLookup* lookup) const { filter_.Prefetch(lookup); }

  // A new iterator in `arena`, or on the heap if `arena` is null. `options` is copied, but its
  // bounds must outlive the iterator.
  InternalIterator* NewIterator(const ReadOptions& options, Arena* arena,
                                bool for_compaction = false) const;

  // Reads every block of the file, past the cache, and checks all entries against each other, the
  // index, the filter, the properties, and against `bounds` unless that is null. table_verify.cc.
  Status VerifyChecksums(const ReadOptions& options, const RecordedBounds* bounds = nullptr) const;

  // About the file offset at which entries at or after the key begin.
  uint64_t ApproximateOffsetOf(const Slice& internal_key) const;
  // Adds about `count` keys in ascending order that divide the data blocks of the table into about
  // equal parts. Reads the whole index. Not inside an EpochGuard.
  Status SampleKeys(size_t count, std::vector<KeyWeight>* weights) const;

  // The properties that the reader itself needs; and all of them, parsed from their block at each
  // call. If the table was translated, the former describe what is read, the latter the file.
  const PropertiesView& facts() const { return facts_; }
  TableProperties properties() const;
  std::shared_ptr<const TableProperties> shared_properties() const {
    return std::make_shared<const TableProperties>(properties());
  }
  // NotSupported if the properties do not name the creator of the file.
  Result<InternalUniqueId> UniqueId() const {
    return MakeInternalUniqueId(
        {facts_.db_id, facts_.db_session_id, FileNumber{facts_.orig_file_number}});
  }
  // The range tombstones inside the border of the file; null if there are none.
  const std::shared_ptr<const FragmentedTombstones>& tombstones() const { return tombstones_; }
  // The one sequence number of all entries of an ingested file; kNoGlobalSeqno: entries have their
  // own.
  SequenceNumber global_seqno() const { return key_format_.global_seqno; }
  const Footer& footer() const { return footer_; }
  const std::string& path() const { return file_->path(); }
  uint64_t file_size() const;
  // Called when the file is about to be deleted: takes its blocks out of the cache, as far as
  // memory tells which ones are there. Lookups may still run.
  void ForgetCachedBlocks() const;
  // Bytes of memory that the open table uses besides cached blocks.
  size_t MemoryUsage() const;
  std::string DebugString() const;

 private:
  friend class TableIterator;  // the other half of this class, in table_iterator.*
  class Verification;
  class EpochBatch;  // these two are in table_batch.cc
  class ReadBatch;

  // By name, in the order of the file.
  using MetaBlocks = std::vector<std::pair<std::string, BlockHandle>>;
  // kAtEnd: the block ended before an older key was reached, so the next block may have more
  // versions.
  enum class Search : uint8_t { kDone, kAtEnd, kDamaged };

  TableReader(std::unique_ptr<RandomReader> file, const Footer& footer,
              const TableReaderOptions& options);

  // The index or its top level, if it is kept or cached; `found` then holds the reference.
  const IndexBlock* IndexInMemory(ObjectRef<IndexBlock>* found) const;

  // The steps of opening, in this order; table_open.cc.
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
  // The index for one operation inside an epoch; null if it is not in memory.
  const IndexBlock* IndexInEpoch(BlockRead* read) const {
    if (index_) [[likely]]
      return index_.get();
    return FindIndex(read);
  }
  const IndexBlock* FindIndex(BlockRead* read) const;

  // Filter, then search. A search that must be repeated outside of the epoch leaves the lookup as
  // it was.
  Status GetFiltered(PointLookup* lookup, BlockRead* read) const;
  // Adds the range tombstones that cover the key to the lookup, then asks the filter and counts its
  // answer. NotInMemory() like TableFilter::MayContain().
  Result<bool> MayContain(PointLookup* lookup, BlockRead* read) const;
  // Counts a search that began when the lookup was at `before`.
  void CountSearch(const BlockRead& read, const PointLookup::Mark& before,
                   PointLookup* lookup) const;
  // Searches the blocks from entry `i` of the index on, inside an epoch and with the whole index in
  // memory.
  Status GetFromSlots(const IndexBlock& index, size_t i, PointLookup* lookup,
                      BlockRead* read) const;
  Status GetFromBlocks(PointLookup* lookup, BlockRead* read) const;
  // Searches the blocks from the cursor's position on. `held` is the first of them if the caller
  // has it already.
  Status GetFromCursor(IndexCursor* index, ObjectRef<DataBlock> held, PointLookup* lookup,
                       BlockRead* read) const;
  // Offers the versions of the key in one block. kDamaged sets `status`.
  Search SearchBlock(DataBlock* block, const BlockHandle& handle, ObjectRef<DataBlock>* held,
                     PointLookup* lookup, Status* status) const;
  Search SearchDecoded(DataBlock* block, ObjectRef<DataBlock>* held, PointLookup* lookup) const;
  // The same from entry `i` of a decoded block on.
  Search OfferDecoded(size_t i, DataBlock* block, ObjectRef<DataBlock>* held,
                      PointLookup* lookup) const;
  // Called when an entry has decided the lookup: tells it the key of a blob index as it is stored.
  void NoteKeyOfBlob(const Slice& user_key, PointLookup* lookup) const;
  // The same for families with timestamps; table_stamps.cc.
  Status GetStampedFiltered(StampedLookup* lookup, BlockRead* read) const;
  Result<bool> MayContainStamped(StampedLookup* lookup, BlockRead* read) const;
  Status GetStampedFromBlocks(StampedLookup* lookup, BlockRead* read) const;
  Result<DataBlock*> StampedBlock(const IndexCursor& index, BlockRead* read,
                                  ObjectRef<DataBlock>* held) const;
  Result<bool> SearchStampedBlock(DataBlock* block, const BlockHandle& handle,
                                  ObjectRef<DataBlock>* held, StampedLookup* lookup) const;
  static ValuePin PinFor(const Slice& value, DataBlock* block, ObjectRef<DataBlock>* held);
  // The error for a cursor that stopped because of damage.
  Status DamagedBlock(const BlockCursor& cursor, const BlockHandle& handle) const;
  Status VerifyMetaBlocks() const;
  // Loads the blocks that the table does not keep, for an operation that needs them many times.
  Status HoldMetadata(BlockRead* read, HeldPartitions* held) const;

  const std::unique_ptr<RandomReader> file_;  // the image if the table was translated
  const Footer footer_;
  const TableReaderOptions options_;
  const InternalKeyComparator icmp_;
  BlockKeyFormat key_format_;    // with the global sequence number of an ingested file
  bool is_partitioned_ = false;  // the index has two levels
  // Equal keys have equal bytes, so hash indexes of blocks can be used.
  bool uses_hash_index_ = false;
  // Null: the extractor of the family is used, or none.
  std::shared_ptr<const SliceTransform> own_extractor_;
  BlockStore store_;
  // For data blocks; null: there is none, or it is not kept.
  ObjectRef<DictionaryBlock> dictionary_;
  ObjectRef<IndexBlock> index_;  // the top level if partitioned; null: see index_place_
  TableFilter filter_;
  std::shared_ptr<const FragmentedTombstones> tombstones_;  // null: none
  size_t tombstone_key_bytes_ = 0;
  // Members that Get() does not read come last.
  LooseBlock properties_block_;
  uint64_t properties_offset_ = 0;
  PropertiesView facts_;  // points into properties_block_ and translation_
  // What the file is, if file_ is its image in memory; else null.
  std::unique_ptr<const BareTranslation> translation_;
  ObjectRef<IndexBlock> index_place_;  // the place of an index that is not kept but cached
  std::vector<ObjectRef<TableObject>> kept_partitions_;  // of index and filter, in any order
  CacheCharge reader_charge_;
  CacheCharge file_metadata_charge_;
};

}  // namespace ashlar
