// SPDX-License-Identifier: Apache-2.0
//
// SpaceLedger says where the bytes of a database on disk are, and what keeps those that nobody
// reads any more: the property ashlar.space-ledger, as text and as a map.
//
// Numbers are of one moment, but for estimates, which are said to be.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "db/report/properties.h"

namespace ashlar {

struct SpaceLedger {
  // Of the newest versions.
  uint64_t table_bytes = 0;
  uint64_t blob_bytes = 0;
  uint64_t blob_garbage_bytes = 0;  // of these, what no table refers to any more
  uint64_t log_bytes = 0;           // that recovery would read, or somebody still writes
  uint64_t manifest_bytes = 0;
  // An estimate: what tombstones, of keys and of ranges, would take away with themselves.
  uint64_t under_tombstones_bytes = 0;
  // Of the live ones: tables with tombstones at the bottom that wait for a snapshot to go.
  uint64_t kept_for_snapshots_bytes = 0;
  // Obsolete, and on disk because of readers that began before: iterators, slow reads.
  uint64_t pinned_by_readers_bytes = 0;
  // Obsolete, and on disk while deletions are disabled: checkpoints and other copies.
  uint64_t pinned_by_copies_bytes = 0;
  // Obsolete, waiting for whoever deletes files next; of the manager of space: for its rate.
  uint64_t waiting_for_deletion_bytes = 0;
  uint64_t trash_bytes = 0;         // shared with other databases of the manager
  uint64_t temporary_bytes = 0;     // what jobs that run have written so far
  uint64_t temporary_files = 0;     // of such jobs
  uint64_t snapshots = 0;           // that keep older versions of keys in live tables
  uint64_t older_versions = 0;      // that readers hold besides the newest
  uint64_t disabled_deletions = 0;  // how often they are, which copies do

  std::map<std::string, std::string> ToMap() const;
  std::string ToString() const;  // a line each
};

SpaceLedger TakeSpaceLedger(const PropertySources& sources) EXCLUDES(db_mutex);

}  // namespace ashlar
