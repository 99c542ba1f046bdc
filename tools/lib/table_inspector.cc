// SPDX-License-Identifier: Apache-2.0
//
// Opening follows the engine's table reader, but stops before anything that needs the order of
// keys. Checksums are verified before anything is parsed.
#include "tools/lib/table_inspector.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <memory>
#include <utility>

#include "ashlar/comparator.h"
#include "ashlar/convenience.h"
#include "ashlar/options.h"
#include "table/block/block_cursor.h"
#include "table/format/meta_block_names.h"
#include "table/format/plain_block.h"
#include "table/format/properties.h"
#include "table/format/table_property_names.h"
#include "table/format/unique_id.h"
#include "tools/lib/console.h"
#include "tools/lib/key_text.h"
#include "tools/lib/program_parts.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Values of the table property that names the kind of index. The other kinds are read like a plain
// index.
constexpr uint32_t kTwoLevelIndex = 2;
constexpr uint32_t kFirstKeyIndex = 3;

// The public unique ID as two hexadecimal words, or "N/A" for files whose properties lack the
// session.
std::string UniqueIdText(const TableProperties& properties) {
  Result<InternalUniqueId> id = MakeInternalUniqueId(properties);
  if (!id.ok()) return "N/A";
  const std::string bytes = PublicUniqueId(*id, UniqueIdForm::kStandard);
  const std::string digits = Slice(bytes).ToString(/*hex=*/true);
  return digits.substr(0, 16) + "-" + digits.substr(16);
}

// Whether a scan ends before this stored key. Keys come in order, so the first key without the
// prefix ends a scan by prefix. `end` is a stored key too, if there is one.
bool IsAfterRange(const Slice& stored, const InternalKeyComparator& comparator,
                  const std::optional<std::string>& prefix, const std::optional<std::string>& end) {
  if (prefix && !comparator.WithoutStamp(stored).starts_with(*prefix)) return true;
  return end && comparator.OrderWithoutTimestamp(stored, *end) >= 0;
}

}  // namespace

TableInspector::TableInspector(FileSystem* fs, std::unique_ptr<RandomReader> file,
                               BareTableKind bare_kind, const Footer& footer)
    : fs_(fs),
      file_(std::move(file)),
      bare_kind_(bare_kind),
      footer_(footer),
      fetcher_(file_.get(), footer.checksum,
               bare_kind == BareTableKind::kNone ? file_->size() - kFooterBytes : 0) {
  assert(fs_ != nullptr);
}

Result<std::unique_ptr<TableInspector>> TableInspector::Open(FileSystem* fs,
                                                             const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<RandomReader> file, RandomReader::Open(fs, path, FileOptions()));
  std::array<char, kFooterBytes> memory;
  // A file shorter than a footer is read as a whole; DecodeFooter() reports it.
  const size_t n = static_cast<size_t>(std::min<uint64_t>(file->size(), kFooterBytes));
  Slice tail;
  RETURN_IF_ERROR(file->ReadExactly(file->size() - n, n, memory.data(), &tail));
  const Result<Footer> footer = DecodeFooter(tail, file->size(), path);
  if (footer.status().IsNotSupported() && IsBareTable(*file)) return OpenBare(fs, std::move(file));
  RETURN_IF_ERROR(footer.status());
  std::unique_ptr<TableInspector> inspector(
      new TableInspector(fs, std::move(file), BareTableKind::kNone, footer.value()));
  RETURN_IF_ERROR(inspector->LoadMetaBlocks());
  RETURN_IF_ERROR(inspector->LoadProperties());
  return inspector;
}

// Such a table has properties, and no other parts that the inspector could show.
Result<std::unique_ptr<TableInspector>> TableInspector::OpenBare(
    FileSystem* fs, std::unique_ptr<RandomReader> file) {
  ASSIGN_OR_RETURN(BareTable table, ReadBareTable(*file));
  std::unique_ptr<TableInspector> inspector(
      new TableInspector(fs, std::move(file), table.kind, Footer()));
  inspector->properties_ = std::move(table.properties);
  return inspector;
}

// The words of RocksDB's sst_dump.
std::string_view TableInspector::FormatName() const {
  switch (bare_kind_) {
    case BareTableKind::kPlain: return "plain table";
    case BareTableKind::kCuckoo: return "cuckoo table";
    default: return "block-based";
  }
}

Status TableInspector::CheckHasBlocks() const {
  if (bare_kind_ == BareTableKind::kNone) return Status::OK();
  return Status::NotSupported(StrCat(path(), ": a ", FormatName(),
                                     " has no blocks to show; check, ",
                                     "scan, verify and --show_properties read it"));
}

Status TableInspector::LoadMetaBlocks() {
  ASSIGN_OR_RETURN(const LooseBlock block, fetcher_.ReadLoose(footer_.metaindex, "metaindex"));
  PlainBlockParser parser(block.contents);
  while (parser.Next()) {
    Slice value = parser.value();
    BlockHandle handle;
    // Entries that are not block handles are skipped: newer versions may add some.
    if (GetBlockHandle(&value, &handle)) meta_blocks_[parser.key().ToString()] = handle;
  }
  if (parser.status().ok()) return Status::OK();
  return fetcher_.Describe(parser.status(), "metaindex", footer_.metaindex);
}

Status TableInspector::LoadProperties() {
  const auto found = meta_blocks_.find(std::string(kPropertiesBlockName));
  if (found == meta_blocks_.end()) {
    return Status::Corruption(StrCat(path(), ": no properties block"));
  }
  ASSIGN_OR_RETURN(const LooseBlock block, fetcher_.ReadProperties(found->second));
  ASSIGN_OR_RETURN(properties_, ParsePropertiesBlock(block.contents, found->second.offset, path()));
  return Status::OK();
}

// Loaded by the first read of a data block, because commands that look only at metadata do not need
// it. A table whose blocks are not compressed ignores its dictionary.
Status TableInspector::LoadDictionary() {
  if (std::exchange(is_dictionary_loaded_, true)) return Status::OK();
  const auto found = meta_blocks_.find(std::string(kCompressionDictBlockName));
  ASSIGN_OR_RETURN(
      const CompressionProperty compression,
      ParseCompressionProperty(properties_.compression_name, footer_.format_version, path()));
  if (found == meta_blocks_.end() || compression.is_none) return Status::OK();
  ASSIGN_OR_RETURN(const LooseBlock block,
                   fetcher_.ReadLoose(found->second, "compression dictionary"));
  dictionary_ = std::make_unique<UncompressionDict>(block.contents);
  fetcher_.SetDictionary(dictionary_.get());
  return Status::OK();
}

Result<DataBlock*> TableInspector::ReadDataBlock(const BlockHandle& handle) {
  RETURN_IF_ERROR(LoadDictionary());
  return fetcher_.ReadData(handle, /*readahead=*/nullptr, IOOptions(), {});
}

Status TableInspector::ForEachEntry(const Block& block, const BlockHandle& handle,
                                    const EntryVisit& visit) const {
  assert(visit != nullptr);
  BlockCursor cursor;
  cursor.Attach(&block, BlockKeyFormat());
  Slice key, value;
  for (bool more = cursor.First(&key, &value); more; more = cursor.Next(&key, &value)) {
    RETURN_IF_ERROR(visit(key, value));
  }
  if (cursor.error() == nullptr) return Status::OK();
  return Status::Corruption(StrCat(path(), ": block at offset ", handle.offset, ": entry at ",
                                   cursor.error_offset(), ": ", cursor.error()));
}

Status TableInspector::ForEachTombstone(const EntryVisit& visit) const {
  const auto found = meta_blocks_.find(std::string(kRangeDeletionBlockName));
  if (found == meta_blocks_.end()) return Status::OK();
  ASSIGN_OR_RETURN(const LooseBlock loose, ReadBlock(found->second, "range deletion"));
  Block block;
  RETURN_IF_ERROR(Block::Parse(loose.contents, &block));
  return ForEachEntry(block, found->second, visit);
}

Result<BlockHandle> TableInspector::IndexHandle() const {
  RETURN_IF_ERROR(CheckHasBlocks());
  if (!UsesIndexHandleInMetaindex(footer_.format_version)) return footer_.index;
  const auto found = meta_blocks_.find(std::string(kIndexBlockName));
  if (found != meta_blocks_.end()) return found->second;
  return Status::Corruption(StrCat(path(), ": no index block"));
}

Result<InternalKeyComparator> TableInspector::FindComparator() const {
  const std::string& name = properties_.comparator_name;
  const Comparator* comparator = BytewiseComparator();  // old files name none
  if (!name.empty()) {
    comparator = ashlar::FindComparator(name);
    if (comparator == nullptr) {
      return Status::NotSupported(StrCat(path(), ": its comparator \"", name,
                                         "\" is not built in; only --command=none and ",
                                         "--command=identify work without it"));
    }
  }
  return InternalKeyComparator(comparator);
}

// The reader opens the file a second time, because it owns its file.
Result<const TableReader*> TableInspector::Reader() {
  if (reader_ != nullptr) return static_cast<const TableReader*>(reader_.get());
  ASSIGN_OR_RETURN(comparator_, FindComparator());
  ASSIGN_OR_RETURN(std::unique_ptr<RandomReader> file,
                   RandomReader::Open(fs_, path(), FileOptions()));
  TableReaderOptions options;
  options.icmp = &*comparator_;
  ASSIGN_OR_RETURN(reader_, TableReader::Open(std::move(file), options));
  return static_cast<const TableReader*>(reader_.get());
}

// Collectors' properties hold the kind of index as four bytes.
Result<uint32_t> TableInspector::IndexType() const {
  RETURN_IF_ERROR(CheckHasBlocks());
  const auto& user = properties_.user_collected_properties;
  const auto found = user.find(std::string(kIndexTypeProperty));
  if (found == user.end() || found->second.size() != sizeof(uint32_t)) {
    return Status::Corruption(StrCat(path(), ": no property ", kIndexTypeProperty));
  }
  return DecodeFixed32(found->second.data());
}

// Parses one block of the index and appends its entries. An error names the block.
Status TableInspector::AppendIndexEntries(const BlockHandle& handle,
                                          const FlatIndex::Source& source,
                                          std::vector<IndexEntry>* entries) const {
  assert(entries != nullptr);
  ASSIGN_OR_RETURN(const LooseBlock block, fetcher_.ReadLoose(handle, "index"));
  Result<std::unique_ptr<FlatIndex>> index = FlatIndex::Parse(block.contents, source);
  if (!index.ok()) return fetcher_.Describe(index.status(), "index", handle);
  for (size_t i = 0; i < (*index)->size(); i++) {
    std::string buffer;
    const Slice separator = (*index)->UserKey(i, &buffer);
    entries->push_back({.separator = separator.ToString(), .handle = (*index)->handle(i)});
  }
  return Status::OK();
}

// The facts about the format of index blocks that parsing them needs. They are in the properties,
// not in the blocks.
Result<FlatIndex::Source> TableInspector::IndexSource(
    const InternalKeyComparator* comparator) const {
  ASSIGN_OR_RETURN(const uint32_t type, IndexType());
  assert(comparator != nullptr);
  FlatIndex::Source source;
  source.comparator = comparator;
  source.data_end = fetcher_.limit();
  source.format.has_user_keys = properties_.index_key_is_user_key != 0;
  source.format.has_delta_handles = properties_.index_value_is_delta_encoded != 0;
  source.format.has_first_keys = type == kFirstKeyIndex;
  return source;
}

Result<std::vector<TableInspector::IndexEntry>> TableInspector::TopIndexEntries() const {
  ASSIGN_OR_RETURN(const BlockHandle handle, IndexHandle());
  ASSIGN_OR_RETURN(const InternalKeyComparator comparator, FindComparator());
  ASSIGN_OR_RETURN(const FlatIndex::Source source, IndexSource(&comparator));
  std::vector<IndexEntry> entries;
  RETURN_IF_ERROR(AppendIndexEntries(handle, source, &entries));
  return entries;
}

Result<std::vector<TableInspector::IndexEntry>> TableInspector::IndexPartitions() const {
  ASSIGN_OR_RETURN(const uint32_t type, IndexType());
  if (type != kTwoLevelIndex) return std::vector<IndexEntry>();
  return TopIndexEntries();
}

Result<std::vector<TableInspector::IndexEntry>> TableInspector::DataBlocks() const {
  ASSIGN_OR_RETURN(const uint32_t type, IndexType());
  if (type != kTwoLevelIndex) return TopIndexEntries();
  ASSIGN_OR_RETURN(const InternalKeyComparator comparator, FindComparator());
  ASSIGN_OR_RETURN(const FlatIndex::Source source, IndexSource(&comparator));
  ASSIGN_OR_RETURN(const std::vector<IndexEntry> partitions, TopIndexEntries());
  std::vector<IndexEntry> entries;
  for (const IndexEntry& partition : partitions) {
    RETURN_IF_ERROR(AppendIndexEntries(partition.handle, source, &entries));
  }
  return entries;
}

Result<std::vector<BlockHandle>> TableInspector::FilterBlocks() const {
  std::vector<BlockHandle> blocks;
  for (const auto& [name, handle] : meta_blocks_) {
    if (Slice(name).starts_with(kFullFilterPrefix)) return std::vector<BlockHandle>{handle};
    if (!Slice(name).starts_with(kPartitionedFilterPrefix) || handle.size == 0) continue;
    ASSIGN_OR_RETURN(const InternalKeyComparator comparator, FindComparator());
    ASSIGN_OR_RETURN(FlatIndex::Source source, IndexSource(&comparator));
    // Only data index entries may contain first keys; the index over filter partitions never does.
    source.format.has_first_keys = false;
    std::vector<IndexEntry> partitions;
    RETURN_IF_ERROR(AppendIndexEntries(handle, source, &partitions));
    for (const IndexEntry& partition : partitions) blocks.push_back(partition.handle);
  }
  return blocks;
}

Result<CompressionType> TableInspector::StoredAs(const BlockHandle& handle) const {
  char byte;
  Slice read;
  RETURN_IF_ERROR(file_->ReadExactly(handle.offset + handle.size, 1, &byte, &read));
  return static_cast<CompressionType>(static_cast<unsigned char>(read[0]));
}

std::string PropertiesText(const TableProperties& properties) {
  std::string text = "  " + properties.ToString("\n  ", ": ");
  StrAppend(&text, "unique ID: ", UniqueIdText(properties), "\n");
  StrAppend(&text, "  Sequence number to time mapping: ",
            Slice(properties.seqno_to_time_mapping).ToString(/*hex=*/true), "\n");
  return text;
}

std::string UserPropertiesText(const TableProperties& properties) {
  std::string text;
  for (const auto& [name, value] : properties.user_collected_properties) {
    StrAppend(&text, "  # ", name, ": ", HexText(value), "\n");
  }
  return text;
}

// A prefix is also the smallest key that begins with it, so a scan by prefix starts there. Of a
// family with timestamps the stored keys end in one, which the bounds of a scan do not have.
Result<uint64_t> ScanTable(const TableReader& table, const InternalKeyComparator& comparator,
                           const TableScan& scan) {
  const std::unique_ptr<InternalIterator> iterator(table.NewIterator(ReadOptions(), nullptr));
  const std::optional<std::string>& start = scan.prefix ? scan.prefix : scan.from;
  std::optional<std::string> end;
  if (scan.to) end = comparator.FirstStored(*scan.to);
  if (start) {
    iterator->Seek(comparator.FirstInternalKey(comparator.FirstStored(*start)));
  } else {
    iterator->SeekToFirst();
  }
  assert(iterator != nullptr);
  Progress progress("entries");
  for (; iterator->Valid() && progress.count() < scan.max_entries; iterator->Next()) {
    const Slice key = iterator->key();
    if (IsAfterRange(ExtractUserKey(key), comparator, scan.prefix, end)) break;
    progress.Add();
    if (!scan.prints) continue;
    PrintLine(EntryText(key, iterator->value(), scan.hex, scan.decodes_blob_references));
  }
  RETURN_IF_ERROR(iterator->status());
  return progress.count();
}

}  // namespace ashlar
