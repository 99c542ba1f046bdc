// SPDX-License-Identifier: Apache-2.0
//
// What can be asked about a VersionSet: sizes, counts and texts. Nothing here changes it.
#include <algorithm>
#include <cassert>

#include "db/version/version_set.h"
#include "util/text/str_cat.h"

namespace ashlar {

size_t VersionSet::LiveVersionsOf(const FamilyVersions& family) const {
  MutexLock lock(&obsolete_mutex_);
  return family.live.size();
}

FileNumber VersionSet::LowestLogNumber() const {
  FileNumber lowest = FileNumber::None();
  for (const FamilyVersions* family : LiveFamilies()) {
    lowest = std::min(lowest, family->log_number);
  }
  return lowest;
}

void VersionSet::ForEachLiveFile(
    const std::function<void(const FamilyVersions&, Level, TableFile*)>& f) const {
  for (const auto& [id, family] : families_) {
    for (Level level = 0; level < family->current->num_levels(); ++level) {
      for (TableFile* file : family->current->files(level)) f(*family, level, file);
    }
  }
}

uint64_t VersionSet::ObsoleteTableBytes() const {
  uint64_t bytes = 0;
  MutexLock lock(&obsolete_mutex_);
  for (const ObsoleteTable& table : obsolete_) bytes += table.file->meta.file_size;
  return bytes;
}

uint64_t VersionSet::RetiredBytes() const {
  uint64_t bytes = 0;
  MutexLock lock(&obsolete_mutex_);
  for (const auto& [id, family] : families_) bytes += family->live.RetiredBytes();
  for (const auto& family : dropped_) bytes += family->live.RetiredBytes();
  return bytes;
}

uint64_t VersionSet::RetiredBytesOf(const FamilyVersions& family) const {
  MutexLock lock(&obsolete_mutex_);
  return family.live.RetiredBytes();
}

std::vector<std::string> VersionSet::HeldPaths() const {
  std::vector<std::string> paths = obsolete_blobs_.HeldPaths();
  const auto add = [&paths](const FamilyVersions& family) {
    family.live.ForEachRetired([&paths, &family](const TableFile& file) {
      paths.push_back(family.tables->PathOf(file.meta));
    });
  };
  MutexLock lock(&obsolete_mutex_);
  for (const auto& [id, family] : families_) add(*family);
  for (const auto& family : dropped_) add(*family);
  return paths;
}

std::string VersionSet::DebugString() const {
  std::string text = StrCat("MANIFEST ", manifest_number_, ": ", manifest_bytes_, " bytes",
                            is_writing_ ? ", being written\n" : "\n");
  StrAppend(&text, "next file ", next_file_number(), ", last sequence number ",
            counters_.last_sequence, ", logs needed from ", counters_.min_log_number_to_keep,
            ", live versions ", live_version_count(), "\n");
  for (const FamilyVersions* family : LiveFamilies()) {
    StrAppend(&text, "family ", family->id, " ", family->name, ": version ",
              family->current->number(), ", ", family->current->file_count(), " tables, logs from ",
              family->log_number);
    const std::string kept = family->kept_for_snapshots.DebugString();
    StrAppend(&text, kept.empty() ? "" : ", tombstones kept of ", kept, "\n");
  }
  return text;
}

}  // namespace ashlar
