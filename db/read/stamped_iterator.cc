// SPDX-License-Identifier: Apache-2.0
//
// The versions of a user key are adjacent: the newest timestamp first and, for one timestamp, the
// newest sequence number first. So the sequence numbers of a key's versions need not be in order.
#include "db/read/stamped_iterator.h"

#include <cassert>
#include <utility>

#include "ashlar/slice_transform.h"
#include "ashlar/snapshot.h"
#include "db/blob/blob_store.h"
#include "db/read/iterator_builder.h"
#include "db/read/iterator_properties.h"
#include "db/read/operand_limits.h"
#include "db/read/super_version.h"
#include "db/table_cache/table_cache.h"
#include "db/trace/query_trace.h"
#include "db/version/version.h"
#include "util/keys/wide_column_encoding.h"
#include "util/result.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

Status CheckStampSize(const InternalKeyComparator& comparator, const char* name,
                      const Slice& stamp) {
  if (stamp.size() == comparator.stamp_bytes()) return Status::OK();
  return Status::InvalidArgument(StrCat("ReadOptions::", name,
                                        ": the column family has timestamps of ",
                                        comparator.stamp_bytes(), " bytes, found ", stamp.size()));
}

}  // namespace

Status CheckReadTimestamp(const InternalKeyComparator& comparator, const ReadOptions& options,
                          const std::string& full_history_ts_low) {
  assert(comparator.stamp_bytes() != 0);
  if (options.timestamp == nullptr) {
    return Status::InvalidArgument(
        "ReadOptions::timestamp: the column family has timestamps, so reads need one");
  }
  RETURN_IF_ERROR(CheckStampSize(comparator, "timestamp", *options.timestamp));
  const Slice* oldest = options.timestamp;
  if (options.iter_start_ts != nullptr) {
    RETURN_IF_ERROR(CheckStampSize(comparator, "iter_start_ts", *options.iter_start_ts));
    if (comparator.OrderOfStamps(*options.iter_start_ts, *oldest) < 0) {
      oldest = options.iter_start_ts;
    }
  }
  if (full_history_ts_low.empty()) return Status::OK();
  if (comparator.OrderOfStamps(*oldest, full_history_ts_low) >= 0) return Status::OK();
  return Status::InvalidArgument(
      StrCat("Read timestamp: ", oldest->ToString(/*hex=*/true),
             " is smaller than full_history_ts_low: ", Slice(full_history_ts_low).ToString(true)));
}

StampedIterator::StampedIterator(const ReadOptions& options, ReadView view, const Setting& setting)
    : options_(options),
      merge_(setting.merge),
      query_trace_(setting.query_trace),
      family_(setting.family),
      skips_memtables_(setting.skips_memtables),
      is_lookup_(setting.is_lookup),
      trace_(setting.trace),
      view_(std::move(view)),
      seqno_(view_.seqno()),
      comparator_(view_.super_version()->version()->comparator()) {
  assert(comparator_.stamp_bytes() != 0);
  assert(options.timestamp != nullptr);
  if (options_.snapshot != nullptr) seqno_ = options_.snapshot->GetSequenceNumber();
  CopyStampsAndBounds(options);
  if (!is_lookup_) RecordTick(merge_.statistics, NO_ITERATOR_CREATED);
  BuildTower();
}

StampedIterator::~StampedIterator() {
  if (!is_lookup_) RecordTick(merge_.statistics, NO_ITERATOR_DELETED);
}

// Copies them, because the program may free timestamps and bounds as soon as it has the iterator.
void StampedIterator::CopyStampsAndBounds(const ReadOptions& options) {
  read_stamp_ = options.timestamp->ToString();
  read_stamp_slice_ = read_stamp_;
  options_.timestamp = &read_stamp_slice_;
  if (options.iter_start_ts != nullptr) start_stamp_ = options.iter_start_ts->ToString();
  options_.iter_start_ts = nullptr;
  if (options.iterate_lower_bound != nullptr) {
    lower_bound_ = comparator_.FirstStored(*options.iterate_lower_bound);
    lower_slice_ = lower_bound_;
    options_.iterate_lower_bound = &lower_slice_;
  }
  if (options.iterate_upper_bound != nullptr) {
    upper_bound_ = comparator_.FirstStored(*options.iterate_upper_bound);
    upper_slice_ = upper_bound_;
    options_.iterate_upper_bound = &upper_slice_;
  }
}

// Builds the merging iterator over memtables and tables of the current view. All its parts are in
// arena_, which therefore must be destroyed after merged_.
void StampedIterator::BuildTower() {
  assert(merged_ == nullptr);
  assert(arena_ == nullptr);
  const SuperVersion& super_version = *view_.super_version();
  arena_ = std::make_unique<Arena>();
  IteratorBuilder tower(&comparator_, arena_.get());
  if (!options_.ignore_range_deletions || !super_version.MayIgnoreRangeTombstones()) {
    tower.HideDeleted(seqno_, nullptr, &read_stamp_slice_);
  }
  tower.SpareEmptyMemTable();
  tower.SetTrace(trace_);
  prefix_extractor_ =
      options_.prefix_same_as_start ? super_version.options().prefix_extractor.get() : nullptr;
  const IteratorBuilder::TableReads reads{.options = &options_,
                                          .wanted_key = is_lookup_ ? &wanted_key_ : nullptr};
  if (skips_memtables_) {
    tower.AddTables(*super_version.version(), reads);
  } else {
    tower.AddAll(super_version, reads);
  }
  merged_ = tower.Build();
  max_sequential_skip_ = super_version.options().max_sequential_skip_in_iterations;
  merge_.merge_operator = super_version.options().merge_operator.get();
  valid_ = false;
}

// The new view is acquired and checked before anything is changed: after an error the iterator can
// still be used with its old view. The old tower is destroyed before the view that it reads is
// released.
[[gnu::cold]] Status StampedIterator::Refresh(const Snapshot* snapshot) {
  ReadView fresh = view_.source()->AcquireViewFor(snapshot);
  if (options_.background_purge_on_iterator_cleanup) fresh.PurgeInBackground();
  ReadOptions asked = options_;
  const Slice start = start_stamp_;
  if (shows_versions()) asked.iter_start_ts = &start;
  RETURN_IF_ERROR(
      CheckReadTimestamp(comparator_, asked, fresh.super_version()->full_history_ts_low()));
  valid_ = false;
  operands_.Clear();
  merged_.reset();
  arena_.reset();
  view_ = std::move(fresh);
  options_.snapshot = snapshot;
  seqno_ = snapshot == nullptr ? view_.seqno() : snapshot->GetSequenceNumber();
  status_ = Status::OK();
  BuildTower();
  return Status::OK();
}

Status StampedIterator::status() const { return status_.ok() ? merged_->status() : status_; }

void StampedIterator::Fail(Status status) {
  assert(!status.ok());
  if (status_.ok()) status_ = std::move(status);
  valid_ = false;
}

Slice StampedIterator::key() const {
  assert(valid_);
  return shows_versions() ? Slice(shown_internal_) : comparator_.WithoutStamp(shown_);
}

const WideColumns& StampedIterator::columns() const {
  assert(valid_);
  return shows_entity_ ? entity_columns_ : plain_column_.Of(shown_value_);
}

[[gnu::cold]] Status StampedIterator::GetProperty(std::string name, std::string* value) {
  return GetPropertyOverView(view_, valid_, name, value);
}

// Moves.

// False if the newest state cannot be shown: versions that the reader asks for may be gone there.
bool StampedIterator::BeginSeek() {
  BeginMove();
  prefix_.reset();
  shown_internal_.clear();
  const bool is_stale = options_.auto_refresh_iterator_with_snapshot &&
                        options_.snapshot != nullptr &&
                        view_.source()->super_version() != view_.super_version();
  if (!options_.tailing && !is_stale) return true;
  const Status refreshed = Refresh(options_.snapshot);
  if (!refreshed.ok()) Fail(refreshed);
  return refreshed.ok();
}

void StampedIterator::BeginMove() {
  status_ = Status::OK();
  valid_ = false;
  skipped_ = 0;
  operands_.Clear();
}

void StampedIterator::RecordSeek(TraceType type, const Slice& target) const {
  AddPerfCount(&PerfContextBase::iter_seek_count);
  RecordTick(merge_.statistics, NUMBER_DB_SEEK);
  if (query_trace_ == nullptr || !query_trace_->is_on()) return;
  query_trace_->OnSeek({.family = family_,
                        .target = target,
                        .lower = comparator_.WithoutStamp(lower_slice_),
                        .upper = comparator_.WithoutStamp(upper_slice_)},
                       type);
}

void StampedIterator::RememberPrefix(const Slice& target) {
  if (prefix_extractor_ == nullptr || !prefix_extractor_->InDomain(target)) return;
  prefix_ = prefix_extractor_->Transform(target).ToString();
}

// Moves to the first version of the key that is not too new, or behind the key if there is none.
void StampedIterator::SeekNewestOf(const Slice& stored) {
  seek_key_.assign(stored.data(), comparator_.WithoutStamp(stored).size());
  seek_key_ += read_stamp_;
  // A version with an older timestamp may have any sequence number. So the number of the reader is
  // of use only among the versions of one timestamp.
  AppendInternalKey(&seek_key_, Slice(), PackTrailer(seqno_, kValueTypeForSeek));
  merged_->Seek(seek_key_);
}

// Moves to the last entry that comes before all versions of the key.
void StampedIterator::SeekBefore(const Slice& stored) {
  seek_key_.clear();
  comparator_.AppendFirst(&seek_key_, stored, PackTrailer(kMaxSequenceNumber, kMaxValue));
  merged_->SeekForPrev(seek_key_);
}

// The target may be a part of what is shown, which BeginSeek() frees, so it is copied first.
void StampedIterator::Seek(const Slice& target) {
  RecordSeek(kTraceIteratorSeek, target);
  std::string from = comparator_.FirstStored(target);
  if (!BeginSeek()) return;
  RememberPrefix(comparator_.WithoutStamp(from));
  if (options_.iterate_lower_bound != nullptr &&
      comparator_.OrderWithoutTimestamp(from, lower_bound_) < 0) {
    from = lower_bound_;
  }
  SeekNewestOf(from);
  FindForwards();
}

void StampedIterator::SeekToFirst() {
  if (options_.iterate_lower_bound != nullptr) return Seek(comparator_.WithoutStamp(lower_slice_));
  RecordTick(merge_.statistics, NUMBER_DB_SEEK);
  if (!BeginSeek()) return;
  merged_->SeekToFirst();
  FindForwards();
  if (valid_) RememberPrefix(comparator_.WithoutStamp(shown_));
}

// The upper bound is exclusive, so a target at or above it is replaced by the last key before the
// bound. The target is copied first, as in Seek().
void StampedIterator::SeekForPrev(const Slice& target) {
  RecordSeek(kTraceIteratorSeekForPrev, target);
  const std::string last = comparator_.LastStored(target);
  if (!BeginSeek()) return;
  RememberPrefix(comparator_.WithoutStamp(last));
  if (options_.iterate_upper_bound != nullptr &&
      comparator_.OrderWithoutTimestamp(last, upper_bound_) >= 0) {
    SeekBefore(upper_bound_);
  } else {
    seek_key_.clear();
    AppendInternalKey(&seek_key_, last, /*trailer=*/0);
    merged_->SeekForPrev(seek_key_);
  }
  FindBackwards();
}

void StampedIterator::SeekToLast() {
  // Recorded like a seek to the bound, as in families without timestamps.
  if (options_.iterate_upper_bound != nullptr) {
    RecordSeek(kTraceIteratorSeekForPrev, comparator_.WithoutStamp(upper_slice_));
  } else {
    RecordTick(merge_.statistics, NUMBER_DB_SEEK);
  }
  if (!BeginSeek()) return;
  if (options_.iterate_upper_bound != nullptr) {
    SeekBefore(upper_bound_);
  } else {
    merged_->SeekToLast();
  }
  FindBackwards();
  if (valid_) RememberPrefix(comparator_.WithoutStamp(shown_));
}

void StampedIterator::Next() {
  assert(valid_);
  RecordTick(merge_.statistics, NUMBER_DB_NEXT);
  BeginMove();
  std::string last;
  if (options_.tailing) [[unlikely]] {
    last = shown_;
    AppendInternalKey(&last, Slice(), shown_trailer_);
  }
  if (!shows_versions()) PassRestOfKey();
  FindForwards();
  if (options_.tailing && !valid_) [[unlikely]]
    LookBehind(last);
}

void StampedIterator::Prev() {
  assert(valid_);
  RecordTick(merge_.statistics, NUMBER_DB_PREV);
  BeginMove();
  if (shows_versions()) {
    seek_key_.clear();
    AppendInternalKey(&seek_key_, shown_, PackTrailer(kMaxSequenceNumber, kMaxValue));
    merged_->SeekForPrev(seek_key_);
  } else {
    SeekBefore(shown_);
  }
  FindBackwards();
}

// Whether the key is outside of the bounds, or has another prefix than the target of the seek when
// prefix_same_as_start is set. The bounds are compared without timestamps, the prefix is taken from
// the key without its timestamp.
bool StampedIterator::IsOutside(const Slice& stored) const {
  if (options_.iterate_upper_bound != nullptr &&
      comparator_.OrderWithoutTimestamp(stored, upper_bound_) >= 0) {
    return true;
  }
  if (options_.iterate_lower_bound != nullptr &&
      comparator_.OrderWithoutTimestamp(stored, lower_bound_) < 0) {
    return true;
  }
  if (!prefix_.has_value()) return false;
  const Slice user_key = comparator_.WithoutStamp(stored);
  return !prefix_extractor_->InDomain(user_key) ||
         prefix_extractor_->Transform(user_key) != Slice(*prefix_);
}

bool StampedIterator::CountSkipped() {
  AddPerfCount(&PerfContextBase::internal_key_skipped_count);
  if (options_.max_skippable_internal_keys == 0 ||
      ++skipped_ <= options_.max_skippable_internal_keys) {
    return true;
  }
  Fail(Status::Incomplete("too many internal keys skipped"));
  return false;
}

// Returns false after Fail(): the key is too short for a timestamp, so its table is damaged.
bool StampedIterator::IsWhole(const Slice& stored) {
  if (stored.size() >= comparator_.stamp_bytes()) return true;
  Fail(Status::Corruption("iterator: a key without room for its timestamp", KeyInError(stored)));
  return false;
}

// Makes `stored` the key that Decide() examines.
bool StampedIterator::TakeKey(const Slice& stored) {
  if (!IsWhole(stored)) return false;
  shown_.assign(stored.data(), stored.size());
  return true;
}

// Moves behind all versions of shown_.
void StampedIterator::PassRestOfKey() {
  uint64_t steps = 0;
  while (merged_->Valid() && comparator_.SameKey(ExtractUserKey(merged_->key()), shown_)) {
    if (++steps <= max_sequential_skip_) {
      merged_->Next();
      continue;
    }
    seek_key_.clear();
    comparator_.AppendLast(&seek_key_, shown_, /*trailer=*/0);
    merged_->Seek(seek_key_);
    if (merged_->Valid() && comparator_.SameKey(ExtractUserKey(merged_->key()), shown_)) {
      merged_->Next();
    }
    return;
  }
}

// Returns true if the entry is newer than the timestamp of the reader; then it was passed.
bool StampedIterator::PassTooNew(const Slice& stored, uint64_t* steps) {
  if (comparator_.OrderOfStamps(comparator_.StampOf(stored), read_stamp_) <= 0) return false;
  if (++*steps <= max_sequential_skip_) {
    merged_->Next();
  } else {
    *steps = 0;
    SeekNewestOf(stored);
  }
  return true;
}

// Moves from key to key until one has a visible value. Keys that are deleted or too new count
// against max_skippable_internal_keys.
void StampedIterator::FindForwards() {
  if (shows_versions()) return FindVersionForwards();
  while (merged_->Valid()) {
    const Slice stored = ExtractUserKey(merged_->key());
    if (IsOutside(stored) || !TakeKey(stored)) return;
    const Found found = Decide();
    if (found == Found::kValue) {
      valid_ = true;
      return;
    }
    if (!status().ok() || !CountSkipped()) return;
    PassRestOfKey();
  }
}

// Like FindForwards(). Walking backwards meets the oldest version of a key first, so a seek to its
// newest version comes before the decision.
void StampedIterator::FindBackwards() {
  if (shows_versions()) return FindVersionBackwards();
  while (merged_->Valid()) {
    const Slice stored = ExtractUserKey(merged_->key());
    if (IsOutside(stored) || !TakeKey(stored)) return;
    SeekNewestOf(shown_);
    const Found found = Decide();
    if (found == Found::kValue) {
      valid_ = true;
      return;
    }
    if (!status().ok() || !CountSkipped()) return;
    SeekBefore(shown_);
  }
}

StampedIterator::Found StampedIterator::Decide() {
  uint64_t steps = 0;
  while (merged_->Valid()) {
    const Slice internal_key = merged_->key();
    const Slice stored = ExtractUserKey(internal_key);
    if (!comparator_.SameKey(stored, shown_)) return Found::kNothing;
    if (PassTooNew(stored, &steps)) continue;
    const uint64_t trailer = ExtractTrailer(internal_key);
    if (TrailerSeqno(trailer) > seqno_) {
      if (!CountSkipped()) return Found::kNothing;
      merged_->Next();
      continue;
    }
    shown_.assign(stored.data(), stored.size());
    shown_trailer_ = trailer;
    return DecideAt(trailer);
  }
  return Found::kNothing;
}

// shown_ is the first version of its key that the reader sees, and the merging iterator is there.
StampedIterator::Found StampedIterator::DecideAt(uint64_t trailer) {
  shows_entity_ = false;
  const ValueType type = TrailerType(trailer);
  switch (type) {
    case kTypeValue: shown_value_ = merged_->value(); return Found::kValue;
    case kTypeMerge: return ShowFolded() ? Found::kValue : Found::kNothing;
    case kTypeWideColumnEntity:
      return ShowEntity(merged_->value()) ? Found::kValue : Found::kNothing;
    case kTypeBlobIndex:
      if (!LoadBlob(shown_, merged_->value())) return Found::kNothing;
      shown_value_ = blob_value_;
      return Found::kValue;
    default: break;
  }
  if (IsPointTombstoneOfAnyFamily(type)) return Found::kTombstone;
  Fail(IsPointEntryType(type)
           ? Status::NotSupported(StrCat("iterator: entries of kind ", int{type},
                                         " are not supported by this version"))
           : Status::Corruption(StrCat("iterator: unknown kind of entry: ", int{type})));
  return Found::kNothing;
}

bool StampedIterator::ShowEntity(const Slice& entity) {
  const Status status = DecodeColumns(entity, &entity_columns_);
  if (!status.ok()) {
    Fail(Status::CopyAppendMessage(status, "; of key ", KeyInError(shown_)));
    return false;
  }
  shown_value_ = DefaultColumnOf(entity_columns_);
  stored_entity_ = entity;
  shows_entity_ = true;
  return true;
}

// The record in the blob file contains the stored key, with its timestamp.
bool StampedIterator::LoadBlob(const Slice& stored, const Slice& index) {
  const Version& version = *view_.super_version()->version();
  BlobRead read{.user_key = stored, .index = index, .value = &blob_value_, .status = {}};
  const Status status = version.tables()->blobs()->Read(version.blobs(), options_, &read);
  if (!status.ok()) Fail(status);
  return status.ok();
}

// Merges the operands of the current key. The result is copied into folded_, because shown_value_
// must stay valid until the next move.
bool StampedIterator::ShowFolded() {
  MergeBase base;
  bool has_base = false;
  ShouldMergeLimit limit(merge_.merge_operator);
  if (!GatherOperands(is_lookup_ ? &limit : nullptr, &base, &has_base)) return false;
  AddPerfCount(&PerfContextBase::internal_merge_count, operands_.count());
  RecordInHistogram(merge_.statistics, READ_NUM_MERGE_OPERANDS, operands_.count());
  Merged merged;
  Status status = MergeFully(merge_, comparator_.WithoutStamp(shown_), has_base ? &base : nullptr,
                             operands_.Reversed(), &merged);
  if (!status.ok()) {
    Fail(std::move(status));
    return false;
  }
  folded_ = merged.AsSlice().ToString();
  if (merged.is_entity) return ShowEntity(folded_);
  shown_value_ = folded_;
  return true;
}

// Whether a version belongs to the requested history, which shows all versions between two
// timestamps; of several versions with one timestamp, only the newest.

bool StampedIterator::IsInHistory(const Slice& stored, uint64_t trailer) const {
  const Slice stamp = comparator_.StampOf(stored);
  return TrailerSeqno(trailer) <= seqno_ && comparator_.OrderOfStamps(stamp, read_stamp_) <= 0 &&
         comparator_.OrderOfStamps(stamp, start_stamp_) >= 0;
}

// The last version shown is in shown_ and shown_internal_; both are empty after a seek.
void StampedIterator::FindVersionForwards() {
  uint64_t steps = 0;
  while (merged_->Valid()) {
    const Slice internal_key = merged_->key();
    const Slice stored = ExtractUserKey(internal_key);
    if (IsOutside(stored)) return;
    if (!IsWhole(stored)) return;
    const bool is_shown =
        !shown_internal_.empty() && comparator_.SameKeyAndTimestamp(stored, shown_);
    if (!is_shown && PassTooNew(stored, &steps)) continue;
    if (is_shown || !IsInHistory(stored, ExtractTrailer(internal_key))) {
      if (!CountSkipped()) return;
      merged_->Next();
      continue;
    }
    valid_ = ShowVersion();
    return;
  }
}

void StampedIterator::FindVersionBackwards() {
  while (merged_->Valid()) {
    const Slice internal_key = merged_->key();
    const Slice stored = ExtractUserKey(internal_key);
    if (IsOutside(stored) || !TakeKey(stored)) return;
    if (!IsInHistory(stored, ExtractTrailer(internal_key))) {
      if (!CountSkipped()) return;
      merged_->Prev();
      continue;
    }
    // The newest version with this timestamp is shown. A forward seek meets all tombstones over the
    // key. A backward seek may miss those of a file that begins at the key with an older timestamp.
    seek_key_.clear();
    AppendInternalKey(&seek_key_, shown_, PackTrailer(seqno_, kValueTypeForSeek));
    merged_->Seek(seek_key_);
    if (merged_->Valid() &&
        comparator_.SameKeyAndTimestamp(ExtractUserKey(merged_->key()), shown_)) {
      valid_ = ShowVersion();
      return;
    }
    if (!status().ok() || !CountSkipped()) return;
    seek_key_.clear();
    AppendInternalKey(&seek_key_, shown_, PackTrailer(kMaxSequenceNumber, kMaxValue));
    merged_->SeekForPrev(seek_key_);
  }
}

// Shows the entry at which the merging iterator is, even if it is a tombstone. False after an
// error, also of the way back from the operands below it.
bool StampedIterator::ShowVersion() {
  const Slice internal_key = merged_->key();
  const Slice stored = ExtractUserKey(internal_key);
  shown_.assign(stored.data(), stored.size());
  shown_trailer_ = ExtractTrailer(internal_key);
  shown_internal_.assign(internal_key.data(), internal_key.size());
  const Found found = DecideAt(shown_trailer_);
  if (found == Found::kNothing) return false;
  if (found == Found::kTombstone) shown_value_ = Slice();
  if (TrailerType(shown_trailer_) == kTypeMerge) merged_->Seek(shown_internal_);
  return merged_->status().ok();
}

}  // namespace ashlar
