// SPDX-License-Identifier: Apache-2.0
//
// Which part of a sorted run is merged into an older one when the whole would be too much at once.
#pragma once

#include "db/compaction/plan_maker.h"
#include "util/keys/level.h"
#include "util/threads/mutex.h"

namespace ashlar {

// A clean window of neighbours on the level `upper`: of those that together with what they overlap
// on the level `lower` have at most max_compaction_bytes, the one with the fewest bytes on the
// lower level for each of its own, and of these the largest. If none is as small as that, one that
// cannot be made smaller. Nothing in it or below it is being compacted; no files if there is no
// such one.
LevelFiles CheapestWindow(const PlanMaker& plans, Level upper, Level lower) REQUIRES(db_mutex);

}  // namespace ashlar
