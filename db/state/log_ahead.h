// SPDX-License-Identifier: Apache-2.0
//
// LogAhead makes the log that follows the current one before it is needed, in a background thread:
// a file system may keep whoever makes a file waiting for the sync of a table, and a writer that
// finds its memtable full should not be the one.
//
//   kNone -> kQueued -> kMaking -> kReady -> kNone
//
// A log is asked for once between two switches, when a memtable is three quarters full; whoever
// switches without one makes it himself. One that is not used has received no byte, and its file
// goes when the database is closed or recovers from an error; after a crash it is an empty log
// behind all others.
//
// Threads: functions ending in Locked need the DB mutex; Wants() is for writers in flight.
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
  // Once until the next switch, if the current log holds anything.
  void RequestLocked() REQUIRES(db_mutex);
  // Memtables were switched: the next one may be a reason again.
  void NoteSwitchedLocked() REQUIRES(db_mutex) {
    if (state_ == State::kNone) is_wanted_.store(true, std::memory_order_relaxed);
  }
  // The log that was made, or null. Waits for one that is being made, without the mutex.
  std::unique_ptr<WalSink> TakeLocked() REQUIRES(db_mutex);
  // The one there is goes, with its file. Lets go of the mutex meanwhile.
  void DiscardLocked() REQUIRES(db_mutex);
  // For good; no thread is at it any more.
  void Stop() EXCLUDES(db_mutex);

 private:
  enum class State : uint8_t { kNone, kQueued, kMaking, kReady };

  static void Main(void* log_ahead) { static_cast<LogAhead*>(log_ahead)->Run(); }
  void Run() EXCLUDES(db_mutex);
  void MakeLocked() REQUIRES(db_mutex);
  void AwaitMadeLocked() REQUIRES(db_mutex);

  DbCore* const core_;
  // Written under the mutex.
  std::atomic<bool> is_wanted_{true};
  CondVar changed_;  // of the state and the number of jobs
  State state_ GUARDED_BY(db_mutex) = State::kNone;
  bool is_stopped_ GUARDED_BY(db_mutex) = false;
  int jobs_ GUARDED_BY(db_mutex) = 0;  // handed to the environment and not over
  std::unique_ptr<WalSink> ready_ GUARDED_BY(db_mutex);
};

}  // namespace ashlar
