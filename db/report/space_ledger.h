// SPDX-License-Identifier: Apache-2.0
//
// SpaceLedger shows where the bytes of a database on disk are, and what keeps those that are not
// needed any more: the property ashlar.space-ledger, as text and as a map.
//
// All numbers are of one moment, except those that are marked as estimates.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "db/report/properties.h"

namespace ashlar {

// A plain value. All sizes are in bytes.
struct SpaceLedger {
  // Tables and blob files of the newest version of each family.
  uint64_t table_bytes = 0;
  uint64_t blob_bytes = 0;
  uint64_t blob_garbage_bytes = 0;  // the part of blob_bytes that no table refers to any more
  uint64_t log_bytes = 0;           // logs that recovery would read, or that are still written
  uint64_t manifest_bytes = 0;
  // An estimate: the bytes that compactions can drop because of point and range tombstones.
  uint64_t under_tombstones_bytes = 0;
  // The part of table_bytes in tables of the last level with tombstones that wait for a snapshot.
  uint64_t kept_for_snapshots_bytes = 0;
  // Obsolete files that readers which began earlier still need: iterators, slow reads.
  uint64_t pinned_by_readers_bytes = 0;
  // Obsolete files that are kept while deletions are disabled, for checkpoints and other copies.
  uint64_t pinned_by_copies_bytes = 0;
  // Obsolete files that wait to be deleted; with an SstFileManager, for its rate of deletion.
  uint64_t waiting_for_deletion_bytes = 0;
  uint64_t trash_bytes = 0;         // shared with other databases of the manager
  uint64_t temporary_bytes = 0;     // written so far by running jobs
  uint64_t temporary_files = 0;     // of running jobs
  uint64_t snapshots = 0;           // they keep older versions of keys in live tables
  uint64_t older_versions = 0;      // held by readers besides the newest version
  uint64_t disabled_deletions = 0;  // calls that have disabled deletions, as copies do

  std::map<std::string, std::string> ToMap() const;
  std::string ToString() const;  // one line for each number
};

// Opens tables that are not open, and asks the file system for the sizes of temporary files.
SpaceLedger TakeSpaceLedger(const PropertySources& sources) EXCLUDES(db_mutex);

}  // namespace ashlar
