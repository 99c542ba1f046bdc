// SPDX-License-Identifier: Apache-2.0
//
// What the version set says of itself.
#include "db/version/version_set.h"
#include "util/str_cat.h"

namespace ashlar {

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

std::string VersionSet::DebugString() const {
  std::string text = StrCat("MANIFEST ", manifest_number_, ": ", manifest_bytes_, " bytes",
                            is_writing_ ? ", being written\n" : "\n");
  StrAppend(&text, "next file ", next_file_number(), ", last sequence number ", last_sequence_,
            ", logs needed from ", min_log_number_to_keep_, ", live versions ",
            live_version_count(), "\n");
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
