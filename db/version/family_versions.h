// SPDX-License-Identifier: Apache-2.0
//
// FamilyVersions is one column family as the MANIFEST knows it: its identity, its current version,
// and the tables that any of its versions still holds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/manifest/file_metadata.h"
#include "db/table_cache/table_cache.h"
#include "db/version/compaction_claims.h"
#include "db/version/kept_for_snapshots.h"
#include "db/version/live_versions.h"
#include "db/version/version.h"
#include "util/keys/file_number.h"
#include "util/keys/internal_key.h"
#include "util/keys/level.h"
#include "util/threads/mutex.h"

namespace ashlar {

// A dropped family lives until nothing refers to its comparator and its table cache any more: no
// version, no obsolete table that waits for its deletion, no holder of a shared pointer
// (VersionSet::TakeUnusedFamilies).
struct FamilyVersions : std::enable_shared_from_this<FamilyVersions> {
  // These members do not change after the version set has taken the family.
  uint32_t id = 0;
  std::string name;
  InternalKeyComparator comparator;
  int num_levels = 7;
  std::unique_ptr<TableCache> tables;                   // used from any thread
  LiveVersions live;                                    // guarded by VersionSet::obsolete_mutex_
  std::optional<bool> persist_user_defined_timestamps;  // as the MANIFEST records it
  std::vector<std::pair<uint32_t, std::string>> unknown_fields;

  // The family holds one reference to it. Null once the family is dropped.
  Version* current GUARDED_BY(db_mutex) = nullptr;
  // WALs with a lower number hold no entries of this family that are not in tables.
  FileNumber log_number GUARDED_BY(db_mutex) = 0;
  // The epoch number of the next file that enters level 0.
  uint64_t next_epoch GUARDED_BY(db_mutex) = 1;
  uint64_t next_version GUARDED_BY(db_mutex) = 1;  // number of the next version
  bool is_dropped GUARDED_BY(db_mutex) = false;
  CompactionClaims claims GUARDED_BY(db_mutex);
  KeptForSnapshots kept_for_snapshots GUARDED_BY(db_mutex);
  // By level: the internal key at which round-robin compaction continues.
  std::map<Level, std::string> compact_cursors GUARDED_BY(db_mutex);
  // Versions with timestamps below it may be dropped; nullopt if it was never raised.
  std::optional<std::string> full_history_ts_low GUARDED_BY(db_mutex);

  explicit FamilyVersions(const InternalKeyComparator& c) : comparator(c) {}
  ~FamilyVersions();
};

// A table that no version holds any more. The owner of this object deletes the file on disk.
struct ObsoleteTable {
  std::shared_ptr<FamilyVersions> family;
  std::unique_ptr<TableFile> file;

  ObsoleteTable(std::shared_ptr<FamilyVersions> f, std::unique_ptr<TableFile> table)
      : family(std::move(f)), file(std::move(table)) {}
  ObsoleteTable(ObsoleteTable&&) noexcept = default;
  ObsoleteTable& operator=(ObsoleteTable&&) = delete;
  ~ObsoleteTable() { Close(); }

  // Closes the reader and forgets its cached blocks. Call it without the DB mutex.
  void Close();
};

// A family that the caller wants to open or to create.
struct FamilyRequest {
  FamilyRequest(std::string n, const InternalKeyComparator& c)
      : name(std::move(n)), comparator(c) {}

  std::string name;
  InternalKeyComparator comparator;
  int num_levels = 7;
  std::unique_ptr<TableCache> tables;
};

}  // namespace ashlar
