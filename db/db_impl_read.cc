// SPDX-License-Identifier: Apache-2.0
//
// Reads: choosing the view, then the one point read or an iterator.
#include <algorithm>
#include <cassert>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "db/api/family_iterators.h"
#include "db/db_impl.h"
#include "db/files/obsolete_files.h"
#include "db/options/options_check.h"
#include "db/read/blob_lookups.h"
#include "db/read/db_iterator.h"
#include "db/read/multi_get.h"
#include "db/read/operand_limits.h"
#include "db/read/perf_meter.h"
#include "db/read/pinned_iterator.h"
#include "db/read/point_read.h"
#include "db/read/read_explainer.h"
#include "db/read/read_sampler.h"
#include "db/version/version.h"
#include "memtable/empty_ranges.h"
#include "table/iterator/point_lookup.h"
#include "util/keys/read_callback.h"
#include "util/memory/stack_array.h"
#include "util/statistics/statistics.h"
#include "util/text/data_in_errors.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

SequenceNumber SeqnoFor(const ReadOptions& options, SequenceNumber visible) {
  return options.snapshot != nullptr ? options.snapshot->GetSequenceNumber() : visible;
}

void CountGet(const PointLookup& lookup, size_t value_bytes, Statistics* statistics) {
  CountPointRead(lookup, value_bytes, statistics);
  if (statistics == nullptr) [[likely]]
    return;
  RecordTick(statistics, NUMBER_KEYS_READ);
  RecordTick(statistics, BYTES_READ, value_bytes);
  RecordInHistogram(statistics, BYTES_PER_READ, value_bytes);
}

// A scan without a callback sees tombstones that a callback may refuse, and makes a range tombstone
// of them that it may take.
Status CheckCallbackFits(const ColumnFamilyOptions& family) {
  if (family.min_tombstones_for_range_conversion == 0) return Status::OK();
  return Status::NotSupported(
      "option min_tombstones_for_range_conversion: it excludes reads through a ReadCallback");
}

}  // namespace

// Writes that skipped the log would be lost in a crash.
bool DBImpl::SkipsMemTables(const ReadOptions& options) const {
  return options.read_tier == kPersistedTier && core_.pipeline->has_unlogged_writes();
}

template <typename Callback, typename Trace, typename IsEntity>
Status DBImpl::ReadPoint(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                         PinnableSlice* value, Callback callback, Trace trace, IsEntity is_entity) {
  constexpr bool kHasCallback = !std::is_null_pointer_v<Callback>;
  constexpr bool kHasTrace = !std::is_null_pointer_v<Trace>;
  constexpr bool kKeepsEntities = !std::is_null_pointer_v<IsEntity>;
  RETURN_IF_ERROR(CheckReadOptionsSupported(options));
  value->Reset();
  if (handle == nullptr) [[unlikely]]
    return NullHandle();
  const StopWatch watch(core_.environment.clock.get(), core_.services.statistics.get(), DB_GET);
  ColumnFamilyData* family = FamilyOf(handle);
  EpochGuard guard;
  SuperVersion* super_version = family->super_version();
  SequenceNumber seqno;
  if constexpr (kHasCallback) {
    RETURN_IF_ERROR(CheckCallbackFits(super_version->options()));
    seqno = callback->bound();
  } else {
    seqno = SeqnoFor(options, VisibleSeqno());
  }
  const LookupKey lookup_key(key, seqno, family->comparator().order());
  PointLookup lookup(lookup_key, value);
  if constexpr (kHasCallback) lookup.SetCallback(callback);
  if constexpr (kKeepsEntities) lookup.KeepEntities();
  if constexpr (kHasTrace) {
    lookup.SetTrace(trace);
    trace->BeginLookup(lookup);
  }
  PointRead read(*super_version, options, &lookup);
  const bool is_over = read.RunInEpoch(SkipsMemTables(options));
  if (!is_over || lookup.is_unfinished()) [[unlikely]] {
    const ReadView pinned(family, SuperVersionRef(super_version), lookup_key.snapshot());
    guard.Leave();
    const Status status = FinishPointRead(MergeToolsOf(core_), is_over, &read);
    if constexpr (kKeepsEntities) *is_entity = lookup.is_entity();
    CountGet(lookup, value->size(), core_.services.statistics.get());
    return status;
  }
  if constexpr (kHasTrace) trace->EndLookup(lookup);
  if constexpr (kKeepsEntities) *is_entity = lookup.is_entity();
  CountGet(lookup, value->size(), core_.services.statistics.get());
  return StatusOf(lookup);
}

Status DBImpl::Get(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   PinnableSlice* value, std::string* timestamp) {
  if (timestamp != nullptr) timestamp->clear();
  if (PerfMeter::IsWanted()) [[unlikely]] {
    PerfMeter meter;
    return ReadPoint(options, handle, key, value, nullptr, &meter);
  }
  if (IsReadSampled()) [[unlikely]]
    return GetSampled(options, handle, key, value);
  return ReadPoint(options, handle, key, value, nullptr, nullptr);
}

Status DBImpl::GetSampled(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                          PinnableSlice* value) {
  ReadSample sample;
  const Status status = ReadPoint(options, handle, key, value, nullptr, &sample);
  if (sample.IsWorthAsking()) RequestReadCompaction(FamilyOf(handle));
  return status;
}

void DBImpl::RequestReadCompaction(ColumnFamilyData* family) {
  if (core_.mode.is_read_only) return;
  MutexLock lock(&core_.mutex);
  family->is_read_compaction_wanted = true;
  scheduler_.RequestCompactionLocked(family);
}

Status DBImpl::GetAs(const ReadCallback& callback, const ReadOptions& options,
                     ColumnFamilyHandle* handle, const Slice& key, PinnableSlice* value) {
  assert(options.snapshot == nullptr);
  return ReadPoint(options, handle, key, value, &callback, nullptr);
}

Status DBImpl::ExplainRead(ExplainedRead read, const ReadOptions& options,
                           ColumnFamilyHandle* handle, const Slice& key,
                           ReadExplanation* explanation) {
  RETURN_IF_ERROR(CheckHandle(handle));
  const bool is_seek = read != ExplainedRead::kGet;
  RETURN_IF_ERROR(is_seek ? CheckIteratorOptionsSupported(options)
                          : CheckReadOptionsSupported(options));
  *explanation = ReadExplanation();
  explanation->read = read;
  explanation->key = key.ToString();
  ReadView view = FamilyOf(handle)->AcquireView();
  if (is_seek) RETURN_IF_ERROR(CheckIteratorFits(options, view.super_version()->options()));
  explanation->seqno = SeqnoFor(options, view.seqno());
  explanation->table_count = view.super_version()->version()->file_count();
  is_seek ? ExplainSeek(options, std::move(view), explanation)
          : ExplainGet(options, handle, view, explanation);
  return Status::OK();
}

// `view` is as of the read or a little before it.
void DBImpl::ExplainGet(const ReadOptions& options, ColumnFamilyHandle* handle,
                        const ReadView& view, ReadExplanation* explanation) {
  PinnableSlice value;
  {
    ReadExplainer explainer(explanation);
    explanation->status = ReadPoint(options, handle, explanation->key, &value, nullptr, &explainer);
    explanation->value_bytes = value.size();
  }
  FindMemTableTombstones(*view.super_version(), explanation);
}

void DBImpl::ExplainSeek(const ReadOptions& options, ReadView view, ReadExplanation* explanation) {
  ReadExplainer explainer(explanation);
  DBIterator iterator(options, std::move(view),
                      {.merge = MergeToolsOf(core_), .trace = &explainer});
  const bool is_forward = explanation->read == ExplainedRead::kSeek;
  is_forward ? iterator.Seek(explanation->key) : iterator.SeekForPrev(explanation->key);
  explainer.EndSeek(iterator);
}

// Of the request the families, and what all requests have in common, are filled in.
void DBImpl::ReadPoints(const ReadOptions& options, MultiGetRequest request,
                        ColumnFamilyHandle** handles) {
  const StopWatch watch(core_.environment.clock.get(), core_.services.statistics.get(),
                        DB_MULTIGET);
  const Status supported = CheckReadOptionsSupported(options);
  const size_t num_keys = request.keys.size();
  StackArray<ReadViewSource*, kMultiGetOnStack> families(num_keys);
  bool has_null = false;
  for (size_t i = 0; i < num_keys; i++) {
    families[i] = handles[i] != nullptr ? FamilyOf(handles[i]) : core_.families.default_family();
    has_null |= handles[i] == nullptr;
    request.values[i].Reset();
    if (!supported.ok()) request.statuses[i] = supported;
  }
  if (!supported.ok()) return;
  request.options = &options;
  request.merge = MergeToolsOf(core_);
  request.skips_memtables = SkipsMemTables(options);
  request.families = {families.data(), num_keys};
  ashlar::MultiGet(request, {.seqnos = this, .mutex = &core_.mutex},
                   core_.services.statistics.get());
  if (has_null) [[unlikely]]
    RefuseNullHandles(request, handles);
}

// Keys without a family were read in the default one beside the others.
void DBImpl::RefuseNullHandles(const MultiGetRequest& request, ColumnFamilyHandle** handles) {
  for (size_t i = 0; i < request.keys.size(); i++) {
    if (handles[i] != nullptr) continue;
    request.values[i].Reset();
    request.statuses[i] = NullHandle();
  }
}

void DBImpl::MultiGet(const ReadOptions& options, const size_t num_keys,
                      ColumnFamilyHandle** handles, const Slice* keys, PinnableSlice* values,
                      std::string* timestamps, Status* statuses, const bool sorted_input) {
  for (size_t i = 0; timestamps != nullptr && i < num_keys; i++) timestamps[i].clear();
  MultiGetRequest request;
  request.is_sorted = sorted_input;
  request.keys = {keys, num_keys};
  request.values = values;
  request.statuses = statuses;
  request.watched_key = SampledRead(num_keys);
  if (request.watched_key == num_keys) [[likely]]
    return ReadPoints(options, request, handles);
  ReadSample sample;
  request.watch = &sample;
  ReadPoints(options, request, handles);
  ColumnFamilyHandle* const watched = handles[request.watched_key];
  if (watched != nullptr && sample.IsWorthAsking()) RequestReadCompaction(FamilyOf(watched));
}

void DBImpl::MultiGetAs(const ReadCallback& callback, const ReadOptions& options, size_t num_keys,
                        ColumnFamilyHandle** handles, const Slice* keys, PinnableSlice* values,
                        Status* statuses) {
  assert(options.snapshot == nullptr);
  {
    const EpochGuard guard;
    for (size_t i = 0; i < num_keys; i++) {
      statuses[i] = handles[i] == nullptr
                        ? NullHandle()
                        : CheckCallbackFits(FamilyOf(handles[i])->super_version()->options());
      if (statuses[i].ok()) continue;
      std::fill_n(statuses, num_keys, Status(statuses[i]));
      return;
    }
  }
  ReadPoints(options,
             {.callback = &callback,
              .families = {},
              .keys = {keys, num_keys},
              .values = values,
              .statuses = statuses},
             handles);
}

namespace {

// Moves what was read there.
Status ToColumns(PinnableSlice* value, bool is_entity, const Slice& key,
                 PinnableWideColumns* columns) {
  if (!is_entity) {
    columns->SetPlainValue(std::move(*value));
    return Status::OK();
  }
  const Status status = columns->SetWideColumnValue(std::move(*value));
  if (status.ok()) return status;
  return Status::CopyAppendMessage(status, "; of key ", KeyInError(key));
}

}  // namespace

Status DBImpl::GetEntity(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                         PinnableWideColumns* columns) {
  if (columns == nullptr) {
    return Status::InvalidArgument("GetEntity: needs a place for the columns");
  }
  columns->Reset();
  PinnableSlice value;
  bool is_entity = false;
  const Status status = ReadPoint(options, handle, key, &value, nullptr, nullptr, &is_entity);
  if (!status.ok()) return status;
  const Status decoded = ToColumns(&value, is_entity, key, columns);
  return decoded.ok() ? status : decoded;  // which may say that there were many operands
}

void DBImpl::MultiGetEntity(const ReadOptions& options, size_t num_keys,
                            ColumnFamilyHandle** handles, const Slice* keys,
                            PinnableWideColumns* results, Status* statuses, bool sorted_input) {
  std::vector<PinnableSlice> values(num_keys);
  const auto are_entities = std::make_unique<bool[]>(num_keys);
  ReadPoints(options,
             {.is_sorted = sorted_input,
              .families = {},
              .keys = {keys, num_keys},
              .values = values.data(),
              .statuses = statuses,
              .are_entities = are_entities.get()},
             handles);
  for (size_t i = 0; i < num_keys; i++) {
    results[i].Reset();
    if (!statuses[i].ok()) continue;
    const Status decoded = ToColumns(&values[i], are_entities[i], keys[i], &results[i]);
    if (!decoded.ok()) statuses[i] = decoded;
  }
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

Status DBImpl::GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* handle,
                                const Slice& key, PinnableSlice* merge_operands,
                                GetMergeOperandsOptions* operands_options,
                                int* number_of_operands) {
  RETURN_IF_ERROR(CheckReadOptionsSupported(options));
  RETURN_IF_ERROR(CheckHandle(handle));
  if (operands_options == nullptr || number_of_operands == nullptr) {
    return Status::InvalidArgument("GetMergeOperands: options or number is a null pointer");
  }
  ColumnFamilyData* const family = FamilyOf(handle);
  const ReadView view = family->AcquireView();
  const LookupKey lookup_key(key, SeqnoFor(options, view.seqno()), family->comparator().order());
  PinnableSlice base;
  PointLookup lookup(lookup_key, &base);
  ContinueCallbackLimit limit(operands_options->continue_cb);
  lookup.SetOperandLimit(&limit);
  PointRead read(*view.super_version(), options, &lookup);
  bool is_over = false;
  {
    EpochGuard guard;
    is_over = read.RunInEpoch(SkipsMemTables(options));
  }
  if (!is_over) read.Finish();
  if (lookup.is_blob_index()) ReadBlob(*view.super_version(), options, &lookup);
  CountGet(lookup, base.size(), core_.services.statistics.get());
  return HandOutOperands(&lookup, *operands_options, merge_operands, number_of_operands);
}

Iterator* DBImpl::NewIterator(const ReadOptions& options, ColumnFamilyHandle* handle) {
  Status supported = CheckIteratorOptionsSupported(options);
  if (supported.ok()) supported = CheckHandle(handle);
  if (!supported.ok()) return NewErrorIterator(supported);
  ReadView view = FamilyOf(handle)->AcquireView();
  supported = CheckIteratorFits(options, view.super_version()->options());
  if (!supported.ok()) return NewErrorIterator(supported);
  return MakeIterator(options, std::move(view));
}

Iterator* DBImpl::MakeIterator(const ReadOptions& options, ReadView view,
                               const ReadCallback* callback) {
  if (options.background_purge_on_iterator_cleanup) view.PurgeInBackground();
  ReadOptions read = options;
  if (read.pin_data) read.allow_unprepared_value = false;  // what is shown is copied at once
  auto iterator = std::make_unique<DBIterator>(
      read, std::move(view),
      DBIteratorSetting{.merge = MergeToolsOf(core_),
                        .callback = callback,
                        .dead_ranges = CheckWritable().ok() ? this : nullptr});
  if (options.pin_data) [[unlikely]]
    return new PinnedIterator(std::move(iterator));
  return iterator.release();
}

Iterator* DBImpl::NewIteratorAs(const ReadCallback& callback, const ReadOptions& options,
                                ColumnFamilyHandle* handle) {
  assert(options.snapshot == nullptr);
  Status supported = CheckIteratorOptionsSupported(options);
  if (supported.ok()) supported = CheckHandle(handle);
  if (!supported.ok()) return NewErrorIterator(supported);
  ReadView view = FamilyOf(handle)->AcquireView();
  supported = CheckCallbackFits(view.super_version()->options());
  if (!supported.ok()) return NewErrorIterator(supported);
  return MakeIterator(options, std::move(view), &callback);
}

Status DBImpl::NewIterators(const ReadOptions& options,
                            const std::vector<ColumnFamilyHandle*>& handles,
                            std::vector<Iterator*>* iterators) {
  iterators->clear();
  RETURN_IF_ERROR(CheckIteratorOptionsSupported(options));
  RETURN_IF_ERROR(CheckHandles(handles));
  std::vector<ReadView> views;
  {
    // Super versions are replaced under the mutex: this way all are of one moment.
    MutexLock lock(&core_.mutex);
    for (ColumnFamilyHandle* handle : handles) {
      views.push_back(FamilyOf(handle)->AcquireView());
    }
  }
  // The first number was taken when every super version was in force already or is unchanged since.
  const SequenceNumber seqno = views.empty() ? 0 : views.front().seqno();
  for (const ReadView& view : views) {
    RETURN_IF_ERROR(CheckIteratorFits(options, view.super_version()->options()));
  }
  for (ReadView& view : views) {
    view.ReadAsOf(seqno);
    iterators->push_back(MakeIterator(options, std::move(view)));
  }
  return Status::OK();
}

std::unique_ptr<Iterator> DBImpl::NewCoalescingIterator(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles) {
  FamilyCursors cursors;
  const Status status = OpenFamilyCursors(this, options, handles, &cursors);
  if (!status.ok()) return std::unique_ptr<Iterator>(NewErrorIterator(status));
  return std::make_unique<CoalescingIterator>(std::move(cursors));
}

std::unique_ptr<AttributeGroupIterator> DBImpl::NewAttributeGroupIterator(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles) {
  FamilyCursors cursors;
  const Status status = OpenFamilyCursors(this, options, handles, &cursors);
  if (!status.ok()) return NewAttributeGroupErrorIterator(status);
  return std::make_unique<GroupingIterator>(std::move(cursors));
}

const Snapshot* DBImpl::GetSnapshot() {
  {
    const EpochGuard guard;
    if (!core_.families.SupportSnapshots()) return nullptr;
  }
  return core_.snapshots.Take([this] { return VisibleSeqno(); },
                              static_cast<int64_t>(core_.environment.NowSeconds()));
}

void DBImpl::ReleaseSnapshot(const Snapshot* snapshot) {
  if (snapshot == nullptr || !core_.snapshots.Release(snapshot)) return;
  if (core_.snapshots.SeenByAll() < compaction_registry_.next_table_due()) {
    return;
  }
  MutexLock lock(&core_.mutex);
  scheduler_.RequestDueTablesLocked();
}

// Older runs are older than a tombstone of a memtable (TombstoneSlab). So the view's memtable must
// still be the one that is written to, and hold something that the view sees: what is in the other
// runs was written before, unless external files came since. It is not a write: it takes no number
// and is not logged, for whoever can see it sees nothing in the range anyway.
void DBImpl::CoverDeadRange(const ReadView& view, const Slice& begin, const Slice& end) {
  auto* const family = static_cast<ColumnFamilyData*>(view.source());
  MutexLock lock(&core_.mutex);
  MemTable* const memtable = family->mem();
  if (!family->HasNoExternalChangeSince(*view.super_version())) return;
  if (memtable != view.super_version()->mem() || memtable->smallest_seqno() > view.seqno()) return;
  InsertHint uncounted;
  IgnoreError(memtable->Add(view.seqno(), kTypeRangeDeletion, begin, end, &uncounted),
              "a scan goes on without");
}

// A view's number may be newer than its memtables: it says that nothing lives only as long as none
// was sealed since. Without the DB mutex: who scans may be a callback of a commit in flight.
void DBImpl::LearnDeadRange(const ReadView& view, const Slice& begin, const Slice& end) {
  auto* const family = static_cast<ColumnFamilyData*>(view.source());
  const SuperVersion& seen = *view.super_version();
  if (family->mem() != seen.mem()) return;
  family->empty_ranges()->Learn(
      {.begin = begin, .end = end, .seqno = view.seqno(), .version = seen.version()->number()},
      [this] { return core_.pipeline->last_reserved_seqno(); });
}

// Files of an old super version may be deleted once no iterator uses them. Destructors come here.
void DBImpl::OnViewReleased(Purge purge) {
  if (core_.versions->HasObsolete()) PurgeObsolete(purge);
}

// Its last super version waits for the epoch, and perhaps for a reader that is on its way out.
void DBImpl::OnFamilyGone(Purge purge) {
  if (EpochReclaimAll()) return OnViewReleased(purge);
  PurgeObsolete(Purge::kInBackground);
}

void DBImpl::PurgeObsolete(Purge purge) {
  if (core_.shutdown.is_closing()) return;
  try {
    purge == Purge::kNow ? PurgeObsoleteFiles(&core_) : scheduler_.RequestPurge();
  } catch (const std::bad_alloc&) {
    // Whoever comes next, or at last the next open, deletes what is left.
  }
}

}  // namespace ashlar
