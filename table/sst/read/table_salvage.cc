// SPDX-License-Identifier: Apache-2.0
//
// The order is that of opening a table, without the filter.
#include "table/sst/read/table_salvage.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <memory>
#include <utility>

#include "ashlar/comparator.h"
#include "env/random_reader.h"
#include "table/block/block_cursor.h"
#include "table/format/compression_dictionary.h"
#include "table/format/footer.h"
#include "table/format/meta_block_names.h"
#include "table/format/plain_block.h"
#include "table/format/properties.h"
#include "table/format/table_property_names.h"
#include "table/index/flat_index.h"
#include "table/range_del/range_del_block.h"
#include "table/sst/read/block_fetcher.h"
#include "table/sst/read/readahead.h"
#include "util/keys/coding.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr uint32_t kTypeTwoLevel = 2, kTypeFirstKey = 3;  // of the property of the index type
constexpr std::string_view kTombstonesKind = "range deletion block";

// Reads one damaged table. Used once.
class Salvage {
 public:
  Salvage(const RandomReader* file, const Footer& footer, const InternalKeyComparator& comparator,
          const SalvageVisitor& visitor)
      : file_(*file),
        footer_(footer),
        comparator_(comparator),
        visitor_(visitor),
        fetcher_(file, footer.checksum, file->size() - kFooterBytes),
        readahead_({.fixed_bytes = kReadaheadBytes}) {}

  Status Run(SequenceNumber manifest_largest_seqno);

 private:
  static constexpr size_t kReadaheadBytes = 256 * 1024;

  Status LoadMetaBlocks();
  Status LoadProperties(SequenceNumber manifest_largest_seqno);
  Status LoadDictionary();
  Result<BlockHandle> FindIndex();
  Result<std::unique_ptr<FlatIndex>> ReadIndex(const BlockHandle& handle,
                                               const IndexFormat& format) const;
  Status VisitLeaf(const FlatIndex& leaf);
  Status VisitBlock(const BlockHandle& handle);
  Status VisitTombstones() const;
  // OK, and passed on, if it is damage.
  Status Report(const Status& status) const {
    if (!status.IsCorruption()) return status;
    visitor_.damage(status);
    return Status::OK();
  }

  const RandomReader& file_;
  const Footer& footer_;
  const InternalKeyComparator& comparator_;
  const SalvageVisitor& visitor_;
  BlockFetcher fetcher_;
  Readahead readahead_;
  std::map<std::string, BlockHandle> meta_blocks_;
  LooseBlock properties_block_;
  PropertiesView properties_;
  std::unique_ptr<UncompressionDict> dictionary_;
  BlockKeyFormat key_format_;
  uint32_t index_type_ = 0;
  std::string last_key_;  // empty before the first entry
};

Status Salvage::LoadMetaBlocks() {
  ASSIGN_OR_RETURN(const LooseBlock block, fetcher_.ReadLoose(footer_.metaindex, "metaindex"));
  PlainBlockParser parser(block.contents);
  while (parser.Next()) {
    Slice value = parser.value();
    BlockHandle handle;
    if (GetBlockHandle(&value, &handle)) meta_blocks_[parser.key().ToString()] = handle;
  }
  return Status::OK();  // the blocks that are needed are asked for by name
}

// Without properties the format of the index is not known, so nothing can be salvaged.
Status Salvage::LoadProperties(SequenceNumber manifest_largest_seqno) {
  const auto found = meta_blocks_.find(std::string(kPropertiesBlockName));
  if (found == meta_blocks_.end()) {
    return Status::Corruption(StrCat("table: ", file_.path(), ": no properties block"));
  }
  ASSIGN_OR_RETURN(properties_block_, fetcher_.ReadProperties(found->second));
  ASSIGN_OR_RETURN(properties_,
                   ViewProperties(properties_block_.contents, found->second.offset, file_.path()));
  ASSIGN_OR_RETURN(key_format_.global_seqno,
                   FindGlobalSeqno(properties_, manifest_largest_seqno, file_.path()));
  const std::string_view name = properties_.comparator_name;
  const char* const given = comparator_.user_comparator()->Name();
  if (!name.empty() && name != given) {
    return Status::InvalidArgument(
        StrCat("table: ", file_.path(), ": comparator expected ", given, ", found ", name));
  }
  if (properties_.index_type.size() != sizeof(uint32_t)) {
    return Status::Corruption(StrCat("table: ", file_.path(), ": no property of the index type"));
  }
  index_type_ = DecodeFixed32(properties_.index_type.data());
  return Status::OK();
}

// Without its dictionary no block that was compressed with it can be read.
Status Salvage::LoadDictionary() {
  ASSIGN_OR_RETURN(
      const CompressionProperty compression,
      ParseCompressionProperty(properties_.compression_name, footer_.format_version, file_.path()));
  const auto found = meta_blocks_.find(std::string(kCompressionDictBlockName));
  if (found == meta_blocks_.end() || compression.is_none) return Status::OK();
  ASSIGN_OR_RETURN(const LooseBlock block, fetcher_.ReadLoose(found->second, kDictionaryKind));
  dictionary_ = std::make_unique<UncompressionDict>(block.contents);
  fetcher_.SetDictionary(dictionary_.get());
  return Status::OK();
}

Result<BlockHandle> Salvage::FindIndex() {
  if (!UsesIndexHandleInMetaindex(footer_.format_version)) return footer_.index;
  const auto found = meta_blocks_.find(std::string(kIndexBlockName));
  if (found != meta_blocks_.end()) return found->second;
  return Status::Corruption(StrCat("table: ", file_.path(), ": no index block"));
}

Result<std::unique_ptr<FlatIndex>> Salvage::ReadIndex(const BlockHandle& handle,
                                                      const IndexFormat& format) const {
  ASSIGN_OR_RETURN(const LooseBlock block, fetcher_.ReadLoose(handle, "index"));
  auto index = FlatIndex::Parse(
      block.contents, {.format = format, .comparator = &comparator_, .data_end = fetcher_.limit()});
  if (index.ok()) return index;
  return fetcher_.Describe(index.status(), "index", handle);
}

// The parts that all blocks depend on are read first; an error in one of these ends the attempt.
// Damage in a single data block only loses this block.
Status Salvage::Run(SequenceNumber manifest_largest_seqno) {
  RETURN_IF_ERROR(LoadMetaBlocks());
  RETURN_IF_ERROR(LoadProperties(manifest_largest_seqno));
  RETURN_IF_ERROR(LoadDictionary());
  IndexFormat format;
  format.has_user_keys = properties_.index_key_is_user_key != 0;
  format.has_delta_handles = properties_.index_value_is_delta_encoded != 0;
  format.has_first_keys = index_type_ == kTypeFirstKey;  // which partitions never have
  ASSIGN_OR_RETURN(const BlockHandle handle, FindIndex());
  ASSIGN_OR_RETURN(const std::unique_ptr<FlatIndex> top, ReadIndex(handle, format));
  if (index_type_ != kTypeTwoLevel) {
    RETURN_IF_ERROR(VisitLeaf(*top));
    return Report(VisitTombstones());
  }
  for (size_t i = 0; i < top->size(); ++i) {
    auto partition = ReadIndex(top->handle(i), format);
    RETURN_IF_ERROR(partition.ok() ? VisitLeaf(**partition) : Report(partition.status()));
  }
  return Report(VisitTombstones());
}

Status Salvage::VisitLeaf(const FlatIndex& leaf) {
  for (size_t i = 0; i < leaf.size(); ++i) RETURN_IF_ERROR(VisitBlock(leaf.handle(i)));
  return Status::OK();
}

// An entry that does not sort behind the one before it cannot go into a table: it counts as damage.
Status Salvage::VisitBlock(const BlockHandle& handle) {
  Result<DataBlock*> read = fetcher_.ReadData(handle, &readahead_, IOOptions(), {});
  if (!read.ok()) return Report(read.status());
  const ObjectRef<DataBlock> block = ObjectRef<DataBlock>::Own(*read);
  BlockCursor cursor;
  cursor.Attach(&block->block, key_format_);
  Slice key, value;
  for (bool more = cursor.First(&key, &value); more; more = cursor.Next(&key, &value)) {
    if (!last_key_.empty() && comparator_.Compare(last_key_, key) >= 0) {
      visitor_.damage(fetcher_.Describe(
          Status::Corruption(StrCat(InternalKeyInError(key), " does not sort behind ",
                                    InternalKeyInError(last_key_))),
          kDataKind, handle));
      continue;
    }
    last_key_.assign(key.data(), key.size());
    RETURN_IF_ERROR(visitor_.entry(key, value));
  }
  if (cursor.error() == nullptr) return Status::OK();
  return Report(fetcher_.Describe(
      Status::Corruption(StrCat("entry at ", cursor.error_offset(), ": ", cursor.error())),
      kDataKind, handle));
}

Status Salvage::VisitTombstones() const {
  const auto found = meta_blocks_.find(std::string(kRangeDeletionBlockName));
  if (found == meta_blocks_.end()) {
    if (properties_.num_range_deletions == 0) return Status::OK();
    return Status::Corruption(StrCat("table: ", file_.path(), ": no block of range tombstones"));
  }
  ASSIGN_OR_RETURN(const LooseBlock block, fetcher_.ReadLoose(found->second, kTombstonesKind));
  Result<StoredTombstones> stored = ParseRangeDelBlock(block.contents, key_format_.global_seqno);
  if (!stored.ok()) return fetcher_.Describe(stored.status(), kTombstonesKind, found->second);
  return visitor_.tombstones(stored->tombstones);
}

}  // namespace

Status ReadDamagedTable(FileSystem* fs, const FileOptions& options, const std::string& path,
                        const InternalKeyComparator& comparator,
                        SequenceNumber manifest_largest_seqno, const SalvageVisitor& visitor) {
  ASSIGN_OR_RETURN(const auto file, RandomReader::Open(fs, path, options));
  std::array<char, kFooterBytes> memory;
  const auto n = static_cast<size_t>(std::min<uint64_t>(file->size(), kFooterBytes));
  Slice tail;
  RETURN_IF_ERROR(file->ReadExactly(file->size() - n, n, memory.data(), &tail));
  ASSIGN_OR_RETURN(const Footer footer, DecodeFooter(tail, file->size(), path));
  return Salvage(file.get(), footer, comparator, visitor).Run(manifest_largest_seqno);
}

}  // namespace ashlar
