// SPDX-License-Identifier: Apache-2.0
//
// StampedIterator shows a column family whose keys have timestamps: of each user key the first
// version in the stored order (newest timestamp first) that is neither newer than the timestamp at
// which it reads nor above its sequence number. With ReadOptions::iter_start_ts it shows every such
// version down to that timestamp, tombstones included. Point reads use it for keys that StampedRead
// cannot decide.
//
// The merging iterator stands on the version that decided what is shown, or behind it, whichever
// direction the last move had: a move forwards passes the other versions of the key, and a move
// backwards is a seek to the entry in front of the key and a second seek to the newest version
// there. A tailing iterator takes a new view at each seek, and again at its end. Timestamps may be
// written in any order, so no reader may stop at the newest run that knows
// a key. Threads: one at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/perf_context.h"
#include "ashlar/trace_record.h"
#include "db/read/merge_resolution.h"
#include "db/read/plain_column.h"
#include "db/read/read_view.h"
#include "table/iterator/merge_operands.h"
#include "table/iterator/merging_iterator.h"
#include "table/iterator/read_trace.h"
#include "util/keys/internal_key.h"
#include "util/memory/arena.h"

namespace ashlar {

class QueryTrace;

// InvalidArgument unless the options have timestamps of the right size that are not below
// `full_history_ts_low`, the timestamp below which versions may be missing (empty: none is).
Status CheckReadTimestamp(const InternalKeyComparator& comparator, const ReadOptions& options,
                          const std::string& full_history_ts_low);

class StampedIterator final : public Iterator {
 public:
  struct Setting {
    MergeTools merge;                   // merge_operator is ignored
    QueryTrace* query_trace = nullptr;  // records the seeks; outlives the iterator; null: none
    uint32_t family = 0;                // for that record
    bool skips_memtables = false;
    // For Lookup() and GetOperands() only: tables whose filter excludes the key are not read.
    bool is_lookup = false;
    ReadTrace* trace = nullptr;  // notified of the moves; outlives the iterator; null: none
  };
  // What a lookup of one key has found.
  enum class Found : uint8_t { kNothing, kTombstone, kValue };

  // The options have passed CheckReadTimestamp(). Their bounds and timestamps are copied; a
  // snapshot outlives the iterator.
  StampedIterator(const ReadOptions& options, ReadView view, const Setting& setting);
  ~StampedIterator() override;

  // Searches one user key. timestamp() is that of the version found, also of a tombstone. The key
  // is shown (Valid()) only if a value was found.
  Found Lookup(const Slice& user_key);
  // Hands out the operands of one user key as HandOut() does (merge_resolution.h): from the version
  // that Lookup() would find to the value below it.
  Status GetOperands(const Slice& user_key, const GetMergeOperandsOptions& options,
                     PinnableSlice* operands, int* count);
  // The key of the version that the last move or lookup has found, with its timestamp.
  Slice stored_key() const { return shown_; }
  uint64_t stored_trailer() const { return shown_trailer_; }
  // Keeps the trace of the setting as long as the iterator.
  void Own(std::unique_ptr<ReadTrace> trace) { own_trace_ = std::move(trace); }
  // The stored form of the columns that are shown; null if a plain value is shown.
  const Slice* stored_entity() const { return shows_entity_ ? &stored_entity_ : nullptr; }

  // Whether the value that a lookup has found was merged from more operands than
  // merge_operand_count_threshold.
  bool HasManyOperands() const {
    return options_.merge_operand_count_threshold.has_value() &&
           operands_.count() > *options_.merge_operand_count_threshold;
  }

  bool Valid() const override { return valid_; }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override;
  void Prev() override;
  Slice key() const override;
  Slice value() const override { return shown_value_; }
  const WideColumns& columns() const override;
  Slice timestamp() const override { return comparator_.StampOf(shown_); }
  Status status() const override;
  Status Refresh() override { return Refresh(nullptr); }
  Status Refresh(const Snapshot* snapshot) override;
  Status GetProperty(std::string prop_name, std::string* prop) override;

 private:
  bool shows_versions() const { return !start_stamp_.empty(); }

  void CopyStampsAndBounds(const ReadOptions& options);
  void BuildTower();
  bool BeginSeek();
  void BeginMove();
  void LookBehind(const std::string& last_internal);
  void RecordSeek(TraceType type, const Slice& target) const;
  void RememberPrefix(const Slice& target);
  void SeekNewestOf(const Slice& stored);
  void SeekBefore(const Slice& stored);

  // Show the next key (version) from the position of the merging iterator on, or the last one in
  // front of it.
  void FindForwards();
  void FindBackwards();
  bool IsWhole(const Slice& stored);
  bool TakeKey(const Slice& stored);
  bool PassTooNew(const Slice& stored, uint64_t* steps);
  void PassRestOfKey();
  bool IsOutside(const Slice& stored) const;
  bool CountSkipped();

  // Decides about the versions of `shown_`, which begin at the merging iterator's entry at the
  // latest.
  Found Decide();
  Found DecideAt(uint64_t trailer);
  // Show the value of the entry at which the merging iterator is. False after Fail().
  bool ShowEntity(const Slice& entity);
  bool LoadBlob(const Slice& stored, const Slice& index);
  bool ShowFolded();
  bool GatherOperands(OperandLimit* limit, MergeBase* base, bool* has_base);

  // Used with ReadOptions::iter_start_ts, which makes the iterator show all versions of a key.
  void FindVersionForwards();
  void FindVersionBackwards();
  bool ShowVersion();
  bool IsInHistory(const Slice& stored, uint64_t trailer) const;

  void Fail(Status status);

  ReadOptions options_;  // its slices are the members below
  MergeTools merge_;
  QueryTrace* const query_trace_;
  const uint32_t family_;
  const bool skips_memtables_;
  const bool is_lookup_;
  ReadTrace* const trace_;
  std::unique_ptr<ReadTrace> own_trace_;  // null, or trace_
  ReadView view_;
  SequenceNumber seqno_;
  const InternalKeyComparator comparator_;
  const SliceTransform* prefix_extractor_ = nullptr;  // null: the prefix does not end the scan
  uint64_t max_sequential_skip_ = 0;

  std::string read_stamp_, start_stamp_;   // the second one is empty without iter_start_ts
  std::string lower_bound_, upper_bound_;  // stored keys in front of all versions of the bounds
  Slice read_stamp_slice_, lower_slice_, upper_slice_;

  std::unique_ptr<Arena> arena_;
  std::unique_ptr<MergingIterator> merged_;

  bool valid_ = false;
  std::string shown_;           // the stored key that is shown, or was decided last
  uint64_t shown_trailer_ = 0;  // of that version
  std::string shown_internal_;  // with iter_start_ts: the internal key that is shown
  Slice shown_value_;           // in the merging iterator's memory or in one of the next three
  std::string folded_;
  PinnableSlice blob_value_;
  MergeOperands operands_;
  WideColumns entity_columns_;
  Slice stored_entity_;  // what entity_columns_ was decoded from
  bool shows_entity_ = false;
  mutable PlainColumn plain_column_;
  std::optional<std::string> prefix_;
  std::string seek_key_;
  Slice wanted_key_;  // of a lookup: the user key without a timestamp
  uint64_t skipped_ = 0;
  Status status_;
};

}  // namespace ashlar
