// SPDX-License-Identifier: Apache-2.0
//
// TwoPhaseWrites executes the writes of two-phase commit: it plans them for the commit pipeline and
// keeps PreparedLogs exact.
//
// All three are logged, whatever WriteOptions::disableWAL says: without the prepare section nothing
// could be recovered, and without the marker a decided transaction would be prepared again after a
// crash.
//
// Threads: any; one call at a time for each section.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <vector>

#include "ashlar/status.h"
#include "db/state/prepared_logs.h"
#include "db/transaction/visibility/undecided.h"
#include "db/write/commit_pipeline.h"
#include "db/write/sub_batches.h"

namespace ashlar {

class WalSet;

// What is logged with the decision to commit. `marker` is the whole record: the updates of
// `before`, the commit marker with the section's name, the updates of `after`. In this order around
// the section they take effect, and have their sequence numbers.
struct CommitRecords {
  CommitRecords(WriteBatch* whole) : marker(whole), before(whole) {}  // NOLINT: nothing behind it
  CommitRecords(WriteBatch* whole, WriteBatch* before_section, WriteBatch* after_section)
      : marker(whole), before(before_section), after(after_section) {}
  WriteBatch* marker;
  WriteBatch* before;
  WriteBatch* after = nullptr;  // only under the policy write-committed
  // The updates of `before` are those of a write-unprepared transaction that was not prepared. A
  // Noop ends them: then a replay that does not find the sections knows how they are numbered, and
  // the marker takes a number of its own.
  bool ends_before_with_noop = false;
};

class TwoPhaseWrites {
 public:
  // All arguments outlive the object. The last two are for the policies write-prepared and
  // write-unprepared.
  TwoPhaseWrites(CommitPipeline* pipeline, PreparedLogs* prepared, UndecidedTable* undecided,
                 const ComparatorOfFamily& comparator_of)
      : pipeline_(pipeline),
        prepared_(prepared),
        undecided_(undecided),
        comparator_of_(comparator_of) {
    assert(pipeline != nullptr);
    assert(prepared != nullptr);
    assert(undecided != nullptr);
  }

  // After an error of one of these calls section->state() says what is true, which is the same for
  // all sections of a decision: kNotLogged after a prepare, kUndecided after a decision whose
  // marker was not logged, kDecided if the decision took effect but a sync failed. It is kUndecided
  // as well after a prepare that has inserted its data, if a sync failed. After a crash, an error
  // leaves both outcomes possible, as after any write that failed. `hook` and `recorder` may be
  // null; their calls are described in commit_pipeline.h.

  // Logs the batch of the section, which ends with the marker of its end. Under the policy
  // write-committed it takes no sequence number. Under the others it inserts the data, which the
  // table of undecided transactions hides, by sub-batches. A write-unprepared transaction calls it
  // for each part of its data.
  Status Prepare(const WriteOptions& options, PreparedSection* section, CommitHook* hook = nullptr);
  // Logs the commit, and inserts the records before its marker, then those of the section, unless
  // the prepare has inserted them, then those behind the marker. InvalidArgument, and nothing is
  // changed, if a family of the records was dropped; updates of such a family in the section are
  // skipped.
  // One marker decides all sections of a transaction.
  Status Commit(const WriteOptions& options, const CommitRecords& records,
                PreparedSections sections, CommitHook* hook = nullptr,
                CommitRecorder* recorder = nullptr);
  // Logs `marker`, a batch whose last record is a rollback marker with the section's name. Records
  // before it, which undo the data that the prepare has inserted, are inserted.
  Status Rollback(const WriteOptions& options, WriteBatch* marker, PreparedSections sections,
                  CommitHook* hook = nullptr);

 private:
  class SectionHook;
  Status DecideWritten(const WriteOptions& options, const CommitRecords& records,
                       PreparedSections sections, CommitHook* hook, CommitRecorder* recorder);
  std::vector<size_t> SubBatchesOf(const WriteBatch& batch) const;

  CommitPipeline* const pipeline_;
  PreparedLogs* const prepared_;
  UndecidedTable* const undecided_;
  const ComparatorOfFamily& comparator_of_;
};

// Logs every undecided section again, in the current log, and syncs it: afterwards no older log is
// needed for them. A replay that finds a section in both logs takes the later one. No commit is in
// flight and none begins; no section changes. `next_seqno`: the number of the next write. Data that
// a prepare has inserted must be in tables before the older logs are forgotten: replays do not take
// it from a section that was logged again, whose number is that of the data.
Status LogSectionsAgain(PreparedLogs* prepared, WalSet* wals, SequenceNumber next_seqno);

}  // namespace ashlar
