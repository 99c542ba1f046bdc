// SPDX-License-Identifier: Apache-2.0
//
// ManifestState is what a MANIFEST adds up to: the families and their live files, as plain values.
//
// It is for looking: nothing of the database is opened, every comparator is accepted, and features
// that the engine refuses are shown. Threads: one at a time.
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

class Comparator;

struct FamilyState {
  struct BlobFile {
    BlobFileAddition added;
    uint64_t garbage_count = 0;
    uint64_t garbage_bytes = 0;
  };

  uint32_t id = 0;
  std::string name;
  std::string comparator;  // its name
  FileNumber log_number = 0;
  // By level; level 0 newest first, deeper levels in key order once Finish() ran.
  std::vector<std::vector<FileMetadata>> levels;
  std::map<FileNumber, BlobFile> blobs;  // by number

  // Whether it is the oldest blob file of a table.
  bool RefersToBlobFile(FileNumber blob_number) const;
  // Of those that tables refer to: what is older is gone, whatever it holds. None() without any.
  FileNumber OldestBlobFile() const;
};

class ManifestState {
 public:
  ManifestState();

  // Corruption for an edit that does not fit what came before.
  Status Apply(const VersionEdit& edit);
  // Puts the files of every level in order.
  void Finish();

  const std::map<uint32_t, FamilyState>& families() const { return families_; }
  const FamilyState* Family(const std::string& name) const;
  FileNumber next_file_number() const { return next_file_number_; }
  SequenceNumber last_sequence() const { return last_sequence_; }
  FileNumber prev_log_number() const { return prev_log_number_; }
  uint32_t max_column_family() const { return max_column_family_; }
  FileNumber min_log_number_to_keep() const { return min_log_number_to_keep_; }
  // Logs below it hold nothing that is still needed.
  FileNumber FirstNeededLog() const;

 private:
  Status ApplyFamilyChange(const VersionEdit& edit);
  Status ApplyFiles(const VersionEdit& edit, FamilyState* family);
  Status ApplyBlobFiles(const VersionEdit& edit, FamilyState* family);

  std::map<uint32_t, FamilyState> families_;
  FileNumber next_file_number_ = 0;
  SequenceNumber last_sequence_ = 0;
  FileNumber prev_log_number_ = 0;
  uint32_t max_column_family_ = 0;
  FileNumber min_log_number_to_keep_ = 0;
};

// Reads a MANIFEST file from front to back. `on_edit` may be empty; it sees every edit first.
Result<ManifestState> ReadManifestState(
    FileSystem* fs, const std::string& path,
    const std::function<void(const VersionEdit&)>& on_edit = {});

// Path of the MANIFEST that CURRENT names.
Result<std::string> LiveManifestPath(FileSystem* fs, const std::string& db);

// The built-in comparator of this name, or null.
const Comparator* BuiltinComparator(const std::string& name);
// What the boundary keys of the family's tables can be compared by. Null without a built-in
// comparator, and where tables were written without the timestamps that it looks for.
const Comparator* OrderOfBoundaries(const FamilyState& family);

}  // namespace ashlar
