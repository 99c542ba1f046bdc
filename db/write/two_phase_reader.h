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
  // kSection: the begin marker, which shows the write policy. kCommit: the kind of the commit
  // marker, with or without a timestamp.
  ValueType marker = kTypeNoop;
  Slice records;       // the bytes of the part
  Slice xid;           // empty for kUpdates
  uint32_t count = 0;  // counted records
  // kUpdates: whether the last record is a Noop after a counted record. Batches of the policies
  // write-prepared and write-unprepared without another marker end in this way.
  bool ends_with_noop = false;
};

// The policy of a prepare section, by its begin marker.
inline bool IsWrittenBeforeCommit(ValueType begin_marker) {
  return begin_marker == kTypeBeginPersistedPrepareXID || begin_marker == kTypeBeginUnprepareXID;
}

// The record that precedes a prepare section when the section is logged a second time, in a later
// log. It is log data, which readers ignore. Replay needs it to distinguish such a section from a
// new transaction with the same name and contents.
std::string LoggedAgainRecord();
// Whether the batch holds a section that is logged a second time and whose data was written before
// its commit. Then the data is in tables already, and the sequence number of the batch is that of
// the data: it is older than the log.
bool IsLoggedAgain(const Slice& batch);

// Whether the batch holds a marker of two-phase commit, or ends with a Noop like batches of the
// policies write-prepared and write-unprepared. Also false for malformed bytes, whose error
// SplitBatch() reports.
bool HasTwoPhaseMarker(const Slice& batch);

// How the updates of a log record outside of prepare sections took sequence numbers.
enum class UpdateNumbering : uint8_t {
  kByRecord,    // one for each update: write-committed
  kBySubBatch,  // one for each sub-batch: write-prepared and write-unprepared
  // The bytes mean both. RocksDB joins the batches of a write group in one record and marks their
  // borders only under the second kind, with a Noop. So updates directly before a rollback can be
  // the compensations of that rollback, or batches of others that share its record. If the prepare
  // section was read, its begin marker tells; it may be in a log that is gone.
  //
  // Such updates are replayed by sub-batch: all versions of a key keep their order, and no update
  // gets a number above its own one.
  kUnknown,
};

// Returns the parts in the order of the batch, and checks the count in the header.
Status SplitBatch(const Slice& batch, std::vector<WriteBatchPart>* parts);

// Counts the sequence numbers that the batches of a log take. The batches must be passed in the
// order of the log. Under the policy write-committed a prepare section takes no numbers, and its
// commit takes one for each update of the section. Under the other policies each of the following
// takes one number per sub-batch, and at least one: a section, a plain batch, and a decision
// together with the updates before it.
//
// The policy of a decision is that of its section. If the section was not read, it is the policy of
// the last section that was read, since a database has one policy for all its transactions. If
// there is none, the numbers are known as a range.
class NumberCounter {
 public:
  // `comparator_of` is used to find sub-batches; it may be empty.
  explicit NumberCounter(ComparatorOfFamily comparator_of = {})
      : comparator_of_(std::move(comparator_of)) {}

  struct Numbers {
    uint64_t count = 0;  // at least
    uint64_t most = 0;   // differs from `count` only for UpdateNumbering::kUnknown
    // False: the batch commits a section that was not read, and neither `count` nor `most` includes
    // the updates of that section.
    bool is_exact = true;
    bool has_marker = false;  // see HasTwoPhaseMarker()
    // Of the updates that do not belong to a decision of a known section.
    UpdateNumbering numbering = UpdateNumbering::kByRecord;

    void Add(uint64_t numbers) {
      count += numbers;
      most += numbers;
    }
  };
  // Returns how many numbers the batch takes. For a malformed batch this is the count in its
  // header.
  Numbers Take(const Slice& batch);
  // Forgets all undecided sections.
  void Forget() { sections_.clear(); }
  // Forgets one section, which is decided although its decision was not read.
  void Forget(const std::string& xid) { sections_.erase(xid); }

 private:
  struct Section {
    uint32_t count = 0;  // of updates
    bool is_written_before_commit = false;
  };
  using Sections = std::map<std::string, Section, std::less<>>;
  Sections::iterator FindSection(const WriteBatchPart& part);
  UpdateNumbering NumberingOfParts();
  // Adds the numbers of the updates at index *i, if there are any, and of the decision after them.
  // Moves *i behind both.
  void TakeUpdates(const Slice& batch, size_t* i, Numbers* numbers);
  void TakeDecision(const Slice& batch, const WriteBatchPart* updates,
                    const WriteBatchPart& decision, Numbers* numbers);
  void AddUpdates(const Slice& batch, const WriteBatchPart& updates, UpdateNumbering numbering,
                  Numbers* numbers) const;
  uint64_t SubBatchesOf(const Slice& batch, const WriteBatchPart& part) const;

  const ComparatorOfFamily comparator_of_;
  UpdateNumbering of_sections_ = UpdateNumbering::kUnknown;  // of the last section that was read
  bool has_seen_noop_ = false;         // whether some batch ended with a Noop after updates
  Sections sections_;                  // undecided ones, by name
  std::vector<WriteBatchPart> parts_;  // reused, so that its memory is kept
};

}  // namespace ashlar
