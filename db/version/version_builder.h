// SPDX-License-Identifier: Apache-2.0
//
// VersionBuilder applies edits to a version and makes the next one. Pure: no files, no locks.
//
// It stores only the differences from the base version. A level without changes is shared with the
// base. On a changed level, the builder reads only the file numbers of the tables that stay.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ashlar/status.h"
#include "db/blob/blob_files_builder.h"
#include "db/manifest/version_edit.h"
#include "db/version/level_tables.h"
#include "db/version/live_versions.h"
#include "db/version/version.h"
#include "util/keys/file_number.h"
#include "util/keys/level.h"

namespace ashlar {

// A version that is not installed yet, and the differences between its tables and those of its
// base.
struct BuiltVersion {
  std::unique_ptr<Version> version;
  std::vector<std::unique_ptr<TableFile>> added;
  std::vector<TableFile*> removed;
  LiveVersions::Place place;  // needed to install the version: see LiveVersions::Add()
};

class VersionBuilder {
 public:
  // `base` may be null, meaning no files. It outlives the builder.
  VersionBuilder(const InternalKeyComparator& comparator, TableCache* tables, const Version* base,
                 int num_levels);

  // Deletions first, then additions. Corruption if a file to delete is not on the stated level or
  // one to add is there already; of blob files likewise (db/blob/blob_files_builder.h).
  Status Apply(const VersionEdit& edit);

  // The new version, whose order is checked around the files that are new on their level. Files
  // without epoch numbers get them by the rule of docs/formats/manifest.md, section 7.
  Status Build(BuiltVersion* built);

 private:
  // The position of a file in the base version.
  struct Place {
    Level level = 0;
    size_t index = 0;
  };
  // A file that is added to a level: either a file of the base that moves (`existing`), or a new
  // one that has no TableFile yet (`fresh`).
  struct Arrival {
    Level level = 0;
    TableFile* existing = nullptr;
    std::unique_ptr<FileMetadata> fresh;
    const FileMetadata& meta() const { return existing != nullptr ? existing->meta : *fresh; }
  };
  using Arrivals = std::vector<Arrival*>;
  // Compares in the order of level 0, newest first.
  static bool IsNewerArrival(const Arrival* a, const Arrival* b) {
    return IsNewer(a->meta(), b->meta());
  }

  // The file of the base version at this place.
  TableFile* BaseFile(const Place& place) const;
  std::optional<Place> FindInBase(FileNumber number) const;
  std::optional<Level> LevelOf(FileNumber number) const;
  Status Delete(Level level, FileNumber number);
  Status Add(Level level, const FileMetadata& meta);
  std::vector<Arrivals> ArrivalsByLevel();
  void AssignEpochs(std::vector<Arrivals>* levels) const;
  Splice<TableFile*> SpliceOf(Level level, const Arrivals& arrivals) const;
  // Checks the order of the new version's levels.
  Status Check(const Version& version) const;

  const InternalKeyComparator& comparator_;
  TableCache* const tables_;
  const int num_levels_;
  const Version::Levels base_;  // num_levels_ of them
  BlobFilesBuilder blobs_;
  std::unordered_map<FileNumber, Place> departures_;  // files that leave their level, by number
  std::unordered_map<FileNumber, Arrival> arrivals_;  // by number
};

}  // namespace ashlar
