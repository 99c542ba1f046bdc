// SPDX-License-Identifier: Apache-2.0
//
// The framing of a record depends on its offset within a block.
#include "db/utilities/copy/appended_edits.h"

#include "db/wal/log_format.h"

namespace ashlar {

// The bytes that follow a MANIFEST of this length when these edits are appended. The framing
// depends on the position within a block of the log format.
std::string AppendedEdits(uint64_t manifest_bytes, const std::vector<VersionEdit>& edits) {
  // MANIFESTs are never recycled, so the form of their records has no log number.
  const LogFraming framing(0, /*is_recyclable=*/false);
  std::string records;
  for (const VersionEdit& edit : edits) {
    std::string payload;
    edit.EncodeTo(&payload);
    // Each record begins where the last one ends.
    AppendFramedRecord(framing, manifest_bytes + records.size(), payload, &records);
  }
  return records;
}

// Two fields: Ashlar's own one, and the one that RocksDB reads if it tracks WALs.
VersionEdit ForgetLogsBelow(FileNumber end) {
  VersionEdit edit;
  edit.forgotten_logs_end = end;
  edit.wal_deletion = end;
  return edit;
}

}  // namespace ashlar
