// SPDX-License-Identifier: Apache-2.0
//
// Nearly everything can be decided from the recorded properties of a table. Differences that no
// property records (a hash index in the blocks, index keys that are not shortened) show in the
// bytes, and the builder compares the bytes before it stores an offered block.
#include "table/sst/write/block_passing.h"

#include <algorithm>
#include <cassert>
#include <string_view>

#include "ashlar/flush_block_policy.h"
#include "ashlar/table.h"
#include "ashlar/table_properties.h"
#include "table/block/block.h"
#include "table/plain/bare_table_writer.h"
#include "table/sst/write/builder_settings.h"
#include "table/sst/write/table_builder.h"

namespace ashlar {

namespace {

// A program's own policy may end blocks anywhere, so blocks of other tables would rarely match.
bool EndsBlocksBySize(const FlushBlockPolicyFactory* factory) {
  return factory == nullptr ||
         std::string_view(factory->Name()) == FlushBlockBySizePolicyFactory::kClassName();
}

}  // namespace

// Describes the blocks that the output could take over as they are, without compressing them again.
// None if it does not compress, uses a dictionary, or ends its blocks by other rules than their
// size.
std::optional<BlockPassing> BlockPassing::Into(const TableBuilderOptions& output) {
  if (output.bare != nullptr && output.bare->is_bare()) return std::nullopt;
  const BlockBasedTableOptions& table = *output.table;
  if (output.compression == kNoCompression || DictionaryBufferBytes(output) != 0) {
    return std::nullopt;
  }
  if (!EndsBlocksBySize(table.flush_block_policy_factory.get())) return std::nullopt;
  return BlockPassing{
      .compression = output.compression,
      .compression_options = DescribeCompression(output),
      .format_version = table.format_version,
      .restart_interval = static_cast<uint64_t>(std::max(1, table.block_restart_interval)),
      .separates_values = table.separate_key_value_in_data_block,
      .block_bytes = static_cast<size_t>(table.block_size)};
}

bool BlockPassing::TakesFrom(const TableProperties& input) const {
  assert(compression != kNoCompression);
  return input.compression_options == compression_options &&
         input.format_version == format_version &&
         input.data_block_restart_interval == restart_interval &&
         (input.separate_key_value_in_data_block != 0) == separates_values;
}

bool BlockPassing::Takes(const Block& raw) const {
  if (raw.restart_count() == 0 || raw.size() < block_bytes / 2) return false;
  return raw.RestartOffset(raw.restart_count() - 1) < block_bytes;
}

}  // namespace ashlar
