// SPDX-License-Identifier: Apache-2.0
//
// Telling listeners of background errors and of what became of them, what happens to writes, and
// what is asked of the database.
//
// Nobody is told with a lock held, nor by a commit that has a place in the order of writes: a
// listener may call back into the database.
#pragma once

#include <vector>

#include "ashlar/listener.h"
#include "db/state/db_core.h"
#include "env/info_log.h"
#include "util/keys/file_number.h"

namespace ashlar {

// Calls them one after the other. A listener is not to throw; what it throws is logged, for the
// threads that call it cannot pass it on.
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

// Raises the background error and tells listeners, who may overrule it. If it is one that the
// database recovers from by itself they hear that it begins to (OnErrorRecoveryBegin), and may
// leave it to DB::Resume(). The end is told when the work has succeeded, a worse one of
// background work takes its place (unless that is recovered from without a beginning of its own),
// or the database is closed.
void NotifyBackgroundError(DbCore* core, const Status& error, BackgroundErrorReason reason)
    EXCLUDES(db_mutex);
// Raises the error of a log (ErrorState::RaiseForLog) and stops writes. Notifies nobody yet: needs
// no lock, and may be called by a commit that has its place in the order.
void NoteLogError(DbCore* core, const Status& error, FileNumber log_number);
// Notifies listeners of what was raised where none could be called (ErrorState::TakeReport). A log
// that failed has failed: they cannot overrule it. Wakes those who wait for what will not come.
void NotifyUnreportedError(DbCore* core) EXCLUDES(db_mutex);
// Memtables that take no more writes; families that hold writes up in another way.
void NotifyMemTablesSealed(const DbServices& services, const std::vector<MemTableInfo>& sealed)
    EXCLUDES(db_mutex);
void NotifyStallChanges(const DbServices& services, const std::vector<WriteStallInfo>& changes)
    EXCLUDES(db_mutex);
// A call has asked for this flush.
void NotifyManualFlush(const DbServices& services, const ManualFlushInfo& flush) EXCLUDES(db_mutex);
// An attempt to recover from `old_error` has ended; `status`: what stands now.
void NotifyRecoveryEnd(const DbServices& services, const Status& old_error, const Status& status)
    EXCLUDES(db_mutex);

}  // namespace ashlar
