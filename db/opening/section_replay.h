// SPDX-License-Identifier: Apache-2.0
//
// SectionReplay applies the batches of a log that take part in two-phase commit: it sets prepare
// sections aside until a marker decides them, and hands everything that is to be inserted to the
// ReplayInserter with the sequence numbers that it had. What is undecided at the end is given to
// the caller. Rules: docs/formats/write_batch.md, section 4.
//
// A section of the policy write-committed is inserted when its commit is read. Sections of the
// other policies are inserted at once, with their own numbers: the table of undecided transactions
// hides them until their decision is read. A section of these that was logged again is not
// inserted, as tables have its data.
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

class SectionReplay {
 public:
  struct FoundSection {
    std::unique_ptr<OwnedSection> section;
    FileNumber log = 0;
    SequenceNumber seqno = 0;  // of the batch; of the data, if it was inserted
  };

  // All arguments outlive the object. Not `is_allowed`: the database is opened without two-phase
  // commit, and a prepare section is refused. `undecided`: gets the data that is inserted before it
  // is decided. `families`: for the comparators, which do not change during the replay.
  SectionReplay(bool is_allowed, ReplayInserter* inserter, UndecidedTable* undecided,
                const FamilySet* families);
  // From now on another inserter is used.
  void UseInserter(ReplayInserter* inserter) { inserter_ = inserter; }

  // How many sequence numbers the batch takes in the log. Call it once for each batch, before
  // Apply(), also if the batch is not applied. Malformed batches, which Apply() refuses, count by
  // their header.
  NumberCounter::Numbers NumbersOf(const Slice& batch);
  // Applies the batch at this place. NotSupported: a prepare section, without two-phase commit or
  // of another policy. Corruption: malformed, or a name is prepared again with other contents.
  Status Apply(const Slice& batch, const ReplaySource& source, uint64_t offset);
  // The logs that decided the sections so far are gone.
  void ForgetSections();
  // The same, but it is not known which of the sections so far they decided: these stay undecided,
  // and their names may be used again. False: there are none.
  bool NoteMissingLogs();
  // The MANIFEST says that logs below this one are not needed: the sections in them are decided, or
  // were logged again, or are of a prepare that failed.
  void ForgetSectionsBefore(FileNumber log);
  // The same for data that was inserted, when all logs are read. `seqno` is not visible yet.
  void DecideBefore(FileNumber log, SequenceNumber seqno);
  // The sections that no marker has decided, in the order of the log. Those of one write-unprepared
  // transaction follow each other; the last of them is its prepare, or there is none.
  std::vector<FoundSection> TakeUndecided();

 private:
  struct Section {
    uint64_t index = 0;  // in the order of the log
    ValueType marker = kTypeNoop;
    FileNumber log = 0;
    SequenceNumber seqno = 0;
    uint32_t count = 0;
    std::string records;  // with the markers
    // It is logged again behind its decision: see SetAside(). Not undecided unless a decision
    // comes.
    bool is_decided = false;
    bool may_be_decided = false;  // in a log that is missing
    UndecidedRef entry;           // of data that is inserted
  };
  // Of one transaction: several only under the policy write-unprepared.
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
  // Sections of one name that a log which is missing has decided.
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
  // The names that were decided in the last log with a decision, and in the one before.
  struct Decisions {
    FileNumber log = 0;
    std::vector<std::string> names;
  };
  Decisions decided_, decided_before_;
  std::vector<WriteBatchPart> parts_;  // of the batch that is applied; kept for its memory
  std::string scratch_;                // likewise: a batch that is made of a part
};

}  // namespace ashlar
