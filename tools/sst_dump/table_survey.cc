// SPDX-License-Identifier: Apache-2.0
//
// The first and the last block are read first: their keys give the common prefix of all keys.
//
// The last five bytes of a filter block give its kind: docs/formats/filters.md. A filter of an
// unknown kind is queried like the others; it answers yes to every key.
#include "tools/sst_dump/table_survey.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>
#include <utility>
#include <vector>

#include "table/filter/bloom.h"
#include "table/filter/filter_view.h"
#include "table/format/meta_block_names.h"
#include "tools/lib/console.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr uint64_t kBlockTrailerBytes = 5;  // compression type and checksum

// The kind under which the report counts an entry of this value type.
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

// Collects the survey of a table, block by block.
class Surveyor {
 public:
  explicit Surveyor(TableInspector* table) : table_(table) {}

  // Can be called once, since the result is moved out. The common prefix of all keys is found
  // first: the distribution of the next byte, which each block adds to, depends on it.
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
      RETURN_IF_ERROR(AddDataBlock(&block));
      progress.Add();
    }
    RETURN_IF_ERROR(AddTombstones());
    RETURN_IF_ERROR(AddParts());
    return std::move(survey_);
  }

 private:
  Status FindCommonPrefix();
  Status AddDataBlock(SurveyedBlock* block);
  void AddEntry(const Slice& key, const Slice& value, SurveyedBlock* block);
  Status AddTombstones();
  Status AddParts();

  TableInspector* const table_;
  TableSurvey survey_;
  std::string last_key_;
};

// Keys are sorted, so with bytewise order the prefix that the first and the last key share is
// common to all.
Status Surveyor::FindCommonPrefix() {
  if (survey_.blocks.empty()) return Status::OK();
  bool is_first = true;
  for (const SurveyedBlock* block : {&survey_.blocks.front(), &survey_.blocks.back()}) {
    ASSIGN_OR_RETURN(DataBlock * raw, table_->ReadDataBlock(block->handle));
    const auto held = ObjectRef<DataBlock>::Own(raw);
    const auto add = [&](const Slice& key, const Slice&) {
      const std::string user_key = ExtractUserKey(key).ToString();
      if (std::exchange(is_first, false)) survey_.smallest_key = user_key;
      survey_.largest_key = user_key;
      return Status::OK();
    };
    RETURN_IF_ERROR(table_->ForEachEntry(held->block, block->handle, add));
  }
  const std::string& a = survey_.smallest_key;
  const std::string& b = survey_.largest_key;
  const size_t shorter = std::min(a.size(), b.size());
  const auto [end, ignored] = std::mismatch(a.begin(), a.begin() + shorter, b.begin());
  survey_.common_prefix.assign(a.begin(), end);
  return Status::OK();
}

Status Surveyor::AddDataBlock(SurveyedBlock* block) {
  assert(block != nullptr);
  ASSIGN_OR_RETURN(block->compression, table_->StoredAs(block->handle));
  ASSIGN_OR_RETURN(DataBlock * raw, table_->ReadDataBlock(block->handle));
  const auto held = ObjectRef<DataBlock>::Own(raw);
  block->raw_bytes = held->block.size();
  const auto add = [&](const Slice& key, const Slice& value) {
    AddEntry(key, value, block);
    return Status::OK();
  };
  return table_->ForEachEntry(held->block, block->handle, add);
}

// Entries come in the order of the table, so all versions of a key are neighbours and last_key_
// tells whether a key is new.
void Surveyor::AddEntry(const Slice& key, const Slice& value, SurveyedBlock* block) {
  assert(block != nullptr);
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
  // With another comparator than the bytewise one, keys between the first and the last may not have
  // the prefix.
  const size_t prefix_bytes = survey_.common_prefix.size();
  if (!user_key.starts_with(survey_.common_prefix)) return;
  if (user_key.size() == prefix_bytes) {
    ++survey_.ends_at_prefix;
  } else {
    ++survey_.next_byte[static_cast<unsigned char>(user_key[prefix_bytes])];
  }
}

// Counts for each block the range tombstones over it. Each tombstone adds one at its first block
// and takes it off behind its last; the running sum of these changes is the number at each block.
// So the work is proportional to tombstones plus blocks, even if every tombstone covers the whole
// table.
Status Surveyor::AddTombstones() {
  std::vector<SurveyedBlock>& blocks = survey_.blocks;
  survey_.cover.assign(blocks.size(), 0);
  ASSIGN_OR_RETURN(const InternalKeyComparator comparator, table_->FindComparator());
  std::vector<uint64_t> ends(blocks.size() + 1,
                             0);  // by block: range tombstones that end before it
  const auto block_of = [&](const Slice& key) {
    const auto is_before = [&](const SurveyedBlock& a, const Slice& b) {
      return comparator.OrderWithoutTimestamp(a.separator, b) < 0;
    };
    return static_cast<size_t>(std::lower_bound(blocks.begin(), blocks.end(), key, is_before) -
                               blocks.begin());
  };
  const auto add = [&](const Slice& key, const Slice& end) {
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
  RETURN_IF_ERROR(table_->ForEachTombstone(add));
  uint64_t current = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    current += survey_.cover[i] - ends[i];
    survey_.cover[i] = current;
  }
  return Status::OK();
}

// Sizes come from the block handles plus the trailer that follows each block. The bytes that belong
// to none of the kinds are metadata: properties, metaindex and footer.
Status Surveyor::AddParts() {
  uint64_t data = 0, filter = 0, index = 0, tombstones = 0, dictionary = 0;
  for (const SurveyedBlock& block : survey_.blocks) data += block.handle.size + kBlockTrailerBytes;
  ASSIGN_OR_RETURN(const std::vector<TableInspector::IndexEntry> parts, table_->IndexPartitions());
  for (const auto& part : parts) index += part.handle.size + kBlockTrailerBytes;
  ASSIGN_OR_RETURN(const BlockHandle top, table_->IndexHandle());
  index += top.size + kBlockTrailerBytes;
  ASSIGN_OR_RETURN(const std::vector<BlockHandle> filters, table_->FilterBlocks());
  for (const BlockHandle& handle : filters) filter += handle.size + kBlockTrailerBytes;
  for (const auto& [name, handle] : table_->meta_blocks()) {
    const uint64_t bytes = handle.size + kBlockTrailerBytes;
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
                   {"other", table_->file_bytes() - std::min(named, table_->file_bytes())}};
  return Status::OK();
}

// Enough to measure a false positive rate of 0.1 % with an error of a tenth of it.
constexpr uint64_t kQueries = 200'000;
constexpr uint64_t kSeed = 20;

uint64_t CountSetBits(const Slice& bits) {
  uint64_t count = 0;
  for (size_t i = 0; i < bits.size(); ++i) {
    count += static_cast<uint64_t>(std::popcount(static_cast<unsigned char>(bits[i])));
  }
  return count;
}

// The kind of a filter, from the metadata after its bits.
std::string DescribeKind(const Slice& metadata, bool* is_of_lines) {
  assert(is_of_lines != nullptr);
  const int marker = static_cast<signed char>(metadata[0]);
  *is_of_lines = marker == -1 && metadata[1] == 0;
  if (*is_of_lines) return StrCat("Bloom, ", metadata[2] & 31, " probes");
  if (marker == -2) return "Ribbon";
  if (marker > 0) return StrCat("Bloom of format version 4 or older, ", marker, " probes");
  return "Unknown kind";
}

// Counts the lines of a Bloom filter by the share of their bits that are set. Bytes behind the last
// full line are ignored.
void AddLines(const Slice& bits, FilterSurvey* survey) {
  assert(survey != nullptr);
  for (size_t at = 0; at + kBloomLineBytes <= bits.size(); at += kBloomLineBytes) {
    const uint64_t set = CountSetBits(Slice(bits.data() + at, kBloomLineBytes));
    const size_t step = set * FilterSurvey::kSteps / (kBloomLineBytes * 8);
    ++survey->lines[std::min(step, FilterSurvey::kSteps - 1)];
  }
}

// Adds one filter block to the survey. Random hashes stand for the hashes of absent keys: a good
// hash function makes the two indistinguishable.
void AddFilterBlock(const Slice& contents, uint64_t queries, Random64* random,
                    FilterSurvey* survey) {
  assert(random != nullptr);
  assert(survey != nullptr);
  const FilterView view(contents);
  for (uint64_t i = 0; i < queries; ++i) {
    survey->positive_count += view.MayContainHash(random->Next());
  }
  survey->query_count += queries;
  if (contents.size() <= kBloomMetadataBytes) return;  // a filter without keys
  const Slice bits(contents.data(), contents.size() - kBloomMetadataBytes);
  survey->kind =
      DescribeKind(Slice(bits.data() + bits.size(), kBloomMetadataBytes), &survey->is_of_lines);
  survey->set_bits += CountSetBits(bits);
  if (survey->is_of_lines) AddLines(bits, survey);
}

}  // namespace

uint64_t SurveyedBlock::EntryCount() const {
  return std::accumulate(entries.begin(), entries.end(), uint64_t{0});
}

Result<TableSurvey> SurveyTable(TableInspector* table) { return Surveyor(table).Run(); }

Result<FilterSurvey> SurveyFilter(TableInspector* table) {
  assert(table != nullptr);
  ASSIGN_OR_RETURN(const std::vector<BlockHandle> blocks, table->FilterBlocks());
  FilterSurvey survey;
  survey.block_count = blocks.size();
  for (const BlockHandle& handle : blocks) survey.bytes += handle.size;
  Random64 random(kSeed);
  for (const BlockHandle& handle : blocks) {
    ASSIGN_OR_RETURN(const LooseBlock block, table->ReadBlock(handle, "filter"));
    // Each partition gets its share of the queries, as lookups would distribute them.
    const double share = static_cast<double>(handle.size) / static_cast<double>(survey.bytes);
    const auto queries = static_cast<uint64_t>(share * static_cast<double>(kQueries));
    AddFilterBlock(block.contents, std::max<uint64_t>(1, queries), &random, &survey);
  }
  return survey;
}

}  // namespace ashlar
