// SPDX-License-Identifier: Apache-2.0
//
// PointLookup decides a point read: memtables and tables offer it the versions of one user key,
// newest first, and it says when nothing older matters.
//
// It lives on the stack of the reading thread, allocates nothing, and carries the counters of the
// operation, which the caller adds to the statistics once at the end. Not thread-safe.
//
// A value in a blob file is found as its blob index; whoever ran the lookup then reads it
// (db/read/blob_lookups.h). Merge operands decide nothing: the lookup gathers them, in memory it
// takes for the first one, and goes on to what is below. Whoever ran it then folds them
// (db/read/merge_resolution.h).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "table/iterator/merge_operands.h"
#include "util/hash/hash.h"
#include "util/keys/internal_key.h"
#include "util/keys/read_callback.h"

namespace ashlar {

class ReadTrace;

class PointLookup {
 public:
  enum class Outcome : uint8_t { kUndecided, kFound, kDeleted, kFailed };

  // Values up to this many bytes are copied: a counted reference costs more than the copy.
  static constexpr size_t kCopyBytes = kCopiedValueBytes;

  // `value` may be null when only the outcome matters. It must be freshly Reset().
  PointLookup(const LookupKey& key, PinnableSlice* value) : key_(key), value_(value) {}
  PointLookup(const PointLookup&) = delete;
  PointLookup& operator=(const PointLookup&) = delete;

  const LookupKey& key() const { return key_; }
  Outcome outcome() const { return outcome_; }
  bool decided() const { return outcome_ != Outcome::kUndecided; }
  // Where the value is, once found. Null: only the outcome matters.
  PinnableSlice* value() const { return value_; }
  // Why the lookup failed; OK unless outcome() is kFailed.
  const Status& status() const { return status_; }
  // A wide-column entity was found, and value() is its stored form. Readers that do not keep
  // entities get the default column instead, unless merge operands stand on it.
  bool is_entity() const { return is_entity_; }
  // A value was found whose blob index is in value(): it must be read, if it is wanted.
  bool is_blob_index() const { return is_blob_index_; }
  // The value is read, and in value().
  void FinishBlob() {
    assert(is_blob_index_ && outcome_ == Outcome::kFound);
    is_blob_index_ = false;
  }
  // A blob index or merge operands: what was found is not yet what the reader wants.
  bool is_unfinished() const { return is_unfinished_; }
  void KeepEntities() { keeps_entities_ = true; }
  bool keeps_entities() const { return keeps_entities_; }
  // Sequence number of the deciding version.
  SequenceNumber seqno() const { return seqno_; }

  // The sorted run that is searched next holds a range tombstone over the key with this sequence
  // number, which the reader sees; 0: none. Versions below it count as deleted, in this run and in
  // all older ones. Repeating it changes nothing.
  void Cover(SequenceNumber seqno) {
    assert(seqno <= key_.snapshot());
    if (seqno > covering_seqno_ && !ignores_tombstones_) covering_seqno_ = seqno;
  }
  // The same where find(upper_seqno) is the newest such tombstone at or below a number, or 0: the
  // newest one that the reader sees counts.
  template <typename Find>
  void CoverByNewest(const Find& find) {
    SequenceNumber seqno = find(key_.snapshot());
    if (callback_ != nullptr) [[unlikely]] {
      while (seqno != 0 && !callback_->IsVisible(seqno)) seqno = find(seqno - 1);
    }
    Cover(seqno);
  }
  bool is_covered() const { return covering_seqno_ != 0; }
  SequenceNumber covering_seqno() const { return covering_seqno_; }
  // The rest of the runs is older than a tombstone that covers the key: there is nothing to find.
  void EndCovered() {
    assert(is_covered() && !decided());
    seqno_ = covering_seqno_;
    outcome_ = Outcome::kDeleted;
  }
  // ReadOptions::ignore_range_deletions.
  void IgnoreTombstones() { ignores_tombstones_ = true; }

  // Hash of the user key as Bloom and Ribbon filters use it, computed on first use.
  uint64_t FilterHash() {
    if (!has_filter_hash_) {
      filter_hash_ = FilterHash64(key_.user_key);
      has_filter_hash_ = true;
    }
    return filter_hash_;
  }

  // Takes the next version of the key, whose trailer is at most key().trailer. Returns true when
  // the lookup is decided.
  bool Offer(uint64_t trailer, const Slice& value, const ValuePin& pin) {
    assert(!decided());
    seqno_ = TrailerSeqno(trailer);
    if (seqno_ < covering_seqno_) [[unlikely]] {
      EndCovered();
      return true;
    }
    switch (TrailerType(trailer | scrutiny_)) {
      case kTypeValue:
        outcome_ = Outcome::kFound;
        TakeValue(value, pin);
        return true;
      case kTypeDeletion:
      case kTypeSingleDeletion: outcome_ = Outcome::kDeleted; return true;
      default: return OfferUnusual(trailer, value, pin);
    }
  }

  // From now on only versions that the callback, which outlives the lookup, calls visible count.
  void SetCallback(const ReadCallback* callback) {
    callback_ = callback;
    scrutiny_ = callback == nullptr ? 0 : kEveryVersion;
  }

  // Who is told where the lookup is looked up; outlives it. Null, as nearly always: nobody.
  ReadTrace* trace() const { return trace_; }
  void SetTrace(ReadTrace* trace) { trace_ = trace; }

  bool has_callback() const { return callback_ != nullptr; }

  // What was gathered above the deciding version; null: no merge operand was met.
  MergeOperands* operands() const { return operands_.get(); }
  // The operands were folded and the result is in value().
  void FinishMerge(bool is_entity) {
    assert(operands_ != nullptr);
    assert(!is_entity || keeps_entities_);
    outcome_ = Outcome::kFound;
    is_entity_ = is_entity;
  }
  // What may end the history among the operands; outlives the lookup. Nobody but EndAtLimit() asks
  // it, outside of epochs.
  void SetOperandLimit(OperandLimit* limit) { operand_limit_ = limit; }
  // True if the limit ends the history at an operand: nothing older counts, as if it were deleted.
  bool EndAtLimit() {
    if (operands_ == nullptr || operand_limit_ == nullptr) [[likely]]
      return false;
    return EndAtLimitSlow();
  }

  // What a lookup has taken so far, for a reader that may have to begin a table anew.
  struct Mark {
    SequenceNumber seqno;
    size_t operand_count;
  };
  Mark mark() const {
    return {.seqno = seqno_, .operand_count = operands_ == nullptr ? 0 : operands_->count()};
  }
  void GoBackTo(const Mark& mark) {
    assert(!decided());
    seqno_ = mark.seqno;
    if (operands_ != nullptr) [[unlikely]]
      operands_->Truncate(mark.operand_count);
  }

  // Reads may not go on past an error: it must not look like an older value or an absent key.
  void Fail(Status status) {
    assert(!status.ok());
    outcome_ = Outcome::kFailed;
    status_ = std::move(status);
  }

  struct Counters {
    uint32_t filter_useful = 0;    // a filter of keys kept a file from being searched
    uint32_t filter_positive = 0;  // one let a lookup through
    uint32_t filter_true_positive = 0;
    uint32_t prefix_filter_useful = 0;  // the same for filters that hold prefixes only
    uint32_t prefix_filter_positive = 0;
    uint32_t prefix_filter_true_positive = 0;
    uint32_t memtable_filter_useful = 0;  // and for those of memtables
    uint32_t memtable_filter_positive = 0;
    uint32_t block_hits = 0;  // data blocks found in memory
    uint32_t block_misses = 0;
    uint32_t tables_probed = 0;
    uint64_t block_hit_bytes = 0;
    int32_t level = kNoLevel;  // of the table that decided the lookup
    static constexpr int32_t kNoLevel = -1;
  };
  Counters counters;

 private:
  void TakeValue(const Slice& value, const ValuePin& pin) {
    if (value_ == nullptr) return;
    if (value.size() <= kCopyBytes || pin.acquire == nullptr) {
      value_->PinSelf(value);
      return;
    }
    pin.acquire(pin.owner);
    value_->PinSlice(value, pin.release, pin.owner, nullptr);
  }
  bool EndAtLimitSlow();
  void OfferEntity(const Slice& entity, const ValuePin& pin);
  bool OfferUnusual(uint64_t trailer, const Slice& value, const ValuePin& pin);

  // Makes no kind of version usual: each goes through OfferUnusual().
  static constexpr uint8_t kEveryVersion = 0x80;

  const LookupKey& key_;                     // outlives the lookup
  PinnableSlice* value_;                     // null: only the outcome matters
  std::unique_ptr<MergeOperands> operands_;  // null: none met
  const ReadCallback* callback_ = nullptr;   // null: all versions offered are visible
  OperandLimit* operand_limit_ = nullptr;    // null: none
  ReadTrace* trace_ = nullptr;
  Status status_;
  SequenceNumber seqno_ = 0;           // of the version offered last
  SequenceNumber covering_seqno_ = 0;  // the greatest of the tombstones met so far; 0: none
  uint64_t filter_hash_ = 0;           // once has_filter_hash_
  bool has_filter_hash_ = false;
  bool ignores_tombstones_ = false;
  bool keeps_entities_ = false;
  bool is_entity_ = false;
  bool is_blob_index_ = false;
  bool is_unfinished_ = false;  // is_blob_index_, or operands were met
  uint8_t scrutiny_ = 0;        // or kEveryVersion; put into a trailer's kind
  Outcome outcome_ = Outcome::kUndecided;
};

}  // namespace ashlar
