// SPDX-License-Identifier: Apache-2.0
//
// Splits a write batch at the markers of two-phase commit. A record of a log may hold the batches
// of several writers, one after the other, so a batch may hold any sequence of ordinary updates,
// whole prepare sections, and decisions.
//
// The bytes may come from a disk; malformed bytes are Corruption. Parts refer to the batch's bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "db/write/sub_batches.h"
#include "util/keys/internal_key.h"

namespace ashlar {

struct WriteBatchPart {
  enum class Kind : uint8_t {
    kUpdates,   // outside of a prepare section, perhaps none that is counted
    kSection,   // from its begin marker to its end marker
    kCommit,    // the marker alone
    kRollback,  // likewise
  };
  Kind kind = Kind::kUpdates;
  // kSection: the begin marker, which tells the write policy. kCommit: with a timestamp or without.
  ValueType marker = kTypeNoop;
  Slice records;       // the bytes of the part
  Slice xid;           // empty for kUpdates
  uint32_t count = 0;  // counted records
  // kUpdates: whether the last record is a Noop behind a counted record. The policies
  // write-prepared and write-unprepared end batches without another marker so.
  bool ends_with_noop = false;
};

// The policy of a prepare section, by its begin marker.
inline bool IsWrittenBeforeCommit(ValueType begin_marker) {
  return begin_marker == kTypeBeginPersistedPrepareXID || begin_marker == kTypeBeginUnprepareXID;
}

// The record in front of a prepare section that is logged again, in a later log than before: log
// data, which every reader ignores. Replay needs it to tell such a section from a new transaction
// with the same name and contents.
std::string LoggedAgainRecord();
// Whether the batch holds such a section whose data was written before its commit: the data is in
// tables, and the sequence number of the batch is that of the data, which is older than the log.
bool IsLoggedAgain(const Slice& batch);

// Whether the batch holds a marker of two-phase commit, or ends as batches of the policies
// write-prepared and write-unprepared do. False also for malformed bytes, which SplitBatch()
// reports.
bool HasTwoPhaseMarker(const Slice& batch);

// Whether the updates of a batch outside of prepare sections are those of write-prepared or
// write-unprepared transactions: the records of a sub-batch share a sequence number. Where a
// decision follows, that of the section decides instead.
bool AreNumberedBySubBatch(const std::vector<WriteBatchPart>& parts);

// In the order of the batch. Also checks the count in the header.
Status SplitBatch(const Slice& batch, std::vector<WriteBatchPart>* parts);

// Counts the sequence numbers that the batches of a log take, read one after the other. With the
// policy write-committed a prepare section takes none, and its commit takes those of its updates.
// With the others a section, a plain batch and a decision with what stands before it take one
// number for each sub-batch, and at least one.
class NumberCounter {
 public:
  // For sub-batches; may be empty.
  explicit NumberCounter(ComparatorOfFamily comparator_of = {})
      : comparator_of_(std::move(comparator_of)) {}

  struct Numbers {
    uint64_t count = 0;
    // False: the batch commits a section that was not read; `count` is without its updates.
    bool is_exact = true;
    bool has_marker = false;  // see HasTwoPhaseMarker()
  };
  // How many the batch takes. Malformed batches count by their header.
  Numbers Take(const Slice& batch);
  void Forget() { sections_.clear(); }
  // The section is decided, although no decision was read.
  void Forget(const std::string& xid) { sections_.erase(xid); }

 private:
  struct Section {
    uint32_t count = 0;  // of updates
    bool is_written_before_commit = false;
  };
  // The numbers of the updates at [i], and of the decision behind them; moves *i behind both.
  void TakeUpdates(const Slice& batch, bool are_by_sub_batch, size_t* i, Numbers* numbers);
  uint64_t SubBatchesOf(const Slice& batch, const WriteBatchPart& part) const;

  const ComparatorOfFamily comparator_of_;
  bool has_seen_others_ = false;                          // data that was written before its commit
  std::map<std::string, Section, std::less<>> sections_;  // undecided ones, by name
  std::vector<WriteBatchPart> parts_;                     // kept for its memory
};

}  // namespace ashlar
