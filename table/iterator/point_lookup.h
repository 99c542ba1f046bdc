// SPDX-License-Identifier: Apache-2.0
//
// PointLookup decides a point read: memtables and tables offer it the versions of one user key,
// newest first, and it decides when older versions cannot matter.
//
// It lives on the stack of the reading thread, allocates nothing (except memory for merge
// operands), and holds the counters of the operation, which the caller adds to the statistics once
// at the end. Not thread-safe.
//
// If the value is in a blob file, the lookup finds its blob index, and the caller reads the value
// afterwards (db/read/blob_lookups.h). A merge operand does not decide the lookup: the lookup
// collects operands and continues with older versions. The caller merges them afterwards
// (db/read/merge_resolution.h).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

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

  // Values up to this many bytes are copied, because a counted reference costs more than the copy.
  static constexpr size_t kCopyBytes = kCopiedValueBytes;

  // `value` may be null if only the outcome matters; otherwise it must be empty. `key` outlives the
  // lookup.
  PointLookup(const LookupKey& key, PinnableSlice* value) : key_(key), value_(value) {}
  PointLookup(const PointLookup&) = delete;
  PointLookup& operator=(const PointLookup&) = delete;

  const LookupKey& key() const { return key_; }
  Outcome outcome() const { return outcome_; }
  bool decided() const { return outcome_ != Outcome::kUndecided; }
  // Where the value is once it was found. Null: only the outcome matters.
  PinnableSlice* value() const { return value_; }
  // The error of the lookup; OK unless outcome() is kFailed.
  const Status& status() const { return status_; }
  // True if a wide-column entity was found, and value() is its stored form. Without KeepEntities()
  // a reader gets the default column instead, unless there are merge operands above the entity.
  bool is_entity() const { return is_entity_; }
  // True if value() is a blob index: the caller must read the value if it is needed.
  bool is_blob_index() const { return is_blob_index_; }
  // The user key of the blob index as the table has it, because the blob file repeats it. With an
  // order of the program its bytes may differ from those of key().
  Slice stored_key() const { return stored_key_ == nullptr ? key_.user_key : Slice(*stored_key_); }
  bool has_other_stored_key() const { return stored_key_ != nullptr; }
  void NoteStoredKey(const Slice& user_key) {
    assert(is_blob_index_);
    if (user_key == key_.user_key) return;
    stored_key_ = std::make_unique<const std::string>(user_key.data(), user_key.size());
  }
  // Called when the value was read and value() holds it.
  void FinishBlob() {
    assert(is_blob_index_);
    assert(outcome_ == Outcome::kFound);
    is_blob_index_ = false;
  }
  // True if a blob index or merge operands were found, so the value is not complete yet.
  bool is_unfinished() const { return is_unfinished_; }
  // The reader wants entities in their stored form.
  void KeepEntities() { keeps_entities_ = true; }
  bool keeps_entities() const { return keeps_entities_; }
  // The sequence number of the deciding version.
  SequenceNumber seqno() const { return seqno_; }

  // Called before a sorted run is searched: a range tombstone of this run covers the key, is
  // visible to the reader, and has this sequence number; 0: there is none. Versions below it count
  // as deleted, in this run and in all older ones. Calling it again with the same number changes
  // nothing.
  void Cover(SequenceNumber seqno) {
    assert(seqno <= key_.snapshot());
    if (seqno > covering_seqno_ && !ignores_tombstones_) covering_seqno_ = seqno;
  }
  // The same, with the newest tombstone that the reader sees. find(upper_seqno) returns the number
  // of the newest tombstone at or below a number, or 0.
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
  // Decides that the key is deleted, because all remaining runs are older than a tombstone that
  // covers it.
  void EndCovered() {
    assert(is_covered());
    assert(!decided());
    seqno_ = covering_seqno_;
    outcome_ = Outcome::kDeleted;
  }
  // ReadOptions::ignore_range_deletions.
  void IgnoreTombstones() { ignores_tombstones_ = true; }

  // The hash of the user key for Bloom and Ribbon filters; computed at the first call.
  uint64_t FilterHash() {
    if (!has_filter_hash_) {
      filter_hash_ = FilterHash64(key_.user_key);
      has_filter_hash_ = true;
    }
    return filter_hash_;
  }

  // Takes the next older version of the key, whose trailer is at most key().trailer. True if the
  // lookup is decided.
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

  // From now on only versions that are visible for the callback count. The callback outlives the
  // lookup.
  void SetCallback(const ReadCallback* callback) {
    callback_ = callback;
    scrutiny_ = callback == nullptr ? 0 : kEveryVersion;
  }

  // The trace that is notified of each place in which the lookup searches; it outlives the lookup.
  // Null in nearly all lookups: there is no trace.
  ReadTrace* trace() const { return trace_; }
  void SetTrace(ReadTrace* trace) { trace_ = trace; }

  bool has_callback() const { return callback_ != nullptr; }

  // The merge operands above the deciding version; null if there are none.
  MergeOperands* operands() const { return operands_.get(); }
  // Called when the operands were merged and value() holds the result.
  void FinishMerge(bool is_entity) {
    assert(operands_ != nullptr);
    assert(!is_entity || keeps_entities_);
    outcome_ = Outcome::kFound;
    is_entity_ = is_entity;
  }
  // Sets a limit that may end the history at an operand; it outlives the lookup. Only EndAtLimit()
  // calls it, outside of epochs.
  void SetOperandLimit(OperandLimit* limit) { operand_limit_ = limit; }
  // True if the limit ends the history at an operand: older versions do not count, as if they were
  // deleted.
  bool EndAtLimit() {
    if (operands_ == nullptr || operand_limit_ == nullptr) [[likely]]
      return false;
    return EndAtLimitSlow();
  }

  // The state of a lookup before it searches a table, for a reader that may have to search the
  // table again.
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

  // Ends the lookup with an error. A read must not continue after an error, because it could return
  // an older value or miss the key.
  void Fail(Status status) {
    assert(!status.ok());
    outcome_ = Outcome::kFailed;
    status_ = std::move(status);
  }

  // Copies or pins a value for a reader.
  static void Keep(const Slice& value, const ValuePin& pin, PinnableSlice* kept) {
    if (value.size() <= kCopyBytes || pin.acquire == nullptr) {
      kept->PinSelf(value);
      return;
    }
    pin.acquire(pin.owner);
    kept->PinSlice(value, pin.release, pin.owner, nullptr);
  }

  // Counters of one lookup; the caller adds them to the statistics.
  struct Counters {
    uint32_t filter_useful = 0;         // a filter of whole keys rejected the key
    uint32_t filter_positive = 0;       // such a filter let the key through
    uint32_t filter_true_positive = 0;  // and the table had a version of the key
    uint32_t prefix_filter_useful = 0;  // the same for filters that contain prefixes only
    uint32_t prefix_filter_positive = 0;
    uint32_t prefix_filter_true_positive = 0;
    uint32_t memtable_filter_useful = 0;  // the same for filters of memtables
    uint32_t memtable_filter_positive = 0;
    uint32_t block_hits = 0;  // data blocks found in memory
    uint32_t block_misses = 0;
    uint32_t tables_probed = 0;  // tables that were asked, filters included
    uint64_t block_hit_bytes = 0;
    int32_t level = kNoLevel;  // the level of the table that decided the lookup
    static constexpr int32_t kNoLevel = -1;
  };
  Counters counters;

 private:
  // Keeps the value, unless only the outcome matters.
  void TakeValue(const Slice& value, const ValuePin& pin) {
    if (value_ != nullptr) Keep(value, pin, value_);
  }
  // EndAtLimit() if there are operands and a limit.
  bool EndAtLimitSlow();
  void OfferEntity(const Slice& entity, const ValuePin& pin);
  // All kinds of versions other than plain values and deletions, and every version if there is a
  // callback.
  bool OfferUnusual(uint64_t trailer, const Slice& value, const ValuePin& pin);

  // OR-ed to the kind of a version so that no kind is usual, and each goes through OfferUnusual().
  static constexpr uint8_t kEveryVersion = 0x80;

  const LookupKey& key_;                     // outlives the lookup
  PinnableSlice* value_;                     // null: only the outcome matters
  std::unique_ptr<MergeOperands> operands_;  // null: no operand was found
  // Null: its bytes are those of key_.
  std::unique_ptr<const std::string> stored_key_;
  const ReadCallback* callback_ = nullptr;  // null: all offered versions are visible
  OperandLimit* operand_limit_ = nullptr;   // null: none
  ReadTrace* trace_ = nullptr;
  Status status_;
  SequenceNumber seqno_ = 0;           // of the version that was offered last
  SequenceNumber covering_seqno_ = 0;  // the greatest number passed to Cover(); 0: none
  uint64_t filter_hash_ = 0;           // valid if has_filter_hash_
  bool has_filter_hash_ = false;
  bool ignores_tombstones_ = false;
  bool keeps_entities_ = false;
  bool is_entity_ = false;
  bool is_blob_index_ = false;
  bool is_unfinished_ = false;  // is_blob_index_, or operands were found
  uint8_t scrutiny_ = 0;        // 0 or kEveryVersion
  Outcome outcome_ = Outcome::kUndecided;
};

}  // namespace ashlar
