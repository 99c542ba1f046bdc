// SPDX-License-Identifier: Apache-2.0
//
// Works like a compaction without outputs: the files are claimed, the edit is recorded, the super
// version replaced.
#include "db/changes/file_drops.h"

#include <utility>

#include "db/compaction/files_in_ranges.h"
#include "db/files/obsolete_files.h"
#include "db/state/undo_change.h"

namespace ashlar {

Status DropFilesInRanges(DbCore* core, WriteControl* writes, ColumnFamilyData* family,
                         std::span<const RangeOpt> ranges, bool include_end) {
  Status status;
  uint64_t failed_before = 0;
  {
    MutexLock lock(&core->mutex);
    failed_before = core->versions->failed_changes();
    if (family->is_dropped()) return Status::ColumnFamilyDropped();
    // Files that a compaction has claimed are not among them.
    const std::vector<LevelFiles> dropped =
        FilesInsideRanges(*family->current(), ranges, include_end);
    if (dropped.empty()) return Status::OK();
    VersionSet::Change change;
    change.edits.emplace_back();
    change.edits.back().column_family = family->id();
    for (const LevelFiles& level : dropped) {
      for (const TableFile* file : level.files) {
        change.edits.back().DeleteFile(level.level, file->meta.number);
      }
    }
    change.last_sequence = core->pipeline->visible_seqno();
    // The MANIFEST is written without the mutex, and no compaction may take the files meanwhile.
    family->versions()->claims.Take(dropped);
    family->BeginExternalChange();
    status = core->versions->LogAndApply(std::move(change), &core->mutex);
    family->versions()->claims.GiveBack(dropped);
    if (status.ok()) {
      family->PublishSuperVersion();
      family->last_external_change = family->current()->number();
      writes->UpdateStallLocked();
    }
    family->EndExternalChange();
    core->conditions.JobEnded();
  }
  if (!status.ok()) {
    IgnoreError(UndoChange(core, failed_before), "the error of the drop says more");
    return status;
  }
  writes->NotifyOfStalls();
  PurgeObsoleteFiles(core);
  return status;
}

}  // namespace ashlar
