// SPDX-License-Identifier: Apache-2.0
//
// Opening a table: footer, metaindex, properties with the checks that they permit, dictionary,
// index, filter, range tombstones.
// The order follows the checklist in docs/formats/block_based_table.md, section 14.
#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "ashlar/comparator.h"
#include "ashlar/convenience.h"
#include "ashlar/slice_transform.h"
#include "ashlar/statistics.h"
#include "table/format/meta_block_names.h"
#include "table/format/plain_block.h"
#include "table/format/properties.h"
#include "table/format/table_property_names.h"
#include "table/format/unique_id.h"
#include "table/plain/bare_table.h"
#include "table/range_del/range_del_block.h"
#include "table/sst/read/bare_translation.h"
#include "table/sst/read/table_reader.h"
#include "util/hash/hash.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr std::string_view kMetaindexKind = "metaindex";
constexpr std::string_view kRangeDeletionKind = "range deletion block";

enum IndexType : uint32_t {
  kBinarySearchIndex = 0,
  // A binary search index with additional prefix blocks, which this reader does not need.
  kHashIndex = 1,
  kTwoLevelIndex = 2,
  kFirstKeyIndex = 3,
};

// Finds a block by its name in the metaindex. The name may be given in two parts.
template <typename MetaBlocks>
const BlockHandle* Find(const MetaBlocks& blocks, std::string_view prefix,
                        // A table has few meta blocks, so a linear search is enough.
                        std::string_view suffix = {}) {
  const auto found = std::ranges::find_if(blocks, [&](const auto& block) {
    const std::string_view name = block.first;
    return name.size() == prefix.size() + suffix.size() && name.starts_with(prefix) &&
           name.ends_with(suffix);
  });
  return found == blocks.end() ? nullptr : &found->second;
}

// A missing property counts as on, because older writers did not record it.
bool IsOn(std::string_view property) {
  return property.data() == nullptr || property != kPropertyFalse;
}

Cache* CacheOf(const BlockCacheView* view) { return view == nullptr ? nullptr : view->cache(); }

// Opening reads the tail of the file. A short tail is read at once. In a long tail, the index or
// the filter is large: each is read separately, directly into its own memory, and only the blocks
// behind them are read at once.
Status ReadTail(const TableReaderOptions& options, RandomReader* file) {
  assert(file != nullptr);
  constexpr uint64_t kLongBytes = 64 * 1024, kBytesBehindThem = 8 * 1024;
  // The MANIFEST knows the size of the tail of newer tables; 0 means that it does not.
  const bool is_short = options.tail_bytes != 0 && options.tail_bytes < kLongBytes;
  const uint64_t bytes = is_short ? options.tail_bytes : kBytesBehindThem;
  return file->KeepTail(static_cast<size_t>(std::min(bytes, file->size())));
}

// The value of a property of the file; data() is null if it is missing.
std::string_view OwnProperty(const TableProperties& properties, std::string_view name) {
  const auto found = properties.user_collected_properties.find(std::string(name));
  if (found == properties.user_collected_properties.end()) return {};
  return found->second;
}

// Like a block with a wrong checksum, a wrong footer is read once more before an error is returned.
Result<Footer> ReadFooter(const RandomReader& file, Statistics* statistics) {
  std::array<char, kFooterBytes> memory;
  const size_t n = static_cast<size_t>(std::min<uint64_t>(file.size(), kFooterBytes));
  Slice tail;
  // A file that is shorter than a footer is read whole, and DecodeFooter() reports it.
  RETURN_IF_ERROR(file.ReadExactly(file.size() - n, n, memory.data(), &tail));
  Result<Footer> first = DecodeFooter(tail, file.size(), file.path());
  if (!first.status().IsCorruption()) return first;
  RecordTick(statistics, FILE_READ_CORRUPTION_RETRY_COUNT);
  if (!file.ReadAgain(file.size() - n, n, memory.data(), &tail).ok()) return first;
  Result<Footer> second = DecodeFooter(tail, file.size(), file.path());
  if (!second.ok()) return first;
  RecordTick(statistics, FILE_READ_CORRUPTION_RETRY_SUCCESS_COUNT);
  return second;
}

}  // namespace

TableReader::TableReader(std::unique_ptr<RandomReader> file, const Footer& footer,
                         const TableReaderOptions& options)
    : file_(std::move(file)),
      footer_(footer),
      options_(options),
      icmp_(*options.icmp),
      store_({.file = file_.get(),
              .checksum = footer.checksum,
              .limit = file_->size() - kFooterBytes,
              .cache = options.block_cache,
              .metadata_priority =
                  options.metadata.is_important ? Cache::Priority::HIGH : Cache::Priority::LOW,
              .charges_kept_blocks = options.metadata.charges_kept,
              .statistics = options.statistics}),
      reader_charge_(CacheOf(options.block_cache), CacheEntryRole::kBlockBasedTableReader),
      file_metadata_charge_(CacheOf(options.block_cache), CacheEntryRole::kFileMetadata) {
  assert(file_ != nullptr);
  store_.SetIndexSource(
      {.format = IndexFormat(), .comparator = &icmp_, .data_end = store_.fetcher().limit()});
  uses_hash_index_ = !icmp_.user_comparator()->CanKeysWithDifferentByteContentsBeEqual();
  assert(file_->size() >= kFooterBytes);  // otherwise DecodeFooter() would have failed
}

TableReader::~TableReader() {
  store_.ForgetOwnBlocks();
  ObjectRef<IndexBlock> found;
  const IndexBlock* const index = IndexInMemory(&found);
  if (index != nullptr && is_partitioned_) store_.ForgetIndexPartitions(*index);
  // The cache key of an index is used by this open of the file only.
  if (index_place_) store_.ForgetAt<IndexBlock>(*index_place_);
  store_.Unpin(dictionary_);
  store_.Unpin(index_);
  store_.Unpin(filter_.full());
  if (filter_.IsPartitioned()) store_.Unpin(filter_.top());
}

// The index or its top level; null if it is neither kept nor cached, or was never loaded.
const IndexBlock* TableReader::IndexInMemory(ObjectRef<IndexBlock>* found) const {
  assert(found != nullptr);
  if (index_) return index_.get();
  if (index_place_) *found = store_.IndexAt(*index_place_);
  return found->get();
}

// Some blocks stay in the cache until they are evicted: data blocks whose index partition left the
// cache before them, and all blocks in a cache of the program, which has no slots.
void TableReader::ForgetCachedBlocks() const {
  ObjectRef<IndexBlock> found;
  if (const IndexBlock* const index = IndexInMemory(&found)) {
    is_partitioned_ ? store_.ForgetDataBlocksOfPartitions(*index)
                    : store_.ForgetBlocks<DataBlock>(*index);
  }
  if (filter_.IsPartitioned()) store_.ForgetBlocks<FilterBlock>(*filter_.top());
  if (filter_.IsCached()) store_.ForgetAt<FilterBlock>(*filter_.top());
  store_.ForgetOwnBlocks();
}

Result<std::unique_ptr<TableReader>> TableReader::Open(std::unique_ptr<RandomReader> file,
                                                       const TableReaderOptions& options) {
  assert(file != nullptr && options.icmp != nullptr);
  file->CountInto(options.statistics, options.read_times);
  RETURN_IF_ERROR(ReadTail(options, file.get()));
  Result<Footer> footer = ReadFooter(*file, options.statistics);
  std::unique_ptr<BareTranslation> translation;
  if (footer.status().IsNotSupported() && IsBareTable(*file)) {
    translation = std::make_unique<BareTranslation>();
    ASSIGN_OR_RETURN(*translation, TranslateBareTable(*file, options));
    // From here on the table looks like one with blocks, which are in memory.
    file = std::move(translation->image);
    footer = ReadFooter(*file, options.statistics);
  }
  if (footer.status().IsCorruption()) RecordTick(options.statistics, SST_FOOTER_CORRUPTION_COUNT);
  if (!footer.ok()) return footer.status();
  std::unique_ptr<TableReader> reader(new TableReader(std::move(file), *footer, options));
  reader->translation_ = std::move(translation);
  RETURN_IF_ERROR(reader->Load());
  // The tail was needed for the opening only.
  reader->file_->ForgetTail();
  return reader;
}

Status TableReader::Load() {
  assert(properties_block_.contents.empty());
  assert(!index_);  // Load() is called once
  // Each step may refuse the table, and the reader is then destroyed with what it has loaded so
  // far.
  ASSIGN_OR_RETURN(const MetaBlocks blocks, LoadMetaindex());
  RETURN_IF_ERROR(LoadProperties(blocks));
  RETURN_IF_ERROR(CheckProperties());
  RETURN_IF_ERROR(CheckUniqueId());
  store_.SetFileId(StableFileId());
  // A block of a table with a global sequence number is not decoded, because its entries must be
  // rewritten on reading.
  const bool has_own_seqnos = key_format_.global_seqno == kNoGlobalSeqno;
  store_.ProtectEntries(options_.block_protection_bytes);
  const bool may_decode = options_.decode_hot_blocks && options_.block_protection_bytes == 0;
  if (may_decode && has_own_seqnos) store_.DecodeHotBlocks();
  RETURN_IF_ERROR(LoadDictionary(blocks));
  RETURN_IF_ERROR(LoadIndex(blocks));
  RETURN_IF_ERROR(LoadFilter(blocks));
  const bool keeps_partitions = options_.metadata.keeps_partitions && store_.cache() != nullptr;
  if (keeps_partitions) RETURN_IF_ERROR(KeepPartitions());
  RETURN_IF_ERROR(LoadTombstones(blocks));
  return Charge();
}

Status TableReader::Charge() {
  RETURN_IF_ERROR(file_metadata_charge_.GrowTo(options_.charged_file_metadata_bytes));
  if (!options_.charges_reader) return Status::OK();
  // Blocks that the table keeps may be charged already.
  return reader_charge_.GrowTo(options_.metadata.charges_kept ? BytesBesideBlocks()
                                                              : MemoryUsage());
}

// The names and places of the meta blocks. The block is needed only while a table is opened, so
// that it does not go to the cache.
Result<TableReader::MetaBlocks> TableReader::LoadMetaindex() const {
  const BlockFetcher& fetcher = store_.fetcher();
  ASSIGN_OR_RETURN(const LooseBlock block, fetcher.ReadLoose(footer_.metaindex, kMetaindexKind));
  constexpr size_t kUsualCount = 8;
  MetaBlocks blocks;
  blocks.reserve(kUsualCount);
  PlainBlockParser parser(block.contents);
  while (parser.Next()) {
    Slice value = parser.value();
    BlockHandle handle;
    if (!GetBlockHandle(&value, &handle)) {
      return fetcher.Describe(
          Status::Corruption(StrCat("no block handle behind ", parser.key().ToString())),
          kMetaindexKind, footer_.metaindex);
    }
    blocks.emplace_back(parser.key().ToString(), handle);
  }
  if (!parser.status().ok()) {
    return fetcher.Describe(parser.status(), kMetaindexKind, footer_.metaindex);
  }
  return blocks;
}

Status TableReader::LoadProperties(const MetaBlocks& blocks) {
  assert(properties_block_.contents.empty());  // called once
  const BlockHandle* handle = Find(blocks, kPropertiesBlockName);
  if (handle == nullptr) {
    return Status::Corruption(StrCat("table: ", path(), ": no properties block"));
  }
  ASSIGN_OR_RETURN(properties_block_, store_.fetcher().ReadProperties(*handle));
  properties_offset_ = handle->offset;
  ASSIGN_OR_RETURN(facts_, ViewProperties(properties_block_.contents, properties_offset_, path()));
  if (translation_ != nullptr) {
    facts_.external_version = OwnProperty(translation_->properties, kExternalVersionProperty);
    facts_.global_seqno = OwnProperty(translation_->properties, kGlobalSeqnoProperty);
  }
  ASSIGN_OR_RETURN(key_format_.global_seqno,
                   FindGlobalSeqno(facts_, options_.manifest_largest_seqno, path()));
  static_assert(kNoGlobalSeqno == BlockKeyFormat::kOwnSeqnos);
  return Status::OK();
}

// Refuses tables that this version cannot read correctly, before any of their entries are used.
Status TableReader::CheckProperties() const {
  assert(icmp_.user_comparator() != nullptr);
  const Comparator& comparator = *icmp_.user_comparator();
  if (facts_.user_defined_timestamps_persisted == 0) {
    return Status::NotSupported(
        StrCat("table: ", path(),
               ": its keys were stripped of their timestamps "
               "(persist_user_defined_timestamps = false), which this version cannot read"));
  }
  const std::string_view name = facts_.comparator_name;
  if (!name.empty() && name != comparator.Name()) {
    return Status::InvalidArgument(
        StrCat("table: ", path(), ": comparator expected ", comparator.Name(), ", found ", name));
  }
  return Status::OK();
}

// The MANIFEST may record the unique id of the file. Another id means that the file was exchanged.
Status TableReader::CheckUniqueId() const {
  if (options_.expected_unique_id.empty()) return Status::OK();
  Result<InternalUniqueId> id = UniqueId();
  std::string found;  // stays empty if the file does not name its creator
  if (id.ok()) {
    for (const uint64_t word : id->ManifestForm()) PutFixed64(&found, word);
  }
  if (found == options_.expected_unique_id) return Status::OK();
  return Status::Corruption(StrCat("table: ", path(), ": unique id expected ",
                                   HexBytes(Slice(options_.expected_unique_id)), ", found ",
                                   HexBytes(found), "; another file lies under this name"));
}

// The same at every open of this very file; 0 if it has no identity. Copies of one file that were
// ingested with different sequence numbers have different ids. The image of a translated table is
// not the file: its filter depends on the options of this opening.
uint64_t TableReader::StableFileId() const {
  if (translation_ != nullptr) return 0;
  Result<InternalUniqueId> id = UniqueId();
  if (!id.ok()) return 0;
  return CacheFileId(*id, footer_.checksum.base, key_format_.global_seqno);
}

// A dictionary of a table without compression is not needed.
Status TableReader::LoadDictionary(const MetaBlocks& blocks) {
  ASSIGN_OR_RETURN(
      const CompressionProperty compression,
      ParseCompressionProperty(facts_.compression_name, footer_.format_version, path()));
  const BlockHandle* handle = Find(blocks, kCompressionDictBlockName);
  if (handle == nullptr || compression.is_none) return Status::OK();
  assert(!dictionary_);  // blocks may point to the old one
  if (!KeepsWhole()) return store_.SetDictionaryPlace(*handle);
  ASSIGN_OR_RETURN(dictionary_, store_.PinDictionary(*handle));
  store_.fetcher().SetDictionary(&dictionary_->dictionary);
  return Status::OK();
}

Status TableReader::LoadIndex(const MetaBlocks& blocks) {
  assert(!index_);
  if (facts_.index_type.size() != sizeof(uint32_t)) {
    return Status::Corruption(
        StrCat("table: ", path(), ": property ", kIndexTypeProperty, " missing or not 4 bytes"));
  }
  const uint32_t type = DecodeFixed32(facts_.index_type.data());
  if (type > kFirstKeyIndex) {
    return Status::NotSupported(
        StrCat("table: ", path(), ": index type expected 0 to 3, found ", type));
  }
  const BlockHandle* handle = UsesIndexHandleInMetaindex(footer_.format_version)
                                  ? Find(blocks, kIndexBlockName)
                                  : &footer_.index;
  if (handle == nullptr) return Status::Corruption(StrCat("table: ", path(), ": no index block"));
  IndexFormat format;
  format.has_user_keys = facts_.index_key_is_user_key != 0;
  format.has_delta_handles = facts_.index_value_is_delta_encoded != 0;
  format.has_first_keys = type == kFirstKeyIndex;  // partitions never have first keys
  store_.SetIndexSource(
      {.format = format, .comparator = &icmp_, .data_end = store_.index_source().data_end});
  is_partitioned_ = type == kTwoLevelIndex;
  if (is_partitioned_ ? KeepsTops() : KeepsWhole()) {
    ASSIGN_OR_RETURN(index_, store_.PinIndex(*handle, format, "index"));
    return Status::OK();
  }
  index_place_ = store_.PlaceOf(*handle);
  BlockRead read;
  return IndexCursor(IndexSource()).First(&read);
}

Status TableReader::LoadFilter(const MetaBlocks& blocks) {
  assert(index_ || index_place_);  // filter partitions are read like index partitions
  const BlockHandle* const full = Find(blocks, kFullFilterPrefix, kBuiltinFilterBlockSuffix);
  const BlockHandle* const top = Find(blocks, kPartitionedFilterPrefix, kBuiltinFilterBlockSuffix);
  if (full != nullptr) {
    if (!KeepsWhole()) return filter_.SetCached(&store_, store_.PlaceOf(*full), FilterContents());
    ASSIGN_OR_RETURN(ObjectRef<FilterBlock> filter, store_.PinFilter(*full));
    filter_.SetFull(std::move(filter), FilterContents());
  } else if (top != nullptr && top->size != 0) {
    IndexFormat format = store_.index_source().format;
    format.has_first_keys = false;
    ASSIGN_OR_RETURN(ObjectRef<IndexBlock> index,
                     store_.PinIndex(*top, format, "filter partition index"));
    filter_.SetPartitioned(&store_, std::move(index), FilterContents());
  }
  return Status::OK();
}

// Loads them through the store, so that each is put into the cache and into its slot.
Status TableReader::KeepPartitions() {
  assert(kept_partitions_.empty());
  BlockRead read;
  if (is_partitioned_) {
    IndexCursor index(IndexSource());
    RETURN_IF_ERROR(index.First(&read));
    for (size_t i = 0; index.Valid() && i < index.top().index->size(); ++i) {
      ASSIGN_OR_RETURN(auto partition, store_.IndexPartition(index.top(), i, &read));
      kept_partitions_.push_back(ObjectRef<TableObject>::OwnThatOf(std::move(partition)));
    }
  }
  if (!filter_.IsPartitioned()) return Status::OK();
  for (size_t i = 0; i < filter_.top()->index->size(); ++i) {
    ASSIGN_OR_RETURN(auto partition, store_.FilterPartition(*filter_.top(), i, &read));
    kept_partitions_.push_back(ObjectRef<TableObject>::OwnThatOf(std::move(partition)));
  }
  return Status::OK();
}

namespace {

// A tombstone whose number is outside of its table's bounds would hide newer entries, or fail to
// hide older ones: reads compare the ages of runs, while compactions compare sequence numbers.
Status CheckSeqnos(const std::vector<RangeTombstone>& tombstones, const TableReaderOptions& table) {
  for (const RangeTombstone& tombstone : tombstones) {
    if (tombstone.seqno >= table.manifest_smallest_seqno &&
        tombstone.seqno <= table.manifest_largest_seqno) {
      continue;
    }
    return Status::Corruption(StrCat("range tombstone: sequence number expected from ",
                                     table.manifest_smallest_seqno, " to ",
                                     table.manifest_largest_seqno, ", found ", tombstone.seqno));
  }
  return Status::OK();
}

}  // namespace

// If a table lost range tombstones, deleted keys would reappear. Therefore their number must match
// the properties, if these record it.
Status TableReader::LoadTombstones(const MetaBlocks& blocks) {
  const BlockHandle* handle = Find(blocks, kRangeDeletionBlockName);
  const uint64_t promised = facts_.num_range_deletions;
  if (handle == nullptr) {
    if (promised == 0) return Status::OK();
    return Status::Corruption(StrCat("table: ", path(), ": ", promised,
                                     " range tombstones expected, found no block of them"));
  }
  const BlockFetcher& fetcher = store_.fetcher();
  ASSIGN_OR_RETURN(const LooseBlock block, fetcher.ReadLoose(*handle, kRangeDeletionKind));
  Result<StoredTombstones> stored = ParseRangeDelBlock(block.contents, key_format_.global_seqno);
  if (!stored.ok()) return fetcher.Describe(stored.status(), kRangeDeletionKind, *handle);
  if (promised != 0 && stored->tombstones.size() != promised) {
    return fetcher.Describe(
        Status::Corruption(
            StrCat(promised, " range tombstones expected, found ", stored->tombstones.size())),
        kRangeDeletionKind, *handle);
  }
  if (Status status = CheckSeqnos(stored->tombstones, options_); !status.ok()) {
    return fetcher.Describe(status, kRangeDeletionKind, *handle);
  }
  assert(tombstones_ == nullptr);
  auto tombstones = std::make_shared<const FragmentedTombstones>(
      icmp_, std::move(stored->tombstones), options_.border, std::move(stored->memory));
  if (tombstones->empty()) return Status::OK();
  tombstones_ = std::move(tombstones);
  tombstone_key_bytes_ = stored->memory_bytes;
  return Status::OK();
}

TableFilter::Contents TableReader::FilterContents() {
  TableFilter::Contents contents;
  contents.has_whole_keys = IsOn(facts_.whole_key_filtering);
  if (IsOn(facts_.prefix_filtering)) contents.prefix_extractor = PrefixExtractor();
  return contents;
}

// The extractor that made the prefixes of the filter. Only this extractor may be used to query the
// filter, even if the family has another one by now. Null if it is a class of the program and not
// the extractor of the family.
const SliceTransform* TableReader::PrefixExtractor() {
  const std::string name(facts_.prefix_extractor_name);
  const SliceTransform* const family = options_.prefix_extractor;
  if (family != nullptr && family->AsString() == name) return family;
  assert(own_extractor_ == nullptr);
  IgnoreError(SliceTransform::CreateFromString(ConfigOptions(), name, &own_extractor_),
              "an unknown name gives no extractor, and the filter is not used for prefixes");
  return own_extractor_.get();
}

}  // namespace ashlar
