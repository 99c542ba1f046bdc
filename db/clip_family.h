// SPDX-License-Identifier: Apache-2.0
//
// ClipFamily: of a family only a range is left, on disk too.
#pragma once

#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

class ColumnFamilyHandle;
class DBImpl;

// Deletes what is outside of [begin, end), then takes out or rewrites the files that hold any of
// it, tombstones included; what snapshots still see stays as long as they do. InvalidArgument if
// the end comes before the begin. Others may read meanwhile, and write inside the range.
// After an error, and after a crash, some of what is outside may be deleted; calling again goes on.
Status ClipFamily(DBImpl* db, ColumnFamilyHandle* handle, const Slice& begin, const Slice& end);

}  // namespace ashlar
