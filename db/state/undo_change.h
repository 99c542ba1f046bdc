// SPDX-License-Identifier: Apache-2.0
//
// UndoChange() makes sure that a change of the MANIFEST which has failed stays undone. The record
// of the change may be in the file although its write or its sync returned an error, and the next
// opening would then apply it: for example drop a family into which the program has written since.
//
// Crash: the change may come about until UndoChange() has returned. That is right, because the call
// of the program that asked for the change has not returned either: everything that was
// acknowledged meanwhile may have come before the change. Afterwards either no MANIFEST has the
// change, or writes are refused until a recovery has written a new MANIFEST.
#pragma once

#include <cstdint>

#include "ashlar/status.h"
#include "db/state/db_core.h"

namespace ashlar {

// Called after a change has failed, before the call of the program returns, and outside an
// EpochGuard. `failed_before` is VersionSet::failed_changes() from before the change: if there was
// no further one since, the change was refused before any write, and nothing is done; an older
// doubt is left to whoever has caused it. OK: no MANIFEST has the change, and those that had it are
// deleted. Any other status has become the background error, which listeners cannot overrule.
Status UndoChange(DbCore* core, uint64_t failed_before) EXCLUDES(db_mutex);

// If the MANIFEST on disk may have a change that failed, begins a new one without it. Releases the
// mutex while writing. OK: there is no such change now.
Status LeaveNoDoubt(DbCore* core) REQUIRES(db_mutex);

}  // namespace ashlar
