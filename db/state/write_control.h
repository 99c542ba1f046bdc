// SPDX-License-Identifier: Apache-2.0
//
// WriteControl is what stands between a write and the commit pipeline when something is to be done
// first: a memtable to switch, a stall to wait for, an error to report. As long as nothing is, no
// write comes here.
//
// Threads: functions ending in Locked need the DB mutex; the CommitHost functions are called by
// writers, those in flight without ever taking the mutex.
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

// Who flushes what a switch has sealed.
class FlushRequests {
 public:
  virtual ~FlushRequests() = default;
  // The family has sealed memtables.
  virtual void RequestFlushLocked(ColumnFamilyData* family) REQUIRES(db_mutex) = 0;
};

// Whether memtables that are sealed in one moment are also flushed in one.
enum class FlushTogether : bool { kNo, kYes };

// What the family owes now.
WriteDebt DebtOf(ColumnFamilyData* family) REQUIRES(db_mutex);

class WriteControl final : public CommitHost {
 public:
  explicit WriteControl(DbCore* core) : core_(core), log_ahead_(core) {}
  // Before the first write.
  void SetFlushes(FlushRequests* flushes) { flushes_ = flushes; }

  // CommitHost
  Status PrepareForCommit(const WriteOptions& options, uint64_t batch_bytes) override;
  CommitFamily FindFamily(uint32_t family) override;
  InsertTarget FindInsertTarget(uint32_t family) override;
  void NoteMemTableSize(const InsertTarget& target) override;
  std::optional<FoldedOperand> MergeNow(const WriteBatchRecord& record, SequenceNumber seqno,
                                        std::vector<std::shared_ptr<void>>* pins) override;
  Status ValueBefore(const WriteBatchRecord& record, SequenceNumber seqno,
                     std::vector<std::shared_ptr<void>>* pins,
                     std::optional<std::string>* value) override;
  void NoteLogError(const Status& error, FileNumber log_number) override;
  void NotePartialInsert(const Status& error) override;
  void ReportErrors() override EXCLUDES(db_mutex);

  // Seals the active memtables of these families and starts a new log, unless the current one is
  // empty. Families with an empty memtable are left out. Lets go of the mutex for file operations
  // and listeners, who hear that a memtable is sealed before it is flushed. Memtables that were
  // sealed before are flushed together with these.
  Status SwitchMemTablesLocked(const std::vector<ColumnFamilyData*>& families, FlushReason reason,
                               FlushTogether together) REQUIRES(db_mutex);

  // Recovering from a background error that blocks writes. From the first call on no write begins,
  // whatever the error state says, until a recovery has succeeded. Begin seals all memtables, in
  // front of a log that holds nothing and whose number it returns; listeners are to hear of those
  // in `sealed`. If a log has failed, all before the new one leave the set in the same step. Asks
  // for no flush. Lets go of the mutex for file operations.
  Result<FileNumber> BeginRecoveryLocked(std::vector<MemTableInfo>* sealed) REQUIRES(db_mutex);
  // What was in memory is durable, and the MANIFEST says that no log before that one is needed.
  void FinishRecoveryLocked() REQUIRES(db_mutex);

  // A write of low priority: waits its turn, or answers Incomplete, while compactions lag.
  Status AdmitLowPriority(const WriteOptions& options, uint64_t batch_bytes) EXCLUDES(db_mutex);

  // Debt has changed: works out the stall anew. After every flush, compaction and change of
  // options; NotifyOfStalls() is due as soon as the mutex is released.
  void UpdateStallLocked() REQUIRES(db_mutex);
  // Notifies listeners of the families that hold writes up in another way than they heard last. In
  // the order of the changes: while one thread tells, the others leave theirs to it.
  void NotifyOfStalls() EXCLUDES(db_mutex);
  const StallDecision& stall() const REQUIRES(db_mutex) { return stall_; }
  uint64_t delayed_write_rate() const REQUIRES(db_mutex) { return rate_; }
  // Since the database was opened: how long all writers together were held up, and how many of them
  // waited for memory of the write buffer manager.
  uint64_t stall_micros() const REQUIRES(db_mutex) { return stall_micros_; }
  uint64_t memory_stops() const REQUIRES(db_mutex) { return memory_stops_; }

  // What holds writes up, a line each.
  std::string DebugStringLocked() const REQUIRES(db_mutex);

  // Before the logs are closed: none is made ahead any more.
  void StopMakingLogs() EXCLUDES(db_mutex) { log_ahead_.Stop(); }

  // LockWAL: while above 0 no write begins.
  void BlockWritesLocked() REQUIRES(db_mutex);
  bool UnblockWritesLocked() REQUIRES(db_mutex);

 private:
  class Switch;
  // The newest state of a family, null if it does not live; *pins keep it.
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
  void MoveIdleFamiliesLocked(FileNumber log_number) REQUIRES(db_mutex);
  bool IsAheadOfFlushLocked() const REQUIRES(db_mutex);
  void AwaitFlushProgressLocked() REQUIRES(db_mutex);
  Status AwaitStallLocked(const WriteOptions& options, uint64_t batch_bytes) REQUIRES(db_mutex);
  Status ErrorOfStallLocked(uint64_t errors_before) const REQUIRES(db_mutex);
  // Writers of one rate: when the bytes admitted so far are paid for.
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
  // Set by writers in flight, taken back under the mutex.
  std::atomic<bool> has_full_memtable_{false};
  // Set under the mutex, read by writes of low priority.
  std::atomic<bool> is_compaction_behind_{false};

  // Memtables are being switched; one thread at a time.
  bool is_switching_ GUARDED_BY(db_mutex) = false;
  // LockWAL calls without their UnlockWAL.
  int blocked_ GUARDED_BY(db_mutex) = 0;
  StallDecision stall_ GUARDED_BY(db_mutex);
  // What listeners have not been told yet, oldest first; empty without listeners.
  std::vector<WriteStallInfo> stall_changes_ GUARDED_BY(db_mutex);
  bool is_notifying_ GUARDED_BY(db_mutex) = false;  // a thread takes them from there
  uint64_t rate_ GUARDED_BY(db_mutex) = 0;          // bytes a second while delayed
  Pace delayed_pace_ GUARDED_BY(db_mutex);
  Pace low_priority_pace_ GUARDED_BY(db_mutex);
  uint64_t stall_micros_ GUARDED_BY(db_mutex) = 0;
  uint64_t memory_stops_ GUARDED_BY(db_mutex) = 0;
};

}  // namespace ashlar
