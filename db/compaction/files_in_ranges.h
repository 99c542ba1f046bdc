// SPDX-License-Identifier: Apache-2.0
//
// Which files DeleteFilesInRanges may drop. A pure function, except that it reads which files are
// being compacted.
#pragma once

#include <span>
#include <vector>

#include "ashlar/options.h"
#include "db/version/version.h"
#include "util/threads/mutex.h"

namespace ashlar {

// The files below level 0 that lie completely inside one of the ranges and are not being compacted,
// by level, without empty levels. If neighbours share a user key, they are chosen together or not
// at all: the older versions must not become visible when the newer ones are dropped.
// `include_end`: the ends of the ranges are inclusive.
std::vector<LevelFiles> FilesInsideRanges(const Version& version, std::span<const RangeOpt> ranges,
                                          bool include_end) REQUIRES(db_mutex);

}  // namespace ashlar
