// SPDX-License-Identifier: Apache-2.0
//
// DBIterator shows a column family to the user: of each user key the newest version that the
// snapshot sees, no deleted keys, within the bounds of the read options.
//
// Going forward, the merging iterator stands on the entry that is shown. Going backward, it stands
// before all versions of the key that is shown, whose key and value were copied. Of a key with many
// versions a few are passed by steps, then the rest by one seek. Where merge operands make the
// value (db_iterator_merge.cc), it stands behind them on the way forward, and key and value are
// copies too; of an entity (db_iterator_columns.cc) and of a value in a blob file
// (db_iterator_blob.cc) the key is. Threads: one at a time; columns()
// may be asked by many while nobody moves it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/perf_context.h"
#include "db/read/dead_ranges.h"
#include "db/read/merge_resolution.h"
#include "db/read/plain_column.h"
#include "db/read/read_view.h"
#include "db/search/wanted_prefix.h"
#include "table/iterator/merge_operands.h"
#include "table/iterator/merging_iterator.h"
#include "util/keys/internal_key.h"
#include "util/memory/arena.h"

namespace ashlar {

class EmptyRanges;
class ReadCallback;
class ReadTrace;
class ScannedBlocks;
class Statistics;

// What an iterator needs besides its options and its view. Pointers outlive it.
struct DBIteratorSetting {
  MergeTools merge;  // the operator is filled in; the statistics are the iterator's too
  const ReadCallback* callback = nullptr;  // null: none
  DeadRangeSink* dead_ranges = nullptr;    // null: nobody wants to know
  ReadTrace* trace = nullptr;              // is told where the iterator looks; null: nobody is
};

class DBIterator final : public Iterator {
 public:
  // If the read options name a snapshot, its number replaces the view's.
  DBIterator(const ReadOptions& options, ReadView view, const DBIteratorSetting& setting);
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

 private:
  // kFolded: forward, but the merging iterator has left the entries that are shown as one.
  // kDerived: forward, on an entry whose value follows from the one stored.
  enum class Direction : uint8_t { kForward, kReverse, kFolded, kDerived };
  // How often a step was made, and how often it ended on an entry.
  struct Steps {
    uint64_t made = 0;
    uint64_t found = 0;
  };

  void BuildTower();
  void DropTower();
  void RefreshIfAsked();
  // The key that is shown, which a target may be, goes with the tower that a refresh replaces.
  Slice KeptTarget(const Slice& target) {
    if (!options_.tailing && !options_.auto_refresh_iterator_with_snapshot) return target;
    target_.assign(target.data(), target.size());
    return target_;
  }
  void BeginSeek(Direction direction);
  void RememberPrefix(const Slice& target);
  void SeekInternal(const Slice& user_key, SequenceNumber seqno);

  void FindNextVisible(bool is_key_saved);
  // db_iterator_dead.cc
  void DecideOnDead();
  bool CheckKind(ValueType type);
  void SeekPastEmpty(const Slice& from);
  bool PassEmpty();
  void NoteBehindDead(ValueType type, const Slice& user_key);
  void EndDeadRun(const Slice* next);

  void PassHidden(const Slice& internal_key, uint64_t* steps);
  void PassRecent(const Slice& user_key, uint64_t* steps);
  void FindPrevVisible();
  bool TakeNewestVersion();
  bool SeekNewestVersion();
  bool TakeVersion(bool* is_value);
  bool ShowTaken(bool is_value);
  bool IsVisible(SequenceNumber seqno) const;
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
  bool CountSkipped(uint64_t PerfContextBase::*counter);
  void CountReseek();
  void CountStep(Steps* steps);
  void NextMeasured();
  void PrevMeasured();
  void ReportSteps();
  void ReportCounts() const;
  void Fail(Status status);

  ReadOptions options_;                 // the tower points to it
  MergeTools merge_;                    // the operator is the view's
  const ReadCallback* const callback_;  // null: seqno_ alone decides
  ReadTrace* const trace_;              // null: nobody is told
  Statistics* const statistics_;        // null: off
  DeadRangeSink* const dead_ranges_;    // null: nobody wants to know
  ReadView view_;                       // what the tower stands on
  SequenceNumber seqno_;                // of the newest entries that are shown
  const InternalKeyComparator comparator_;
  const SliceTransform* prefix_extractor_ = nullptr;  // the view's; null: nobody asks
  uint64_t max_sequential_skip_ =
      0;  // versions of one key passed by steps; then a seek passes them

  // The tower points to both.
  std::unique_ptr<ScannedBlocks> scanned_;  // null: no scans were announced
  WantedPrefix wanted_;

  std::unique_ptr<Arena> arena_;
  std::unique_ptr<MergingIterator> merged_;

  bool valid_ = false;
  bool is_measured_ = false;  // statistics, or times as of the last seek
  bool is_checked_ = false;   // a bound, a prefix, a callback or tombstones must be looked at
  Direction direction_ = Direction::kForward;
  Slice user_key_;         // forward: of the current entry, in the merging iterator's memory
  std::string saved_key_;  // forward: key to skip; otherwise: the key shown
  std::string saved_value_;
  bool saved_is_entity_ = false;  // saved_value_ is an entity's stored form
  bool saved_is_blob_ = false;    // or a blob index
  bool is_unprepared_ = false;    // saved_value_ is the blob index of what PrepareValue() loads
  PinnableSlice blob_value_;      // read last
  // Unless kForward: saved_value_, blob_value_, an operand, the value below the operands, or a
  // default column.
  Slice shown_value_;
  bool shows_entity_ = false;  // unless kForward: entity_columns_ are what is shown
  WideColumns entity_columns_;
  mutable PlainColumn plain_column_;
  MergeOperands operands_;
  // Of the seek's target; may be empty, which is a prefix like any other. Nothing if the target has
  // none: then only the bounds end the iteration.
  std::optional<std::string> prefix_;
  std::string target_;  // of a seek that may refresh
  std::string seek_key_;
  uint64_t skipped_ = 0;      // entries, since the last one shown
  uint64_t skipped_sum_ = 0;  // of all steps; told to the statistics
  Status status_;

  // So many tombstones in a row are worth telling; 0: none are.
  uint32_t dead_least_ = 0;
  bool covers_dead_ = false;  // a range tombstone is to be left there
  // Tombstones, and entries that a range tombstone hides, of the row up to saved_key_: those that
  // were stepped over.
  uint64_t dead_count_ = 0;
  std::string dead_begin_;               // its first key
  EmptyRanges* empty_ranges_ = nullptr;  // to be passed by a seek; null: none are
  std::string empty_end_;

  // Told to the thread's perf context at the next seek or at the end.
  uint32_t nexts_to_report_ = 0;
  uint32_t prevs_to_report_ = 0;

  // Kept only while steps are measured, and told to the statistics at the end.
  Steps seeks_;
  Steps nexts_;
  Steps prevs_;
  uint64_t bytes_shown_ = 0;
  uint64_t reseeks_ = 0;
};

}  // namespace ashlar
