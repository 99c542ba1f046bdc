// SPDX-License-Identifier: Apache-2.0
//
// The metaindex names most blocks; partitions of index and filter are found through their tops.
#include "tools/sst_dump/block_lists.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <vector>

#include "db/options/option_values.h"
#include "table/format/meta_block_names.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

struct NamedBlock {
  std::string name;
  BlockHandle handle;
};

Result<std::vector<NamedBlock>> FindBlocks(TableInspector* table) {
  std::vector<NamedBlock> blocks;
  bool has_index = false;
  bool has_filter_partitions = false;
  for (const auto& [name, handle] : table->meta_blocks()) {
    has_index |= name == kIndexBlockName;
    has_filter_partitions |= Slice(name).starts_with(kPartitionedFilterPrefix);
    blocks.push_back({name, handle});
  }
  ASSIGN_OR_RETURN(const BlockHandle index, table->IndexHandle());
  if (!has_index) blocks.push_back({"(index)", index});
  blocks.push_back({"(metaindex)", table->footer().metaindex});
  ASSIGN_OR_RETURN(const std::vector<TableInspector::IndexEntry> parts, table->IndexPartitions());
  for (size_t i = 0; i < parts.size(); ++i) {
    blocks.push_back({StrCat("(index partition ", i + 1, ")"), parts[i].handle});
  }
  if (has_filter_partitions) {
    ASSIGN_OR_RETURN(const std::vector<BlockHandle> filters, table->FilterBlocks());
    for (size_t i = 0; i < filters.size(); ++i) {
      blocks.push_back({StrCat("(filter partition ", i + 1, ")"), filters[i]});
    }
  }
  std::sort(blocks.begin(), blocks.end(), [](const NamedBlock& a, const NamedBlock& b) {
    return a.handle.offset < b.handle.offset;
  });
  return blocks;
}

}  // namespace

Result<std::string> MetaBlocksText(TableInspector* table) {
  ASSIGN_OR_RETURN(const std::vector<NamedBlock> blocks, FindBlocks(table));
  std::string text = "Meta Blocks:\n------------------------------\n";
  text += "      offset      stored         raw  compression              name\n";
  for (const NamedBlock& block : blocks) {
    uint64_t raw_bytes = block.handle.size;
    std::string compression = "-";
    if (block.handle.size != 0) {  // a table without keys may have a filter of no block
      // The properties have a rule of their own for their checksum, and were verified by Open().
      ASSIGN_OR_RETURN(const CompressionType type, table->StoredAs(block.handle));
      if (type != kNoCompression) {
        ASSIGN_OR_RETURN(const LooseBlock read, table->ReadBlock(block.handle, block.name));
        raw_bytes = read.contents.size();
      } else if (block.name != kPropertiesBlockName) {
        RETURN_IF_ERROR(table->ReadBlock(block.handle, block.name).status());
      }
      compression.clear();
      PrintEnum(PrintContext(), EnumNames(type), type, &compression);
    }
    char line[96];
    std::snprintf(line, sizeof(line), "%12" PRIu64 "%12" PRIu64 "%12" PRIu64 "  %-24s ",
                  block.handle.offset, block.handle.size, raw_bytes, compression.c_str());
    StrAppend(&text, line, block.name, "\n");
  }
  return text;
}

void TablesSummary::Add(const TableProperties& properties) {
  ++files_;
  data_blocks_ += properties.num_data_blocks;
  data_bytes_ += properties.data_size;
  index_bytes_ += properties.index_size;
  filter_bytes_ += properties.filter_size;
}

std::string TablesSummary::ToString() const {
  return StrCat("total number of files: ", files_, "\ntotal number of data blocks: ", data_blocks_,
                "\ntotal data block size: ", data_bytes_,
                "\ntotal index block size: ", index_bytes_,
                "\ntotal filter block size: ", filter_bytes_, "\n");
}

}  // namespace ashlar
