// SPDX-License-Identifier: Apache-2.0
//
// Which entries EntryStream offers to the program's filter, and how it applies the verdicts.
// Separate from the loop in entry_stream.cc, which has no code for filters.
#include <cassert>

#include "db/output/entry_stream.h"

namespace ashlar {

// An entry that is removed does not count as an entry of its key that was kept.
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
        drops_run_ = drops_run_ || !is_first_of_key_;  // stays set if the filter skips again
        if (!SkipTo(filter.skip_until())) return false;
        break;
      case EntryFilter::Verdict::kFail: End(filter.status()); return false;
    }
  } while (FindRetained());
  return false;
}

// In a stamped family the filter gets every version that is kept and is not a tombstone.
//
// For each key the filter gets the newest version that is kept, if it is a value, and perhaps
// several operands. Entries that a range tombstone hides from current readers were kept for a
// snapshot, and are not offered. Neither is data of undecided transactions: a filter that reads the
// database does not see the rest of the transaction yet, and would drop what the commit needs. The
// version below it waits until it is decided.
bool EntryStream::IsOffered(ValueType type) const {
  if (IsPointTombstoneOfAnyFamily(type)) return false;
  if (!options_.undecided.empty() &&
      Covers(options_.undecided, TrailerSeqno(ExtractTrailer(key_)))) {
    return false;
  }
  const bool is_stamped = comparator().stamp_bytes() != 0;  // each version is asked about
  const bool is_candidate =
      is_stamped ||
      (type == kTypeMerge ? retention_.stripe() == options_.snapshots.size() : is_first_of_key_);
  if (!is_candidate || options_.tombstones == nullptr) return is_candidate;
  const SequenceNumber covering =
      options_.tombstones->MaxCoveringSeqno(ExtractUserKey(key_), kMaxSequenceNumber);
  return covering <= TrailerSeqno(ExtractTrailer(runs_.key()));
}

// At the bottom, or where no deeper level holds the key, the tombstone is left out.
bool EntryStream::MakeTombstone(ValueType type) {
  if (retention_.IsTombstoneObsolete()) return false;
  const bool is_stamped = comparator().stamp_bytes() != 0;
  if (is_stamped && type == kTypeDeletion) type = kTypeDeletionWithTimestamp;
  RewriteKey(TrailerSeqno(ExtractTrailer(runs_.key())), type);
  value_.clear();
  is_replaced_ = true;
  return true;
}

// With blob files, each entry must be read, so that its reference counts as garbage. Without them
// the entries in between are not read.
bool EntryStream::SkipTo(const Slice& user_key) {
  assert(comparator().OrderWithoutTimestamp(ExtractUserKey(runs_.key()), user_key) < 0);
  if (options_.blobs == nullptr) {
    counts_.has_skipped = true;
    runs_.Seek(comparator().FirstInternalKey(user_key));
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
