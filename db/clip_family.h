// SPDX-License-Identifier: Apache-2.0
//
// ClipFamily: removes everything outside of a range from a family, also from its files.
#pragma once

#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

class ColumnFamilyHandle;
class DBImpl;

// Deletes all keys outside of [begin, end), then removes or rewrites the files that contain any of
// them, tombstones included. Data that snapshots still need stays as long as they do.
// InvalidArgument if the end comes before the begin. Other threads may read meanwhile, and write
// inside the range.
// After an error or a crash, part of the keys outside may have been deleted; another call
// continues.
Status ClipFamily(DBImpl* db, ColumnFamilyHandle* handle, const Slice& begin, const Slice& end);

}  // namespace ashlar
