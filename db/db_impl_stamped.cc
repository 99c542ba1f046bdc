// SPDX-License-Identifier: Apache-2.0
//
// Families whose keys have timestamps ("stamped" families): their reads, and the timestamp below
// which old versions may be dropped.
#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "db/db_impl.h"
#include "db/options/options_check.h"
#include "db/read/multi_get.h"
#include "db/read/stamped_iterator.h"
#include "db/read/super_version.h"
#include "db/version/version.h"
#include "db/version/version_set.h"
#include "util/result.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// Checks the options of a read. The two timestamps are checked on their own, since the general
// check refuses them.
Status CheckStampedRead(const ReadOptions& options, const SuperVersion& super_version) {
  ReadOptions rest = options;
  rest.timestamp = rest.iter_start_ts = nullptr;
  RETURN_IF_ERROR(CheckReadOptionsSupported(rest));
  return CheckReadTimestamp(super_version.version()->comparator(), options,
                            super_version.full_history_ts_low());
}

// Like the check above, for iterators, which have more options than lookups.
Status CheckStampedIterator(const ReadOptions& options, const SuperVersion& super_version) {
  ReadOptions rest = options;
  rest.timestamp = rest.iter_start_ts = nullptr;
  RETURN_IF_ERROR(CheckIteratorOptionsSupported(rest));
  RETURN_IF_ERROR(CheckIteratorFits(options, super_version.options()));
  if (options.tailing) {
    return Status::NotSupported("ReadOptions::tailing: not in a column family with timestamps");
  }
  return CheckStampedRead(options, super_version);
}

// The options for the lookup of one key, which uses an iterator: without bounds, prefixes and
// limits.
ReadOptions PointOptions(const ReadOptions& options) {
  ReadOptions point = options;
  point.iterate_lower_bound = point.iterate_upper_bound = point.iter_start_ts = nullptr;
  point.max_skippable_internal_keys = 0;
  point.prefix_same_as_start = false;
  return point;
}

}  // namespace

[[gnu::cold]] Status DBImpl::RefuseStamped(const char* call, ColumnFamilyHandle* handle) const {
  if (!IsStamped(handle)) return Status::OK();
  return Status::NotSupported(StrCat(call, ": the column family ", handle->GetName(),
                                     " has timestamps, for which the call is not built"));
}

// Finds the key in a view whose options were checked.
Status DBImpl::LookUp(StampedIterator* versions, const Slice& key, const StampedResult& result) {
  assert(versions != nullptr);
  using Found = StampedIterator::Found;
  const Found found = versions->Lookup(key);
  RETURN_IF_ERROR(versions->status());
  if (found != Found::kNothing && result.timestamp != nullptr) {
    *result.timestamp = versions->timestamp().ToString();
  }
  RecordTick(core_.services.statistics.get(), NUMBER_KEYS_READ);
  if (found != Found::kValue) return Status::NotFound();
  if (result.columns != nullptr) {
    PinnableSlice value;
    value.PinSelf(versions->value());
    result.columns->SetPlainValue(std::move(value));
  } else {
    result.value->PinSelf(versions->value());
  }
  RecordTick(core_.services.statistics.get(), BYTES_READ, versions->value().size());
  return Status::OK();
}

// A lookup is a seek of an iterator to the newest version that is not above the read's timestamp.
// There is no fast path, because few families have timestamps.
Status DBImpl::GetStamped(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                          const StampedResult& result) {
  const StopWatch watch(core_.environment.clock.get(), core_.services.statistics.get(), DB_GET);
  ColumnFamilyData* const family = FamilyOf(handle);
  if (core_.query_trace.is_on()) core_.query_trace.OnGet(family->id(), key);
  ReadView view = family->AcquireViewFor(options.snapshot);
  RETURN_IF_ERROR(CheckStampedRead(options, *view.super_version()));
  StampedIterator versions(
      PointOptions(options), std::move(view),
      {.merge = MergeToolsOf(core_), .skips_memtables = SkipsMemTables(options)});
  return LookUp(&versions, key, result);
}

// Reads keys of stamped families. All families are read at the same moment, as in NewIterators().
void DBImpl::MultiGetStamped(const ReadOptions& options, std::span<const size_t> indexes,
                             ColumnFamilyHandle** handles, const Slice* keys, PinnableSlice* values,
                             std::string* timestamps, Status* statuses) {
  const StopWatch watch(core_.environment.clock.get(), core_.services.statistics.get(),
                        DB_MULTIGET);
  std::vector<std::pair<ColumnFamilyData*, ReadView>> views;
  {
    MutexLock lock(&core_.mutex);
    for (const size_t i : indexes) {
      ColumnFamilyData* const family = FamilyOf(handles[i]);
      const auto same = [family](const auto& view) { return view.first == family; };
      if (std::any_of(views.begin(), views.end(), same)) continue;
      views.emplace_back(family, family->AcquireViewFor(options.snapshot));
    }
  }
  if (views.empty()) return;
  const SequenceNumber seqno = views.front().second.seqno();
  // One iterator serves all keys of a family.
  for (auto& [family, view] : views) {
    if (!core_.mode.is_following()) view.ReadAsOf(seqno);
    const Status checked = CheckStampedRead(options, *view.super_version());
    std::unique_ptr<StampedIterator> versions;
    if (checked.ok()) {
      versions = std::make_unique<StampedIterator>(
          PointOptions(options), std::move(view),
          StampedIterator::Setting{.merge = MergeToolsOf(core_),
                                   .skips_memtables = SkipsMemTables(options)});
    }
    for (const size_t i : indexes) {
      if (FamilyOf(handles[i]) != family) continue;
      statuses[i] = checked.ok()
                        ? LookUp(versions.get(), keys[i],
                                 {.value = &values[i],
                                  .timestamp = timestamps == nullptr ? nullptr : &timestamps[i]})
                        : checked;
    }
  }
}

// Reads the keys of stamped families here, and leaves all others to the usual path.
void DBImpl::MultiGetOfBothKinds(const ReadOptions& options, size_t num_keys,
                                 ColumnFamilyHandle** handles, const Slice* keys,
                                 PinnableSlice* values, std::string* timestamps, Status* statuses) {
  std::vector<size_t> stamped;
  std::vector<size_t> plain;
  for (size_t i = 0; i < num_keys; i++) {
    values[i].Reset();
    (IsStamped(handles[i]) ? stamped : plain).push_back(i);
  }
  MultiGetStamped(options, stamped, handles, keys, values, timestamps, statuses);
  if (plain.empty()) return;
  std::vector<ColumnFamilyHandle*> plain_handles;
  std::vector<Slice> plain_keys;
  for (const size_t i : plain) {
    plain_handles.push_back(handles[i]);
    plain_keys.push_back(keys[i]);
  }
  std::vector<PinnableSlice> found(plain.size());
  std::vector<Status> found_statuses(plain.size());
  MultiGetRequest request;
  request.keys = plain_keys;
  request.values = found.data();
  request.statuses = found_statuses.data();
  ReadPoints(options, request, plain_handles.data());
  for (size_t i = 0; i < plain.size(); i++) {
    values[plain[i]] = std::move(found[i]);
    statuses[plain[i]] = found_statuses[i];
  }
}

// Consumes the view, also if the options are refused.
Result<std::unique_ptr<Iterator>> DBImpl::MakeStampedIterator(const ReadOptions& options,
                                                              ColumnFamilyHandle* handle,
                                                              ReadView view) {
  RETURN_IF_ERROR(CheckStampedIterator(options, *view.super_version()));
  if (options.background_purge_on_iterator_cleanup) view.PurgeInBackground();
  return std::unique_ptr<Iterator>(std::make_unique<StampedIterator>(
      options, std::move(view),
      StampedIterator::Setting{.merge = MergeToolsOf(core_),
                               .query_trace = &core_.query_trace,
                               .family = FamilyOf(handle)->id()}));
}

// Raises the timestamp below which versions may be dropped.

Status DBImpl::IncreaseFullHistoryTsLow(ColumnFamilyHandle* handle, std::string ts_low) {
  RETURN_IF_ERROR(CheckWritable());
  if (handle == nullptr) handle = DefaultColumnFamily();
  return IncreaseHistoryLow(FamilyOf(handle), ts_low);
}

// The new value is in the MANIFEST before a compaction may act on it, so a crash cannot leave
// dropped versions behind a lower recorded value. The check of the comparison and the change happen
// under the DB mutex, except while the MANIFEST is written; another thread may have raised the
// value further by then.
Status DBImpl::IncreaseHistoryLow(ColumnFamilyData* family, const std::string& ts_low) {
  assert(family != nullptr);
  const InternalKeyComparator& order = family->comparator();
  if (order.stamp_bytes() == 0 || order.stamp_bytes() != ts_low.size()) {
    return Status::InvalidArgument(
        StrCat("IncreaseFullHistoryTsLow: the column family has timestamps of ",
               order.stamp_bytes(), " bytes, found ", ts_low.size()));
  }
  MutexLock lock(&core_.mutex);
  if (family->is_dropped()) return Status::ColumnFamilyDropped();
  // This is a reference, because the mutex is released while the MANIFEST is written, and the value
  // may change.
  const std::optional<std::string>& current = family->versions()->full_history_ts_low;
  const int change = current.has_value() ? order.OrderOfStamps(ts_low, *current) : 1;
  if (change < 0) {
    return Status::InvalidArgument(StrCat("IncreaseFullHistoryTsLow: cannot decrease it from ",
                                          Slice(*current).ToString(/*hex=*/true), " to ",
                                          Slice(ts_low).ToString(true)));
  }
  if (change == 0) return Status::OK();
  VersionEdit edit;
  edit.column_family = family->id();
  edit.full_history_ts_low = ts_low;
  VersionSet::Change change_of_family;
  change_of_family.edits.push_back(std::move(edit));
  change_of_family.last_sequence = core_.pipeline->visible_seqno();
  RETURN_IF_ERROR(core_.versions->LogAndApply(std::move(change_of_family), &core_.mutex));
  if (family->is_dropped()) return Status::ColumnFamilyDropped();
  family->PublishSuperVersion();
  if (*current == ts_low) return Status::OK();
  return Status::TryAgain("IncreaseFullHistoryTsLow: another thread has raised it further");
}

// An empty text if no version may be dropped yet.
Status DBImpl::GetFullHistoryTsLow(ColumnFamilyHandle* handle, std::string* ts_low) {
  if (ts_low == nullptr) return Status::InvalidArgument("GetFullHistoryTsLow: ts_low is nullptr");
  if (handle == nullptr) handle = DefaultColumnFamily();
  ColumnFamilyData* const family = FamilyOf(handle);
  if (family->comparator().stamp_bytes() == 0) {
    return Status::InvalidArgument("GetFullHistoryTsLow: the column family has no timestamps",
                                   family->name());
  }
  MutexLock lock(&core_.mutex);
  *ts_low = family->versions()->full_history_ts_low.value_or("");
  return Status::OK();
}

}  // namespace ashlar
