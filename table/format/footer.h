// SPDX-License-Identifier: Apache-2.0
//
// Footer: the last 53 bytes of a table, from which a reader finds everything else.
// docs/formats/block_based_table.md, section 2.
//
// Versions 2 to 7 are read and written. Older versions, other kinds of tables and unknown features
// give NotSupported, damage gives Corruption. Threads: values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ashlar/slice.h"
#include "table/format/block_handle.h"
#include "table/format/checksum.h"
#include "util/result.h"

namespace ashlar {

inline constexpr uint64_t kBlockBasedTableMagic = 0x88e241b785f4cff7ull;
inline constexpr size_t kFooterBytes = 53;
inline constexpr uint32_t kOldestFormatVersion = 2;
inline constexpr uint32_t kNewestFormatVersion = 7;

// Features by format version; see section 0 of the format page.
constexpr bool UsesContextChecksums(uint32_t format_version) { return format_version >= 6; }
constexpr bool UsesIndexHandleInMetaindex(uint32_t format_version) { return format_version >= 6; }
constexpr bool UsesCompressionManagerName(uint32_t format_version) { return format_version >= 7; }
constexpr bool UsesDeltaEncodedHandles(uint32_t format_version) { return format_version >= 4; }
constexpr bool MayUseUserKeyIndex(uint32_t format_version) { return format_version >= 3; }
constexpr bool UsesCacheLocalBloom(uint32_t format_version) { return format_version >= 5; }

// A plain value. After DecodeFooter() the metaindex lies inside the file.
struct Footer {
  uint32_t format_version = 0;
  ChecksumContext checksum;
  BlockHandle metaindex;
  // Null from version 6 on, where the metaindex names the index. Not checked yet against the size
  // of the file.
  BlockHandle index;

  // For messages and tools.
  std::string DebugString() const;
};

// Appends the footer of a file in which the footer starts at `offset`. From version 6 on the
// metaindex block must end at this offset.
void AppendFooter(const Footer& footer, uint64_t offset, std::string* dst);

// Parses a footer. `tail` contains the last min(file_size, kFooterBytes) bytes of the file.
Result<Footer> DecodeFooter(const Slice& tail, uint64_t file_size, std::string_view path);

}  // namespace ashlar
