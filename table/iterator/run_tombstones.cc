// SPDX-License-Identifier: Apache-2.0
//
// A walk follows the merge, so usually the next fragment is needed: a few steps are tried before a
// search.
#include "table/iterator/run_tombstones.h"

#include <cassert>

namespace ashlar {
namespace {

constexpr int kStepsBeforeSearch = 4;

}  // namespace

RunTombstones::~RunTombstones() = default;

RunTombstones::Stretch FragmentWalk::StretchFrom(const KeyPosition& from) {
  for (int steps = 0; is_started_ && fragments_.Valid() && EndsBy(from); ++steps) {
    is_started_ = steps < kStepsBeforeSearch;
    fragments_.Next();
  }
  if (!is_started_) {
    fragments_.Seek(from.user_key);
    // A fragment whose inclusive end is this key must be passed too if the position is behind the
    // key.
    if (fragments_.Valid() && EndsBy(from)) fragments_.Next();
    is_started_ = true;
  }
  if (!fragments_.Valid()) return {};
  assert(!EndsBy(from));
  const bool covers = KeyPosition::Compare(comparator_, begin(), from) <= 0;
  if (!covers) return {.seqno = 0, .has_end = true, .end = begin()};
  return {.seqno = fragments_.seqno(), .has_end = true, .end = end()};
}

// Steps to the last fragment that begins before the position; after kStepsBeforeSearch steps a
// binary search takes over. If that fragment does not reach the position, the stretch is the gap
// behind it.
RunTombstones::Stretch FragmentWalk::StretchBefore(const KeyPosition& before) {
  for (int steps = 0; is_started_ && fragments_.Valid() && BeginsAtOrBehind(before); ++steps) {
    is_started_ = steps < kStepsBeforeSearch;
    fragments_.Prev();
  }
  if (!is_started_) {
    fragments_.SeekForPrev(before.user_key);
    if (fragments_.Valid() && BeginsAtOrBehind(before)) fragments_.Prev();
    is_started_ = true;
  }
  if (!fragments_.Valid()) return {};
  assert(!BeginsAtOrBehind(before));
  const bool covers = KeyPosition::Compare(comparator_, end(), before) >= 0;
  if (!covers) return {.seqno = 0, .has_end = true, .end = end()};
  return {.seqno = fragments_.seqno(), .has_end = true, .end = begin()};
}

}  // namespace ashlar
