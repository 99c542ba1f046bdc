// SPDX-License-Identifier: Apache-2.0
//
// CommitPipeline logs concurrent write batches, makes them visible and, if requested, durable, in
// the order of their sequence numbers. There is no leader: each writer does its own work.
//
//   reserve   one short critical section hands out sequence numbers and a byte range of the log
//   log       the writer frames its record into the log and waits until the kernel has it; before
//             a sync its own bytes are enough, see WalSink::DeliverBeforeSync
//   insert    the writer puts its updates into the memtables, concurrently with other writers
//   publish   the visible sequence number advances over all commits that are complete, in order
//   sync      if requested, waits for a sync that covers the record; shared with other writers
//
// A batch that cannot be applied is refused before the reservation. After the reservation the log
// may fail. Then nothing of the batch is inserted, and its sequence numbers are published as a
// hole. The insertion may stop halfway if memory runs out, a comparator throws, or the old value
// for an in-place update cannot be read. Then only the log holds the complete batch, and the
// pipeline notifies the host (NotePartialInsert). A reserved place in the order is published in
// every case. Pause() stops the pipeline between two commits, for a switch of memtables and logs.
// Shut() makes commits fail while no log can be trusted.
//
// Threads: all functions from any thread, unless a function says otherwise. A commit in flight
// never waits for the DB mutex.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ashlar/status.h"
#include "ashlar/types.h"
#include "db/wal/wal_compression.h"
#include "db/write/write_batch_internal.h"
#include "util/keys/file_number.h"
#include "util/keys/internal_key.h"
#include "util/threads/mutex.h"

namespace ashlar {

class ColumnFamilyData;
class EpochGuard;
class MemTable;
class UserWriteCallback;
class WalSet;
class WalSink;
class WriteBatch;
struct BareTableFormat;
struct InsertHint;
struct WriteBatchRecord;
struct WriteOptions;

// The result of merging an operand immediately: a value, or the stored form of a wide-column
// entity.
struct FoldedOperand {
  ValueType type = kTypeValue;
  std::string value;
};

// The facts about a family that the check of a batch needs.
struct CommitFamily {
  bool exists = false;
  // It exists, its keys have no timestamps, and its tables can hold every entry.
  bool is_plain = false;
  bool can_merge = false;                             // the family has a merge operator
  bool takes_writes = true;                           // false: only ingested files add data
  const InternalKeyComparator* comparator = nullptr;  // null if the family does not exist
  const BareTableFormat* bare = nullptr;              // see ColumnFamilyData; null: with blocks
};

// The facts about a family that the insertion of a batch needs.
struct InsertTarget {
  MemTable* memtable = nullptr;  // the active one; null if the family does not exist
  // Limit of consecutive newest operands of a key in the memtable; 0: no limit.
  size_t max_successive_merges = 0;
  ColumnFamilyData* family = nullptr;  // for NoteMemTableSize() only
};

// The interface through which the pipeline uses its database.
class CommitHost {
 public:
  virtual ~CommitHost() = default;

  // Called at the start of every commit while attention is requested. The caller holds no lock. The
  // function may take the DB mutex, pause the pipeline and wait for a stall to end. If it returns
  // an error, the commit fails with this error.
  virtual Status PrepareForCommit(const WriteOptions& options, uint64_t batch_bytes) = 0;
  // Returns the facts for the check before a commit takes its place in the order. Called inside an
  // epoch; the result is valid until the epoch is left.
  virtual CommitFamily FindFamily(uint32_t family) = 0;
  // Sets the memtable for the updates of a family, which is null if the family does not exist.
  // Called inside an epoch. The result is valid while the commit is in flight. `target` is filled
  // in place, so an insertion copies nothing.
  virtual void FindInsertTarget(uint32_t family, InsertTarget* target) = 0;
  // Called after an insertion into the target's memtable, while the commit is in flight and inside
  // an epoch. Requests attention if the memtable is full.
  virtual void NoteMemTableSize(const InsertTarget& target) = 0;
  // Merges the operand of a record with the value that its key had just before `seqno`. Returns no
  // value if the old value cannot be read within the limits of the options. Called outside an epoch
  // while the commit is in flight, when all earlier updates are visible or belong to the same
  // batch. Adds the objects that the read depends on to *pins; the caller releases them after the
  // commit is published.
  virtual std::optional<FoldedOperand> MergeNow(const WriteBatchRecord& record,
                                                SequenceNumber seqno,
                                                std::vector<std::shared_ptr<void>>* pins) = 0;
  // Reads the value that the key of a record had just before `seqno`; no value if the key did not
  // exist. Same conditions as MergeNow().
  virtual Status ValueBefore(const WriteBatchRecord& record, SequenceNumber seqno,
                             std::vector<std::shared_ptr<void>>* pins,
                             std::optional<std::string>* value) = 0;
  // The log with this number, or an earlier one, failed: no write may be acknowledged until the log
  // is replaced. Does not take the DB mutex.
  virtual void NoteLogError(const Status& error, FileNumber log_number) = 0;
  // A logged batch was inserted only in part; a replay of the log would complete it. Called before
  // the batch is published. Allocates nothing and does not take the DB mutex.
  virtual void NotePartialInsert(const Status& error) = 0;
  // Called after NoteLogError() or NotePartialInsert(), when the commit holds no lock and is not in
  // flight: wakes waiting threads and calls the event listeners.
  virtual void ReportErrors() = 0;
};

// Totals of all commits since opening that got a place in the order, including failed ones.
struct CommitTotals {
  uint64_t commits = 0;
  uint64_t updates = 0;
  uint64_t bytes = 0;           // size of the batches in the form in which a log stores them
  uint64_t logged_commits = 0;  // commits that did not skip the log
  uint64_t logged_bytes = 0;
};

// The place of a commit in the order of writes: its log and its sequence numbers.
struct CommitPlace {
  FileNumber log = 0;  // 0: the commit skipped the log
  SequenceNumber first_seqno = 0;
  SequenceNumber last_seqno = 0;  // less than first_seqno if the commit took no number
};

// Functions that a commit calls at certain steps, on the committing thread and in this order.
class CommitHook {
 public:
  virtual ~CommitHook() = default;
  // The batch is logged, and nothing of it is inserted yet. It may throw bad_alloc, which is
  // treated as if the insertion had thrown it. Does not take the DB mutex, and runs no deleters.
  virtual void OnLogged(const CommitPlace& /*place*/) {}
  // The batch is logged and inserted, but the commit is still in flight: a pause of the pipeline
  // waits for it, and no reader sees it. Not called if the log failed. The function allocates
  // nothing, does not take the DB mutex and does not throw.
  virtual void OnInserted(const CommitPlace& /*place*/) noexcept {}
  // The commit and all commits before it are visible, but the thread has not yet waited for a sync.
  // Not called if an error has occurred by then. Called without locks. The function may throw.
  // `last_seqno`: the last sequence number of the commit; less than `first_seqno` if the commit
  // took no number.
  virtual void OnVisible(SequenceNumber /*first_seqno*/, SequenceNumber /*last_seqno*/) {}
  // The commit ends with this status, before any event listener hears of an error. Called whenever
  // OnInserted() was called, even if OnVisible() was not. Called without locks; the function does
  // not throw.
  virtual void OnEnd(const Status& /*status*/) noexcept {}
};

// The numbers of a commit under the policies write-prepared and write-unprepared: the records of a
// sub-batch, in which no key occurs twice, share one sequence number.
struct SubBatches {
  // Offsets of the records with which a further sub-batch begins, in the only inserted batch.
  // Ascending; the first record of the batch is not listed, although it begins the first sub-batch.
  std::span<const size_t> begins;
  // The 0-based index of the sub-batch that holds the record at this offset.
  size_t IndexAt(size_t offset) const {
    return static_cast<size_t>(std::upper_bound(begins.begin(), begins.end(), offset) -
                               begins.begin());
  }
  // How many numbers the commit takes, at least one for each sub-batch. A commit that inserts
  // nothing takes one for its marker.
  uint64_t numbers = 1;
};

// A last check of a commit, called when every earlier commit is visible and no other commit can
// come in between. It may read the database and wait for files, but it must not write. An error
// refuses the commit, which then has no effect.
class CommitCheck {
 public:
  virtual ~CommitCheck() = default;
  virtual Status MayCommit() = 0;
};

// Called by the committing thread when the commit has its place in the order, before anything of it
// is logged or inserted. No locks are held, but the commit is in flight: the function must not take
// the DB mutex, write, or wait for another commit.
class CommitRecorder {
 public:
  // `place`: the number of commits with a recorder that have an earlier place. Each place is passed
  // exactly once, but calls of different threads may arrive in any order.
  virtual void OnReserved(uint64_t place) noexcept = 0;

 protected:
  ~CommitRecorder() = default;
};

// The parameters of one commit. All objects that it refers to outlive the call of Commit().
//
// A plain write logs one batch and inserts the same one. The prepare of a two-phase commit logs a
// batch and inserts none: it takes a place in the order and no sequence number. Its commit logs a
// batch with the marker and inserts the batch that was prepared.
struct CommitPlan {
  const WriteOptions* options = nullptr;
  // Logged as one record; null: nothing is logged. `options->disableWAL` is ignored.
  WriteBatch* logged = nullptr;
  // Inserted in this order. Each counted record takes a sequence number.
  std::span<WriteBatch* const> inserted;
  // The logged batch may hold markers of two-phase commit. A user's batch may not.
  bool allows_markers = false;
  // The log that holds the prepare section of the inserted updates. That log must not be deleted
  // before the memtables that receive the updates are flushed. The number is read while the commit
  // is in flight. Null: the logged batch itself holds all inserted updates. A decision about a
  // section is accepted even if a family no longer takes writes, because the section was accepted.
  const FileNumber* prepared_log = nullptr;
  // Null: every counted record takes a sequence number of its own.
  const SubBatches* sub_batches = nullptr;
  UserWriteCallback* callback = nullptr;
  CommitHook* hook = nullptr;
  CommitCheck* check = nullptr;
  CommitRecorder* recorder = nullptr;
};

class CommitPipeline {
 public:
  // Limit of commits that have their place in the order and are not published yet.
  static constexpr uint64_t kMaxInFlight = 1024;  // a power of two

  // `host` and `wals` outlive the pipeline.
  CommitPipeline(CommitHost* host, WalSet* wals);

  // Executes the plan. The header of the logged batch receives the first sequence number of the
  // commit. After an error nothing of the commit is visible, with one exception: if a sync failed,
  // or the log failed at bytes before a record that was to be synced, the whole commit is visible
  // and the database has a background error. If the callback or the hook throws, the commit is
  // completed first, and then the exception is rethrown.
  Status Commit(const CommitPlan& plan);
  // The common plan: logs the batch, unless the options say otherwise, and inserts it.
  Status Commit(const WriteOptions& options, WriteBatch* batch,
                UserWriteCallback* callback = nullptr, CommitHook* hook = nullptr);

  // After this call commits call CommitHost::PrepareForCommit() first. Any thread. Both functions
  // use exchange instead of store, so that the thread that clears the flag sees all memory writes
  // of the threads that set it.
  void RequestAttention() { wants_attention_.exchange(true, std::memory_order_acq_rel); }
  void ClearAttention() { wants_attention_.exchange(false, std::memory_order_acq_rel); }

  // Requests attention as soon as the current log is longer than `log_bytes`.
  void RequestAttentionAt(uint64_t log_bytes) {
    attention_log_bytes_.store(log_bytes, std::memory_order_relaxed);
  }

  // Blocks new commits and waits until all commits in flight are published. Calls may be nested.
  void Pause();
  void Resume();
  // Between the two calls every commit that has no place in the order yet goes to
  // CommitHost::PrepareForCommit(), which must return an error.
  void Shut();
  void Reopen();

  SequenceNumber visible_seqno() const { return visible_seqno_.load(std::memory_order_acquire); }
  // The last sequence number that was reserved. Any thread, at any time.
  SequenceNumber last_reserved_seqno() {
    const SpinLockGuard guard(&order_lock_);
    return last_reserved_;
  }
  // The last sequence number of the last batch that got a place in a log; 0: none. Call it only
  // during a pause.
  SequenceNumber last_logged_seqno();
  // Whether any write skipped the log since opening.
  bool has_unlogged_writes() const { return has_unlogged_writes_.load(std::memory_order_relaxed); }
  // For readers that ask after they have read the visible sequence number.
  const std::atomic<bool>* unlogged_writes_flag() const { return &has_unlogged_writes_; }
  CommitTotals totals();
  // One line: the reserved and published numbers, and the reasons that block commits.
  std::string DebugString();
  // Marks the numbers up to `seqno` as used by data that was not written through the pipeline (e.g.
  // ingested files), and makes them visible. Does nothing if they are reserved already. Call it
  // only during a pause.
  void SkipTo(SequenceNumber seqno);
  // Called at open, before any commit: all data up to `seqno` has been recovered.
  void StartAt(SequenceNumber seqno);

 private:
  // What a commit receives in the critical section of Reserve().
  struct Reservation {
    uint64_t ticket = 0;
    // A commit without updates, such as a prepare, has last_seqno == first_seqno - 1.
    SequenceNumber first_seqno = 0;
    SequenceNumber last_seqno = 0;
    // The byte range of the framed record in the log, [log_offset, log_end).
    uint64_t log_offset = 0;
    uint64_t log_end = 0;
    WalSink* log = nullptr;  // null: the write skips the log
    bool has_recorder = false;
    uint64_t recorders_before = 0;  // commits with a recorder and an earlier ticket
  };
  // The record of a batch in the log.
  struct LogRecord {
    WriteBatchInternal::WalPart part;
    OpenFrame frame;         // the compressed form of the part, if logs are compressed
    size_t batch_bytes = 0;  // the part with its header
    size_t bytes = 0;        // in the log, without framing
  };
  // Objects to handle after the commit is published: an exception to rethrow, and pins to release.
  struct Leftovers {
    std::exception_ptr thrown;  // thrown by code of the application
    std::string folded;         // the value of one operand, while it is inserted
    std::vector<std::shared_ptr<void>> pins;
  };
  // One commit in flight. Publish() marks it complete; the visible number passes it when all
  // earlier slots are complete too.
  struct Slot {
    SequenceNumber last_seqno = 0;
    bool is_complete = false;
  };
  // Reasons why no commit may begin; a bit set.
  enum Gate : uint32_t { kOpen = 0, kPaused = 1 << 0, kShut = 1 << 1 };

  // The check and the insertion of a batch leave the epoch after each 256 records. Otherwise memory
  // that any thread of the process retires meanwhile could not be freed. What was found in the
  // epoch is looked up again; an insertion finds the same memtable, because neither a switch nor a
  // drop happens while its commit is in flight.
  static bool IsEpochOver(size_t record_count) { return record_count % 256 == 255; }
  static void RenewEpoch(std::optional<EpochGuard>* guard);

  Status CheckBatch(const CommitPlan& plan, WriteBatch* batch);
  Status CheckSpecialFamilies(const WriteBatch& batch);
  static Status CheckEntity(const WriteBatchRecord& record);
  Status CheckStamps(const WriteBatch& batch);
  static Status CheckRange(const WriteBatchRecord& record, const CommitFamily& family);
  static Status Protect(const WriteOptions& options, WriteBatch* batch);
  Status PrepareRecord(const WriteBatch& batch, LogRecord* record);
  // Who asks for a place. During a pause only the thread that paused the pipeline gets one.
  enum class Admission : uint8_t { kAnybody, kPauser };
  bool Reserve(uint64_t count, const LogRecord* record, uint64_t batch_bytes,
               Reservation* reservation);
  bool TryReserveLocked(Admission admission, uint64_t count, const LogRecord* record,
                        uint64_t batch_bytes, Reservation* reservation) REQUIRES(order_lock_);
  Status ReserveChecked(const CommitPlan& plan, uint64_t count, const LogRecord* record,
                        uint64_t batch_bytes, Reservation* reservation);
  Status LogAndInsert(const CommitPlan& plan, const Reservation& reservation, LogRecord* record,
                      Leftovers* leftovers);
  Status Log(const Reservation& reservation, bool syncs, LogRecord* record);
  Status Insert(const CommitPlan& plan, const Reservation& reservation, Leftovers* leftovers);
  Status InsertBatch(const CommitPlan& plan, const Reservation& reservation,
                     const WriteBatch& batch, SequenceNumber* seqno, Leftovers* leftovers);
  static Status RefuseChanged(const WriteBatchRecord& record, SequenceNumber seqno);
  static bool IsFoldDue(const WriteBatchRecord& record, SequenceNumber seqno,
                        const InsertTarget& target);
  [[gnu::noinline]] Status InsertInOrder(const Reservation& reservation, SequenceNumber seqno,
                                         WriteBatchRecord record, const InsertTarget& target,
                                         InsertHint* hint, Leftovers* leftovers,
                                         std::optional<EpochGuard>* guard);
  void FoldOperand(SequenceNumber seqno, WriteBatchRecord* record, Leftovers* leftovers);
  void Publish(const Reservation& reservation);
  void AwaitVisible(uint64_t ticket);
  void SleepUntilVisible(uint64_t ticket);
  void ChangeGate(uint32_t set, uint32_t clear) REQUIRES(order_lock_);

  CommitHost* const host_;
  WalSet* const wals_;

  // Read by every reader, written by publishing writers (release: a thread that loads the number
  // with acquire sees all insertions up to this number).
  alignas(64) std::atomic<SequenceNumber> visible_seqno_{0};
  // Set by a thread that detects a full memtable, a stall or an error; read by every commit.
  alignas(64) std::atomic<bool> wants_attention_{false};
  // Limit for the current log; written under the DB mutex. A commit that reads the limit of a
  // different log only requests attention once too often, or leaves the request to the next commit.
  std::atomic<uint64_t> attention_log_bytes_{UINT64_MAX};
  std::atomic<bool> has_unlogged_writes_{false};  // set by commits, never cleared
  // A set of Gate bits; written under order_lock_; commits that are blocked by a pause sleep on it.
  std::atomic<uint32_t> gate_{kOpen};

  alignas(64) SpinLock order_lock_;
  // The greatest sequence number that is reserved. visible_seqno_ reaches it when no commit is in
  // flight.
  SequenceNumber last_reserved_ GUARDED_BY(order_lock_) = 0;
  SequenceNumber last_logged_ GUARDED_BY(order_lock_) = 0;  // see last_logged_seqno()
  // Tickets number the commits in the order of their reservations.
  uint64_t next_ticket_ GUARDED_BY(order_lock_) = 0;
  // Totals over the reservations: all commits, and the commits that skipped the log.
  uint64_t reserved_bytes_ GUARDED_BY(order_lock_) = 0;
  uint64_t unlogged_bytes_ GUARDED_BY(order_lock_) = 0;
  uint64_t unlogged_commits_ GUARDED_BY(order_lock_) = 0;
  uint64_t recorded_commits_ GUARDED_BY(order_lock_) = 0;  // with a CommitRecorder
  // The number of StartAt() plus all numbers skipped by SkipTo().
  SequenceNumber start_seqno_ GUARDED_BY(order_lock_) = 0;
  // Number of Pause() calls without a matching Resume() so far.
  int pauses_ GUARDED_BY(order_lock_) = 0;
  // The commits in flight, with tickets from published_tickets_ to next_ticket_ - 1; index: ticket
  // modulo kMaxInFlight.
  Slot slots_[kMaxInFlight] GUARDED_BY(order_lock_);
  // All tickets below this number are published. Written under order_lock_ (release); writers wait
  // for it.
  std::atomic<uint64_t> published_tickets_{0};
  // Number of threads that sleep until more tickets are published. It changes only under
  // order_lock_, which a publisher holds anyway, so a publisher without sleepers need not touch
  // wakes_.
  int sleepers_ GUARDED_BY(order_lock_) = 0;

  // Futex word: incremented to wake the sleepers. 32 bits, as the kernel's futex requires.
  alignas(64) std::atomic<uint32_t> wakes_{0};
};

}  // namespace ashlar
