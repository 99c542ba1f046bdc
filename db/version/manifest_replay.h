// SPDX-License-Identifier: Apache-2.0
//
// ManifestReplay turns the edits of a MANIFEST into column families: edits are applied one after
// the other; then each family gets the version that results from all its edits. It does no I/O.
//
// Threads: one at a time. No other thread has access to the families before Finish() returns them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/status.h"
#include "db/manifest/manifest_counters.h"
#include "db/manifest/recovery_point.h"
#include "db/manifest/version_edit.h"
#include "db/version/family_versions.h"
#include "db/version/version_builder.h"
#include "util/result.h"

namespace ashlar {

struct ReplayedFamily {
  std::shared_ptr<FamilyVersions> versions;
  BuiltVersion built;  // not installed yet
};

class ManifestReplay {
 public:
  // `point` says how many changes are applied; null means all. It outlives the replay.
  ManifestReplay(std::vector<FamilyRequest> requests, const RecoveryPoint* point);

  // Applies the next edit. Corruption if it contradicts an edit before it.
  Status Apply(const VersionEdit& edit) REQUIRES(db_mutex);
  // All changes that `point` asks for have been applied.
  bool IsAtPoint() const { return point_ != nullptr && changes_ >= point_->changes; }
  const ManifestCounters& counters() const { return counters_; }

  // The families that were requested and exist. Families that exist and were not requested fail the
  // call unless `allow_subset`. Called once, after the last edit.
  Result<std::vector<ReplayedFamily>> Finish(bool allow_subset) REQUIRES(db_mutex);
  // The requested families that do not exist. Called once, after Finish().
  std::vector<FamilyRequest> TakeMissing();

 private:
  // A requested family that exists, and the edits applied to it so far.
  struct Open {
    std::shared_ptr<FamilyVersions> versions;
    std::unique_ptr<VersionBuilder> builder;
  };

  Status AddFamily(uint32_t id, const std::string& name);
  Status DropFamily(uint32_t id);
  Status ApplyToFamily(const VersionEdit& edit) REQUIRES(db_mutex);
  Status CheckComparator(const VersionEdit& edit, const FamilyVersions& family) const;
  Status CheckTables(const BuiltVersion& built, FamilyVersions* family) const REQUIRES(db_mutex);

  const RecoveryPoint* const point_;
  uint64_t changes_ = 0;  // number of changes applied so far; an atomic group is one change
  // Requests for families that no edit has added so far.
  std::map<std::string, FamilyRequest> requests_;
  std::map<uint32_t, Open> open_;
  std::map<uint32_t, std::string> skipped_;  // families that exist and were not requested
  ManifestCounters counters_;
  bool has_log_number_ = false, has_next_file_ = false, has_last_sequence_ = false;
};

}  // namespace ashlar
