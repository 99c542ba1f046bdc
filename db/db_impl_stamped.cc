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

#include "ashlar/snapshot.h"
#include "db/db_impl.h"
#include "db/read/block_accesses.h"
#include "db/read/multi_get.h"
#include "db/read/pinned_iterator.h"
#include "db/read/point_read.h"
#include "db/read/read_explainer.h"
#include "db/read/stamped_iterator.h"
#include "db/read/stamped_read.h"
#include "db/read/super_version.h"
#include "db/state/undo_change.h"
#include "db/version/version.h"
#include "db/version/version_set.h"
#include "table/iterator/stamped_lookup.h"
#include "util/result.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// While a block cache trace runs, it gets the blocks that the search for one key uses, with the
// version that was found. Null `accesses`: no trace runs.
class TracedSearch {
 public:
  TracedSearch(BlockAccesses* accesses, const StampedIterator* versions, const ReadOptions& options,
               const Slice& key, SequenceNumber seqno)
      : accesses_(accesses), versions_(versions) {
    if (accesses_ == nullptr) return;
    assert(versions_ != nullptr);
    accesses_->BeginSearch(key.ToString() + options.timestamp->ToString(), seqno);
  }
  ~TracedSearch() {
    if (accesses_ == nullptr) return;
    if (!versions_->Valid()) {
      accesses_->EndSearch(nullptr, 0);
      return;
    }
    std::string found;
    AppendInternalKey(&found, versions_->stored_key(), versions_->stored_trailer());
    const Slice* const entity = versions_->stored_entity();
    const Slice found_slice = found;
    accesses_->EndSearch(&found_slice,
                         entity == nullptr ? versions_->value().size() : entity->size());
  }
  TracedSearch(const TracedSearch&) = delete;
  TracedSearch& operator=(const TracedSearch&) = delete;

 private:
  BlockAccesses* const accesses_;
  const StampedIterator* const versions_;
};

// The number up to which a read sees entries. `visible`: without a snapshot.
SequenceNumber StampedSeqno(const ReadOptions& options, SequenceNumber visible,
                            const SuperVersion& super_version) {
  const SequenceNumber seqno =
      options.snapshot != nullptr ? options.snapshot->GetSequenceNumber() : visible;
  return std::min(seqno, super_version.newest_seqno());
}

}  // namespace

[[gnu::cold]] Status DBImpl::RefuseStamped(const char* call, ColumnFamilyHandle* handle) const {
  if (!IsStamped(handle)) return Status::OK();
  return Status::NotSupported(StrCat(call, ": the column family ", handle->GetName(),
                                     " has timestamps, for which the call is not built"));
}

// Finds the key with an iterator whose options were checked.
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
    const Slice* const entity = versions->stored_entity();
    if (entity == nullptr) {
      result.columns->SetPlainValue(versions->value());
    } else {
      RETURN_IF_ERROR(result.columns->SetWideColumnValue(*entity));
    }
  } else {
    result.value->PinSelf(versions->value());
  }
  RecordTick(core_.services.statistics.get(), BYTES_READ, versions->value().size());
  return versions->HasManyOperands() ? Status::OkMergeOperandThresholdExceeded() : Status::OK();
}

// One family as of one moment, for lookups. The iterator, made when a key needs it, has the view
// from then on.
class DBImpl::StampedView {
 public:
  StampedView(DBImpl* db, const ReadOptions& options, ColumnFamilyData* family)
      : db_(db),
        options_(options),
        family_(family),
        view_(family->AcquireViewFor(options.snapshot)) {}

  // Views of all families of the keys, of one moment as in NewIterators().
  static std::vector<StampedView> AllOf(DBImpl* db, const ReadOptions& options,
                                        std::span<const size_t> indexes,
                                        ColumnFamilyHandle** handles);
  // Called first. `moment`: the number of which the view is read at most; null: its own.
  void Begin(const SequenceNumber* moment) {
    if (moment != nullptr) view_.ReadAsOf(*moment);
    super_version_ = view_.super_version();
    seqno_ = StampedSeqno(options_, view_.seqno(), *super_version_);
  }
  // While a block cache trace runs, each lookup is a seek of an iterator.
  void Trace(BlockAccesses::Reads reads, uint64_t get_id) {
    accesses_ = std::make_unique<BlockAccesses>(std::move(reads), get_id);
  }
  ColumnFamilyData* family() const { return family_; }
  SequenceNumber seqno() const { return view_.seqno(); }
  Status Check() const { return CheckStampedRead(options_, *super_version_); }
  Status LookUp(const Slice& key, const StampedResult& result);
  // Reports a lookup that has asked all runs, or has failed.
  static Status Finish(StampedLookup* lookup, Statistics* statistics, const StampedResult& result);

 private:
  StampedIterator* Versions();

  DBImpl* db_;
  const ReadOptions& options_;
  ColumnFamilyData* family_;
  ReadView view_;
  const SuperVersion* super_version_ = nullptr;  // of the view
  SequenceNumber seqno_ = 0;
  std::unique_ptr<BlockAccesses> accesses_;  // null: no block cache trace runs
  std::unique_ptr<StampedIterator> versions_;
};

std::vector<DBImpl::StampedView> DBImpl::StampedView::AllOf(DBImpl* db, const ReadOptions& options,
                                                            std::span<const size_t> indexes,
                                                            ColumnFamilyHandle** handles) {
  std::vector<StampedView> views;
  {
    MutexLock lock(&db->core_.mutex);
    for (const size_t i : indexes) {
      ColumnFamilyData* const family = FamilyOf(handles[i]);
      const auto same = [family](const StampedView& view) { return view.family_ == family; };
      if (std::any_of(views.begin(), views.end(), same)) continue;
      views.emplace_back(db, options, family);
    }
  }
  if (views.empty()) return views;
  const SequenceNumber moment = views.front().seqno();
  for (StampedView& view : views) view.Begin(db->core_.mode.is_following() ? nullptr : &moment);
  return views;
}

Status DBImpl::StampedView::Finish(StampedLookup* lookup, Statistics* statistics,
                                   const StampedResult& result) {
  assert(lookup != nullptr);
  lookup->Finish();
  const PointLookup& decided = *lookup->asked();
  if (decided.outcome() == PointLookup::Outcome::kFailed) return decided.status();
  if (lookup->has_version() && result.timestamp != nullptr) {
    *result.timestamp = lookup->stamp().ToString();
  }
  CountPointRead(decided, lookup->value().size(), statistics);
  RecordTick(statistics, NUMBER_KEYS_READ);
  if (decided.outcome() != PointLookup::Outcome::kFound) return Status::NotFound();
  RecordTick(statistics, BYTES_READ, lookup->value().size());
  if (result.columns != nullptr) {
    PinnableSlice value;
    lookup->MoveValueTo(&value);
    result.columns->SetPlainValue(std::move(value));
  } else {
    lookup->MoveValueTo(result.value);
  }
  return Status::OK();
}

// One iterator serves all keys of the family.
StampedIterator* DBImpl::StampedView::Versions() {
  if (versions_ != nullptr) return versions_.get();
  versions_ = std::make_unique<StampedIterator>(
      StampedPointOptions(options_), std::move(view_),
      StampedIterator::Setting{.merge = MergeToolsOf(db_->core_),
                               .skips_memtables = db_->SkipsMemTables(options_),
                               .is_lookup = true,
                               .trace = accesses_.get()});
  return versions_.get();
}

// GetStamped() for one of several keys.
Status DBImpl::StampedView::LookUp(const Slice& key, const StampedResult& result) {
  if (accesses_ != nullptr) [[unlikely]] {
    const TracedSearch traced(accesses_.get(), Versions(), options_, key, seqno_);
    return db_->LookUp(Versions(), key, result);
  }
  StampedLookup lookup(family_->comparator(), {key, *options_.timestamp, seqno_});
  StampedRead read(*super_version_, options_, &lookup);
  bool is_over = false;
  {
    const EpochGuard guard;
    is_over = read.RunInEpoch(db_->SkipsMemTables(options_));
  }
  if (!is_over) read.Finish();
  if (lookup.has_given_up()) return db_->LookUp(Versions(), key, result);
  return Finish(&lookup, db_->core_.services.statistics.get(), result);
}

// Each run is asked once, in one epoch if everything is in memory. What that cannot decide is left
// to an iterator over all runs.
Status DBImpl::GetStamped(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                          const StampedResult& result) {
  const StopWatch watch(core_.environment.clock.get(), core_.services.statistics.get(), DB_GET);
  ColumnFamilyData* const family = FamilyOf(handle);
  if (core_.query_trace.is_on()) core_.query_trace.OnGet(family->id(), key);
  if (core_.block_trace.is_on()) [[unlikely]] {
    StampedView view(this, options, family);
    view.Begin(/*moment=*/nullptr);
    RETURN_IF_ERROR(view.Check());
    view.Trace(TracedReads(kUserGet, options, handle), core_.block_trace.NextGetId());
    return view.LookUp(key, result);
  }
  Statistics* const statistics = core_.services.statistics.get();
  EpochGuard guard;
  // The super version is loaded before the number: see ReadViewSource::AcquireView().
  SuperVersion* const super_version = SuperVersionFor(options, family);
  const SequenceNumber seqno = StampedSeqno(options, VisibleSeqno(), *super_version);
  RETURN_IF_ERROR(CheckStampedRead(options, *super_version));
  StampedLookup lookup(family->comparator(), {key, *options.timestamp, seqno});
  StampedRead read(*super_version, options, &lookup);
  const bool is_over = read.RunInEpoch(SkipsMemTables(options));
  if (is_over && !lookup.has_given_up()) return StampedView::Finish(&lookup, statistics, result);
  // I/O is not allowed inside an epoch. The view keeps the super version alive instead.
  ReadView view(family, SuperVersionRef(super_version), seqno);
  guard.Leave();
  if (!is_over) read.Finish();
  if (!lookup.has_given_up()) return StampedView::Finish(&lookup, statistics, result);
  StampedIterator versions(StampedPointOptions(options), std::move(view),
                           {.merge = MergeToolsOf(core_),
                            .skips_memtables = SkipsMemTables(options),
                            .is_lookup = true});
  return LookUp(&versions, key, result);
}

// Reads the operands of a key.
Status DBImpl::GetStampedOperands(const ReadOptions& options, ColumnFamilyHandle* handle,
                                  const Slice& key, const GetMergeOperandsOptions& operands_options,
                                  PinnableSlice* operands, int* count) {
  ColumnFamilyData* const family = FamilyOf(handle);
  if (core_.query_trace.is_on()) core_.query_trace.OnGet(family->id(), key);
  ReadView view = family->AcquireViewFor(options.snapshot);
  RETURN_IF_ERROR(CheckStampedRead(options, *view.super_version()));
  std::unique_ptr<BlockAccesses> accesses;
  if (core_.block_trace.is_on()) {
    accesses = std::make_unique<BlockAccesses>(TracedReads(kUserGet, options, handle),
                                               core_.block_trace.NextGetId());
  }
  const SequenceNumber seqno = view.seqno();
  StampedIterator versions(StampedPointOptions(options), std::move(view),
                           {.merge = MergeToolsOf(core_),
                            .skips_memtables = SkipsMemTables(options),
                            .is_lookup = true,
                            .trace = accesses.get()});
  const TracedSearch traced(accesses.get(), &versions, options, key, seqno);
  return versions.GetOperands(key, operands_options, operands, count);
}

// The results for many keys; what is null is not wanted.
struct DBImpl::StampedResults {
  PinnableSlice* values = nullptr;
  std::string* timestamps = nullptr;
  PinnableWideColumns* columns = nullptr;
  Status* statuses = nullptr;

  StampedResult at(size_t i) const {
    return {.value = values == nullptr ? nullptr : &values[i],
            .timestamp = timestamps == nullptr ? nullptr : &timestamps[i],
            .columns = columns == nullptr ? nullptr : &columns[i]};
  }
};

// Reads keys of stamped families. `get_id`: of the call in the block cache trace; kReservedGetId:
// none runs.
void DBImpl::MultiGetStamped(const ReadOptions& options, std::span<const size_t> indexes,
                             ColumnFamilyHandle** handles, const Slice* keys,
                             const StampedResults& results, uint64_t get_id) {
  const StopWatch watch(core_.environment.clock.get(), core_.services.statistics.get(),
                        DB_MULTIGET);
  uint64_t value_bytes = 0;
  for (StampedView& view : StampedView::AllOf(this, options, indexes, handles)) {
    const Status checked = view.Check();
    if (get_id != BlockCacheTraceRecord::kReservedGetId) {
      BlockAccesses::Reads reads = TracedReads(kUserMultiGet, options, /*handle=*/nullptr);
      reads.family = view.family()->id();
      reads.family_name = view.family()->name();
      view.Trace(std::move(reads), get_id);
    }
    for (const size_t i : indexes) {
      if (FamilyOf(handles[i]) != view.family()) continue;
      if (value_bytes > options.value_size_soft_limit) {
        results.statuses[i] = Status::Aborted("value_size_soft_limit reached");
        continue;
      }
      results.statuses[i] = checked;
      if (!checked.ok()) continue;
      const StampedResult result = results.at(i);
      results.statuses[i] = view.LookUp(keys[i], result);
      if (!results.statuses[i].ok()) continue;
      value_bytes +=
          result.columns != nullptr ? result.columns->serialized_size() : result.value->size();
    }
  }
}

// The keys of stamped families are read here, all others are left to the usual path. Only one of
// the two kinds can have results: ReadOptions::timestamp is needed for the first and refused for
// the others.
struct DBImpl::KeysByKind {
  KeysByKind(size_t num_keys, ColumnFamilyHandle** handles, const Slice* keys) {
    for (size_t i = 0; i < num_keys; i++) {
      if (IsStamped(handles[i])) {
        stamped.push_back(i);
        continue;
      }
      plain.push_back(i);
      plain_handles.push_back(handles[i]);
      plain_keys.push_back(keys[i]);
    }
  }

  std::vector<size_t> stamped, plain;  // indexes
  std::vector<ColumnFamilyHandle*> plain_handles;
  std::vector<Slice> plain_keys;
};

void DBImpl::MultiGetOfBothKinds(const ReadOptions& options, size_t num_keys,
                                 ColumnFamilyHandle** handles, const Slice* keys,
                                 PinnableSlice* values, std::string* timestamps, Status* statuses) {
  KeysByKind kinds(num_keys, handles, keys);
  for (size_t i = 0; i < num_keys; i++) values[i].Reset();
  const uint64_t get_id = core_.block_trace.NextGetIdIfOn();
  MultiGetStamped(options, kinds.stamped, handles, keys,
                  {.values = values, .timestamps = timestamps, .statuses = statuses}, get_id);
  const size_t plain_count = kinds.plain.size();
  if (plain_count == 0) return;
  std::vector<PinnableSlice> found(plain_count);
  std::vector<Status> found_statuses(plain_count);
  MultiGetRequest request;
  request.keys = kinds.plain_keys;
  request.values = found.data();
  request.statuses = found_statuses.data();
  MultiGetTraced(options, request, kinds.plain_handles.data(), get_id);
  for (size_t i = 0; i < plain_count; i++) {
    values[kinds.plain[i]] = std::move(found[i]);
    statuses[kinds.plain[i]] = found_statuses[i];
  }
}

// The same for entities.
[[gnu::cold]] void DBImpl::MultiGetEntityOfBothKinds(const ReadOptions& options, size_t num_keys,
                                                     ColumnFamilyHandle** handles,
                                                     const Slice* keys,
                                                     PinnableWideColumns* results,
                                                     Status* statuses) {
  KeysByKind kinds(num_keys, handles, keys);
  for (size_t i = 0; i < num_keys; i++) results[i].Reset();
  const uint64_t get_id = core_.block_trace.NextGetIdIfOn();
  MultiGetStamped(options, kinds.stamped, handles, keys, {.columns = results, .statuses = statuses},
                  get_id);
  const size_t plain_count = kinds.plain.size();
  if (plain_count == 0) return;
  std::vector<PinnableWideColumns> found(plain_count);
  std::vector<Status> found_statuses(plain_count);
  ReadEntities(options, plain_count, kinds.plain_handles.data(), kinds.plain_keys.data(),
               found.data(), found_statuses.data(), /*sorted_input=*/false, get_id);
  for (size_t i = 0; i < plain_count; i++) {
    results[kinds.plain[i]] = std::move(found[i]);
    statuses[kinds.plain[i]] = found_statuses[i];
  }
}

// A Get is explained as a seek to its key, which is what it does.
[[gnu::cold]] Status DBImpl::ExplainStamped(ExplainedRead read, const ReadOptions& options,
                                            ColumnFamilyHandle* handle,
                                            ReadExplanation* explanation) {
  assert(explanation != nullptr);
  const bool is_get = read == ExplainedRead::kGet;
  ColumnFamilyData* const family = FamilyOf(handle);
  ReadView view = family->AcquireViewFor(options.snapshot);
  const SuperVersion& super_version = *view.super_version();
  RETURN_IF_ERROR(is_get ? CheckStampedRead(options, super_version)
                         : CheckStampedIterator(options, super_version));
  explanation->seqno =
      options.snapshot != nullptr ? options.snapshot->GetSequenceNumber() : view.seqno();
  explanation->table_count = super_version.version()->file_count();
  const Slice key = explanation->key;
  ReadExplainer explainer(explanation, family->comparator().stamp_bytes());
  StampedIterator iterator(is_get ? StampedPointOptions(options) : options, std::move(view),
                           {.merge = MergeToolsOf(core_),
                            .skips_memtables = is_get && SkipsMemTables(options),
                            .is_lookup = is_get,
                            .trace = &explainer});
  bool has_version = false;
  switch (read) {
    case ExplainedRead::kGet:
      has_version = iterator.Lookup(key) != StampedIterator::Found::kNothing;
      break;
    case ExplainedRead::kSeek: iterator.Seek(key); break;
    case ExplainedRead::kSeekForPrev: iterator.SeekForPrev(key); break;
  }
  if (!is_get) has_version = iterator.Valid();
  const Slice stored = iterator.stored_key();
  explainer.EndStampedRead(iterator, has_version ? &stored : nullptr);
  return Status::OK();
}

// Consumes the view, also if the options are refused.
Result<std::unique_ptr<Iterator>> DBImpl::MakeStampedIterator(const ReadOptions& options,
                                                              ColumnFamilyHandle* handle,
                                                              ReadView view) {
  RETURN_IF_ERROR(CheckStampedIterator(options, *view.super_version()));
  if (options.background_purge_on_iterator_cleanup) view.PurgeInBackground();
  std::unique_ptr<BlockAccesses> accesses;
  if (core_.block_trace.is_on()) {
    accesses = std::make_unique<BlockAccesses>(TracedReads(kUserIterator, options, handle),
                                               BlockCacheTraceRecord::kReservedGetId);
  }
  auto stamped =
      std::make_unique<StampedIterator>(options, std::move(view),
                                        StampedIterator::Setting{.merge = MergeToolsOf(core_),
                                                                 .query_trace = &core_.query_trace,
                                                                 .family = FamilyOf(handle)->id(),
                                                                 .trace = accesses.get()});
  stamped->Own(std::move(accesses));
  std::unique_ptr<Iterator> iterator = std::move(stamped);
  if (options.pin_data) iterator = std::make_unique<PinnedIterator>(std::move(iterator));
  return iterator;
}

// Raises the timestamp below which versions may be dropped.

[[gnu::cold]] Status DBImpl::IncreaseFullHistoryTsLow(ColumnFamilyHandle* handle,
                                                      std::string ts_low) {
  RETURN_IF_ERROR(CheckWritable());
  if (handle == nullptr) handle = DefaultColumnFamily();
  return IncreaseHistoryLow(FamilyOf(handle), ts_low);
}

namespace {

// The new value is in the MANIFEST before a compaction may act on it, so a crash cannot leave
// dropped versions behind a lower recorded value. The check of the comparison and the change happen
// under the DB mutex, except while the MANIFEST is written; another thread may have raised the
// value further by then. `failed_before` receives what UndoChange() needs after an error.
[[gnu::cold]] Status RecordHistoryLow(DbCore* core, ColumnFamilyData* family,
                                      const std::string& ts_low, uint64_t* failed_before) {
  assert(core != nullptr);
  assert(family != nullptr && failed_before != nullptr);
  MutexLock lock(&core->mutex);
  *failed_before = core->versions->failed_changes();
  if (family->is_dropped()) return Status::ColumnFamilyDropped();
  // This is a reference, because the mutex is released while the MANIFEST is written, and the value
  // may change.
  const std::optional<std::string>& current = family->versions()->full_history_ts_low;
  const int change = current.has_value() ? family->comparator().OrderOfStamps(ts_low, *current) : 1;
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
  change_of_family.last_sequence = core->pipeline->visible_seqno();
  RETURN_IF_ERROR(core->versions->LogAndApply(std::move(change_of_family), &core->mutex));
  if (family->is_dropped()) return Status::ColumnFamilyDropped();
  family->PublishSuperVersion();
  if (*current == ts_low) return Status::OK();
  return Status::TryAgain("IncreaseFullHistoryTsLow: another thread has raised it further");
}

}  // namespace

// A call that fails leaves the old value, also for the next opening.
[[gnu::cold]] Status DBImpl::IncreaseHistoryLow(ColumnFamilyData* family,
                                                const std::string& ts_low) {
  assert(family != nullptr);
  const size_t stamp_bytes = family->comparator().stamp_bytes();
  if (stamp_bytes == 0 || stamp_bytes != ts_low.size()) {
    return Status::InvalidArgument(
        StrCat("IncreaseFullHistoryTsLow: the column family has timestamps of ", stamp_bytes,
               " bytes, found ", ts_low.size()));
  }
  uint64_t failed_before = 0;
  const Status recorded = RecordHistoryLow(&core_, family, ts_low, &failed_before);
  if (!recorded.ok()) {
    IgnoreError(UndoChange(&core_, failed_before), "the error of the change says more");
  }
  return recorded;
}

// An empty text if no version may be dropped yet.
[[gnu::cold]] Status DBImpl::GetFullHistoryTsLow(ColumnFamilyHandle* handle, std::string* ts_low) {
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
