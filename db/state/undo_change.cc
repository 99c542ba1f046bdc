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

Status UndoChange(DbCore* core, const Status& error) {
  assert(core != nullptr);
  assert(!error.ok());
  // The change was refused before anything was written.
  if (error.IsInvalidArgument() || error.IsColumnFamilyDropped()) return Status::OK();
  Status undone;
  {
    MutexLock lock(&core->mutex);
    undone = LeaveNoDoubt(core);
  }
  if (!undone.ok()) NotifyBackgroundError(core, undone, BackgroundErrorReason::kManifestWrite);
  return undone;
}

}  // namespace ashlar
