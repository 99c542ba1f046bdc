// SPDX-License-Identifier: Apache-2.0
//
// The fragments are built by a sweep over the tombstones in the order of their begins. A tombstone
// that has begun and not ended is active. The numbers of the active tombstones are the numbers of
// the next fragment, which ends where the next tombstone begins or the first active one ends. If
// the tombstones are fragments already, as in every file written by a flush or a compaction, no
// sweep is needed.
#include "table/range_del/fragmented_tombstones.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <utility>

#include "util/invariants.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

struct ByBegin {
  const InternalKeyComparator& order;
  // Not inline, because std::sort would make a dozen copies of this code.
  [[gnu::noinline]] bool operator()(const RangeTombstone& a, const RangeTombstone& b) const {
    const int by_begin = order.OrderWithoutTimestamp(a.begin, b.begin);
    return by_begin != 0 ? by_begin < 0 : a.seqno > b.seqno;
  }
};

// True if the tombstones, which are sorted by ByBegin, are pairwise equal or disjoint.
bool AreFragments(const InternalKeyComparator& order, std::span<const RangeTombstone> tombstones) {
  for (size_t i = 1; i < tombstones.size(); i++) {
    // Only neighbours are compared: with the order by begin, an overlap shows at the next
    // tombstone.
    const RangeTombstone& a = tombstones[i - 1];
    const RangeTombstone& b = tombstones[i];
    if (order.OrderWithoutTimestamp(a.end, b.begin) <= 0) continue;
    const bool coincide = order.SameKey(a.begin, b.begin) && order.SameKey(a.end, b.end);
    if (!coincide || a.seqno < b.seqno) return false;
  }
  return true;
}

}  // namespace

// The active tombstones of the sweep. Completed fragments go to Append().
class FragmentedTombstones::Sweep {
 public:
  explicit Sweep(FragmentedTombstones* out) : out_(*out), ends_later_{out->comparator_} {}

  // Adds the next tombstone in the order of their begins.
  void Add(const RangeTombstone& tombstone) {
    AdvanceTo(tombstone.begin);
    active_.push_back(tombstone);
    std::push_heap(active_.begin(), active_.end(), ends_later_);
    // The numbers stay in descending order, so a fragment gets them without sorting.
    seqnos_.insert(
        std::lower_bound(seqnos_.begin(), seqnos_.end(), tombstone.seqno, std::greater<>()),
        tombstone.seqno);
  }
  // Completes the fragments up to the last end.
  void Finish() {
    while (!active_.empty()) EndFirst();
  }

 private:
  int Order(const Slice& a, const Slice& b) const {
    return out_.comparator_.OrderWithoutTimestamp(a, b);
  }
  // Completes all fragments before `key`.
  void AdvanceTo(const Slice& key) {
    // Tombstones that end before the key are no longer active there.
    while (!active_.empty() && Order(active_.front().end, key) <= 0) EndFirst();
    // What is active covers the keys from the last border up to here.
    if (!active_.empty() && Order(from_, key) < 0) Emit(key);
    from_ = key;
  }
  // Completes the fragment up to the first end of an active tombstone, and removes this tombstone.
  void EndFirst() {
    assert(!active_.empty());
    const RangeTombstone& first = active_.front();
    if (Order(from_, first.end) < 0) Emit(first.end);
    from_ = first.end;
    const auto number =
        std::lower_bound(seqnos_.begin(), seqnos_.end(), first.seqno, std::greater<>());
    assert(number != seqnos_.end());
    assert(*number == first.seqno);
    seqnos_.erase(number);
    std::pop_heap(active_.begin(), active_.end(), ends_later_);
    assert(active_.size() == seqnos_.size() + 1);
    active_.pop_back();
  }
  // Appends the fragment [from_, end), which the active tombstones cover.
  void Emit(const Slice& end) {
    assert(!seqnos_.empty());
    assert(std::is_sorted(seqnos_.begin(), seqnos_.end(), std::greater<>()));
    distinct_.assign(seqnos_.begin(), seqnos_.end());
    distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
    out_.Append({from_, end, /*end_is_inclusive=*/false, distinct_});
  }

  struct EndsLater {
    const InternalKeyComparator& order;
    bool operator()(const RangeTombstone& a, const RangeTombstone& b) const {
      return order.OrderWithoutTimestamp(a.end, b.end) > 0;
    }
  };

  FragmentedTombstones& out_;
  const EndsLater ends_later_;
  Slice from_;                            // all fragments up to here are complete
  std::vector<RangeTombstone> active_;    // a heap; the tombstone that ends first is at the front
  std::vector<SequenceNumber> seqnos_;    // of active_; descending, with duplicates
  std::vector<SequenceNumber> distinct_;  // reused by Emit()
};

FragmentedTombstones::Border FragmentedTombstones::BorderOf(const Slice& smallest,
                                                            const Slice& largest) {
  return {ExtractUserKey(smallest), ExtractUserKey(largest),
          ExtractTrailer(largest) != kRangeTombstoneSentinel};
}

FragmentedTombstones::FragmentedTombstones(const InternalKeyComparator& comparator,
                                           std::vector<RangeTombstone> tombstones,
                                           const Border* border, std::shared_ptr<const void> memory)
    : comparator_(comparator), memory_(std::move(memory)) {
  std::vector<RangeTombstone> whole;
  if (comparator_.stamp_bytes() != 0) whole = tombstones;
  std::vector<SequenceNumber> last_key_seqnos;
  if (border != nullptr) {
    smallest_border_ = border->smallest.ToString();
    largest_border_ = border->largest.ToString();
    // Before the cut, which would make the largest key lie outside of every range.
    if (border->largest_is_inclusive) last_key_seqnos = TakeLastKey(tombstones);
    Cut(tombstones);
  }
  // Cut ranges may be empty, and so may those of a program.
  std::erase_if(tombstones, [&](const RangeTombstone& tombstone) {
    return comparator_.OrderWithoutTimestamp(tombstone.begin, tombstone.end) >= 0;
  });
  BuildFrom(std::move(tombstones));
  if (!last_key_seqnos.empty()) {
    Append({largest_border_, largest_border_, /*end_is_inclusive=*/true, last_key_seqnos});
  }
  if (comparator_.stamp_bytes() != 0) AssignStamps(std::move(whole));
  BuildHeads();
  assert(heads_.empty() || heads_.size() == fragments_.size());
  if constexpr (kChecksInvariants) StopUnless(CheckInvariants());
}

// Gives each sequence number of each fragment the timestamp of the tombstone that it came from. If
// several tombstones have the same number and cover the fragment, the smallest timestamp is taken.
void FragmentedTombstones::AssignStamps(std::vector<RangeTombstone> whole) {
  for (RangeTombstone& tombstone : whole) {
    if (tombstone.stamp.empty()) tombstone.stamp = comparator_.StampOf(tombstone.begin);
  }
  std::sort(whole.begin(), whole.end(),
            [](const RangeTombstone& a, const RangeTombstone& b) { return a.seqno < b.seqno; });
  stamps_.assign(seqnos_.size(), Slice());
  for (size_t i = 0; i < fragments_.size(); i++) {
    const Fragment f = fragment(i);
    for (size_t n = 0; n < f.seqnos.size(); n++) {
      Slice& stamp = stamps_[fragments_[i].seqno + n];
      auto same = std::lower_bound(
          whole.begin(), whole.end(), f.seqnos[n],
          [](const RangeTombstone& tombstone, SequenceNumber s) { return tombstone.seqno < s; });
      for (bool is_first = true; same != whole.end() && same->seqno == f.seqnos[n]; ++same) {
        if (comparator_.OrderWithoutTimestamp(same->begin, f.begin) > 0) continue;
        if (comparator_.OrderWithoutTimestamp(f.begin, same->end) >= 0) continue;
        if (is_first || comparator_.OrderOfStamps(same->stamp, stamp) < 0) stamp = same->stamp;
        is_first = false;
      }
    }
  }
}

// Cut() cannot express an inclusive end, so the numbers for the largest key are collected before.
std::vector<SequenceNumber> FragmentedTombstones::TakeLastKey(
    std::span<const RangeTombstone> tombstones) const {
  std::vector<SequenceNumber> seqnos;
  for (const RangeTombstone& tombstone : tombstones) {
    // The end of a tombstone is exclusive, so it must lie behind the largest key.
    if (comparator_.OrderWithoutTimestamp(tombstone.end, largest_border_) > 0 &&
        comparator_.OrderWithoutTimestamp(tombstone.begin, largest_border_) <= 0) {
      seqnos.push_back(tombstone.seqno);
    }
  }
  std::sort(seqnos.begin(), seqnos.end(), std::greater<>());
  seqnos.erase(std::unique(seqnos.begin(), seqnos.end()), seqnos.end());
  return seqnos;
}

// A tombstone outside of the border becomes empty, and the caller removes it.
void FragmentedTombstones::Cut(std::span<RangeTombstone> tombstones) const {
  for (RangeTombstone& tombstone : tombstones) {
    if (comparator_.OrderWithoutTimestamp(tombstone.begin, smallest_border_) < 0) {
      tombstone.begin = smallest_border_;
    }
    if (comparator_.OrderWithoutTimestamp(tombstone.end, largest_border_) > 0) {
      tombstone.end = largest_border_;
    }
  }
}

// Tables that this engine wrote contain fragments already, and these only have to be grouped by
// their begin. Other tombstones may overlap and are cut by a sweep.
void FragmentedTombstones::BuildFrom(std::vector<RangeTombstone> tombstones) {
  assert(fragments_.empty());
  const ByBegin comes_first{comparator_};
  if (!std::is_sorted(tombstones.begin(), tombstones.end(), comes_first)) {
    std::sort(tombstones.begin(), tombstones.end(), comes_first);
  }
  fragments_.reserve(tombstones.size());
  seqnos_.reserve(tombstones.size());
  if (!AreFragments(comparator_, tombstones)) {
    Sweep sweep(this);
    for (const RangeTombstone& tombstone : tombstones) sweep.Add(tombstone);
    sweep.Finish();
    return;
  }
  // Grouping: all tombstones with the same begin have the same end, and become one fragment.
  std::vector<SequenceNumber> seqnos;
  for (size_t i = 0; i < tombstones.size();) {
    const RangeTombstone& first = tombstones[i];
    seqnos.assign(1, first.seqno);
    for (i++; i < tombstones.size(); i++) {
      if (!comparator_.SameKey(first.begin, tombstones[i].begin)) break;
      if (tombstones[i].seqno != seqnos.back()) seqnos.push_back(tombstones[i].seqno);
    }
    Append({first.begin, first.end, /*end_is_inclusive=*/false, seqnos});
  }
}

void FragmentedTombstones::Append(const Fragment& fragment) {
  assert(!last_is_inclusive_);
  assert(!fragment.seqnos.empty());
  assert(std::is_sorted(fragment.seqnos.begin(), fragment.seqnos.end(), std::greater<>()));
  if (!fragments_.empty()) {
    const Fragment last = this->fragment(fragments_.size() - 1);
    assert(comparator_.OrderWithoutTimestamp(last.end, fragment.begin) <= 0);
    // Equal numbers of a stamped family may still have different timestamps.
    // Two neighbours with the same numbers hide the same, so they become one fragment.
    if (comparator_.stamp_bytes() == 0 && comparator_.SameKey(last.end, fragment.begin) &&
        std::ranges::equal(last.seqnos, fragment.seqnos)) {
      fragments_.back().end_data = fragment.end.data();
      fragments_.back().end_bytes = static_cast<uint32_t>(fragment.end.size());
      last_is_inclusive_ = fragment.end_is_inclusive;
      return;
    }
  }
  if (fragments_.empty()) smallest_seqno_ = fragment.seqnos.back();
  smallest_seqno_ = std::min(smallest_seqno_, fragment.seqnos.back());
  largest_seqno_ = std::max(largest_seqno_, fragment.seqnos.front());
  fragments_.push_back({fragment.begin.data(), fragment.end.data(),
                        static_cast<uint32_t>(fragment.begin.size()),
                        static_cast<uint32_t>(fragment.end.size()), seqnos_.size()});
  seqnos_.insert(seqnos_.end(), fragment.seqnos.begin(), fragment.seqnos.end());
  last_is_inclusive_ = fragment.end_is_inclusive;
}

void FragmentedTombstones::BuildHeads() {
  assert(heads_.empty());
  if (comparator_.order() == KeyOrder::kCustom || fragments_.empty()) return;
  // The begins ascend, so the common prefix of the first and the last one is common to all.
  const Slice first = fragments_.front().begin();
  prefix_bytes_ = first.difference_offset(fragments_.back().begin());
  heads_.reserve(fragments_.size());
  for (const Place& place : fragments_) heads_.push_back(HeadOf(place.begin()));
}

// The index of the first fragment that begins after the key. heads_ has the first bytes of each
// begin behind the common prefix, as numbers: they narrow the search before any key is compared.
size_t FragmentedTombstones::FindBehind(const Slice& user_key) const {
  size_t low = 0, high = fragments_.size();
  if (!heads_.empty()) {
    const size_t shared = std::min(prefix_bytes_, user_key.size());
    // A key with another prefix lies before or behind all begins.
    const Slice prefix(fragments_.front().begin_data, prefix_bytes_);
    const int side = comparator_.OrderWithoutTimestamp(Slice(user_key.data(), shared), prefix);
    if (side != 0) return side < 0 ? 0 : fragments_.size();
    const uint64_t head = HeadOf(user_key);
    const auto equal = std::equal_range(heads_.begin(), heads_.end(), head);
    low = static_cast<size_t>(equal.first - heads_.begin());
    assert(low <= high && high <= fragments_.size());
    high = static_cast<size_t>(equal.second - heads_.begin());
  }
  while (low < high) {
    // Invariant: fragments below `low` begin at or before the key, those from `high` on behind it.
    const size_t middle = low + (high - low) / 2;
    if (comparator_.OrderWithoutTimestamp(fragments_[middle].begin(), user_key) <= 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

size_t FragmentedTombstones::Find(const Slice& user_key) const {
  const size_t behind = FindBehind(user_key);
  assert(behind <= fragments_.size());
  if (behind == 0) return 0;
  const int order = comparator_.OrderWithoutTimestamp(user_key, fragments_[behind - 1].end());
  if (order < 0) return behind - 1;
  const bool is_last_key = order == 0 && last_is_inclusive_ && behind == fragments_.size();
  return is_last_key ? behind - 1 : behind;
}

SequenceNumber FragmentedTombstones::MaxSeqno(size_t index, SequenceNumber upper_seqno) const {
  assert(index < fragments_.size());
  const std::span<const SequenceNumber> seqnos = fragment(index).seqnos;
  if (seqnos.front() <= upper_seqno) [[likely]]
    return seqnos.front();
  // The greatest number that the reader may see; the list descends.
  const auto seen = std::lower_bound(seqnos.begin(), seqnos.end(), upper_seqno, std::greater<>());
  return seen == seqnos.end() ? 0 : *seen;
}

SequenceNumber FragmentedTombstones::MaxSeqnoAt(size_t index, SequenceNumber upper_seqno,
                                                const Slice& upper_stamp, bool below) const {
  assert(index < fragments_.size());
  const Fragment f = fragment(index);
  assert(f.stamps.size() == f.seqnos.size());
  // From the newest to the oldest number; the first one that the timestamp permits is the answer.
  for (size_t i = 0; i < f.seqnos.size(); i++) {
    if (f.seqnos[i] > upper_seqno) continue;
    const int order = comparator_.OrderOfStamps(f.stamps[i], upper_stamp);
    if (order < 0 || (order == 0 && !below)) return f.seqnos[i];
  }
  return 0;
}

SequenceNumber FragmentedTombstones::MaxCoveringSeqno(const Slice& user_key,
                                                      SequenceNumber upper_seqno) const {
  const size_t index = Find(user_key);
  // A fragment that begins behind the key does not cover it.
  if (index == fragments_.size() || !BeginsAtOrBefore(index, user_key)) return 0;
  return MaxSeqno(index, upper_seqno);
}

void FragmentedTombstones::AppendTo(std::vector<RangeTombstone>* tombstones) const {
  assert(tombstones != nullptr);
  for (size_t i = 0; i < size(); i++) {
    const Fragment f = fragment(i);
    for (size_t n = 0; n < f.seqnos.size(); n++) {
      const Slice stamp = f.stamps.empty() ? Slice() : f.stamps[n];
      tombstones->push_back({f.begin, f.end, f.seqnos[n], stamp});
    }
  }
}

size_t FragmentedTombstones::MemoryUsage() const {
  return sizeof(*this) + fragments_.capacity() * sizeof(Place) +
         seqnos_.capacity() * sizeof(SequenceNumber) + heads_.capacity() * sizeof(uint64_t);
}

[[gnu::cold]] std::string FragmentedTombstones::DebugString() const {
  std::string out;
  for (size_t i = 0; i < size(); i++) {
    const Fragment f = fragment(i);
    StrAppend(&out, "[", f.begin.ToString(), ", ", f.end.ToString(),
              f.end_is_inclusive ? "]" : ")");
    for (const SequenceNumber seqno : f.seqnos) StrAppend(&out, " ", seqno);
    StrAppend(&out, "\n");
  }
  return out;
}

[[gnu::cold]] Status FragmentedTombstones::CheckInvariants() const {
  for (size_t i = 0; i < size(); i++) {
    const Fragment f = fragment(i);
    const auto broken = [&](const char* what) {
      return Status::Corruption("range tombstones",
                                StrCat("fragment ", i, " at '", f.begin.ToString(), "' ", what));
    };
    if (f.seqnos.empty()) return broken("has no number");
    if (std::ranges::adjacent_find(f.seqnos, std::less_equal<>()) != f.seqnos.end()) {
      return broken("has numbers that do not descend");
    }
    const int width = comparator_.OrderWithoutTimestamp(f.begin, f.end);
    if (width > 0 || (width == 0 && !f.end_is_inclusive)) return broken("is empty");
    if (i + 1 == size()) continue;
    const Fragment next = fragment(i + 1);
    const int gap = comparator_.OrderWithoutTimestamp(f.end, next.begin);
    if (gap > 0) return broken("overlaps the next one");
    if (gap == 0 && f.stamps.empty() && std::ranges::equal(f.seqnos, next.seqnos))
      return broken("goes on in the next one");
  }
  return Status::OK();
}

}  // namespace ashlar
