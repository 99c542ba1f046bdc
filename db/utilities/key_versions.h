// SPDX-License-Identifier: Apache-2.0
//
// Visits every stored version of the keys of a column family, deletions included.
// GetAllKeyVersions() collects them and `ldb idump` prints them.
#pragma once

#include <functional>

#include "ashlar/db.h"
#include "ashlar/slice.h"
#include "util/result.h"

namespace ashlar {

// User keys, without timestamps.
struct KeyRange {
  const Slice* begin = nullptr;  // inclusive; null: from the first
  const Slice* end = nullptr;    // null: to the last
  bool includes_end = false;
};

// Calls `visit` with the internal key and the value of each version, in the order of the internal
// keys, until it returns false. The view is that of the start; slices are valid during the call.
// `handle` may be null for the default family. Any thread.
Status ForEachKeyVersion(DB* db, ColumnFamilyHandle* handle, const KeyRange& range,
                         const std::function<bool(const Slice& key, const Slice& value)>& visit);

}  // namespace ashlar
