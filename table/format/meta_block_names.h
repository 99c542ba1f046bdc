// SPDX-License-Identifier: Apache-2.0
//
// Names under which the metaindex lists the other blocks of a table.
// docs/formats/block_based_table.md, section 7.
#pragma once

#include <string_view>

namespace ashlar {

inline constexpr std::string_view kPropertiesBlockName = "rocksdb.properties";
inline constexpr std::string_view kIndexBlockName = "rocksdb.index";
inline constexpr std::string_view kRangeDeletionBlockName = "rocksdb.range_del";
inline constexpr std::string_view kCompressionDictBlockName = "rocksdb.compression_dict";
inline constexpr std::string_view kHashIndexPrefixesBlockName = "rocksdb.hashindex.prefixes";
inline constexpr std::string_view kHashIndexMetadataBlockName = "rocksdb.hashindex.metadata";

// Followed by the policy's compatibility name.
inline constexpr std::string_view kFullFilterPrefix = "fullfilter.";
inline constexpr std::string_view kPartitionedFilterPrefix = "partitionedfilter.";
inline constexpr std::string_view kObsoleteFilterPrefix = "filter.";

// The compatibility name of every built-in filter; the filter's own last bytes say which it is.
inline constexpr std::string_view kBuiltinFilterBlockSuffix = "rocksdb.BuiltinBloomFilter";

}  // namespace ashlar
