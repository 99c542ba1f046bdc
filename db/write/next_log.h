// SPDX-License-Identifier: Apache-2.0
//
// PauseWithNextLog() pauses commits for a switch of memtables, with the log at hand that follows
// the current one, if that holds anything.
//
// What is sealed must lie in front of the log it is sealed with, wholly: if a record of it stood in
// that log, a replay after the flush would apply the record again. But a log is made by file
// operations, for which nobody should be paused; so it is made beforehand, when the current one is
// seen to hold records. Whether one was needed is known only in the pause, which no write follows:
// if a first record came just before it, the pause is given up, the log made and the pause begun
// anew. Threads: under the DB mutex, one at a time; commits go on.
#pragma once

#include "ashlar/status.h"
#include "util/threads/mutex.h"

namespace ashlar {

// What is paused, and the logs of it.
class LogTurn {
 public:
  // Whether the log that follows is made. It stays so.
  virtual bool HasNextLocked() const REQUIRES(db_mutex) = 0;
  virtual bool CurrentHasRecordsLocked() const REQUIRES(db_mutex) = 0;
  // Not in a pause; lets go of the mutex. An error leaves everything as it is.
  virtual Status MakeNextLocked() REQUIRES(db_mutex) = 0;
  // Pause() comes back when no commit is in flight; none begins until Resume().
  virtual void Pause() = 0;
  virtual void Resume() = 0;

 protected:
  ~LogTurn() = default;
};

// OK: paused, and either there is a next log or the current one is empty. An error: not paused.
Status PauseWithNextLog(LogTurn* turn) REQUIRES(db_mutex);

}  // namespace ashlar
