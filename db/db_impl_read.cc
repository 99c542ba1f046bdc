// SPDX-License-Identifier: Apache-2.0
//
// Reads: choosing the view, then the one point read or an iterator.
#include <algorithm>
#include <vector>

#include "db/db_impl.h"
#include "db/files/obsolete_files.h"
#include "db/options/options_check.h"
#include "db/read/db_iterator.h"
#include "db/read/point_read.h"
#include "table/iterator/point_lookup.h"
#include "util/epoch.h"
#include "util/statistics.h"

namespace ashlar {
namespace {

SequenceNumber SeqnoFor(const ReadOptions& options, SequenceNumber visible) {
  return options.snapshot != nullptr ? options.snapshot->GetSequenceNumber() : visible;
}

void CountGet(size_t value_bytes, Statistics* statistics) {
  RecordTick(statistics, NUMBER_KEYS_READ);
  RecordTick(statistics, BYTES_READ, value_bytes);
  RecordInHistogram(statistics, BYTES_PER_READ, value_bytes);
}

void CountMultiGet(const Status* statuses, size_t num_keys, size_t value_bytes,
                   Statistics* statistics) {
  if (statistics == nullptr) return;
  const auto found = std::count_if(statuses, statuses + num_keys,
                                   [](const Status& status) { return status.ok(); });
  statistics->recordTick(NUMBER_MULTIGET_CALLS, 1);
  statistics->recordTick(NUMBER_MULTIGET_KEYS_READ, num_keys);
  statistics->recordTick(NUMBER_MULTIGET_KEYS_FOUND, static_cast<uint64_t>(found));
  statistics->recordTick(NUMBER_MULTIGET_BYTES_READ, value_bytes);
  statistics->recordInHistogram(BYTES_PER_MULTIGET, value_bytes);
}

}  // namespace

// Writes that skipped the log would be lost in a crash.
bool DBImpl::SkipsMemTables(const ReadOptions& options) const {
  return options.read_tier == kPersistedTier && core_.pipeline->has_unlogged_writes();
}

Status DBImpl::Get(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   PinnableSlice* value, std::string* timestamp) {
  if (timestamp != nullptr) timestamp->clear();
  RETURN_IF_ERROR(CheckReadOptionsSupported(options));
  value->Reset();
  const StopWatch watch(core_.clock.get(), core_.statistics.get(), DB_GET);
  const ColumnFamilyData* family = FamilyOrDefault(handle);
  EpochGuard guard;
  const SuperVersion* super_version = family->super_version();
  const LookupKey lookup_key(key, SeqnoFor(options, VisibleSeqno()), family->comparator().order());
  PointLookup lookup(lookup_key, value);
  ReadPoint(*super_version, options, SkipsMemTables(options), &lookup);
  CountPointRead(lookup, value->size(), core_.statistics.get());
  if (core_.statistics != nullptr) [[unlikely]]
    CountGet(value->size(), core_.statistics.get());
  return StatusOf(lookup);
}

// All keys see one state of all families: their super versions are loaded before the sequence
// number, and again if one of them was replaced meanwhile.
void DBImpl::MultiGet(const ReadOptions& options, const size_t num_keys,
                      ColumnFamilyHandle** handles, const Slice* keys, PinnableSlice* values,
                      std::string* timestamps, Status* statuses, const bool) {
  const Status supported = CheckReadOptionsSupported(options);
  const StopWatch watch(core_.clock.get(), core_.statistics.get(), DB_MULTIGET);
  EpochGuard guard;
  std::vector<const SuperVersion*> views(num_keys);
  SequenceNumber seqno = 0;
  const auto load_views = [&] {
    for (size_t i = 0; i < num_keys; i++) views[i] = FamilyOrDefault(handles[i])->super_version();
    seqno = SeqnoFor(options, VisibleSeqno());
    for (size_t i = 0; i < num_keys; i++) {
      if (views[i] != FamilyOrDefault(handles[i])->super_version()) return false;
    }
    return true;
  };
  constexpr int kAttempts = 3;
  bool is_consistent = false;
  for (int attempt = 0; attempt < kAttempts && !is_consistent; attempt++) {
    is_consistent = load_views();
  }
  if (!is_consistent) {
    MutexLock lock(&core_.mutex);  // super versions are replaced under it
    load_views();
  }
  size_t found_bytes = 0;
  bool is_over_limit = false;
  for (size_t i = 0; i < num_keys; i++) {
    values[i].Reset();
    if (timestamps != nullptr) timestamps[i].clear();
    if (!supported.ok() || is_over_limit) {
      statuses[i] = supported.ok() ? Status::Aborted("value_size_soft_limit reached") : supported;
      continue;
    }
    const ColumnFamilyData* family = FamilyOrDefault(handles[i]);
    const LookupKey lookup_key(keys[i], seqno, family->comparator().order());
    PointLookup lookup(lookup_key, &values[i]);
    ReadPoint(*views[i], options, SkipsMemTables(options), &lookup);
    CountPointRead(lookup, values[i].size(), core_.statistics.get());
    statuses[i] = StatusOf(lookup);
    found_bytes += values[i].size();
    is_over_limit = found_bytes > options.value_size_soft_limit;
  }
  CountMultiGet(statuses, num_keys, found_bytes, core_.statistics.get());
}

bool DBImpl::KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                         std::string* value, std::string* timestamp, bool* value_found) {
  if (value_found != nullptr) *value_found = false;
  ReadOptions memory_only = options;
  memory_only.read_tier = kBlockCacheTier;
  PinnableSlice found;
  const Status status = Get(memory_only, handle, key, &found, timestamp);
  if (status.ok() && value != nullptr) {
    value->assign(found.data(), found.size());
    if (value_found != nullptr) *value_found = true;
  }
  return !status.IsNotFound();
}

Status DBImpl::GetMergeOperands(const ReadOptions&, ColumnFamilyHandle*, const Slice&,
                                PinnableSlice*, GetMergeOperandsOptions*, int*) {
  return Status::NotSupported("GetMergeOperands");
}

Iterator* DBImpl::NewIterator(const ReadOptions& options, ColumnFamilyHandle* handle) {
  Status supported = CheckIteratorOptionsSupported(options);
  if (!supported.ok()) return NewErrorIterator(supported);
  ColumnFamilyData* family = FamilyOrDefault(handle);
  return new DBIterator(options, family->AcquireView(), core_.statistics.get());
}

Status DBImpl::NewIterators(const ReadOptions& options,
                            const std::vector<ColumnFamilyHandle*>& handles,
                            std::vector<Iterator*>* iterators) {
  iterators->clear();
  RETURN_IF_ERROR(CheckIteratorOptionsSupported(options));
  std::vector<ReadView> views;
  {
    // Super versions are replaced under the mutex: this way all are of one moment.
    MutexLock lock(&core_.mutex);
    for (ColumnFamilyHandle* handle : handles) {
      views.push_back(FamilyOrDefault(handle)->AcquireView());
    }
  }
  // The first number was taken when every super version was in force already or is unchanged since.
  const SequenceNumber seqno = views.empty() ? 0 : views.front().seqno();
  for (ReadView& view : views) {
    view.ReadAsOf(seqno);
    iterators->push_back(new DBIterator(options, std::move(view), core_.statistics.get()));
  }
  return Status::OK();
}

std::unique_ptr<Iterator> DBImpl::NewCoalescingIterator(const ReadOptions&,
                                                        const std::vector<ColumnFamilyHandle*>&) {
  return std::unique_ptr<Iterator>(NewErrorIterator(Status::NotSupported("NewCoalescingIterator")));
}

std::unique_ptr<AttributeGroupIterator> DBImpl::NewAttributeGroupIterator(
    const ReadOptions&, const std::vector<ColumnFamilyHandle*>&) {
  return NewAttributeGroupErrorIterator(Status::NotSupported("NewAttributeGroupIterator"));
}

const Snapshot* DBImpl::GetSnapshot() {
  return core_.snapshots.Take([this] { return VisibleSeqno(); },
                              static_cast<int64_t>(core_.NowSeconds()));
}

void DBImpl::ReleaseSnapshot(const Snapshot* snapshot) {
  if (snapshot != nullptr) core_.snapshots.Release(snapshot);
}

// Files of an old super version may be deleted once no iterator uses them.
void DBImpl::OnViewReleased() {
  if (core_.versions->HasObsolete() && !core_.is_closing.load(std::memory_order_acquire)) {
    PurgeObsoleteFiles(&core_);
  }
}

}  // namespace ashlar
