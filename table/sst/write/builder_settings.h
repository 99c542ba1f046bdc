// SPDX-License-Identifier: Apache-2.0
//
// Derives the options of the parts that write a table (data blocks, index, filter, block writer)
// from the options of the table. Pure functions.
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
// Empty if the table gets no filter.
std::optional<FullFilterOptions> FilterOptions(const TableBuilderOptions& options);
bool WritesFilterPartitions(const BlockBasedTableOptions& table);

// The cache to which memory of this role is charged; null: it is not charged. Owned by the options.
Cache* CacheToCharge(const BlockBasedTableOptions& table, CacheEntryRole role);
// The number of bytes of data blocks from which a dictionary is trained; 0: the table gets no
// dictionary.
size_t DictionaryBufferBytes(const TableBuilderOptions& options);
// The index type that the properties record. A hash index without a prefix extractor is recorded as
// binary search.
BlockBasedTableOptions::IndexType WrittenIndexType(const TableBuilderOptions& options);
// The text of the property that lists the compression options.
std::string DescribeCompression(const TableBuilderOptions& options);
// A block with a target of `bytes` that has reached this size ends if the next entry does not fit
// into the target.
size_t NearlyFull(uint64_t bytes, int deviation_percent);

}  // namespace ashlar
