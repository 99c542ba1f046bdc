// SPDX-License-Identifier: Apache-2.0
//
// ManifestState is the state that the edits of a MANIFEST add up to: the families and their live
// files, as plain values.
//
// The tools inspect databases with it: no file of the database but the MANIFEST is opened, every
// comparator is accepted, and features that the engine refuses are shown. Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "db/manifest/version_edit.h"
#include "util/result.h"

namespace ashlar {

// Levels that are shown even when empty: the default of num_levels.
inline constexpr size_t kLevelsAlwaysShown = 7;

class Comparator;

struct FamilyState {
  // A blob file, and how much of it no table needs any more.
  struct BlobFile {
    BlobFileAddition added;
    uint64_t garbage_count = 0;
    uint64_t garbage_bytes = 0;
  };

  uint32_t id = 0;
  std::string name;
  std::string comparator;  // the comparator's name
  FileNumber log_number = 0;
  // By level. After Finish() level 0 is newest first and deeper levels are in key order.
  std::vector<std::vector<FileMetadata>> levels;
  std::map<FileNumber, BlobFile> blobs;  // by number

  // Whether this is the oldest blob file of a table.
  bool RefersToBlobFile(FileNumber blob_number) const;
  // The oldest blob file that any table refers to; None() if there is none. Older blob files are no
  // longer live.
  FileNumber OldestBlobFile() const;
};

class ManifestState {
 public:
  ManifestState();

  // Corruption for an edit that contradicts the edits before it.
  Status Apply(const VersionEdit& edit);
  // Called after the last edit: sorts the files of every level and removes blob files that are no
  // longer live.
  void Finish();

  const std::map<uint32_t, FamilyState>& families() const { return families_; }
  const FamilyState* Family(const std::string& name) const;
  FileNumber next_file_number() const { return next_file_number_; }
  SequenceNumber last_sequence() const { return last_sequence_; }
  FileNumber prev_log_number() const { return prev_log_number_; }
  uint32_t max_column_family() const { return max_column_family_; }
  FileNumber min_log_number_to_keep() const { return min_log_number_to_keep_; }
  // Logs with smaller numbers are not needed.
  FileNumber FirstNeededLog() const;
  // The synced size of each log that the MANIFEST tracks, by log number.
  const std::map<FileNumber, uint64_t>& synced_log_bytes() const { return synced_log_bytes_; }

 private:
  void ApplyLogs(const VersionEdit& edit);
  Status ApplyFamilyChange(const VersionEdit& edit);
  Status ApplyFiles(const VersionEdit& edit, FamilyState* family);
  Status ApplyBlobFiles(const VersionEdit& edit, FamilyState* family);

  // By id. A family that was dropped is gone.
  std::map<uint32_t, FamilyState> families_;
  FileNumber next_file_number_ = 0;
  SequenceNumber last_sequence_ = 0;
  FileNumber prev_log_number_ = 0;
  uint32_t max_column_family_ = 0;
  FileNumber min_log_number_to_keep_ = 0;
  std::map<FileNumber, uint64_t> synced_log_bytes_;
};

// Reads a MANIFEST file. `on_edit` may be empty; it is called with every edit before the edit is
// applied.
Result<ManifestState> ReadManifestState(
    FileSystem* fs, const std::string& path,
    const std::function<void(const VersionEdit&)>& on_edit = {});
// The same. After an error *state has the edits before the damage; it is empty if there are none.
Status ReadManifestUpToDamage(FileSystem* fs, const std::string& path,
                              const std::function<void(const VersionEdit&)>& on_edit,
                              std::optional<ManifestState>* state);

// Path of the MANIFEST that CURRENT names.
Result<std::string> LiveManifestPath(FileSystem* fs, const std::string& db);
// The same for commands that only read files. If CURRENT does not name an existing MANIFEST, this
// is the newest MANIFEST in the directory, with a note on stderr.
Result<std::string> FindManifest(FileSystem* fs, const std::string& db);
// The comparator for the boundary keys of the family's tables. Null if it is not built in, or if
// tables were written without the timestamps that it needs.
const Comparator* OrderOfBoundaries(const FamilyState& family);

}  // namespace ashlar
