// SPDX-License-Identifier: Apache-2.0
//
// A range is replaced and not changed, except for two words; a replaced range is retired through
// the epoch. All ranges that grew from one range share the word that says whether it is broken, so
// a writer that still sees the old range also breaks the one that replaced it.
#include "memtable/empty_ranges.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {

struct EmptyRanges::Range : EpochRetired {
  std::string begin;
  std::string end;        // under watch up to here
  std::string known_end;  // empty up to here for readers at or above known_since
  SequenceNumber known_since = 0;
  // Writers with greater numbers see the watch. The greatest number until this is known.
  std::atomic<SequenceNumber> watched_since{kMaxSequenceNumber};
  std::shared_ptr<std::atomic<bool>> is_broken;

  bool IsBroken() const { return is_broken->load(std::memory_order_acquire); }
};

EmptyRanges::EmptyRanges(const InternalKeyComparator& comparator) : comparator_(comparator) {
  assert(comparator.user_comparator()->timestamp_size() == 0);
}

EmptyRanges::~EmptyRanges() {
  for (auto& place : places_) delete place.load(std::memory_order_relaxed);
}

bool EmptyRanges::Holds(const Range& range, const Slice& user_key, const Slice& end) const {
  return comparator_.OrderWithTimestamp(range.begin, user_key) <= 0 &&
         comparator_.OrderWithTimestamp(user_key, end) < 0;
}

void EmptyRanges::Break(const Slice& user_key) {
  const EpochGuard guard;
  for (const auto& place : places_) {
    const Range* const range = place.load(std::memory_order_acquire);
    if (range == nullptr || !Holds(*range, user_key, range->end)) continue;
    range->is_broken->store(true, std::memory_order_release);
  }
}

// Hot: a few loads if no range is known.
bool EmptyRanges::FindEnd(const Slice& user_key, SequenceNumber seqno, std::string* end) const {
  assert(end != nullptr);
  const EpochGuard guard;
  for (const auto& place : places_) {
    const Range* const range = place.load(std::memory_order_acquire);
    if (range == nullptr || seqno < range->known_since || range->known_end.empty()) continue;
    if (!Holds(*range, user_key, range->known_end) || range->IsBroken()) continue;
    *end = range->known_end;
    return true;
  }
  return false;
}

// The place of a range that the finding touches, else the place for a new range.
std::atomic<EmptyRanges::Range*>* EmptyRanges::PlaceOf(const Finding& finding) {
  std::atomic<Range*>* free = nullptr;
  for (auto& place : places_) {
    const Range* const range = place.load(std::memory_order_relaxed);
    if (range == nullptr || range->IsBroken()) {
      free = &place;
    } else if (comparator_.OrderWithTimestamp(finding.begin, range->end) <= 0 &&
               comparator_.OrderWithTimestamp(range->begin, finding.end) <= 0) {
      return &place;
    }
  }
  return free != nullptr ? free : &places_[next_++ % kPlaces];
}

void EmptyRanges::Replace(std::atomic<Range*>* place, std::unique_ptr<Range> range) {
  assert(place != nullptr);
  const bool is_there = range != nullptr;
  Range* const old = place->exchange(range.release(), std::memory_order_acq_rel);
  if (is_there && old == nullptr) count_.fetch_add(1, std::memory_order_acq_rel);
  if (!is_there && old != nullptr) count_.fetch_sub(1, std::memory_order_acq_rel);
  if (old != nullptr) EpochRetireDelete(old);
}

std::unique_ptr<EmptyRanges::Range> EmptyRanges::Grown(const Range& old,
                                                       const Finding& finding) const {
  const bool is_longer = comparator_.OrderWithTimestamp(old.end, finding.end) < 0;
  const bool begins_known = finding.begin == Slice(old.begin) ||
                            (!old.known_end.empty() && finding.seqno >= old.known_since &&
                             comparator_.OrderWithTimestamp(finding.begin, old.known_end) <= 0);
  const SequenceNumber watched_since = old.watched_since.load(std::memory_order_relaxed);
  const bool is_seen = comparator_.OrderWithTimestamp(old.end, finding.end) <= 0 && begins_known &&
                       finding.seqno >= watched_since;
  if (!is_longer && (!is_seen || old.known_end == old.end)) return nullptr;
  auto range = std::make_unique<Range>();
  range->begin = old.begin;
  range->end = is_longer ? finding.end.ToString() : old.end;
  range->known_end = is_seen ? old.end : old.known_end;
  range->known_since = is_seen ? finding.seqno : old.known_since;
  range->is_broken = old.is_broken;
  if (!is_longer) range->watched_since.store(watched_since, std::memory_order_relaxed);
  return range;
}

// If another thread holds the lock, the finding is dropped: it is only a hint.
void EmptyRanges::Learn(const Finding& finding,
                        const std::function<SequenceNumber()>& last_given_out) {
  const EpochGuard epoch;  // so that nothing is freed under the lock
  if (comparator_.OrderWithTimestamp(finding.begin, finding.end) >= 0 || !lock_.TryLock()) return;
  const SpinLockGuard guard(&lock_, AdoptLock());
  if (suspensions_ != 0 || finding.version < first_version_) return;
  std::atomic<Range*>* const place = PlaceOf(finding);
  const Range* const old = place->load(std::memory_order_relaxed);
  // A finding that begins earlier or is somewhere else starts a new range.
  const bool goes_on = old != nullptr && !old->IsBroken() &&
                       comparator_.OrderWithTimestamp(old->begin, finding.begin) <= 0 &&
                       comparator_.OrderWithTimestamp(finding.begin, old->end) <= 0;
  std::unique_ptr<Range> range;
  if (goes_on) {
    range = Grown(*old, finding);
    if (range == nullptr) return;
  } else {
    range = std::make_unique<Range>();
    range->begin = finding.begin.ToString();
    range->end = finding.end.ToString();
    range->is_broken = std::make_shared<std::atomic<bool>>(false);
  }
  Range* const published = range.get();
  Replace(place, std::move(range));
  if (published->watched_since.load(std::memory_order_relaxed) != kMaxSequenceNumber) return;
  published->watched_since.store(last_given_out(), std::memory_order_relaxed);
}

// Readers that have found a range empty before may use it: what they see does not change.
void EmptyRanges::Suspend() {
  const EpochGuard epoch;  // so that nothing is freed under the lock
  const SpinLockGuard guard(&lock_);
  ++suspensions_;
  for (auto& place : places_) {
    const Range* const range = place.load(std::memory_order_relaxed);
    if (range == nullptr) continue;
    range->is_broken->store(true, std::memory_order_release);
    Replace(&place, nullptr);
  }
}

void EmptyRanges::Resume(uint64_t version) {
  const SpinLockGuard guard(&lock_);
  assert(suspensions_ > 0);
  --suspensions_;
  first_version_ = std::max(first_version_, version);
}

[[gnu::cold]] std::string EmptyRanges::DebugString() const {
  const EpochGuard guard;
  std::string text;
  for (const auto& place : places_) {
    const Range* const range = place.load(std::memory_order_acquire);
    if (range == nullptr) continue;
    StrAppend(&text, "from ", Slice(range->begin).ToString(true), " to ",
              Slice(range->end).ToString(true), range->IsBroken() ? ", broken" : "", ", known to ",
              Slice(range->known_end).ToString(true), " since ", range->known_since, "\n");
  }
  return text;
}

}  // namespace ashlar
