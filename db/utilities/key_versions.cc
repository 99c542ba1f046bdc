// SPDX-License-Identifier: Apache-2.0
//
// Uses the same iterators as reads, except the layer that chooses one version of each key.
#include "db/utilities/key_versions.h"

#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/utilities/debug.h"
#include "db/read/iterator_builder.h"
#include "db/read/super_version.h"
#include "db/state/family_handle.h"
#include "db/version/version.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

// Called for each version; false ends the visit.
using Visit = std::function<bool(const Slice& key, const Slice& value)>;

// Whether the stored key is after the end of a range; `end` is a stored key too.
bool IsBehind(const Slice& stored, const Slice& end, bool includes_end,
              const InternalKeyComparator& order) {
  const int compared = order.OrderWithoutTimestamp(stored, end);
  return includes_end ? compared > 0 : compared >= 0;
}

// Visits all runs of the view merged, in the order of internal keys. Of a family with timestamps
// all stored keys end in one, so the bounds get one too.
Status VisitView(const SuperVersion& view, const KeyRange& range, const Visit& visit) {
  assert(visit != nullptr);
  const InternalKeyComparator& order = view.version()->comparator();
  const ReadOptions options;
  IteratorBuilder tower(&order, /*arena=*/nullptr);
  tower.HideDeleted(kMaxSequenceNumber);  // as RocksDB's listing does
  tower.AddAll(view, {.options = &options});
  const std::unique_ptr<MergingIterator> tower_top = tower.Build();
  MergingIterator& merged = *tower_top;
  if (range.begin == nullptr) {
    merged.SeekToFirst();
  } else {
    merged.Seek(order.FirstInternalKey(order.FirstStored(*range.begin)));
  }
  std::optional<std::string> end;  // a range without an end has everything from its beginning on
  if (range.end != nullptr) end = order.FirstStored(*range.end);
  for (; merged.Valid(); merged.Next()) {
    const Slice stored = ExtractUserKey(merged.key());
    if (end && IsBehind(stored, *end, range.includes_end, order)) break;
    if (!visit(merged.key(), merged.value())) break;
  }
  return merged.status();
}

}  // namespace

// The view is pinned during the visit.
Status ForEachKeyVersion(DB* db, ColumnFamilyHandle* handle, const KeyRange& range,
                         const Visit& visit) {
  assert(db != nullptr || handle != nullptr);
  if (handle == nullptr) handle = db->DefaultColumnFamily();
  ColumnFamilyData* const family = FamilyOf(handle);
  // The view stays pinned until the end of the statement, that is, during the whole visit.
  return VisitView(*family->AcquireView().super_version(), range, visit);
}

Status GetAllKeyVersions(DB* db, OptSlice begin_key, OptSlice end_key, size_t max_num_ikeys,
                         std::vector<KeyVersion>* key_versions) {
  if (db == nullptr) return Status::InvalidArgument("GetAllKeyVersions: db is null");
  return GetAllKeyVersions(db, db->DefaultColumnFamily(), begin_key, end_key, max_num_ikeys,
                           key_versions);
}

// The end of the range is inclusive, as in RocksDB.
Status GetAllKeyVersions(DB* db, ColumnFamilyHandle* cfh, OptSlice begin_key, OptSlice end_key,
                         size_t max_num_ikeys, std::vector<KeyVersion>* key_versions) {
  if (cfh == nullptr) return Status::InvalidArgument("GetAllKeyVersions: the handle is null");
  if (key_versions == nullptr) {
    return Status::InvalidArgument("GetAllKeyVersions: key_versions is null");
  }
  key_versions->clear();
  KeyRange range;
  range.begin = begin_key.AsPtr();
  range.end = end_key.AsPtr();
  range.includes_end = true;
  return ForEachKeyVersion(db, cfh, range, [&](const Slice& key, const Slice& value) {
    // False ends the visit; what was found so far is the result.
    // The limit is checked before the entry is added, so that 0 gives an empty list.
    if (key_versions->size() >= max_num_ikeys) return false;
    const uint64_t trailer = ExtractTrailer(key);
    key_versions->emplace_back(ExtractUserKey(key).ToString(), value.ToString(),
                               TrailerSeqno(trailer), static_cast<int>(TrailerType(trailer)));
    return true;
  });
}

}  // namespace ashlar
