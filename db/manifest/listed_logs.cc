// SPDX-License-Identifier: Apache-2.0
//
// An edit with such a record has no other fields, because RocksDB would ignore them.
#include "db/manifest/listed_logs.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace ashlar {

std::vector<VersionEdit> ListedLogs::News(const std::vector<LogSummary>& logs,
                                          const std::vector<VersionEdit>& change,
                                          FileNumber min_log,
                                          std::optional<uint64_t> change_begin) {
  FileNumber needed = min_log;
  for (const VersionEdit& edit : change) {
    needed = std::max(needed, edit.min_log_number_to_keep.value_or(FileNumber{}));
  }
  // A new MANIFEST names no logs, even if the one before did.
  if (!change_begin.has_value()) listed_.clear();
  std::vector<VersionEdit> edits;
  VersionEdit additions;
  for (const LogSummary& log : logs) {
    // Such a log never changes its length again.
    const bool is_closed_and_synced = log.end_bytes != 0 && log.synced_bytes >= log.end_bytes;
    if (log.number < needed || !is_closed_and_synced) continue;
    if (!listed_.insert(log.number).second) continue;
    additions.wal_additions.push_back({.log_number = log.number, .synced_bytes = log.end_bytes});
  }
  if (!additions.wal_additions.empty()) edits.push_back(std::move(additions));
  const auto end = listed_.lower_bound(needed);
  if (end != listed_.begin()) {
    VersionEdit deletion;
    deletion.wal_deletion = needed;
    edits.push_back(std::move(deletion));
    listed_.erase(listed_.begin(), end);
  }
  // Holds also after an error of the write, because the next call is then for a new MANIFEST.
  assert(listed_.empty() || *listed_.begin() >= needed);
  for (VersionEdit& edit : edits) edit.change_begin = change_begin;
  return edits;
}

}  // namespace ashlar
