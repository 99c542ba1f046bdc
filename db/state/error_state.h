// SPDX-License-Identifier: Apache-2.0
//
// ErrorState holds the background error of a database: the first one of the highest severity, until
// DB::Resume() or an automatic retry clears it.
//
//   soft    background work has failed and is repeated, unless a listener leaves that to
//           DB::Resume(); writes continue. Raised after a compaction, or after a flush whose logs
//           are intact and whose error may go away; after such a flush no other flush begins until
//           it is repeated
//   hard    writes are refused: the log, the MANIFEST or a flush cannot be trusted
//   fatal   only reopening the database helps
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

// Returns the error with the severity that follows from its kind and from the failed operation.
Status WithSeverity(const Status& error, BackgroundErrorReason reason);

class ErrorState {
 public:
  // Who repeats the work after a soft error.
  enum class Recovery : bool { kAutomatic, kByResume };

  // Stores the error with its severity (WithSeverity()). Returns true if it is now the current
  // error. A soft error of a flush replaces that of a compaction. `recovery` matters only for soft
  // errors.
  bool Raise(const Status& error, BackgroundErrorReason reason,
             Recovery recovery = Recovery::kAutomatic);
  // Whether this error would become the current one with severity soft, so that the failed work
  // would be repeated.
  bool WouldBeSoft(const Status& error, BackgroundErrorReason reason) const;
  // Raises a hard error because the log with this number, or one before it, has failed. Listeners
  // must still be notified (TakeReport()). Does nothing if the log was replaced meanwhile: threads
  // may bring its error at any later time.
  void RaiseForLog(const Status& error, FileNumber log_number);
  // From now on errors of the logs before this one are ignored.
  void ForgetLogsBefore(FileNumber log_number);
  // Raises a fatal error because memory and log differ: only reopening helps, and nothing may be
  // flushed. Listeners must still be notified. Allocates nothing if the error has no message.
  void RaiseFatal(const Status& error);
  // Clears the current error unless it is fatal.
  void Clear();
  // Clears a soft error, because the failed work was done after all. Returns the cleared error, or
  // OK if there was none.
  Status ClearSoft();
  // Like ClearSoft(), but does nothing while the current error is that of a flush.
  Status ClearCompactionError();
  // The error is one that blocks flushes, and no automatic attempt follows: no flush begins before
  // DB::Resume(). Does nothing for other errors.
  void LeaveFlushToResume();

  // One atomic load, like the following functions.
  bool BlocksWrites() const { return blocks_writes_.load(std::memory_order_acquire); }
  bool IsFatal() const { return is_fatal_.load(std::memory_order_acquire); }
  // A flush failed with a soft error: no flush begins except the attempt of a recovery.
  bool HoldsFlushes() const { return holds_flushes_.load(std::memory_order_acquire); }
  // No flush may begin, for one of the two reasons. Two atomic loads.
  bool BlocksFlushes() const { return BlocksWrites() || HoldsFlushes(); }
  // What the current error has stopped is not repeated before DB::Resume().
  bool AwaitsResume() const { return awaits_resume_.load(std::memory_order_acquire); }
  // No flush begins before DB::Resume(), so the memory of immutable memtables stays in use.
  bool FlushesAwaitResume() const { return AwaitsResume() && BlocksFlushes(); }
  // OK, or the current error.
  Status Get() const;
  // The current error if it is fatal or worse, so that no recovery is possible; else OK.
  Status Unrecoverable() const;
  // A log has failed. The content of the logs may be lost, even if a later sync succeeds.
  bool HasLogError() const { return has_log_error_.load(std::memory_order_acquire); }
  // An error that was raised where listeners could not be notified. Each is returned only once.
  struct Report {
    Status error;
    BackgroundErrorReason reason;
  };
  std::optional<Report> TakeReport();
  // How many errors were raised since the database was opened.
  uint64_t raised_count() const { return raised_count_.load(std::memory_order_relaxed); }

  // The current errors and their effects, one line each.
  std::string DebugString() const;

 private:
  bool WouldStandLocked(Status::Severity severity, BackgroundErrorReason reason) const
      REQUIRES(mutex_);
  Status ClearSoftLocked() REQUIRES(mutex_);

  mutable Mutex mutex_{LockRank::kLeaf};
  Status error_ GUARDED_BY(mutex_);                   // the current error, with its severity
  Status log_error_ GUARDED_BY(mutex_);               // the first of a log since the last recovery
  FileNumber first_good_log_ GUARDED_BY(mutex_) = 0;  // logs before it were replaced
  // A copy of the error: a recovery may clear the errors above before listeners are notified.
  std::optional<Report> unreported_ GUARDED_BY(mutex_);
  // What follows from the errors above. Written under mutex_, read by any thread.
  std::atomic<bool> blocks_writes_{false};
  std::atomic<bool> awaits_resume_{false};
  std::atomic<bool> has_log_error_{false};
  std::atomic<bool> is_fatal_{false};
  std::atomic<bool> holds_flushes_{false};
  std::atomic<uint64_t> raised_count_{0};
};

}  // namespace ashlar
