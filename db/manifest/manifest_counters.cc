// SPDX-License-Identifier: Apache-2.0
//
// Applying an edit: counters never decrease; WALs that are not needed any more are removed.
#include "db/manifest/manifest_counters.h"

#include <algorithm>

namespace ashlar {

// Each field is independent of the others, so that the order within the edit does not matter.
void ManifestCounters::Apply(const VersionEdit& edit) {
  if (edit.db_id) db_id = *edit.db_id;
  if (edit.next_file_number) next_file_number = std::max(next_file_number, *edit.next_file_number);
  if (edit.last_sequence) last_sequence = std::max(last_sequence, *edit.last_sequence);
  if (edit.min_log_number_to_keep) {
    min_log_number_to_keep = std::max(min_log_number_to_keep, *edit.min_log_number_to_keep);
  }
  if (edit.max_column_family) {
    max_column_family = std::max(max_column_family, *edit.max_column_family);
  }
  // Old MANIFESTs may lack the counter; ids of dropped families must not be reused either.
  if (edit.added_family) max_column_family = std::max(max_column_family, edit.column_family);
  for (const WalAddition& wal : edit.wal_additions) {
    // RocksDB's records do not tell the first sequence number or the end.
    const LogSummary log{.number = wal.log_number, .synced_bytes = wal.synced_bytes.value_or(0)};
    if (wal.synced_bytes) tracked_logs[log.number].Learn(log);
  }
  for (const LogSummary& log : edit.logs) tracked_logs[log.number].Learn(log);
  const FileNumber obsolete_end =
      std::max({min_log_number_to_keep, edit.wal_deletion.value_or(FileNumber{}),
                edit.forgotten_logs_end.value_or(FileNumber{})});
  tracked_logs.erase(tracked_logs.begin(), tracked_logs.lower_bound(obsolete_end));
}

}  // namespace ashlar
