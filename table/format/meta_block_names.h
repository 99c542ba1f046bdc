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

// The compatibility name of the filter policy follows these prefixes.
inline constexpr std::string_view kFullFilterPrefix = "fullfilter.";
inline constexpr std::string_view kPartitionedFilterPrefix = "partitionedfilter.";

// The compatibility name of every built-in filter; the last bytes of the filter tell its kind.
inline constexpr std::string_view kBuiltinFilterBlockSuffix = "rocksdb.BuiltinBloomFilter";

}  // namespace ashlar
