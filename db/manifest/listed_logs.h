// SPDX-License-Identifier: Apache-2.0
//
// ListedLogs keeps account of what the MANIFEST says about logs in RocksDB's own records, which it
// has beside ours where track_and_verify_wals_in_manifest asks for them: RocksDB then refuses to
// open without a log that it names, or with a shorter one.
//
// A log is named once it is closed and synced, and taken back in the change after which it is not
// needed: before its file can go. Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "db/manifest/version_edit.h"
#include "db/wal/log_facts.h"
#include "util/keys/file_number.h"

namespace ashlar {

class ListedLogs {
 public:
  // The records, none to two, that go behind those of `change`, which begins at `change_begin`;
  // without a value a new MANIFEST begins with it, in which nothing is said yet. `min_log`: logs
  // below it are not needed, or the change says more. If the change fails, the next one begins a
  // new MANIFEST.
  std::vector<VersionEdit> News(const std::vector<LogFacts>& logs,
                                const std::vector<VersionEdit>& change, FileNumber min_log,
                                std::optional<uint64_t> change_begin);

 private:
  std::set<FileNumber> listed_;
};

}  // namespace ashlar
