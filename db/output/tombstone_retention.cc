// SPDX-License-Identifier: Apache-2.0
//
// Fragments and entries ascend together, so one position is enough.
#include "db/output/tombstone_retention.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace ashlar {

SequenceNumber OldestSnapshotThatSees(std::span<const SequenceNumber> snapshots,
                                      SequenceNumber seqno) {
  assert(std::is_sorted(snapshots.begin(), snapshots.end()));
  const auto found = std::lower_bound(snapshots.begin(), snapshots.end(), seqno);
  return found == snapshots.end() ? kMaxSequenceNumber : *found;
}

bool HidingTombstones::HidesSlowly(const Slice& user_key, SequenceNumber seqno) {
  const InternalKeyComparator& order = tombstones_->comparator();
  while (position_ < tombstones_->size()) {
    const FragmentedTombstones::Fragment fragment = tombstones_->fragment(position_);
    assert(!fragment.end_is_inclusive);  // only lists inside of tables have inclusive ends
    if (order.OrderWithoutTimestamp(user_key, fragment.begin) < 0) return false;
    if (order.OrderWithoutTimestamp(user_key, fragment.end) < 0) break;
    position_++;
  }
  if (position_ == tombstones_->size()) {
    tombstones_ = nullptr;
    return false;
  }
  const SequenceNumber seen_by_all = OldestSnapshotThatSees(snapshots_, seqno);
  if (order.stamp_bytes() != 0) [[unlikely]] {
    return tombstones_->MaxSeqnoAt(position_, seen_by_all, full_history_ts_low_, /*below=*/true) >
           seqno;
  }
  return tombstones_->MaxSeqno(position_, seen_by_all) > seqno;
}

namespace {

// Appends the newest tombstone of each stripe. `drops_oldest`: except for the stripe that every
// reader sees.
void AppendKept(const RangeTombstone& range, std::span<const SequenceNumber> seqnos,
                std::span<const SequenceNumber> snapshots, bool drops_oldest,
                std::vector<RangeTombstone>* kept) {
  const SequenceNumber oldest = snapshots.empty() ? kMaxSequenceNumber : snapshots.front();
  SequenceNumber stripe = kMaxSequenceNumber + 1;  // no stripe yet
  for (const SequenceNumber seqno : seqnos) {
    const SequenceNumber seen_from = OldestSnapshotThatSees(snapshots, seqno);
    if (seen_from == stripe) continue;
    stripe = seen_from;
    if (drops_oldest && seqno <= oldest) return;
    kept->push_back({range.begin, range.end, seqno});
  }
}

// The same in a stamped family: readers of different timestamps see different tombstones, unless
// these are below full_history_ts_low.
void AppendKeptOfStamped(const InternalKeyComparator& order, const RangeTombstone& range,
                         const FragmentedTombstones::Fragment& fragment,
                         const TombstonesToKeepOptions& options, bool drops_oldest,
                         std::vector<RangeTombstone>* kept) {
  assert(kept != nullptr);
  const SequenceNumber oldest =
      options.snapshots.empty() ? kMaxSequenceNumber : options.snapshots.front();
  const Slice low = options.full_history_ts_low;
  SequenceNumber stripe = kMaxSequenceNumber + 1;  // of the last one below `low`; none yet
  for (size_t i = 0; i < fragment.seqnos.size(); i++) {
    const SequenceNumber seqno = fragment.seqnos[i];
    if (!low.empty() && order.OrderOfStamps(fragment.stamps[i], low) < 0) {
      const SequenceNumber seen_from = OldestSnapshotThatSees(options.snapshots, seqno);
      if (seen_from == stripe) continue;
      stripe = seen_from;
      if (drops_oldest && seqno <= oldest) continue;
    }
    kept->push_back({range.begin, range.end, seqno, fragment.stamps[i]});
  }
}

}  // namespace

[[gnu::cold]] std::unique_ptr<const FragmentedTombstones> TombstonesToKeep(
    const FragmentedTombstones& all, const TombstonesToKeepOptions& options) {
  const InternalKeyComparator& order = all.comparator();
  std::vector<RangeTombstone> kept;
  const size_t first = options.begin.has_value() ? all.Find(*options.begin) : 0;
  for (size_t i = first; i < all.size(); i++) {
    const FragmentedTombstones::Fragment fragment = all.fragment(i);
    assert(!fragment.end_is_inclusive);
    RangeTombstone range{fragment.begin, fragment.end};
    if (options.begin.has_value() && order.OrderWithoutTimestamp(range.begin, *options.begin) < 0) {
      range.begin = *options.begin;
    }
    if (options.end.has_value()) {
      if (order.OrderWithoutTimestamp(range.begin, *options.end) >= 0) break;
      if (order.OrderWithoutTimestamp(*options.end, range.end) < 0) range.end = *options.end;
    }
    const bool hides_nothing =
        options.is_bottommost ||
        (options.below != nullptr && !options.below->MayOverlap(range.begin, range.end));
    const size_t kept_before = kept.size();
    if (order.stamp_bytes() == 0) [[likely]] {
      AppendKept(range, fragment.seqnos, options.snapshots, hides_nothing, &kept);
    } else {
      AppendKeptOfStamped(order, range, fragment, options, hides_nothing, &kept);
    }
    if (options.dropped == nullptr) continue;
    *options.dropped += fragment.seqnos.size() - (kept.size() - kept_before);
  }
  return std::make_unique<const FragmentedTombstones>(order, std::move(kept));
}

// An old tombstone hides only entries that are older, so it may be on the last level with them.
std::optional<DividedTombstones> DivideTombstones(const FragmentedTombstones& all,
                                                  SequenceNumber first_young,
                                                  const FragmentedTombstones::Border& range) {
  const InternalKeyComparator& order = all.comparator();
  assert(order.stamp_bytes() == 0);
  std::vector<RangeTombstone> old, young;
  for (size_t i = 0; i < all.size(); i++) {
    const FragmentedTombstones::Fragment fragment = all.fragment(i);
    assert(!fragment.end_is_inclusive);
    const int to_end = order.OrderWithoutTimestamp(fragment.begin, range.largest);
    const bool is_outside = order.OrderWithoutTimestamp(fragment.end, range.smallest) <= 0 ||
                            (range.largest_is_inclusive ? to_end > 0 : to_end >= 0);
    const bool is_inside = order.OrderWithoutTimestamp(range.smallest, fragment.begin) <= 0 &&
                           order.OrderWithoutTimestamp(fragment.end, range.largest) <= 0;
    for (const SequenceNumber seqno : fragment.seqnos) {
      const bool is_young = seqno >= first_young && !is_outside;
      if (is_young && !is_inside) return std::nullopt;
      (is_young ? young : old).push_back({fragment.begin, fragment.end, seqno});
    }
  }
  return DividedTombstones{std::make_unique<const FragmentedTombstones>(order, std::move(old)),
                           std::make_unique<const FragmentedTombstones>(order, std::move(young))};
}

[[gnu::cold]] bool CoversTable(const FragmentedTombstones& all, const FileMetadata& table,
                               std::span<const SequenceNumber> snapshots) {
  const InternalKeyComparator& order = all.comparator();
  if (order.stamp_bytes() != 0) return false;  // older readers may not see the tombstone
  const Slice largest = table.largest_user_key();
  const SequenceNumber seen_by_all = OldestSnapshotThatSees(snapshots, table.smallest_seqno);
  Slice covered_until = table.smallest_user_key();
  for (size_t i = all.Find(covered_until); i < all.size(); i++) {
    const FragmentedTombstones::Fragment fragment = all.fragment(i);
    if (order.OrderWithoutTimestamp(fragment.begin, covered_until) > 0) return false;
    if (all.MaxSeqno(i, seen_by_all) <= table.largest_seqno) return false;
    covered_until = fragment.end;
    const int rest = order.OrderWithoutTimestamp(largest, covered_until);
    if (rest < 0 || (rest == 0 && table.largest_is_exclusive())) return true;
  }
  return false;
}

}  // namespace ashlar
