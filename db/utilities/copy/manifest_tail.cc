// SPDX-License-Identifier: Apache-2.0
//
// How a record is framed depends on where in its block it begins.
#include "db/utilities/copy/manifest_tail.h"

#include "db/wal/log_format.h"

namespace ashlar {

std::string ManifestTail(uint64_t manifest_bytes, const std::vector<VersionEdit>& edits) {
  const LogFraming framing(0, /*is_recyclable=*/false);
  std::string tail;
  for (const VersionEdit& edit : edits) {
    std::string payload;
    edit.EncodeTo(&payload);
    AppendFramedRecord(framing, manifest_bytes + tail.size(), payload, &tail);
  }
  return tail;
}

// Twice: in Ashlar's own field, and in that of RocksDB, which may have been told to track logs.
VersionEdit ForgetLogsBelow(FileNumber end) {
  VersionEdit edit;
  edit.forgotten_logs_end = end;
  edit.wal_deletion = end;
  return edit;
}

}  // namespace ashlar
