// SPDX-License-Identifier: Apache-2.0
//
// ListedLogs keeps track of the WALs that the MANIFEST names in RocksDB's own records. These are
// written in addition to Ashlar's records if track_and_verify_wals_in_manifest is set: RocksDB then
// refuses to open a database in which a named WAL is missing or shorter than recorded.
//
// A WAL is added once it is closed and synced. The change that makes the WAL unnecessary deletes it
// from the list, before its file can be deleted. Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "db/manifest/version_edit.h"
#include "db/wal/log_summary.h"
#include "util/keys/file_number.h"

namespace ashlar {

// Owned by the writer of the MANIFEST.
class ListedLogs {
 public:
  // Returns the records, none to two, to append after those of `change`. `change_begin` is the
  // offset of the change in the MANIFEST; no value means that the change starts a new MANIFEST,
  // which has no such record yet. WALs below `min_log`, or below a higher minimum in the change,
  // are not needed. Precondition: if a change fails, the next call is for a new MANIFEST.
  std::vector<VersionEdit> News(const std::vector<LogSummary>& logs,
                                const std::vector<VersionEdit>& change, FileNumber min_log,
                                std::optional<uint64_t> change_begin);

 private:
  // The WALs that the present MANIFEST names, by number.
  std::set<FileNumber> listed_;
};

}  // namespace ashlar
