// SPDX-License-Identifier: Apache-2.0
//
// LogAhead creates the log that will follow the current one in a background thread, before it is
// needed. A file system may let the creation of a file wait for the sync of a table, and a writer
// that finds its memtable full should not be the one that waits.
//
//   kNone -> kQueued -> kMaking -> kReady -> kNone
//
// A log is requested at most once between two switches of memtables, when a memtable is three
// quarters full. A switch that finds no log ready creates it itself. A log that is not used
// contains no byte; its file is deleted when the database is closed or recovers from an error.
// After a crash it is an empty log behind all others.
//
// Threads: functions whose names end in Locked need the DB mutex; Wants() is called by writers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "db/state/db_core.h"
#include "db/wal/wal_sink.h"
#include "util/threads/mutex.h"

namespace ashlar {

class LogAhead {
 public:
  explicit LogAhead(DbCore* core) : core_(core), changed_(&core->mutex) {}
  ~LogAhead();

  // Whether a memtable of this size is a reason to call RequestLocked().
  bool Wants(uint64_t memtable_bytes, uint64_t write_buffer_bytes) const {
    return is_wanted_.load(std::memory_order_relaxed) &&
           memtable_bytes >= write_buffer_bytes / 4 * 3;
  }
  // Requests a log, once until the next switch, and only if the current log has records.
  void RequestLocked() REQUIRES(db_mutex);
  // Memtables were switched, so the next log may be requested.
  void NoteSwitchedLocked() REQUIRES(db_mutex) {
    if (state_ == State::kNone) is_wanted_.store(true, std::memory_order_relaxed);
  }
  // Returns the log that was created, or null. Waits, releasing the mutex, for one that is just
  // being created.
  std::unique_ptr<WalSink> TakeLocked() REQUIRES(db_mutex);
  // Deletes the created log, if there is one, with its file. Releases the mutex meanwhile.
  void DiscardLocked() REQUIRES(db_mutex);
  // Lets no log be created any more. Returns when no thread of this object runs.
  void Stop() EXCLUDES(db_mutex);

 private:
  enum class State : uint8_t { kNone, kQueued, kMaking, kReady };

  static void Main(void* log_ahead) { static_cast<LogAhead*>(log_ahead)->Run(); }
  void Run() EXCLUDES(db_mutex);
  void MakeLocked() REQUIRES(db_mutex);
  void AwaitMadeLocked() REQUIRES(db_mutex);

  DbCore* const core_;
  // Written under the mutex, read by writers.
  std::atomic<bool> is_wanted_{true};
  CondVar changed_;  // signalled when state_ or jobs_ changes
  State state_ GUARDED_BY(db_mutex) = State::kNone;
  bool is_stopped_ GUARDED_BY(db_mutex) = false;
  int jobs_ GUARDED_BY(db_mutex) = 0;  // handed to the Env and not over yet
  std::unique_ptr<WalSink> ready_ GUARDED_BY(db_mutex);
};

}  // namespace ashlar
