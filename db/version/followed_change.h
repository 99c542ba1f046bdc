// SPDX-License-Identifier: Apache-2.0
//
// FollowedChange makes the next versions of a database whose MANIFEST another process writes, from
// the records that were added to that MANIFEST, or from a new MANIFEST that has replaced it.
//
//   VersionSet::BeginFollowed()    (mutex held)  the current versions are taken down
//   FollowedChange::Build()        (mutex free)  the next versions, which nobody sees yet
//   VersionSet::InstallFollowed()  (mutex held)  they become current
//
// One change at a time, and no other change of the version set in between. It does no I/O: between
// the last two steps the caller opens the files, so that a version which was shown can be read
// whatever is deleted. A change that is destroyed without the last step has no effect.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/manifest/manifest_counters.h"
#include "db/manifest/version_edit.h"
#include "db/version/family_versions.h"
#include "db/version/version_builder.h"
#include "util/keys/file_number.h"

namespace ashlar {

class FollowedChange {
 public:
  struct Family {
    std::shared_ptr<FamilyVersions> versions;
    const Version* base = nullptr;  // the current version
    FileNumber log_number = 0;
    std::optional<std::string> full_history_ts_low;  // null: as before
    bool is_dropped = false;
    bool changes_files = false;
    BuiltVersion built;  // with changes_files

    // The version after the change, of a family that is not dropped.
    const Version& next() const { return built.version != nullptr ? *built.version : *base; }
  };

  FollowedChange() = default;
  // Closes the tables that were opened for versions which were not installed.
  ~FollowedChange();
  FollowedChange(FollowedChange&&) noexcept = default;
  FollowedChange& operator=(FollowedChange&&) = delete;

  // `edits`: all records of a MANIFEST, or those behind the ones that the version set has. Records
  // of families that are not open are passed over. Corruption if they contradict what is there,
  // TryAgain if they lack a change that was read before: then nothing may be installed.
  Status Build(const std::vector<VersionEdit>& edits, bool is_whole_manifest);

  // The open families that were not dropped before, by id.
  const std::map<uint32_t, Family>& families() const { return families_; }
  const ManifestCounters& counters() const { return counters_; }
  // The highest sequence number in tables that this change adds.
  SequenceNumber largest_seqno() const { return largest_seqno_; }

 private:
  friend class VersionSet;
  using Builders = std::map<uint32_t, std::unique_ptr<VersionBuilder>>;

  Status Apply(const VersionEdit& edit, Builders* builders);
  VersionBuilder* BuilderFor(Family* family, Builders* builders);
  Status CheckIdentity(const ManifestCounters& next) const;
  Status ReduceToDifference(const std::vector<VersionEdit>& edits,
                            std::vector<VersionEdit>* difference) const;

  std::map<uint32_t, Family> families_;
  std::vector<uint32_t> dropped_;  // families that were dropped before and are still in use
  ManifestCounters counters_;
  SequenceNumber largest_seqno_ = 0;
};

}  // namespace ashlar
