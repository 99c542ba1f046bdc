// SPDX-License-Identifier: Apache-2.0
//
// Ranges are replaced, never changed, but for two words; a replaced one is retired through the
// epoch. All that grew from one range share the word that says whether it is broken: a writer that
// still looks at the one before breaks the one that took its place.
#include "memtable/empty_ranges.h"

#include <cassert>
#include <utility>

#include "util/epoch.h"
#include "util/str_cat.h"

namespace ashlar {

struct EmptyRanges::Range : EpochRetired {
  std::string begin;
  std::string end;        // under watch up to here
  std::string known_end;  // empty up to here, for readers at or above known_since
  SequenceNumber known_since = 0;
  // Writers above it see the watch; the greatest number until that is known.
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

bool EmptyRanges::FindEnd(const Slice& user_key, SequenceNumber seqno, std::string* end) const {
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

// Where a range is that touches [begin, end], else where one may come.
std::atomic<EmptyRanges::Range*>* EmptyRanges::PlaceOf(const Slice& begin, const Slice& end) {
  std::atomic<Range*>* free = nullptr;
  for (auto& place : places_) {
    const Range* const range = place.load(std::memory_order_relaxed);
    if (range == nullptr) {
      free = &place;
    } else if (comparator_.OrderWithTimestamp(begin, range->end) <= 0 &&
               comparator_.OrderWithTimestamp(range->begin, end) <= 0) {
      return &place;
    }
  }
  return free != nullptr ? free : &places_[next_++ % kPlaces];
}

void EmptyRanges::Replace(std::atomic<Range*>* place, std::unique_ptr<Range> range) {
  const bool is_there = range != nullptr;
  Range* const old = place->exchange(range.release(), std::memory_order_acq_rel);
  if (is_there && old == nullptr) count_.fetch_add(1, std::memory_order_acq_rel);
  if (!is_there && old != nullptr) count_.fetch_sub(1, std::memory_order_acq_rel);
  if (old != nullptr) EpochRetireDelete(old);
}

void EmptyRanges::Learn(const Slice& begin, const Slice& end, SequenceNumber seqno,
                        const std::function<SequenceNumber()>& last_given_out) {
  if (comparator_.OrderWithTimestamp(begin, end) >= 0) return;
  std::atomic<Range*>* const place = PlaceOf(begin, end);
  const Range* const old = place->load(std::memory_order_relaxed);
  auto range = std::make_unique<Range>();
  // What begins earlier, or lies elsewhere, begins anew.
  const bool goes_on = old != nullptr && !old->IsBroken() &&
                       comparator_.OrderWithTimestamp(old->begin, begin) <= 0 &&
                       comparator_.OrderWithTimestamp(begin, old->end) <= 0;
  SequenceNumber watched_since = kMaxSequenceNumber;
  if (goes_on) {
    const bool is_longer = comparator_.OrderWithTimestamp(old->end, end) < 0;
    const bool begins_known = Slice(begin) == Slice(old->begin) ||
                              (!old->known_end.empty() && seqno >= old->known_since &&
                               comparator_.OrderWithTimestamp(begin, old->known_end) <= 0);
    const bool is_seen = comparator_.OrderWithTimestamp(old->end, end) <= 0 && begins_known &&
                         seqno >= old->watched_since.load(std::memory_order_relaxed);
    if (!is_longer && (!is_seen || old->known_end == old->end)) return;
    range->begin = old->begin;
    range->end = is_longer ? end.ToString() : old->end;
    range->known_end = is_seen ? old->end : old->known_end;
    range->known_since = is_seen ? seqno : old->known_since;
    range->is_broken = old->is_broken;
    if (!is_longer) watched_since = old->watched_since.load(std::memory_order_relaxed);
  } else {
    range->begin = begin.ToString();
    range->end = end.ToString();
    range->is_broken = std::make_shared<std::atomic<bool>>(false);
  }
  range->watched_since.store(watched_since, std::memory_order_relaxed);
  Range* const published = range.get();
  Replace(place, std::move(range));
  if (watched_since != kMaxSequenceNumber) return;
  published->watched_since.store(last_given_out(), std::memory_order_relaxed);
}

// Readers that have found a range empty may go on: what they see, they saw before.
void EmptyRanges::Forget() {
  for (auto& place : places_) {
    const Range* const range = place.load(std::memory_order_relaxed);
    if (range == nullptr) continue;
    range->is_broken->store(true, std::memory_order_release);
    Replace(&place, nullptr);
  }
}

std::string EmptyRanges::DebugString() const {
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
