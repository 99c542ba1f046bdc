// SPDX-License-Identifier: Apache-2.0
//
// FindRetained() continues until an entry passes retention; FindPassed() continues until an entry
// passes the filter too (entry_stream_filter.cc). For a merge operand, FindKept() reads to the end
// of the run of operands. The runs then stand on the entry behind it, which has already passed
// both.
#include "db/output/entry_stream.h"

#include <cassert>
#include <utility>

#include "db/output/blob_flow.h"
#include "util/text/data_in_errors.h"

namespace ashlar {

namespace {

// Operands of different timestamps are what different readers see, so those of a stamped family are
// not folded.
MergeTools ToolsOfFold(const EntryStreamOptions& options) {
  MergeTools tools = options.merge;
  if (options.comparator->stamp_bytes() != 0) tools.merge_operator = nullptr;
  return tools;
}

// Range tombstones that every reader sees alike have no part in the order of versions: those below
// the limit, if there are no snapshots.
bool HasTombstonesOfSomeReaders(const EntryStreamOptions& options) {
  const FragmentedTombstones* const all = options.tombstones;
  const InternalKeyComparator& order = *options.comparator;
  if (order.stamp_bytes() == 0 || all == nullptr || all->empty()) return false;
  if (!options.snapshots.empty() || options.full_history_ts_low.empty()) return true;
  for (size_t i = 0; i < all->size(); i++) {
    for (const Slice& stamp : all->fragment(i).stamps) {
      if (order.OrderOfStamps(stamp, options.full_history_ts_low) >= 0) return true;
    }
  }
  return false;
}

StampLimits StampsOf(const EntryStreamOptions& options) {
  return {.full_history_ts_low = options.full_history_ts_low,
          .has_range_tombstones = HasTombstonesOfSomeReaders(options)};
}

}  // namespace

[[gnu::cold]] EntryStream::EntryStream(const EntryStreamOptions& options, SortedRuns runs)
    : options_(options),
      runs_(options.comparator, std::move(runs)),
      tombstones_(options_.tombstones, options_.snapshots, options_.full_history_ts_low),
      retention_(*options.comparator, options.snapshots, options.below, options.is_bottommost,
                 StampsOf(options), options.first_young),
      fold_(ToolsOfFold(options), options.on_merge_failure),
      trims_(!options.trim.empty()),
      next_progress_(options.on_progress ? 0 : UINT64_MAX) {
  assert(options.entries_a_step > 0);
}

void EntryStream::SeekToFirst() {
  assert(counts_.read == 0);
  if (options_.begin.has_value()) {
    runs_.Seek(comparator().FirstInternalKey(*options_.begin));
  } else {
    runs_.SeekToFirst();
  }
  FindKept();
}

// Ends the stream, after an error or at the end of the range.
void EntryStream::End(const Status& status) {
  is_valid_ = false;
  status_ = status;
}

bool EntryStream::ReportProgress() {
  assert(options_.on_progress != nullptr);
  next_progress_ = counts_.read + options_.entries_a_step;
  const Status status = options_.on_progress(counts_.read);
  if (!status.ok()) End(status);
  return status.ok();
}

void EntryStream::FindKept() {
  source_ = Source::kRuns;
  if (!FindPassed()) return;
  if (TrailerType(ExtractTrailer(key_)) == kTypeMerge && fold_.has_operator()) [[unlikely]]
    FoldOperands();
}

// Folds the run of operands that begins with the entry found. Repeats this for the next run if the
// filter made this one vanish.
void EntryStream::FoldOperands() {
  assert(fold_.has_operator());
  while (is_valid_ && TrailerType(ExtractTrailer(key_)) == kTypeMerge && !FoldRun()) {
    source_ = Source::kRuns;
  }
}

// The loop over all entries of the inputs. Hot: an entry that is kept passes the tombstones, the
// retention and no other stage.
bool EntryStream::FindRetained() {
  assert(!is_ahead_);
  for (; runs_.Valid(); StepRuns()) {
    key_ = runs_.key();
    const Slice user_key = ExtractUserKey(key_);
    if (IsPastEnd(user_key)) break;
    if (counts_.read == next_progress_ && !ReportProgress()) return false;
    counts_.read++;
    const uint64_t trailer = ExtractTrailer(key_);
    const ValueType type = TrailerType(trailer);
    if (!IsPointEntryType(type)) [[unlikely]] {
      counts_.corrupt++;
      End(Status::Corruption("input of a flush or compaction: unknown kind of entry",
                             InternalKeyInError(key_)));
      return false;
    }
    if (type == kTypeBlobIndex && !NoteBlob(user_key)) [[unlikely]]
      return false;
    if (trims_ && options_.trim.Drops(comparator(), user_key)) [[unlikely]] {
      counts_.hidden++;
      continue;
    }
    if (tombstones_.Hides(user_key, TrailerSeqno(trailer))) {
      counts_.covered++;
      continue;
    }
    const VersionRetention::Verdict verdict =
        retention_.Decide(user_key, TrailerSeqno(trailer), type);
    if (retention_.is_new_key()) has_kept_of_key_ = false;
    if (verdict == VersionRetention::Verdict::kDrop) {
      CountDropped(type);
      continue;
    }
    // An entry that is changed below cannot begin a block that is passed on.
    has_block_ = false;
    value_ = runs_.value();
    if (type == kTypeSingleDeletion && !retention_.is_base()) [[unlikely]] {
      if (!KeepsSingle()) {
        if (!status_.ok()) return false;
        continue;
      }
    } else if (verdict == VersionRetention::Verdict::kKeepWithoutSeqno &&
               TrailerSeqno(trailer) != 0) {
      ClearNumber(type);
    } else if (runs_.EntersBlock()) [[unlikely]] {
      has_block_ = runs_.OfferBlock(&block_);
    }
    is_first_of_key_ = !std::exchange(has_kept_of_key_, true);
    is_valid_ = true;
    return true;
  }
  End(Status::OK());
  if (options_.on_progress) ReportProgress();
  return false;
}

// A SingleDelete and the value right below it vanish together if the same readers see both.
bool EntryStream::KeepsSingle() {
  assert(!is_ahead_);
  assert(TrailerType(ExtractTrailer(key_)) == kTypeSingleDeletion);
  single_key_.assign(key_.data(), key_.size());
  key_ = single_key_;
  value_.clear();
  const Slice user_key = ExtractUserKey(key_);
  const auto is_of_key = [&] {
    return runs_.Valid() && comparator().SameKey(ExtractUserKey(runs_.key()), user_key);
  };
  is_ahead_ = true;
  runs_.Next();
  if (!is_of_key()) return true;
  const uint64_t next = ExtractTrailer(runs_.key());
  const bool is_met = retention_.StripeOf(TrailerSeqno(next)) == retention_.stripe() &&
                      !tombstones_.Hides(user_key, TrailerSeqno(next));
  if (is_met && TrailerType(next) == kTypeSingleDeletion) {  // the older one is enough
    counts_.tombstones++;
    counts_.mismatched_singles++;
    return false;
  }
  if (!is_met || !IsValueType(TrailerType(next))) return true;
  if (counts_.read == next_progress_ && !ReportProgress()) return false;
  counts_.read++;
  if (TrailerType(next) == kTypeBlobIndex && !NoteBlob(user_key)) return false;
  counts_.hidden++;
  runs_.Next();
  if (is_of_key() && TrailerType(ExtractTrailer(runs_.key())) != kTypeSingleDeletion) return true;
  counts_.tombstones++;
  return false;
}

void EntryStream::CountDropped(ValueType type) {
  if (retention_.drop_reason() == VersionRetention::DropReason::kObsoleteTombstone) {
    counts_.tombstones++;
    if (type == kTypeSingleDeletion) counts_.unmatched_singles++;  // until a version follows it
    return;
  }
  counts_.hidden++;
  if (retention_.drop_reason() != VersionRetention::DropReason::kHiddenBySingle) return;
  const bool was_single_dropped = retention_.stripe() == 0 && retention_.NothingBelow();
  if (was_single_dropped) counts_.unmatched_singles--;
  if (!IsValueType(type)) counts_.mismatched_singles++;
}

void EntryStream::ClearNumber(ValueType type) {
  if (comparator().stamp_bytes() == 0) [[likely]]
    return RewriteKey(0, type);
  const Slice stored = ExtractUserKey(runs_.key());
  rewritten_key_.clear();
  comparator().AppendLast(&rewritten_key_, stored, PackTrailer(0, type));
  key_ = rewritten_key_;
}

// Changes the key of the entry at which the runs are.
void EntryStream::RewriteKey(SequenceNumber seqno, ValueType type) {
  assert(!is_ahead_);
  assert(runs_.Valid());
  rewritten_key_.clear();
  AppendInternalKey(&rewritten_key_, ExtractUserKey(runs_.key()), PackTrailer(seqno, type));
  key_ = rewritten_key_;
}

// Counts the blob reference of the entry at which the runs are. This is necessary even if the entry
// is dropped. Returns false if the stream has ended.
bool EntryStream::NoteBlob(const Slice& user_key) {
  Status status = Status::Corruption("a blob index where there are no blob files");
  if (options_.blobs != nullptr) status = options_.blobs->NoteInput(user_key, runs_.value());
  if (!status.ok()) End(status);
  return status.ok();
}

// key_ and value_ are the newest operand of a run. A run is the operands of one user key in one
// stripe, which are visible to the same readers.
bool EntryStream::FoldRun() {
  assert(TrailerType(ExtractTrailer(key_)) == kTypeMerge);
  assert(fold_.has_operator());
  const bool is_first_of_key = is_first_of_key_;
  const size_t stripe = retention_.stripe();
  const bool nothing_below = retention_.NothingBelow();
  drops_run_ = false;
  const SequenceNumber newest = TrailerSeqno(ExtractTrailer(key_));
  fold_.Begin(key_, value_, is_replaced_ ? ValuePin() : runs_.PinOfValue());
  bool has_next = false;
  size_t count = 1;
  for (;; count++) {
    StepRuns();
    has_next = FindPassed();
    if (!has_next || is_first_of_key_ || retention_.stripe() != stripe) break;
    if (TrailerType(ExtractTrailer(key_)) != kTypeMerge) break;
    fold_.Add(key_, value_, is_replaced_ ? ValuePin() : runs_.PinOfValue());
  }
  if (!status().ok()) {
    End(status());
    return true;
  }
  if (drops_run_) {
    fold_.Abandon();
    return false;
  }
  const OperandFold::Below below = BelowRun(has_next, stripe, nothing_below);
  bool took_base = false;
  const bool drops_seqno = stripe == 0 && retention_.LosesSeqno(newest);
  Slice base = value_;
  if (below == OperandFold::Below::kValue && TrailerType(ExtractTrailer(key_)) == kTypeBlobIndex)
      [[unlikely]] {
    const Status loaded = options_.blobs->Load(ExtractUserKey(key_), value_, &base);
    if (!loaded.ok()) {
      End(loaded);
      return true;
    }
  }
  const Status folded = fold_.Finish(below, base, drops_seqno, &took_base);
  if (!folded.ok()) {
    End(folded);
    return true;
  }
  const bool takes_entry =
      took_base && has_next && !is_first_of_key_ && retention_.stripe() == stripe;
  counts_.folded += count - fold_.count() + (takes_entry ? 1 : 0);
  if (takes_entry) StepRuns();
  entry_key_ = key_;
  entry_value_ = value_;
  entry_is_first_of_key_ = is_first_of_key_;
  source_ = has_next && !takes_entry ? Source::kFoldWithEntry : Source::kFold;
  ShowFold(is_first_of_key);
  return true;
}

// Returns what lies below a run of operands. This follows from the entry behind the operands, at
// which the runs of the stream are now, if there is such an entry.
OperandFold::Below EntryStream::BelowRun(bool has_next, size_t stripe, bool nothing_below) const {
  const bool is_of_key = has_next && !is_first_of_key_;
  if (!is_of_key) {
    return nothing_below ? OperandFold::Below::kNothing : OperandFold::Below::kUnknown;
  }
  if (retention_.stripe() != stripe) return OperandFold::Below::kUnknown;
  switch (TrailerType(ExtractTrailer(key_))) {
    case kTypeBlobIndex:
    case kTypeValue: return OperandFold::Below::kValue;
    case kTypeWideColumnEntity: return OperandFold::Below::kEntity;
    case kTypeDeletion:
    case kTypeSingleDeletion: return OperandFold::Below::kNothing;
    default: return OperandFold::Below::kUnknown;
  }
}

// Makes the current result of the fold the current entry.
void EntryStream::ShowFold(bool is_first_of_key) {
  fold_.MakeKey();
  key_ = fold_.key();
  value_ = fold_.value();
  is_first_of_key_ = is_first_of_key;
  is_valid_ = true;
}

// After the last result of a fold, the stream continues with the entry that was already found, or
// with the runs.
void EntryStream::NextOfFold() {
  assert(source_ != Source::kRuns);
  assert(fold_.Valid());
  fold_.Next();
  if (fold_.Valid()) return ShowFold(/*is_first_of_key=*/false);
  if (source_ == Source::kFold) return FindKept();
  source_ = Source::kRuns;
  key_ = entry_key_;
  value_ = entry_value_;
  is_first_of_key_ = entry_is_first_of_key_;
  FoldOperands();
}

}  // namespace ashlar
