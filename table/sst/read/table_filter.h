// SPDX-License-Identifier: Apache-2.0
//
// TableFilter decides whether a table can hold a key, from its full or partitioned filter.
// docs/formats/filters.md, sections 2, 7 and 9.
//
// Without a filter, or with one that answers another question (prefixes of another extractor),
// every key may be there. Threads: any number, once it is set up.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "table/filter/filter_view.h"
#include "table/iterator/point_lookup.h"
#include "table/sst/read/block_store.h"
#include "table/sst/read/table_objects.h"
#include "util/result.h"

namespace ashlar {

class SliceTransform;

class TableFilter {
 public:
  // What was added to the filter.
  struct Contents {
    bool has_whole_keys = true;
    const SliceTransform* prefix_extractor = nullptr;  // null if prefixes cannot be asked for
  };

  TableFilter() = default;  // none
  void SetFull(ObjectRef<FilterBlock> filter, const Contents& contents);
  // A full one that the table does not keep: `place` as BlockStore::PlaceOf() makes them. Reads it.
  Status SetCached(const BlockStore* store, ObjectRef<IndexBlock> place, const Contents& contents);
  void SetPartitioned(const BlockStore* store, ObjectRef<IndexBlock> top, const Contents& contents);

  // False: there is no use in asking.
  bool CanReject() const { return kind_ != Kind::kNone; }

  // False only if no version of the key is in the table. NotInMemory() if it needs a partition that
  // it cannot read now.
  // Hot: one cache line of the filter.
  Result<bool> MayContain(PointLookup* lookup, BlockRead* read) const {
    if (HoldsWholeKeys()) [[likely]] {
      return full_->view.MayContainItem(WholeKey{lookup});
    }
    return MayContainSlow(lookup, read);
  }

  // Whether prefixes that `extractor` makes can be asked for.
  bool HoldsPrefixesOf(const SliceTransform& extractor) const;
  // False only if no key of the table that is at or behind this one has the prefix; nor any other
  // key, if the filter is not IsPartitioned(). Prefixes must be held.
  Result<bool> MayContainPrefix(const Slice& prefix, const LookupKey& key, BlockRead* read) const;
  bool IsPartitioned() const { return kind_ == Kind::kPartitioned; }
  // Not kept by the table: the block whose place is top() is asked for at each use.
  bool IsCached() const { return kind_ == Kind::kCached; }
  // The entry of top() that names the partition for the key.
  size_t PartitionFor(const LookupKey& key) const;

  // Adds to the lookup's counters what the filter did for it: `found`, a filter of a table that was
  // searched, is true if the table had a version of the key.
  void CountUseful(PointLookup* lookup) const {
    ++(contents_.has_whole_keys ? lookup->counters.filter_useful
                                : lookup->counters.prefix_filter_useful);
  }
  void CountPositive(PointLookup* lookup, bool found) const;

  void Prefetch(PointLookup* lookup) const {
    if (HoldsWholeKeys()) full_->view.Prefetch(lookup->FilterHash());
  }

  // The blocks that are pinned; both may be null. top() of a cached one is its place.
  const ObjectRef<FilterBlock>& full() const { return full_; }
  const ObjectRef<IndexBlock>& top() const { return top_; }
  size_t MemoryBytes() const;
  // "none", or the kind, what was added, and the bytes pinned.
  std::string DebugString() const;

 private:
  enum class Kind : uint8_t { kNone, kFull, kCached, kPartitioned };
  struct WholeKey {
    PointLookup* lookup;
    const Slice& Key() const { return lookup->key().user_key; }
    uint64_t FilterHash() const { return lookup->FilterHash(); }
  };

  bool HoldsWholeKeys() const { return kind_ == Kind::kFull && contents_.has_whole_keys; }
  Result<bool> MayContainSlow(PointLookup* lookup, BlockRead* read) const;
  Result<ObjectRef<FilterBlock>> PartitionOf(const LookupKey& key, BlockRead* read) const;
  bool Ask(const FilterView& view, PointLookup* lookup) const;

  Kind kind_ = Kind::kNone;
  Contents contents_;
  ObjectRef<FilterBlock> full_;
  ObjectRef<IndexBlock> top_;
  const BlockStore* store_ = nullptr;
};

}  // namespace ashlar
