// SPDX-License-Identifier: Apache-2.0
//
// Which part of a sorted run is merged into an older one if the whole run would be too much at
// once.
#pragma once

#include "db/compaction/plan_maker.h"
#include "util/keys/level.h"
#include "util/threads/mutex.h"

namespace ashlar {

// A window is a clean set of neighbouring files on the level `upper`. Of the windows that have at
// most max_compaction_bytes together with the files that they overlap on the level `lower`, this
// returns the one with the fewest overlapping bytes for each byte of its own, and of equals the
// largest. If none is small enough, it returns a window that cannot be made smaller. No file of the
// result or below it is being compacted. The result has no files if there is no such window.
LevelFiles CheapestWindow(const PlanMaker& plans, Level upper, Level lower) REQUIRES(db_mutex);

}  // namespace ashlar
