// SPDX-License-Identifier: Apache-2.0
//
// ClipFamily() makes a sequence of public calls.
//
// The order matters. First tombstones hide the keys outside of the range, so readers see the result
// at once. Then whole files are dropped, and the rest is rewritten, which only frees space. A crash
// in between leaves a correct database that uses more space.
#include "db/clip_family.h"

#include <cassert>
#include <memory>
#include <string>

#include "ashlar/comparator.h"
#include "ashlar/iterator.h"
#include "db/db_impl.h"
#include "util/result.h"

namespace ashlar {
namespace {

// Deletes everything before `begin`.
Status DeleteBefore(DBImpl* db, ColumnFamilyHandle* handle, const Slice& begin, Iterator* it) {
  assert(handle != nullptr);
  assert(it != nullptr);
  const Comparator* const order = handle->GetComparator();
  it->SeekToFirst();
  if (!it->Valid() || order->Compare(it->key(), begin) >= 0) return it->status();
  const std::string first = it->key().ToString();
  return db->DeleteRange(WriteOptions(), handle, first, begin);
}

// Deletes everything from `end` on. A range tombstone excludes its end, and no key after the last
// one is known, so the last key is deleted separately.
Status DeleteFrom(DBImpl* db, ColumnFamilyHandle* handle, const Slice& end, Iterator* it) {
  assert(handle != nullptr);
  assert(it != nullptr);
  const Comparator* const order = handle->GetComparator();
  it->SeekToLast();
  if (!it->Valid() || order->Compare(it->key(), end) < 0) return it->status();
  const std::string last = it->key().ToString();
  RETURN_IF_ERROR(db->DeleteRange(WriteOptions(), handle, end, last));
  return db->Delete(WriteOptions(), handle, last);
}

}  // namespace

Status ClipFamily(DBImpl* db, ColumnFamilyHandle* handle, const Slice& begin, const Slice& end) {
  assert(handle != nullptr);
  if (handle->GetComparator()->Compare(begin, end) > 0) {
    return Status::InvalidArgument("ClipColumnFamily: the end comes before the begin");
  }
  ReadOptions read;
  read.total_order_seek = true;
  {
    const std::unique_ptr<Iterator> it(db->NewIterator(read, handle));
    RETURN_IF_ERROR(DeleteBefore(db, handle, begin, it.get()));
    RETURN_IF_ERROR(DeleteFrom(db, handle, end, it.get()));
  }
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
