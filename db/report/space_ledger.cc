// SPDX-License-Identifier: Apache-2.0
//
// Most facts are counted under the mutex. Those that need tables or the file system are found
// afterwards, without it.
#include "db/report/space_ledger.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "env/file_util.h"
#include "env/filename.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// One line of the text: its name, the number, and an explanation for people.
struct LedgerRow {
  const char* name;
  uint64_t SpaceLedger::*number;
  const char* meaning;
};
constexpr LedgerRow kLedgerRows[] = {
    {"live-table-bytes", &SpaceLedger::table_bytes, "tables of the newest versions"},
    {"live-blob-bytes", &SpaceLedger::blob_bytes, "blob files of the newest versions"},
    {"blob-garbage-bytes", &SpaceLedger::blob_garbage_bytes, "the part that no table refers to"},
    {"log-bytes", &SpaceLedger::log_bytes, "logs that are needed"},
    {"manifest-bytes", &SpaceLedger::manifest_bytes, "the MANIFEST"},
    {"under-tombstones-bytes", &SpaceLedger::under_tombstones_bytes,
     "live, but deleted: an estimate of what compaction would free"},
    {"kept-for-snapshots-bytes", &SpaceLedger::kept_for_snapshots_bytes,
     "live tables that are rewritten when a snapshot goes"},
    {"pinned-by-readers-bytes", &SpaceLedger::pinned_by_readers_bytes,
     "obsolete, kept for iterators, slow reads and handles of dropped families"},
    {"pinned-by-copies-bytes", &SpaceLedger::pinned_by_copies_bytes,
     "obsolete, kept while file deletions are disabled: checkpoints and other copies"},
    {"waiting-for-deletion-bytes", &SpaceLedger::waiting_for_deletion_bytes,
     "obsolete, waiting to be deleted"},
    {"trash-bytes", &SpaceLedger::trash_bytes, "deleted at the rate of the SstFileManager"},
    {"temporary-bytes", &SpaceLedger::temporary_bytes, "written so far by running jobs"},
    {"temporary-files", &SpaceLedger::temporary_files, "of running jobs"},
    {"snapshots", &SpaceLedger::snapshots, "that keep older versions of keys in live tables"},
    {"older-versions", &SpaceLedger::older_versions, "that readers hold besides the newest"},
    {"disabled-deletions", &SpaceLedger::disabled_deletions, "calls that disable file deletions"},
};

// Adds the facts about a family that are known without opening files.
void CountFamily(ColumnFamilyData* family, SpaceLedger* ledger) REQUIRES(db_mutex) {
  assert(family != nullptr);
  assert(ledger != nullptr);
  const Version& version = *family->current();
  const FamilyVersions& versions = *family->versions();
  for (Level level = 0; level < version.num_levels(); ++level) {
    ledger->table_bytes += version.level_bytes(level);
    for (const TableFile* file : version.files(level)) {
      const bool is_kept = versions.kept_for_snapshots.Has(file->meta.number);
      if (is_kept) ledger->kept_for_snapshots_bytes += file->meta.file_size;
    }
  }
  if (version.blobs() == nullptr) return;
  ledger->blob_bytes += version.blobs()->total_file_bytes();
  ledger->blob_garbage_bytes += version.blobs()->garbage_bytes();
}

// Estimates the bytes that tombstones hide. Each point tombstone is assumed to hide one entry of
// average size. A range tombstone hides the bytes that the flush or compaction found below it when
// it wrote the tombstone. Tables that cannot be opened are left out.
uint64_t UnderTombstones(const Version& version) {
  uint64_t entries = 0, deletions = 0, bytes = 0, covered_bytes = 0;
  for (Level level = 0; level < version.num_levels(); ++level) {
    for (TableFile* file : version.files(level)) {
      Result<TableHandle> table = version.tables()->Pin(file);
      if (!table.ok()) continue;
      const PropertiesView& properties = (*table)->facts();
      entries += properties.num_entries;
      // The properties count range tombstones among the deletions.
      deletions += properties.num_deletions -
                   std::min(properties.num_deletions, properties.num_range_deletions);
      bytes += file->meta.file_size;
      covered_bytes += file->meta.compensated_range_deletion_bytes;
    }
  }
  if (entries == 0) return 0;
  // At least 1, so that the division is defined.
  const uint64_t others = std::max<uint64_t>(entries - std::min(entries, deletions), 1);
  // The estimate never exceeds what there is.
  return std::min(bytes, deletions * (bytes / others) + covered_bytes);
}

// The sizes of those files that exist. A running job may not have created all of its files yet.
uint64_t BytesOfFiles(const DbCore& core, const std::vector<FileNumber>& numbers) {
  uint64_t bytes = 0;
  for (const FileNumber number : numbers) {
    // The directory of an unfinished table is not recorded, so each directory is tried.
    for (const std::string& dir : core.paths.table_paths) {
      const Result<uint64_t> size =
          FileSizeOf(core.environment.fs.get(), TableFileName(dir, number));
      if (size.ok()) bytes += size.value();
    }
  }
  return bytes;
}

}  // namespace

std::map<std::string, std::string> SpaceLedger::ToMap() const {
  std::map<std::string, std::string> map;
  for (const LedgerRow& row : kLedgerRows) map[row.name] = std::to_string(this->*row.number);
  assert(map.size() == std::size(kLedgerRows));
  return map;
}

std::string SpaceLedger::ToString() const {
  std::string text;
  for (const LedgerRow& row : kLedgerRows) {
    StrAppend(&text, row.name, ": ", this->*row.number, "  (", row.meaning, ")\n");
  }
  return text;
}

SpaceLedger TakeSpaceLedger(const PropertySources& sources) {
  const DbCore& core = *sources.core;
  SpaceLedger ledger;
  std::vector<FamilyRef> families;
  std::vector<FileNumber> temporary;
  {
    MutexLock lock(&core.mutex);
    families = core.families.PinAll();
    for (const FamilyRef& family : families) CountFamily(family.get(), &ledger);
    temporary = core.jobs.ProtectedFiles();
    ledger.manifest_bytes = core.versions->manifest_bytes();
    ledger.disabled_deletions = static_cast<uint64_t>(core.kept_files.deletions_disabled);
    ledger.pinned_by_readers_bytes = core.versions->RetiredBytes();
    const uint64_t obsolete_bytes = core.versions->ObsoleteTableBytes();
    (core.kept_files.deletions_disabled > 0 ? ledger.pinned_by_copies_bytes
                                            : ledger.waiting_for_deletion_bytes) = obsolete_bytes;
    // Each family has one newest version.
    const auto live_versions = static_cast<size_t>(core.versions->live_version_count());
    ledger.older_versions = live_versions - std::min(live_versions, families.size());
  }
  // These have locks of their own; the numbers may be a little newer.
  ledger.log_bytes = core.wals->total_bytes();
  ledger.snapshots = core.snapshots.count();
  ledger.temporary_files = temporary.size();
  ledger.temporary_bytes = BytesOfFiles(core, temporary);
  if (core.resources.space != nullptr)
    ledger.trash_bytes = core.resources.space->GetTotalTrashSize();
  for (const FamilyRef& family : families) {
    const ReadView view = family->AcquireView();
    ledger.under_tombstones_bytes += UnderTombstones(*view.super_version()->version());
  }
  return ledger;
}

}  // namespace ashlar
