// SPDX-License-Identifier: Apache-2.0
//
// Versions of a user key lie next to each other, newest first. Forward: the first one at or below
// the snapshot decides, the rest are skipped. Backward: the last one met that is at or below it.
#include "db/read/db_iterator.h"

#include <utility>

#include "ashlar/slice_transform.h"
#include "ashlar/snapshot.h"
#include "db/read/iterator_tower.h"
#include "db/read/super_version.h"
#include "db/version/version.h"
#include "util/perf_level_impl.h"
#include "util/result.h"
#include "util/statistics.h"
#include "util/str_cat.h"

namespace ashlar {

DBIterator::DBIterator(const ReadOptions& options, ReadView view, Statistics* statistics)
    : options_(options),
      statistics_(statistics),
      view_(std::move(view)),
      seqno_(view_.seqno()),
      comparator_(view_.super_version()->version()->comparator()) {
  if (options_.snapshot != nullptr) seqno_ = options_.snapshot->GetSequenceNumber();
  RecordTick(statistics_, NO_ITERATOR_CREATED);
  BuildTower();
}

DBIterator::~DBIterator() {
  if (statistics_ != nullptr) ReportCounts();
}

void DBIterator::BuildTower() {
  const SuperVersion& super_version = *view_.super_version();
  arena_ = std::make_unique<Arena>();
  IteratorTower tower(&comparator_, arena_.get());
  tower.AddAll(super_version, options_);
  merged_ = tower.Build();
  prefix_extractor_ =
      options_.prefix_same_as_start ? super_version.options().prefix_extractor.get() : nullptr;
  is_bounded_ = options_.iterate_upper_bound != nullptr || prefix_extractor_ != nullptr;
  valid_ = false;
}

// The tower stands on the view and in the arena.
void DBIterator::DropTower() {
  valid_ = false;
  merged_.reset();
  arena_.reset();
}

Status DBIterator::Refresh(const Snapshot* snapshot) {
  ReadView fresh = view_.source()->AcquireView();
  DropTower();
  view_ = std::move(fresh);
  options_.snapshot = snapshot;
  seqno_ = snapshot == nullptr ? view_.seqno() : snapshot->GetSequenceNumber();
  status_ = Status::OK();
  BuildTower();
  return Status::OK();
}

// A tailing iterator shows what is there at each seek.
void DBIterator::RefreshIfTailing() {
  if (options_.tailing) IgnoreError(Refresh(options_.snapshot), "status() reports it");
}

Status DBIterator::status() const {
  if (!status_.ok()) return status_;
  return merged_->status();
}

Status DBIterator::GetProperty(std::string prop_name, std::string* prop) {
  if (prop_name == "rocksdb.iterator.super-version-number") {
    *prop = std::to_string(view_.super_version()->number());
    return Status::OK();
  }
  if (prop_name == "rocksdb.iterator.is-key-pinned" ||
      prop_name == "rocksdb.iterator.is-value-pinned") {
    *prop = "0";
    return Status::OK();
  }
  if (prop_name == "rocksdb.iterator.internal-key") {
    if (!valid_) return Status::InvalidArgument("iterator is not valid");
    *prop = key().ToString();
    return Status::OK();
  }
  return Status::InvalidArgument("unknown iterator property: " + prop_name);
}

void DBIterator::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
  valid_ = false;
}

void DBIterator::BeginSeek(Direction direction) {
  RefreshIfTailing();
  status_ = Status::OK();
  valid_ = false;
  skipped_ = 0;
  prefix_.reset();
  direction_ = direction;
  AddPerfCount(&PerfContextBase::iter_seek_count);
}

void DBIterator::RememberPrefix(const Slice& target) {
  if (prefix_extractor_ == nullptr) return;
  if (prefix_extractor_->InDomain(target))
    prefix_ = prefix_extractor_->Transform(target).ToString();
}

void DBIterator::SeekInternal(const Slice& user_key, SequenceNumber seqno) {
  seek_key_.clear();
  AppendInternalKey(&seek_key_, user_key, PackTrailer(seqno, kValueTypeForSeek));
  merged_->Seek(seek_key_);
}

void DBIterator::Seek(const Slice& target) {
  BeginSeek(Direction::kForward);
  Slice from = target;
  if (options_.iterate_lower_bound != nullptr && BelowLowerBound(target)) {
    from = *options_.iterate_lower_bound;
  }
  RememberPrefix(target);
  SeekInternal(from, seqno_);
  FindNextVisible(/*is_key_saved=*/false);
  if (statistics_ != nullptr) [[unlikely]]
    CountStep(&seeks_);
}

void DBIterator::SeekToFirst() {
  if (options_.iterate_lower_bound != nullptr) return Seek(*options_.iterate_lower_bound);
  BeginSeek(Direction::kForward);
  merged_->SeekToFirst();
  FindNextVisible(/*is_key_saved=*/false);
  if (valid_) RememberPrefix(user_key_);
  if (statistics_ != nullptr) [[unlikely]]
    CountStep(&seeks_);
}

void DBIterator::SeekForPrev(const Slice& target) {
  BeginSeek(Direction::kReverse);
  RememberPrefix(target);
  seek_key_.clear();
  if (options_.iterate_upper_bound != nullptr && ReachedUpperBound(target)) {
    AppendInternalKey(&seek_key_, *options_.iterate_upper_bound,
                      PackTrailer(kMaxSequenceNumber, kMaxValue));
  } else {
    AppendInternalKey(&seek_key_, target, 0);
  }
  merged_->SeekForPrev(seek_key_);
  FindPrevVisible();
  if (statistics_ != nullptr) [[unlikely]]
    CountStep(&seeks_);
}

void DBIterator::SeekToLast() {
  BeginSeek(Direction::kReverse);
  if (options_.iterate_upper_bound != nullptr) {
    seek_key_.clear();
    AppendInternalKey(&seek_key_, *options_.iterate_upper_bound,
                      PackTrailer(kMaxSequenceNumber, kMaxValue));
    merged_->SeekForPrev(seek_key_);
  } else {
    merged_->SeekToLast();
  }
  FindPrevVisible();
  if (valid_) RememberPrefix(saved_key_);
  if (statistics_ != nullptr) [[unlikely]]
    CountStep(&seeks_);
}

void DBIterator::Next() {
  assert(valid_);
  skipped_ = 0;
  if (direction_ == Direction::kReverse) {
    SwitchToForward();
  } else {
    saved_key_.assign(user_key_.data(), user_key_.size());
    merged_->Next();
  }
  FindNextVisible(/*is_key_saved=*/true);
  if (statistics_ != nullptr) [[unlikely]]
    CountStep(&nexts_);
}

void DBIterator::Prev() {
  assert(valid_);
  skipped_ = 0;
  if (direction_ == Direction::kForward) SwitchToReverse();
  FindPrevVisible();
  if (statistics_ != nullptr) [[unlikely]]
    CountStep(&prevs_);
}

// From the entry the merging iterator stands on, the next one to show. `is_key_saved`: versions of
// saved_key_ are not to be shown any more.
void DBIterator::FindNextVisible(bool is_key_saved) {
  valid_ = false;
  for (; merged_->Valid(); merged_->Next()) {
    const Slice internal_key = merged_->key();
    const Slice user_key = ExtractUserKey(internal_key);
    const uint64_t trailer = ExtractTrailer(internal_key);
    if (is_bounded_ && (ReachedUpperBound(user_key) || LeftPrefix(user_key))) return;
    if (is_key_saved && comparator_.SameKey(user_key, saved_key_)) {
      if (!CountSkipped()) return;
      continue;
    }
    if (TrailerSeqno(trailer) > seqno_) {
      if (!CountSkipped()) return;
      continue;
    }
    const ValueType type = TrailerType(trailer);
    if (type == kTypeValue) [[likely]] {
      user_key_ = user_key;
      valid_ = true;
      return;
    }
    if (!CheckKind(type) || !CountSkipped()) return;
    saved_key_.assign(user_key.data(), user_key.size());
    is_key_saved = true;
  }
}

// The merging iterator stands on the last entry that may be shown. Finds the last key with a
// visible version and steps before all its versions.
void DBIterator::FindPrevVisible() {
  valid_ = false;
  while (merged_->Valid()) {
    const Slice user_key = ExtractUserKey(merged_->key());
    if (options_.iterate_lower_bound != nullptr && BelowLowerBound(user_key)) return;
    if (LeftPrefix(user_key)) return;
    saved_key_.assign(user_key.data(), user_key.size());
    if (TakeNewestVersion()) {
      valid_ = true;
      return;
    }
    if (!status_.ok()) return;
  }
}

// Walks back over all versions of saved_key_. True if the newest visible one is a value, which is
// then in saved_value_.
bool DBIterator::TakeNewestVersion() {
  bool is_value = false;
  do {
    const Slice internal_key = merged_->key();
    const uint64_t trailer = ExtractTrailer(internal_key);
    if (!comparator_.SameKey(ExtractUserKey(internal_key), saved_key_)) return is_value;
    if (TrailerSeqno(trailer) <= seqno_) {
      const ValueType type = TrailerType(trailer);
      is_value = type == kTypeValue;
      if (is_value) {
        const Slice value = merged_->value();
        saved_value_.assign(value.data(), value.size());
      } else if (!CheckKind(type)) {
        return false;
      }
    }
    if (!is_value && !CountSkipped()) return false;
    merged_->Prev();
  } while (merged_->Valid());
  return is_value && merged_->status().ok();
}

// The merging iterator is before the versions of the key shown, which is in saved_key_.
void DBIterator::SwitchToForward() {
  direction_ = Direction::kForward;
  SeekInternal(saved_key_, kMaxSequenceNumber);
}

void DBIterator::SwitchToReverse() {
  direction_ = Direction::kReverse;
  saved_key_.assign(user_key_.data(), user_key_.size());
  do {
    merged_->Prev();
  } while (merged_->Valid() && comparator_.SameKey(ExtractUserKey(merged_->key()), saved_key_));
}

bool DBIterator::ReachedUpperBound(const Slice& user_key) const {
  const Slice* bound = options_.iterate_upper_bound;
  return bound != nullptr && comparator_.OrderWithoutTimestamp(user_key, *bound) >= 0;
}

bool DBIterator::BelowLowerBound(const Slice& user_key) const {
  return comparator_.OrderWithoutTimestamp(user_key, *options_.iterate_lower_bound) < 0;
}

bool DBIterator::LeftPrefix(const Slice& user_key) const {
  if (prefix_extractor_ == nullptr || !prefix_.has_value()) return false;
  return !prefix_extractor_->InDomain(user_key) ||
         prefix_extractor_->Transform(user_key) != Slice(*prefix_);
}

// False if the user asked not to skip so many entries.
bool DBIterator::CountSkipped() {
  skipped_++;
  AddPerfCount(&PerfContextBase::internal_key_skipped_count);
  if (options_.max_skippable_internal_keys == 0 ||
      skipped_ <= options_.max_skippable_internal_keys) {
    return true;
  }
  Fail(Status::Incomplete("too many internal keys skipped"));
  return false;
}

void DBIterator::CountStep(Steps* steps) {
  steps->made++;
  if (!valid_) return;
  steps->found++;
  bytes_shown_ += key().size() + value().size();
}

void DBIterator::ReportCounts() const {
  const auto report = [this](Tickers ticker, uint64_t count) {
    if (count > 0) statistics_->recordTick(ticker, count);
  };
  report(NO_ITERATOR_DELETED, 1);
  report(NUMBER_DB_SEEK, seeks_.made);
  report(NUMBER_DB_SEEK_FOUND, seeks_.found);
  report(NUMBER_DB_NEXT, nexts_.made);
  report(NUMBER_DB_NEXT_FOUND, nexts_.found);
  report(NUMBER_DB_PREV, prevs_.made);
  report(NUMBER_DB_PREV_FOUND, prevs_.found);
  report(ITER_BYTES_READ, bytes_shown_);
}

// True for tombstones; other kinds are values of features that are not there yet.
bool DBIterator::CheckKind(ValueType type) {
  if (type == kTypeDeletion || type == kTypeSingleDeletion) {
    AddPerfCount(&PerfContextBase::internal_delete_skipped_count);
    return true;
  }
  Fail(IsPointEntryType(type)
           ? Status::NotSupported(StrCat("iterator: entries of kind ", int{type},
                                         " are not supported by this version"))
           : Status::Corruption(StrCat("iterator: unknown kind of entry: ", int{type})));
  return false;
}

}  // namespace ashlar
