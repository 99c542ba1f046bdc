// SPDX-License-Identifier: Apache-2.0
//
// Names of table properties that have no field in TableProperties; the others are the constants of
// TablePropertiesNames. docs/formats/block_based_table.md, section 8.
//
// A reader finds these in TableProperties::user_collected_properties, as RocksDB's users do.
#pragma once

#include <cstdint>
#include <string_view>

namespace ashlar {

inline constexpr std::string_view kIndexTypeProperty = "rocksdb.block.based.table.index.type";
inline constexpr std::string_view kWholeKeyFilteringProperty =
    "rocksdb.block.based.table.whole.key.filtering";
inline constexpr std::string_view kPrefixFilteringProperty =
    "rocksdb.block.based.table.prefix.filtering";
inline constexpr std::string_view kDecoupledFiltersProperty =
    "rocksdb.block.based.table.decoupled.partitioned.filters";
inline constexpr std::string_view kExternalVersionProperty = "rocksdb.external_sst_file.version";
inline constexpr std::string_view kGlobalSeqnoProperty = "rocksdb.external_sst_file.global_seqno";
inline constexpr std::string_view kEmbeddedBlobStatsProperty = "rocksdb.embedded.blob.stats";
inline constexpr std::string_view kTimestampMinProperty = "rocksdb.timestamp_min";
inline constexpr std::string_view kTimestampMaxProperty = "rocksdb.timestamp_max";

// Values of kExternalVersionProperty: the first has no place for a sequence number; ours has one,
// which is 0 until the file is ingested with the number written into it.
inline constexpr uint32_t kOldExternalTableVersion = 1;
inline constexpr uint32_t kExternalTableVersion = 2;

// Values of the two filtering properties.
inline constexpr std::string_view kPropertyTrue = "1";
inline constexpr std::string_view kPropertyFalse = "0";

}  // namespace ashlar
