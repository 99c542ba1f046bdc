// SPDX-License-Identifier: Apache-2.0
//
// Reads. Each read chooses a view of the database, and then makes a point read or an iterator.
#include <algorithm>
#include <cassert>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "db/db_impl.h"
#include "db/files/obsolete_files.h"
#include "db/options/options_check.h"
#include "db/own_moment.h"
#include "db/read/blob_lookups.h"
#include "db/read/db_iterator.h"
#include "db/read/entity_columns.h"
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
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// The sequence number up to which a read without a callback sees entries: that of its snapshot, or
// the newest visible one.
SequenceNumber SeqnoFor(const ReadOptions& options, SequenceNumber visible) {
  return options.snapshot != nullptr ? options.snapshot->GetSequenceNumber() : visible;
}

// Counts a Get. Without Statistics nothing is written to shared memory.
void CountGet(const PointLookup& lookup, size_t value_bytes, Statistics* statistics) {
  CountPointRead(lookup, value_bytes, statistics);
  if (statistics == nullptr) [[likely]]
    return;
  RecordTick(statistics, NUMBER_KEYS_READ);
  RecordTick(statistics, BYTES_READ, value_bytes);
  RecordInHistogram(statistics, BYTES_PER_READ, value_bytes);
}

// A scan may convert a row of tombstones into a range tombstone. A scan without a callback may see
// all tombstones of the row while a reader with a callback must not see some of them, so the two
// features exclude each other. Reads that skip the data of undecided transactions are no such
// readers: a database of transactions converts no rows (CoverDeadRange), and one that was opened
// without them converts none around undecided data (DBIterator::DecideOnDead).
Status CheckCallbackFits(const ColumnFamilyOptions& family) {
  if (family.min_tombstones_for_range_conversion == 0) return Status::OK();
  return Status::NotSupported(
      "option min_tombstones_for_range_conversion: it excludes reads through a ReadCallback");
}

}  // namespace

// Whether the read must skip the memtables. A read of persisted data must, once some write has
// skipped the log, because memtables contain data then that a crash would lose.
bool DBImpl::SkipsMemTables(const ReadOptions& options) const {
  return options.read_tier == kPersistedTier && core_.pipeline->has_unlogged_writes();
}

// A snapshot of a follower holds the super versions of all families, since catching up replaces
// their memtables.
SuperVersion* DBImpl::HeldBy(const Snapshot* snapshot, const ReadViewSource& family) {
  if (!core_.mode.is_following()) return nullptr;
  return static_cast<const SnapshotImpl*>(snapshot)->HeldOf(&family);
}

// The super version to read. Called inside an epoch, in which the result stays valid.
SuperVersion* DBImpl::SuperVersionFor(const ReadOptions& options, ColumnFamilyData* family) {
  if (options.snapshot != nullptr && core_.mode.is_following()) [[unlikely]] {
    SuperVersion* const held = HeldBy(options.snapshot, *family);
    if (held != nullptr) return held;
  }
  return family->super_version();
}

// The only point read of a database. While all blocks are cached, it runs in one epoch, without
// locks and shared counters. A read that needs a file pins the super version and leaves the epoch,
// and FinishPointRead() completes it.
template <typename Callback, typename Trace, typename IsEntity>
Status DBImpl::ReadPoint(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                         PinnableSlice* value, Callback callback, Trace trace, IsEntity is_entity) {
  assert(value != nullptr);
  constexpr bool kHasCallback = !std::is_null_pointer_v<Callback>;
  constexpr bool kHasTrace = !std::is_null_pointer_v<Trace>;
  constexpr bool kKeepsEntities = !std::is_null_pointer_v<IsEntity>;
  RETURN_IF_ERROR(CheckReadOptionsSupported(options));
  value->Reset();
  if (handle == nullptr) [[unlikely]]
    return NullHandle();
  const StopWatch watch(core_.environment.clock.get(), core_.services.statistics.get(), DB_GET);
  ColumnFamilyData* family = FamilyOf(handle);
  if (core_.query_trace.is_on()) [[unlikely]]
    core_.query_trace.OnGet(family->id(), key);
  EpochGuard guard;
  SuperVersion* super_version = SuperVersionFor(options, family);
  SequenceNumber seqno;
  if constexpr (kHasCallback) {
    RETURN_IF_ERROR(CheckCallbackFits(super_version->options()));
    seqno = callback->bound();
  } else {
    seqno = std::min(SeqnoFor(options, VisibleSeqno()), super_version->newest_seqno());
    // This check comes after the number was read: if data that is not decided yet was written
    // before, the list is in use by now.
    if (core_.undecided.is_used()) [[unlikely]] {
      guard.Leave();
      return ReadDecided(options, handle, key, value, trace, is_entity);
    }
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
    // I/O is not allowed inside an epoch. The pin keeps the super version alive instead.
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

// A point read in a database with undecided transactions. The list of undecided data forgets old
// decisions. A sequence number from before a forgotten decision belongs to a replaced super
// version, or to the moment before the decision became visible; then both are read again. Only a
// family that another process has dropped stays where it is: the list keeps what is hidden there.
Status DBImpl::ReadDecided(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                           PinnableSlice* value, ReadTrace* trace, bool* is_entity,
                           const DecidedVersions::Own* own) {
  assert(value != nullptr);
  ColumnFamilyData* const family = FamilyOf(handle);
  EpochGuard guard;
  SuperVersion* super_version = nullptr;
  SequenceNumber seqno = 0;
  const UndecidedList* list = nullptr;
  bool is_newest = options.snapshot != nullptr;
  do {
    SuperVersion* const before = std::exchange(super_version, SuperVersionFor(options, family));
    const SequenceNumber seqno_before = seqno;
    seqno = std::min(SeqnoFor(options, VisibleSeqno()), super_version->newest_seqno());
    is_newest |= super_version == before && seqno == seqno_before;
    list = core_.undecided.Load();
  } while (!is_newest && seqno < list->forgotten_up_to());
  const DecidedVersions decided(list, seqno, own);
  const LookupKey lookup_key(key, decided.bound(), family->comparator().order());
  PointLookup lookup(lookup_key, value);
  if (!decided.SeesAll()) lookup.SetCallback(&decided);
  if (is_entity != nullptr) lookup.KeepEntities();
  if (trace != nullptr) {
    lookup.SetTrace(trace);
    trace->BeginLookup(lookup);
  }
  PointRead read(*super_version, options, &lookup);
  const bool is_over = read.RunInEpoch(SkipsMemTables(options));
  Status status;
  if (!is_over || lookup.is_unfinished()) {
    const ReadView pinned(family, SuperVersionRef(super_version), lookup_key.snapshot());
    guard.Leave();
    status = FinishPointRead(MergeToolsOf(core_), is_over, &read);
  } else {
    if (trace != nullptr) trace->EndLookup(lookup);
    status = StatusOf(lookup);
  }
  if (is_entity != nullptr) *is_entity = lookup.is_entity();
  CountGet(lookup, value->size(), core_.services.statistics.get());
  return status;
}

// The rare kinds of reads leave by early returns, so that the usual read pays one branch for each.
Status DBImpl::Get(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   PinnableSlice* value, std::string* timestamp) {
  if (timestamp != nullptr) timestamp->clear();
  if (core_.families.has_stamped() && IsStamped(handle)) [[unlikely]] {
    value->Reset();
    return GetStamped(options, handle, key, {.value = value, .timestamp = timestamp});
  }
  if (core_.block_trace.is_on()) [[unlikely]]
    return GetTraced(options, handle, key, value);
  if (PerfMeter::IsWanted()) [[unlikely]] {
    PerfMeter meter;
    return ReadPoint(options, handle, key, value, nullptr, &meter);
  }
  if (IsReadSampled()) [[unlikely]]
    return GetSampled(options, handle, key, value);
  return ReadPoint(options, handle, key, value, nullptr, nullptr);
}

// Like Get(), but records how many tables were searched in vain. Such searches may pay for a
// compaction.
Status DBImpl::GetSampled(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                          PinnableSlice* value) {
  ReadSample sample;
  const Status status = ReadPoint(options, handle, key, value, nullptr, &sample);
  if (sample.IsWorthAsking()) RequestReadCompaction(FamilyOf(handle));
  return status;
}

[[gnu::cold]] Status DBImpl::GetTraced(const ReadOptions& options, ColumnFamilyHandle* handle,
                                       const Slice& key, PinnableSlice* value, bool* is_entity) {
  BlockAccesses accesses(TracedReads(kUserGet, options, handle), core_.block_trace.NextGetId());
  if (is_entity != nullptr) {
    return ReadPoint(options, handle, key, value, nullptr, &accesses, is_entity);
  }
  return ReadPoint(options, handle, key, value, nullptr, &accesses);
}

Status DBImpl::GetAs(const ReadCallback& callback, const ReadOptions& options,
                     ColumnFamilyHandle* handle, const Slice& key, PinnableSlice* value) {
  assert(options.snapshot == nullptr);
  return ReadPoint(options, handle, key, value, &callback, nullptr);
}

// Performs the read with a trace that records each place that was searched, and why the search
// ended.
[[gnu::cold]] Status DBImpl::ExplainRead(ExplainedRead read, const ReadOptions& options,
                                         ColumnFamilyHandle* handle, const Slice& key,
                                         ReadExplanation* explanation) {
  assert(explanation != nullptr);
  RETURN_IF_ERROR(CheckHandle(handle));
  *explanation = ReadExplanation();
  explanation->read = read;
  explanation->key = key.ToString();
  if (IsStamped(handle)) return ExplainStamped(read, options, handle, explanation);
  const bool is_seek = read != ExplainedRead::kGet;
  RETURN_IF_ERROR(is_seek ? CheckIteratorOptionsSupported(options)
                          : CheckReadOptionsSupported(options));
  ReadView view = FamilyOf(handle)->AcquireViewFor(options.snapshot);
  if (is_seek) RETURN_IF_ERROR(CheckIteratorFits(options, view.super_version()->options()));
  explanation->seqno = SeqnoFor(options, view.seqno());
  explanation->table_count = view.super_version()->version()->file_count();
  is_seek ? ExplainSeek(options, std::move(view), explanation)
          : ExplainGet(options, handle, view, explanation);
  return Status::OK();
}

// Explains a Get. `view` is the view of the read or a slightly older one.
[[gnu::cold]] void DBImpl::ExplainGet(const ReadOptions& options, ColumnFamilyHandle* handle,
                                      const ReadView& view, ReadExplanation* explanation) {
  PinnableSlice value;
  {
    ReadExplainer explainer(explanation);
    explanation->status = ReadPoint(options, handle, explanation->key, &value, nullptr, &explainer);
    explanation->value_bytes = value.size();
  }
  FindMemTableTombstones(*view.super_version(), explanation);
}

// Explains a seek: performs it with a trace, and records the position that it reaches.
[[gnu::cold]] void DBImpl::ExplainSeek(const ReadOptions& options, ReadView view,
                                       ReadExplanation* explanation) {
  assert(explanation != nullptr);
  ReadExplainer explainer(explanation);
  DBIterator iterator(
      options, std::move(view),
      {.merge = MergeToolsOf(core_), .undecided = &core_.undecided, .trace = &explainer});
  const bool is_forward = explanation->read == ExplainedRead::kSeek;
  is_forward ? iterator.Seek(explanation->key) : iterator.SeekForPrev(explanation->key);
  explainer.EndSeek(iterator);
}

// Reads the keys of a request. The caller has set what is special to its call; the rest of the
// request is set here.
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
  if (core_.query_trace.is_on() && !has_null) [[unlikely]]
    RecordMultiGet(request.keys, handles);
  request.options = &options;
  request.merge = MergeToolsOf(core_);
  request.families = {families.data(), num_keys};
  const bool hides_undecided = request.callback == nullptr;
  if (!hides_undecided || !core_.undecided.is_used()) ReadPointsOfRequest(options, &request);
  // This check comes after the read: if the read has seen data that is not decided, the list is in
  // use by now.
  if (hides_undecided && core_.undecided.is_used()) [[unlikely]]
    ReadDecidedPoints(options, &request);
  if (has_null) [[unlikely]]
    RefuseNullHandles(request, handles);
}

// Reads the keys with what the request says, without regard to undecided transactions.
void DBImpl::ReadPointsOfRequest(const ReadOptions& options, MultiGetRequest* request) {
  assert(request != nullptr);
  const bool is_following = core_.mode.is_following();
  request->options = &options;
  if (is_following) request->held = static_cast<const SnapshotImpl*>(options.snapshot);
  ashlar::MultiGet(
      *request,
      {.seqnos = this,
       .mutex = &core_.mutex,
       .is_mutex_needed = is_following,
       .has_unlogged_writes =
           options.read_tier == kPersistedTier ? core_.pipeline->unlogged_writes_flag() : nullptr},
      core_.services.statistics.get());
}

// Keys with a null handle were read in the default family. Their results are replaced by an error.
[[gnu::cold]] void DBImpl::RefuseNullHandles(const MultiGetRequest& request,
                                             ColumnFamilyHandle** handles) {
  assert(handles != nullptr);
  for (size_t i = 0; i < request.keys.size(); i++) {
    if (handles[i] != nullptr) continue;
    request.values[i].Reset();
    request.statuses[i] = NullHandle();
  }
}

// Some calls are sampled, and in a sampled call one key is watched for searches in vain.
void DBImpl::MultiGet(const ReadOptions& options, const size_t num_keys,
                      ColumnFamilyHandle** handles, const Slice* keys, PinnableSlice* values,
                      std::string* timestamps, Status* statuses, const bool sorted_input) {
  for (size_t i = 0; timestamps != nullptr && i < num_keys; i++) timestamps[i].clear();
  if (core_.families.has_stamped()) [[unlikely]] {
    return MultiGetOfBothKinds(options, num_keys, handles, keys, values, timestamps, statuses);
  }
  MultiGetRequest request;
  request.is_sorted = sorted_input;
  request.keys = {keys, num_keys};
  request.values = values;
  request.statuses = statuses;
  if (core_.block_trace.is_on() && num_keys != 0) [[unlikely]] {
    return MultiGetTraced(options, request, handles, core_.block_trace.NextGetId());
  }
  request.watched_key = SampledRead(num_keys);
  if (request.watched_key == num_keys) [[likely]]
    return ReadPoints(options, request, handles);
  ReadSample sample;
  request.watch = &sample;
  ReadPoints(options, request, handles);
  ColumnFamilyHandle* const watched = handles[request.watched_key];
  if (watched != nullptr && sample.IsWorthAsking()) RequestReadCompaction(FamilyOf(watched));
}

// If any of the keys cannot be read, none is read, and all keys get the same status.
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

// A plain value is returned as an entity with one column, the default column.
Status DBImpl::GetEntity(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                         PinnableWideColumns* columns) {
  if (columns == nullptr) {
    return Status::InvalidArgument("GetEntity: needs a place for the columns");
  }
  columns->Reset();
  if (core_.families.has_stamped() && IsStamped(handle)) [[unlikely]] {
    return GetStamped(options, handle, key, {.columns = columns});
  }
  PinnableSlice value;
  bool is_entity = false;
  const Status status = core_.block_trace.is_on()
                            ? GetTraced(options, handle, key, &value, &is_entity)
                            : ReadPoint(options, handle, key, &value, nullptr, nullptr, &is_entity);
  if (!status.ok()) return status;
  const Status decoded = MoveToColumns(&value, is_entity, key, columns);
  return decoded.ok() ? status : decoded;  // `status` may report that there were many operands
}

// Reads the stored values first, and then splits those that are entities into columns.
void DBImpl::MultiGetEntity(const ReadOptions& options, size_t num_keys,
                            ColumnFamilyHandle** handles, const Slice* keys,
                            PinnableWideColumns* results, Status* statuses, bool sorted_input) {
  if (core_.families.has_stamped()) [[unlikely]] {
    return MultiGetEntityOfBothKinds(options, num_keys, handles, keys, results, statuses);
  }
  ReadEntities(options, num_keys, handles, keys, results, statuses, sorted_input,
               core_.block_trace.NextGetIdIfOn());
}

// Of families without timestamps. `get_id` as for MultiGetTraced().
void DBImpl::ReadEntities(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** handles,
                          const Slice* keys, PinnableWideColumns* results, Status* statuses,
                          bool sorted_input, uint64_t get_id) {
  std::vector<PinnableSlice> values(num_keys);
  const auto are_entities = std::make_unique<bool[]>(num_keys);
  MultiGetTraced(options,
                 {.is_sorted = sorted_input,
                  .families = {},
                  .keys = {keys, num_keys},
                  .values = values.data(),
                  .statuses = statuses,
                  .are_entities = are_entities.get()},
                 handles, get_id);
  MoveToColumns({keys, num_keys}, values.data(), are_entities.get(), results, statuses);
}

// Returns false only if memory alone proves that the key does not exist. No file is read.
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

struct DBImpl::UnmergedRead {
  const DecidedVersions::Own* own = nullptr;  // as for GetWithOwn(); null or empty for others
  OperandLimit* limit = nullptr;
  bool keeps_entities = false;  // a value that is an entity is given in its stored form
};

// Looks for the value of a key and for the operands above it, and gives them to use(lookup) as they
// are, without merging them.
template <typename Use>
Status DBImpl::ReadUnmerged(const UnmergedRead& how, const ReadOptions& options,
                            ColumnFamilyHandle* handle, const Slice& key, const Use& use) {
  ColumnFamilyData* const family = FamilyOf(handle);
  std::optional<OwnMoment> moment;
  std::optional<DecidedVersions> decided;
  const Snapshot* snapshot = options.snapshot;
  ReadView view = family->AcquireViewFor(snapshot);
  // This check comes after the view was taken: if undecided data was written before, the list is in
  // use by now. The data is hidden from a view that is taken again.
  if (core_.undecided.is_used()) {
    snapshot = moment.emplace(this, options.snapshot).snapshot();
    view = family->AcquireViewFor(snapshot);
    const EpochGuard guard;
    decided.emplace(core_.undecided.Load(),
                    std::min(snapshot->GetSequenceNumber(), view.super_version()->newest_seqno()),
                    how.own);
  }
  const SequenceNumber seqno = decided.has_value() ? decided->bound() : view.seqno();
  const LookupKey lookup_key(key, SeqnoFor(options, seqno), family->comparator().order());
  PinnableSlice base;
  PointLookup lookup(lookup_key, &base);
  if (decided.has_value()) lookup.SetCallback(&*decided);
  if (how.keeps_entities) lookup.KeepEntities();
  lookup.SetOperandLimit(how.limit);
  std::optional<BlockAccesses> accesses;
  if (core_.block_trace.is_on()) [[unlikely]] {
    accesses.emplace(TracedReads(kUserGet, options, handle), core_.block_trace.NextGetId());
    lookup.SetTrace(&*accesses);
    accesses->BeginLookup(lookup);
  }
  PointRead read(*view.super_version(), options, &lookup);
  bool is_over = false;
  {
    EpochGuard guard;
    is_over = read.RunInEpoch(SkipsMemTables(options));
  }
  if (!is_over) read.Finish();
  if (accesses.has_value()) accesses->EndLookup(lookup);
  if (lookup.is_blob_index()) ReadBlob(*view.super_version(), options, &lookup);
  CountGet(lookup, base.size(), core_.services.statistics.get());
  return use(&lookup);
}

// Returns the operands without merging them. The value below them comes first, if there is one.
Status DBImpl::GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* handle,
                                const Slice& key, PinnableSlice* merge_operands,
                                GetMergeOperandsOptions* operands_options,
                                int* number_of_operands) {
  RETURN_IF_ERROR(CheckHandle(handle));
  if (operands_options == nullptr || number_of_operands == nullptr) {
    return Status::InvalidArgument("GetMergeOperands: options or number is a null pointer");
  }
  if (IsStamped(handle)) [[unlikely]] {
    return GetStampedOperands(options, handle, key, *operands_options, merge_operands,
                              number_of_operands);
  }
  RETURN_IF_ERROR(CheckReadOptionsSupported(options));
  if (core_.query_trace.is_on()) [[unlikely]]
    core_.query_trace.OnGet(FamilyOf(handle)->id(), key);
  ContinueCallbackLimit limit(operands_options->continue_cb);
  return ReadUnmerged({.limit = &limit}, options, handle, key, [&](PointLookup* lookup) {
    return HandOutOperands(lookup, *operands_options, merge_operands, number_of_operands);
  });
}

Status DBImpl::GetUnmerged(const DecidedVersions::Own& own, ColumnFamilyHandle* handle,
                           const Slice& key, UnmergedValue* unmerged) {
  RETURN_IF_ERROR(CheckHandle(handle));
  return ReadUnmerged({.own = &own, .keeps_entities = true}, ReadOptions(), handle, key,
                      [&](PointLookup* lookup) { return CopyUnmerged(*lookup, unmerged); });
}

// The API returns a bare pointer, so errors become an iterator with that status. The caller deletes
// it.
Iterator* DBImpl::NewIterator(const ReadOptions& options, ColumnFamilyHandle* handle) {
  if (IsStamped(handle)) {
    auto iterator =
        MakeStampedIterator(options, handle, FamilyOf(handle)->AcquireViewFor(options.snapshot));
    return iterator.ok() ? iterator->release() : NewErrorIterator(iterator.status());
  }
  Status supported = CheckIteratorOptionsSupported(options);
  if (supported.ok()) supported = CheckHandle(handle);
  if (!supported.ok()) return NewErrorIterator(supported);
  ReadView view = FamilyOf(handle)->AcquireViewFor(options.snapshot);
  supported = CheckIteratorFits(options, view.super_version()->options());
  if (!supported.ok()) return NewErrorIterator(supported);
  return MakeIterator(options, handle, std::move(view));
}

Iterator* DBImpl::MakeIterator(const ReadOptions& options, ColumnFamilyHandle* handle,
                               ReadView view, const IteratorVision& vision) {
  if (options.background_purge_on_iterator_cleanup) view.PurgeInBackground();
  ReadOptions read = options;
  if (read.pin_data) read.allow_unprepared_value = false;  // the shown value is copied at once
  DBIteratorSetting setting{.merge = MergeToolsOf(core_),
                            .callback = vision.callback,
                            .undecided = vision.callback == nullptr ? &core_.undecided : nullptr,
                            .own = vision.own,
                            .is_view_held = vision.is_view_held,
                            .dead_ranges = CheckWritable().ok() ? this : nullptr,
                            .query_trace = &core_.query_trace,
                            .family = FamilyOf(handle)->id()};
  if (core_.block_trace.is_on()) [[unlikely]] {
    setting.own_trace = std::make_unique<BlockAccesses>(TracedReads(kUserIterator, options, handle),
                                                        BlockCacheTraceRecord::kReservedGetId);
  }
  auto iterator = std::make_unique<DBIterator>(read, std::move(view), std::move(setting));
  if (options.pin_data) [[unlikely]]
    return new PinnedIterator(std::move(iterator));
  return iterator.release();
}

// Makes an iterator with the visibility rule of a transaction.
Iterator* DBImpl::NewIteratorAs(const ReadCallback& callback, const ReadOptions& options,
                                ColumnFamilyHandle* handle) {
  assert(options.snapshot == nullptr);
  Status supported = CheckIteratorOptionsSupported(options);
  if (supported.ok()) supported = CheckHandle(handle);
  if (supported.ok()) supported = RefuseStamped("NewIterator of a transaction", handle);
  if (!supported.ok()) return NewErrorIterator(supported);
  ReadView view = FamilyOf(handle)->AcquireView();
  supported = CheckCallbackFits(view.super_version()->options());
  if (!supported.ok()) return NewErrorIterator(supported);
  return MakeIterator(options, handle, std::move(view), {.callback = &callback});
}

}  // namespace ashlar
