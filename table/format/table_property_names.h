// SPDX-License-Identifier: Apache-2.0
//
// Names of table properties that have no field in TableProperties; all other names are constants of
// TablePropertiesNames. docs/formats/block_based_table.md, section 8.
//
// Programs find these in TableProperties::user_collected_properties, as with RocksDB.
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

// Values of kExternalVersionProperty. Version 1 has no sequence number in the file. Version 2,
// which we write, has one: 0, until the file is ingested and the number is written into it.
inline constexpr uint32_t kOldExternalTableVersion = 1;
inline constexpr uint32_t kExternalTableVersion = 2;

// Values of the two filtering properties.
inline constexpr std::string_view kPropertyTrue = "1";
inline constexpr std::string_view kPropertyFalse = "0";

}  // namespace ashlar
