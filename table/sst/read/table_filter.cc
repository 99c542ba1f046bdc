// SPDX-License-Identifier: Apache-2.0
//
// Filters by prefix, and partitioned filters.
#include "table/sst/read/table_filter.h"

#include <cassert>
#include <utility>

#include "ashlar/slice_transform.h"
#include "util/text/str_cat.h"

namespace ashlar {

void TableFilter::SetFull(ObjectRef<FilterBlock> filter, const Contents& contents) {
  assert(filter);
  full_ = std::move(filter);
  contents_ = contents;
  const bool can_ask = contents.has_whole_keys || contents.prefix_extractor != nullptr;
  kind_ = can_ask && full_->view.CanReject() ? Kind::kFull : Kind::kNone;
}

Status TableFilter::SetCached(const BlockStore* store, ObjectRef<IndexBlock> place,
                              const Contents& contents) {
  assert(store != nullptr);
  assert(place);
  BlockRead read;
  ASSIGN_OR_RETURN(const ObjectRef<FilterBlock> filter, store->FilterPartition(*place, 0, &read));
  store_ = store;
  top_ = std::move(place);
  contents_ = contents;
  const bool can_ask = contents.has_whole_keys || contents.prefix_extractor != nullptr;
  kind_ = can_ask && filter->view.CanReject() ? Kind::kCached : Kind::kNone;
  return Status::OK();
}

void TableFilter::SetPartitioned(const BlockStore* store, ObjectRef<IndexBlock> top,
                                 const Contents& contents) {
  assert(store != nullptr);
  assert(top);
  store_ = store;
  top_ = std::move(top);
  contents_ = contents;
  const bool can_ask = contents.has_whole_keys || contents.prefix_extractor != nullptr;
  kind_ = can_ask && !top_->index->empty() ? Kind::kPartitioned : Kind::kNone;
}

Result<bool> TableFilter::MayContainSlow(PointLookup* lookup, BlockRead* read) const {
  if (kind_ == Kind::kNone) return true;
  if (kind_ == Kind::kFull) return Ask(full_->view, lookup);
  ASSIGN_OR_RETURN(const ObjectRef<FilterBlock> filter, PartitionOf(lookup->key(), read));
  if (!filter) return NotInMemory();
  return Ask(filter->view, lookup);
}

// Null if the partition is not in memory and may not be read.
Result<ObjectRef<FilterBlock>> TableFilter::PartitionOf(const LookupKey& key,
                                                        BlockRead* read) const {
  assert(store_ != nullptr);
  assert(top_);
  return store_->FilterPartition(*top_, kind_ == Kind::kCached ? 0 : PartitionFor(key), read);
}

size_t TableFilter::PartitionFor(const LookupKey& key) const {
  assert(kind_ == Kind::kPartitioned);
  const FlatIndex& index = *top_->index;
  // Behind the last separator there can only be prefixes, which are in the last partition.
  const size_t partition = index.Find(key.user_key, key.trailer);
  assert(index.size() != 0);
  return partition == index.size() ? partition - 1 : partition;
}

// Two extractors are the same if their texts with all parameters are equal.
bool TableFilter::HoldsPrefixesOf(const SliceTransform& extractor) const {
  if (kind_ == Kind::kNone || contents_.prefix_extractor == nullptr) return false;
  return contents_.prefix_extractor == &extractor ||
         contents_.prefix_extractor->AsString() == extractor.AsString();
}

Result<bool> TableFilter::MayContainPrefix(const Slice& prefix, const LookupKey& key,
                                           BlockRead* read) const {
  assert(contents_.prefix_extractor != nullptr);
  if (kind_ == Kind::kFull) return full_->view.MayContain(prefix);
  ASSIGN_OR_RETURN(const ObjectRef<FilterBlock> filter, PartitionOf(key, read));
  if (!filter) return NotInMemory();
  return filter->view.MayContain(prefix);
}

bool TableFilter::CanRejectKey(const Slice& user_key) const {
  if (!CanReject()) return false;
  return contents_.has_whole_keys || contents_.prefix_extractor == nullptr ||
         contents_.prefix_extractor->InDomain(user_key);
}

Result<bool> TableFilter::MayContainWithoutTimestamp(const Slice& user_key, const LookupKey& stored,
                                                     BlockRead* read) const {
  if (kind_ == Kind::kNone) return true;
  const SliceTransform* const prefixes =
      contents_.has_whole_keys ? nullptr : contents_.prefix_extractor;
  if (prefixes != nullptr && !prefixes->InDomain(user_key)) return true;
  const Slice item = prefixes == nullptr ? user_key : prefixes->Transform(user_key);
  if (kind_ == Kind::kFull) return full_->view.MayContain(item);
  ASSIGN_OR_RETURN(const ObjectRef<FilterBlock> filter, PartitionOf(stored, read));
  if (!filter) return NotInMemory();
  return filter->view.MayContain(item);
}

bool TableFilter::Ask(const FilterView& view, PointLookup* lookup) const {
  assert(contents_.has_whole_keys || contents_.prefix_extractor != nullptr);
  if (contents_.has_whole_keys) return view.MayContainItem(WholeKey{lookup});
  const Slice& user_key = lookup->key().user_key;
  if (!contents_.prefix_extractor->InDomain(user_key)) return true;
  return view.MayContain(contents_.prefix_extractor->Transform(user_key));
}

// The filter has let the lookup through; `found` tells whether that was right.
void TableFilter::CountPositive(PointLookup* lookup, bool found) const {
  assert(lookup != nullptr);
  assert(CanReject());
  PointLookup::Counters& counters = lookup->counters;
  if (contents_.has_whole_keys) {
    ++counters.filter_positive;
    if (found) ++counters.filter_true_positive;
  } else if (contents_.prefix_extractor->InDomain(lookup->key().user_key)) {
    ++counters.prefix_filter_positive;
    if (found) ++counters.prefix_filter_true_positive;
  }
}

size_t TableFilter::MemoryBytes() const {
  return (full_ ? full_->MemoryBytes() : 0) + (top_ ? top_->MemoryBytes() : 0);
}

[[gnu::cold]] std::string TableFilter::DebugString() const {
  if (kind_ == Kind::kNone) return "none";
  const char* const kind = kind_ == Kind::kFull     ? "full"
                           : kind_ == Kind::kCached ? "cached"
                                                    : "partitioned";
  return StrCat(kind, " of", contents_.has_whole_keys ? " keys" : "",
                contents_.prefix_extractor != nullptr ? " prefixes" : "", ", ", MemoryBytes(),
                " bytes");
}

}  // namespace ashlar
