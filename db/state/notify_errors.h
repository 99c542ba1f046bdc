// SPDX-License-Identifier: Apache-2.0
//
// Functions that notify listeners of background errors, their recovery, memtables that became
// immutable, stalls, and manual flushes.
//
// Listeners are called without locks, and never by a commit that has its place in the order of
// writes, because a listener may call back into the database.
#pragma once

#include <vector>

#include "ashlar/listener.h"
#include "db/state/db_core.h"
#include "env/info_log.h"
#include "util/keys/file_number.h"

namespace ashlar {

// Calls the listeners one after the other. A listener should not throw. An exception is logged,
// because the threads that call listeners cannot pass it on.
template <typename Call>
void ForEachListener(const DbServices& services, Call&& call) {
  for (const auto& listener : services.listeners) {
    try {
      call(listener.get());
    } catch (...) {
      Error(services.info_log, "listener %s threw an exception", listener->Name());
    }
  }
}

// Raises the background error and notifies listeners, who may overrule it. If the database will
// recover from it automatically, listeners are notified of the beginning (OnErrorRecoveryBegin),
// and may leave the recovery to DB::Resume(). They are notified of the end when the work has
// succeeded, when a worse error of background work takes the place of this one (unless that
// recovery continues without a new beginning), or when the database is closed.
void NotifyBackgroundError(DbCore* core, const Status& error, BackgroundErrorReason reason)
    EXCLUDES(db_mutex);
// The same, but listeners cannot overrule the error: writes that were accepted in spite of it would
// be lost.
void NotifyLastingError(DbCore* core, const Status& error, BackgroundErrorReason reason)
    EXCLUDES(db_mutex);
// Raises the error of a log (ErrorState::RaiseForLog) and stops writes. Does not notify listeners
// yet: the function needs no lock and may be called by a commit that has its place in the order.
void NoteLogError(DbCore* core, const Status& error, FileNumber log_number);
// Notifies listeners of an error that was raised where they could not be called
// (ErrorState::TakeReport). Listeners cannot overrule it, because a failed log cannot be used
// again. Also wakes the threads that wait for work which the error prevents.
void NotifyUnreportedError(DbCore* core) EXCLUDES(db_mutex);
// The memtables have become immutable, and their flush has not begun yet.
void NotifyMemTablesSealed(const DbServices& services, const std::vector<MemTableInfo>& sealed)
    EXCLUDES(db_mutex);
// The stall conditions of families have changed, in this order.
void NotifyStallChanges(const DbServices& services, const std::vector<WriteStallInfo>& changes)
    EXCLUDES(db_mutex);
// A call has requested this flush.
void NotifyManualFlush(const DbServices& services, const ManualFlushInfo& flush) EXCLUDES(db_mutex);
// No automatic attempt follows the current error, so that only DB::Resume() helps. If it blocks
// flushes, writers that wait for a flush return it, and writers of other databases do not wait for
// the memory of the memtables any more (KeepUnflushed).
void LeaveToResume(DbCore* core) EXCLUDES(db_mutex);
// If no flush begins before DB::Resume(): reports to the WriteBufferManager that no flush is about
// to free the immutable memtables of this moment. Those that become immutable later are reported
// with the request of their flush, or when an attempt of a recovery has failed.
void KeepUnflushed(DbCore* core) REQUIRES(db_mutex);
// An attempt to recover from `old_error` has ended; `status` is the error that is current now, or
// OK.
void NotifyRecoveryEnd(const DbServices& services, const Status& old_error, const Status& status)
    EXCLUDES(db_mutex);

}  // namespace ashlar
