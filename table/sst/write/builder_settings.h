// SPDX-License-Identifier: Apache-2.0
//
// From the options of a table to those of the parts that write it: data blocks, index, filter,
// stored blocks. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "ashlar/table.h"
#include "table/block/block_builder.h"
#include "table/filter/full_filter_builder.h"
#include "table/index/index_builder.h"
#include "table/sst/write/block_writer.h"
#include "table/sst/write/table_builder.h"

namespace ashlar {

BlockBuilderOptions DataBlockOptions(const TableBuilderOptions& options);
IndexBuilderOptions IndexOptions(const TableBuilderOptions& options);
BlockWriterOptions WriterOptions(const TableBuilderOptions& options);
// None: the table gets no filter.
std::optional<FullFilterOptions> FilterOptions(const TableBuilderOptions& options);
bool WritesFilterPartitions(const BlockBasedTableOptions& table);

// Where memory of the role is charged; null: nowhere. Owned by the options.
Cache* CacheToCharge(const BlockBasedTableOptions& table, CacheEntryRole role);
// How many bytes of data blocks are looked at for a dictionary; 0: the table gets none.
size_t DictionaryBufferBytes(const TableBuilderOptions& options);
// What the table says of its index: a hash index needs prefixes.
BlockBasedTableOptions::IndexType WrittenIndexType(const TableBuilderOptions& options);
// The property that people read.
std::string DescribeCompression(const TableBuilderOptions& options);
// From this size on a block of `bytes` ends if the next entry does not fit.
size_t NearlyFull(uint64_t bytes, int deviation_percent);

}  // namespace ashlar
