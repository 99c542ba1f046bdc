// SPDX-License-Identifier: Apache-2.0
//
// Which files DeleteFilesInRanges may drop. A pure function, but for the claims of compactions.
#pragma once

#include <span>
#include <vector>

#include "ashlar/options.h"
#include "db/version/version.h"
#include "util/threads/mutex.h"

namespace ashlar {

// The files below level 0 that lie wholly inside one of the ranges and in no compaction, level by
// level; none of the levels is empty. Where neighbours share a user key, both go or both stay:
// the older versions must not be left without the newer ones.
std::vector<LevelFiles> FilesInsideRanges(const Version& version, std::span<const RangeOpt> ranges,
                                          bool include_end) REQUIRES(db_mutex);

}  // namespace ashlar
