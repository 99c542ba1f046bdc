// SPDX-License-Identifier: Apache-2.0
//
// Shares are computed as if the entries had the numbers of the table at equal distances.
#include "db/compaction/young_data.h"

#include <cassert>

namespace ashlar {

std::optional<Level> YoungLevel(const Version& version, const ColumnFamilyOptions& options) {
  const bool has_levels = options.compaction_style == kCompactionStyleLevel ||
                          options.compaction_style == kCompactionStyleUniversal;
  if (options.preclude_last_level_data_seconds == 0 || !has_levels) return std::nullopt;
  if (options.cf_allow_ingest_behind || version.comparator().stamp_bytes() != 0) {
    return std::nullopt;
  }
  if (version.num_levels() < 3) return std::nullopt;
  return Level{version.num_levels() - 2};
}

// Entries without a number have lost it because they were old.
double OldShare(const FileMetadata& meta, SequenceNumber first_young) {
  assert(meta.smallest_seqno <= meta.largest_seqno);
  if (meta.largest_seqno < first_young) return 1;
  if (meta.smallest_seqno >= first_young) return 0;
  return static_cast<double>(first_young - meta.smallest_seqno) /
         static_cast<double>(meta.largest_seqno - meta.smallest_seqno + 1);
}

uint64_t OldBytes(const std::vector<TableFile*>& files, SequenceNumber first_young) {
  double bytes = 0;
  for (const TableFile* file : files) {
    bytes += OldShare(file->meta, first_young) * static_cast<double>(file->meta.file_size);
  }
  return static_cast<uint64_t>(bytes);
}

}  // namespace ashlar
