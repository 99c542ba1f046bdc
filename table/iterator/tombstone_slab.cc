// SPDX-License-Identifier: Apache-2.0
//
// The far end of a slab is the nearest end of the stretches of its runs.
#include "table/iterator/tombstone_slab.h"

#include <cassert>

#include "util/text/str_cat.h"

namespace ashlar {

void TombstoneSlab::Clear() {
  covering_run_ = kNoRun;
  seqno_ = 0;
  has_end_ = false;
}

// Cuts the slab at the end of the stretch if it ends first. Returns true if the run's tombstone
// covers the slab, which ends the search for such a run.
bool TombstoneSlab::Narrow(uint32_t run, const RunTombstones::Stretch& stretch, bool is_forward) {
  assert(covering_run_ == kNoRun);
  if (stretch.has_end) {
    const int order = has_end_ ? KeyPosition::Compare(comparator_, stretch.end, end_) : 0;
    if (!has_end_ || (order < 0) == is_forward) end_ = stretch.end;
    has_end_ = true;
  }
  if (stretch.seqno == 0) return false;
  assert(stretch.has_end);
  covering_run_ = run;
  seqno_ = stretch.seqno;
  return true;
}

void TombstoneSlab::Close() {
  if (!has_end_) return;
  end_key_.assign(end_.user_key.data(), end_.user_key.size());
  end_.user_key = end_key_;
  end_head_ = comparator_.Head(end_key_);
}

KeyPosition TombstoneSlab::TakeEnd(std::string* key) {
  assert(key != nullptr);
  assert(has_end_);
  key->swap(end_key_);
  const bool is_behind = end_.is_behind;
  Clear();
  return {*key, is_behind};
}

[[gnu::cold]] std::string TombstoneSlab::DebugString() const {
  const std::string cover = covering_run_ == kNoRun
                                ? std::string("under no tombstone")
                                : StrCat("covered by run ", covering_run_, " at ", seqno_);
  if (!has_end_) return cover;
  return StrCat(cover, end_.is_behind ? ", until behind '" : ", until '",
                end_.user_key.ToString(/*hex=*/true), "'");
}

}  // namespace ashlar
