// SPDX-License-Identifier: Apache-2.0
//
// EntryStream hands out what a flush, a recovery or a compaction keeps of its sorted runs, in
// order. Each stage is a plain member and sees one entry at a time:
//
//   runs -> MergingIterator -> HidingTombstones -> VersionRetention -> EntryFilter
//   -> OperandFold -> key(), value() -> OutputWriter
//
// A SingleDelete and the value that it meets vanish together, whatever lies below: that is what
// tells it from a Delete. Where merge operands stand on it, or more versions of the key follow that
// are no SingleDeletes, it stays a tombstone: then the contract of one value for each was not kept.
//
// A step allocates nothing and makes no virtual call but those of the runs, except among merge
// operands and SingleDeletes, and where there is a filter. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/output/entry_filter.h"
#include "db/output/operand_fold.h"
#include "db/output/tombstone_retention.h"
#include "db/output/version_retention.h"
#include "table/iterator/merging_iterator.h"
#include "table/iterator/sorted_run.h"
#include "table/sst/write/block_passing.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class BlobFlow;

struct EntryStreamOptions {
  const InternalKeyComparator* comparator = nullptr;  // outlives the stream
  std::vector<SequenceNumber> snapshots;              // ascending
  DeeperLevels* below = nullptr;                      // null: anything may lie below
  bool is_bottommost = false;                         // no deeper level holds a key of the range
  // All range tombstones of the runs: what they hide is dropped. Outlives the stream; may be null.
  const FragmentedTombstones* tombstones = nullptr;
  std::optional<Slice> begin, end;  // user keys; the end is not part of it
  BlobFlow* blobs = nullptr;        // is told of blob indexes; outlives the stream. Null: none
  EntryFilter* filter = nullptr;    // reads blobs there too; outlives the stream. Null: none
  MergeTools merge;                 // without an operator operands stay as they are
  OperandFold::OnFailure on_merge_failure = OperandFold::OnFailure::kAsOperatorSays;
  // Asked before the first entry, then each time so many more were read, and at the end, with the
  // number of those read; an error ends the stream. May be empty.
  std::function<Status(uint64_t)> on_progress;
  uint64_t entries_a_step = 1024;
};

class EntryStream {
 public:
  struct Counts {
    uint64_t read = 0;
    uint64_t hidden = 0;      // dropped behind a newer version
    uint64_t covered = 0;     // dropped under a range tombstone
    uint64_t tombstones = 0;  // dropped because they hid nothing any more
    uint64_t filtered = 0;    // dropped, or made tombstones, because the filter said so
    uint64_t folded = 0;      // that went into another one with a merge operand
    // SingleDeletes among them that met no older version, and whatever but a value met one.
    uint64_t unmatched_singles = 0;
    uint64_t mismatched_singles = 0;
    uint64_t corrupt = 0;      // are none that we know: they end the stream
    bool has_skipped = false;  // the filter spared entries, which were not read
  };

  // Owns the runs. Stands before the first entry: SeekToFirst() comes next.
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

  // Of the current entry, until the next step.
  Slice key() const { return key_; }
  Slice value() const { return value_; }
  // No entry of its user key was handed out before it.
  bool is_first_of_key() const { return is_first_of_key_; }
  // It begins a block of a run, which may be passed on if all entries of it come next, unchanged.
  bool offers_block() const { return has_block_ && source_ == Source::kRuns; }
  // That block, the caller's to exchange until the next step.
  PassedBlock* TakeBlock() {
    assert(offers_block());
    has_block_ = false;
    return &block_;
  }

  Status status() const { return status_.ok() ? runs_.status() : status_; }
  const Counts& counts() const { return counts_; }
  const InternalKeyComparator& comparator() const { return *options_.comparator; }

 private:
  // Where the current entry is.
  enum class Source : uint8_t {
    kRuns,
    kFold,           // then comes what the runs stand on
    kFoldWithEntry,  // then key_ and value_, on which the runs stand
  };

  // To the entry behind the current one.
  void StepRuns() {
    if (std::exchange(is_ahead_, false)) [[unlikely]]
      return;
    runs_.Next();
  }
  // Shows the first kept entry from the one on that the runs stand on, or what it is folded into.
  void FindKept();
  // The same before folding: into key_ and value_. False at the end.
  bool FindPassed() { return FindRetained() && (options_.filter == nullptr || AskFilter()); }
  // The same before the filter.
  bool FindRetained();
  // The runs go on from a SingleDelete, which key_ is from then on, to the entry behind it, or
  // behind the value that it takes along. False: it does not stay, or the stream has ended.
  bool KeepsSingle();
  // Goes on from what was found to what the filter lets pass. False at the end.
  bool AskFilter();
  // Whether readers without a snapshot see what was found, and no snapshot needs it as it is.
  bool IsOffered(ValueType type) const;
  void CountDropped(ValueType type);
  // What was found becomes a tombstone, or goes if that would hide nothing; then false.
  bool MakeTombstone(ValueType type);
  void RewriteKey(SequenceNumber seqno, ValueType type);
  // False: the stream has ended.
  bool SkipTo(const Slice& user_key);
  // False: the run has vanished, for the filter skips from one of its operands on.
  bool FoldRun();
  void FoldOperands();
  bool NoteBlob(const Slice& user_key);
  OperandFold::Below BelowRun(bool has_next, size_t stripe, bool nothing_below) const;
  void NextOfFold();
  void ShowFold(bool is_first_of_key);
  // False: on_progress ended the stream.
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
  Source source_ = Source::kRuns;
  Slice key_;                      // into the runs, or rewritten_key_, or the fold
  Slice value_;                    // into the runs, or the fold
  Slice entry_key_, entry_value_;  // kFoldWithEntry: the entry behind the fold
  std::string rewritten_key_;
  std::string single_key_;  // of the SingleDelete behind which the runs stand
  bool entry_is_first_of_key_ = false;
  bool is_valid_ = false;
  bool is_first_of_key_ = false;
  bool has_kept_of_key_ = false;  // an entry of the current user key was kept
  bool has_block_ = false;        // in block_
  bool is_ahead_ = false;         // the runs stand behind what was found, not on it
  bool is_replaced_ = false;      // value_ is the filter's
  bool drops_run_ = false;        // the filter skipped from an operand on, not its key's first one
  uint64_t next_progress_ = 0;    // the number of entries read at which it is due
  PassedBlock block_;
  Counts counts_;
  Status status_;
};

}  // namespace ashlar
