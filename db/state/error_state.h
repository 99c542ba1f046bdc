// SPDX-License-Identifier: Apache-2.0
//
// ErrorState holds the background error of a database: the first one of the highest severity, until
// DB::Resume() or an automatic retry clears it.
//
//   soft    background work failed and is tried again, unless that is left to DB::Resume(); writes
//           go on. After a compaction, or a flush whose logs are whole and whose error may go away;
//           of a flush, no other begins until it is tried again
//   hard    writes are refused: the log, the MANIFEST or a flush cannot be trusted
//   fatal   only reopening helps
//
// Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "ashlar/listener.h"
#include "ashlar/status.h"
#include "util/keys/file_number.h"
#include "util/threads/mutex.h"

namespace ashlar {

// The error with the severity that its kind and what failed deserve.
Status WithSeverity(const Status& error, BackgroundErrorReason reason);

class ErrorState {
 public:
  // What is done about an error that leaves writes alone.
  enum class Recovery : bool { kAutomatic, kByResume };

  // Remembers the error with the severity that its kind and reason deserve. True if it is now the
  // current one; a soft one of a flush takes the place of a compaction's. `recovery` counts for
  // soft errors only: from the others only a call recovers.
  bool Raise(const Status& error, BackgroundErrorReason reason,
             Recovery recovery = Recovery::kAutomatic);
  // Whether this error would become the current one, and soft: what failed would be tried again.
  bool WouldBeSoft(const Status& error, BackgroundErrorReason reason) const;
  // The log of this number, or one before it, failed; hard. Listeners are yet to be told. Nothing
  // happens if the log has been replaced: threads may come with its error at any later time.
  void RaiseForLog(const Status& error, FileNumber log_number);
  // From now on the logs before this one are as good as gone.
  void ForgetLogsBefore(FileNumber log_number);
  // Memory and log differ: only reopening helps, and nothing may be flushed. Listeners are yet to
  // be told. Allocates nothing for an error without a message.
  void RaiseFatal(const Status& error);
  // Of errors that are not fatal.
  void Clear();
  // The work that had failed softly was done after all. Answers the error that is gone, or OK.
  Status ClearSoft();
  // The same, of a compaction: that of a flush stays.
  Status ClearCompactionError();
  // A flush that failed softly is not tried again before DB::Resume(). Of other errors: nothing.
  void LeaveFlushToResume();

  // One load when all is well.
  bool BlocksWrites() const { return blocks_writes_.load(std::memory_order_acquire); }
  bool IsFatal() const { return is_fatal_.load(std::memory_order_acquire); }
  // A flush failed softly: none begins but the attempt of a recovery. One load.
  bool HoldsFlushes() const { return holds_flushes_.load(std::memory_order_acquire); }
  // No flush begins, for one of the two. Two loads.
  bool BlocksFlushes() const { return BlocksWrites() || HoldsFlushes(); }
  // Work that failed softly is not tried again before DB::Resume(). One load.
  bool AwaitsResume() const { return awaits_resume_.load(std::memory_order_acquire); }
  // OK, or the current error.
  Status Get() const;
  // The same, of an error from which no recovery leads: fatal or worse.
  Status Unrecoverable() const;
  // A log failed: what is in the logs may not survive, whatever is synced now.
  bool HasLogError() const { return has_log_error_.load(std::memory_order_acquire); }
  // What was raised where nobody could be told; answers it once.
  struct Report {
    Status error;
    BackgroundErrorReason reason;
  };
  std::optional<Report> TakeReport();
  uint64_t raised_count() const { return raised_count_.load(std::memory_order_relaxed); }

  // The current errors and what they stop, a line each.
  std::string DebugString() const;

 private:
  bool WouldStandLocked(Status::Severity severity, BackgroundErrorReason reason) const
      REQUIRES(mutex_);
  Status ClearSoftLocked() REQUIRES(mutex_);

  mutable Mutex mutex_{LockRank::kLeaf};
  Status error_ GUARDED_BY(mutex_);                   // the current one, with its severity
  Status log_error_ GUARDED_BY(mutex_);               // the first of a log since the last recovery
  FileNumber first_good_log_ GUARDED_BY(mutex_) = 0;  // those before it are replaced
  // Kept as it was raised: a recovery may clear the errors above before anybody could tell.
  std::optional<Report> unreported_ GUARDED_BY(mutex_);
  // Written under the mutex, read by anybody: what follows from the errors above.
  std::atomic<bool> blocks_writes_{false};
  std::atomic<bool> awaits_resume_{false};
  std::atomic<bool> has_log_error_{false};
  std::atomic<bool> is_fatal_{false};
  std::atomic<bool> holds_flushes_{false};
  std::atomic<uint64_t> raised_count_{0};
};

}  // namespace ashlar
