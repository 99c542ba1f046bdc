// SPDX-License-Identifier: Apache-2.0
//
// A data block is cut when the next entry would make it too large. Its separator needs the first
// key behind it, so block and index entry are written together when that key arrives. Everything
// else is collected on the way and written by Finish(), from the filter to the footer.
#include "table/sst/table_builder.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "ashlar/table_properties.h"
#include "env/file_writer.h"
#include "table/block/block_builder.h"
#include "table/block/block_cursor.h"
#include "table/filter/full_filter_builder.h"
#include "table/format/footer.h"
#include "table/format/meta_block_names.h"
#include "table/format/properties.h"
#include "table/format/table_property_names.h"
#include "table/index/index_builder.h"
#include "table/sst/block_writer.h"
#include "table/sst/property_collectors.h"
#include "util/entry_limits.h"
#include "util/filter_policy_impl.h"
#include "util/hash.h"
#include "util/internal_key.h"
#include "util/result.h"
#include "util/str_cat.h"

namespace ashlar {

namespace {

constexpr int kAllInOneInterval = INT32_MAX;
// From this size on an entry has a block of its own.
constexpr size_t kLargeEntryBytes = size_t{1} << 30;

// Never 0: that would mean no context. 31 bits, as other engines choose it.
uint32_t ChooseBaseChecksum(const TableBuilderOptions& options) {
  if (!UsesContextChecksums(options.table->format_version)) return 0;
  if (options.base_context_checksum != 0) return options.base_context_checksum;
  const uint64_t hash = XxHash64(options.db_session_id.data(), options.db_session_id.size(),
                                 options.file_number.value());
  return (static_cast<uint32_t>(hash) & INT32_MAX) | 1;
}

std::string DescribeCompression(const TableBuilderOptions& options) {
  const CompressionOptions& o = options.compression_opts;
  return StrCat("window_bits=", o.window_bits, "; level=", o.level, "; strategy=", o.strategy,
                "; max_dict_bytes=", o.max_dict_bytes,
                "; zstd_max_train_bytes=", o.zstd_max_train_bytes, "; enabled=", int{o.enabled},
                "; max_dict_buffer_bytes=", o.max_dict_buffer_bytes,
                "; use_zstd_dict_trainer=", int{o.use_zstd_dict_trainer},
                "; max_compressed_bytes_per_kb=", o.max_compressed_bytes_per_kb,
                "; checksum=", int{o.checksum}, "; _type=", int{options.compression}, "; ");
}

BlockBuilderOptions DataBlockOptions(const TableBuilderOptions& options) {
  const BlockBasedTableOptions& table = *options.table;
  // Equal keys must have equal bytes, or the hash would miss: only the bytewise orders promise it.
  const bool has_hash_index =
      table.data_block_index_type == BlockBasedTableOptions::kDataBlockBinaryAndHash &&
      options.icmp->order() != KeyOrder::kCustom && table.data_block_hash_table_util_ratio > 0;
  return {.restart_interval = std::max(1, table.block_restart_interval),
          .use_delta_encoding = table.use_delta_encoding,
          .hash_util_ratio = has_hash_index ? table.data_block_hash_table_util_ratio : 0};
}

IndexShortening ShorteningOf(BlockBasedTableOptions::IndexShorteningMode mode) {
  using Mode = BlockBasedTableOptions::IndexShorteningMode;
  switch (mode) {
    case Mode::kNoShortening: return IndexShortening::kNone;
    case Mode::kShortenSeparators: return IndexShortening::kSeparators;
    case Mode::kShortenSeparatorsAndSuccessor: return IndexShortening::kSeparatorsAndLast;
  }
  return IndexShortening::kSeparators;
}

IndexBuilderOptions IndexOptions(const TableBuilderOptions& options) {
  return {.icmp = options.icmp,
          .shortening = ShorteningOf(options.table->index_shortening),
          .format_version = options.table->format_version,
          .restart_interval = std::max(1, options.table->index_block_restart_interval)};
}

BlockWriterOptions WriterOptions(const TableBuilderOptions& options) {
  return {.checksum = {options.table->checksum, ChooseBaseChecksum(options)},
          .compression = options.compression,
          .compression_opts = options.compression_opts,
          .verify_compression = options.table->verify_compression,
          .statistics = options.statistics};
}

#if ASHLAR_INVARIANTS
// The paired check: what a reader will do with the block, before it is on the disk.
Status CheckDataBlock(const Slice& contents, const BlockBuilder& builder,
                      const InternalKeyComparator& icmp) {
  Block block;
  RETURN_IF_ERROR(Block::Parse(contents, &block));
  BlockCursor cursor;
  cursor.Attach(&block, BlockKeyFormat{});
  Slice key, value;
  std::string previous;
  size_t entry_count = 0;
  for (bool more = cursor.First(&key, &value); more; more = cursor.Next(&key, &value)) {
    if (entry_count++ > 0 && icmp.Compare(previous, key) >= 0) break;
    previous = key.ToString();
  }
  if (cursor.error() == nullptr && entry_count == builder.entry_count() &&
      builder.last_key() == Slice(previous)) {
    return Status::OK();
  }
  return Status::Corruption(StrCat("new data block: entry ", entry_count, " of ",
                                   builder.entry_count(), " does not read back; check the memory"));
}
#endif

}  // namespace

class TableBuilder::Rep {
 public:
  Rep(const TableBuilderOptions& options, FileWriter* file);

  Status Add(const Slice& key, const Slice& value);
  Status Finish();
  uint64_t FileSize() const;

  // The properties that are known at the end or come from the options.
  void FinishFacts();
  bool IsInOrder(const Slice& key) const;
  bool MustCutBefore(const Slice& key, const Slice& value) const;
  // Writes the data block; with the next block's first key, null at the end, its separator is
  // known.
  Status CutBlock(const Slice* next_key);
  Status RefuseOrder(const Slice& key);
  Status PrepareForLarge(const Slice& key, const Slice& value);
  Status RefuseSize(const Slice& key, const Slice& value);
  Status AddRangeTombstone(const Slice& key, const Slice& value);
  void Count(const Slice& key, const Slice& value, uint64_t trailer);
  // Everything behind the data blocks, in the order of the file.
  Status WriteTail();
  Status WriteFilter();
  Status WriteIndex();
  Status WriteRangeTombstones();
  Status WriteProperties();
  Status WriteMetaindexAndFooter();

  const TableBuilderOptions options;
  FileWriter* const file;
  const size_t block_bytes;        // cut at this size
  const size_t nearly_full_bytes;  // from here on, cut if the next entry does not fit
  Status status;                   // the first error, which every later call answers
  bool is_closed = false;          // finished or abandoned

  BlockWriter writer;
  BlockBuilder data_block;  // the one that is being filled
  IndexBuilder index;
  BlockBuilder range_tombstones;            // in the order in which they came
  std::optional<FullFilterBuilder> filter;  // none: the table gets no filter
  PropertyCollectors collectors;

  TableProperties properties;  // counts while entries come, the rest at the end
  SequenceNumber smallest_seqno = kMaxSequenceNumber;
  SequenceNumber largest_seqno = 0;

  BlockHandle index_handle;
  std::map<std::string, BlockHandle> meta_blocks;  // by name, as the metaindex lists them
};

TableBuilder::Rep::Rep(const TableBuilderOptions& builder_options, FileWriter* target)
    : options(builder_options),
      file(target),
      block_bytes(options.table->block_size),
      nearly_full_bytes(
          (block_bytes *
               static_cast<size_t>(100 - std::clamp(options.table->block_size_deviation, 0, 100)) +
           99) /
          100),
      writer(WriterOptions(options), target),
      data_block(DataBlockOptions(options)),
      index(IndexOptions(options)),
      range_tombstones({.restart_interval = 1}),
      collectors(options.collector_factories, TablePropertiesCollectorFactory::Context(
                                                  options.column_family_id, options.level,
                                                  options.level_count, kMaxSequenceNumber)) {
  assert(file->size() == 0);
  assert(options.icmp != nullptr);
  assert(nearly_full_bytes <= block_bytes);
  const BlockBasedTableOptions& table = *options.table;
  status = CheckTableOptionsWritable(table, options.compression);
  if (!status.ok()) return;
  status = writer.Open();
  if (!status.ok()) return;
  const FilterPolicyInfo policy = DescribeFilterPolicy(table.filter_policy.get());
  if (policy.kind != FilterKind::kBloom || !options.has_filter) return;
  const int millibits = std::max(1000, policy.millibits_per_key + options.filter_shift_millibits);
  filter.emplace(FullFilterOptions{.kind = UsesCacheLocalBloom(table.format_version)
                                               ? BloomKind::kCacheLocal
                                               : BloomKind::kLegacy,
                                   .millibits_per_key = static_cast<uint32_t>(millibits),
                                   .fit_probes_to_size = table.optimize_filters_for_memory,
                                   .add_whole_keys = table.whole_key_filtering,
                                   .prefix_extractor = options.prefix_extractor});
}

// Hot: once per entry of every flush and compaction. No allocation, no virtual call but the user's
// own comparator, prefix extractor and collectors.
Status TableBuilder::Rep::Add(const Slice& key, const Slice& value) {
  if (!status.ok()) [[unlikely]]
    return status;
  assert(!is_closed);
  if (key.size() + value.size() >= kLargeEntryBytes) [[unlikely]]
    RETURN_IF_ERROR(PrepareForLarge(key, value));
  const uint64_t trailer = ExtractTrailer(key);
  if (TrailerType(trailer) == kTypeRangeDeletion) [[unlikely]] {
    Count(key, value, trailer);
    return AddRangeTombstone(key, value);
  }
  if (!data_block.empty()) [[likely]] {
    if (!IsInOrder(key)) [[unlikely]]
      return RefuseOrder(key);
    if (MustCutBefore(key, value)) [[unlikely]] {
      status = CutBlock(&key);
      if (!status.ok()) return status;
    }
  }
  data_block.Add(key, value);
  if (filter.has_value()) filter->AddKey(ExtractUserKey(key));
  Count(key, value, trailer);
  if (!collectors.empty()) [[unlikely]]
    collectors.AddEntry(key, value, FileSize());
  return Status::OK();
}

bool TableBuilder::Rep::IsInOrder(const Slice& key) const {
  assert(!data_block.empty());  // of a block's first key the separator has been made
  return options.icmp->Compare(data_block.last_key(), key) < 0;
}

bool TableBuilder::Rep::MustCutBefore(const Slice& key, const Slice& value) const {
  assert(!data_block.empty());
  const size_t bytes = data_block.CurrentBytes();
  if (bytes >= block_bytes) return true;
  return bytes > nearly_full_bytes && data_block.EstimateBytesWith(key, value) > block_bytes;
}

Status TableBuilder::Rep::CutBlock(const Slice* next_key) {
  assert(!data_block.empty());
  const Slice contents = data_block.Finish();
#if ASHLAR_INVARIANTS
  RETURN_IF_ERROR(CheckDataBlock(contents, data_block, *options.icmp));
#endif
  BlockHandle handle;
  RETURN_IF_ERROR(writer.Write(contents, Packing::kMayBeCompressed, &handle));
  index.AddBlock(data_block.last_key(), next_key, handle);
  ++properties.num_data_blocks;
  properties.uncompressed_data_size += contents.size();
  if (!writer.compresses()) ++properties.num_data_blocks_compression_bypassed;
  if (writer.was_rejected()) ++properties.num_data_blocks_compression_rejected;
  if (!collectors.empty()) collectors.AddBlock(contents.size());
  data_block.Reset();
  assert(properties.num_data_blocks == index.block_count());
  return Status::OK();
}

Status TableBuilder::Rep::RefuseOrder(const Slice& key) {
  assert(status.ok() && !IsInOrder(key));
  status = Status::Corruption(
      StrCat("table builder: ", file->path(), ", entry ", properties.num_entries, ": ",
             DescribeInternalKey(key, /*hex=*/true), " does not sort behind ",
             DescribeInternalKey(data_block.last_key(), /*hex=*/true),
             "; check that the comparator is the one the data was written with"));
  return status;
}

Status TableBuilder::Rep::PrepareForLarge(const Slice& key, const Slice& value) {
  assert(status.ok() && key.size() + value.size() >= kLargeEntryBytes);
  if (key.size() + value.size() > kMaxEntryBytes) return RefuseSize(key, value);
  // Before the order is checked, which needs the last key of the block.
  if (data_block.empty() || !IsInOrder(key)) return Status::OK();
  status = CutBlock(&key);
  return status;
}

Status TableBuilder::Rep::RefuseSize(const Slice& key, const Slice& value) {
  assert(status.ok());  // the first error stays
  status = Status::InvalidArgument(StrCat("table builder: ", file->path(), ": an entry of ",
                                          key.size(), " + ", value.size(), " bytes, but at most ",
                                          kMaxEntryBytes, " fit into a table"));
  return status;
}

Status TableBuilder::Rep::AddRangeTombstone(const Slice& key, const Slice& value) {
  assert(TrailerType(ExtractTrailer(key)) == kTypeRangeDeletion);
  range_tombstones.Add(key, value);
  ++properties.num_range_deletions;
  if (!collectors.empty()) collectors.AddEntry(key, value, FileSize());
  return Status::OK();
}

void TableBuilder::Rep::Count(const Slice& key, const Slice& value, uint64_t trailer) {
  ++properties.num_entries;
  properties.raw_key_size += key.size();
  properties.raw_value_size += value.size();
  const SequenceNumber seqno = TrailerSeqno(trailer);
  smallest_seqno = std::min(smallest_seqno, seqno);
  largest_seqno = std::max(largest_seqno, seqno);
  assert(smallest_seqno <= largest_seqno);
  const ValueType type = TrailerType(trailer);
  if (type == kTypeValue) [[likely]]
    return;
  properties.num_deletions += type == kTypeDeletion || type == kTypeSingleDeletion ||
                              type == kTypeDeletionWithTimestamp || type == kTypeRangeDeletion;
  properties.num_merge_operands += type == kTypeMerge;
}

uint64_t TableBuilder::Rep::FileSize() const {
  return writer.offset() + (data_block.empty() ? 0 : data_block.CurrentBytes());
}

Status TableBuilder::Rep::Finish() {
  assert(!is_closed);
  is_closed = true;
  if (!status.ok()) return status;
  if (!data_block.empty()) status = CutBlock(nullptr);
  if (status.ok()) status = WriteTail();
  return status;
}

Status TableBuilder::Rep::WriteTail() {
  assert(data_block.empty());
  assert(meta_blocks.empty());
  properties.data_size = writer.offset();
  properties.tail_start_offset = writer.offset();
  RETURN_IF_ERROR(WriteFilter());
  RETURN_IF_ERROR(WriteIndex());
  RETURN_IF_ERROR(WriteRangeTombstones());
  RETURN_IF_ERROR(WriteProperties());
  return WriteMetaindexAndFooter();
}

Status TableBuilder::Rep::WriteFilter() {
  if (!filter.has_value() || filter->entry_count() == 0) return Status::OK();
  const std::string contents = filter->Finish();
  if (options.table->detect_filter_construct_corruption) {
    RETURN_IF_ERROR(filter->CheckFilter(contents));
  }
  properties.filter_size = contents.size();
  properties.num_filter_entries = filter->entry_count();
  const char* policy = options.table->filter_policy->CompatibilityName();
  return writer.Write(contents, Packing::kStored, &meta_blocks[StrCat(kFullFilterPrefix, policy)]);
}

Status TableBuilder::Rep::WriteIndex() {
  const Slice contents = index.Finish();
  properties.index_size = contents.size() + kBlockTrailerBytes;
  properties.index_key_is_user_key = index.has_user_keys() ? 1 : 0;
  properties.index_value_is_delta_encoded = index.has_delta_handles() ? 1 : 0;
  const Packing packing =
      options.table->enable_index_compression ? Packing::kMayBeCompressed : Packing::kStored;
  return writer.Write(contents, packing, &index_handle);
}

Status TableBuilder::Rep::WriteRangeTombstones() {
  if (range_tombstones.empty()) return Status::OK();
  return writer.Write(range_tombstones.Finish(), Packing::kStored,
                      &meta_blocks[std::string(kRangeDeletionBlockName)]);
}

// The facts that do not come from the entries.
void TableBuilder::Rep::FinishFacts() {
  const BlockBasedTableOptions& table = *options.table;
  TableProperties& p = properties;
  p.orig_file_number = options.file_number.value();
  p.format_version = table.format_version;
  p.column_family_id = options.column_family_id;
  p.column_family_name = options.column_family_name;
  p.creation_time = options.oldest_ancestor_time;
  p.oldest_key_time = options.oldest_key_time;
  p.newest_key_time = options.newest_key_time;
  p.file_creation_time = options.file_creation_time;
  p.data_block_restart_interval = static_cast<uint64_t>(std::max(1, table.block_restart_interval));
  p.index_block_restart_interval =
      static_cast<uint64_t>(std::max(1, table.index_block_restart_interval));
  if (p.num_entries > 0) {
    p.key_smallest_seqno = smallest_seqno;
    p.key_largest_seqno = largest_seqno;
  }
  p.db_id = options.db_id;
  p.db_session_id = options.db_session_id;
  p.db_host_id = options.db_host_id;
  p.comparator_name = options.icmp->user_comparator()->Name();
  p.merge_operator_name =
      options.merge_operator_name.empty() ? "nullptr" : options.merge_operator_name;
  p.prefix_extractor_name =
      options.prefix_extractor == nullptr ? "nullptr" : options.prefix_extractor->AsString();
  if (table.filter_policy != nullptr) p.filter_policy_name = table.filter_policy->Name();
  p.compression_name =
      EncodeCompressionProperty(options.compression, writer.used_types(), table.format_version);
  p.compression_options = DescribeCompression(options);

  const auto set = [&p](std::string_view name, std::string value) {
    p.user_collected_properties[std::string(name)] = std::move(value);
  };
  const auto flag = [](bool value) { return std::string(value ? kPropertyTrue : kPropertyFalse); };
  set(kIndexTypeProperty, std::string(sizeof(uint32_t), '\0'));  // binary search
  set(kWholeKeyFilteringProperty, flag(table.whole_key_filtering));
  set(kPrefixFilteringProperty, flag(options.prefix_extractor != nullptr));
  if (table.decouple_partitioned_filters) set(kDecoupledFiltersProperty, flag(true));
  if (options.is_external_file) {
    std::string version;
    PutFixed32(&version, 2);  // with a global sequence number, 0 until the file is ingested
    set(kExternalVersionProperty, version);
    set(kGlobalSeqnoProperty, std::string(sizeof(uint64_t), '\0'));
  }
}

Status TableBuilder::Rep::WriteProperties() {
  assert(properties.num_deletions <= properties.num_entries);
  collectors.Finish(&properties);
  FinishFacts();
  BlockBuilder block({.restart_interval = kAllInOneInterval});
  for (const auto& [name, value] : EncodeProperties(properties)) block.Add(name, value);
  return writer.Write(block.Finish(), Packing::kStored,
                      &meta_blocks[std::string(kPropertiesBlockName)]);
}

Status TableBuilder::Rep::WriteMetaindexAndFooter() {
  const uint32_t format_version = options.table->format_version;
  if (UsesIndexHandleInMetaindex(format_version)) {
    meta_blocks[std::string(kIndexBlockName)] = index_handle;
  }
  BlockBuilder block({.restart_interval = 1});
  for (const auto& [name, handle] : meta_blocks) {
    std::string value;
    handle.AppendTo(&value);
    block.Add(name, value);
  }
  Footer footer;
  footer.format_version = format_version;
  footer.checksum = WriterOptions(options).checksum;
  footer.index = index_handle;
  RETURN_IF_ERROR(writer.Write(block.Finish(), Packing::kStored, &footer.metaindex));
  std::string bytes;
  AppendFooter(footer, writer.offset(), &bytes);
  return writer.Append(bytes);
}

Status CheckTableOptionsWritable(const BlockBasedTableOptions& options,
                                 CompressionType compression) {
  const auto refuse = [](std::string_view option) {
    return Status::NotSupported(
        StrCat("BlockBasedTableOptions::", option, ": this setting is not built yet for writing"));
  };
  if (options.format_version < kOldestFormatVersion ||
      options.format_version > kNewestFormatVersion) {
    return Status::InvalidArgument(
        StrCat("BlockBasedTableOptions::format_version expected 2 to 7, "
               "found ",
               options.format_version));
  }
  if (!IsKnownChecksumType(static_cast<uint8_t>(options.checksum))) {
    return Status::InvalidArgument(
        StrCat("BlockBasedTableOptions::checksum expected 0 to 4, found ", int{options.checksum}));
  }
  if (options.block_size > INT32_MAX) {
    return Status::InvalidArgument(StrCat(
        "BlockBasedTableOptions::block_size expected below 2 GiB, found ", options.block_size));
  }
  if (options.index_type != BlockBasedTableOptions::kBinarySearch) return refuse("index_type");
  if (options.partition_filters) return refuse("partition_filters");
  if (options.block_align) return refuse("block_align");
  if (options.super_block_alignment_size != 0) return refuse("super_block_alignment_size");
  if (options.separate_key_value_in_data_block) return refuse("separate_key_value_in_data_block");
  if (options.user_defined_index_factory != nullptr) return refuse("user_defined_index_factory");
  if (!IsCompressionSupported(compression)) {
    return Status::NotSupported(
        StrCat("compression type ", int{compression}, " is not part of this build"));
  }
  const FilterKind filter = DescribeFilterPolicy(options.filter_policy.get()).kind;
  if (filter == FilterKind::kRibbon || filter == FilterKind::kCustom) {
    return refuse("filter_policy");
  }
  return Status::OK();
}

TableBuilder::TableBuilder(const TableBuilderOptions& options, FileWriter* file)
    : rep_(new Rep(options, file)) {}
TableBuilder::~TableBuilder() = default;

Status TableBuilder::Add(const Slice& internal_key, const Slice& value) {
  return rep_->Add(internal_key, value);
}
Status TableBuilder::Finish() {
  Status status = rep_->Finish();
  assert(rep_->is_closed);
  return status;
}
void TableBuilder::Abandon() { rep_->is_closed = true; }

std::string TableBuilder::DebugString() const {
  const TableProperties& p = rep_->properties;
  return StrCat("table builder ", rep_->file->path(), rep_->is_closed ? ", closed" : "", "\n  ",
                p.num_entries, " entries, ", p.num_range_deletions, " range tombstones, ",
                p.num_data_blocks, " data blocks, ", rep_->data_block.entry_count(),
                " entries in the open one\n  ", FileSize(), " bytes, seqnos ", rep_->smallest_seqno,
                "..", rep_->largest_seqno, "\n  status ", rep_->status.ToString(), "\n  ",
                rep_->index.DebugString(), "\n  ", rep_->writer.DebugString(), "\n");
}

const Status& TableBuilder::status() const { return rep_->status; }
uint64_t TableBuilder::num_entries() const { return rep_->properties.num_entries; }
uint64_t TableBuilder::FileSize() const { return rep_->FileSize(); }
uint64_t TableBuilder::EstimatedFileSize() const {
  if (rep_->is_closed) return rep_->FileSize();
  const size_t filter_bytes = rep_->filter.has_value() ? rep_->filter->EstimateBytes() : 0;
  return rep_->FileSize() + rep_->index.EstimateBytes() + filter_bytes;
}
uint64_t TableBuilder::tail_size() const {
  return rep_->writer.offset() - rep_->properties.tail_start_offset;
}
SequenceNumber TableBuilder::smallest_seqno() const { return rep_->smallest_seqno; }
SequenceNumber TableBuilder::largest_seqno() const { return rep_->largest_seqno; }
bool TableBuilder::NeedCompact() const { return rep_->collectors.NeedCompact(); }
const TableProperties& TableBuilder::properties() const { return rep_->properties; }

}  // namespace ashlar
