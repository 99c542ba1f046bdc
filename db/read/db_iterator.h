// SPDX-License-Identifier: Apache-2.0
//
// DBIterator shows a column family to the user: for each user key the newest version that the
// snapshot sees, without deleted keys, within the bounds of the read options.
//
// Going forward, the merging iterator stands on the entry that is shown. Going backward, it stands
// before all versions of the key that is shown, and the key and the value are copies. To pass a key
// with many versions, the iterator makes a few single steps and then one seek.
//
// Three kinds of entries differ on the way forward. If merge operands make the value
// (db_iterator_merge.cc), the merging iterator stands behind the operands, and key and value are
// copies. The key of an entity (db_iterator_columns.cc) and of a value in a blob file
// (db_iterator_blob.cc) is a copy too.
//
// Threads: one at a time. Several threads may call columns() while no thread moves the iterator.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/perf_context.h"
#include "ashlar/trace_record.h"
#include "db/read/dead_ranges.h"
#include "db/read/merge_resolution.h"
#include "db/read/plain_column.h"
#include "db/read/read_view.h"
#include "db/search/wanted_prefix.h"
#include "db/transaction/visibility/undecided.h"
#include "table/iterator/merge_operands.h"
#include "table/iterator/merging_iterator.h"
#include "table/iterator/read_trace.h"
#include "util/keys/internal_key.h"
#include "util/memory/arena.h"

namespace ashlar {

class EmptyRanges;
class NewestRun;
class QueryTrace;
class ReadCallback;
class ScannedBlocks;
class Statistics;

// The parts that an iterator needs besides its options and its view. All objects that it points to
// outlive the iterator.
struct DBIteratorSetting {
  // merge_operator is ignored: the iterator takes the operator of its super version. The statistics
  // are used for the counts of the iterator too.
  MergeTools merge;
  const ReadCallback* callback = nullptr;  // decides which versions are visible; null: none
  // Without a callback: the transactions whose data is hidden; null: there are none.
  const UndecidedTable* undecided = nullptr;
  // With `undecided`: the reader's own data that is not decided; null: none.
  const DecidedVersions::Own* own = nullptr;
  // A live snapshot has the view's number until the iterator is made.
  bool is_view_held = false;
  DeadRangeSink* dead_ranges = nullptr;  // receives rows of tombstones; null: none is reported
  ReadTrace* trace = nullptr;            // notified where the iterator looks; null: no trace
  QueryTrace* query_trace = nullptr;     // records the seeks; null: they are not recorded
  uint32_t family = 0;                   // for that record
  std::unique_ptr<ReadTrace> own_trace;  // in the place of `trace`; may be null
};

class DBIterator final : public Iterator {
 public:
  // If the read options name a snapshot, its number replaces the number of the view. The bounds and
  // the snapshot of the options outlive the iterator.
  DBIterator(const ReadOptions& options, ReadView view, DBIteratorSetting setting);
  ~DBIterator() override;

  bool Valid() const override { return valid_; }
  bool PrepareValue() override;
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override;
  void Prev() override;
  Slice key() const override { return direction_ == Direction::kForward ? user_key_ : saved_key_; }
  Slice value() const override {
    return direction_ == Direction::kForward ? merged_->value() : shown_value_;
  }
  const WideColumns& columns() const override;
  Status status() const override;
  Status Refresh() override { return Refresh(nullptr); }
  Status Refresh(const Snapshot* snapshot) override;
  Status GetProperty(std::string prop_name, std::string* prop) override;
  void Prepare(const MultiScanArgs& scan_opts) override;

  // Returns the iterator itself if it is a DBIterator, else null. Null as well for an iterator of
  // another class that forwards its calls to a DBIterator.
  static DBIterator* From(Iterator* iterator);
  const ReadOptions& options() const { return options_; }
  const Comparator* user_comparator() const { return comparator_.user_comparator(); }
  const MergeOperator* merge_operator() const { return merge_.merge_operator; }
  // The prefix extractor of the family, whether the iterator uses it or not; null: none.
  std::shared_ptr<const SliceTransform> family_prefixes() const;
  // Shows the updates of the run on top of the database, beginning with the next seek. The run
  // outlives the iterator. Called at most once.
  void PutOnTop(NewestRun* newest);
  // Called before a move if the updates of the run have changed since the last move: the move
  // continues behind the key that is shown. No other call is allowed between this call and that
  // move.
  void PlaceNewestRun();

 private:
  // kFolded: forward, but the merging iterator has moved past the merge operands whose result is
  // shown.
  // kDerived: forward, on an entry whose stored value is not the value shown (entity, blob index).
  enum class Direction : uint8_t { kForward, kReverse, kFolded, kDerived };
  // The number of moves of one kind, and the number of them that ended on an entry.
  struct Steps {
    uint64_t made = 0;
    uint64_t found = 0;
  };

  // The name of a property whose value is the address of the DBIterator that answers. From()
  // compares it with the address of the iterator that was asked, because an iterator of another
  // class may pass the question on. The address is short enough for the string to need no
  // allocation.
  static constexpr const char* kAddressProperty = "ashlar.address";
  Status GetAddress(std::string* address) const;

  // Builds the merging iterator over all runs of view_ in arena_.
  void BuildTower();
  // Destroys the merging iterator before the view or the options that it refers to change.
  void DropTower();
  void RefreshIfAsked();
  void ChooseNumber(bool is_view_held);
  void LookBehind(const Slice& last);
  // A copy of the target if a refresh may happen. The target may be the key that is shown, whose
  // memory belongs to the tower that a refresh destroys.
  Slice KeptTarget(const Slice& target) {
    if (!options_.tailing && !options_.auto_refresh_iterator_with_snapshot) return target;
    target_.assign(target.data(), target.size());
    return target_;
  }
  void BeginSeek(Direction direction);
  void RecordSeek(TraceType type, const Slice& target) const;
  void RememberPrefix(const Slice& target);
  void SeekInternal(const Slice& user_key, SequenceNumber seqno);

  // db_iterator.cc
  void FindNextVisible(bool is_key_saved);
  // db_iterator_dead.cc: rows of tombstones
  void DecideOnDead();
  bool CheckKind(ValueType type);
  void SeekPastEmpty(const Slice& from);
  bool PassEmpty();
  void NoteBehindDead(ValueType type, const Slice& user_key);
  void EndDeadRun(const Slice* next);

  void PassHidden(const Slice& internal_key, uint64_t* steps);
  void PassRecent(const Slice& user_key, uint64_t* steps);
  void StepOverHidden(uint64_t* recent_steps);
  void FindPrevVisible();
  bool TakeNewestVersion();
  bool SeekNewestVersion();
  bool TakeVersion(bool* is_value);
  bool ShowTaken(bool is_value);
  bool IsVisible(SequenceNumber seqno) const;
  // Remembers a user key, which may be a part of saved_key_. Hot: most keys of a database have the
  // same length, and their bytes are then copied without the general code of std::string.
  void SaveKey(const Slice& key) {
    if (key.size() == saved_key_.size()) [[likely]] {
      std::memmove(saved_key_.data(), key.data(), key.size());
    } else {
      saved_key_.assign(key.data(), key.size());
    }
  }
  // True if a version may be visible although an older version of the key is not.
  bool SeesOutOfOrder() const { return callback_ != nullptr || newest_ != nullptr; }
  // The sequence number at which a seek meets the newest version that the iterator may see.
  SequenceNumber SeekSeqno() const { return newest_ == nullptr ? seqno_ : kMaxSequenceNumber; }
  void StepBeforeSavedKey();
  void SwitchToForward();
  void SwitchToReverse();

  // db_iterator_merge.cc
  bool GatherOperands(MergeBase* base, bool* has_base);
  void FoldForward(const Slice& user_key);
  bool FoldNewestVersion();
  bool Fold(const MergeBase* base, const std::vector<Slice>& oldest_first);

  // db_iterator_columns.cc
  void ShowEntityForward(const Slice& user_key);
  bool ShowEntity(const Slice& entity);

  // db_iterator_blob.cc
  void ShowBlobForward(const Slice& user_key);
  bool ShowBlob(const Slice& index);
  bool LoadBlob(const Slice& index);

  bool ReachedUpperBound(const Slice& user_key) const;
  bool BelowLowerBound(const Slice& user_key) const;
  bool LeftPrefix(const Slice& user_key) const;
  // Counts an entry that is passed. False after Fail(): max_skippable_internal_keys is exceeded.
  bool CountSkipped(uint64_t PerfContextBase::*counter);
  bool CountReplaced(const Slice& internal_key, bool is_value);
  // Fails the iterator when the user's limit on skipped entries is exceeded.
  bool IsWithinSkipLimit() {
    if (options_.max_skippable_internal_keys == 0 ||
        skipped_ <= options_.max_skippable_internal_keys) {
      return true;
    }
    Fail(Status::Incomplete("too many internal keys skipped"));
    return false;
  }
  void CountReseek();
  void CountStep(Steps* steps);
  void NextMeasured();
  void PrevMeasured();
  void ReportSteps();
  void ReportCounts() const;
  // Keeps the first error, and makes the iterator invalid.
  void Fail(Status status);

  ReadOptions options_;                     // the tower points to it
  MergeTools merge_;                        // the operator is that of the view's super version
  const ReadCallback* callback_;            // null: seqno_ alone decides
  const UndecidedTable* const undecided_;   // null: none
  const DecidedVersions::Own* const own_;   // null: none
  std::optional<DecidedVersions> decided_;  // the callback, if undecided_ makes it
  const std::unique_ptr<ReadTrace> own_trace_;
  ReadTrace* const trace_;            // null: no trace
  QueryTrace* const query_trace_;     // null: seeks are not recorded
  const uint32_t family_;             // for that record
  Statistics* const statistics_;      // null: off
  DeadRangeSink* const dead_ranges_;  // null: rows of tombstones are not reported
  ReadView view_;                     // keeps the memtables and files of the tower alive
  SequenceNumber seqno_;              // entries of the database above it are not shown
  const InternalKeyComparator comparator_;
  const SliceTransform* prefix_extractor_ = nullptr;  // the super version's; null: not needed
  // The number of versions of one key that are passed by single steps before a seek passes the
  // rest.
  uint64_t max_sequential_skip_ = 0;

  // The tower points to both of them.
  std::unique_ptr<ScannedBlocks> scanned_;  // null: no scans were announced
  WantedPrefix wanted_;

  NewestRun* newest_ = nullptr;  // null: none
  // Entries with this number or a higher one are of that run.
  SequenceNumber newest_seqno_ = kMaxSequenceNumber + 1;

  std::unique_ptr<Arena> arena_;
  std::unique_ptr<MergingIterator> merged_;

  bool valid_ = false;
  bool is_measured_ = false;  // statistics or times were wanted at the last seek
  bool is_checked_ = false;   // each entry is compared with a bound, a prefix or the callback
  Direction direction_ = Direction::kForward;
  Slice user_key_;         // forward: of the current entry, in the merging iterator's memory
  std::string saved_key_;  // forward: key to skip; otherwise: the key shown
  std::string saved_value_;
  bool saved_is_entity_ = false;  // saved_value_ is an entity's stored form
  bool saved_is_blob_ = false;    // saved_value_ is a blob index
  bool is_unprepared_ = false;    // saved_value_ is a blob index that PrepareValue() has to read
  // The key of the blob index as the table has it, because the blob file repeats it. With an order
  // of the program its bytes may differ from those of saved_key_.
  std::string blob_key_;
  PinnableSlice blob_value_;  // the value that was last read from a blob file
  // Not used if kForward. Else it points into saved_value_, blob_value_, an operand, the value
  // below the operands, or a default column.
  Slice shown_value_;
  bool shows_entity_ = false;  // not kForward: entity_columns_ belong to the entry shown
  WideColumns entity_columns_;
  mutable PlainColumn plain_column_;
  MergeOperands operands_;
  // The prefix of the seek's target. It may be empty, which is a prefix like any other. nullopt:
  // the target has no prefix, and only the bounds end the iteration.
  std::optional<std::string> prefix_;
  std::string target_;  // copy of the target of a seek that may refresh; see KeptTarget()
  std::string seek_key_;
  uint64_t skipped_ = 0;      // entries passed since the last one shown
  uint64_t skipped_sum_ = 0;  // of all measured moves; reported to the statistics at the end
  Status status_;

  // The least number of tombstones in a row that is reported to dead_ranges_; 0: rows are not
  // reported.
  uint32_t dead_least_ = 0;
  bool covers_dead_ = false;  // the sink leaves a range tombstone over a reported row
  // The number of entries in the current row of tombstones, which ends at saved_key_: point
  // tombstones, and entries hidden by range tombstones, that were passed by single steps.
  uint64_t dead_count_ = 0;
  std::string dead_begin_;               // the first key of that row
  EmptyRanges* empty_ranges_ = nullptr;  // ranges that a seek passes; null: not used
  std::string empty_end_;                // the end of the range that was found last

  // Added to the thread's perf context at the next seek or at the end.
  uint32_t nexts_to_report_ = 0;
  uint32_t prevs_to_report_ = 0;

  // Counted only while moves are measured, and reported to the statistics at the end.
  Steps seeks_;
  Steps nexts_;
  Steps prevs_;
  uint64_t bytes_shown_ = 0;
  uint64_t reseeks_ = 0;
};

}  // namespace ashlar
