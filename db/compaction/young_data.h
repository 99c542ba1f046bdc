// SPDX-License-Identifier: Apache-2.0
//
// What preclude_last_level_data_seconds means for the shape of a tree. Compactions into the last
// level write the entries that are too young for it to the level above instead. So a merge of young
// data with the last level achieves nothing, and the pickers avoid it. Pure functions.
//
// Which entries are young is said by a sequence number, the first young one.
#pragma once

#include <optional>
#include <vector>

#include "ashlar/options.h"
#include "db/manifest/file_metadata.h"
#include "db/version/version.h"
#include "util/keys/level.h"

namespace ashlar {

// The level that takes the entries that are too young for the last one; nullopt: entries of any age
// go to the last level. It is never level 0, whose files overlap. Families with user-defined
// timestamps, and those in which data may be ingested behind everything else, have none.
std::optional<Level> YoungLevel(const Version& version, const ColumnFamilyOptions& options);

// Estimates which share of the entries is old, from the numbers of the table: 0 to 1.
double OldShare(const FileMetadata& meta, SequenceNumber first_young);

// The bytes of old entries in the tables.
uint64_t OldBytes(const std::vector<TableFile*>& files, SequenceNumber first_young);

// Whether a merge of the table into the last level is worthwhile: half of it would get there. With
// a smaller share, the last level would be rewritten each time that a few more entries grow old.
inline bool IsWorthMoving(const FileMetadata& meta, SequenceNumber first_young) {
  constexpr double kLeastShare = 0.5;
  return OldShare(meta, first_young) >= kLeastShare;
}

}  // namespace ashlar
