// SPDX-License-Identifier: Apache-2.0
//
// TableFilter decides whether a table can hold a key, from its full or partitioned filter.
// docs/formats/filters.md, sections 2, 7 and 9.
//
// Without a filter, or with a filter of prefixes of another extractor, every key may be in the
// table. Threads: any number, after it has been set up.
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
  // The entries of the filter: whole keys, prefixes, or both.
  struct Contents {
    bool has_whole_keys = true;
    const SliceTransform* prefix_extractor = nullptr;  // null if prefixes cannot be asked for
  };

  TableFilter() = default;  // no filter
  // Sets a full filter that the table keeps.
  void SetFull(ObjectRef<FilterBlock> filter, const Contents& contents);
  // Sets a full filter that the table does not keep, by its place (see BlockStore::PlaceOf()).
  // Reads it once to check it.
  Status SetCached(const BlockStore* store, ObjectRef<IndexBlock> place, const Contents& contents);
  // Sets a partitioned filter by its top level, which the table keeps.
  void SetPartitioned(const BlockStore* store, ObjectRef<IndexBlock> top, const Contents& contents);

  // False: the filter would never reject a key.
  bool CanReject() const { return kind_ != Kind::kNone; }
  // The same for one user key, which is given without a timestamp: a filter of prefixes only says
  // nothing about a key that has none.
  bool CanRejectKey(const Slice& user_key) const;
  // Whether whole keys are asked for, and not only their prefixes.
  bool has_whole_keys() const { return contents_.has_whole_keys; }

  // False only if no version of the key is in the table. NotInMemory() if it needs a block of the
  // filter that it may not read now. Hot: one cache line of a full filter.
  Result<bool> MayContain(PointLookup* lookup, BlockRead* read) const {
    if (HoldsWholeKeys()) [[likely]] {
      return full_->view.MayContainItem(WholeKey{lookup});
    }
    return MayContainSlow(lookup, read);
  }

  // The same for a user key without its timestamp: writers add keys in this form. `stored` is the
  // key with the timestamp, by which a partition is found. For checks, and for families with
  // timestamps.
  Result<bool> MayContainWithoutTimestamp(const Slice& user_key, const LookupKey& stored,
                                          BlockRead* read) const;

  // True if the filter has prefixes of this extractor.
  bool HoldsPrefixesOf(const SliceTransform& extractor) const;
  // False only if no key at or behind `key` has the prefix; in a filter that is not
  // IsPartitioned(), only if no key at all has it. HoldsPrefixesOf() must be true.
  Result<bool> MayContainPrefix(const Slice& prefix, const LookupKey& key, BlockRead* read) const;
  bool IsPartitioned() const { return kind_ == Kind::kPartitioned; }
  // True if the table does not keep the filter: it is looked up at each use, by its place top().
  bool IsCached() const { return kind_ == Kind::kCached; }
  // The entry of top() that names the partition for the key. Only if IsPartitioned().
  size_t PartitionFor(const LookupKey& key) const;

  // Count the result of the filter in the lookup's counters: useful if it rejected the key;
  // positive if it let the key through and the table was searched. `found`: the table had a version
  // of the key.
  void CountUseful(PointLookup* lookup) const {
    ++(contents_.has_whole_keys ? lookup->counters.filter_useful
                                : lookup->counters.prefix_filter_useful);
  }
  void CountPositive(PointLookup* lookup, bool found) const;

  void Prefetch(PointLookup* lookup) const {
    if (HoldsWholeKeys()) full_->view.Prefetch(lookup->FilterHash());
  }

  // The blocks that are kept; both may be null. top() of a cached filter is its place.
  const ObjectRef<FilterBlock>& full() const { return full_; }
  const ObjectRef<IndexBlock>& top() const { return top_; }
  // The memory of the kept blocks.
  size_t MemoryBytes() const;
  // "none", or the kind, its entries, and the bytes kept in memory.
  std::string DebugString() const;

 private:
  enum class Kind : uint8_t { kNone, kFull, kCached, kPartitioned };
  struct WholeKey {
    PointLookup* lookup;
    const Slice& Key() const { return lookup->key().user_key; }
    uint64_t FilterHash() const { return lookup->FilterHash(); }
  };

  bool HoldsWholeKeys() const { return kind_ == Kind::kFull && contents_.has_whole_keys; }
  // All cases but a full filter of whole keys.
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
