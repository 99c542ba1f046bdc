// SPDX-License-Identifier: Apache-2.0
//
// VersionBuilder applies edits to a version and makes the next one. Pure: no files, no locks.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "ashlar/status.h"
#include "db/version/version.h"
#include "db/version/version_edit.h"

namespace ashlar {

class VersionBuilder {
 public:
  // `base` may be null, meaning no files. It outlives the builder.
  VersionBuilder(const InternalKeyComparator& comparator, TableCache* tables, const Version* base,
                 int num_levels);

  // Deletions first, then additions. Corruption if a file to delete is not on the stated level or
  // one to add is there already.
  Status Apply(const VersionEdit& edit);

  // The new version, checked (CheckInvariants). Unreferenced. Files without epoch numbers get them
  // by the rule of docs/formats/manifest.md, section 7.
  Status Build(std::unique_ptr<Version>* version);

 private:
  // A file of the base version, or one that an edit added and that has no shared object yet.
  struct Placed {
    int level = 0;
    TableFile* existing = nullptr;
    std::unique_ptr<FileMetadata> added;
    const FileMetadata& meta() const { return existing != nullptr ? existing->meta : *added; }
  };
  using PlacedFiles = std::vector<Placed*>;

  std::vector<PlacedFiles> SortedLevels();
  void AssignEpochs(std::vector<PlacedFiles>* levels) const;

  const InternalKeyComparator& comparator_;
  TableCache* const tables_;
  const int num_levels_;
  std::unordered_map<uint64_t, Placed> files_;  // by number
  // Files of the base that an edit took off their level, so that a move keeps the shared object.
  std::unordered_map<uint64_t, TableFile*> taken_off_;
};

// Level-0 order, newest first: epoch, then largest and smallest seqno, then number, descending.
bool IsNewer(const FileMetadata& a, const FileMetadata& b);

}  // namespace ashlar
