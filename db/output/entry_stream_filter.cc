// SPDX-License-Identifier: Apache-2.0
//
// What EntryStream offers to the program's filter, and what becomes of it. Apart from the loop,
// which does without where there is no filter.
#include <cassert>

#include "db/output/entry_stream.h"

namespace ashlar {

// An entry that goes does not count as kept of its key.
bool EntryStream::AskFilter() {
  do {
    is_replaced_ = false;
    const uint64_t trailer = ExtractTrailer(key_);
    const ValueType type = TrailerType(trailer);
    if (!IsOffered(type)) return true;
    EntryFilter& filter = *options_.filter;
    switch (filter.Ask(ExtractUserKey(key_), type, value_)) {
      case EntryFilter::Verdict::kKeep: return true;
      case EntryFilter::Verdict::kReplace:
        is_replaced_ = true;
        value_ = filter.value();
        if (filter.type() != type) RewriteKey(TrailerSeqno(trailer), filter.type());
        return true;
      case EntryFilter::Verdict::kRemove:
        counts_.filtered++;
        if (type != kTypeMerge && MakeTombstone(filter.type())) return true;
        has_kept_of_key_ = !is_first_of_key_;
        runs_.Next();
        break;
      case EntryFilter::Verdict::kSkip:
        counts_.filtered++;
        drops_run_ = drops_run_ || !is_first_of_key_;  // the next key asked about may skip, too
        if (!SkipTo(filter.skip_until())) return false;
        break;
      case EntryFilter::Verdict::kFail: End(filter.status()); return false;
    }
  } while (FindRetained());
  return false;
}

// Of a key that is the newest version that is left, if it is a value; operands may be several. What
// a range tombstone hides from them was kept for a snapshot.
bool EntryStream::IsOffered(ValueType type) const {
  if (IsPointTombstone(type)) return false;
  const bool is_candidate =
      type == kTypeMerge ? retention_.stripe() == options_.snapshots.size() : is_first_of_key_;
  if (!is_candidate || options_.tombstones == nullptr) return is_candidate;
  const SequenceNumber covering =
      options_.tombstones->MaxCoveringSeqno(ExtractUserKey(key_), kMaxSequenceNumber);
  return covering <= TrailerSeqno(ExtractTrailer(runs_.key()));
}

bool EntryStream::MakeTombstone(ValueType type) {
  if (retention_.stripe() == 0 && retention_.NothingBelow()) return false;
  RewriteKey(TrailerSeqno(ExtractTrailer(runs_.key())), type);
  value_.clear();
  is_replaced_ = true;
  return true;
}

// What blob files lose has to be counted, entry by entry; without them nothing is read in between.
bool EntryStream::SkipTo(const Slice& user_key) {
  assert(comparator().OrderWithoutTimestamp(ExtractUserKey(runs_.key()), user_key) < 0);
  if (options_.blobs == nullptr) {
    counts_.has_skipped = true;
    runs_.Seek(MakeInternalKey(user_key, kMaxSequenceNumber, kValueTypeForSeek));
    return true;
  }
  for (runs_.Next(); runs_.Valid(); runs_.Next()) {
    const Slice key = ExtractUserKey(runs_.key());
    if (IsPastEnd(key) || comparator().OrderWithoutTimestamp(key, user_key) >= 0) break;
    if (counts_.read == next_progress_ && !ReportProgress()) return false;
    counts_.read++;
    if (TrailerType(ExtractTrailer(runs_.key())) == kTypeBlobIndex && !NoteBlob(key)) return false;
  }
  return true;
}

}  // namespace ashlar
