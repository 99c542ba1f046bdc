// SPDX-License-Identifier: Apache-2.0
//
// EntryStream hands out the entries that a flush, a recovery or a compaction keeps of its sorted
// runs, in order. Each stage is a plain member and processes one entry at a time:
//
//   runs -> MergingIterator -> HidingTombstones -> VersionRetention -> EntryFilter
//   -> OperandFold -> key(), value() -> OutputWriter
//
// A SingleDelete and the value right below it are dropped together, whatever the deeper levels
// hold; in this it differs from a Delete. It is kept as a tombstone if merge operands build on it,
// or if more versions of the key follow that are not SingleDeletes: then the program has broken the
// contract of one value for each SingleDelete.
//
// A step allocates nothing and makes no virtual calls except those of the runs; the exceptions are
// merge operands, SingleDeletes and filters. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/output/entry_filter.h"
#include "db/output/history_trim.h"
#include "db/output/operand_fold.h"
#include "db/output/tombstone_retention.h"
#include "db/output/version_retention.h"
#include "table/iterator/merging_iterator.h"
#include "table/iterator/sorted_run.h"
#include "table/sst/write/block_passing.h"
#include "util/keys/internal_key.h"
#include "util/keys/seqno_range.h"

namespace ashlar {

class BlobFlow;

struct EntryStreamOptions {
  const InternalKeyComparator* comparator = nullptr;  // outlives the stream
  std::vector<SequenceNumber> snapshots;              // ascending
  // Of a stamped family: readers ask for no timestamp below it; empty: it was never raised.
  std::string full_history_ts_low;
  HistoryTrim trim;               // of a stamped family
  DeeperLevels* below = nullptr;  // null: deeper levels may hold any key
  bool is_bottommost = false;     // no deeper level holds a key of the range
  // Entries from this number on keep it on the bottommost level too.
  SequenceNumber first_young = kMaxSequenceNumber;
  // All range tombstones of the runs: entries that they hide are dropped. Outlives the stream; may
  // be null.
  const FragmentedTombstones* tombstones = nullptr;
  std::optional<Slice> begin, end;  // user keys; the end is exclusive
  BlobFlow* blobs = nullptr;        // gets all blob indexes; outlives the stream; null: none
  EntryFilter* filter = nullptr;    // outlives the stream; null: none
  SeqnoRanges undecided;            // what is not offered to the filter
  MergeTools merge;                 // without an operator, operands are kept as they are
  OperandFold::OnFailure on_merge_failure = OperandFold::OnFailure::kAsOperatorSays;
  // Called with the number of entries read: before the first entry, after every entries_a_step
  // entries, and at the end. An error that it returns ends the stream. May be empty.
  std::function<Status(uint64_t)> on_progress;
  uint64_t entries_a_step = 1024;
};

class EntryStream {
 public:
  struct Counts {
    uint64_t read = 0;
    uint64_t hidden = 0;      // dropped because a newer version hides them
    uint64_t covered = 0;     // dropped because a range tombstone hides them
    uint64_t tombstones = 0;  // tombstones that were dropped because they hid nothing any more
    uint64_t filtered = 0;    // dropped or replaced by tombstones on the filter's decision
    uint64_t folded = 0;      // entries that became part of another one by merging
    // SingleDeletes that were dropped without meeting an older version.
    uint64_t unmatched_singles = 0;
    // Versions other than one value that were deleted by a SingleDelete.
    uint64_t mismatched_singles = 0;
    uint64_t corrupt = 0;      // entries of an unknown kind; they end the stream
    bool has_skipped = false;  // the filter skipped entries, which were not read or counted
  };

  // Owns the runs. SeekToFirst() must be called before anything else.
  EntryStream(const EntryStreamOptions& options, SortedRuns runs);
  EntryStream(const EntryStream&) = delete;
  EntryStream& operator=(const EntryStream&) = delete;

  void SeekToFirst();
  bool Valid() const { return is_valid_; }
  void Next() {
    assert(Valid());
    if (source_ == Source::kRuns) [[likely]] {
      StepRuns();
      FindKept();
      return;
    }
    NextOfFold();
  }

  // The current entry, valid until the next step.
  Slice key() const { return key_; }
  Slice value() const { return value_; }
  // Whether no entry of the same user key was handed out before.
  bool is_first_of_key() const { return is_first_of_key_; }
  // Whether the entry begins a block of a run. The block may be passed on if exactly its entries
  // are handed out next, unchanged.
  bool offers_block() const { return has_block_ && source_ == Source::kRuns; }
  // The block that offers_block() announced. Until the next step the caller may swap its contents.
  PassedBlock* TakeBlock() {
    assert(offers_block());
    has_block_ = false;
    return &block_;
  }

  Status status() const { return status_.ok() ? runs_.status() : status_; }
  const Counts& counts() const { return counts_; }
  const InternalKeyComparator& comparator() const { return *options_.comparator; }

 private:
  // Where the current entry comes from.
  enum class Source : uint8_t {
    kRuns,
    kFold,           // the fold; the entry on which the runs stand comes next
    kFoldWithEntry,  // the fold; entry_key_ and entry_value_, already found, come next
  };

  // Moves the runs to the entry behind the current one.
  void StepRuns() {
    if (std::exchange(is_ahead_, false)) [[unlikely]]
      return;
    runs_.Next();
  }
  // Shows the first entry to keep, beginning with the one at which the runs are, or the result of
  // folding it.
  void FindKept();
  // Finds the next entry that retention and the compaction filter let pass, before merge operands
  // are folded. Sets key_ and value_; returns false at the end of the runs.
  bool FindPassed() { return FindRetained() && (options_.filter == nullptr || AskFilter()); }
  // Like FindPassed(), but does not ask the compaction filter.
  bool FindRetained();
  // Decides about a SingleDelete: copies it to key_ and moves the runs to the entry behind it, or
  // behind the value that is dropped together with it. Returns false if it is dropped, or if the
  // stream has ended.
  bool KeepsSingle();
  // Offers the entry found to the filter, and goes on until the filter lets one pass. Returns false
  // at the end.
  bool AskFilter();
  // The same for the verdict kKeepWithoutSeqno: a stamped family loses the timestamp too.
  void ClearNumber(ValueType type);
  // Whether the filter gets the entry found: readers without a snapshot see it, and no snapshot
  // needs it.
  bool IsOffered(ValueType type) const;
  // Counts a point entry that retention has dropped.
  void CountDropped(ValueType type);
  // Replaces the entry found by a tombstone. Returns false if the tombstone would hide nothing and
  // is left out.
  bool MakeTombstone(ValueType type);
  void RewriteKey(SequenceNumber seqno, ValueType type);
  // Moves the runs to the key. Returns false if the stream has ended.
  bool SkipTo(const Slice& user_key);
  // Folds the run of operands that begins with the entry found. Returns false if the run has
  // vanished, because the filter skips entries from one of its operands on.
  bool FoldRun();
  void FoldOperands();
  bool NoteBlob(const Slice& user_key);
  OperandFold::Below BelowRun(bool has_next, size_t stripe, bool nothing_below) const;
  void NextOfFold();
  void ShowFold(bool is_first_of_key);
  // Returns false if on_progress has ended the stream.
  bool ReportProgress();
  void End(const Status& status);
  bool IsPastEnd(const Slice& user_key) const {
    return options_.end.has_value() &&
           comparator().OrderWithoutTimestamp(user_key, *options_.end) >= 0;
  }

  const EntryStreamOptions options_;
  MergingIterator runs_;
  HidingTombstones tombstones_;
  VersionRetention retention_;
  OperandFold fold_;
  const bool trims_;
  Source source_ = Source::kRuns;
  Slice key_;                      // points into the runs, rewritten_key_, single_key_ or the fold
  Slice value_;                    // points into the runs, the filter or the fold
  Slice entry_key_, entry_value_;  // kFoldWithEntry: the entry behind the fold
  std::string rewritten_key_;
  std::string single_key_;  // the SingleDelete behind which the runs stand
  bool entry_is_first_of_key_ = false;
  bool is_valid_ = false;
  bool is_first_of_key_ = false;
  bool has_kept_of_key_ = false;  // an entry of the current user key was kept
  bool has_block_ = false;        // block_ holds the block that the entry offers
  bool is_ahead_ = false;         // the runs stand behind the entry found, not on it
  bool is_replaced_ = false;      // value_ belongs to the filter
  bool drops_run_ = false;        // the filter skips from an operand on that is not its key's first
  uint64_t next_progress_ = 0;    // the number of read entries at which on_progress is due
  PassedBlock block_;
  Counts counts_;
  Status status_;
};

}  // namespace ashlar
