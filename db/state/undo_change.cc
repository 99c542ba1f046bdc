// SPDX-License-Identifier: Apache-2.0
//
// The MANIFEST that failed is never written again, so any later change begins a new one, which has
// the state in memory. A change of nothing does that, too.
#include "db/state/undo_change.h"

#include <cassert>
#include <utility>

#include "db/state/notify_errors.h"

namespace ashlar {

// While another thread writes its change, this waits for it, and one more record does no harm.
Status LeaveNoDoubt(DbCore* core) {
  assert(core != nullptr);
  if (!core->versions->is_in_doubt()) return Status::OK();
  VersionSet::Change nothing;
  nothing.edits.emplace_back();
  nothing.last_sequence = core->pipeline->visible_seqno();
  return core->versions->LogAndApply(std::move(nothing), &core->mutex);
}

// The kind of the error does not matter: a file system may return any kind.
Status UndoChange(DbCore* core, uint64_t failed_before) {
  assert(core != nullptr);
  Status undone;
  {
    MutexLock lock(&core->mutex);
    if (core->versions->failed_changes() == failed_before) return undone;
    undone = LeaveNoDoubt(core);
  }
  if (undone.ok()) {
    // At once, because each failure has left a MANIFEST, and it may be repeated often.
    core->services.cleaner->DeleteObsoleteFiles();
  } else {
    NotifyLastingError(core, undone, BackgroundErrorReason::kManifestWrite);
  }
  return undone;
}

}  // namespace ashlar
