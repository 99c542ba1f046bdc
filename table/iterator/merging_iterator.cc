// SPDX-License-Identifier: Apache-2.0
//
// The heap behind the inline steps, changes of direction, and range tombstones.
//
// When the direction changes, the current child stays where it is, and every other child is moved
// to its neighbour of the current key in the new direction. For equal keys, the index of a child
// decides on which side of the current entry it is.
//
// With tombstones the merge goes from slab to slab (tombstone_slab.h). A child that comes to the
// front inside a slab that hides it is parked. When the merge leaves the slab, or no entry is left
// in it, the next slab is built at the end of this one: run by run from the newest, children are
// merged again and asked for their tombstones, until one covers the new slab; older children stay
// parked. So a child that is hidden by several tombstones in a row, even of different runs, is
// moved only once, when it becomes visible again; and a child that is never visible is never moved.
#include "table/iterator/merging_iterator.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "util/statistics/perf_level_impl.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// A few hidden entries are passed faster with steps than with a seek.
constexpr int kStepsBeforeSeek = 12;

}  // namespace

MergingIterator::MergingIterator(const InternalKeyComparator* comparator, SortedRuns runs)
    : slab_(*comparator),
      comparator_(*comparator),
      children_home_(runs.home),
      lower_bound_(runs.lower_bound),
      upper_bound_(runs.upper_bound) {
  heap_.reserve(runs.runs.size());
  children_.reserve(runs.runs.size());
  for (const SortedRun& run : runs.runs) {
    assert(run.points != nullptr);
    children_.push_back({.points = run.points, .tombstones = run.tombstones});
    // A run without tombstones needs no further checks during the merge.
    if (run.tombstones == nullptr) continue;
    run.tombstones->Watch(this);
    has_tombstones_ = has_tombstones_ || run.tombstones->HasAny();
  }
}

MergingIterator::~MergingIterator() {
  // Children may live in an arena, so they are destroyed where they were made.
  for (const Child& child : children_) DestroyRun({child.points, child.tombstones}, children_home_);
}

void MergingIterator::SeekToFirst() {
  PositionAll<Direction::kForward>([](InternalIterator* child) { child->SeekToFirst(); });
}
void MergingIterator::SeekToLast() {
  PositionAll<Direction::kReverse>([](InternalIterator* child) { child->SeekToLast(); });
}
void MergingIterator::Seek(const Slice& internal_key) {
  Restart(Direction::kForward);
  SeekTogether(internal_key);
}
void MergingIterator::SeekForPrev(const Slice& internal_key) {
  if (has_tombstones_) return SeekBackUnderTombstones(internal_key);
  PositionAll<Direction::kReverse>(
      [&](InternalIterator* child) { child->SeekForPrev(internal_key); });
}

// Afterwards no child is current or in the heap, and the slab must be built again.
void MergingIterator::Restart(Direction direction) {
  status_ = Status::OK();
  current_ = Run();
  heap_.clear();
  direction_ = direction;
  // Without tombstones there is no slab, and every child is always merged.
  if (!has_tombstones_) return;
  slab_.Clear();
  is_stale_ = true;
  for (const Child& child : children_) {
    if (child.tombstones != nullptr) child.tombstones->Restart();
  }
}

// Moves every child by `position`, then builds the heap. If a child has failed, Admit() has
// recorded its error and the iterator is not valid.
template <MergingIterator::Direction kDirection, typename Position>
void MergingIterator::PositionAll(const Position& position) {
  Restart(kDirection);
  AddPerfCount(&PerfContextBase::seek_child_seek_count, children_.size());
  {
    const PerfTimer timer(&PerfContextBase::seek_child_seek_time);
    for (uint32_t i = 0; i < children_.size(); ++i) {
      children_[i].place = Place::kMerged;
      position(children_[i].points);
      // An error ends the seek; what the children behind it would show does not matter.
      if (!Admit(i)) return;
    }
  }
  StartMerge<kDirection>();
}

template <MergingIterator::Direction kDirection>
void MergingIterator::StartMerge() {
  const PerfTimer timer(kDirection == Direction::kForward ? &PerfContextBase::seek_min_heap_time
                                                          : &PerfContextBase::seek_max_heap_time);
  OrderHeap<kDirection>();
  if (!heap_.empty()) TakeRunnerUp<kDirection>();
  if (has_tombstones_) return FindVisible<kDirection>();
  SetLimit<kDirection>();
}

void MergingIterator::SeekTogether(const Slice& target) {
  using Step = InternalIterator::SeekStep;
  {
    const PerfTimer timer(&PerfContextBase::seek_child_seek_time);
    // All children that are visible here begin their reads before any of them is waited for.
    const uint32_t count = FindBlocks(target);
    AddPerfCount(&PerfContextBase::seek_child_seek_count, count);
    for (const Step step : {Step::kFetchBlock, Step::kEnterBlock}) {
      // With one child there is no other work during the fetch.
      if (count == 1 && step == Step::kFetchBlock) continue;
      for (uint32_t i = 0; i < count; ++i) children_[i].points->BeginSeek(target, step);
    }
    for (uint32_t i = 0; i < count; ++i) {
      children_[i].points->EndSeek(target);
      if (!Admit(i)) return;
    }
  }
  StartMerge<Direction::kForward>();
}

// If the seek of a child ends in another file, with tombstones that were not known here,
// OnTombstonesMet() makes the slab stale.
uint32_t MergingIterator::FindBlocks(const Slice& target) {
  assert(heap_.empty());
  assert(!Valid());
  const KeyPosition at{ExtractUserKey(target), /*is_behind=*/false};
  const auto child_count = static_cast<uint32_t>(children_.size());
  uint32_t count = 0;
  for (bool is_covered = false; count < child_count && !is_covered; ++count) {
    Child& child = children_[count];
    child.place = Place::kMerged;
    child.points->BeginSeek(target, InternalIterator::SeekStep::kFindBlock);
    if (!has_tombstones_ || child.tombstones == nullptr) continue;
    // If this run covers the position, everything older is hidden there and needs no seek.
    is_covered = slab_.Narrow(count, child.tombstones->StretchFrom(at), /*is_forward=*/true);
  }
  for (uint32_t i = count; i < child_count; ++i) children_[i].place = Place::kUnplaced;
  if (has_tombstones_) slab_.Close();
  is_stale_ = false;
  return count;
}

void MergingIterator::AddNewest(InternalIterator* child) {
  assert(child != nullptr);
  children_.insert(children_.begin(), {.points = child, .tombstones = nullptr});
  heap_.reserve(children_.size());
  Restart(Direction::kForward);
}

void MergingIterator::PlaceNewest(const Slice& internal_key) {
  direction_ == Direction::kForward ? PlaceNewest<Direction::kForward>(internal_key)
                                    : PlaceNewest<Direction::kReverse>(internal_key);
}

// No tombstone hides the newest child, so it stays merged in every slab.
template <MergingIterator::Direction kDirection>
void MergingIterator::PlaceNewest(const Slice& internal_key) {
  assert(status_.ok());
  assert(!children_.empty());
  assert(children_[0].tombstones == nullptr);
  assert(children_[0].place == Place::kMerged);
  // The newest child leaves the heap, because its position is about to change.
  std::erase_if(heap_, [](const Run& run) { return run.index == 0; });
  // The current child goes back to the heap, so that the newest one can come before it.
  if (Valid() && current_.index != 0) {
    current_.head = Head(*current_.iterator);
    heap_.push_back(current_);
  }
  current_ = Run();
  InternalIterator* const newest = children_[0].points;
  kDirection == Direction::kForward ? newest->Seek(internal_key)
                                    : newest->SeekForPrev(internal_key);
  if (Admit(0)) StartMerge<kDirection>();
}

bool MergingIterator::OfferBlock(PassedBlock* block) {
  assert(EntersBlock());
  assert(direction_ == Direction::kForward);
  if (heap_.empty()) return current_.iterator->OfferBlock(nullptr, block);
  // The block may be taken whole only if all its keys come before the next child's key.
  const Slice next = ExtractUserKey(heap_.front().iterator->key());
  return current_.iterator->OfferBlock(&next, block);
}

// The current child stays where it is; every other child is moved to the first entry beyond it in
// the new direction. Returns false if that failed.
template <MergingIterator::Direction kDirection>
bool MergingIterator::SwitchDirection() {
  assert(Valid());
  assert(direction_ != kDirection);
  const Run current = current_;
  const Slice key = current.iterator->key();
  position_key_.assign(key.data(), key.size());
  Restart(kDirection);
  current_ = current;
  if (has_tombstones_) {
    current_.head = Head(*current.iterator);
    for (Child& child : children_) child.place = Place::kUnplaced;
    children_[current.index].place = Place::kMerged;
    const KeyPosition at{ExtractUserKey(position_key_), kDirection == Direction::kReverse};
    const auto place = [this](uint32_t i) { PlaceBesideCurrent<kDirection>(i); };
    if (!EnterSlab<kDirection>(at, place)) return false;
    assert(current_.index == current.index);
  } else {
    for (uint32_t i = 0; i < children_.size(); ++i) {
      if (i == current.index) continue;
      PlaceBesideCurrent<kDirection>(i);
      if (!Admit(i)) return false;
    }
    OrderHeap<kDirection>();
  }
  SetLimit<kDirection>();
  return true;
}

// The current key is in position_key_, because the current child may be at its end already.
template <MergingIterator::Direction kDirection>
void MergingIterator::PlaceBesideCurrent(uint32_t index) {
  assert(index != current_.index);
  InternalIterator* const child = children_[index].points;
  const Slice key = position_key_;
  const auto holds_same_key = [&] {
    return child->Valid() && comparator_.Compare(child->key(), key) == 0;
  };
  // If two children have the same key, the child with the lower index comes first.
  if constexpr (kDirection == Direction::kForward) {
    child->Seek(key);
    if (index < current_.index && holds_same_key()) child->Next();
  } else {
    child->SeekForPrev(key);
    if (index > current_.index && holds_same_key()) child->Prev();
  }
}

// The order of the heap is restored by the caller.
bool MergingIterator::Admit(uint32_t index) {
  assert(children_[index].place == Place::kMerged);
  InternalIterator* const child = children_[index].points;
  if (child->Valid()) {
    heap_.push_back({.head = Head(*child), .iterator = child, .index = index});
    return true;
  }
  Status status = child->status();
  if (status.ok()) return true;
  Fail(status);
  return false;
}

void MergingIterator::Fail(const Status& status) {
  assert(!status.ok());
  status_ = status;
  current_ = Run();
  heap_.clear();
}

template <MergingIterator::Direction kDirection>
void MergingIterator::OrderHeap() {
  // From the last parent up, so that each subtree is a heap when its parent is placed.
  for (size_t i = heap_.size() / 2; i-- > 0;) SiftDown<kDirection>(i, Run(heap_[i]));
}

// Removes the first child from the heap and makes it the current one.
template <MergingIterator::Direction kDirection>
void MergingIterator::TakeRunnerUp() {
  assert(!heap_.empty());
  assert(heap_.front().iterator->Valid());
  current_ = heap_.front();
  const Run last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) SiftDown<kDirection>(0, last);
}

template <MergingIterator::Direction kDirection>
void MergingIterator::Settle() {
  if (Rank<kDirection>() && has_tombstones_) [[unlikely]]
    FindVisible<kDirection>();
}

// The limit considers only the heap here; with tombstones FindVisible() sets it again.
template <MergingIterator::Direction kDirection>
bool MergingIterator::Rank() {
  if (current_.iterator->Valid()) {
    // Most steps stay in the same run, so the heap is only looked at.
    if (heap_.empty() || ComesFirst<kDirection>(current_, heap_.front())) return true;
    const Run moved = current_;
    current_ = heap_.front();
    SiftDown<kDirection>(0, moved);
    limit_ = heap_.front().head;
    return true;
  }
  Status status = current_.iterator->status();
  if (!status.ok()) {
    Fail(status);
    return false;
  }
  current_ = Run();
  if (!heap_.empty()) TakeRunnerUp<kDirection>();
  SetLimit<kDirection>();
  return true;
}

// If the run of the current child covers the slab itself, each of its entries must be checked; so
// must the next entry after a child has found new tombstones.
template <MergingIterator::Direction kDirection>
void MergingIterator::SetLimit() {
  constexpr bool kForward = kDirection == Direction::kForward;
  if (!Valid()) return;
  const bool is_covered = has_tombstones_ && current_.index == slab_.covering_run();
  const bool has_slab_end = has_tombstones_ && slab_.has_end();
  const bool looks_at_all = is_covered || is_stale_;
  // Without other children and without an end of the slab nothing can come before the next entry.
  is_alone_ = heap_.empty() && !looks_at_all && !has_slab_end;
  limit_ = kForward ? UINT64_MAX : 0;
  if (!heap_.empty()) limit_ = heap_.front().head;
  if (has_slab_end) {
    const uint64_t head = slab_.end_head();
    limit_ = kForward ? std::min(limit_, head) : std::max(limit_, head);
  }
  if (looks_at_all) limit_ = kForward ? 0 : UINT64_MAX;
}

template <MergingIterator::Direction kDirection>
bool MergingIterator::ComesFirst(const Run& a, const Run& b) const {
  assert(a.iterator != b.iterator);
  constexpr bool kForward = kDirection == Direction::kForward;
  // The heads are the first bytes of the keys as numbers, so most comparisons end here.
  if (a.head != b.head) return (a.head < b.head) == kForward;
  const int order = comparator_.Compare(a.iterator->key(), b.iterator->key());
  if (order != 0) return (order < 0) == kForward;
  return (a.index < b.index) == kForward;
}

// Moves up the children that come before `run`, and puts `run` into the place that becomes free.
template <MergingIterator::Direction kDirection>
void MergingIterator::SiftDown(size_t hole, const Run& run) {
  const size_t count = heap_.size();
  assert(hole < count);
  for (size_t child = 2 * hole + 1; child < count; child = 2 * hole + 1) {
    if (child + 1 < count && ComesFirst<kDirection>(heap_[child + 1], heap_[child])) ++child;
    if (!ComesFirst<kDirection>(heap_[child], run)) break;
    heap_[hole] = heap_[child];
    hole = child;
  }
  heap_[hole] = run;
}

// The rest deals with range tombstones.

// A child moved to a file with tombstones. The limit makes sure that the entry of the present step
// is checked.
void MergingIterator::OnTombstonesMet() {
  has_tombstones_ = true;
  is_stale_ = true;
  is_alone_ = false;
  limit_ = direction_ == Direction::kForward ? 0 : UINT64_MAX;
}

void MergingIterator::SeekBackUnderTombstones(const Slice& target) {
  // Children are placed slab by slab, so nothing is moved for older runs that are hidden.
  Restart(Direction::kReverse);
  for (Child& child : children_) child.place = Place::kUnplaced;
  const KeyPosition at{ExtractUserKey(target), /*is_behind=*/true};
  const auto place = [&](uint32_t i) {
    AddPerfCount(&PerfContextBase::seek_child_seek_count);
    const PerfTimer timer(&PerfContextBase::seek_child_seek_time);
    children_[i].points->SeekForPrev(target);
  };
  if (EnterSlab<Direction::kReverse>(at, place)) FindVisible<Direction::kReverse>();
}

template <MergingIterator::Direction kDirection>
void MergingIterator::FindVisible() {
  assert(has_tombstones_);
  for (;;) {
    if (IsPastSlab<kDirection>()) {
      if (!slab_.has_end()) return;  // the end of all runs
      if (EndIsOutOfBounds<kDirection>()) {
        current_ = Run();
        // The rest is beyond the bound of the reader, so the iterator is at its end.
        return;
      }
      if (!EnterNextSlab<kDirection>()) return;
    } else if (is_stale_) {
      const Slice user_key = ExtractUserKey(current_.iterator->key());
      position_key_.assign(user_key.data(), user_key.size());
      const KeyPosition at{position_key_, kDirection == Direction::kReverse};
      const auto place = [&](uint32_t i) { SeekTo<kDirection>(children_[i].points, at); };
      if (!EnterSlab<kDirection>(at, place)) return;
    } else if (current_.index > slab_.covering_run()) {
      // Hidden by a newer run in the whole slab: it is not moved until the slab ends.
      children_[current_.index].place = Place::kParked;
      current_ = Run();
      if (!heap_.empty()) TakeRunnerUp<kDirection>();
    } else if (current_.index == slab_.covering_run() &&
               TrailerSeqno(ExtractTrailer(current_.iterator->key())) < slab_.seqno()) {
      // Of the covering run itself only entries that are newer than the tombstone are visible.
      ++hidden_steps_;
      kDirection == Direction::kForward ? current_.iterator->Next() : current_.iterator->Prev();
      if (current_.iterator->Valid()) current_.head = Head(*current_.iterator);
      if (!Rank<kDirection>()) return;
    } else {
      break;
    }
  }
  SetLimit<kDirection>();
}

template <MergingIterator::Direction kDirection>
bool MergingIterator::IsPastSlab() const {
  if (!Valid()) return true;
  if (!slab_.has_end()) return false;
  const Slice user_key = ExtractUserKey(current_.iterator->key());
  const bool is_before_end = slab_.EntryIsBeforeEnd(user_key, comparator_.Head(user_key));
  return is_before_end == (kDirection == Direction::kReverse);
}

// Entries in the slabs behind such an end do not need to be shown.
template <MergingIterator::Direction kDirection>
bool MergingIterator::EndIsOutOfBounds() const {
  const Slice* const bound = kDirection == Direction::kForward ? upper_bound_ : lower_bound_;
  // Without a bound every slab may have entries to show.
  if (bound == nullptr) return false;
  const KeyPosition end{*bound, /*is_behind=*/false};
  const int order = KeyPosition::Compare(comparator_, slab_.end(), end);
  return kDirection == Direction::kForward ? order >= 0 : order <= 0;
}

template <MergingIterator::Direction kDirection>
bool MergingIterator::EnterNextSlab() {
  assert(slab_.has_end());
  const KeyPosition at = slab_.TakeEnd(&position_key_);
  return EnterSlab<kDirection>(at,
                               [&](uint32_t i) { SeekTo<kDirection>(children_[i].points, at); });
}

template <MergingIterator::Direction kDirection, typename Placement>
bool MergingIterator::EnterSlab(const KeyPosition& at, const Placement& place) {
  constexpr bool kForward = kDirection == Direction::kForward;
  slab_.Clear();
  // The current child may be at its end; then there is no candidate.
  const Run candidate = current_;
  const size_t heap_count = heap_.size();
  // From the newest run on, until one of them covers the whole slab.
  for (uint32_t i = 0; i < children_.size(); ++i) {
    Child& child = children_[i];
    if (child.place != Place::kMerged) {
      // Unplaced children have no position yet; parked ones are before this slab and catch up.
      child.place == Place::kUnplaced ? place(i) : PassHidden<kDirection>(child.points, at);
      child.place = Place::kMerged;
      if (!Admit(i)) return false;
    }
    if (child.tombstones == nullptr) continue;
    const auto stretch =
        kForward ? child.tombstones->StretchFrom(at) : child.tombstones->StretchBefore(at);
    if (slab_.Narrow(i, stretch, kForward)) break;
  }
  slab_.Close();
  is_stale_ = false;
  // No child was added, so the heap and the current child are as before.
  if (heap_.size() == heap_count) return true;
  // The candidate is compared with the new children like any other.
  if (candidate.iterator != nullptr) heap_.push_back(candidate);
  OrderHeap<kDirection>();
  TakeRunnerUp<kDirection>();
  return true;
}

// A few steps are cheaper than a seek, and most tombstones hide few entries. After kStepsBeforeSeek
// steps a seek takes over.
template <MergingIterator::Direction kDirection>
void MergingIterator::PassHidden(InternalIterator* child, const KeyPosition& at) {
  assert(child != nullptr);
  constexpr bool kForward = kDirection == Direction::kForward;
  assert(child->Valid());
  const auto is_hidden = [&] {
    return child->Valid() &&
           TombstoneSlab::EntryIsBefore(comparator_, ExtractUserKey(child->key()), at) == kForward;
  };
  for (int steps = 0; is_hidden(); ++steps) {
    if (steps == kStepsBeforeSeek) return SeekTo<kDirection>(child, at);
    kForward ? child->Next() : child->Prev();
  }
}

template <MergingIterator::Direction kDirection>
void MergingIterator::SeekTo(InternalIterator* child, const KeyPosition& at) {
  assert(child != nullptr);
  AddPerfCount(&PerfContextBase::internal_range_del_reseek_count);
  target_.clear();
  at.is_behind ? comparator_.AppendLast(&target_, at.user_key, at.trailer())
               : comparator_.AppendFirst(&target_, at.user_key, at.trailer());
  if constexpr (kDirection == Direction::kReverse) return child->SeekForPrev(target_);
  child->Seek(target_);
  // A seek behind all versions of a key may still find its oldest possible version.
  if (at.is_behind && child->Valid() &&
      comparator_.SameKey(ExtractUserKey(child->key()), at.user_key))
    child->Next();
}

[[gnu::cold]] std::string MergingIterator::DebugString() const {
  const auto describe = [](const Run& run) {
    return StrCat("  run ", run.index, " at ",
                  DescribeInternalKey(run.iterator->key(), /*hex=*/true), "\n");
  };
  std::string text = StrCat(
      children_.size(), " runs, ", direction_ == Direction::kForward ? "forwards" : "backwards",
      ", ", status_.ok() ? (Valid() ? "valid" : "at an end") : status_.ToString().c_str(), "\n");
  if (has_tombstones_) text += StrCat("  ", slab_.DebugString(), "\n");
  if (Valid()) text += describe(current_);
  for (const Run& run : heap_) text += describe(run);
  return text;
}

template bool MergingIterator::SwitchDirection<MergingIterator::Direction::kForward>();
template bool MergingIterator::SwitchDirection<MergingIterator::Direction::kReverse>();
template void MergingIterator::Settle<MergingIterator::Direction::kForward>();
template void MergingIterator::Settle<MergingIterator::Direction::kReverse>();

}  // namespace ashlar
