// SPDX-License-Identifier: Apache-2.0
//
// PauseWithNextLog() pauses commits for a switch of memtables, and ensures that the next log exists
// already if the current one holds any record.
//
// All records of an immutable memtable must be in logs before the next one: a record in the next
// log would be applied again by a replay after the flush. The creation of a log needs file
// operations, and commits should not be paused during these. So the next log is created before the
// pause if the current log holds records. Only during the pause is it certain whether a next log is
// needed: if the first record of the current log arrived just before the pause, the function ends
// the pause, creates the log and pauses again. Threads: under the DB mutex, one at a time; commits
// continue.
#pragma once

#include "ashlar/status.h"
#include "util/threads/mutex.h"

namespace ashlar {

// The operations on the pipeline and its logs that PauseWithNextLog() needs.
class LogTurn {
 public:
  // Whether the next log exists. Once true, it stays true until the switch.
  virtual bool HasNextLocked() const REQUIRES(db_mutex) = 0;
  virtual bool CurrentHasRecordsLocked() const REQUIRES(db_mutex) = 0;
  // Creates the next log. Not during a pause; releases the mutex. An error changes nothing.
  virtual Status MakeNextLocked() REQUIRES(db_mutex) = 0;
  // Pause() returns when no commit is in flight; no commit begins before Resume().
  virtual void Pause() = 0;
  virtual void Resume() = 0;

 protected:
  ~LogTurn() = default;
};

// OK: paused, and either there is a next log or the current one is empty. An error: not paused.
Status PauseWithNextLog(LogTurn* turn) REQUIRES(db_mutex);

}  // namespace ashlar
