// SPDX-License-Identifier: Apache-2.0
//
// CommitPipeline makes concurrent write batches logged, visible and, if asked, durable, in the
// order of their sequence numbers. There is no leader: each writer does its own work.
//
//   reserve   one short critical section hands out sequence numbers and a byte range of the log
//   log       the writer frames its record into the log and sees it handed to the kernel (one that
//             is to be synced: its own bytes, see WalSink::DeliverBeforeSync)
//   insert    the writer puts its updates into the memtables, beside the others
//   publish   the visible sequence number advances over all commits that are complete, in order
//   sync      if asked, a sync that covers the record; shared with other writers
//
// What cannot be applied is refused before the reservation; what can fail after it is the log. Such
// a commit leaves a hole in the sequence, which is published as such: nothing of it was inserted.
// If memory runs out, a comparator throws, or what an update in place builds on cannot be read
// while a batch is inserted, only its part in the log is whole; the host is told. Whatever happens,
// a place in the order that was taken is published. Pause() stops the pipeline between two commits,
// for whoever switches memtables and logs; Shut() refuses them, for as long as no log can be
// trusted.
//
// Threads: any number for all functions, unless one says otherwise. No commit in flight ever waits
// for the DB mutex.
#pragma once

#include <atomic>
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
struct InsertHint;
struct WriteBatchRecord;
struct WriteOptions;

// What an operand was folded into: a value, or an entity's stored form.
struct FoldedOperand {
  ValueType type = kTypeValue;
  std::string value;
};

// A family as the check of a batch sees it.
struct CommitFamily {
  bool exists = false;
  bool can_merge = false;                             // it has a merge operator
  const InternalKeyComparator* comparator = nullptr;  // null if the family does not exist
};

// A family as the insertion of a batch sees it.
struct InsertTarget {
  MemTable* memtable = nullptr;        // the active one; null if the family does not exist
  size_t max_successive_merges = 0;    // operands of a key on top in the memtable; 0: no limit
  ColumnFamilyData* family = nullptr;  // for NoteMemTableSize() only
};

// What the pipeline needs from its database.
class CommitHost {
 public:
  virtual ~CommitHost() = default;

  // Called first by every commit while attention is requested. Holds no lock on entry; may take the
  // DB mutex, pause the pipeline, wait for a stall to end. An error refuses the commit.
  virtual Status PrepareForCommit(const WriteOptions& options, uint64_t batch_bytes) = 0;
  // What is checked about a family before a commit takes its place in the order. Within an epoch;
  // the answer is valid until the epoch is left.
  virtual CommitFamily FindFamily(uint32_t family) = 0;
  // Where the updates of a family go. Within an epoch; the answer is valid while the commit is in
  // flight.
  virtual InsertTarget FindInsertTarget(uint32_t family) = 0;
  // Called after an insertion into the target's memtable, in flight and within an epoch. Requests
  // attention if the memtable is full.
  virtual void NoteMemTableSize(const InsertTarget& target) = 0;
  // What the operand of a record makes of its key's value just before `seqno`; nothing if that
  // cannot be had at the price the options allow. Outside of epochs, in flight, when everything
  // before `seqno` is visible or of the same batch. What the read stood on is added to *pins, to be
  // let go of when the commit is not in flight any more.
  virtual std::optional<FoldedOperand> MergeNow(const WriteBatchRecord& record,
                                                SequenceNumber seqno,
                                                std::vector<std::shared_ptr<void>>* pins) = 0;
  // What the key of a record had just before `seqno`; nothing: no value. Likewise.
  virtual Status ValueBefore(const WriteBatchRecord& record, SequenceNumber seqno,
                             std::vector<std::shared_ptr<void>>* pins,
                             std::optional<std::string>* value) = 0;
  // The log of this number, or one before it, failed: no write may be acknowledged until it was
  // replaced. Takes no DB mutex.
  virtual void NoteLogError(const Status& error, FileNumber log_number) = 0;
  // A logged batch was inserted in part: only a replay of the log makes it whole. Called before the
  // batch is published. Allocates nothing, takes no DB mutex.
  virtual void NotePartialInsert(const Status& error) = 0;
  // After one of the two, when the commit holds nothing any more: whoever waits or listens is told.
  virtual void ReportErrors() = 0;
};

// What has been handed out to commits since opening, failed ones included.
struct CommitTotals {
  uint64_t commits = 0;
  uint64_t updates = 0;
  uint64_t bytes = 0;           // of batches, as a log takes them
  uint64_t logged_commits = 0;  // those that did not skip the log
  uint64_t logged_bytes = 0;
};

// Called by the committing thread when the commit, and every commit before it, is visible, before
// the thread waits for a sync. Holds no lock. It may throw.
class CommitHook {
 public:
  virtual ~CommitHook() = default;
  // `last_seqno`: the greatest number that the commit took; less than `first_seqno` if none.
  virtual void OnVisible(SequenceNumber first_seqno, SequenceNumber last_seqno) = 0;
};

// What one commit does. Everything it refers to outlives the call of Commit().
//
// A plain write logs one batch and inserts the same one. The prepare of a two-phase commit logs a
// batch and inserts none: it takes a place in the order and no sequence number. Its commit logs a
// batch with the marker and inserts the batch that was prepared.
struct CommitPlan {
  const WriteOptions* options = nullptr;
  // Logged as one record; null: nothing is logged. `options->disableWAL` is not looked at.
  WriteBatch* logged = nullptr;
  // Inserted in this order. Each counted record takes a sequence number.
  std::span<WriteBatch* const> inserted;
  // The logged batch may hold markers of two-phase commit. A user's batch may not.
  bool allows_markers = false;
  // The oldest log with a prepare section whose updates are inserted, which must stay until the
  // memtables that receive them are flushed; 0: the logged batch holds all that is inserted.
  FileNumber prepared_log = 0;
  UserWriteCallback* callback = nullptr;
  CommitHook* hook = nullptr;
};

class CommitPipeline {
 public:
  // Both outlive the pipeline.
  CommitPipeline(CommitHost* host, WalSet* wals);

  // Executes the plan. The header of the logged batch receives the first sequence number of the
  // commit. On an error nothing of the commit is visible, except after a failed sync, or if the log
  // failed before the bytes that were to be synced: then all of it is visible, and the database has
  // a background error.
  // An exception of the callback or of the hook is passed on after the commit has been completed.
  Status Commit(const CommitPlan& plan);
  // The common plan: logs the batch, unless the options say otherwise, and inserts it.
  Status Commit(const WriteOptions& options, WriteBatch* batch,
                UserWriteCallback* callback = nullptr);

  // From now on commits call CommitHost::PrepareForCommit() first. Any thread.
  // Exchanges, not stores: whoever clears it sees every reason for which it was set.
  void RequestAttention() { wants_attention_.exchange(true, std::memory_order_acq_rel); }
  void ClearAttention() { wants_attention_.exchange(false, std::memory_order_acq_rel); }

  // The same once the current log is longer than this.
  void RequestAttentionAt(uint64_t log_bytes) {
    attention_log_bytes_.store(log_bytes, std::memory_order_relaxed);
  }

  // Lets no new commit begin and waits until those in flight are published. May be nested.
  void Pause();
  void Resume();
  // Between the two calls every commit that has no place in the order yet goes to
  // CommitHost::PrepareForCommit(), which is to refuse it.
  void Shut();
  void Reopen();

  SequenceNumber visible_seqno() const { return visible_seqno_.load(std::memory_order_acquire); }
  // The last number that was given out. Any time.
  SequenceNumber last_reserved_seqno() {
    const SpinLockGuard guard(&order_lock_);
    return last_reserved_;
  }
  // That of the last batch that was given a place in a log; 0: none. In a pause.
  SequenceNumber last_logged_seqno();
  // Whether any write skipped the log since opening.
  bool has_unlogged_writes() const { return has_unlogged_writes_.load(std::memory_order_relaxed); }
  CommitTotals totals();
  // Numbers given out and published, and what holds commits up; one line.
  std::string DebugString();
  // Paused: the numbers up to `seqno` go to what was not written through the pipeline, and become
  // visible. Nothing happens if they are given out already.
  void SkipTo(SequenceNumber seqno);
  // At open, before any commit: everything up to `seqno` is in place.
  void StartAt(SequenceNumber seqno);

 private:
  struct Reservation {
    uint64_t ticket = 0;
    SequenceNumber first_seqno = 0;
    SequenceNumber last_seqno = 0;
    uint64_t log_offset = 0;
    uint64_t log_end = 0;
    WalSink* log = nullptr;  // null: the write skips the log
  };
  // What of a batch goes to the log.
  struct LogRecord {
    WriteBatchInternal::WalPart part;
    OpenFrame frame;         // of it, where logs are compressed
    size_t batch_bytes = 0;  // the part with its header
    size_t bytes = 0;        // in the log, without framing
  };
  // What is left of a commit when it is not in flight any more: an exception to pass on, and pins
  // to let go of.
  struct Leftovers {
    std::exception_ptr thrown;  // by the program's code
    std::string folded;         // the value of one operand, while it is inserted
    std::vector<std::shared_ptr<void>> pins;
  };
  struct Slot {
    SequenceNumber last_seqno = 0;
    bool is_complete = false;
  };
  static constexpr uint64_t kMaxInFlight = 1024;  // a power of two
  // Reasons for which no commit may begin.
  enum Gate : uint32_t { kOpen = 0, kPaused = 1 << 0, kShut = 1 << 1 };

  Status CheckPlan(const CommitPlan& plan);
  Status CheckBatch(const WriteBatch& batch, const CommitPlan& plan);
  static Status CheckEntity(const WriteBatchRecord& record);
  static Status CheckRange(const WriteBatchRecord& record, const CommitFamily& family);
  static Status Protect(const WriteOptions& options, WriteBatch* batch);
  Status PrepareRecord(const WriteBatch& batch, LogRecord* record);
  bool Reserve(uint64_t count, const LogRecord* record, uint64_t batch_bytes,
               Reservation* reservation);
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

  // Read by every reader, written by publishing writers (release: everything inserted before is
  // visible to whoever loads it with acquire).
  alignas(64) std::atomic<SequenceNumber> visible_seqno_{0};
  // Set by whoever sees a reason (memtable full, stall, error), read by every commit.
  alignas(64) std::atomic<bool> wants_attention_{false};
  // Of the current log; written under the DB mutex. A commit that meets the limit of another log
  // asks once too often, or leaves it to the next.
  std::atomic<uint64_t> attention_log_bytes_{UINT64_MAX};
  std::atomic<bool> has_unlogged_writes_{false};  // set by commits, never taken back
  // Of Gate; written under order_lock_, paused commits sleep on it.
  std::atomic<uint32_t> gate_{kOpen};

  alignas(64) SpinLock order_lock_;
  // The greatest sequence number that a commit has. visible_seqno_ follows it.
  SequenceNumber last_reserved_ GUARDED_BY(order_lock_) = 0;
  SequenceNumber last_logged_ GUARDED_BY(order_lock_) = 0;  // see last_logged_seqno()
  // Tickets number the commits in the order of their reservations.
  uint64_t next_ticket_ GUARDED_BY(order_lock_) = 0;
  // What reservations were made for, all of them and those without a log.
  uint64_t reserved_bytes_ GUARDED_BY(order_lock_) = 0;
  uint64_t unlogged_bytes_ GUARDED_BY(order_lock_) = 0;
  uint64_t unlogged_commits_ GUARDED_BY(order_lock_) = 0;
  SequenceNumber start_seqno_ GUARDED_BY(order_lock_) = 0;  // that of StartAt(); plus skips
  int pauses_ GUARDED_BY(order_lock_) = 0;                  // Pause() calls without their Resume()
  // Of the commits in flight, by ticket: those from published_tickets_ to next_ticket_.
  Slot slots_[kMaxInFlight] GUARDED_BY(order_lock_);
  // Tickets below it are published. Written under order_lock_ (release), awaited by writers.
  std::atomic<uint64_t> published_tickets_{0};
  // Those that sleep until more tickets are published. As they count themselves under the lock that
  // publishing holds, a commit nobody waits for touches nothing else.
  int sleepers_ GUARDED_BY(order_lock_) = 0;

  // Changed to wake them. 32 bits: the kernel waits on it as it is.
  alignas(64) std::atomic<uint32_t> wakes_{0};
};

}  // namespace ashlar
