// SPDX-License-Identifier: Apache-2.0
//
// The part of a table behind its data blocks, in the order of the file: filter, index, dictionary,
// range tombstones, properties, metaindex, footer.
#include <cassert>
#include <cstdint>

#include "ashlar/table.h"
#include "table/format/footer.h"
#include "table/format/meta_block_names.h"
#include "table/format/properties.h"
#include "table/sst/write/builder_settings.h"
#include "table/sst/write/table_builder_rep.h"
#include "table/sst/write/table_origin.h"
#include "util/result.h"

namespace ashlar {

namespace {

// The properties block has one restart point for all its entries.
constexpr int kAllInOneInterval = INT32_MAX;

// The least and the greatest timestamp of all entries and range tombstones, as raw bytes.
constexpr const char* kTimestampMinName = "rocksdb.timestamp_min";
constexpr const char* kTimestampMaxName = "rocksdb.timestamp_max";

}  // namespace

// The order matters: the properties contain the sizes of filter and index, the metaindex the places
// of all meta blocks, and the footer the place of the metaindex. A reader begins with the footer,
// at the end of the file.
Status TableBuilder::Rep::WriteTail() {
  assert(data_block.empty());
  assert(meta_blocks.empty());
  properties.data_size = writer.offset();
  properties.tail_start_offset = writer.offset();
  RETURN_IF_ERROR(WriteFilter());
  RETURN_IF_ERROR(WriteIndex());
  RETURN_IF_ERROR(WriteDictionary());
  RETURN_IF_ERROR(WriteRangeTombstones());
  RETURN_IF_ERROR(WriteProperties());
  return WriteMetaindexAndFooter();
}

Status TableBuilder::Rep::WriteFilter() {
  RETURN_IF_ERROR(filter.WriteTo(&writer));
  if (filter.meta_name().empty()) return Status::OK();
  meta_blocks[filter.meta_name()] = filter.handle();
  properties.filter_size = filter.written_bytes();
  properties.num_filter_entries = filter.entry_count();
  return Status::OK();
}

// The two prefix blocks of a hash index come before the index. They are left out if nothing was
// added or a key has no prefix; readers then use the binary search index alone.
Status TableBuilder::Rep::WriteIndex() {
  const Packing packing =
      options.table->enable_index_compression ? Packing::kMayBeCompressed : Packing::kStored;
  size_t prefix_bytes = 0;
  if (prefix_blocks.has_value()) prefix_blocks->Finish();
  if (prefix_blocks.has_value() && prefix_blocks->is_usable()) {
    RETURN_IF_ERROR(writer.Write(prefix_blocks->metadata(), packing,
                                 &meta_blocks[std::string(kHashIndexMetadataBlockName)]));
    RETURN_IF_ERROR(writer.Write(prefix_blocks->prefixes(), packing,
                                 &meta_blocks[std::string(kHashIndexPrefixesBlockName)]));
    prefix_bytes = prefix_blocks->metadata().size() + prefix_blocks->prefixes().size();
  }
  ASSIGN_OR_RETURN(index_handle, index.WriteTo([&](const Slice& block) -> Result<BlockHandle> {
    BlockHandle handle;
    RETURN_IF_ERROR(writer.Write(block, packing, &handle));
    return handle;
  }));
  properties.index_size = index.written_bytes() + prefix_bytes + kBlockTrailerBytes;
  properties.index_partitions = index.partition_count();
  properties.top_level_index_size = index.top_level_bytes();
  properties.num_uniform_blocks = index.uniform_block_count();
  properties.index_key_is_user_key = index.has_user_keys() ? 1 : 0;
  properties.index_value_is_delta_encoded = index.has_delta_handles() ? 1 : 0;
  return Status::OK();
}

Status TableBuilder::Rep::WriteDictionary() {
  if (dictionary.empty()) return Status::OK();
  return writer.Write(dictionary, Packing::kStored,
                      &meta_blocks[std::string(kCompressionDictBlockName)]);
}

Status TableBuilder::Rep::WriteRangeTombstones() {
  if (range_tombstones.empty()) return Status::OK();
  return writer.Write(range_tombstones.Finish(), Packing::kStored,
                      &meta_blocks[std::string(kRangeDeletionBlockName)]);
}

Status TableBuilder::Rep::WriteProperties() {
  assert(properties.num_deletions <= properties.num_entries);
  collectors.Finish(&properties);
  AddOriginProperties(options,
                      {.smallest_seqno = smallest_seqno,
                       .largest_seqno = largest_seqno,
                       .used_compression_types = writer.used_types(),
                       .sampled = sampler.EstimateFor(properties.uncompressed_data_size)},
                      &properties);
  if (!min_stamp.empty()) {
    properties.user_collected_properties[kTimestampMinName] = min_stamp;
    properties.user_collected_properties[kTimestampMaxName] = max_stamp;
  }
  BlockBuilder block({.restart_interval = kAllInOneInterval});
  for (const auto& [name, value] : EncodeProperties(properties)) block.Add(name, value);
  return writer.Write(block.Finish(), Packing::kStored,
                      &meta_blocks[std::string(kPropertiesBlockName)]);
}

// Newer formats store the handle of the index in the metaindex, older ones in the footer. A crash
// before the footer is written leaves a file that cannot be opened; no MANIFEST names it yet.
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

}  // namespace ashlar
