// SPDX-License-Identifier: Apache-2.0
//
// WriteControl does what a write needs before it enters the commit pipeline: it switches a full
// memtable, waits for a stall to end, or returns the background error. A write calls it only if the
// pipeline's attention flag is set, so usually not at all.
//
// Threads: functions whose names end in Locked need the DB mutex. Writers call the CommitHost
// functions; writers in flight never take the mutex.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/listener.h"
#include "db/state/db_core.h"
#include "db/state/log_ahead.h"
#include "db/write/commit_pipeline.h"
#include "db/write/write_stall.h"
#include "util/keys/file_number.h"
#include "util/result.h"

namespace ashlar {

// Accepts requests for flushes of memtables that a switch has made immutable.
class FlushRequests {
 public:
  virtual ~FlushRequests() = default;
  // The family has immutable memtables.
  virtual void RequestFlushLocked(ColumnFamilyData* family) REQUIRES(db_mutex) = 0;
};

// Whether memtables that become immutable in one moment are also flushed together.
enum class FlushTogether : bool { kNo, kYes };

// The unfinished flushes and compactions of the family, on which stalls depend.
WriteDebt DebtOf(ColumnFamilyData* family) REQUIRES(db_mutex);

class WriteControl final : public CommitHost {
 public:
  explicit WriteControl(DbCore* core) : core_(core), log_ahead_(core) {}
  // Called once, before the first write. `flushes` outlives the object.
  void SetFlushes(FlushRequests* flushes) { flushes_ = flushes; }

  // The interface CommitHost, through which the commit pipeline calls this class.
  Status PrepareForCommit(const WriteOptions& options, uint64_t batch_bytes) override;
  CommitFamily FindFamily(uint32_t family) override;
  void FindInsertTarget(uint32_t family, InsertTarget* target) override;
  void NoteMemTableSize(const InsertTarget& target) override;
  std::optional<FoldedOperand> MergeNow(const WriteBatchRecord& record, SequenceNumber seqno,
                                        std::vector<std::shared_ptr<void>>* pins) override;
  Status ValueBefore(const WriteBatchRecord& record, SequenceNumber seqno,
                     std::vector<std::shared_ptr<void>>* pins,
                     std::optional<std::string>* value) override;
  void NoteLogError(const Status& error, FileNumber log_number) override;
  void NotePartialInsert(const Status& error) override;
  void ReportErrors() override EXCLUDES(db_mutex);

  // Makes the active memtables of these families immutable and begins a new log, unless the current
  // one is empty. Families with an empty memtable are left out. Releases the mutex for file
  // operations and listeners; a listener is notified of an immutable memtable before its flush
  // begins. With FlushTogether::kYes, memtables that became immutable earlier are flushed together
  // with these.
  Status SwitchMemTablesLocked(const std::vector<ColumnFamilyData*>& families, FlushReason reason,
                               FlushTogether together) REQUIRES(db_mutex);

  // The two halves of the recovery from a background error that blocks writes. From the first call
  // on no write begins, whatever the error state is, until a recovery has succeeded.
  // BeginRecoveryLocked() makes all memtables immutable and begins an empty log, whose number it
  // returns. Listeners must then be notified of the memtables in `*sealed`. If a log has failed,
  // all logs before the new one leave the set in the same step. No flush is requested. Releases the
  // mutex for file operations.
  Result<FileNumber> BeginRecoveryLocked(std::vector<MemTableInfo>* sealed) REQUIRES(db_mutex);
  // Called when everything that was in memory is durable and the MANIFEST says that no log before
  // the new one is needed.
  void FinishRecoveryLocked() REQUIRES(db_mutex);

  // Called for a write of low priority. Waits, or returns Incomplete, while compactions are behind.
  Status AdmitLowPriority(const WriteOptions& options, uint64_t batch_bytes) EXCLUDES(db_mutex);

  // Computes the stall again. Called after every flush, compaction and change of options; the
  // caller then calls NotifyOfStalls() after releasing the mutex.
  void UpdateStallLocked() REQUIRES(db_mutex);
  // Notifies listeners of families whose stall condition has changed since the last notification,
  // in the order of the changes. While one thread notifies, it also does so for the others.
  void NotifyOfStalls() EXCLUDES(db_mutex);
  // Whether the next write waits until a flush or compaction ends: for its stall, or for a buffer.
  bool AreWritesStoppedLocked() const REQUIRES(db_mutex);
  uint64_t delayed_write_rate() const REQUIRES(db_mutex) { return rate_; }
  // Since the database was opened: how long all writers together were stalled, and how many writers
  // waited for memory of the WriteBufferManager.
  uint64_t stall_micros() const REQUIRES(db_mutex) { return stall_micros_; }
  uint64_t memory_stops() const REQUIRES(db_mutex) { return memory_stops_; }

  // The reasons that stall writes, on one line.
  std::string DebugStringLocked() const REQUIRES(db_mutex);

  // Called before the logs are closed: from now on no log is created ahead.
  void StopMakingLogs() EXCLUDES(db_mutex) { log_ahead_.Stop(); }

  // LockWAL and UnlockWAL: while more calls of the first were made, no write begins.
  void BlockWritesLocked() REQUIRES(db_mutex);
  bool UnblockWritesLocked() REQUIRES(db_mutex);

 private:
  class Switch;
  // The newest super version of a family, or null if the family does not exist. `*pins` keep it
  // alive.
  const SuperVersion* PinNewest(uint32_t family, std::vector<std::shared_ptr<void>>* pins);
  void EndSwitchLocked(Switch* turn) REQUIRES(db_mutex);
  Status SwitchAloneLocked(const std::vector<uint32_t>& ids, FlushReason reason, Switch* turn)
      REQUIRES(db_mutex);
  Status SwitchUnaskedLocked(const std::vector<ColumnFamilyData*>& families, FlushReason reason)
      REQUIRES(db_mutex);
  void FlushTogetherLocked(const std::vector<uint32_t>& ids) REQUIRES(db_mutex);
  void RequestFlushesLocked(const std::vector<uint32_t>& ids) REQUIRES(db_mutex);
  void NotifySealedLocked(const std::vector<MemTableInfo>& sealed) REQUIRES(db_mutex);
  void NoteStallLocked(ColumnFamilyData* family, const StallDecision& now) REQUIRES(db_mutex);
  void NotifyOfStallsLocked() REQUIRES(db_mutex);
  Status InstallLogLocked(Switch* turn) REQUIRES(db_mutex);
  std::vector<ColumnFamilyData*> FilledLocked(const std::vector<uint32_t>& ids) const
      REQUIRES(db_mutex);
  Status RunDueWorkLocked(const WriteOptions& options) REQUIRES(db_mutex);
  Status SwitchFullMemTablesLocked() REQUIRES(db_mutex);
  void AddStoredHistoryLocked(std::vector<ColumnFamilyData*>* full) REQUIRES(db_mutex);
  void RequestLogAheadLocked() REQUIRES(db_mutex);
  Status LimitLogsLocked() REQUIRES(db_mutex);
  void FreeWaitingMemoryLocked() REQUIRES(db_mutex);
  Status LimitMemoryLocked() REQUIRES(db_mutex);
  Status AwaitMemoryLocked(const WriteOptions& options) REQUIRES(db_mutex);
  void WatchLogSizeLocked() REQUIRES(db_mutex);
  void WarnOfPreparedLogsLocked() REQUIRES(db_mutex);
  void MoveIdleFamiliesLocked(FileNumber log_number) REQUIRES(db_mutex);
  bool IsAheadOfFlushLocked() const REQUIRES(db_mutex);
  bool WaitsForBufferLocked() const REQUIRES(db_mutex);
  void AwaitFlushProgressLocked() REQUIRES(db_mutex);
  Status AwaitStallLocked(const WriteOptions& options, uint64_t batch_bytes) REQUIRES(db_mutex);
  Status ErrorOfStallLocked(uint64_t errors_before) const REQUIRES(db_mutex);
  // The writers that share one rate, and the time when the bytes admitted so far are paid for.
  struct Pace {
    uint64_t next_micros = 0;
  };
  uint64_t TakeTurnLocked(Pace* pace, uint64_t bytes, uint64_t rate) REQUIRES(db_mutex);
  bool WaitPieceLocked(uint64_t start) REQUIRES(db_mutex);
  void SettleAttentionLocked() REQUIRES(db_mutex);
  uint64_t MaxTotalLogBytes() const REQUIRES(db_mutex);

  DbCore* const core_;
  LogAhead log_ahead_;
  FlushRequests* flushes_ = nullptr;
  // Set by writers in flight, cleared under the mutex.
  std::atomic<bool> has_full_memtable_{false};
  // Set under the mutex, read by writes of low priority.
  std::atomic<bool> is_compaction_behind_{false};

  // A thread switches memtables. Only one does so at a time.
  bool is_switching_ GUARDED_BY(db_mutex) = false;
  // The oldest log of an undecided prepare section when a warning about it was last written.
  FileNumber warned_prepared_log_ GUARDED_BY(db_mutex) = 0;
  // Calls of LockWAL that were not followed by UnlockWAL yet.
  int blocked_ GUARDED_BY(db_mutex) = 0;
  StallDecision stall_ GUARDED_BY(db_mutex);
  // Changes that listeners were not notified of yet, oldest first; empty without listeners.
  std::vector<WriteStallInfo> stall_changes_ GUARDED_BY(db_mutex);
  bool is_notifying_ GUARDED_BY(db_mutex) = false;  // a thread notifies listeners of stall_changes_
  uint64_t rate_ GUARDED_BY(db_mutex) = 0;          // bytes per second while delayed; 0: not
  Pace delayed_pace_ GUARDED_BY(db_mutex);
  Pace low_priority_pace_ GUARDED_BY(db_mutex);
  uint64_t stall_micros_ GUARDED_BY(db_mutex) = 0;
  uint64_t memory_stops_ GUARDED_BY(db_mutex) = 0;
};

}  // namespace ashlar
