// SPDX-License-Identifier: Apache-2.0
//
// ClipFamily() makes a sequence of public calls.
//
// The order matters. First tombstones hide the keys outside of the range, so readers see the result
// at once. Then whole files are dropped, and the rest is rewritten, which only frees space. A crash
// in between leaves a correct database that uses more space.
#include "db/clip_family.h"

#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "ashlar/comparator.h"
#include "ashlar/metadata.h"
#include "db/db_impl.h"
#include "util/result.h"

namespace ashlar {
namespace {

// The first and the last user key that a table has, also those of tombstones: a deleted key must
// stay deleted when the table with its tombstone is dropped. Nothing if there are no tables.
std::optional<std::pair<std::string, std::string>> BoundsOfTables(DBImpl* db,
                                                                  ColumnFamilyHandle* handle) {
  assert(handle != nullptr);
  const Comparator* const order = handle->GetComparator();
  ColumnFamilyMetaData family;
  db->GetColumnFamilyMetaData(handle, &family);
  std::optional<std::pair<std::string, std::string>> bounds;
  for (const LevelMetaData& level : family.levels) {
    for (const SstFileMetaData& file : level.files) {
      if (!bounds.has_value()) bounds.emplace(file.smallestkey, file.largestkey);
      if (order->Compare(file.smallestkey, bounds->first) < 0) bounds->first = file.smallestkey;
      if (order->Compare(file.largestkey, bounds->second) > 0) bounds->second = file.largestkey;
    }
  }
  return bounds;
}

// Deletes everything from `end` to the last key. A range tombstone excludes its end, and no key
// after the last one is known, so the last key is deleted separately.
Status DeleteFrom(DBImpl* db, ColumnFamilyHandle* handle, const Slice& end, const Slice& last) {
  RETURN_IF_ERROR(db->DeleteRange(WriteOptions(), handle, end, last));
  return db->Delete(WriteOptions(), handle, last);
}

}  // namespace

Status ClipFamily(DBImpl* db, ColumnFamilyHandle* handle, const Slice& begin, const Slice& end) {
  assert(handle != nullptr);
  const Comparator* const order = handle->GetComparator();
  if (order->Compare(begin, end) > 0) {
    return Status::InvalidArgument("ClipColumnFamily: the end comes before the begin");
  }
  RETURN_IF_ERROR(db->Flush(FlushOptions(), handle));  // so that the tables have all keys
  const auto bounds = BoundsOfTables(db, handle);
  if (!bounds.has_value()) return Status::OK();
  const auto& [first, last] = *bounds;
  if (order->Compare(first, begin) < 0) {
    RETURN_IF_ERROR(db->DeleteRange(WriteOptions(), handle, first, begin));
  }
  if (order->Compare(last, end) >= 0) RETURN_IF_ERROR(DeleteFrom(db, handle, end, last));
  RETURN_IF_ERROR(db->Flush(FlushOptions(), handle));  // the tombstones must be in files as well
  const RangeOpt outside[] = {RangeOpt(OptSlice(), begin), RangeOpt(end, OptSlice())};
  RETURN_IF_ERROR(db->DeleteFilesInRanges(handle, outside, /*include_end=*/false));
  CompactRangeOptions rewrite;
  rewrite.exclusive_manual_compaction = true;
  rewrite.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
  RETURN_IF_ERROR(db->CompactRange(rewrite, handle, nullptr, &begin));
  return db->CompactRange(rewrite, handle, &end, nullptr);
}

}  // namespace ashlar
