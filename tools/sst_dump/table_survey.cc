// SPDX-License-Identifier: Apache-2.0
//
// The last block is read first: with its last key it is known what all keys begin with.
#include "tools/sst_dump/table_survey.h"

#include <numeric>
#include <utility>

#include "table/format/meta_block_names.h"
#include "tools/lib/output.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr uint64_t kTrailerOfBlock = 5;  // compression type and checksum

EntryKind KindOf(uint8_t type) {
  switch (type) {
    case kTypeValue:
    case kTypeBlobIndex:
    case kTypeWideColumnEntity: return kPutEntries;
    case kTypeMerge: return kMergeEntries;
    case kTypeDeletion:
    case kTypeSingleDeletion: return kDeletionEntries;
    default: return kOtherEntries;
  }
}

// Takes the facts together, block by block.
class Surveyor {
 public:
  explicit Surveyor(TableInspector* table) : table_(table) {}

  Result<TableSurvey> Run() {
    ASSIGN_OR_RETURN(const std::vector<TableInspector::IndexEntry> entries, table_->DataBlocks());
    survey_.blocks.resize(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
      survey_.blocks[i].handle = entries[i].handle;
      survey_.blocks[i].separator = entries[i].separator;
    }
    RETURN_IF_ERROR(FindCommonPrefix());
    Progress progress("blocks");
    for (SurveyedBlock& block : survey_.blocks) {
      RETURN_IF_ERROR(TakeBlock(&block));
      progress.Add();
    }
    RETURN_IF_ERROR(TakeTombstones());
    RETURN_IF_ERROR(TakeParts());
    return std::move(survey_);
  }

 private:
  Status FindCommonPrefix();
  Status TakeBlock(SurveyedBlock* block);
  void TakeEntry(const Slice& key, const Slice& value, SurveyedBlock* block);
  Status TakeTombstones();
  Status TakeParts();

  TableInspector* const table_;
  TableSurvey survey_;
  std::string last_key_;
};

Status Surveyor::FindCommonPrefix() {
  if (survey_.blocks.empty()) return Status::OK();
  bool is_first = true;
  for (const SurveyedBlock* block : {&survey_.blocks.front(), &survey_.blocks.back()}) {
    ASSIGN_OR_RETURN(DataBlock * raw, table_->ReadDataBlock(block->handle));
    const auto held = ObjectRef<DataBlock>::Own(raw);
    const auto take = [&](const Slice& key, const Slice&) {
      const std::string user_key = ExtractUserKey(key).ToString();
      if (std::exchange(is_first, false)) survey_.smallest_key = user_key;
      survey_.largest_key = user_key;
      return Status::OK();
    };
    RETURN_IF_ERROR(table_->ForEachEntry(held->block, block->handle, take));
  }
  const std::string& a = survey_.smallest_key;
  const std::string& b = survey_.largest_key;
  const size_t most = std::min(a.size(), b.size());
  const auto [end, ignored] = std::mismatch(a.begin(), a.begin() + most, b.begin());
  survey_.common_prefix.assign(a.begin(), end);
  return Status::OK();
}

Status Surveyor::TakeBlock(SurveyedBlock* block) {
  ASSIGN_OR_RETURN(block->compression, table_->StoredAs(block->handle));
  ASSIGN_OR_RETURN(DataBlock * raw, table_->ReadDataBlock(block->handle));
  const auto held = ObjectRef<DataBlock>::Own(raw);
  block->raw_bytes = held->block.size();
  const auto take = [&](const Slice& key, const Slice& value) {
    TakeEntry(key, value, block);
    return Status::OK();
  };
  return table_->ForEachEntry(held->block, block->handle, take);
}

void Surveyor::TakeEntry(const Slice& key, const Slice& value, SurveyedBlock* block) {
  const Slice user_key = ExtractUserKey(key);
  const uint64_t trailer = ExtractTrailer(key);
  ++block->entries[KindOf(static_cast<uint8_t>(trailer))];
  survey_.key_bytes.Add(user_key.size());
  survey_.value_bytes.Add(value.size());
  survey_.smallest_seqno = std::min(survey_.smallest_seqno, trailer >> 8);
  survey_.largest_seqno = std::max(survey_.largest_seqno, trailer >> 8);
  if (survey_.entry_count++ != 0 && user_key == Slice(last_key_)) return;
  ++survey_.key_count;
  last_key_.assign(user_key.data(), user_key.size());
  // Of another order than that of bytes, some keys may not have the prefix.
  const size_t prefix_bytes = survey_.common_prefix.size();
  if (!user_key.starts_with(survey_.common_prefix)) return;
  if (user_key.size() == prefix_bytes) {
    ++survey_.ends_at_prefix;
  } else {
    ++survey_.next_byte[static_cast<unsigned char>(user_key[prefix_bytes])];
  }
}

Status Surveyor::TakeTombstones() {
  std::vector<SurveyedBlock>& blocks = survey_.blocks;
  survey_.cover.assign(blocks.size(), 0);
  ASSIGN_OR_RETURN(const InternalKeyComparator comparator, table_->FindComparator());
  std::vector<uint64_t> ends(blocks.size() + 1, 0);  // of what begins before them
  const auto block_of = [&](const Slice& key) {
    const auto is_before = [&](const SurveyedBlock& a, const Slice& b) {
      return comparator.OrderWithoutTimestamp(a.separator, b) < 0;
    };
    return static_cast<size_t>(std::lower_bound(blocks.begin(), blocks.end(), key, is_before) -
                               blocks.begin());
  };
  const auto take = [&](const Slice& key, const Slice& end) {
    const Slice begin = ExtractUserKey(key);
    const size_t first = block_of(begin);
    const size_t last = std::min(block_of(end) + 1, blocks.size());
    ++survey_.tombstone_count;
    if (survey_.tombstones.size() < TableSurvey::kListedTombstones) {
      survey_.tombstones.push_back({.begin = begin.ToString(),
                                    .end = end.ToString(),
                                    .seqno = ExtractTrailer(key) >> 8,
                                    .first_block = first,
                                    .blocks_end = last});
    }
    if (first >= last) return Status::OK();
    ++survey_.cover[first];
    ++ends[last];
    return Status::OK();
  };
  RETURN_IF_ERROR(table_->ForEachTombstone(take));
  uint64_t open = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    open += survey_.cover[i] - ends[i];
    survey_.cover[i] = open;
  }
  return Status::OK();
}

Status Surveyor::TakeParts() {
  uint64_t data = 0, filter = 0, index = 0, tombstones = 0, dictionary = 0;
  for (const SurveyedBlock& block : survey_.blocks) data += block.handle.size + kTrailerOfBlock;
  ASSIGN_OR_RETURN(const std::vector<TableInspector::IndexEntry> parts, table_->IndexPartitions());
  for (const auto& part : parts) index += part.handle.size + kTrailerOfBlock;
  ASSIGN_OR_RETURN(const BlockHandle top, table_->IndexHandle());
  index += top.size + kTrailerOfBlock;
  ASSIGN_OR_RETURN(const std::vector<BlockHandle> filters, table_->FilterBlocks());
  for (const BlockHandle& handle : filters) filter += handle.size + kTrailerOfBlock;
  for (const auto& [name, handle] : table_->meta_blocks()) {
    const uint64_t bytes = handle.size + kTrailerOfBlock;
    if (name == kRangeDeletionBlockName) tombstones += bytes;
    if (name == kCompressionDictBlockName) dictionary += bytes;
    if (Slice(name).starts_with(kPartitionedFilterPrefix) && handle.size != 0) filter += bytes;
    if (name == kHashIndexPrefixesBlockName || name == kHashIndexMetadataBlockName) index += bytes;
  }
  const uint64_t named = data + index + filter + tombstones + dictionary;
  survey_.parts = {{"data", data},
                   {"index", index},
                   {"filter", filter},
                   {"dictionary", dictionary},
                   {"range tombstones", tombstones},
                   {"the rest", table_->file_bytes() - std::min(named, table_->file_bytes())}};
  return Status::OK();
}

}  // namespace

uint64_t SurveyedBlock::EntryCount() const {
  return std::accumulate(entries.begin(), entries.end(), uint64_t{0});
}

Result<TableSurvey> SurveyTable(TableInspector* table) { return Surveyor(table).Run(); }

}  // namespace ashlar
