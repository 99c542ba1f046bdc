// SPDX-License-Identifier: Apache-2.0
//
// ManifestCounters is the state of the whole database, as opposed to one column family, in the
// records of a MANIFEST: counters, and the WALs that still exist.
//
// A plain value. Apply() takes the records in the order of the MANIFEST: an opening applies all of
// them, a running database each new one.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ashlar/types.h"
#include "db/manifest/version_edit.h"
#include "db/wal/log_summary.h"
#include "util/keys/file_number.h"

namespace ashlar {

struct ManifestCounters {
  std::string db_id;
  // Greater than every number that is in use; 1 is that of the first MANIFEST.
  FileNumber next_file_number{2};
  SequenceNumber last_sequence = 0;  // the highest one in the MANIFEST
  // WALs below this number are not needed any more.
  FileNumber min_log_number_to_keep = 0;
  uint32_t max_column_family = 0;  // the greatest id that a family has or had
  // WALs with numbers from min_log_number_to_keep on, by number. Their files exist.
  std::map<FileNumber, LogSummary> tracked_logs;

  // Adds the facts of one record. No counter decreases, so that records of different families may
  // come in any order.
  void Apply(const VersionEdit& edit);
};

}  // namespace ashlar
