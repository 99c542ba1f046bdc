// SPDX-License-Identifier: Apache-2.0
//
// Reads: choosing the view, then the one point read or an iterator.
#include <utility>
#include <vector>

#include "db/db_impl.h"
#include "db/files/obsolete_files.h"
#include "db/options/options_check.h"
#include "db/read/db_iterator.h"
#include "db/read/multi_get.h"
#include "db/read/point_read.h"
#include "table/iterator/point_lookup.h"
#include "util/epoch.h"
#include "util/stack_array.h"
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
  ColumnFamilyData* family = FamilyOrDefault(handle);
  EpochGuard guard;
  SuperVersion* super_version = family->super_version();
  const LookupKey lookup_key(key, SeqnoFor(options, VisibleSeqno()), family->comparator().order());
  PointLookup lookup(lookup_key, value);
  PointRead read(*super_version, options, &lookup);
  if (!read.RunInEpoch(SkipsMemTables(options))) [[unlikely]] {
    const ReadView pinned(family, SuperVersionRef(super_version), lookup_key.snapshot());
    guard.Leave();
    read.Finish();
  }
  CountPointRead(lookup, value->size(), core_.statistics.get());
  if (core_.statistics != nullptr) [[unlikely]]
    CountGet(value->size(), core_.statistics.get());
  return StatusOf(lookup);
}

void DBImpl::MultiGet(const ReadOptions& options, const size_t num_keys,
                      ColumnFamilyHandle** handles, const Slice* keys, PinnableSlice* values,
                      std::string* timestamps, Status* statuses, const bool sorted_input) {
  const StopWatch watch(core_.clock.get(), core_.statistics.get(), DB_MULTIGET);
  const Status supported = CheckReadOptionsSupported(options);
  StackArray<ReadViewSource*, kMultiGetOnStack> families(num_keys);
  for (size_t i = 0; i < num_keys; i++) {
    families[i] = FamilyOrDefault(handles[i]);
    values[i].Reset();
    if (timestamps != nullptr) timestamps[i].clear();
    if (!supported.ok()) statuses[i] = supported;
  }
  if (!supported.ok()) return;
  ashlar::MultiGet({.options = &options,
                    .skips_memtables = SkipsMemTables(options),
                    .is_sorted = sorted_input,
                    .families = {families.data(), num_keys},
                    .keys = {keys, num_keys},
                    .values = values,
                    .statuses = statuses},
                   {.seqnos = this, .mutex = &core_.mutex}, core_.statistics.get());
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
