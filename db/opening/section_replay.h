// SPDX-License-Identifier: Apache-2.0
//
// SectionReplay applies those batches of a log that take part in two-phase commit. It keeps prepare
// sections until a marker decides them, and passes everything that must be inserted to the
// ReplayInserter, with the original sequence numbers. Sections without a decision at the end are
// returned to the caller. The rules are in docs/formats/write_batch.md, section 4.
//
// A section of the policy write-committed is inserted when its commit is read. Sections of the
// other policies are inserted at once, with their own numbers; the table of undecided transactions
// hides them until their decision is read. If such a section was logged again, it is not inserted a
// second time, because tables have its data.
//
// Threads: the one that opens.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "db/opening/replay_inserter.h"
#include "db/state/prepared_logs.h"
#include "db/transaction/visibility/undecided.h"
#include "db/write/two_phase_reader.h"
#include "util/keys/file_number.h"
#include "util/threads/mutex.h"

namespace ashlar {

// The state of all transactions at the current position in the logs.
class SectionReplay {
 public:
  // A section without a decision.
  struct FoundSection {
    std::unique_ptr<OwnedSection> section;
    FileNumber log = 0;
    SequenceNumber seqno = 0;  // of the batch, or of its data if that was inserted
  };

  // All arguments outlive the object. `is_allowed` false: the database is opened without two-phase
  // commit, so a prepare section is an error. `undecided` gets the data that is inserted before its
  // decision. `families` provides the comparators and does not change during the replay.
  SectionReplay(bool is_allowed, ReplayInserter* inserter, UndecidedTable* undecided,
                const FamilySet* families);
  // Uses another inserter from now on.
  void UseInserter(ReplayInserter* inserter) { inserter_ = inserter; }

  // How many sequence numbers the batch takes in the log. Call it once for each batch, before
  // Apply(), also if the batch is not applied. Malformed batches, which Apply() refuses, count by
  // their header.
  NumberCounter::Numbers NumbersOf(const Slice& batch);
  // Applies the batch. NotSupported for a prepare section without two-phase commit or of another
  // policy. Corruption if the batch is malformed, or if a name is prepared again with other
  // contents.
  Status Apply(const Slice& batch, const ReplaySource& source, uint64_t offset);
  // To be called if the logs that decided all sections so far were deleted.
  void ForgetSections();
  // To be called if logs are missing that may have decided some of the sections so far. These stay
  // undecided, and their names may be used again. False if there are none.
  bool NoteMissingLogs();
  // To be called if the MANIFEST says that logs below this one are not needed. The sections in them
  // were decided, or logged again, or their prepare has failed.
  void ForgetSectionsBefore(FileNumber log);
  // The same for data that was inserted; to be called when all logs are read. `seqno` is a number
  // that is not visible yet. Returns the number at which the last of the data was decided, `seqno`
  // or a greater one, up to which everything must become visible next; 0: there was no such data.
  SequenceNumber DecideBefore(FileNumber log, SequenceNumber seqno);
  // The sections without a decision, in the order of the logs. Those of one write-unprepared
  // transaction follow each other; the last one is its prepare, if it was prepared.
  std::vector<FoundSection> TakeUndecided();

 private:
  // A section whose decision has not been read yet.
  struct Section {
    uint64_t index = 0;  // position in the order of the logs
    ValueType marker = kTypeNoop;
    FileNumber log = 0;
    SequenceNumber seqno = 0;
    uint32_t count = 0;
    std::string records;  // including the markers
    // The section was logged again after its decision; see SetAside(). It does not count as
    // undecided.
    bool is_decided = false;
    bool may_be_decided = false;  // the decision may have been in a missing log
    UndecidedRef entry;           // hides the inserted data; null if nothing is inserted
  };
  // The sections of one transaction; more than one only under the policy write-unprepared.
  using Sections = std::vector<Section>;
  Status ApplyParts(const std::vector<WriteBatchPart>& parts, SequenceNumber seqno,
                    const ReplaySource& source, uint64_t offset);
  Status Insert(SequenceNumber seqno, uint32_t count, const Slice& records, uint64_t offset);
  // Inserts the records of `part` by sub-batches. Adds the numbers that it takes to *seqno.
  Status InsertSubBatches(const WriteBatchPart& part, uint64_t offset, SequenceNumber* seqno,
                          bool is_inserted);
  Status SetAside(const WriteBatchPart& part, SequenceNumber seqno, FileNumber log, bool is_again);
  Status ApplyWritten(const WriteBatchPart& part, bool is_again, FileNumber log, uint64_t offset,
                      SequenceNumber* seqno);
  Status ApplyDecision(const WriteBatchPart* updates, const WriteBatchPart& decision,
                       FileNumber log, uint64_t offset, SequenceNumber* seqno);
  void NoteDecision(const Slice& xid, FileNumber log);
  // Removes the sections of one name, which a missing log has decided.
  static void Forget(Sections* sections);
  void ForgetDecisions();
  bool IsDecided(const Slice& xid) const;

  const bool is_allowed_;
  ReplayInserter* inserter_;
  UndecidedTable* const undecided_;
  const ComparatorOfFamily comparator_of_;
  NumberCounter counter_;
  UpdateNumbering numbering_ = UpdateNumbering::kByRecord;  // of the batch that was last counted
  const char* plain_batch_ = nullptr;                       // that batch, if it holds no marker
  std::map<std::string, Sections, std::less<>> sections_;   // by the names of the transactions
  uint64_t next_index_ = 0;
  // The names that were decided in one log: the last log with decisions, and the one before it.
  struct Decisions {
    FileNumber log = 0;
    std::vector<std::string> names;
  };
  Decisions decided_, decided_before_;
  std::vector<WriteBatchPart> parts_;  // of the current batch; a member to reuse its memory
  std::string scratch_;                // likewise: a batch made from one part
};

}  // namespace ashlar
