// SPDX-License-Identifier: Apache-2.0
//
// The versions of a user key are adjacent, newest first. Going forward, the first version at or
// below the snapshot is shown, and the other versions of the key are skipped. Going backward, older
// versions come first, so the last version at or below the snapshot is the one to show.
#include "db/read/db_iterator.h"

#include <cassert>
#include <utility>

#include "ashlar/slice_transform.h"
#include "ashlar/snapshot.h"
#include "db/read/iterator_builder.h"
#include "db/read/newest_run.h"
#include "db/read/super_version.h"
#include "db/search/scanned_blocks.h"
#include "db/trace/query_trace.h"
#include "db/version/version.h"
#include "util/keys/read_callback.h"
#include "util/result.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {

DBIterator::DBIterator(const ReadOptions& options, ReadView view, DBIteratorSetting setting)
    : options_(options),
      merge_(setting.merge),
      callback_(setting.callback),
      undecided_(setting.undecided),
      own_(setting.own),
      own_trace_(std::move(setting.own_trace)),
      trace_(own_trace_ != nullptr ? own_trace_.get() : setting.trace),
      query_trace_(setting.query_trace),
      family_(setting.family),
      statistics_(setting.merge.statistics),
      dead_ranges_(setting.dead_ranges),
      view_(std::move(view)),
      seqno_(view_.seqno()),
      comparator_(view_.super_version()->version()->comparator()) {
  ChooseNumber(setting.is_view_held);
  RecordTick(statistics_, NO_ITERATOR_CREATED);
  BuildTower();
}

DBIterator::~DBIterator() {
  ReportSteps();
  if (statistics_ != nullptr) ReportCounts();
}

// The tower is the merging iterator over all runs, with everything below it. All of it lives in one
// arena, which is dropped as a whole.
void DBIterator::BuildTower() {
  assert(merged_ == nullptr);
  assert(arena_ == nullptr);  // the old one was dropped, with what it pinned
  const SuperVersion& super_version = *view_.super_version();
  arena_ = std::make_unique<Arena>();
  IteratorBuilder tower(&comparator_, arena_.get());
  if (!options_.ignore_range_deletions || !super_version.MayIgnoreRangeTombstones()) {
    tower.HideDeleted(seqno_, callback_);
  }
  tower.SetTrace(trace_);
  // Without a callback, only entries up to seqno_ are visible. seqno_ was read before the tower is
  // built, so entries that reach the memtable later are newer and cannot be visible: an empty
  // memtable can be left out.
  if (callback_ == nullptr) tower.SpareEmptyMemTable();
  prefix_extractor_ = options_.prefix_same_as_start || WantedPrefix::IsUsedBy(options_)
                          ? super_version.options().prefix_extractor.get()
                          : nullptr;
  wanted_.Clear();
  if (options_.prefix_same_as_start && !options_.total_order_seek) {
    tower.StayInPrefix(prefix_extractor_);
  }
  tower.AddAll(super_version, {.options = &options_,
                               .wanted = prefix_extractor_ == nullptr ? nullptr : &wanted_,
                               .scanned = scanned_.get()});
  merged_ = tower.Build();
  if (newest_ != nullptr) merged_->AddNewest(newest_->NewRun(arena_.get()));
  assert(!merged_->Valid());  // until a seek
  max_sequential_skip_ = super_version.options().max_sequential_skip_in_iterations;
  DecideOnDead();
  is_checked_ = options_.iterate_upper_bound != nullptr || prefix_extractor_ != nullptr ||
                callback_ != nullptr;
  merge_.merge_operator = super_version.options().merge_operator.get();
  valid_ = false;
}

// The tower refers to the view and the arena, so it goes first.
void DBIterator::DropTower() {
  valid_ = false;
  operands_.Clear();
  merged_.reset();
  arena_.reset();
  if (scanned_ != nullptr) scanned_->Forget();
}

void DBIterator::Prepare(const MultiScanArgs& scan_opts) {
  DropTower();
  scanned_ = std::make_unique<ScannedBlocks>(scan_opts, &options_);
  BuildTower();
}

// The position is lost: the iterator must be moved by a seek next.
[[gnu::cold]] Status DBIterator::Refresh(const Snapshot* snapshot) {
  ReadView fresh = view_.source()->AcquireViewFor(snapshot);
  if (options_.background_purge_on_iterator_cleanup) fresh.PurgeInBackground();
  DropTower();
  view_ = std::move(fresh);
  options_.snapshot = snapshot;
  ChooseNumber(/*is_view_held=*/false);
  status_ = Status::OK();
  BuildTower();
  return Status::OK();
}

// A tailing iterator shows the newest state at each seek, and again at its end. An iterator with
// auto_refresh_iterator_with_snapshot shows the same entries as before, but from the current files
// and memtables, so that the old ones can be freed.
void DBIterator::RefreshIfAsked() {
  // Comparing addresses is enough: view_ keeps the old super version alive, so a new one cannot
  // have the same address.
  const bool is_stale = options_.auto_refresh_iterator_with_snapshot &&
                        options_.snapshot != nullptr &&
                        view_.source()->super_version() != view_.super_version();
  if (options_.tailing || is_stale) IgnoreError(Refresh(options_.snapshot), "status() reports it");
}

Status DBIterator::status() const {
  if (!status_.ok()) return status_;
  return merged_->status();
}

void DBIterator::Fail(Status status) {
  assert(!status.ok());
  if (status_.ok()) status_ = std::move(status);
  valid_ = false;
}

// Resets everything that a previous position left behind. Called at the start of each of the four
// seeks.
void DBIterator::BeginSeek(Direction direction) {
  assert(direction == Direction::kForward || direction == Direction::kReverse);
  RefreshIfAsked();
  status_ = Status::OK();
  valid_ = false;
  skipped_ = 0;
  dead_count_ = 0;
  prefix_.reset();
  wanted_.Clear();
  direction_ = direction;
  AddPerfCount(&PerfContextBase::iter_seek_count);
  ReportSteps();
  is_measured_ = statistics_ != nullptr || TimesPerf() || options_.tailing;
}

// A tailing iterator has reached the end behind the key `last`, and checks for newer entries.
void DBIterator::LookBehind(const Slice& last) {
  assert(options_.tailing && !valid_);
  if (!status().ok() || scanned_ != nullptr) return;
  const auto before = view_.super_version()->shared_options();  // keeps the extractor of prefix_
  IgnoreError(Refresh(options_.snapshot), "status() reports it");
  // If SetOptions() has changed the extractor, the end stays the end until a seek.
  if (prefix_.has_value() && !IsSameExtractor(before->prefix_extractor.get(), prefix_extractor_))
    return;
  if (prefix_.has_value()) RememberPrefix(last);
  direction_ = Direction::kForward;
  skipped_ = 0;
  dead_count_ = 0;
  SaveKey(last);
  SeekInternal(last, 0);
  FindNextVisible(/*is_key_saved=*/true);
}

// Records a seek if a trace of the database's calls is running.
inline void DBIterator::RecordSeek(TraceType type, const Slice& target) const {
  if (query_trace_ == nullptr || !query_trace_->is_on()) [[likely]]
    return;
  const auto bound = [](const Slice* slice) { return slice == nullptr ? Slice() : *slice; };
  query_trace_->OnSeek({.family = family_,
                        .target = target,
                        .lower = bound(options_.iterate_lower_bound),
                        .upper = bound(options_.iterate_upper_bound)},
                       type);
}

// If the options ask for it, limits the iterator to keys with the prefix of the target: levels skip
// files without this prefix, and prefix_ ends the iteration.
void DBIterator::RememberPrefix(const Slice& target) {
  if (prefix_extractor_ == nullptr) return;
  wanted_.Set(prefix_extractor_, target, options_, comparator_.user_comparator());
  if (options_.prefix_same_as_start && prefix_extractor_->InDomain(target))
    prefix_ = prefix_extractor_->Transform(target).ToString();
}

// Seeks the merging iterator to the newest version of the key at or below `seqno`.
void DBIterator::SeekInternal(const Slice& user_key, SequenceNumber seqno) {
  assert(seqno <= kMaxSequenceNumber);
  seek_key_.clear();
  AppendInternalKey(&seek_key_, user_key, PackTrailer(seqno, kValueTypeForSeek));
  const PerfTimer timer(&PerfContextBase::seek_internal_seek_time);
  merged_->Seek(seek_key_);
}

namespace {

// Measures one seek if the perf level or the statistics ask for it.
class SeekWatch {
 public:
  explicit SeekWatch(const MergeTools& tools)
      : cpu_(&PerfContextBase::iter_seek_cpu_nanos), all_(tools.clock, tools.statistics, DB_SEEK) {}

 private:
  const CpuTimer cpu_;
  const StopWatch all_;
};

}  // namespace

// A target below the lower bound is replaced by the bound. The trace records what the program asked
// for.
void DBIterator::Seek(const Slice& wanted) {
  RecordSeek(kTraceIteratorSeek, wanted);
  const SeekWatch watch(merge_);
  const Slice target = KeptTarget(wanted);
  BeginSeek(Direction::kForward);
  Slice from = target;
  if (options_.iterate_lower_bound != nullptr && BelowLowerBound(target)) {
    from = *options_.iterate_lower_bound;
  }
  RememberPrefix(target);
  if (scanned_ != nullptr) [[unlikely]]
    scanned_->Approach(*view_.super_version()->version(), target);
  SeekPastEmpty(from);
  {
    const PerfTimer timer(&PerfContextBase::find_next_user_entry_time);
    FindNextVisible(/*is_key_saved=*/false);
  }
  if (is_measured_) [[unlikely]]
    CountStep(&seeks_);
}

void DBIterator::SeekToFirst() {
  if (options_.iterate_lower_bound != nullptr) return Seek(*options_.iterate_lower_bound);
  const SeekWatch watch(merge_);
  BeginSeek(Direction::kForward);
  {
    const PerfTimer timer(&PerfContextBase::seek_internal_seek_time);
    merged_->SeekToFirst();
  }
  FindNextVisible(/*is_key_saved=*/false);
  if (valid_) RememberPrefix(key());
  if (is_measured_) [[unlikely]]
    CountStep(&seeks_);
}

// The upper bound is exclusive: if the target is not below it, the search begins before the first
// possible version of the bound. Otherwise it begins at the last possible version of the target,
// which has trailer 0.
void DBIterator::SeekForPrev(const Slice& wanted) {
  RecordSeek(kTraceIteratorSeekForPrev, wanted);
  const SeekWatch watch(merge_);
  const Slice target = KeptTarget(wanted);
  BeginSeek(Direction::kReverse);
  RememberPrefix(target);
  seek_key_.clear();
  if (options_.iterate_upper_bound != nullptr && ReachedUpperBound(target)) {
    AppendInternalKey(&seek_key_, *options_.iterate_upper_bound,
                      PackTrailer(kMaxSequenceNumber, kMaxValue));
  } else {
    AppendInternalKey(&seek_key_, target, 0);
  }
  {
    const PerfTimer timer(&PerfContextBase::seek_internal_seek_time);
    merged_->SeekForPrev(seek_key_);
  }
  FindPrevVisible();
  if (is_measured_) [[unlikely]]
    CountStep(&seeks_);
}

// The upper bound is exclusive, so the search begins before its first possible version.
void DBIterator::SeekToLast() {
  const SeekWatch watch(merge_);
  BeginSeek(Direction::kReverse);
  if (options_.iterate_upper_bound != nullptr) {
    RecordSeek(kTraceIteratorSeekForPrev, *options_.iterate_upper_bound);
    seek_key_.clear();
    AppendInternalKey(&seek_key_, *options_.iterate_upper_bound,
                      PackTrailer(kMaxSequenceNumber, kMaxValue));
    merged_->SeekForPrev(seek_key_);
  } else {
    merged_->SeekToLast();
  }
  FindPrevVisible();
  if (valid_) RememberPrefix(saved_key_);
  if (is_measured_) [[unlikely]]
    CountStep(&seeks_);
}

// The key is saved, because the moving merging iterator may release the memory that contains it.
// FindNextVisible() skips the older versions of the saved key.
void DBIterator::Next() {
  assert(valid_);
  if (is_measured_) [[unlikely]]
    return NextMeasured();
  skipped_ = 0;
  ++nexts_to_report_;
  if (direction_ == Direction::kForward) [[likely]] {
    SaveKey(user_key_);
    merged_->Next();
  } else {
    SwitchToForward();
  }
  FindNextVisible(/*is_key_saved=*/true);
}

void DBIterator::Prev() {
  assert(valid_);
  if (is_measured_) [[unlikely]]
    return PrevMeasured();
  skipped_ = 0;
  ++prevs_to_report_;
  if (direction_ != Direction::kReverse) SwitchToReverse();
  FindPrevVisible();
}

// Moves forward from the current entry of the merging iterator to the next entry to show.
// `is_key_saved`: versions of saved_key_ are not shown.
void DBIterator::FindNextVisible(bool is_key_saved) {
  assert(direction_ == Direction::kForward);
  valid_ = false;
  uint64_t hidden_steps = 0;  // over versions of saved_key_
  uint64_t recent_steps = 0;  // over versions above the snapshot
  // A row of tombstones consists only of those met by this call, or hidden by the seek before it.
  bool is_behind_dead = !is_key_saved && dead_count_ != 0;
  while (merged_->Valid()) {
    const Slice internal_key = merged_->key();
    const Slice user_key = ExtractUserKey(internal_key);
    if (is_checked_) {
      if (ReachedUpperBound(user_key) || LeftPrefix(user_key)) return EndDeadRun(nullptr);
      const SequenceNumber seqno = TrailerSeqno(ExtractTrailer(internal_key));
      if (seqno <= seqno_ && !IsVisible(seqno)) {
        if (!CountSkipped(&PerfContextBase::internal_recent_skipped_count)) return;
        merged_->Next();
        continue;
      }
    }
    if (is_key_saved && comparator_.SameKey(user_key, saved_key_)) {
      if (!CountSkipped(&PerfContextBase::internal_key_skipped_count)) return;
      PassHidden(internal_key, &hidden_steps);
      continue;
    }
    const uint64_t trailer = ExtractTrailer(internal_key);
    if (TrailerSeqno(trailer) > seqno_ && TrailerSeqno(trailer) < newest_seqno_) {
      if (!CountSkipped(&PerfContextBase::internal_recent_skipped_count)) return;
      PassRecent(user_key, &recent_steps);
      continue;
    }
    const ValueType type = TrailerType(trailer);
    if (is_behind_dead) [[unlikely]]
      NoteBehindDead(type, user_key);
    if (type == kTypeValue) [[likely]] {
      user_key_ = user_key;
      valid_ = true;
      return;
    }
    if (type == kTypeMerge) return FoldForward(user_key);
    if (type == kTypeWideColumnEntity) return ShowEntityForward(user_key);
    if (type == kTypeBlobIndex) return ShowBlobForward(user_key);
    if (!CheckKind(type) || !CountSkipped(&PerfContextBase::internal_delete_skipped_count)) return;
    SaveKey(user_key);
    is_key_saved = is_behind_dead = true;
    hidden_steps = 0;
    if (!PassEmpty()) merged_->Next();
  }
  EndDeadRun(nullptr);
}

// Moves past a version of saved_key_ that is not shown: by one step or, after too many steps, by a
// seek to the end of all versions of the key.
void DBIterator::PassHidden(const Slice& internal_key, uint64_t* steps) {
  assert(comparator_.SameKey(ExtractUserKey(internal_key), saved_key_));
  if (++*steps <= max_sequential_skip_) return merged_->Next();
  *steps = 0;
  CountReseek();
  seek_key_.clear();
  AppendInternalKey(&seek_key_, ExtractUserKey(internal_key), /*trailer=*/0);
  // A seek to the last version that a key can have would not move from it.
  if (comparator_.Compare(internal_key, seek_key_) >= 0) return merged_->Next();
  merged_->Seek(seek_key_);
}

// Moves past a version that is newer than the snapshot: by one step, or by a seek to the newest
// version of the key that the snapshot sees. A seek only helps if all steps were over versions of
// one key, so seek_key_ remembers the key of the first step.
void DBIterator::PassRecent(const Slice& user_key, uint64_t* steps) {
  assert(steps != nullptr);
  assert(TrailerSeqno(ExtractTrailer(merged_->key())) > seqno_);
  if (*steps == 0) seek_key_.assign(user_key.data(), user_key.size());
  if (++*steps <= max_sequential_skip_) return merged_->Next();
  *steps = 0;
  if (!comparator_.SameKey(user_key, seek_key_)) return merged_->Next();
  CountReseek();
  AppendInternalKey(&seek_key_, Slice(), PackTrailer(seqno_, kValueTypeForSeek));
  merged_->Seek(seek_key_);
}

// The merging iterator is at the last entry that may be shown. Finds the last key that has a
// visible version, and moves in front of all versions of that key.
void DBIterator::FindPrevVisible() {
  assert(direction_ == Direction::kReverse);
  valid_ = false;
  while (merged_->Valid()) {
    const Slice user_key = ExtractUserKey(merged_->key());
    if (options_.iterate_lower_bound != nullptr && BelowLowerBound(user_key)) return;
    if (LeftPrefix(user_key)) return;
    SaveKey(user_key);
    if (TakeNewestVersion()) {
      valid_ = true;
      return;
    }
    if (!status_.ok()) return;
  }
}

bool DBIterator::IsVisible(SequenceNumber seqno) const {
  if (seqno > seqno_) return seqno >= newest_seqno_;
  return callback_ == nullptr || callback_->IsVisible(seqno);
}

// Walks backward over all versions of saved_key_. Returns true if the newest visible version is a
// value, or if merge operands result in one; this value is then in shown_value_.
bool DBIterator::TakeNewestVersion() {
  assert(merged_->Valid());
  assert(comparator_.SameKey(ExtractUserKey(merged_->key()), saved_key_));
  bool is_value = false;
  uint64_t steps = 0;
  operands_.Clear();
  do {
    const Slice internal_key = merged_->key();
    if (!comparator_.SameKey(ExtractUserKey(internal_key), saved_key_)) return ShowTaken(is_value);
    const bool is_visible = IsVisible(TrailerSeqno(ExtractTrailer(internal_key)));
    if (++steps > max_sequential_skip_ + 1) {
      if (is_visible || SeesOutOfOrder()) return SeekNewestVersion();
      CountReseek();
      StepBeforeSavedKey();
      break;
    }
    if (steps > 1 && !CountReplaced(internal_key, is_value)) return false;
    if (is_visible && !TakeVersion(&is_value)) return false;
    if (!is_visible && !CountSkipped(&PerfContextBase::internal_recent_skipped_count)) return false;
    merged_->Prev();
  } while (merged_->Valid());
  return ShowTaken(is_value);
}

// Does the same by a seek from the other side, when there are too many versions to walk over.
bool DBIterator::SeekNewestVersion() {
  CountReseek();
  operands_.Clear();
  SeekInternal(saved_key_, SeekSeqno());
  uint64_t recent_steps = 0;
  const auto is_on_key = [this] {
    return merged_->Valid() && comparator_.SameKey(ExtractUserKey(merged_->key()), saved_key_);
  };
  while (is_on_key() && !IsVisible(TrailerSeqno(ExtractTrailer(merged_->key())))) {
    if (!CountSkipped(&PerfContextBase::internal_recent_skipped_count)) return false;
    StepOverHidden(&recent_steps);
  }
  if (!merged_->status().ok()) return false;
  bool is_value = false;
  if (is_on_key()) {
    if (TrailerType(ExtractTrailer(merged_->key())) == kTypeMerge) return FoldNewestVersion();
    if (!TakeVersion(&is_value)) return false;
  } else if (!SeesOutOfOrder()) {
    Fail(Status::Corruption("iterator: a version that was met going back is not found by a seek",
                            InternalKeyInError(seek_key_)));
    return false;
  }
  StepBeforeSavedKey();
  return ShowTaken(is_value);
}

// Takes a visible version of saved_key_, at which the merging iterator is. This version is newer
// than those taken before, and replaces them unless it is an operand. Returns false after a
// failure.
bool DBIterator::TakeVersion(bool* is_value) {
  assert(is_value != nullptr);
  assert(comparator_.SameKey(ExtractUserKey(merged_->key()), saved_key_));
  const ValueType type = TrailerType(ExtractTrailer(merged_->key()));
  const Slice value = merged_->value();
  if (type == kTypeMerge) {
    operands_.Add(value, merged_->PinOfValue());
    return true;
  }
  operands_.Clear();
  saved_is_entity_ = type == kTypeWideColumnEntity;
  saved_is_blob_ = type == kTypeBlobIndex;
  *is_value = type == kTypeValue || saved_is_entity_ || saved_is_blob_;
  if (!*is_value) {
    return CheckKind(type) && CountSkipped(&PerfContextBase::internal_delete_skipped_count);
  }
  saved_value_.assign(value.data(), value.size());
  if (saved_is_blob_) blob_key_ = ExtractUserKey(merged_->key()).ToString();
  return true;
}

// Called when all relevant versions were taken; the operands are ordered from old to new.
// `is_value`: saved_value_ is the value below the operands.
bool DBIterator::ShowTaken(bool is_value) {
  assert(direction_ == Direction::kReverse);
  if (!merged_->status().ok()) return false;
  shown_value_ = saved_value_;
  shows_entity_ = false;
  is_unprepared_ = false;
  if (operands_.empty()) [[likely]] {
    if (!is_value) return false;
    if (saved_is_blob_) return ShowBlob(saved_value_);
    return saved_is_entity_ ? ShowEntity(saved_value_) : true;
  }
  MergeBase base{.value = saved_value_, .is_entity = saved_is_entity_};
  if (is_value && saved_is_blob_) {
    if (!LoadBlob(saved_value_)) return false;
    base.value = blob_value_;
  }
  return Fold(is_value ? &base : nullptr, operands_.all());
}

// Moves to the last entry that comes before all versions of saved_key_.
void DBIterator::StepBeforeSavedKey() {
  assert(direction_ == Direction::kReverse);
  seek_key_.clear();
  AppendInternalKey(&seek_key_, saved_key_, PackTrailer(kMaxSequenceNumber, kMaxValue));
  merged_->SeekForPrev(seek_key_);
}

// Turns the iterator to go forward. The key that is shown is in saved_key_. The merging iterator is
// before all its versions (kReverse), behind the versions that were folded (kFolded), or at the
// version that is shown (kDerived). The search for the next key begins behind them.
void DBIterator::SwitchToForward() {
  assert(direction_ != Direction::kForward);
  const Direction before = std::exchange(direction_, Direction::kForward);
  if (before == Direction::kFolded) return;
  if (before == Direction::kDerived) return merged_->Next();
  seek_key_.clear();
  AppendInternalKey(&seek_key_, saved_key_, /*trailer=*/0);
  merged_->Seek(seek_key_);
}

// Turns the iterator to go backward: moves the merging iterator before all versions of the shown
// key, by a few steps or by a seek.
void DBIterator::SwitchToReverse() {
  assert(direction_ != Direction::kReverse);
  const bool is_behind = direction_ == Direction::kFolded;
  direction_ = Direction::kReverse;
  if (is_behind) return StepBeforeSavedKey();
  SaveKey(user_key_);
  uint64_t steps = 0;
  do {
    if (++steps > max_sequential_skip_) {
      CountReseek();
      return StepBeforeSavedKey();
    }
    merged_->Prev();
  } while (merged_->Valid() && comparator_.SameKey(ExtractUserKey(merged_->key()), saved_key_));
}

// The upper bound is exclusive.
bool DBIterator::ReachedUpperBound(const Slice& user_key) const {
  const Slice* bound = options_.iterate_upper_bound;
  return bound != nullptr && comparator_.OrderWithoutTimestamp(user_key, *bound) >= 0;
}

bool DBIterator::BelowLowerBound(const Slice& user_key) const {
  assert(options_.iterate_lower_bound != nullptr);
  return comparator_.OrderWithoutTimestamp(user_key, *options_.iterate_lower_bound) < 0;
}

// Keys with the same prefix are adjacent, so the iteration ends at the first key with another.
bool DBIterator::LeftPrefix(const Slice& user_key) const {
  if (prefix_extractor_ == nullptr || !prefix_.has_value()) return false;
  return !prefix_extractor_->InDomain(user_key) ||
         prefix_extractor_->Transform(user_key) != Slice(*prefix_);
}

bool DBIterator::CountSkipped(uint64_t PerfContextBase::*counter) {
  skipped_++;
  AddPerfCount(counter);
  return IsWithinSkipLimit();
}

}  // namespace ashlar
